"""What is found, in which order and why, through the public door."""

from datetime import timedelta

import pytest

from omoide import Draft, InvalidInput, Layer, Query, Scope, State

SHOP = Scope.project("shop")
MONDAY = Scope.session("shop", "monday")
DAY = 24 * 60 * 60

NOTES = {
    "ja": "認証は JWT を採用。非同期処理の設計は src/core/loop.ts を見る",
    "mixed": "このプロジェクトではpnpmを使用",
    "katakana": "データベースはポストグレスに移行した",
    "half": "ﾊﾞｯｸｱｯﾌﾟは毎晩 ＳＱＬｉｔｅ の複製で取る",
    "code": "getUserById() returns user_id, never null",
    "english": "Deployments are running every Tuesday after the release meeting",
    "korean": "서버 인증은 토큰을 사용한다",
    "chinese": "数据库连接池的大小设置为二十",
    "emoji": "launch day 🎉 was a success",
}


@pytest.fixture(autouse=True, params=["all at once", "by lists"])
def search_path(request, monkeypatch):
    """Both ways to look at a question: the second is for stores of tens of thousands."""
    if request.param == "by lists":
        monkeypatch.setattr("omoide.storage.sqlite.cache.HIGHEST_CACHED", 0)


@pytest.fixture
def notes(memory):
    return {name: memory.remember(text, scope=SHOP).memory.number for name, text in NOTES.items()}


def numbers(memory, question, scope=SHOP, **filters):
    return [hit.memory.number for hit in memory.recall(question, scope=scope, **filters).hits]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("認証", "ja"), ("設計", "ja"), ("非同期", "ja"), ("非同期処理はどうする?", "ja"), ("証", "ja"), ("ＪＷＴ", "ja"),
        ("loop.ts", "ja"), ("src/core/loop.ts", "ja"), ("core", "ja"), ("pnpm", "mixed"), ("使用", "mixed"),
        ("pnpmの使い方", "mixed"), ("データベース", "katakana"), ("ﾃﾞｰﾀﾍﾞｰｽ", "katakana"), ("ベース", "katakana"),
        ("移行", "katakana"), ("バックアップ", "half"), ("sqlite", "half"), ("毎晩", "half"), ("getUserById", "code"),
        ("user", "code"), ("user_id", "code"), ("deploy", "english"), ("deployment", "english"),
        ("runs", "english"), ("RELEASES", "english"), ("인증", "korean"), ("토큰", "korean"), ("数据库", "chinese"),
        ("连接池", "chinese"), ("🎉", "emoji"),
    ],
)  # several entries per line  # fmt: skip
def test_a_word_finds_its_note_first(memory, notes, question, name):
    assert numbers(memory, question)[:1] == [notes[name]]


@pytest.mark.parametrize(
    "question",
    ['"', "'", "*", "pnpm*", "AND", "a AND", "NEAR(", "NEAR(a b)", "NOT", "topic:pnpm", "^pnpm", "{", "-pnpm", "()", "\\",
     "pnpm\x00", "\x1b[31m", "\u202epnpm", "🎉" * 50, "; DROP TABLE memories; --", "%", "a" * 100_000],
)  # several entries per line  # fmt: skip
def test_nothing_in_a_question_is_syntax(memory, notes, question):
    found = memory.recall(question, scope=SHOP)
    assert found.total >= len(found.hits)
    if "pnpm" in question:
        assert found.hits[0].memory.number == notes["mixed"]


def test_a_question_of_100_000_words_is_answered(memory, notes):
    assert notes["mixed"] in numbers(memory, "pnpm " * 100_000)


def test_a_question_of_only_punctuation_finds_nothing(memory, notes):
    assert memory.recall("?!。、", scope=SHOP).total == 0


def test_the_topic_and_the_tags_weigh_more_than_the_content(memory):
    content = memory.remember("the redis cache and other things in a row", scope=SHOP).memory.number
    tagged = memory.remember("about caching and other things in a row", tags=["redis"], scope=SHOP).memory.number
    titled = memory.remember("about caching and other things in a row", topic="redis", scope=SHOP).memory.number
    assert numbers(memory, "redis") == [titled, tagged, content]


