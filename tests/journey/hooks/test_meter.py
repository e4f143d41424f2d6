"""The meter: whether agents used injected memories, in scripted sessions with real hooks in a real repository."""

import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest

import omoide
from journey.hooks.conftest import Answer, git
from omoide import MemoryUse, Scope
from omoide.model import JudgedUse

EVER = datetime(1970, 1, 1, tzinfo=UTC)
USED, IGNORED, CONTRADICTED = MemoryUse.USED, MemoryUse.IGNORED, MemoryUse.CONTRADICTED


class Session(NamedTuple):
    """One turn of an agent: what it was asked, said, ran and wrote; and what it made of each memory."""

    memories: dict[str, MemoryUse]
    prompt: str
    answer: str
    commands: tuple[str, ...] = ()
    files: Mapping[str, str] = MappingProxyType({})


SESSIONS = [
    Session(
        {
            "This project uses pnpm, not npm": USED,
            "The staging database is db-1.internal": IGNORED,
            "Dates are formatted with dayjs instead of moment": CONTRADICTED,
        },
        "Add a helper that shows when an order was placed",
        "I added formatOrderDate in src/dates.ts and installed the library for it.",
        ("pnpm add moment", "pnpm test"),
        {"src/dates.ts": "import moment from 'moment'\nexport const formatOrderDate = (d) => moment(d).format('L')\n"},
    ),
    Session(
        {
            "Access tokens expire after 15 minutes": CONTRADICTED,
            "Passwords are hashed with argon2id": USED,
            "The logo is in assets/logo.svg": IGNORED,
        },
        "Implement the login endpoint",
        "The endpoint checks the password with argon2id. An access token expires after 60 minutes.",
        ("pytest tests/test_login.py",),
        {"auth/login.py": "from argon2 import PasswordHasher\nACCESS_TOKEN_MINUTES = 60\n"},
    ),
    Session(
        {
            "Run `make check` before every commit": USED,
            "Commit messages are written in Japanese": IGNORED,
            "Never use print in library code; use the logger from app/logging.py": CONTRADICTED,
        },
        "Fix the crash in the importer and commit it",
        "The importer failed on empty rows. I fixed that, ran the checks and committed it.",
        ("make check", "git commit -am 'Skip empty rows'"),
        {"app/importer.py": "def rows(lines):\n    for line in lines:\n        print(line)\n"},
    ),
    Session(
        {
            "API は 8080 番ポートで動く": USED,
            "テストの前に docker compose up -d db が必要": USED,
            "画像は S3 のバケット shop-assets に置く": IGNORED,
        },
        "ローカルで起動して動作確認して",
        "データベースを起動してから API を立ち上げました。http://localhost:8080/health は 200 を返します。",
        ("docker compose up -d db", "curl http://localhost:8080/health"),
    ),
    Session(
        {
            "日付の処理は date-fns ではなく dayjs を使う": CONTRADICTED,
            "コンポーネントは src/components に置く": USED,
            "デプロイは毎週火曜日に行う": IGNORED,
        },
        "注文日を表示する部品を作って",
        "OrderDate を src/components/OrderDate.tsx に作りました。",
        (),
        {"src/components/OrderDate.tsx": "import { format } from 'date-fns'\nexport const OrderDate = () => null\n"},
    ),
    Session(
        {
            "セッションの有効期限は 30 分": CONTRADICTED,
            "認証は JWT を採用": IGNORED,
            "エラーメッセージは errors.ja.yml に書く": USED,
        },
        "タイムアウトのときの文言を足して",
        "errors.ja.yml に timeout を追加しました。セッションの有効期限は 60 分と表示されます。",
        (),
        {"errors.ja.yml": "timeout: 60 分で切れました\n"},
    ),
    Session(
        {
            "Feature flags live in config/flags.toml": USED,
            "We deploy to Fly.io from the main branch": IGNORED,
            "Prefer small pull requests": IGNORED,
        },
        "Turn the new search on for everybody",
        "I set new_search to true in config/flags.toml.",
        (),
        {"config/flags.toml": "new_search = true\n"},
    ),
    Session(
        {
            "Do not edit files under gen/; run buf generate": USED,
            "The linter is ruff with a line length of 100": IGNORED,
            "Use httpx instead of requests": CONTRADICTED,
        },
        "Add a field for the tax to the order and call the tax service",
        "I added the field to order.proto and generated the code. The client asks the tax service over HTTP.",
        ("buf generate",),
        {"tax/client.py": "import requests\n\ndef tax(order):\n    return requests.get(URL).json()\n"},
    ),
]


