"""Recognise what a person tells an agent for good: conventions, corrections, decisions, facts about the environment. Pure.

People write short messages to agents, in which guidance stands between tasks, answers and thanks. A sentence counts if it
says that it holds in general, forbids something, or describes how things are; or if it says what to do and gives a reason.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from omoide.learning.guidance_patterns import (
    BUG,
    CONTRAST,
    DEPENDENT,
    DIRECTS,
    EXPLAINS,
    FORBIDS,
    GENERAL,
    HOUSE_SHAPE,
    HOUSE_TOPIC,
    LEAD,
    LOCATES,
    SPECIFIES,
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
_ENOUGH_WORDS = 4
"""Content words of a prohibition that says by itself what it is about."""
_CHOICE_WORDS, _CHOICE_LENGTH = 4, 25
"""Of a sentence that only picks what an agent had proposed."""


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
        following = _dependent(sentences[place:], len(rest))
        explained = _is_explained(rest) or any(map(_is_explained, following))
        guidance = _classify(rest, explained=explained, corrected=corrected, is_first=is_first)
        if guidance is not None:
            place += len(following)
            found.append(guidance._replace(text=" ".join([guidance.text, *following])))
    return found or (list(_decision(sentences)) if is_answer else [])


def strip_lead(sentence: str) -> tuple[bool, str]:
    """Return whether a sentence begins by refusing something, and the sentence without such words at its beginning."""
    lead = LEAD.match(sentence)
    if lead is None:
        return False, sentence
    return lead["no"] is not None, sentence[lead.end() :].strip()


def _is_explained(sentence: str) -> bool:
    return has_reason(sentence) or bool(EXPLAINS.search(sentence))


def _classify(sentence: str, *, explained: bool, corrected: bool, is_first: bool) -> Guidance | None:
    if not _is_statement(sentence):
        return None
    kind = "correction" if corrected else "convention"
    general, forbids = bool(GENERAL.search(sentence)), bool(FORBIDS.search(sentence))
    if is_decision(sentence) and not corrected:
        return Guidance(sentence, "decision", is_general=True)
    if TASK.search(sentence) and not (general or forbids):
        return None
    concrete = is_concrete(sentence)
    says_enough = concrete or len(content_words(sentence)) >= _ENOUGH_WORDS
    if general or (forbids and (explained or corrected or says_enough)):
        return Guidance(sentence, kind, is_general=general)
    if is_first or BUG.search(sentence) or VAGUE.search(sentence):
        return None
    if CONTRAST.search(sentence) or (HOUSE_TOPIC.search(sentence) and HOUSE_SHAPE.search(sentence)):
        return Guidance(sentence, kind, is_general=False)
    if DIRECTS.search(sentence) and (explained or forbids or corrected):
        return Guidance(sentence, kind, is_general=False)
    states = (STATES.search(sentence) and (explained or concrete)) or (SPECIFIES.search(sentence) and concrete)
    if states or LOCATES.search(sentence):
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
    if not statements:
        return
    refused, text = strip_lead(" ".join(statements))
    chooses = refused or is_choice(statements[0])
    explained = _is_explained(text) or (chooses and len(statements) > 1)
    says_enough = len(content_words(text)) >= _ENOUGH_WORDS and len(text) <= _LONGEST
    if not (explained and says_enough) or TASK.search(text):
        return
    if chooses or (DIRECTS.search(text) and not VAGUE.search(text)):
        yield Guidance(text, "decision", is_general=False)


def is_choice(sentence: str) -> bool:
    """Whether a sentence only picks something: "option b.", 「前者で。」."""
    rest = strip_lead(sentence)[1]
    return bool(rest) and len(rest.split()) <= _CHOICE_WORDS and len(rest) <= _CHOICE_LENGTH and not TASK.search(rest)