def test_the_memory_matching_the_whole_question_comes_first(memory):
    part = memory.remember("token token token token refresh later", scope=SHOP).memory.number
    whole = memory.remember("the token expires, then sign in again", scope=SHOP).memory.number
    assert numbers(memory, "token expires sign in")[:2] == [whole, part]


def test_use_confidence_and_age_only_break_ties(memory, clock):
    weak = memory.remember("the cache is redis", confidence=0.0, relevance=0.0, scope=SHOP).memory.number
    strong = memory.remember("the queue is redis", confidence=1.0, relevance=1.0, pinned=True, scope=SHOP).memory
    for _ in range(50):
        memory.remember("the queue is redis", scope=SHOP)
    assert numbers(memory, "redis") == [strong.number, weak]
    assert numbers(memory, "redis cache")[0] == weak


def test_the_nearest_scope_comes_first_on_a_tie(memory):
    everywhere = memory.remember("zebra crossing", scope=Scope.everywhere()).memory.number
    project = memory.remember("zebra crossing", scope=SHOP).memory.number
    session = memory.remember("zebra crossing", scope=MONDAY).memory.number
    assert numbers(memory, "zebra", MONDAY) == [session, project, everywhere]
    assert numbers(memory, "zebra", SHOP) == [project, session, everywhere]
    assert numbers(memory, "zebra", Scope.everywhere()) == [everywhere]
    assert numbers(memory, "zebra", SHOP, layers=[Layer.EVERYWHERE]) == [everywhere]
    assert numbers(memory, "zebra", MONDAY, layers=[Layer.SESSION]) == [session]


def test_another_project_is_never_seen(memory):
    memory.remember("zebra crossing", scope=Scope.project("bank"))
    assert memory.recall("zebra", scope=SHOP).total == 0
    assert memory.recall("", scope=SHOP).total == 0


@pytest.mark.parametrize("limit", [0, -1])
def test_every_verb_refuses_a_limit_below_1_with_the_same_message(memory, limit):
    number = memory.remember("zebra", scope=SHOP).memory.number
    for ask in (
        lambda: memory.recall("zebra", scope=SHOP, limit=limit),
        lambda: memory.list(scope=SHOP, limit=limit),
        lambda: memory.similar(number, scope=SHOP, limit=limit),
        lambda: memory.events(number, scope=SHOP, limit=limit),
    ):
        with pytest.raises(InvalidInput, match=f"limit must be at least 1, got {limit}"):
            ask()


def test_filters_narrow_and_are_applied_before_the_limit(memory):
    for n in range(150):
        memory.remember(f"zebra number {n}", type="note", scope=SHOP)
    decision = memory.remember("zebra, a decision", type="decision", tags=["Law"], scope=SHOP).memory.number
    for n in range(150):
        memory.remember(f"zebra again {n}", type="note", scope=SHOP)
    assert numbers(memory, "zebra", type="decision", limit=1) == [decision]
    assert numbers(memory, "zebra", tags=["law"], limit=1) == [decision]


def test_a_title_is_found_among_hundreds_that_mention_the_word(memory):
    titled = memory.remember("how we use it", topic="Kafka", scope=SHOP).memory.number
    memory.remember_many(Draft(f"kafka was mentioned in meeting {n}", SHOP) for n in range(400))
    assert numbers(memory, "kafka", limit=1) == [titled]


def test_browsing_shows_the_newest_and_most_used_first(memory, clock):
    old = memory.remember("old", scope=SHOP).memory.number
    clock.step(2 * DAY)
    rare = memory.remember("rare", scope=SHOP).memory.number
    used = memory.remember("used", scope=SHOP).memory.number
    clock.step(60)
    last = memory.remember("last", scope=SHOP).memory.number
    memory.remember("used", scope=SHOP)
    assert numbers(memory, "") == [used, last, rare, old]


def test_archived_memories_are_found_only_on_request(memory):
    number = memory.remember("zebra crossing", scope=SHOP).memory.number
    memory.archive(number, scope=SHOP)
    assert numbers(memory, "zebra") == []
    assert numbers(memory, "zebra", states=[State.ARCHIVED]) == [number]


