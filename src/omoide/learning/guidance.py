"""Recognise what a person tells an agent for good: conventions, corrections, decisions, facts about the environment. Pure.

People write short messages to agents, in which guidance stands between tasks, answers and thanks. A sentence counts if it
says that it holds in general, forbids something, or describes how things are; or if it says what to do and gives a reason.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from omoide.learning.guidance_patterns import (
    BUG,
    DEPENDENT,
    DIRECTS,
    FORBIDS,
    GENERAL,
    HOUSE_SHAPE,
    HOUSE_TOPIC,
    LEAD,
    STATES,
    TASK,
    VAGUE,
)
from omoide.learning.noise import is_temporary
from omoide.learning.sentences import is_question, split_sentences
from omoide.learning.statements import has_reason, is_concrete, is_decision
from omoide.learning.wording import content_words

_LONGEST = 400
_LEAST_WORDS = 2
"""Content words of a statement; less says nothing without the conversation around it."""


class Guidance(NamedTuple):
    """Something that a person told the agent."""

    text: str
    kind: str
    """convention, correction, decision or environment."""
    is_general: bool
    """Whether it says itself that it holds in general."""


def find_guidance(text: str, *, is_answer: bool = False, is_first: bool = False) -> list[Guidance]:
    """Return what a person's message tells the agent for good, in order.

    `is_answer`: the agent had asked something, so that the message may decide it. `is_first`: it opens the conversation, and
    describes a task.
    """
    sentences = split_sentences(text)
    found: list[Guidance] = []
    place = 0
    while place < len(sentences):
        corrected, rest = strip_lead(sentences[place])
        place += 1
        if corrected and not rest and place < len(sentences):  # "No." alone: what is right follows
            rest = strip_lead(sentences[place])[1]
            place += 1
        guidance = _classify(rest, corrected=corrected, is_first=is_first)
        if guidance is not None:
            following = _dependent(sentences[place:], len(guidance.text))
            place += len(following)
            found.append(guidance._replace(text=" ".join([guidance.text, *following])))
    return found or (list(_decision(sentences)) if is_answer else [])


def strip_lead(sentence: str) -> tuple[bool, str]:
    """Return whether a sentence begins by refusing something, and the sentence without such words at its beginning."""
    lead = LEAD.match(sentence)
    if lead is None:
        return False, sentence
    return lead["no"] is not None, sentence[lead.end() :].strip()


def _classify(sentence: str, *, corrected: bool, is_first: bool) -> Guidance | None:
    if not _is_statement(sentence):
        return None
    reason, general, forbids = has_reason(sentence), bool(GENERAL.search(sentence)), bool(FORBIDS.search(sentence))
    kind = "correction" if corrected else "convention"
    if is_decision(sentence) and not corrected:
        return Guidance(sentence, "decision", is_general=True)
    if TASK.search(sentence) and not (general or forbids):
        return None
    if general or (forbids and (reason or corrected or is_concrete(sentence))):
        return Guidance(sentence, kind, is_general=general)
    if is_first or BUG.search(sentence):
        return None
    if HOUSE_TOPIC.search(sentence) and HOUSE_SHAPE.search(sentence) and not TASK.search(sentence):
        return Guidance(sentence, kind, is_general=False)
    if DIRECTS.search(sentence) and (reason or forbids or corrected) and not VAGUE.search(sentence):
        return Guidance(sentence, kind, is_general=False)
    if STATES.search(sentence) and is_concrete(sentence) and not VAGUE.search(sentence):
        return Guidance(sentence, "correction" if corrected else "environment", is_general=False)
    return None


def _is_statement(sentence: str) -> bool:
    return (
        len(sentence) <= _LONGEST
        and len(content_words(sentence)) >= _LEAST_WORDS
        and not is_question(sentence)
        and not is_temporary(sentence)
    )


def _dependent(following: Sequence[str], length: int) -> list[str]:
    """The sentences right after a statement that only explain it."""
    chosen: list[str] = []
    for sentence in following[:2]:
        length += len(sentence)
        if length > _LONGEST or is_question(sentence) or is_temporary(sentence) or not DEPENDENT.search(sentence):
            break
        chosen.append(sentence)
    return chosen


def _decision(sentences: Sequence[str]) -> Iterator[Guidance]:
    """An answer that gives a reason, as a whole: it decides what the agent had asked."""
    statements = [sentence for sentence in sentences if not is_question(sentence) and not is_temporary(sentence)]
    text = strip_lead(" ".join(statements))[1]
    explained = has_reason(text) or len(statements) > 1
    says_enough = len(content_words(text)) > 2 * _LEAST_WORDS and len(text) <= _LONGEST
    if explained and says_enough and DIRECTS.search(text) and not TASK.search(text) and not VAGUE.search(text):
        yield Guidance(text, "decision", is_general=False)
