"""Summaries by rules: which sentences stay, which go, what counts as repetition, and how the text is written and read."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from omoide.lifecycle.details import find_details
from omoide.lifecycle.summarization import PART_BYTES, LogEntry, extract, summarize_log
from omoide.lifecycle.summary_points import PointKind, classify_point, without_lead
from omoide.lifecycle.summary_text import Point, parse_points, render_points

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
FILLER = [
    "Running the tests now.",
    "今テストを流しています。",
    "CI is green again.",
    "Pushed the branch.",
    "レビュー待ちです。",
]


def entries(*texts, hours=5):
    return [LogEntry(n + 1, BEGIN + timedelta(hours=hours * n), text) for n, text in enumerate(texts)]


def extract_text(*texts):
    """What is left of a log with these texts among much progress."""
    return "\n".join(point.text for block in extract(entries(*texts, *FILLER * 6)) for point in block.points)


@pytest.mark.parametrize(
    ("text", "details"),
    [
        ("See src/api/auth.py, v2.4.1 of 2026-01-12 (SHOP-123).", {"src/api/auth.py", "v2.4.1", "2026-01-12", "shop-123"}),
        ("佐藤さんが 3月4日 までに `make check` を直す。", {"佐藤", "3月4日", "make check"}),
        ("Marta moved it to Slack on March 3.", {"slack", "march 3"}),
        ("２０２６年４月から Redis 7.2 を 512MB で使う", {"2026年4月", "redis", "7.2", "512"}),
        ("https://example.com/a?b=1, mail to ops@example.com", {"https://example.com/a?b=1", "ops@example.com"}),
        ("It works now.", set()),
        ("今テストを流しています。", set()),
    ],
)
def test_details_are_names_numbers_paths_versions_and_dates(text, details):
    assert find_details(text) == details


@pytest.mark.parametrize(
    ("kind", "sentences"),
    [
        (
            PointKind.DECISION,
            [
                "We decided to keep SQLite.",
                "Going with pnpm for the web packages.",
                "Support for Node 16 is dropped in favour of Node 20.",
                "認証は JWT を採用することにした。",
                "リリースは毎週火曜日に決まりました。",
                "分割の案は見送り。",
                "設定を TOML に統一する。",
                "キャッシュは Redis 7.4 にしました。",
                "デフォルトのタイムアウトを 30 秒にした。",
                "Python 3.8 のサポートをやめた。",
                "Dropped support for Python 3.8.",
            ],
        ),
        (
            PointKind.RULE,
            ["Never edit the lock file by hand.", "必ず make check を実行してください。", "今後は日本語で書いて。"],
        ),
        (
            PointKind.CAUSE,
            ["The outage was caused by a full disk.", "失敗の原因は時刻のずれだった。", "6 系は EOL のためです。"],
        ),
        (PointKind.FACT, ["db-staging-2 listens on port 5433.", "検証環境は jp-tokyo-1 にある。"]),
        (PointKind.REMARK, ["The customers like the new page.", "画面の評判は良い。"]),
        (
            PointKind.PROGRESS,
            [
                "Running tests now.",
                "Still looking into checkout.",
                "All tests pass.",
                "今テストを流しています。",
                "検索を調査中。",
                "テストは全て通りました。",
                "ブランチをプッシュしました。",
                "About 40 % done with search.",
            ],
        ),
        (PointKind.TALK, ["Thanks!", "Should we look at search next?", "お疲れさまです。", "次は検索を見ますか？"]),
    ],
)
def test_a_sentence_is_what_it_says(kind, sentences):
    for sentence in sentences:
        assert classify_point(sentence, is_specific=bool(find_details(sentence))) is kind, sentence


def test_words_that_only_introduce_a_sentence_are_taken_off():
    assert without_lead("FYI: the port is 5433.") == "The port is 5433."
    assert without_lead("ちなみに、鍵は佐藤さんが持っている。") == "鍵は佐藤さんが持っている。"
    assert without_lead("Notes are in docs/.") == "Notes are in docs/."


def test_a_decision_stays_with_all_that_belongs_to_it():
    text = "Ran the suite. We decided to use Kafka 3.7. The budget is 90 euros. Tom owns it until 2026-04-01. Thanks!"
    assert extract_text(text).startswith(
        "We decided to use Kafka 3.7. The budget is 90 euros. Tom owns it until 2026-04-01."
    )


def test_the_same_follow_up_of_two_decisions_stays_with_both():
    follow_up = "The budget is 90 euros."
    assert (
        extract_text(f"We decided to use Kafka. {follow_up}", f"We decided to drop Redis. {follow_up}").count(follow_up) == 2
    )


def test_a_repeated_entry_is_counted_where_it_first_occurs():
    text = "The quota of MinIO is 30 GB."
    (part,) = summarize_log(entries(*[text, *FILLER] * 4))
    assert part.text.count(text) == 1
    assert f"- 2026-01-05: {text} (4 times, last 2026-01-09)" in part.text


def test_what_differs_in_a_detail_is_no_repetition():
    left = extract_text(
        "The quota of MinIO is 30 GB.",
        "The quota of MinIO is 40 GB.",
        "検索の上限は 30 件に決まった。",
        "検索の上限は 40 件に決まった。",
    )
    assert all(number in left for number in ("30 GB", "40 GB", "30 件", "40 件"))


def test_what_differs_in_one_word_of_many_is_no_repetition():
    text = "The customers of the {} site asked again for a dark theme in the account pages and in the mails."
    left = extract_text(text.format("Japanese"), text.format("German"), text.format("Japanese"))
    assert left.count("dark theme") == 2
    left = extract_text(
        "本番環境の監視設定を見直す会議を毎月第一月曜日の朝に開く。",
        "検証環境の監視設定を見直す会議を毎月第一月曜日の朝に開く。",
    )
    assert left.count("監視設定") == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The offset of the clock is +5 on web-1.", "The offset of the clock is -5 on web-1."),
        ("web-1 calls web-2 at night.", "web-2 calls web-1 at night."),
        ("서버 web-1 은 밤에 느리다.", "서버 web-1 은 아침에 빠르다."),
        ("Сервер web-1 медленный ночью.", "Сервер web-1 быстрый утром."),
    ],
)
def test_a_sign_the_order_and_words_of_any_script_make_a_difference(one, other):
    left = extract_text(one, other)
    assert one in left
    assert other in left


def test_a_statement_within_a_longer_one_is_repetition_whichever_comes_first():
    short, long = "The quota of MinIO is 30 GB.", "Note that the quota of MinIO is 30 GB and is reset on the first."
    assert extract_text(short, long).count("30 GB") == extract_text(long, short).count("30 GB") == 1


def test_of_a_long_series_of_measurements_the_first_and_the_last_stay():
    left = extract_text(*[f"The nightly job took {n} minutes." for n in range(10, 30)])
    assert left.count("nightly job") == 2
    assert "10 minutes" in left
    assert "29 minutes" in left


def test_series_about_different_hosts_are_different():
    left = extract_text(*[f"web-{n} is in rack {n}." for n in range(1, 9)])
    assert all(f"web-{n}" in left for n in range(1, 9))


def test_remarks_stay_only_while_the_summary_is_short():
    remarks = [
        f"The {word} team liked the demo very much and would like to see more of it." for word in ("red", "green", "blue")
    ]
    assert all(remark in extract_text(*remarks, *FILLER * 10) for remark in remarks)
    dense = [f"host-{n} has {n} disks and {n * 7} fans in rack R{n}." for n in range(60)]
    assert not any(
        remark in "\n".join(p.text for b in extract(entries(*remarks, *dense)) for p in b.points) for remark in remarks
    )


@pytest.mark.parametrize(
    ("decision", "minor"),
    [
        ("Priya likes {tool} 3.7 best for search, 90 euros, 2026-04-01.", "The fan of web-{n} is loud in the cellar."),
        ("佐藤さんの案、検索は {tool} 3.7、90 ユーロ、2026-04-01。", "web-{n} のファンは地下室でうるさい。"),
    ],
)
def test_of_more_facts_than_half_of_the_text_those_with_the_fewest_details_go_first(decision, minor):
    decisions = [decision.format(tool=tool) for tool in ("Kafka", "Redis", "Vite", "Caddy", "Loki", "MinIO", "Celery")]
    log = entries(*decisions, *[minor.format(n=n) for n in range(100, 230)])
    points = [point.text for block in extract(log) for point in block.points]
    assert set(decisions) <= set(points)
    assert len(points) < len(log)


@pytest.mark.parametrize("decision", ["We decided that host-{n} gets {n} disks.", "host-{n} のディスクは {n} 台に決めた。"])
def test_decisions_stay_even_if_they_are_more_than_half_of_the_text(decision):
    log = entries(*[decision.format(n=n) for n in range(140)], *["The lamp of web-1 is red."] * 3)
    points = [point.text for block in extract(log) for point in block.points if point.kind is PointKind.DECISION]
    assert points == [decision.format(n=n) for n in range(140)]


def test_an_earlier_summary_takes_no_room_from_the_facts_after_it():
    earlier = tuple(Point(date(2025, 12, 1), PointKind.FACT, f"host-{n} has {n} disks.") for n in range(300))
    log = [
        LogEntry(99, BEGIN - timedelta(days=30), "earlier", points=earlier),
        *entries("web-1 is in rack R7.", *FILLER * 8),
    ]
    left = [point.text for block in extract(log) for point in block.points]
    assert "web-1 is in rack R7." in left
    assert len(left) == 301


def test_short_code_stays_as_it_is_and_long_code_is_named():
    left = extract_text(
        "Start it with:\n```sh\nmake up PORT=5433\n```", "Config of db-1:\n```toml\n" + "x = 1\n" * 80 + "```"
    )
    assert "```sh\nmake up PORT=5433\n```" in left
    assert "x = 1" not in left
    assert "80 lines of code" in left


def test_a_summary_is_in_the_language_of_its_entries():
    (english,) = summarize_log(entries("We decided to use Kafka 3.7.", *FILLER[:1] * 9))
    (japanese,) = summarize_log(entries("検索には Kafka 3.7 を採用した。", *FILLER[1:2] * 9))
    assert english.text.splitlines()[0] == "Decisions"
    assert japanese.text.splitlines()[0] == "決定事項"
    assert (english.topic, japanese.topic) == ("Summary of 2026-01-05 to 2026-01-07", "2026-01-05〜2026-01-07 の要約")


def test_a_log_of_progress_alone_becomes_one_line():
    (part,) = summarize_log(entries(*FILLER * 4))
    assert "none of which says anything to keep" in part.text or "残すべき内容はなし" in part.text


def test_entries_that_would_not_get_shorter_are_left_alone():
    assert summarize_log(entries(*[f"We decided that host-{n} gets {n} disks." for n in range(3)])) == []


def test_a_long_log_is_split_at_days_and_every_entry_is_in_exactly_one_part():
    log = entries(*[f"We decided that host-{n} gets {n} disks." if n % 2 else FILLER[n % 5] * 4 for n in range(600)])
    parts = summarize_log(log)
    assert len(parts) > 2
    assert all(len(part.text.encode()) < 1.5 * PART_BYTES for part in parts)
    assert [entry.number for part in parts for entry in part.entries] == [entry.number for entry in log]


def test_the_points_of_an_earlier_summary_all_stay():
    earlier = (
        Point(date(2025, 12, 1), PointKind.REMARK, "画面の評判は良い。"),
        Point(date(2025, 12, 2), PointKind.FACT, "x (3 times)"),
    )
    log = [
        LogEntry(99, BEGIN - timedelta(days=30), "earlier" * 200, points=earlier),
        *entries("画面の評判は良い。", *FILLER * 8),
    ]
    (part,) = summarize_log(log)
    assert "- 2025-12-01: 画面の評判は良い。" in part.text
    assert "- 2025-12-02: x (3 times)" in part.text
    assert part.text.count("画面の評判は良い。") == 1


def test_what_a_person_added_to_a_summary_is_read_as_remarks():
    text = "Decisions\n- 2026-01-05: We use JWT.\n  ```\n  code\n  ```\nmy own line\n- not dated\n\n(Summary of 12 entries)"
    assert parse_points(text, date(2026, 2, 1)) == [
        Point(date(2026, 1, 5), PointKind.DECISION, "We use JWT.\n```\ncode\n```"),
        Point(date(2026, 2, 1), PointKind.REMARK, "my own line"),
        Point(date(2026, 2, 1), PointKind.REMARK, "not dated"),
    ]


_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1).filter(
    lambda text: text.strip() == text
)


@given(st.lists(st.tuples(st.dates(), st.sampled_from(list(PointKind)[:5]), _TEXT), max_size=8), st.booleans())
def test_points_are_read_as_they_were_written(points, japanese):
    written = sorted({Point(*point) for point in points}, key=lambda point: (list(PointKind).index(point.kind), point.day))
    assert sorted(parse_points(render_points(written, 9, japanese=japanese), date(2026, 1, 1))) == sorted(written)


@given(st.lists(st.text(), max_size=20))
def test_any_log_can_be_summarised(texts):
    parts = summarize_log(entries(*texts, *FILLER * 3))
    numbers = [entry.number for part in parts for entry in part.entries]
    assert len(numbers) == len(set(numbers))
    assert all(part.text.strip() for part in parts)
