"""The order of what was found by words and by meaning together: words first, and what meaning, neighbours, names and
times add to them.

A memory's words give it a share of the question, from 0 to 1: in part how well it meets the words, in part which of them it
holds at all. Meaning adds to that share; then memories of a session lend to each other; then a speaker whom the question
names, and the time it asks about, raise what is there. Not rank fusion, one to one: a weak list must not have half the say.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from omoide.retrieval.lexical import LexicalScores
from omoide.retrieval.time_expressions import Span

# MEANING, BLUR, HELD and NAMED were chosen together, on a flat top, on half of LoCoMo, LongMemEval, JSQuAD, JaQuAD, Japanese
# captions, NL2Bash, CoSQA, tldr pages and sentences in two languages. Chosen without a set, they do almost as well on it:
# docs/decisions/0017. What is about sessions was chosen on LoCoMo alone, the only set that has them: expect less elsewhere.
MEANING = 0.11  # what each deviation above the mean likeness of the scope adds
PLAIN = 50.0  # terms: where the average text is longer, a vector says less of it than its words do, and so adds less,
BLUR = 0.5  # by this power of how much longer
# Of the words' share, the part for which it counts which words of the question a memory holds, not how often nor in how long
# a text: a cosine does not see that a word is missing, and the rest of the share sees it only under counts and lengths.
HELD = 0.45
# Of what meaning adds, the part that a memory gets as far as it holds the words that the best holds: where the question and
# some memories name a tool, likeness to another tool must not make up for it. More loses what is in the other language.
NAMED = 0.1
BY_MEANING = 20  # memories that meaning brings in, of
LOOKED_AT = 30  # those nearest by their signs; of 50, LoCoMo gains .008 of R@10, and the mean of all sets nothing
COMPARED = 25  # of the best by words, at first look, that are compared too; others are not near, or meaning would bring them
LIKE = (
    0.25  # without a word in common, a memory must have this cosine to be found at all: most nonsense stays below, not all,
)
STANDING = 1.0  # and stand so many deviations above the mean
FEW = 20  # memories below which the mean of a scope says little: as if so many more were as is usual
USUAL = (0.1, 0.1)  # mean and deviation of likeness, over all sets

EARLIER, LATER = 0.5, 0.3  # what a memory lends to the next of its session, and to the one before; half of it to the second
REACH = 3  # memories away, a third of it
SHORT = 120  # terms of a memory that takes part: talk, not documents
LENDERS = 50  # of the best by words, and as many by meaning, whose neighbours are looked at
SPEAKER = 0.8  # more for what a person said whom the question names
DATED = 0.3  # more for the time that the question asks about
TIMELY = 0.3  # more for talk that names a time, when the question is when
ASKING = 0.3  # less for talk that is itself a question

_WHEN = re.compile(
    r"^\W*(?:when|how long|(?:on |in )?(?:what|which) (?:date|day|week|month|year|time))\b|いつ|何[年月日時曜]", re.I
)
_TIMELY = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|days?|(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|since|recently|just)\b"
    r"|[昨今明先来去][日週月年]|先々[週月]|一昨[日年]|曜日|週末|[0-9０-９]+\s*[年月日]|最近|以来",
    re.I,
)
_SPEAKER = re.compile(r"\s*([^\W\d_][^\n:：]{0,30}?)\s*[:：]\s*(?=\S)")


class SessionEntry(NamedTuple):
    """A memory of a session, as far as it matters here."""

    number: int
    session: tuple[int, str]
    length: int


class TurnText(NamedTuple):
    """How a memory reads: when it was learnt, what it says after a time at its start, and how it ends."""

    at: datetime
    text: str
    asks: bool


def standard_scores(cosines: Mapping[int, float], mean: float, deviation: float, count: int) -> dict[int, float]:
    """By how many deviations each is more like the question than the scope's memories usually are."""
    mean = (mean * count + USUAL[0] * FEW) / (count + FEW)
    deviation = (deviation * count + USUAL[1] * FEW) / (count + FEW)
    return {number: (cosine - mean) / deviation for number, cosine in cosines.items()}


