"""Recognise lasting guidance from a person to an agent: conventions, corrections, decisions, facts. Pure.

People write short messages to agents, in which guidance stands between tasks, answers and thanks. A sentence counts if it
says that it holds in general, forbids something, or describes how things are; or if it says what to do and gives a reason.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from omoide.learning.guidance_patterns import (
    ADVERB,
    BAN_OF_PREVIOUS,
    BUG,
    CONTRAST,
    DEICTIC,
    DEPENDENT,
    DIRECTS,
    ENDS_OPEN_JA,
    EXPLAINS,
    FORBIDS,
    GENERAL,
    GENERIC,
    HOUSE_SHAPE,
    HOUSE_SUBJECT,
    HOUSE_TOPIC,
    INSTEAD,
    LEAD,
    LOCATES,
    NAMES,
    ORDERS,
    OWN_PLAN,
    SPECIFIES,
    STATES,
    TASK,
    UNSETTLED,
    VAGUE,
)
from omoide.learning.noise import is_passing, is_temporary
from omoide.learning.sentences import is_question, split_sentences
from omoide.learning.statements import decides, has_reason, is_concrete
from omoide.learning.wording import content_words

_LONGEST = 400
_LEAST_WORDS = 2
"""Content words of a statement; one with fewer means nothing without the conversation around it."""
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
    by_rule: bool = True
    """Whether a rule recognises it, rather than many weak signs together."""


def find_guidance(text: str, *, is_answer: bool = False, is_first: bool = False) -> list[Guidance]:
    """Return the lasting guidance in a person's message, in order.

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
            place += 1
        guidance = classify_at(sentences, place - 1, corrected=corrected, is_first=is_first)
        if guidance is None:
            guidance = after_task(sentences[place - 1], is_first=is_first) or ban_at(sentences, place - 1)
        if guidance is not None:
            following = dependent_sentences(strip_lead(sentences[place - 1])[1], sentences[place:])
            place += len(following)
            found.append(guidance._replace(text=" ".join([guidance.text, *following])))
    return found or (list(decide_answer(sentences)) if is_answer else [])


def classify_at(sentences: Sequence[str], place: int, *, corrected: bool, is_first: bool) -> Guidance | None:
    """Return what the rules make of one of the sentences of a message, without what follows it.

    `corrected`: words that refuse something stand before it. `is_first`: the message opens the conversation.
    """
    rest = strip_lead(sentences[place])[1]
    following = dependent_sentences(rest, sentences[place + 1 :])
    explained = is_explained(rest) or any(map(is_explained, following))
    return _classify(_Sentence(rest, explained=explained, corrected=corrected, is_first=is_first))


def strip_lead(sentence: str) -> tuple[bool, str]:
    """Return whether a sentence begins by refusing something, and the sentence without such words at its beginning."""
    lead = LEAD.match(sentence)
    if lead is None:
        return False, sentence
    return lead["no"] is not None, sentence[lead.end() :].strip()


def is_explained(sentence: str) -> bool:
    """Whether a sentence gives a reason, in its words or in a second clause."""
    return has_reason(sentence) or bool(EXPLAINS.search(sentence))


class _Sentence:
    """A sentence of a person, and what is said around it."""

    def __init__(self, text: str, *, explained: bool, corrected: bool, is_first: bool):
        self.text = text
        self.explained = explained
        """Whether it, or what follows, gives a reason."""
        self.corrected = corrected
        """Whether it follows words that refuse something."""
        self.is_first = is_first
        """Whether it stands in the message that describes the task."""

    @cached_property
    def general(self) -> bool:
        return bool(GENERAL.search(self.text)) or (bool(ADVERB.search(self.text)) and not self.is_problem)

    @cached_property
    def forbids(self) -> bool:
        return bool(FORBIDS.search(self.text))

    @cached_property
    def concrete(self) -> bool:
        return is_concrete(self.text)

    @cached_property
    def is_problem(self) -> bool:
        """Whether it describes what goes wrong, without saying what to do."""
        return bool(BUG.search(self.text)) and not self.forbids and not ORDERS.search(self.text)

    @property
    def is_unsettled(self) -> bool:
        return bool(UNSETTLED.search(self.text) or OWN_PLAN.search(self.text))

    @property
    def is_task(self) -> bool:
        return bool(TASK.search(self.text)) and not (self.general or self.forbids)

    @property
    def is_rule(self) -> bool:
        if self.general:
            return True
        says_enough = self.concrete or len(content_words(self.text)) >= _ENOUGH_WORDS
        return self.forbids and (self.explained or self.corrected or says_enough)

    @property
    def is_unclear(self) -> bool:
        if self.is_first and not self.corrected:  # a refusal refers to what was done before
            return True
        if self.is_problem or VAGUE.search(self.text):
            return True
        return bool(DEICTIC.search(self.text)) and not (self.corrected or self.explained)

    @property
    def names_instead(self) -> bool:
        return self.corrected and bool(NAMES.search(self.text) and content_words(self.text))

    @property
    def is_house_style(self) -> bool:
        if HOUSE_TOPIC.search(self.text) and HOUSE_SHAPE.search(self.text):
            return True
        if GENERIC.search(self.text):
            return self.explained or self.concrete or len(content_words(self.text)) >= _ENOUGH_WORDS
        return bool(HOUSE_SUBJECT.search(self.text))

    @property
    def directs(self) -> bool:
        return bool(DIRECTS.search(self.text)) and (self.explained or self.forbids or self.corrected)

    @property
    def states(self) -> bool:
        if ENDS_OPEN_JA.search(self.text):
            return False
        if STATES.search(self.text) and (self.explained or self.concrete):
            return True
        return bool(SPECIFIES.search(self.text) and self.concrete) or bool(LOCATES.search(self.text))


