"""What neighbouring turns, a named speaker and a named time add to a score. Pure.

A turn that answers a question often lacks its words: they are in the turn before it. So short memories of one session add
a part of their share of the question to those around them, less to one that already matches well.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.retrieval import constants
from omoide.retrieval.time_expressions import Span
from omoide.storage.search_index import SessionNeighbour

_ASKS_WHEN = load_pattern(
    r"^\W*(?:when|how long|(?:on |in )?(?:what|which) (?:date|day|week|month|year|time))\b|いつ|何[年月日時曜]", re.I
)
_NAMES_TIME = load_pattern(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|days?|(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|since|recently|just)\b"
    r"|[昨今明先来去][日週月年]|先々[週月]|一昨[日年]|曜日|週末|[0-9０-９]+\s*[年月日]|最近|以来",
    re.I,
)
_SPEAKER = load_pattern(r"\s*([^\W\d_][^\n:：]{0,30}?)\s*[:：]\s*(?=\S)")


class TurnText(NamedTuple):
    """The text of a memory, as far as speakers and times are read from it."""

    at: datetime
    """When the memory was created."""
    text: str
    """Its beginning, without a time at its start."""
    asks: bool
    """Whether it ends with a question mark."""


class SessionFeatures(NamedTuple):
    """What is known of the sessions and the times of candidates."""

    question: str
    span: Span | None
    """The time that the question asks about."""
    neighbours: Sequence[SessionNeighbour]
    """Candidates of sessions, in the order of their sessions."""
    turns: Collection[int]
    """The short memories of sessions."""
    texts: Mapping[int, TurnText]


class SessionScores(NamedTuple):
    """The score of each memory that has any, and what it got from its neighbours."""

    scores: dict[int, float]
    gains: Mapping[int, float]


def score(shares: Mapping[int, float], features: SessionFeatures) -> SessionScores:
    """Return the shares of the question that memories cover, with what neighbours, speakers and times add."""
    gains = neighbour_gains(shares, features.neighbours)
    sums = {number: share + gains.get(number, 0.0) for number, share in shares.items()} if gains else shares
    scores = {number: share for number, share in sums.items() if share > 0}
    asks_when = bool(features.turns) and _ASKS_WHEN.search(features.question) is not None
    for number in scores.keys() & features.texts.keys():
        scores[number] *= _boost(features, number, asks_when=asks_when)
    return SessionScores(scores, gains)


def neighbour_gains(shares: Mapping[int, float], neighbours: Sequence[SessionNeighbour]) -> dict[int, float]:
    """Return what the score of each turn gains from the turns just before and after it in its session, by number.

    `shares`: the share of the question that each memory covers.
    """
    sessions: dict[tuple[int, str], list[SessionNeighbour]] = {}
    for neighbour in neighbours:
        sessions.setdefault((neighbour.project, neighbour.session), []).append(neighbour)
    gains: dict[int, float] = {}
    for turns in sessions.values():
        for place, turn in enumerate(turns):
            if turn.length <= constants.TURN_LENGTH and (gain := _gain(shares, turns, place)):
                gains[turn.number] = gain
    return gains


def _gain(shares: Mapping[int, float], turns: Sequence[SessionNeighbour], place: int) -> float:
    gain = 0.0
    enough = constants.OWN_PART * shares.get(turns[place].number, 0.0)
    for away in range(1, constants.SESSION_REACH + 1):
        for other, part in ((place - away, constants.FROM_EARLIER), (place + away, constants.FROM_LATER)):
            if 0 <= other < len(turns) and turns[other].length <= constants.TURN_LENGTH:
                gain += part / away * max(0.0, shares.get(turns[other].number, 0.0) - enough)
    return gain * min(1.0, constants.SHORT_TURN / max(turns[place].length, 1))


def close_turns(neighbours: Sequence[SessionNeighbour], seeds: Collection[int]) -> list[int]:
    """Return the numbers of the turns that are close enough to one of the seeds to gain from it."""
    found = []
    for place, turn in enumerate(neighbours):
        around = neighbours[max(0, place - constants.SESSION_REACH) : place + constants.SESSION_REACH + 1]
        session = (turn.project, turn.session)
        if turn.length <= constants.TURN_LENGTH and any(
            other.number in seeds and (other.project, other.session) == session for other in around
        ):
            found.append(turn.number)
    return found


def speaker(text: str, question: str) -> str:
    """Return the speaker of a turn of a conversation if the question names that person, otherwise an empty text."""
    match = _SPEAKER.match(text)
    if match is None:
        return ""
    for part in match[1].split():
        if len(part) > 1 and re.search(rf"\b{re.escape(part)}" if part.isascii() else re.escape(part), question, re.I):
            return match[1]
    return ""


def _boost(features: SessionFeatures, number: int, *, asks_when: bool) -> float:
    """Return the factor by which speaker and time change a score."""
    factor, turn = 1.0, features.texts[number]
    if number in features.turns:
        if speaker(turn.text, features.question):
            factor *= 1 + constants.SPEAKER_BOOST
        if asks_when and _NAMES_TIME.search(turn.text):
            factor *= 1 + constants.TIMELY_BOOST
        if turn.asks:
            factor *= 1 - constants.ASKING_PENALTY
    if features.span is not None:
        factor *= 1 + constants.DATED_BOOST * features.span.near(turn.at)
    return factor


def reasons(features: SessionFeatures, shares: Mapping[int, float], gains: Mapping[int, float], number: int) -> list[str]:
    """Return what counted for a memory beside its words and its vector, as texts.

    `shares`: the share of the question that each memory covers. `gains`: what `neighbour_gains` returned.
    """
    found = []
    if gains.get(number, 0.0) > shares[number] / 2:
        found.append("beside it in the session")
    turn = features.texts.get(number)
    if turn is not None:
        if number in features.turns and (name := speaker(turn.text, features.question)):
            found.append(f"said by: {name}")
        if features.span is not None and features.span.near(turn.at):
            found.append(f"time: {turn.at:%Y-%m-%d}")
    return found