def combine(
    words: LexicalScores, cosines: Mapping[int, float], standings: Mapping[int, float], average: float
) -> dict[int, float]:
    """Shares of the question: what the words of each memory cover, and what its meaning adds."""
    weight = MEANING * min(1.0, PLAIN / max(average, 1.0)) ** BLUR
    most = max(words.covered.values(), default=0.0) or 1.0
    whole, named = weight * (1 - NAMED), weight * NAMED / most
    shares = {}
    for number, share in words.scores.items():
        stands, held = standings.get(number, 0.0), words.covered[number]
        if share > 0 or (stands >= STANDING and cosines[number] >= LIKE):
            joined = (1 - HELD) * share + HELD * held + stands * (whole + named * held)
            shares[number] = joined if joined > 0 else 0.0
        else:
            shares[number] = 0.0
    return shares


def neighbour_scores(shares: Mapping[int, float], talk: Sequence[SessionEntry]) -> dict[int, float]:
    """What each short memory of a session gets from those just before and after it."""
    sessions: dict[tuple[int, str], list[SessionEntry]] = {}
    for one in talk:
        sessions.setdefault(one.session, []).append(one)
    gains: dict[int, float] = {}
    for turns in sessions.values():
        for place, one in enumerate(turns):
            if one.length > SHORT:
                continue
            gain = 0.0
            for away in range(1, REACH + 1):
                for beside, part in ((place - away, EARLIER), (place + away, LATER)):
                    if 0 <= beside < len(turns) and turns[beside].length <= SHORT:
                        gain += part / away * shares.get(turns[beside].number, 0.0)
            if gain:
                gains[one.number] = gain
    return gains


def neighbours(talk: Sequence[SessionEntry], lenders: set[int]) -> list[int]:
    """Who is so near to one of the lenders that it may be lent something."""
    near = []
    for place, one in enumerate(talk):
        around = talk[max(0, place - REACH) : place + REACH + 1]
        if one.length <= SHORT and any(other.number in lenders and other.session == one.session for other in around):
            near.append(one.number)
    return near


def speaker(text: str, asked: str) -> str:
    """Who speaks, when the text begins like a turn of a talk and the question names that person."""
    match = _SPEAKER.match(text)
    if match is None:
        return ""
    for part in match[1].split():
        if len(part) > 1 and re.search(rf"\b{re.escape(part)}" if part.isascii() else re.escape(part), asked, re.I):
            return match[1]
    return ""


class HybridScores:
    """The score of each memory that has any, and what beside its words made it."""

    def __init__(
        self,
        asked: str,
        shares: Mapping[int, float],
        cosines: Mapping[int, float],
        standings: Mapping[int, float],
        talk: Sequence[SessionEntry],
        turns: Collection[int],
        told: Mapping[int, TurnText],
        span: Span | None,
    ):
        """`turns` are the short memories of sessions."""
        self._asked, self._shares, self._cosines, self._standings = asked, shares, cosines, standings
        self._turns, self._told, self._span = turns, told, span
        self._gains = neighbour_scores(shares, talk)
        scores = {number: share + self._gains.get(number, 0.0) for number, share in shares.items()} if talk else shares
        self.scores = {number: score for number, score in scores.items() if score > 0}
        for number in self.scores.keys() & told.keys():
            self.scores[number] *= self._boost(number, [])

    @cached_property
    def _asks_when(self) -> bool:
        return _WHEN.search(self._asked) is not None

    def why(self, number: int) -> list[str]:
        why = []
        if self._standings.get(number, 0.0) >= STANDING and self._cosines[number] >= LIKE:
            why.append(f"meaning: {self._cosines[number]:.2f}")
        if self._gains.get(number, 0.0) > self._shares[number]:
            why.append("beside it in the session")
        if number in self._told:
            self._boost(number, why)
        return why

    def _boost(self, number: int, why: list[str]) -> float:
        """What speaker and time make of a score, and why."""
        factor, its = 1.0, self._told[number]
        if number in self._turns:
            name = speaker(its.text, self._asked)
            if name:
                factor *= 1 + SPEAKER
                why.append(f"said by: {name}")
            if self._asks_when and _TIMELY.search(its.text):
                factor *= 1 + TIMELY
            if its.asks:
                factor *= 1 - ASKING
        if self._span is not None and (near := self._span.near(its.at)):
            factor *= 1 + DATED * near
            why.append(f"time: {its.at:%Y-%m-%d}")
        return factor
