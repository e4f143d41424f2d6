"""Draw what is worth keeping from a conversation, by rules alone. Pure."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec

from omoide.learning.noise import Wording, is_instruction, share_of, wording
from omoide.learning.repairs import find_repairs
from omoide.learning.requests import find_requests
from omoide.learning.sentences import split_sentences
from omoide.learning.statements import StatementKind, classify, has_reason
from omoide.learning.transcript import Speaker, Turn

_ECHO = 0.6
"""Share of a candidate's wording in what was injected or recalled from which on it is an echo of that."""
_QUOTED = 0.8
"""Share of a candidate's wording in one output from which on the agent only repeats that output."""


class Candidate(msgspec.Struct, frozen=True):
    """Something that may be worth keeping."""

    text: str
    kind: str
    """request, decision, convention, environment or repair."""
    confidence: float
    """0 to 1: how sure the rules are that it is worth keeping."""
    line: int
    """Of the transcript, from which it was drawn."""


class Rejection(NamedTuple):
    """A candidate that is not kept, and why."""

    text: str
    reason: str


class Selection(NamedTuple):
    """What is left of the candidates."""

    candidates: list[Candidate]
    rejections: list[Rejection]


def draw_candidates(turns: Sequence[Turn]) -> list[Candidate]:
    """Return what looks worth keeping in a conversation, in its order. See `select_candidates` for what is left of it."""
    return sorted(_all_candidates(turns), key=lambda candidate: candidate.line)


def select_candidates(candidates: Iterable[Candidate], turns: Sequence[Turn], *, known: Sequence[str] = ()) -> Selection:
    """Separate what is news from what is not, each thing once.

    `known` are the texts that were injected into the conversation, or that recall answered: what repeats them is an echo.
    What repeats the output of a tool and tells somebody what to do is nobody's statement.
    """
    echo = set(chain.from_iterable(wording(text) for text in known))
    outputs = [wording(turn.text) for turn in turns if turn.speaker is Speaker.OUTPUT]
    selected, rejections = list[Candidate](), list[Rejection]()
    for candidate in candidates:
        if echo and share_of(candidate.text, echo) >= _ECHO:
            rejections.append(Rejection(candidate.text, "it repeats what was injected or recalled"))
        elif is_instruction(candidate.text) and _is_quoted(candidate, turns, outputs):
            rejections.append(Rejection(candidate.text, "it is an instruction from the output of a tool"))
        elif any(_says_the_same(candidate, other) for other in selected):
            rejections.append(Rejection(candidate.text, "the conversation says it twice"))
        else:
            selected.append(candidate)
    return Selection(selected, rejections)


def _all_candidates(turns: Sequence[Turn]) -> Iterable[Candidate]:
    for turn in turns:
        if turn.speaker is Speaker.PERSON:
            yield from _of_person(turn)
        elif turn.speaker is Speaker.AGENT:
            yield from _of_agent(turn)
    for repair in find_repairs(turns):
        yield Candidate(repair.text, "repair", 0.8 if repair.explained else 0.6, repair.line)


def _of_person(turn: Turn) -> Iterable[Candidate]:
    requests = find_requests(turn.text)
    for request in requests:
        yield Candidate(request.content, "decision" if request.kind == "decision" else "request", 0.9, turn.line)
    covered = set(chain.from_iterable(wording(request.content) for request in requests))
    for sentence in split_sentences(turn.text):
        kind = classify(sentence, by_person=True)
        if kind is None or (covered and share_of(sentence, covered) > 0.5):
            continue
        confidence = {StatementKind.DECISION: 0.85, StatementKind.CONVENTION: 0.8, StatementKind.FACT: 0.7}[kind]
        yield Candidate(sentence, kind.value, confidence, turn.line)


def _of_agent(turn: Turn) -> Iterable[Candidate]:
    for sentence in split_sentences(turn.text):
        kind = classify(sentence, by_person=False)
        if kind is not None:
            yield Candidate(sentence, kind.value, 0.7 if has_reason(sentence) else 0.6, turn.line)


def _is_quoted(candidate: Candidate, turns: Sequence[Turn], outputs: Sequence[Wording]) -> bool:
    """Whether a candidate that is not a person's word repeats an output."""
    speaker = next((turn.speaker for turn in turns if turn.line == candidate.line), Speaker.AGENT)
    return speaker is not Speaker.PERSON and any(share_of(candidate.text, output) >= _QUOTED for output in outputs)


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    return share_of(one.text, wording(other.text)) >= 0.8 or share_of(other.text, wording(one.text)) >= 0.8
