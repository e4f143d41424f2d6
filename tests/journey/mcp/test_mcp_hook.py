"""The tool `hook`: a client calls the running server for its hooks, and no model sees the tool."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import apsw
import pytest

import omoide
from journey.mcp.conftest import ENVELOPE
from omoide import Scope
from omoide.interfaces.mcp.context import CallContext, ServiceHandle
from omoide.interfaces.mcp.dispatch import Dispatcher
from omoide.interfaces.mcp.request import RequestContext
from omoide.model import HookState

PNPM = "We use pnpm as the package manager, never npm."
HOOK = [sys.executable, "-c", "from omoide.interfaces.start import main; main()", "hook"]


@pytest.fixture
def hook_call(place, monkeypatch):
    monkeypatch.setenv("OMOIDE_HOOK_SECONDS", "60")  # a busy machine may take more than a second to start a process
    with omoide.open(place / "memory.db") as memory:
        memory.remember(PNPM, scope=Scope.project("shop"))
    return {
        "event": "UserPromptSubmit", "session": "5a2c", "prompt": "Which package manager do we use?", "cwd": str(place),
        "transcript": str(place / "5a2c.jsonl"),
    }  # several entries per line  # fmt: skip


def text(result):
    (content,) = result["content"]
    assert not result["isError"]
    return json.loads(content["text"])


def context(result):
    return text(result)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("tools", ["default", "layers", "all"])
def test_no_list_names_it_and_it_can_be_called(talk, hook_call, tools):
    client = talk("--tools", tools)
    names = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
    assert "hook" not in names
    assert PNPM in context(client.call("hook", **hook_call))


def test_its_text_is_what_the_process_prints(talk, hook_call):
    client = talk()
    answer = text(client.call("hook", **hook_call))
    assert answer["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    body = {
        "session_id": "other",
        "hook_event_name": "UserPromptSubmit",
        "prompt": hook_call["prompt"],
        "cwd": hook_call["cwd"],
    }
    printed = subprocess.run(HOOK, input=json.dumps(body).encode(), capture_output=True, check=True)
    assert json.loads(printed.stdout) == answer


def test_the_client_is_the_one_that_introduced_itself(talk, hook_call, place):
    client = talk()
    info = {"name": "codex-mcp-client", "version": "0.166.0"}
    client.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
    client.call("hook", **hook_call)
    with omoide.open(place / "memory.db") as memory:
        assert [call.client for call in memory.last_hook_calls()] == ["codex"]


def test_the_client_is_the_one_that_a_stateless_request_names(talk, hook_call, place):
    meta = {**ENVELOPE, "io.modelcontextprotocol/clientInfo": {"name": "codex-mcp-client", "version": "0.166.0"}}
    request = {"name": "hook", "arguments": hook_call, "_meta": meta}
    assert PNPM in context(talk().request("tools/call", **request)["result"])
    with omoide.open(place / "memory.db") as memory:
        assert [call.client for call in memory.last_hook_calls()] == ["codex"]


@pytest.mark.parametrize("info", [None, "codex", {}, {"name": 7}])
def test_a_stateless_request_need_not_name_its_client(talk, hook_call, info):
    meta = {**ENVELOPE, "io.modelcontextprotocol/clientInfo": info}
    client = talk()
    assert PNPM in context(client.request("tools/call", name="hook", arguments=hook_call, _meta=meta)["result"])
    names = [tool["name"] for tool in client.request("tools/list", _meta=ENVELOPE)["result"]["tools"]]
    assert "hook" not in names


def test_a_session_starts_with_its_context(talk, hook_call):
    client = talk()
    assert PNPM in context(client.call("hook", event="SessionStart", session="5a2c", cwd=hook_call["cwd"]))
    assert text(client.call("hook", **hook_call)) == {}


def test_the_same_call_from_a_process_is_answered_once(talk, hook_call):
    client = talk()
    assert PNPM in context(client.call("hook", **hook_call))
    body = {
        "session_id": "5a2c",
        "hook_event_name": "UserPromptSubmit",
        "prompt": hook_call["prompt"],
        "cwd": hook_call["cwd"],
    }
    assert subprocess.run(HOOK, input=json.dumps(body).encode(), capture_output=True, check=True).stdout == b""


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"event": "PreToolUse"},
        {"event": 7, "session": ["x"], "prompt": {"a": 1}, "cwd": None},
        {"event": "UserPromptSubmit", "prompt": "${prompt}", "cwd": "/nowhere"},
        {"event": "UserPromptSubmit", "unknown": "argument"},
        {"event": "SessionEnd"},
    ],
)
def test_arguments_of_any_kind_are_answered_with_nothing(talk, hook_call, arguments):
    assert text(talk().call("hook", **arguments)) == {}


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop"])
def test_a_directory_that_cannot_be_read_is_logged_and_answered_with_nothing(talk, hook_call, place, event):
    call = {**hook_call, "event": event, "cwd": "/x" * 5000}  # longer than any path may be
    assert text(talk().call("hook", **call)) == {}
    with omoide.open(place / "memory.db") as memory:
        (logged,) = memory.hook_calls()
    assert logged.state is HookState.FAILED
    assert "cannot be read" in logged.fault


def test_a_database_that_is_damaged_is_logged_and_answered_with_nothing(talk, hook_call, place):
    (place / "memory.db").write_bytes(b"no database" * 1000)
    client = talk()
    assert text(client.call("hook", **hook_call)) == {}
    assert "memory.db" in (place / "memory.db.hook-faults").read_text(encoding="utf-8")


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreCompact", "Stop"])
def test_a_database_that_is_locked_is_logged_with_the_time_that_was_waited(talk, hook_call, place, event):
    client = talk()
    assert PNPM in context(client.call("hook", **hook_call))
    blocker = apsw.Connection(str(place / "memory.db"))
    blocker.execute("BEGIN IMMEDIATE")
    assert text(client.call("hook", **{**hook_call, "session": "other", "event": event})) == {}
    blocker.execute("ROLLBACK")
    blocker.close()
    with omoide.open(place / "memory.db") as memory:
        assert memory.hook_calls()[0].fault.endswith("another process has been writing for 0.2 s: try again")


def test_an_event_that_is_not_known_is_logged_as_that_of_a_process_is(talk, hook_call, place):
    assert text(talk().call("hook", **{**hook_call, "event": "PreToolUse"})) == {}
    body = {"session_id": "other", "hook_event_name": "PreToolUse", "cwd": hook_call["cwd"]}
    subprocess.run([*HOOK, "claude-code"], input=json.dumps(body).encode(), check=True)
    with omoide.open(place / "memory.db") as memory:
        by_process, by_tool = memory.hook_calls()
    assert (by_process.state, by_tool.state) == (HookState.FAILED, HookState.FAILED)
    assert by_process.fault == "claude-code called for an unknown event 'PreToolUse': nothing was done"
    assert by_tool.fault.endswith("called for an unknown event 'PreToolUse': nothing was done")


def test_a_server_of_our_own_language_model_answers_with_nothing(talk, hook_call):
    assert text(talk(OMOIDE_LLM_CHILD="1").call("hook", **hook_call)) == {}


def test_an_idle_server_learns_from_what_was_left(talk, hook_call, place):
    said = "We decided to use SQLite instead of Postgres because nobody wants to run a server."
    record = {"type": "user", "message": {"role": "user", "content": said}}
    Path(hook_call["transcript"]).write_text(json.dumps(record) + "\n", encoding="utf-8")
    client = talk()
    client.call("hook", **hook_call)
    client.call("hook", **{**hook_call, "event": "Stop"})
    with omoide.open(place / "memory.db") as memory:
        assert wait_until(lambda: not items_of(memory))
        found = memory.list(scope=Scope.project("shop"), type="learning").memories
    assert [one.content for one in found] == [said]


def test_over_http_a_client_cannot_make_the_server_read_files(hook_call, place):
    handle = ServiceHandle(lambda: omoide.open(place / "memory.db"), str(place / "memory.db"))
    dispatcher = Dispatcher(CallContext(handle, None, "shop"))
    dispatcher.call("hook", {**hook_call, "event": "Stop", "transcript": "/etc/passwd"}, RequestContext({}, print))
    (item,) = items_of(handle.service)
    handle.close()
    assert (item.transcript, item.directory, item.work_tree) == ("", "", "")


def items_of(memory):
    with memory._store.read() as tx:
        return tx.inbox()


def wait_until(condition):
    """Whether a condition became true within a minute."""
    until = time.monotonic() + 60
    while not condition() and time.monotonic() < until:
        threading.Event().wait(0.05)
    return condition()


def test_a_prompt_learns_what_a_person_changed_in_the_agents_lines(talk, hook_call, place):
    tree = place / "tree"
    tree.mkdir()
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    client = talk()
    call = {**hook_call, "cwd": str(tree)}
    client.call("hook", **call)
    assert wait_until(lambda: records_turn(place, tree))
    (tree / "client.py").write_text("import requests\n\nanswer = requests.get(url)\n")
    client.call("hook", **{**call, "event": "Stop"})
    (tree / "client.py").write_text("import requests\n\nanswer = session.get(url)\n")
    client.call("hook", **{**call, "prompt": "Now make it faster, please"})
    with omoide.open(place / "memory.db") as memory:
        assert wait_until(lambda: memory.proposals(scope=Scope.project("shop")))
        (proposal,) = memory.proposals(scope=Scope.project("shop"))
    assert '"requests.get(" with "session.get("' in proposal.content


def records_turn(place, tree):
    """Whether the beginning of a turn is recorded."""
    with omoide.open(place / "memory.db") as memory, memory._store.read() as tx:
        return tx.work_tree(Scope.project("shop"), str(tree.resolve()))