@pytest.fixture
def play(
    hook: Callable[..., Answer], memory: Callable[[], omoide.Service], repository: Path, tmp_path: Path
) -> Callable[[Session, str], dict[str, MemoryUse | None]]:
    """Plays a session as Claude Code would: hooks, a transcript, changes in the work tree; returns what the meter says."""

    def play(session: Session, name: str, *, learns: bool = True) -> dict[str, MemoryUse | None]:
        with memory() as service:
            scope = service.claim(repository)
            for text in session.memories:
                service.remember(text, scope=scope)
        transcript = tmp_path / f"{name}.jsonl"
        body = {"session_id": name, "transcript_path": str(transcript), "cwd": str(repository)}
        injected = hook({**body, "hook_event_name": "SessionStart", "source": "startup"}).context
        assert all(text in injected for text in session.memories)
        for file, text in session.files.items():
            (repository / file).parent.mkdir(parents=True, exist_ok=True)
            (repository / file).write_text(text)
        transcript.write_text("".join(f"{json.dumps(line)}\n" for line in _lines(session)))
        stopped = {**body, "hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": session.answer}
        assert hook(stopped).out == b""
        with memory() as service:
            if learns:
                service.learn_from_inbox(ask=False)
            found = {one.memory: one.use for one in service.injections(session=name)}
            texts = {row.memory.number: row.memory.content for row in service.meter(scope=scope).rows}
        return {texts[number]: use for number, use in found.items()}

    return play


def _lines(session: Session) -> list[dict[str, Any]]:
    """The transcript of a session, as Claude Code writes it."""
    uses = [
        {"type": "tool_use", "id": f"t{place}", "name": "Bash", "input": {"command": command}}
        for place, command in enumerate(session.commands)
    ]
    return [
        {"type": "user", "message": {"role": "user", "content": session.prompt}},
        *({"type": "assistant", "message": {"role": "assistant", "content": [use]}} for use in uses),
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": session.answer}]}},
    ]


def test_at_least_nine_of_ten_uses_are_recognised_in_scripted_sessions(play, repository, memory):
    right, wrong = 0, []
    for place, session in enumerate(SESSIONS):
        found = play(session, f"session-{place}")
        for text, expected in session.memories.items():
            right += found[text] is expected
            if found[text] is not expected:
                wrong.append((text, expected.value, found[text]))
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "--allow-empty", "-m", "next")
        with memory() as service:  # the next session begins with its own memories
            scope = service.claim(repository)
            for one in service.list(scope=scope, limit=100).memories:
                service.forget(one.id, scope=scope)
    assert right / (right + len(wrong)) >= 0.9, wrong


def test_the_meter_counts_prompts_tokens_and_uses_by_memory(play, memory, repository, run_meter):
    play(SESSIONS[0], "one")
    with memory() as service:
        report = service.meter(scope=service.claim(repository))
    assert (report.prompts, report.session_starts, report.injections) == (0, 1, 3)
    assert (report.used, report.ignored, report.contradicted) == (1, 1, 1)
    assert report.tokens == sum(row.tokens for row in report.rows) > 0
    assert report.share_used == pytest.approx(1 / 3)
    assert report.clear.contradicted == 1, "dayjs is named, and moment is what the agent installed"
    printed = run_meter()
    assert "3 memories in 1 session start, " in printed
    assert "33% used" in printed
    assert "contradicted, review them?" in printed


def test_a_row_names_the_memory_without_escape_codes(play, run_meter):
    play(SESSIONS[3], "one")
    row = next(line for line in run_meter().splitlines() if "8080" in line)
    assert re.search(r"  #\d+  API は 8080 番ポートで動く  \[\w+\]$", row), row


def test_prompts_and_session_starts_are_counted_apart_and_named_in_the_singular(hook, shop, asked, started, run_meter):
    hook(asked)
    assert run_meter().startswith("1 memory in 1 prompt, ")
    for session in ("one", "two"):
        hook({**started, "session_id": session})
    hook({**asked, "session_id": "three"})
    printed = run_meter()
    assert printed.startswith("2 memories in 2 prompts and 2 session starts, ")
    assert [line.split()[0] for line in printed.splitlines()[2:5]] == ["times", "4", "2"]
    report = json.loads(run_meter("--json"))
    assert (report["prompts"], report["session_starts"]) == (2, 2)
    assert [(row["prompts"], row["session_starts"]) for row in report["memories"]] == [(2, 2), (0, 2)]