def test_what_has_expired_is_not_found(memory, clock):
    memory.remember("freeze until the launch", expires_at=clock() + timedelta(days=1), scope=SHOP)
    assert memory.recall("freeze", scope=SHOP).total == 1
    clock.step(2 * DAY)
    assert memory.recall("freeze", scope=SHOP).total == 0


def test_a_hit_says_in_words_what_matched_where(memory):
    memory.remember("非同期処理は src/core を見る", topic="loop design", tags=["async"], scope=SHOP)
    hit = memory.recall("designing 非同期処理 in src/core, async", scope=SHOP).hits[0]
    assert hit.why == "topic: designing · tags: async · content: 非同期処理, src/core"


def test_a_hit_shows_why_it_was_found(memory, notes):
    (hit,) = memory.recall("pnpm", scope=SHOP).hits
    assert hit.why == "content: pnpm"
    assert "why='content: pnpm'" in repr(hit)


def test_a_word_that_most_memories_hold_still_finds(memory):
    memory.remember_many(Draft(f"設計のメモ その{n}", SHOP) for n in range(900))
    newest = memory.remember("設計の見直し", scope=SHOP).memory.number
    assert numbers(memory, "見直し設計")[0] == newest
    assert len(numbers(memory, "設計")) == 10


def test_recent_changes_are_visible_to_recall_at_once(memory):
    first = memory.remember("the okapi eats leaves", scope=SHOP).memory.number
    assert numbers(memory, "okapi leaves") == [first]
    second = memory.remember("an okapi is no giraffe", scope=SHOP).memory.number
    assert numbers(memory, "okapi giraffe") == [second, first]
    memory.revise(first, scope=SHOP, content="the zebra eats grass")
    assert numbers(memory, "okapi") == [second]
    memory.forget(second, scope=SHOP)
    assert numbers(memory, "okapi") == []
    memory.restore(second, scope=SHOP)
    assert numbers(memory, "okapi") == [second]


def test_a_narrow_filter_finds_what_many_better_answers_hide(memory):
    hidden = memory.remember("pnpm is mentioned here among many other words", scope=SHOP, tags=("rare",)).memory.number
    memory.remember_many(Draft(f"pnpm is used {n}", SHOP) for n in range(400))
    assert numbers(memory, "pnpm is used", tags=["rare"]) == [hidden]


def test_recall_records_the_access_time(memory, clock):
    number = memory.remember("zebra", scope=SHOP).memory.number
    assert memory.show(number, scope=SHOP).last_accessed_at is None
    memory.recall("zebra", scope=SHOP)
    memory.remember("something else", scope=SHOP)  # access times are written behind, with the next write
    assert memory.show(number, scope=SHOP).last_accessed_at == clock()


def test_a_query_value_and_arguments_give_the_same_result(memory, notes):
    assert numbers(memory, Query(SHOP, "pnpm", limit=1), None) == numbers(memory, "pnpm", limit=1) == [notes["mixed"]]


def test_a_very_long_japanese_memory_is_found_and_explained_like_a_short_one(memory):
    filler = "".join(chr(0x4E00 + number % 3000) for number in range(9_000))
    long = memory.remember(f"{filler}。冪等性を保証する。", topic="冪等性", tags=["保証"], scope=SHOP).memory
    for number in range(80):  # so that the words of the question are too common to be looked up in one go
        memory.remember(f"冪等性の保証 その{number}", scope=SHOP)
    hit = next(hit for hit in memory.recall("冪等性の保証", scope=SHOP, limit=100).hits if hit.memory.id == long.id)
    assert "topic: 冪等性" in hit.why
    assert "tags: 保証" in hit.why
    assert "content:" in hit.why


def test_examples_and_keys_count_like_the_rest_of_a_memory(memory):
    for number in range(80):
        memory.remember(f"配送の手順 その{number}", scope=SHOP)
    kept = memory.remember("順序", key="配送の手順", examples=["配送の手順はこう"], scope=SHOP).memory
    hit = memory.recall("配送の手順", scope=SHOP).hits[0]
    assert (hit.memory.id, hit.why) == (kept.id, "topic: 配送の, 手順 · content: 配送の, 手順")
