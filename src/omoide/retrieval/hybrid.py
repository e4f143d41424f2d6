"""The score of a memory by words and vectors together. Pure.

A memory's words give it a share of the question, from 0 to 1: in part how well it matches the terms, in part which of them
it contains at all. Its cosine adds to that share; then memories of a session lend to each other; then a speaker whom the
question names, and the time it asks about, raise the score. Not rank fusion: a weak ranking must not have half the say.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from omoide.retrieval import constants
from omoide.retrieval.lexical import LexicalScores
from omoide.retrieval.time_expressions import Span
from omoide.storage.search_index import SessionNeighbour

_ASKS_WHEN = re.compile(
    r"^\W*(?:when|how long|(?:on |in )?(?:what|which) (?:date|day|week|month|year|time))\b|いつ|何[年月日時曜]", re.I
)
_NAMES_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|days?|(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|since|recently|just)\b"
    r"|[昨今明先来去][日週月年]|先々[週月]|一昨[日年]|曜日|週末|[0-9０-９]+\s*[年月日]|最近|以来",
    re.I,
)
_SPEAKER = re.compile(r"\s*([^\W\d_][^\n:：]{0,30}?)\s*[:：]\s*(?=\S)")


class TurnText(NamedTuple):
    """The text of a memory, as far as speakers and times are read from it."""

    at: datetime
    """When the memory was created."""
    text: str
    """Its beginning, without a time at its start."""
    asks: bool
    """Whether it ends with a question mark."""


class SemanticFeatures(NamedTuple):
    """What candidates are scored by beside their words."""

    question: str
    span: Span | None
    """The time that the question asks about."""
    cosines: Mapping[int, float]
    deviations: Mapping[int, float]
    """By how many deviations each cosine is above the mean of the scope."""
    neighbours: Sequence[SessionNeighbour]
    """Candidates of sessions, in the order of their sessions."""
    turns: Collection[int]
    """The short memories of sessions."""
    texts: Mapping[int, TurnText]
    unembedded: Collection[int] = ()
    """Candidates by words that have no vector yet."""


class HybridScores(NamedTuple):
    """The score of each memory that has any, and what it was made of."""

    scores: dict[int, float]
    shares: Mapping[int, float]
    """The share of the question that each memory covers by its words and its cosine."""
    gains: Mapping[int, float]
    """What each memory got from its neighbours in a session."""


def deviations(cosines: Mapping[int, float], mean: float, deviation: float, count: int) -> dict[int, float]:
    """Return by how many deviations each cosine is above the mean of `count` memories."""
    prior = constants.PRIOR_COUNT
    mean = (mean * count + constants.USUAL_MEAN * prior) / (count + prior)
    deviation = (deviation * count + constants.USUAL_DEVIATION * prior) / (count + prior)
    return {number: (cosine - mean) / deviation for number, cosine in cosines.items()}


def key_shares(postings: Sequence[Collection[int]]) -> dict[int, float]:
    """Return the share of the key terms that each memory contains, by the memories that contain each of them."""
    counts = Counter(number for numbers in postings for number in numbers)
    return {number: count / len(postings) for number, count in counts.items()}


def score(
    words: LexicalScores, whole: float, keyed: Mapping[int, float], features: SemanticFeatures, average: float
) -> HybridScores:
    """Score memories by words, cosines, neighbours, speakers and times.

    words: the scores by words; `whole` is the weight of all terms of the question, and the scale of the result
    keyed: the share of the key terms that a memory contains, where it contains any
    average: the average length of a memory, in terms
    """
    shares = combined_shares(words, whole, keyed, features, average)
    gains = neighbour_gains(shares, features.neighbours)
    sums = {number: share + gains.get(number, 0.0) for number, share in shares.items()} if gains else shares
    scores = {number: share * whole for number, share in sums.items() if share > 0}
    asks_when = bool(features.turns) and _ASKS_WHEN.search(features.question) is not None
    for number in scores.keys() & features.texts.keys():
        scores[number] *= _boost(features, number, asks_when=asks_when)
    return HybridScores(scores, shares, gains)


def combined_shares(
    words: LexicalScores, whole: float, keyed: Mapping[int, float], features: SemanticFeatures, average: float
) -> dict[int, float]:
    """Return the share of the question that each memory covers by its words and its cosine."""
    weight = constants.SEMANTIC_WEIGHT * min(1.0, constants.CLEAR_LENGTH / max(average, 1.0)) ** constants.BLUR_POWER
    most_covered = max(words.covered.values(), default=0.0) or 1.0
    general = weight * (1 - constants.NAMED_PART)
    named = weight * constants.NAMED_PART / most_covered
    covered_part = constants.COVERED_PART
    deviations = {**features.deviations, **_assumed_deviations(words.covered, features)}
    shares = {}
    for number, matched in words.scores.items():
        share = 0.0
        if matched > 0 or _stands_out(features, number):
            covered = words.covered[number]
            cosine = deviations.get(number, 0.0) * (general + named * covered)
            matched_share = matched / whole + constants.KEY_PART * keyed.get(number, 0.0)
            share = max((1 - covered_part) * matched_share + covered_part * covered + cosine, 0.0)
        shares[number] = share
    return shares


def _assumed_deviations(covered: Mapping[int, float], features: SemanticFeatures) -> dict[int, float]:
    """Return the deviations to assume of memories without a vector: a missing vector is no evidence against a memory.

    Each is assumed to be as near as the nearest of those that contain as much of the question as it does, or less.
    """
    known = [(covered[number], deviation) for number, deviation in features.deviations.items() if covered.get(number)]
    return {
        number: max((deviation for share, deviation in known if share <= covered[number]), default=0.0)
        for number in features.unembedded
    }


def _stands_out(features: SemanticFeatures, number: int) -> bool:
    """Whether a memory is found by its cosine alone."""
    return (
        features.deviations.get(number, 0.0) >= constants.MIN_DEVIATIONS and features.cosines[number] >= constants.MIN_COSINE
    )


def neighbour_gains(shares: Mapping[int, float], neighbours: Sequence[SessionNeighbour]) -> dict[int, float]:
    """Return what each turn of a session gets from those just before and after it."""
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
    for away in range(1, constants.SESSION_REACH + 1):
        for other, part in ((place - away, constants.FROM_EARLIER), (place + away, constants.FROM_LATER)):
            if 0 <= other < len(turns) and turns[other].length <= constants.TURN_LENGTH:
                gain += part / away * shares.get(turns[other].number, 0.0)
    return gain


def close_turns(neighbours: Sequence[SessionNeighbour], seeds: Collection[int]) -> list[int]:
    """Return the turns that are close enough to one of the seeds to get something from it."""
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
    """Return who speaks, if the text begins like a turn of a conversation and the question names that person."""
    match = _SPEAKER.match(text)
    if match is None:
        return ""
    for part in match[1].split():
        if len(part) > 1 and re.search(rf"\b{re.escape(part)}" if part.isascii() else re.escape(part), question, re.I):
            return match[1]
    return ""


def _boost(features: SemanticFeatures, number: int, *, asks_when: bool) -> float:
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


def reasons(features: SemanticFeatures, scores: HybridScores, number: int) -> list[str]:
    """Return what counted for a memory beside its words."""
    found = []
    if _stands_out(features, number):
        found.append(f"meaning: {features.cosines[number]:.2f}")
    if scores.gains.get(number, 0.0) > scores.shares[number]:
        found.append("beside it in the session")
    turn = features.texts.get(number)
    if turn is not None:
        if number in features.turns and (name := speaker(turn.text, features.question)):
            found.append(f"said by: {name}")
        if features.span is not None and features.span.near(turn.at):
            found.append(f"time: {turn.at:%Y-%m-%d}")
    return found
