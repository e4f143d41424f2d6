"""Clients of hooks: each is recognised by what it sends, and answered in its own format."""

import json

import pytest

from omoide.errors import InvalidInput
from omoide.interfaces.hooks.client_input import call_from, read_call
from omoide.interfaces.hooks.client_output import render_output
from omoide.model import HookCall, HookEvent

CLAUDE = {
    "session_id": "c1",
    "transcript_path": "/t.jsonl",
    "cwd": "/w",
    "hook_event_name": "UserPromptSubmit",
    "prompt": "p",
}
CODEX = {**CLAUDE, "transcript_path": None, "model": "gpt", "permission_mode": "default"}
GEMINI = {**CLAUDE, "timestamp": "2026-02-05T10:00:00Z"}
COPILOT = {"sessionId": "c1", "timestamp": 1770285600000, "cwd": "/w", "prompt": "p"}
CURSOR = {
    "conversation_id": "c1", "generation_id": "g", "model": "m", "hook_event_name": "beforeSubmitPrompt",
    "cursor_version": "3.20.17", "workspace_roots": ["/w"], "user_email": "a@b", "transcript_path": None, "prompt": "p",
}  # several entries per line  # fmt: skip

RECOGNISED = {
    "claude code": ("claude-code", {**CLAUDE, "prompt_id": "x"}, {}),
    "claude code at session start": ("claude-code", CLAUDE, {"CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": "/w"}),
    "codex": ("codex", {**CODEX, "turn_id": "t"}, {}),
    "codex at session start": ("codex", CODEX, {"CODEX_HOME": "/c"}),
    "codex without its variable": ("codex", CODEX, {}),
    "gemini": ("gemini", {**GEMINI, "hook_event_name": "BeforeAgent"}, {}),
    "gemini at session start": ("gemini", GEMINI, {"GEMINI_SESSION_ID": "c1", "CLAUDE_PROJECT_DIR": "/w"}),
    "copilot by its variable": ("copilot", CLAUDE, {"COPILOT_CLI": "1", "CLAUDE_PROJECT_DIR": "/w"}),
    "copilot without an event": ("copilot", COPILOT, {}),
    "vs code, camel case": ("vscode", {**COPILOT, "hookEventName": "UserPromptSubmit"}, {}),
    "vs code, snake case": ("vscode", GEMINI, {}),
    "cursor": ("cursor", CURSOR, {}),
    "cursor with hooks of claude code": ("cursor", CLAUDE, {"CURSOR_VERSION": "3.20.17", "CLAUDE_PROJECT_DIR": "/w"}),
    "opencode": ("opencode", {"client": "opencode", "event": "UserPromptSubmit", "session": "c1", "cwd": "/w"}, {}),
    "somebody": ("", CLAUDE, {}),
    "claude code in a shell of copilot": (
        "claude-code", CLAUDE, {"COPILOT_CLI": "1", "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "c1"}
    ),
    "copilot in a shell of claude code": (
        "copilot", CLAUDE, {"COPILOT_CLI": "1", "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "outer"}
    ),
    "claude code in a shell of gemini": ("claude-code", {**CLAUDE, "prompt_id": "x"}, {"GEMINI_SESSION_ID": "outer"}),
    "codex in a shell of claude code": ("codex", {**CODEX, "turn_id": "t"}, {"CLAUDECODE": "1"}),
    "codex at session start in a shell of copilot": ("codex", CODEX, {"COPILOT_CLI": "1"}),
    "codex at session start in a shell of gemini": ("codex", CODEX, {"GEMINI_SESSION_ID": "outer"}),
    "codex at session start in a shell of claude code": (
        "codex", CODEX, {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "outer"}
    ),
}  # several entries per line  # fmt: skip


@pytest.mark.parametrize("name", RECOGNISED)
def test_a_client_is_recognised_by_what_it_sends_before_its_environment(name):
    client, body, environment = RECOGNISED[name]
    assert call_from(body, environment).client == client


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("SessionStart", HookEvent.SESSION_START),
        ("sessionStart", HookEvent.SESSION_START),
        ("UserPromptSubmit", HookEvent.PROMPT),
        ("BeforeAgent", HookEvent.PROMPT),
        ("userPromptSubmitted", HookEvent.PROMPT),
        ("beforeSubmitPrompt", HookEvent.PROMPT),
        ("Stop", HookEvent.STOP),
        ("stop", HookEvent.STOP),
        ("AfterAgent", HookEvent.STOP),
        ("agentStop", HookEvent.STOP),
        ("PreCompact", HookEvent.BEFORE_COMPACTION),
        ("preCompact", HookEvent.BEFORE_COMPACTION),
        ("PreCompress", HookEvent.BEFORE_COMPACTION),
        ("SessionEnd", HookEvent.SESSION_END),
        ("sessionEnd", HookEvent.SESSION_END),
        ("SubagentStop", HookEvent.OTHER),
        ("PostCompact", HookEvent.OTHER),
        ("PreToolUse", HookEvent.OTHER),
        ("", HookEvent.OTHER),
    ],
)
def test_every_name_of_an_event_means_one_thing(name, event):
    assert call_from({"hook_event_name": name}, {}).event is event