_RULES: tuple[tuple[Callable[[_Sentence], bool], str], ...] = (
    (lambda one: one.is_unsettled, ""),
    (lambda one: not one.corrected and decides(one.text), "decision"),
    (lambda one: one.is_task, ""),
    (lambda one: one.is_rule, "convention"),
    (lambda one: one.is_unclear, ""),
    (lambda one: bool(CONTRAST.search(one.text)), "convention"),
    (lambda one: one.names_instead, "convention"),
    (lambda one: one.is_house_style, "convention"),
    (lambda one: one.directs, "convention"),
    (lambda one: one.states, "environment"),
)
"""What a sentence is, by the first rule that it meets; an empty kind: nothing to keep."""


def _classify(sentence: _Sentence) -> Guidance | None:
    if not is_statement(sentence.text, least=1 if sentence.names_instead else _LEAST_WORDS):
        return None
    kind = next((kind for is_met, kind in _RULES if is_met(sentence)), "")
    if not kind:
        return None
    is_general = kind == "decision" or sentence.general
    return Guidance(sentence.text, "correction" if sentence.corrected else kind, is_general)


def after_task(sentence: str, *, is_first: bool) -> Guidance | None:
    """Return what a sentence says after a task: "add both, texts live in locales/*.json"."""
    task, _, rest = strip_lead(sentence)[1].partition(", ")
    if not rest or not TASK.search(task) or is_first:
        return None
    said = _Sentence(rest, explained=False, corrected=False, is_first=False)
    return _classify(said) if said.is_rule or (said.states and not said.is_task) else None


def ban_at(sentences: Sequence[str], place: int) -> Guidance | None:
    """Return a prohibition together with the sentence before it, which it is about: "… 2 error. Don't change those"."""
    sentence = strip_lead(sentences[place])[1]
    if not place or not BAN_OF_PREVIOUS.search(sentence):
        return None
    previous = strip_lead(sentences[place - 1])[1]
    if not is_statement(previous, least=_ENOUGH_WORDS) or TASK.search(previous):
        return None
    return Guidance(f"{previous} {sentence}", "convention", is_general=False)


def is_statement(sentence: str, *, least: int) -> bool:
    """Whether a sentence says something by itself that may hold for long. `least`: the content words that it must have."""
    return (
        len(sentence) <= _LONGEST
        and len(content_words(sentence)) >= least
        and not is_question(sentence)
        and not is_temporary(sentence)
        and not is_passing(sentence)
    )


def dependent_sentences(statement: str, following: Sequence[str]) -> list[str]:
    """Return the sentences right after a statement that only explain it, or say what to do instead of what it forbids."""
    chosen: list[str] = []
    length, forbids = len(statement), bool(FORBIDS.search(statement))
    for sentence in following[:2]:
        length += len(sentence)
        if length > _LONGEST or is_question(sentence) or is_temporary(sentence) or TASK.search(sentence):
            break
        if not DEPENDENT.search(sentence) and not (forbids and INSTEAD.search(sentence)):
            break
        chosen.append(sentence)
    return chosen


def decide_answer(sentences: Sequence[str]) -> Iterator[Guidance]:
    """Yield an answer that gives a reason, as a whole: it decides what the agent had asked."""
    statements = [one for one in sentences if not (is_question(one) or is_temporary(one) or is_passing(one))]
    if not statements:
        return
    refused, text = strip_lead(" ".join(statements))
    chooses = refused or is_choice(statements[0])
    explained = is_explained(text) or (chooses and len(statements) > 1)
    says_enough = len(content_words(text)) >= _ENOUGH_WORDS and len(text) <= _LONGEST
    if not (explained and says_enough) or TASK.search(text):
        return
    if chooses or (DIRECTS.search(text) and not VAGUE.search(text)):
        yield Guidance(text, "decision", is_general=False)


def is_choice(sentence: str) -> bool:
    """Whether a sentence only picks something: "option b.", 「前者で。」."""
    rest = strip_lead(sentence)[1]
    return bool(rest) and len(rest.split()) <= _CHOICE_WORDS and len(rest) <= _CHOICE_LENGTH and not TASK.search(rest)
