"""The records of transcripts in JSON lines: those of Claude Code, of Codex, old and new, and of Copilot CLI."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from omoide.compiled_patterns import load_pattern
from omoide.errors import InvalidInput
from omoide.learning.transcript import Speaker, Turn, is_failure, shorten

_MOST_CALLS = 1_000
"""Calls whose output may still come."""


class _Reading(msgspec.Struct):
    """What is known of the transcript so far."""

    tools: dict[str, tuple[str, str]] = {}
    """The name and the command of each tool that was called, by the id of the call."""
    said: deque[tuple[Speaker, str]] = msgspec.field(default_factory=lambda: deque(maxlen=8))
    """What was said last: Codex records a message twice."""

    def call(self, call: str, tool: str, command: str) -> None:
        if len(self.tools) >= _MOST_CALLS:
            self.tools.pop(next(iter(self.tools)))
        self.tools[call] = (tool, shorten(command, 400))

    def end_call(self, call: str) -> tuple[str, str]:
        return self.tools.pop(call, ("", ""))


def read_records(lines: Iterable[tuple[int, bytes]], *, strict: bool) -> Iterator[Turn]:
    """Return the turns of numbered lines of JSON.

    `strict`: raise InvalidInput if there are objects, but none of a known format.
    """
    reading, objects, known = _Reading({}), 0, 0
    for number, line in lines:
        try:
            record = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # fallback: the other lines
            continue
        reader = _reader_of(record) if isinstance(record, dict) else None
        objects += isinstance(record, dict)
        if reader is not None:
            known += 1
            yield from reader(record, number, reading)
    if strict and objects and not known:
        raise InvalidInput(
            f"none of the {objects:,} JSON lines is a record that omoide knows: give a session of Claude Code, a rollout of"
            " Codex, or plain text with lines such as `User: …` and `Assistant: …`"
        )


_Read = Callable[[dict[str, Any], int, _Reading], Iterator[Turn]]
_CLAUDE_TYPES = (
    *("user", "assistant", "system", "attachment", "summary", "progress"),
    *("file-history-snapshot", "queue-operation"),
)
_CODEX_ITEMS = (
    *("message", "reasoning", "function_call", "custom_tool_call", "local_shell_call"),
    *("function_call_output", "custom_tool_call_output", "local_shell_call_output"),
)
_CODEX_EVENTS = ("item.started", "item.updated", "item.completed", "thread.started", "turn.started", "turn.completed")
"""Of `codex exec --json`."""


def _reader_of(record: dict[str, Any]) -> _Read | None:
    """The function that reads a record; None if it is of no known format."""
    if isinstance(record.get("payload"), dict):
        return _codex_turns
    kind = record.get("type")
    if kind in _CLAUDE_TYPES:
        return _claude_turns
    if kind in _CODEX_ITEMS:
        return _codex_item
    if kind == "result":
        return _claude_result
    if kind in _CODEX_EVENTS:
        return _codex_event
    return _copilot_turns if isinstance(record.get("data"), dict) and "." in str(kind) else None


def _claude_turns(record: dict[str, Any], line: int, reading: _Reading) -> Iterator[Turn]:
    if record["type"] in ("system", "attachment"):
        part = record.get("attachment", record)
        text = _join_texts(part.get("content")) if isinstance(part, dict) else ""
        if text:
            yield Turn(Speaker.CONTEXT, text, line)
        return
    message = record.get("message")
    if not isinstance(message, dict) or record["type"] not in ("user", "assistant"):
        return
    speaker = Speaker.AGENT if record["type"] == "assistant" else Speaker.PERSON
    if speaker is Speaker.PERSON and (record.get("isMeta") or record.get("isCompactSummary")):
        speaker = Speaker.CONTEXT
    elif speaker is Speaker.PERSON and record.get("isSidechain"):
        speaker = Speaker.AGENT  # the message of an agent to a subagent
    content = message.get("content")
    if isinstance(content, str):
        yield Turn(speaker, content, line)
        return
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield from _claude_block(block, speaker, line, reading)


def _claude_block(block: dict[str, Any], speaker: Speaker, line: int, reading: _Reading) -> Iterator[Turn]:
    kind = block.get("type")
    if kind == "text":
        text = str(block.get("text", ""))
        reading.said.append((speaker, text))
        yield Turn(speaker, text, line)
    elif kind == "tool_use":
        call, tool, command = str(block.get("id", "")), str(block.get("name", "")), _command(block.get("input"))
        reading.call(call, tool, command)
        yield Turn(Speaker.COMMAND, command, line, tool, call)
    elif kind == "tool_result":
        call = str(block.get("tool_use_id", ""))
        text = _join_texts(block.get("content"))
        failed = bool(block.get("is_error")) or is_failure(text)
        tool, command = reading.end_call(call)
        yield Turn(Speaker.OUTPUT, text, line, tool, call, failed, command)


def _claude_result(record: dict[str, Any], line: int, reading: _Reading) -> Iterator[Turn]:
    """The last answer, which `claude -p --output-format json` prints alone, and `stream-json` once more."""
    if isinstance(record.get("result"), str):
        yield from _say(Speaker.AGENT, record["result"], line, reading)


def _codex_turns(record: dict[str, Any], line: int, reading: _Reading) -> Iterator[Turn]:
    payload = record["payload"]
    if record.get("type") == "response_item":
        yield from _codex_item(payload, line, reading)
    elif record.get("type") == "event_msg":
        speaker = {"user_message": Speaker.PERSON, "agent_message": Speaker.AGENT}.get(str(payload.get("type")))
        text = payload.get("message")
        if speaker is not None and isinstance(text, str):
            yield from _say(speaker, text, line, reading)


def _say(speaker: Speaker, text: str, line: int, reading: _Reading) -> Iterator[Turn]:
    """A message, once: rollouts hold it as an item and as an event."""
    if (speaker, text) not in reading.said:
        reading.said.append((speaker, text))
        yield Turn(speaker, text, line)


def _codex_item(payload: dict[str, Any], line: int, reading: _Reading) -> Iterator[Turn]:
    kind, call = payload.get("type"), str(payload.get("call_id", ""))
    if kind == "message":
        text = _join_texts(payload.get("content"))
        speaker = {"user": Speaker.PERSON, "assistant": Speaker.AGENT}.get(str(payload.get("role")), Speaker.CONTEXT)
        if _CODEX_CONTEXT.match(text):
            speaker = Speaker.CONTEXT
        yield from _say(speaker, text, line, reading)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        arguments: Any = payload.get("arguments", payload.get("input", payload.get("action")))
        if isinstance(arguments, str):
            arguments = _decode(arguments)
        tool, command = str(payload.get("name", kind)), _command(arguments)
        reading.call(call, tool, command)
        yield Turn(Speaker.COMMAND, command, line, tool, call)
    elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
        text, failed = _codex_output(payload.get("output"))
        tool, command = reading.end_call(call)
        yield Turn(Speaker.OUTPUT, text, line, tool, call, failed, command)


def _codex_event(record: dict[str, Any], line: int, reading: _Reading) -> Iterator[Turn]:
    """An event of `codex exec --json`: what the agent said, ran or changed."""
    item = record.get("item")
    if record["type"] != "item.completed" or not isinstance(item, dict):
        return
    kind, call = item.get("type"), str(item.get("id", ""))
    if kind == "agent_message":
        yield from _say(Speaker.AGENT, str(item.get("text", "")), line, reading)
    elif kind == "command_execution":
        command = _command({"command": item.get("command")})
        text = _join_texts(item.get("aggregated_output"))
        yield Turn(Speaker.COMMAND, command, line, "shell", call)
        yield Turn(Speaker.OUTPUT, text, line, "shell", call, bool(item.get("exit_code")), shorten(command, 400))
    elif kind == "file_change":
        changes = item.get("changes")
        for change in changes if isinstance(changes, list) else ():
            if isinstance(change, dict) and change.get("path"):
                yield Turn(Speaker.COMMAND, str(change["path"]), line, "apply_patch", call)


def _copilot_turns(record: dict[str, Any], line: int, reading: _Reading) -> Iterator[Turn]:
    kind, data = record.get("type"), record["data"]
    call = str(data.get("toolCallId", ""))
    speaker = {"user.message": Speaker.PERSON, "assistant.message": Speaker.AGENT}.get(str(kind))
    if speaker is not None:
        yield Turn(speaker, _join_texts(data.get("content")), line)
    elif kind == "tool.execution_start":
        tool, command = str(data.get("toolName", "")), _command(data.get("arguments"))
        reading.call(call, tool, command)
        yield Turn(Speaker.COMMAND, command, line, tool, call)
    elif kind == "tool.execution_complete":
        answer = data.get("result", data.get("error"))
        text = _join_texts(answer.get("content", answer.get("message"))) if isinstance(answer, dict) else ""
        tool, command = reading.end_call(call)
        yield Turn(Speaker.OUTPUT, text, line, tool, call, data.get("success") is False or is_failure(text), command)


_CODEX_CONTEXT = load_pattern(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|INSTRUCTIONS)\b|# AGENTS\.md instruc)",
    re.I,
)


def _codex_output(output: Any) -> tuple[str, bool]:
    """The text of an output, and whether its command failed. Older rollouts hold JSON in a string."""
    if isinstance(output, str):
        output = _decode(output)
    if isinstance(output, dict):
        metadata = output.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else None
        text = _join_texts(output.get("output", output.get("content", "")))
        return text, bool(code) or (code is None and is_failure(text)) or output.get("success") is False
    text = _join_texts(output)
    return text, is_failure(text)


def _decode(text: str) -> Any:
    """The JSON value in a string, or the string itself."""
    if text[:1] not in ("{", "["):
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):  # fallback: it is no JSON
        return text


def _join_texts(content: Any) -> str:
    """The text of a content, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = (block.get("text", "") if isinstance(block, dict) else block for block in content)
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""


_COMMAND_FIELDS = ("command", "cmd", "patch", "script")
_EDIT_FIELDS = ("file_path", "path", "notebook_path")


def _command(arguments: Any) -> str:
    """What a tool was asked to do, in one text: a command line, an edit as path and new text, else its arguments."""
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return ""
    for name in _COMMAND_FIELDS:
        value = arguments.get(name)
        if isinstance(value, list):
            return _shell_line([str(part) for part in value])
        if isinstance(value, str):
            return value
    path = next((str(arguments[name]) for name in _EDIT_FIELDS if arguments.get(name)), "")
    new = arguments.get("new_string", arguments.get("content", ""))
    if path:
        return f"{path}\n{new}" if isinstance(new, str) and new else path
    return msgspec.json.encode(arguments).decode()


def _shell_line(parts: list[str]) -> str:
    """A command as a person would type it: what a shell was asked to run, without the shell."""
    if len(parts) >= 3 and parts[0].rpartition("/")[2] in ("bash", "sh", "zsh") and parts[1] in ("-c", "-lc"):
        return parts[2]
    return " ".join(parts)
