"""Recognise repairs: a command that failed, and what was changed before it passed. Pure; reads turns one by one."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.learning.noise import has_credential, is_about_instruction, is_instruction, is_progress, is_standing_order
from omoide.learning.patterns import any_of, lazy_pattern, phrases, words
from omoide.learning.sentences import is_question, split_sentences
from omoide.learning.transcript import Speaker, Turn
from omoide.learning.wording import content_words

_EDIT_TOOLS = load_pattern(r"edit|write|apply_patch|patch|notebook|replace|create", re.I)
_PATCHED = load_pattern(r"^\*\*\* (?:Update|Add) File: (.+)$", re.M)
_SHELL_TOOLS = load_pattern(
    r"^(?:|bash|shell|exec(?:_command)?|local_shell_call|run|terminal|run_\w+|container\.exec)$", re.I
)
_ERROR_LINE = load_pattern(
    "^.*"
    + any_of(
        r"\b\w*(?:Error|Exception)\b",
        words(
            "error, fatal, cannot, could not, unable to, not found, denied, refused, fail(?:ed|ure|s)?, missing, mismatch"
        ),
        words("invalid, unexpected, violates, undefined reference, not (?:initiali[sz]ed|supported|set)"),
        "エラー|失敗|できません",
    ),
    re.I,
)
_NAMED_ERROR = phrases(
    *(r"\w(?:Error|Exception)\b[:(]", r"\berror\b ?[:\[]", r"^(?:fatal|panic):", "could not", "cannot"),
    *("undefined reference", "unable to", "not initiali[sz]ed"),
)
_IN_PLACE = lazy_pattern(r"(?:sed|perl|gsed)\s(?:\S+\s)*?-\w*i|patch\b|tee\b|(?:echo|printf|cat)\b.*>>?\s*[\w./~-]+\s*$")
"""A command that changes a file."""
_SUMMARY_LINE = load_pattern(
    r"^\W*(?:exit code|process exited|\d+ (?:failed|passed)|tests?\b|test files?|some tests|failed to update|done\."
    r"|command failed|npm err! (?:code|errno)|error: process completed|.*\b(?:pass|warn|error)=\d"
    r"|FAILURE: build failed|task \S+ failed|collect2: |(?:[\d:. ]+)?encountered an error|.*\bcomparison failed$"
    r"|.*\bexited with status \d|(?:chunk id|wall time|original token count|output):|\S+: errors?, so "
    r"|ninja: build stopped)",
    re.I,
)
"""A line that says that something failed, and not what."""
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
_LESSON = phrases(
    words(
        "needs?, needed, requires?, once, unless, only, works?, without, refuses?, must, has to, have to, sits, lives, with"
    ),
    "たら|れば|ないと|必要|要[りる]|にある",
)
"""It says what a command needs, or what was done for it."""
_HARMLESS = lazy_pattern(r"(?:error|fatal)?\W*(?:you must be (?:logged in|root|authenticated)|install of)\b[^`:]*$", re.I)
"""An error that sounds like an instruction, and tells nobody what to run."""
_PLAN = phrases(
    r"\b(?:i'?ll|i'?d|i (?:try|would|will|suggest)|let me|let'?s)\b", "(?:します|みます|ましょう|直します)[。！]?$"
)
"""It says what the agent does next."""
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
    r"(?:export )?[A-Z_][A-Z0-9_]*=(?:\$\([^)]*\)|\"[^\"]*\"|'[^']*'|\S+) (?:&& ?)?",
    r"(?:sudo|time|env|npx|bunx|fvm|xvfb-run) ",
    r"(?:timeout \S+|setarch -\w+|conda run -n \S+) ",
    r"nice (?:-n \d+ )?",
    r"(?:uv|poetry|pipenv) run ",
    r"(?:bundle|pnpm|yarn) exec ",
    r"(?:mise exec --|direnv exec \S+|set -\w+;) ?",
    r"docker compose (?:exec|run)(?: -\S+)* \S+ ",
)
_WRAPPERS = load_pattern(rf"^{_WRAPPER}+")
_CHECKS = frozenset(re.findall(r"\w+", "test tests build check lint typecheck compile verify validate run ci plan apply"))
_LONGEST_COMMAND, _LONGEST_ERROR, _LONGEST_CAUSE, _LONGEST_CHANGE = 160, 160, 300, 160
_MOST_FINDINGS = 2
"""Sentences of the agent in one repair."""
_LEAST_FINDING = 3
"""Content words of a sentence that says something about a repair after it."""
_ENOUGH_ARGUMENTS = 3
"""Words of a command that say which one it is, whatever is added to them."""
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
        self.edited: dict[str, str] = {}
        """What was written last to each file, in the order of the last changes."""
        self.ran: deque[str] = deque(maxlen=_MOST_BETWEEN)
        self.person_spoke = False

    def note_edit(self, name: str, written: str) -> None:
        self.edited.pop(name, None)
        self.edited[name] = written
        if len(self.edited) > _MOST_BETWEEN:
            self.edited.pop(next(iter(self.edited)))


class _Outcome(NamedTuple):
    """A failure that is over."""

    failure: _Failure
    command: str
    """The command that passed, or failed in another way."""
    passed: bool


class RepairFinder:
    """Finds the repairs of a conversation that is read turn by turn."""

    def __init__(self) -> None:
        self._open: deque[_Failure] = deque(maxlen=_MOST_OPEN)
        self._pending: dict[str, str] = {}
        self._over: list[_Outcome] = []
        """Failures that are over since the agent last spoke: its next message may say what the repair was."""
        self._found: list[Repair] = []

    def feed(self, turn: Turn) -> None:
        """Read the next turn."""
        if turn.speaker is Speaker.AGENT:
            sentences = [sentence for sentence in split_sentences(turn.text[:4_000]) if _is_finding(sentence)]
            self._close(sentences)
            for failure in self._open:
                failure.said += sentences[: _MOST_BETWEEN - len(failure.said)]
        elif turn.speaker is Speaker.PERSON:
            self._close()
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
        self._close()
        return sorted(self._found, key=lambda repair: repair.line)

    def _close(self, said: Sequence[str] = ()) -> None:
        """Describe the failures that are over. `said`: what the agent says right after them."""
        repairs = (_describe(outcome, said) for outcome in self._over)
        self._found += (repair for repair in repairs if repair is not None)
        self._over.clear()

    def _note_command(self, turn: Turn) -> None:
        if _EDIT_TOOLS.search(turn.tool) or _PATCHED.search(turn.text):  # a shell may run a patch, too
            for failure in self._open:
                for name, written in _edits(turn.text):
                    failure.note_edit(name, written)
        elif _SHELL_TOOLS.match(turn.tool):
            silent = self._pending.pop(turn.call, None)
            if silent is not None:  # plain text shows no output of a command that printed nothing
                self._note_output(silent, Turn(Speaker.OUTPUT, "", turn.line))
            if len(self._pending) > _MOST_OPEN:
                self._pending.pop(next(iter(self._pending)))
            self._pending[turn.call] = turn.text.strip()[:1_000]
            if _IN_PLACE.match(turn.text):
                for failure in self._open:
                    failure.ran.append(_first_line(turn.text))

    def _note_output(self, command: str, output: Turn) -> None:
        error = _error_line(output.text) if output.failed else ""
        for failure in list(self._open):
            if not is_same_command(failure.command, command):
                if not output.failed and not _LOOKING.match(command) and not _IN_PLACE.match(command):
                    failure.ran.append(_first_line(command))
            elif not output.failed or (error and _is_other_error(error, failure.error)):
                self._open.remove(failure)
                self._over.append(_Outcome(failure, command, passed=not output.failed))
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
    return len(first & second) / len(first | second) >= 0.5 or (len(first) >= _ENOUGH_ARGUMENTS and first <= second)


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


def _describe(outcome: _Outcome, said: Sequence[str]) -> Repair | None:
    failure, command, passed = outcome
    if any(map(is_instruction, split_sentences(failure.error))) and not _HARMLESS.match(failure.error):
        return None
    cause = next((sentence for sentence in failure.said if _CAUSE.search(sentence)), "")
    change = _change(failure, command)
    findings = _findings(failure, cause, [*said] if passed else [], f"{command} {change}")
    if not findings and not change:
        return None
    if failure.person_spoke and not (findings or failure.edited):
        return None  # the person said what to do, and that is learnt as it was said
    if not passed and not (findings and change):
        return None
    parts = [f"`{_first_line(failure.command)[:_LONGEST_COMMAND]}` failed with: {failure.error}."]
    parts += (finding if finding.endswith((".", "。", "!")) else f"{finding}." for finding in findings)
    if change:
        parts.append(f"It passed {change}." if passed else f"That error was gone {change}.")
    return Repair(" ".join(parts), failure.line, explained=bool(cause))


def _findings(failure: _Failure, cause: str, said: Sequence[str], change: str) -> list[str]:
    """What the agent said about the failure: the cause, else what it said first; and what it said of the change after it."""
    before = [sentence for sentence in failure.said if not _PLAN.search(sentence)]
    first = cause or next(iter(before), "")
    found = [first] if first else []
    place = before.index(first) + 1 if first in before else 0
    about = content_words(f"{failure.error} {change}")
    for sentence in (*before[place : place + 1], *said):
        words = content_words(sentence)
        is_about = len(words) >= _LEAST_FINDING and not words.isdisjoint(about)
        if (
            len(found) < _MOST_FINDINGS
            and is_about
            and not is_instruction(sentence)
            and (_LESSON.search(sentence) or _CAUSE.search(sentence))
        ):
            found.append(sentence)
    return found


def _error_line(text: str) -> str:
    """The line of an output that says what failed; with the next one where it only announces that."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR_LINE.match(line)]
    telling = [line for line in errors if not _SUMMARY_LINE.match(line)]
    named = [line for line in telling if _NAMED_ERROR.search(line)]
    rest = [line for line in lines if not _SUMMARY_LINE.match(line)]
    line = (named or telling or rest[-1:] or errors or [""])[0]
    following = lines[lines.index(line) + 1 :] if line else []
    if line.endswith(":") and following:
        line = f"{line} {following[0]}"
    return line[:_LONGEST_ERROR].rstrip(".。: ")


