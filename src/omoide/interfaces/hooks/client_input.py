"""Read the input of a client's hook into a `HookCall`, and recognise the client by it and by its environment. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from omoide.errors import InvalidInput
from omoide.model import HookCall, HookEvent

CLIENTS = ("claude-code", "codex", "gemini", "copilot", "vscode", "cursor", "opencode")

_EVENTS = {
    HookEvent.SESSION_START: ("sessionstart",),
    HookEvent.PROMPT: ("userpromptsubmit", "userpromptsubmitted", "beforeagent", "beforesubmitprompt", "prompt"),
    HookEvent.STOP: ("stop", "afteragent", "agentstop"),
    HookEvent.BEFORE_COMPACTION: ("precompact", "precompress", "beforecompaction"),
    HookEvent.SESSION_END: ("sessionend",),
}
_BY_NAME = {name: event for event, names in _EVENTS.items() for name in names}
_GEMINI_EVENTS = ("BeforeAgent", "AfterAgent", "PreCompress", "BeforeModel", "AfterModel", "BeforeTool", "AfterTool")
_LONGEST_NAME = 200


def read_call(data: bytes, environment: Mapping[str, str], arguments: Sequence[str] = ()) -> HookCall:
    """Return the call that a client sent on standard input.

    `arguments` are the client and the event, for clients that do not send them. Raise InvalidInput if the input is no JSON
    object.
    """
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # fallback: what is nearly JSON in UTF-8
        body = _decode_leniently(data)
    if not isinstance(body, dict):
        raise InvalidInput(f"the input of the hook is a {type(body).__name__}: a client sends an object")
    return call_from(body, environment, arguments)


def _decode_leniently(data: bytes) -> Any:
    """Decode JSON with characters that are no valid Unicode, such as a half of an emoji that was cut off, or in UTF-16."""
    import json  # lazy: hardly any input needs it

    try:
        return json.loads(data.decode(json.detect_encoding(data), errors="replace"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the input of the hook is not JSON ({error}): a client sends an object") from error


def call_from(body: Mapping[str, Any], environment: Mapping[str, str], arguments: Sequence[str] = ()) -> HookCall:
    """Return the call that an object describes, as a client or its plugin sends it."""
    client, event = (*arguments, "", "")[:2]
    if client and client not in CLIENTS:
        client, event = "", event or client
    name = event or _text(body, "hook_event_name", "hookEventName", "event")
    return HookCall(
        client or recognise(body, name, environment),
        _BY_NAME.get(re.sub(r"[^a-z]", "", name.lower()), HookEvent.OTHER),
        name[:_LONGEST_NAME],
        _text(body, "session_id", "sessionId", "session", "conversation_id"),
        _text(body, "prompt"),
        _directory(body),
        _text(body, "transcript_path", "transcriptPath", "transcript"),
        _text(body, "source"),
        _text(body, "last_assistant_message", "prompt_response", "lastMessage", "last_message"),
    )


def check_event(call: HookCall) -> None:
    """Raise InvalidInput if the event of a call is not known."""
    if call.event is HookEvent.OTHER:
        raise InvalidInput(f"{call.client or 'a client'} called for an unknown event {call.name!r}: nothing was done")


def recognise(body: Mapping[str, Any], event: str, environment: Mapping[str, str]) -> str:
    """Return which client sent an object, or an empty text.

    What it sends counts before its environment: a client that is started in the shell of another one inherits that one's
    variables.
    """
    named, session = _text(body, "client"), _text(body, "session_id", "sessionId", "session")
    if named in CLIENTS:
        return named
    if "conversation_id" in body or "cursor_version" in body or environment.get("CURSOR_VERSION"):
        return "cursor"
    for client, variable in (("claude-code", "CLAUDE_CODE_SESSION_ID"), ("gemini", "GEMINI_SESSION_ID")):
        if session and environment.get(variable) == session:
            return client
    if event in _GEMINI_EVENTS:
        return "gemini"
    if "prompt_id" in body:
        return "claude-code"
    if "turn_id" in body or ("model" in body and "permission_mode" in body and "timestamp" not in body):
        return "codex"
    return _by_environment(body, environment)


def _by_environment(body: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    if environment.get("COPILOT_CLI"):
        return "copilot"
    if environment.get("GEMINI_SESSION_ID"):
        return "gemini"
    if "sessionId" in body or "hookEventName" in body or "timestamp" in body:
        return "vscode" if "hookEventName" in body or "hook_event_name" in body else "copilot"
    if environment.get("CODEX_HOME") or ("model" in body and not environment.get("CLAUDECODE")):
        return "codex"
    return "claude-code" if environment.get("CLAUDECODE") else ""


def _directory(body: Mapping[str, Any]) -> str:
    roots = body.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return _text(body, "cwd", "directory") or first


def _text(body: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is a text and not empty. Characters that are no valid Unicode are replaced."""
    for name in names:
        value = body.get(name)
        if isinstance(value, str) and value:
            return value if value.isascii() else value.encode(errors="replace").decode()
    return ""
