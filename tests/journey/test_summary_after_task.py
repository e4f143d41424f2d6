"""The last steps of a task: its project is summarised where it is due, and every fallback is shown."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from conftest import Clock
from journey.conftest import Done
from journey.model_server import ModelServer
from omoide import AgentResult, Scope, Service, open_conversation

SHOP = Scope.project("shop")
Run = Callable[..., Done]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.close()


def fill(memory: Service, clock: Clock) -> None:
    memory.create_project("shop")
    for number in range(20):
        memory.append_activity(f"Running the tests of src/part{number}.py, version 1.{number}", scope=SHOP)
        clock.step(3_600)
    clock.step(30 * 86_400)


@pytest.fixture
def due(tmp_path: Path, clock: Clock, open_memory: Callable[..., Service]) -> Service:
    memory = open_memory(tmp_path / "memory.db", summarize_threshold=800)
    fill(memory, clock)
    return memory


def test_a_project_that_is_due_is_summarised_after_a_task(due: Service) -> None:
    conversation = open_conversation(due, scope=SHOP)
    conversation.before("Fix the login", "monday")
    report = conversation.after(AgentResult(output="Done.", exit_code=0))
    assert report.problems == ()
    assert report.summary is not None
    assert (report.summary.success, report.summary.entries_summarized) == (True, 20)
    assert report.entry is not None
    assert due.show(report.entry.number, scope=Scope.session("shop", "monday")).state == "active"
    conversation.before("Fix the logout", "monday")
    assert conversation.after(AgentResult(output="Done.", exit_code=0)).summary is None


def test_the_events_of_a_task_are_in_the_order_of_its_steps(due: Service) -> None:
    conversation = open_conversation(due, scope=SHOP)
    conversation.before("Fix the login", "monday")
    conversation.after(AgentResult(output="Done.", exit_code=0))
    actions = [event.action for event in due.events(scope=SHOP, limit=60)]
    steps = [action for action in dict.fromkeys(reversed(actions)) if action != "archived"]
    assert steps[-5:] == ["remembered", "started", "composed", "outcome", "summarized"]


def test_a_worker_that_may_not_summarise_is_not_bothered_with_it(due: Service) -> None:
    conversation = open_conversation(due.acting_as("builder"), scope=SHOP)
    conversation.before("Fix the login")
    report = conversation.after(AgentResult(output="Done.", exit_code=0))
    assert (report.summary, report.problems) == (None, ())


def write_old_log(place: Path, run: Run) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=60)
    lines = [
        {"content": f"Running the tests of src/part{number}.py, version 1.{number}", "type": "note"}
        | dict.fromkeys(("created_at", "updated_at"), (long_ago + timedelta(hours=number)).isoformat())
        for number in range(20)
    ]
    (place / "log.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    assert run("import", "log.jsonl", "--format", "jsonl").code == 0
    (place / "config.toml").write_text("summarize_threshold = 800\n")


def test_the_command_says_that_it_summarised_and_how_to_undo_it(run: Run, omoide: Run, place: Path) -> None:
    write_old_log(place, run)
    done = omoide("run", "-m", "Fix the login", "--", "echo", "Done.")
    assert "summarised 20 entries" in done.err
    assert "omoide summarize --undo" in done.err
    assert "Traceback" not in done.err


def test_a_summary_that_fails_is_reported_and_the_run_is_recorded(run: Run, omoide: Run, place: Path) -> None:
    write_old_log(place, run)
    (place / "backups").write_text("a file where the directory of backups should be")
    done = omoide("run", "-m", "Fix the login", "--", "echo", "Done.")
    assert done.code == 0
    assert "is not summarised, nothing was changed: no backup can be written" in done.err
    assert run("runs", "--json").data["runs"][0]["outcome"]["result"] == "success"
    assert len(run("list", "--limit", "50", "--json").data["memories"]) == 21


def test_a_model_that_fails_is_shown_by_before_and_after(run: Run, omoide: Run, place: Path, server: ModelServer) -> None:
    server.answers = [429]
    write_old_log(place, run)
    model = {"OMOIDE_LLM": f"{server.url}/v1#stub"}
    done = omoide("run", "-m", "Fix the login", "--", "echo", "The worker listens on port 9000 now.", **model)
    assert "summarised 20 entries" in done.err
    assert done.err.count("gave no answer") == 2  # learning and the summary each say why
    assert run("llm", "usage", "--json").data["tokens_today"] == 0