def _edits(text: str) -> Iterator[tuple[str, str]]:
    """The files that an edit changes, each with what it writes."""
    parts = _PATCHED.split(text)
    if len(parts) > 1:
        for name, patch in zip(parts[1::2], parts[2::2], strict=True):
            added = [line[1:] for line in patch.splitlines() if line.startswith("+")]
            yield name.strip(), "\n".join(added)
        return
    name, _, written = text.partition("\n")
    if name.strip():
        yield name.strip(), written


def _change(failure: _Failure, command: str) -> str:
    """What was done in between: the last files edited, else the other form of the command, else the last other command."""
    if failure.edited:
        names = list(failure.edited)[-2:]
        excerpts = [(name, _excerpt(failure.edited[name], failure)) for name in names]
        return "after a change of " + ", ".join(f"`{name}`: `{part}`" if part else f"`{name}`" for name, part in excerpts)
    if failure.ran and _IN_PLACE.match(failure.ran[-1]):
        return f"after `{failure.ran[-1][:_LONGEST_COMMAND]}`"
    if _first_line(command) != _first_line(failure.command):
        return f"as `{_first_line(command)[:_LONGEST_COMMAND]}`"
    return f"after `{failure.ran[-1][:_LONGEST_COMMAND]}`" if failure.ran else ""


def _excerpt(written: str, failure: _Failure) -> str:
    """The lines of what was written that say most about the failure; without credentials, and in one line."""
    lines = [line.strip().replace("`", "'") for line in written.splitlines()]
    lines = [line for line in lines if len(line) > 1 and not has_credential(line) and not is_instruction(line)]
    about = content_words(f"{failure.error} {' '.join(failure.said)}")
    if sum(map(len, lines)) > _LONGEST_CHANGE:
        lines = [line for line in lines if not content_words(line).isdisjoint(about)] or lines
    return " ".join(lines)[:_LONGEST_CHANGE].strip()
