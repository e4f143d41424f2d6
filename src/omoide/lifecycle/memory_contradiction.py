"""Find where the work of an agent contradicts a memory: it does what the memory rules out, or has another value. Pure."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.lifecycle import alternatives, quantities
from omoide.lifecycle.agent_work import AgentStatement, AgentWork, has_word
from omoide.lifecycle.exclusions import MemorySentence
from omoide.lifecycle.practices import find_practice
from omoide.retrieval import analyzer

_SHORT_FORMS = {"production": ("prod", "prd"), "staging": ("stg",), "development": ("dev",)}
_CHANGING = frozenset(
    ("edit", "touch", "change", "modify", "write", "add", "put", "store", "delete", "move", "update", "commit")
)
"""Acts that a changed file shows."""
_WORD = load_pattern("[a-z]{3,}")
_FACT_JA = load_pattern("(?:届く|来る|動く|ている|てある|ていた|だった)(?:[。、（(]|$)")
"""The end of a clause in Japanese that describes something, and demands nothing."""
_LONG_NUMBER = 3
_CONVENTIONAL = load_pattern(r"conventional ?commits?", re.I)
_CONVENTIONAL_MESSAGE = load_pattern(
    r"\b(?:feat|fix|docs|chore|refactor|test|perf|build|ci|style|revert)(?:\([^)\n]+\))?!?: \S"
)


class FoundContradictions(NamedTuple):
    """What contradicts a memory in the work of an agent, in words; empty: nothing of that kind."""

    clear: str
    """A practice that it forbids, another tool of the same kind, another value in the same words, another form of a message:
    hardly ever wrong."""
    ruled_out: str
    """A thing that it rules out."""
    other_value: str
    """Another value of the same quantity."""


def find_contradictions(memory: str, sentences: Sequence[MemorySentence], work: AgentWork) -> FoundContradictions:
    """Return what contradicts a memory, which has these sentences, in the work of an agent."""
    clear = (
        ("the agent's commit has another form of message" if _has_other_form(memory, work) else "")
        or _first(_forbidden_practice, sentences, work)
        or _first(_other_of_its_kind, sentences, work)
        or next(filter(None, (quantities.find_other_value(one.text, work, is_restated=True) for one in sentences)), "")
    )
    return FoundContradictions(
        clear,
        _first(_forbidden_way, sentences, work),
        next(filter(None, (quantities.find_other_value(sentence.text, work) for sentence in sentences)), ""),
    )


def _first(rule: Callable[[MemorySentence, AgentWork], str], sentences: Sequence[MemorySentence], work: AgentWork) -> str:
    return next(filter(None, (rule(sentence, work) for sentence in sentences)), "")


def is_conventional(memory: str) -> bool:
    """Return whether a memory asks for messages in the form of Conventional Commits."""
    return bool(_CONVENTIONAL.search(memory))


def has_conventional_message(text: str) -> bool:
    """Return whether a text has such a message."""
    return bool(_CONVENTIONAL_MESSAGE.search(text))


def _has_other_form(memory: str, work: AgentWork) -> bool:
    """Whether a memory asks for messages of a form that the commits of the agent do not have."""
    if not is_conventional(memory):
        return False
    commits = [line for line in work.commands.splitlines() if re.search(r"\bgit commit\b.* -[a-z]*m", line)]
    return bool(commits) and not any(map(has_conventional_message, [*commits, work.answer]))


def _forbidden_way(sentence: MemorySentence, work: AgentWork) -> str:
    for good, bad, act in sentence.exclusions:
        for spelling in (*alternatives.spellings_of(bad), *_SHORT_FORMS.get(bad, ())):
            # A request for a change in a place is no request for every act there.
            if spelling == good or (has_word(work.prompt, spelling) and not act):
                continue
            if any(_does(spelling, good, act, statement) for statement in work.statements):
                return f"the agent uses {spelling}, which it rules out"
    return ""


def _forbidden_practice(sentence: MemorySentence, work: AgentWork) -> str:
    """Describe which practice that a sentence forbids the agent's work shows; empty: none."""
    for name, practice in sentence.practices:
        found = find_practice(practice, work.written, work.claims)
        if found and not find_practice(practice, work.prompt, work.prompt):
            return f"it rules out {name}, the agent has {found[:40]}"
    return ""


def _does(bad: str, good: str, act: str, statement: AgentStatement) -> bool:
    """Whether the agent does what is ruled out, without denying it or naming the right way."""
    if statement.is_denied or not has_word(statement.text, bad) or (good and has_word(statement.text, good)):
        return False
    if bad.isdigit() and len(bad) < _LONG_NUMBER and not _WORD.search(statement.text.lower()):
        return False
    if not act:
        return True
    if statement.is_change:
        return act in _CHANGING
    return analyzer.stem(act) in map(analyzer.stem, _WORD.findall(statement.text.lower()))


def _other_of_its_kind(sentence: MemorySentence, work: AgentWork) -> str:
    """Describe which other tool or value of the same kind the agent used; empty: none."""
    if not work.kinds_used or _FACT_JA.search(sentence.text):
        return ""
    for kind, names in alternatives.kinds_of(sentence.text).items():
        wanted = names - sentence.excluded
        if not wanted or wanted & work.kinds.get(kind, frozenset()):
            continue
        others = work.kinds_used.get(kind, frozenset()) - work.kinds_asked.get(kind, frozenset()) - wanted
        if others:
            return f"it names {min(wanted)}, the agent uses {min(others)}"
    return ""
