"""Recognise repairs: a command that failed, and what was changed before it passed. Pure; reads turns one by one."""

import re
from collections import deque
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.learning.noise import is_about_instruction, is_instruction, is_progress, is_standing_order
from omoide.learning.patterns import any_of, phrases, words
from omoide.learning.sentences import is_question, split_sentences
from omoide.learning.transcript import Speaker, Turn

_EDIT_TOOLS = load_pattern(r"edit|write|apply_patch|patch|notebook|replace|create", re.I)
_PATCHED = load_pattern(r"^\*\*\* (?:Update|Add) File: (.+)$", re.M)
_SHELL_TOOLS = load_pattern(
    r"^(?:|bash|shell|exec(?:_command)?|local_shell_call|run|terminal|run_\w+|container\.exec)$", re.I
)
_ERROR_LINE = load_pattern(
    r"^.*(?:\b\w*(?:Error|Exception)\b|\berror\b|\bfatal\b|\bcannot\b|\bcould not\b|\bnot found\b|\bdenied\b|\brefused\b"
    r"|\bfail(?:ed|ure|s)?\b|\bmissing\b|\bmismatch\b|\binvalid\b|\bunexpected\b|\bviolates\b|エラー|失敗|できません).*$",
    re.I | re.M,
)
_NAMED_ERROR = phrases(r"\w(?:Error|Exception)\b[:(]", r"\berror\b ?[:\[]", r"^(?:fatal|panic):", "could not", "cannot")
_SUMMARY_LINE = load_pattern(
    r"^\W*(?:exit code|process exited|\d+ (?:failed|passed)|tests?\b|test files?|some tests|failed to update|done\."
    r"|command failed|npm err! (?:code|errno)|error: process completed|.*\b(?:pass|warn|error)=\d)",
    re.I,
)
_CAUSE = phrases(
    r"\b(?:the )?(?:problem|issue|cause|reason|root cause|culprit|bug|failure|error) (?:is|was|comes|came|here)\b",
    r"\bbecause\b",
    r"\b(?:turns|turned) out\b",
    r"\bcaused by\b",
    r"\bdue to\b",
    r"\bfound it\b",
    r"\b(?:fixed|solved|resolved) (?:it )?by\b",
    r"\bthe fix\b",
    r"\b(?:was|were|is|are) (?:missing|stale|outdated|out of date|not set|unset|too old|pinned|still on)\b",
    r"\bso (?:the|it|that)\b",
    "(?:原因|理由|問題|犯人)は",
    "ため(?:です|でした|だ|、)",
    "(?:が|を)(?:足り|不足|設定してい)な",
    "古い(?:まま|よう|から|です)|ずれて|漏れ|抜けて|が原因",
)
_LOOKING = load_pattern(
    r"(?:cd \S+ ?&& ?)?"
    + words("""
        ls, cat, head, tail, grep, rg, find, git (?:status|diff|log|show|blame), echo, pwd, which, sed -n, wc, tree, stat
        file, ps, env, printenv, docker ps, pg_isready, type, man, less, more, nvidia-smi, xcrun simctl list, top, df, du
        curl -[sI]+, jq, ping, lsof, netstat, kubectl (?:\\S+ )*(?:get|describe|logs)
    """)
    + r"|\S+(?: \S+)? (?:list|show|status|info|--version|-V|version)\b"
)
_WRAPPER = any_of(
    r"cd \S+ ?(?:&&|;) ?",
    r"[A-Z_][A-Z0-9_]*=\S+ ",
    r"(?:sudo|time|env|npx|bunx|fvm) ",
    r"nice (?:-n \d+ )?",
    r"(?:uv|poetry|pipenv) run ",
    r"(?:bundle|pnpm|yarn) exec ",
    r"(?:mise exec --|direnv exec \S+|set -\w+;) ?",
    r"docker compose (?:exec|run)(?: -\S+)* \S+ ",
)
_WRAPPERS = load_pattern(rf"^{_WRAPPER}+")
_CHECKS = frozenset(re.findall(r"\w+", "test tests build check lint typecheck compile verify validate run ci plan apply"))
_LONGEST_COMMAND, _LONGEST_ERROR, _LONGEST_CAUSE = 120, 160, 300
_MOST_OPEN = 50
"""Commands that failed and have not passed yet: the last ones."""
_MOST_BETWEEN = 40
"""Statements and changes after a failure that are kept: the first ones say the cause, the last ones the change."""


class Repair(NamedTuple):
    """A command that failed and passed later, and what lies between."""

    text: str
    """What is to be learnt, in one or two sentences."""
    line: int
    """Of the transcript: where the command failed."""
    explained: bool
    """Whether the agent said what the cause was."""


class _Failure:
    """A command that failed, and what came after it."""

    def __init__(self, command: str, error: str, line: int):
        self.command, self.error, self.line = command, error, line
        self.said: list[str] = []
        self.edited: deque[str] = deque(maxlen=_MOST_BETWEEN)
        self.ran: deque[str] = deque(maxlen=_MOST_BETWEEN)
        self.person_spoke = False


