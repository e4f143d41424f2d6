"""Write a text as the answer of a hook, in the format that its client reads. Pure."""

from typing import Any

import msgspec

from omoide.model import HookCall, HookEvent

_ADDS_CONTEXT = (HookEvent.SESSION_START, HookEvent.PROMPT)
"""Any other event must be answered with nothing: some clients take a text at the end of a turn for a reason to go on."""


def render_output(call: HookCall, text: str) -> str:
    """Return what to print for a call: one line of JSON with the text as added context, or nothing.

    Codex reads no field that it does not know, and Copilot CLI and Cursor each have a form of their own; everybody else
    reads that of Claude Code, with the client's own name of the event.
    """
    if not text or call.event not in _ADDS_CONTEXT:
        return ""
    answer: dict[str, Any]
    if call.client in ("copilot", "opencode"):
        answer = {"additionalContext": text}
    elif call.client == "cursor" and call.name[:1].islower():
        answer = {"additional_context": text}
        if call.event is HookEvent.PROMPT:
            answer = {"continue": True, **answer}
    else:
        answer = {"hookSpecificOutput": {"hookEventName": call.name, "additionalContext": text}}
    return msgspec.json.encode(answer).decode()
