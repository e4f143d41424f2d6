"""Recognise repairs: a command that failed, and what was changed before it passed. Pure."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from omoide.learning.patterns import phrases
from omoide.learning.sentences import split_sentences
from omoide.learning.transcript import Speaker, Turn

_EDIT_TOOLS = re.compile(r"edit|write|apply_patch|patch|notebook|replace|create", re.I)
_SHELL_TOOLS = re.compile(r"^(?:|bash|shell|exec(?:_command)?|local_shell_call|run|terminal|run_\w+)$", re.I)
_ERROR_LINE = re.compile(
    r"^.*(?:\b\w*(?:Error|Exception)\b|\berror\b|\bfatal\b|\bcannot\b|\bnot found\b|\bdenied\b|\brefused\b|エラー|失敗).*$",
    re.I | re.M,
)
_CAUSE = phrases(
    r"\b(?:the )?(?:problem|issue|cause|reason|root cause|culprit|bug|failure|error) (?:is|was|comes|came)\b",
    r"\bbecause\b",
    r"\b(?:turns|turned) out\b",
    r"\bcaused by\b",
    r"\bdue to\b",
    r"\b(?:fixed|solved|resolved) (?:it )?by\b",
    r"\bthe fix\b",
    r"\b(?:was|were|is|are) missing\b",
    "(?:原因|理由|問題)は",
    "ため(?:です|でした|だ|、)",
    "(?:が|を)(?:足り|不足|設定してい)な",
)
_LONGEST_COMMAND, _LONGEST_ERROR, _LONGEST_CAUSE = 120, 160, 240


class Repair(NamedTuple):
    """A command that failed and passed later, and what lies between."""

    text: str
    """What is to be learnt, in one or two sentences."""
    line: int
    """Of the transcript: where the command failed."""
    explained: bool
    """Whether the agent said what the cause was."""


def find_repairs(turns: Sequence[Turn]) -> list[Repair]:
    """Return the repairs of a conversation, in order.

    A command counts as the same if it begins with the same two words and nothing else failed in between for another reason.
    """
    outputs = {turn.call: turn for turn in turns if turn.speaker is Speaker.OUTPUT and turn.call}
    runs = [(place, turn, _output_of(turns, place, outputs)) for place, turn in enumerate(turns) if _is_shell(turn)]
    repairs, used = [], set[int]()
    for index, (place, failed, output) in enumerate(runs):
        if output is None or not output.failed or place in used:
            continue
        later = [(end, result) for end, turn, result in runs[index + 1 :] if _same_command(failed.text, turn.text)]
        used.update(end for end, result in later if result is not None and result.failed)
        passed = next((end for end, result in later if result is not None and not result.failed), None)
        if passed is not None:
            repair = _describe(
                failed, output, turns[place + 1 : passed], [turn for p, turn, _ in runs if place < p < passed]
            )
            if repair is not None:
                repairs.append(repair)
    return repairs


def _is_shell(turn: Turn) -> bool:
    return turn.speaker is Speaker.COMMAND and bool(_SHELL_TOOLS.match(turn.tool))


def _output_of(turns: Sequence[Turn], place: int, outputs: dict[str, Turn]) -> Turn | None:
    command = turns[place]
    if command.call:
        return outputs.get(command.call)
    following = turns[place + 1] if place + 1 < len(turns) else None
    return following if following is not None and following.speaker is Speaker.OUTPUT else None


def _same_command(one: str, other: str) -> bool:
    return _head(one) == _head(other) and bool(_head(one))


def _head(command: str) -> tuple[str, ...]:
    """The program and its first argument: `pytest tests/a.py -x` and `pytest tests/a.py` are runs of the same command."""
    line = command.strip().splitlines()[0] if command.strip() else ""
    words = re.sub(r"^(?:cd \S+ && )?(?:\w+=\S+ )*(?:sudo |time |npx |uv run |poetry run )*", "", line).split()
    return tuple(word for word in words if not word.startswith("-"))[:2]


def _describe(failed: Turn, output: Turn, between: Sequence[Turn], commands: Sequence[Turn]) -> Repair | None:
    error = _error_line(output.text)
    cause = _cause(between)
    change = _change(between, commands, failed)
    if not error or not (cause or change):
        return None
    command = failed.text.strip().splitlines()[0][:_LONGEST_COMMAND]
    parts = [f"`{command}` failed with: {error}."]
    if cause:
        parts.append(cause if cause.endswith((".", "。", "!")) else f"{cause}.")
    if change:
        parts.append(f"It passed after {change}.")
    return Repair(" ".join(parts), failed.line, explained=bool(cause))


def _error_line(text: str) -> str:
    lines = [match[0].strip() for match in _ERROR_LINE.finditer(text)]
    named = [line for line in lines if re.search(r"\w(?:Error|Exception)\b[:(]|^error\b|^fatal:", line, re.I)]
    line = (named or lines or [""])[-1]
    return line[:_LONGEST_ERROR].rstrip(".。: ")


def _cause(between: Sequence[Turn]) -> str:
    for turn in between:
        if turn.speaker is Speaker.AGENT:
            for sentence in split_sentences(turn.text):
                if _CAUSE.search(sentence) and len(sentence) <= _LONGEST_CAUSE:
                    return sentence
    return ""


def _change(between: Sequence[Turn], commands: Sequence[Turn], failed: Turn) -> str:
    """What was done in between: the last files edited, else the last other command that was run."""
    edited = [
        turn.text.splitlines()[0] for turn in between if turn.speaker is Speaker.COMMAND and _EDIT_TOOLS.search(turn.tool)
    ]
    if edited:
        files = dict.fromkeys(name for name in edited if name.strip())
        return "a change of " + ", ".join(f"`{name}`" for name in list(files)[-2:])
    other = [turn.text.strip().splitlines()[0] for turn in commands if not _same_command(turn.text, failed.text)]
    acted = [
        line
        for line in other
        if not re.match(r"(?:ls|cat|head|tail|grep|rg|find|git (?:status|diff|log|show)|echo|pwd|which|sed -n)\b", line)
    ]
    return f"`{acted[-1][:_LONGEST_COMMAND]}`" if acted else ""
