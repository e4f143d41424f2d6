"""Find where the work of an agent contradicts a memory: it does what the memory rules out, or has another value. Pure."""

import re
from collections.abc import Sequence

from omoide.compiled_patterns import load_pattern
from omoide.lifecycle import alternatives, comparison, demands, quantities
from omoide.lifecycle.agent_work import AgentStatement, AgentWork, has_word
from omoide.lifecycle.comparison import NEAR, Verdict, extract_features
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
"""The end of a clause in Japanese that tells how something is, and demands nothing."""
_LONG_NUMBER = 3
_CONVENTIONAL = load_pattern(r"conventional ?commits?", re.I)
_CONVENTIONAL_MESSAGE = load_pattern(
    r"\b(?:feat|fix|docs|chore|refactor|test|perf|build|ci|style|revert)(?:\([^)\n]+\))?!?: \S"
)


def find_contradiction(memory: str, sentences: Sequence[MemorySentence], work: AgentWork) -> str:
    """Say how the work of an agent contradicts a memory, which has these sentences; empty: it does not."""
    if is_conventional(memory) and _has_other_message(work):
        return "the agent's commit has another form of message"
    for sentence in sentences:
        found = (
            _forbidden_way(sentence, work)
            or _forbidden_practice(sentence, work)
            or _other_of_its_kind(sentence, work)
            or demands.find_unmet(sentence.text, work)
            or quantities.find_other_value(sentence.text, work)
            or quantities.find_forbidden_time(sentence.text, work)
            or _denied_way(sentence, work)
            or _denial(sentence.text, work)
        )
        if found:
            return found
    return ""


def is_conventional(memory: str) -> bool:
    """Return whether a memory asks for messages in the form of Conventional Commits."""
    return bool(_CONVENTIONAL.search(memory))


def has_conventional_message(text: str) -> bool:
    """Return whether a text has such a message."""
    return bool(_CONVENTIONAL_MESSAGE.search(text))


def _has_other_message(work: AgentWork) -> bool:
    commits = [line for line in work.commands.splitlines() if re.search(r"\bgit commit\b.* -[a-z]*m", line)]
    return bool(commits) and not any(map(has_conventional_message, [*commits, work.answer]))


def _forbidden_way(sentence: MemorySentence, work: AgentWork) -> str:
    for good, bad, act in sentence.exclusions:
        for spelling in (*alternatives.spellings_of(bad), *_SHORT_FORMS.get(bad, ())):
            # Who asks for a change in a place does not ask for every act there.
            if spelling == good or (has_word(work.prompt, spelling) and not act):
                continue
            if any(_does(spelling, good, act, statement) for statement in work.statements):
                return f"the agent uses {spelling}, which it rules out"
    return ""


def _forbidden_practice(sentence: MemorySentence, work: AgentWork) -> str:
    """Say which practice that a sentence forbids the agent's work shows; empty: none."""
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


def _denied_way(sentence: MemorySentence, work: AgentWork) -> str:
    """Say what a memory asks for that the agent says it did not use; empty: nothing."""
    omissions = [statement for statement in work.statements if statement.is_omission]
    for good in sentence.requests if omissions else ():
        naming = [statement for statement in work.statements if has_word(statement.text, good)]
        if naming and all(statement.is_omission for statement in naming) and not has_word(work.prompt, good):
            return f"the agent did without {good}"
    return ""


def _other_of_its_kind(sentence: MemorySentence, work: AgentWork) -> str:
    """Say which other tool or value of the same kind the agent used; empty: none."""
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


def _denial(sentence: str, work: AgentWork) -> str:
    """Say which statement contradicts a sentence of a memory that says nearly the same; empty: none."""
    words = comparison.fact_words(sentence)
    for statement in work.statements:
        others = statement.words
        both = words | others
        similarity = len(words & others) / len(both) if both else 0.0
        if similarity >= NEAR:
            judgement = comparison.judge(extract_features(sentence), statement.features, similarity)
            if judgement.verdict is Verdict.CONTRADICTS:
                return f"the agent says: {statement.text[:100]}"
    return ""