def test_what_each_client_sends_ends_up_in_the_same_fields():
    for body, arguments in ((CLAUDE, ()), (COPILOT, ("copilot", "userPromptSubmitted")), (CURSOR, ())):
        call = call_from(body, {}, arguments)
        assert (call.event, call.session, call.prompt, call.directory) == (HookEvent.PROMPT, "c1", "p", "/w")
    stop = call_from({"session_id": "g", "hook_event_name": "AfterAgent", "prompt": "p", "prompt_response": "r"}, {})
    assert (stop.prompt, stop.last_message) == ("p", "r")
    stop = call_from(
        {"sessionId": "g", "transcriptPath": "/e.jsonl", "stopReason": "end_turn"}, {}, ("copilot", "agentStop")
    )
    assert (stop.event, stop.transcript) == (HookEvent.STOP, "/e.jsonl")


def test_an_argument_names_the_client_and_the_event_or_the_event_alone():
    call = call_from(COPILOT, {"CLAUDECODE": "1"}, ("copilot", "sessionStart"))
    assert (call.client, call.event, call.name) == ("copilot", HookEvent.SESSION_START, "sessionStart")
    call = call_from({"session_id": "x"}, {}, ("SessionStart",))
    assert (call.client, call.event) == ("", HookEvent.SESSION_START)


def test_half_of_a_surrogate_pair_is_replaced():
    call = read_call(b'{"hook_event_name": "UserPromptSubmit", "prompt": "a \\ud83d b"}', {})
    assert call.prompt == "a ? b"


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"7", b"\xff"])
def test_input_that_is_no_object_is_refused(data):
    with pytest.raises(InvalidInput):
        read_call(data, {})


def call(client, name, event=HookEvent.PROMPT):
    return HookCall(client, event, name)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            call("claude-code", "UserPromptSubmit"),
            {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "文"}},
        ),
        (
            call("codex", "SessionStart", HookEvent.SESSION_START),
            {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "文"}},
        ),
        (
            call("gemini", "BeforeAgent"),
            {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "文"}},
        ),
        (
            call("vscode", "UserPromptSubmit"),
            {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "文"}},
        ),
        (
            call("", "UserPromptSubmit"),
            {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "文"}},
        ),
        (call("copilot", "userPromptSubmitted"), {"additionalContext": "文"}),
        (call("copilot", "SessionStart", HookEvent.SESSION_START), {"additionalContext": "文"}),
        (call("opencode", "UserPromptSubmit"), {"additionalContext": "文"}),
        (call("cursor", "sessionStart", HookEvent.SESSION_START), {"additional_context": "文"}),
        (call("cursor", "beforeSubmitPrompt"), {"continue": True, "additional_context": "文"}),
        (
            call("cursor", "UserPromptSubmit"),
            {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "文"}},
        ),
    ],
    ids=lambda value: f"{value.client} {value.name}" if isinstance(value, HookCall) else "",
)
def test_each_client_is_answered_in_its_own_format(given, expected):
    printed = render_output(given, "文")
    assert json.loads(printed) == expected
    assert "\n" not in printed


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "copilot", "vscode", "cursor", "opencode", ""])
@pytest.mark.parametrize("event", [event for event in HookEvent if event not in (HookEvent.SESSION_START, HookEvent.PROMPT)])
def test_no_other_event_is_answered_with_anything(client, event):
    assert render_output(call(client, "Stop", event), "文") == ""


def test_no_text_is_answered_with_nothing():
    assert render_output(call("claude-code", "UserPromptSubmit"), "") == ""