def test_the_command_judges_the_last_turn_before_it_counts(play, run_meter):
    assert set(play(SESSIONS[0], "one", learns=False).values()) == {None}
    assert "(1 used, 1 ignored, 1 contradicted; " in run_meter()


@pytest.mark.parametrize("event", ["prompt", "session start", "command"])
def test_a_turn_is_judged_once_by_whichever_process_comes_next(play, hook, memory, environment, repository, event):
    play(SESSIONS[0], "one", learns=False)
    body = {"session_id": "two", "cwd": str(repository), "transcript_path": ""}
    calls = {
        "prompt": {**body, "hook_event_name": "UserPromptSubmit", "prompt_id": "p", "prompt": "Which date library is it?"},
        "session start": {**body, "hook_event_name": "SessionStart", "source": "startup"},
    }
    for _ in range(2):
        if event in calls:
            hook(calls[event])
        else:
            command = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()", "list"]
            subprocess.run(command, env=environment, cwd=repository, check=True, capture_output=True)
    with memory() as service:
        judged = [one.use for one in service.injections(session="one")]
        assert not service.has_inbox()
    assert sorted(judged) == sorted([USED, IGNORED, CONTRADICTED])


def test_a_judgement_is_stored_together_with_the_end_of_its_item(play, memory, monkeypatch):
    """A process that is ended in between judges the turn again, and not a part of it."""
    play(SESSIONS[0], "one", learns=False)
    with memory() as service, monkeypatch.context() as patch:
        patch.setattr("omoide.storage.sqlite.hooks.SqliteHookWriter.finish_inbox", interrupt)
        with pytest.raises(KeyboardInterrupt):
            service.learn_from_inbox(ask=False)
        assert {one.use for one in service.injections(session="one")} == {None}
        with service._store.read() as tx:
            assert len(tx.inbox()) == 1


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_what_was_ignored_in_one_turn_and_used_in_the_next_is_used(play, memory, hook, repository, tmp_path):
    first = Session({"The staging database is db-1.internal": IGNORED}, "Explain the parser", "It reads tokens.")
    assert play(first, "one") == first.memories
    transcript = tmp_path / "one.jsonl"
    later = Session({}, "Now migrate staging", "I ran the migration on db-1.internal.")
    with transcript.open("a") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in _lines(later))
    body = {"session_id": "one", "transcript_path": str(transcript), "cwd": str(repository)}
    hook({**body, "hook_event_name": "Stop", "last_assistant_message": later.answer})
    with memory() as service:
        service.learn_from_inbox(ask=False)
        assert [one.use for one in service.injections(session="one")] == [USED]


@pytest.mark.parametrize("same_session", [True, False])
def test_what_an_earlier_turn_wrote_and_nobody_committed_is_no_work_of_this_turn(
    same_session, hook, memory, repository, tmp_path
):
    with memory() as service:
        service.remember("日付の計算には date-fns ではなく dayjs を使う", scope=service.claim(repository))
    turns = [("納期の日付の計算を足して", "due.js", "dayjs"), ("今度は締め日の日付の計算を足して", "close.js", "date-fns")]
    for place, (prompt, file, library) in enumerate(turns):
        body = {"session_id": "one" if same_session else f"s{place}", "cwd": str(repository)}
        hook({**body, "hook_event_name": "UserPromptSubmit", "prompt": prompt})
        if same_session and place:  # the memory is in the conversation: it is asked again for what comes after
            hook({**body, "hook_event_name": "PreCompact"})
            hook({**body, "hook_event_name": "UserPromptSubmit", "prompt": f"{prompt}。お願いします"})
        (repository / file).write_text(f"import date from '{library}'\n")
        hook({**body, "hook_event_name": "Stop", "last_assistant_message": f"{place + 1} つ目を書きました。"})
        with memory() as service:
            service.learn_from_inbox(ask=False)
    with memory() as service:
        assert [one.use for one in service.injections()] == [USED, CONTRADICTED]


