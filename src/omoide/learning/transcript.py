"""Read the transcripts of agents into turns: Claude Code's JSONL, Codex's rollouts, and plain text.

A line that cannot be read is left out, whatever it holds: transcripts are written by other programs, and by processes that
were killed while they wrote.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from omoide.learning.injected_text import strip_injected

MAX_TEXT = 20_000
"""Characters of one turn that are read: the beginning and the end of what is longer."""


class Speaker(StrEnum):
    """Whose words a turn holds."""

    PERSON = "person"
    AGENT = "agent"
    COMMAND = "command"
    """A command or another tool that the agent ran."""
    OUTPUT = "output"
    """What a command or tool printed. Never a statement of anybody."""


class Turn(msgspec.Struct, frozen=True):
    """One utterance, command or output of a conversation."""

    speaker: Speaker
    text: str
    line: int
    """Of the transcript, from 1."""
    tool: str = ""
    """The name of the tool, of a command or its output."""
    call: str = ""
    """The id that joins a command and its output."""
    failed: bool = False
    """Of an output: whether the command ended with an error."""


class _Lines(msgspec.Struct):
    """What is known of the transcript so far."""

    tools: dict[str, str] = {}


def read_turns(lines: Iterable[bytes], *, first_line: int = 1) -> Iterator[Turn]:
    """Return the turns of a transcript, in order, without what omoide or the client put into it.

    The format is recognised from the first line that is not empty: JSON objects, one in each line, or plain text.
    """
    numbered = ((number, line) for number, line in enumerate(lines, first_line) if line.strip())
    first = next(numbered, None)
    if first is None:
        return
    rest = _chain(first, numbered)
    turns = _json_turns(rest) if first[1].lstrip().startswith(b"{") else _plain_turns(rest)
    for turn in turns:
        text = turn.text if turn.speaker in (Speaker.COMMAND, Speaker.OUTPUT) else strip_injected(turn.text)
        if text.strip():
            yield msgspec.structs.replace(turn, text=_shorten(text))


def _chain(first: tuple[int, bytes], rest: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    yield first
    yield from rest


def _shorten(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[: MAX_TEXT // 2]}\n…\n{text[-MAX_TEXT // 2 :]}"


def _json_turns(lines: Iterable[tuple[int, bytes]]) -> Iterator[Turn]:
    seen = _Lines({})
    for number, line in lines:
        try:
            record = msgspec.json.decode(line)
        except msgspec.DecodeError:  # fallback: the other lines
            continue
        if not isinstance(record, dict):
            continue
        payload = record.get("payload")
        if isinstance(payload, dict):
            if record.get("type") == "response_item":
                yield from _codex_turns(payload, number, seen)
        elif record.get("type") in ("user", "assistant") and not record.get("isMeta"):
            yield from _claude_turns(record, number, seen)


def _claude_turns(record: dict[str, Any], line: int, seen: _Lines) -> Iterator[Turn]:
    message = record.get("message")
    if not isinstance(message, dict):
        return
    speaker = Speaker.AGENT if record["type"] == "assistant" else Speaker.PERSON
    content = message.get("content")
    if isinstance(content, str):
        yield Turn(speaker, content, line)
        return
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield from _claude_block(block, speaker, line, seen)


def _claude_block(block: dict[str, Any], speaker: Speaker, line: int, seen: _Lines) -> Iterator[Turn]:
    kind = block.get("type")
    if kind == "text":
        yield Turn(speaker, str(block.get("text", "")), line)
    elif kind == "tool_use":
        call, tool = str(block.get("id", "")), str(block.get("name", ""))
        seen.tools[call] = tool
        yield Turn(Speaker.COMMAND, _command(block.get("input")), line, tool, call)
    elif kind == "tool_result":
        call = str(block.get("tool_use_id", ""))
        text = _join_texts(block.get("content"))
        failed = bool(block.get("is_error")) or is_failure(text)
        yield Turn(Speaker.OUTPUT, text, line, seen.tools.get(call, ""), call, failed)


def _codex_turns(payload: dict[str, Any], line: int, seen: _Lines) -> Iterator[Turn]:
    kind, call = payload.get("type"), str(payload.get("call_id", ""))
    if kind == "message":
        speaker = {"user": Speaker.PERSON, "assistant": Speaker.AGENT}.get(str(payload.get("role")))
        text = _join_texts(payload.get("content"))
        if speaker is not None and not _CODEX_CONTEXT.match(text):
            yield Turn(speaker, text, line)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        arguments: Any = payload.get("arguments", payload.get("input", payload.get("action")))
        if isinstance(arguments, str):
            arguments = _decode(arguments)
        tool = str(payload.get("name", kind))
        seen.tools[call] = tool
        yield Turn(Speaker.COMMAND, _command(arguments), line, tool, call)
    elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
        text, failed = _codex_output(payload.get("output"))
        yield Turn(Speaker.OUTPUT, text, line, seen.tools.get(call, ""), call, failed)


_CODEX_CONTEXT = re.compile(r"\s*<(?:environment_context|user_instructions|permissions|turn_aborted|INSTRUCTIONS)\b", re.I)


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
    except msgspec.DecodeError:  # fallback: it is no JSON
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


_FAILURE = re.compile(
    r"^(?:exit code:? [1-9]\d*|process exited with code [1-9]\d*|command failed|traceback \(most recent call last\)"
    r"|(?:\w+\.)*\w*(?:error|exception)\b.*:|error[:\[]|fatal:|npm err!"
    r"|(?:=+ .*)?\b[1-9]\d* failed\b|FAILED\b|make: \*\*\*)",
    re.I | re.M,
)
_EXIT_ZERO = re.compile(r"^(?:exit code:? 0|process exited with code 0)\b", re.I | re.M)


def is_failure(text: str) -> bool:
    """Whether an output looks like that of a command that failed."""
    return not _EXIT_ZERO.search(text) and bool(_FAILURE.search(text))


_LABELS = {
    Speaker.PERSON: ("user", "human", "me", "you", "ユーザー", "ユーザ", "人間", "私"),
    Speaker.AGENT: ("assistant", "agent", "claude", "codex", "gemini", "ai", "bot", "アシスタント", "エージェント"),
    Speaker.OUTPUT: ("tool", "output", "result", "tool result", "ツール", "出力", "結果"),
    Speaker.COMMAND: ("command", "コマンド"),
}
_LABEL = re.compile(
    r"^(?:[#>*\s]*)(?P<name>{})(?:\*\*)?\s*[:：](?:\*\*)?\s*(?P<text>.*)$".format(
        "|".join(re.escape(name) for names in _LABELS.values() for name in names)
    ),
    re.I,
)
_SPEAKERS = {name: speaker for speaker, names in _LABELS.items() for name in names}


def _plain_turns(lines: Iterable[tuple[int, bytes]]) -> Iterator[Turn]:
    """Turns of plain text: `User: …`, `Assistant: …`, `$ command` and what it printed. Without a label it is the agent's."""
    speaker, begun, parts = Speaker.AGENT, 0, list[str]()
    for number, raw in lines:
        line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
        label = _LABEL.match(line)
        if label:
            new, text = _SPEAKERS[label["name"].lower()], label["text"]
        elif re.match(r"\s*[$❯] \S", line):
            new, text = Speaker.COMMAND, line.lstrip(" $❯")
        elif speaker is Speaker.COMMAND:
            new, text = Speaker.OUTPUT, line
        else:
            parts.append(line)
            continue
        if parts:
            yield _plain_turn(speaker, parts, begun)
        speaker, begun, parts = new, number, [text]
    if parts:
        yield _plain_turn(speaker, parts, begun)


def _plain_turn(speaker: Speaker, parts: list[str], line: int) -> Turn:
    text = "\n".join(parts)
    return Turn(speaker, text, line, failed=speaker is Speaker.OUTPUT and is_failure(text))
