"""Read the transcripts of agents into turns: Claude Code's JSONL, Codex's rollouts, Copilot CLI's events, and plain text.

A line that cannot be read is left out, whatever it holds: transcripts are written by other programs, and by processes that
were killed while they wrote. A transcript is read line by line, so that a large one takes no more memory than a small one.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import chain
from typing import BinaryIO

import msgspec

from omoide.compiled_patterns import load_pattern
from omoide.errors import InvalidInput
from omoide.learning.injected_text import split_injected
from omoide.learning.patterns import any_of

MAX_TEXT = 20_000
"""Characters of one turn that are read: the beginning and the end of what is longer."""
MAX_LINE = 16_000_000
"""Bytes of a line; a longer one, such as an image, is left out."""


class Speaker(StrEnum):
    """Whose words a turn holds."""

    PERSON = "person"
    AGENT = "agent"
    COMMAND = "command"
    """A command or another tool that the agent ran."""
    OUTPUT = "output"
    """What a command or tool printed. Never a statement of anybody."""
    CONTEXT = "context"
    """What a client, a hook or omoide put into the conversation: known before it began."""


class Turn(msgspec.Struct, frozen=True):
    """One utterance, command or output of a conversation."""

    speaker: Speaker
    text: str
    line: int
    """The line of the transcript, from 1."""
    tool: str = ""
    """The name of the tool, of a command or its output."""
    call: str = ""
    """The id that joins a command and its output."""
    failed: bool = False
    """Of an output: whether the command ended with an error."""
    command: str = ""
    """Of an output: the beginning of the command."""


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a binary `stream`, such as an open file; a line longer than `MAX_LINE` becomes an empty one."""
    while line := stream.readline(MAX_LINE):
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            line = b"\n"
        yield line


def read_turns(lines: Iterable[bytes], *, first_line: int = 1, strict: bool = False) -> Iterator[Turn]:
    """Return the turns of a transcript, in order; what omoide or the client put into messages is a turn of its own.

    `lines`: of the transcript, such as `read_lines` returns them. The format is recognised from the first line that is not
    empty: JSON objects, one in each line, or plain text. `first_line` is the number of the first of the lines. `strict`:
    raise InvalidInput for bytes that are no text, and, at the end, for JSON without a record of a format that is known; else
    there are no turns in them.
    """
    numbered = ((number, line) for number, line in enumerate(lines, first_line) if line.strip())
    first = next(numbered, None)
    if first is None:
        return
    if b"\0" in first[1]:
        if not strict:
            return
        raise InvalidInput(f"line {first[0]} is no text: a transcript is JSON lines of Claude Code or Codex, or plain text")
    rest = chain([first], numbered)
    if first[1].lstrip().startswith(b"{"):
        from omoide.learning.transcript_records import read_records  # lazy: plain text needs none of it

        turns = read_records(rest, strict=strict)
    else:
        turns = _plain_turns(rest)
    for turn in turns:
        yield from separate_injected(turn)


def separate_injected(turn: Turn) -> Iterator[Turn]:
    """Return the turn without `<private>` parts and what was put into it, which is a turn of its own before it."""
    if turn.speaker in (Speaker.PERSON, Speaker.AGENT):
        text, injected = split_injected(turn.text)
        if injected:
            yield Turn(Speaker.CONTEXT, shorten(injected), turn.line)
        turn = msgspec.structs.replace(turn, text=text)
    if turn.text.strip():
        yield msgspec.structs.replace(turn, text=shorten(turn.text))