def test_what_a_turn_wrote_before_it_was_interrupted_is_work_of_the_session(hook, memory, repository):
    with memory() as service:
        service.remember("日付の計算には date-fns ではなく dayjs を使う", scope=service.claim(repository))
    body = {"session_id": "one", "cwd": str(repository)}
    hook({**body, "hook_event_name": "UserPromptSubmit", "prompt": "納期の日付の計算を足して"})
    (repository / "due.js").write_text("import date from 'dayjs'\n")
    hook({**body, "hook_event_name": "UserPromptSubmit", "prompt": "止めて。次は締め日の画面"})  # no stop before it
    hook({**body, "hook_event_name": "Stop", "last_assistant_message": "書きました。"})
    with memory() as service:
        service.learn_from_inbox(ask=False)
        assert [one.use for one in service.injections()] == [USED]


def test_only_plain_uses_count_for_relevance_and_lead_to_advice(play, memory, run_meter):
    play(SESSIONS[1], "one")
    with memory() as service:
        (unclear,) = [one.memory for one in service.injections(session="one") if one.use is CONTRADICTED]
        with service._store.write() as tx:
            tx.record_uses([JudgedUse(one.call, one.memory, one.use, is_clear=False) for one in tx.injections("one", EVER)])
        with service._store.read() as tx:
            assert tx.use_counts() == {}
    printed = run_meter()
    assert "1 contradicted; 0 of them clear" in printed
    assert f"omoide show {unclear}" not in printed


def test_a_memory_of_another_project_is_not_in_the_meter(play, memory):
    play(SESSIONS[0], "one")
    with memory() as service:
        assert service.meter(scope=Scope.project("elsewhere")).rows == []


def test_the_plot_shows_every_memory(play, run_meter, tmp_path):
    play(SESSIONS[3], "one")
    run_meter("--plot", str(tmp_path / "meter.svg"))
    drawn = (tmp_path / "meter.svg").read_text()
    assert drawn.startswith("<svg")
    assert "API は 8080 番ポートで動く" in drawn


@pytest.mark.parametrize(
    "topic", ["デプロイの前に必ずステージング環境でマイグレーションを実行し結果を確認してから本番に進むこと", "W" * 60]
)
def test_a_long_label_of_the_plot_ends_before_the_bars(play, run_meter, tmp_path, topic):
    play(Session({topic: IGNORED}, "Explain the parser", "It reads tokens."), "one")
    run_meter("--plot", str(tmp_path / "meter.svg"))
    drawn = ET.parse(tmp_path / "meter.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    (frame,) = drawn.findall(f"{name}svg")  # what is longer than its frame is cut off
    label = "".join(frame.itertext()).strip()
    assert label.startswith(f"#1 {topic[0]}")
    assert label.endswith("…")
    assert columns(label) <= 40
    bars = [float(one.get("x")) for one in drawn.findall(f"{name}rect") if one.get("y") == frame.get("y")]
    assert float(frame.get("x")) + float(frame.get("width")) < min(bars)


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def test_without_injections_the_command_says_what_to_do(run_meter, shop):
    assert "omoide install" in run_meter()


def test_uses_move_a_memory_in_prompts_less_than_one_outcome(play, memory, repository):
    for place in range(12):
        play(SESSIONS[6], f"again-{place}")
    with memory() as service:
        scope = service.claim(repository)
        task = omoide.Task(title="Turn the search off")
        composed = service.compose(task, scope=scope)
        used = next(one for one in composed.receipt.memories if one.relevance != 0.5)
        others = [one for one in composed.receipt.memories if one is not used]
        assert composed.receipt.memories[0] == used
        assert all(one.relevance == 0.5 for one in others)
        run = service.compose(task, scope=scope, record=True).run
        assert run is not None
        service.outcome(run.id, "success", scope=scope)
        after = service.compose(task, scope=scope).receipt.memories
    outcome = next(one.relevance for one in after if one.number == others[0].number) - 0.5
    assert 0 < used.relevance - 0.5 < outcome


@pytest.fixture
def run_meter(environment, repository) -> Callable[..., str]:
    """Runs `omoide meter` in the repository, and returns what it prints."""
    import subprocess

    from journey.conftest import PROGRAM

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*PROGRAM, "meter", *arguments], capture_output=True, env=environment, cwd=repository, timeout=60
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode() + done.stderr.decode()

    return run