class RepairFinder:
    """Finds the repairs of a conversation that is read turn by turn."""

    def __init__(self) -> None:
        self._open: deque[_Failure] = deque(maxlen=_MOST_OPEN)
        self._pending: dict[str, str] = {}
        self._found: list[Repair] = []

    def feed(self, turn: Turn) -> None:
        """Read the next turn."""
        if turn.speaker is Speaker.AGENT:
            sentences = [sentence for sentence in split_sentences(turn.text[:4_000]) if _is_finding(sentence)]
            for failure in self._open:
                failure.said += sentences[: _MOST_BETWEEN - len(failure.said)]
        elif turn.speaker is Speaker.PERSON:
            for failure in self._open:
                failure.person_spoke = True
        elif turn.speaker is Speaker.COMMAND:
            self._note_command(turn)
        elif turn.speaker is Speaker.OUTPUT:
            command = self._pending.pop(turn.call, None)
            if command is not None:
                self._note_output(command, turn)

    def finish(self) -> list[Repair]:
        """Return the repairs, in the order of the failures."""
        return sorted(self._found, key=lambda repair: repair.line)

    def _note_command(self, turn: Turn) -> None:
        if _SHELL_TOOLS.match(turn.tool):
            if len(self._pending) > _MOST_OPEN:
                self._pending.pop(next(iter(self._pending)))
            self._pending[turn.call] = turn.text.strip()[:1_000]
        elif _EDIT_TOOLS.search(turn.tool):
            names = _PATCHED.findall(turn.text) or [turn.text.partition("\n")[0]]
            for failure in self._open:
                failure.edited += (name.strip() for name in names if name.strip())

    def _note_output(self, command: str, output: Turn) -> None:
        error = _error_line(output.text) if output.failed else ""
        for failure in list(self._open):
            if not is_same_command(failure.command, command):
                if not output.failed and not _LOOKING.match(command):
                    failure.ran.append(_first_line(command))
            elif not output.failed or (error and _is_other_error(error, failure.error)):
                self._open.remove(failure)
                repair = _describe(failure, command, passed=not output.failed)
                if repair is not None:
                    self._found.append(repair)
            else:  # it fails as before: the repair begins with the first failure
                error = ""
        if error and not any(failure.error == error for failure in self._open):
            self._open.append(_Failure(command, error, output.line))


def is_same_command(one: str, other: str) -> bool:
    """Whether two commands are runs of the same: the same program on mostly the same, wrapped or with other options."""
    ours, theirs = _words(one), _words(other)
    if not ours or not theirs or ours[0] != theirs[0]:
        return False
    first, second = set(ours), set(theirs)
    if ours[1:2] != theirs[1:2] and ours[1:] and theirs[1:] and not {ours[1], theirs[1]} <= _CHECKS:
        return False
    return len(first & second) / len(first | second) >= 0.5


def _words(command: str) -> list[str]:
    """The program and its arguments, without wrappers and options; of several commands the last one."""
    line = _first_line(command)
    last = re.split(r"\s*(?:&&|;|\|\|)\s*", line)[-1]
    line = re.sub(r"\s*(?:2>&1|\|.*|>.*)$", "", last or line)
    return [word for word in _WRAPPERS.sub("", line).split() if not word.startswith("-") and "=" not in word]


def _first_line(command: str) -> str:
    return command.strip().partition("\n")[0]


def _is_other_error(one: str, other: str) -> bool:
    return re.sub(r"\d+", "", one) != re.sub(r"\d+", "", other)


def _is_finding(sentence: str) -> bool:
    """Whether a sentence of an agent may say what the cause of a failure is."""
    return (
        10 <= len(sentence) <= _LONGEST_CAUSE
        and not is_question(sentence)
        and not is_progress(sentence)
        and not is_about_instruction(sentence)
        and not is_standing_order(sentence)
    )


def _describe(failure: _Failure, command: str, *, passed: bool) -> Repair | None:
    if is_instruction(failure.error):
        return None
    cause = next((sentence for sentence in failure.said if _CAUSE.search(sentence)), "")
    finding = cause or next(iter(failure.said), "")
    change = _change(failure, command)
    if not finding and not change:
        return None
    if failure.person_spoke and not (finding and failure.edited):
        return None  # the person said what to do, and that is learnt as it was said
    if not passed and not (finding and change):
        return None
    parts = [f"`{_first_line(failure.command)[:_LONGEST_COMMAND]}` failed with: {failure.error}."]
    if finding:
        parts.append(finding if finding.endswith((".", "。", "!")) else f"{finding}.")
    if change:
        parts.append(f"It passed {change}." if passed else f"That error was gone {change}.")
    return Repair(" ".join(parts), failure.line, explained=bool(cause))


def _error_line(text: str) -> str:
    lines = [match[0].strip() for match in _ERROR_LINE.finditer(text)]
    telling = [line for line in lines if not _SUMMARY_LINE.match(line)]
    named = [line for line in telling if _NAMED_ERROR.search(line)]
    line = named[0] if named else (telling or lines or [""])[0]
    return line[:_LONGEST_ERROR].rstrip(".。: ")


def _change(failure: _Failure, command: str) -> str:
    """What was done in between: the last files edited, else the other form of the command, else the last other command."""
    files = list(dict.fromkeys(failure.edited))
    if files:
        return "after a change of " + ", ".join(f"`{name}`" for name in files[-2:])
    if _first_line(command) != _first_line(failure.command):
        return f"as `{_first_line(command)[:_LONGEST_COMMAND]}`"
    return f"after `{failure.ran[-1][:_LONGEST_COMMAND]}`" if failure.ran else ""