def shorten(text: str, most: int = MAX_TEXT) -> str:
    """Return the beginning and the end of a text that is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: most // 2]}\n…\n{text[-most // 2 :]}"


_FAILURE = load_pattern(
    "^"
    + any_of(
        r"exit (?:code|status):? [1-9]\d*",
        r"process exited with code [1-9]\d*",
        r"command failed|build failed|FAIL(?:ED)?\b|segmentation fault",
        r"traceback \(most recent call last\)",
        r"(?:\w+\.)*\w*(?:error|exception)\b.*:|error(?:[:\[]| TS\d+)",
        r"(?:fatal|panic):|npm err!|make(?:\[\d\])?: \*\*\*",
        r"(?:fatal|cmake) error\b|collect2: error|.*\bexited with status [1-9]|.*: undefined reference to ",
        r"\S+:\d+(?::\d+)?: (?:fatal )?error\b",
        r"(?:=+ .*)?\b[1-9]\d* (?:failed|failing|failures?|errors?)\b",
        r"\W*[✗✘✖×] ",
        r"\S+: (?:command not found|No such file or directory|permission denied)",
        ".*(?:に失敗しました|エラー[:：])",
    ),
    re.I | re.M,
)
_EXIT_ZERO = load_pattern(r"^(?:exit code:? 0|process exited with code 0)\b", re.I | re.M)


def is_failure(text: str) -> bool:
    """Return whether an output looks like that of a command that failed."""
    return not _EXIT_ZERO.search(text) and bool(_FAILURE.search(text))


_LABELS = {
    Speaker.PERSON: ("user", "human", "me", "you", "ユーザー", "ユーザ", "人間", "私", "依頼者"),
    Speaker.AGENT: (
        *("assistant", "agent", "claude", "claude code", "codex", "gemini", "copilot", "ai", "bot"),
        *("アシスタント", "エージェント"),
    ),
    Speaker.OUTPUT: ("tool", "output", "result", "tool result", "ツール", "出力", "結果", "ツール結果"),
    Speaker.COMMAND: ("command", "コマンド"),
    Speaker.CONTEXT: ("system", "システム"),
}
_LABEL = load_pattern(
    r"^(?:[#>*\s]*)(?:\[[\d:/ T.-]+\]\s*)?(?P<name>{})(?:\*\*)?\s*[:：](?:\*\*)?\s*(?P<text>.*)$".format(
        "|".join(sorted((re.escape(name) for names in _LABELS.values() for name in names), key=len, reverse=True))
    ),
    re.I,
)
_SPEAKERS = {name: speaker for speaker, names in _LABELS.items() for name in names}
_PROMPT = load_pattern(r"\s*[$❯] (?=\S)")


def _plain_turns(lines: Iterable[tuple[int, bytes]]) -> Iterator[Turn]:
    """Turns of plain text: `User: …`, `Assistant: …`, `$ command` and what it printed. Without a label it is the agent's."""
    speaker, begun, lines_of_turn, command = Speaker.AGENT, 0, _LinesOfTurn(), ""
    for number, raw in lines:
        line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
        label = _LABEL.match(line)
        if label:
            new, text = _SPEAKERS[label["name"].lower()], label["text"]
        elif _PROMPT.match(line):
            new, text = Speaker.COMMAND, _PROMPT.sub("", line, count=1)
        elif speaker is Speaker.COMMAND:
            new, text = Speaker.OUTPUT, line
        else:
            lines_of_turn.append(line)
            continue
        if lines_of_turn:
            yield _plain_turn(speaker, lines_of_turn.text, begun, command)
        command = lines_of_turn.text if speaker is Speaker.COMMAND and new is Speaker.OUTPUT else ""
        speaker, begun, lines_of_turn = new, number, _LinesOfTurn(text)
    if lines_of_turn:
        yield _plain_turn(speaker, lines_of_turn.text, begun, command)


class _LinesOfTurn:
    """The lines of one turn; of a flood, the beginning and the end."""

    def __init__(self, first: str | None = None):
        self._lines = [] if first is None else [first]
        self._size = sum(map(len, self._lines))

    def __bool__(self) -> bool:
        return bool(self._lines)

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def append(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1
        if self._size > 2 * MAX_TEXT:
            self._lines = [shorten(self.text)]
            self._size = len(self._lines[0])


def _plain_turn(speaker: Speaker, text: str, line: int, command: str) -> Turn:
    return Turn(speaker, text, line, failed=speaker is Speaker.OUTPUT and is_failure(text), command=command)
