"""How a question finds memories: count its terms, gather who holds the telling ones, score the best of those exactly.

Bounds, so that common words never make it linear: a term is counted up to COUNTED memories, at most SCANNED of its newest
holders are gathered, and rank.CANDIDATES or OF_PAIRS memories are scored (a few more where they tie).
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING

from omoide.model import Found, Hit, Memory, Query, Scope
from omoide.search import rank, text
from omoide.search.rank import Count
from omoide.store.base import Outline, Posting, Reading, Words

if TYPE_CHECKING:  # it loads numpy
    from omoide.service.sense import Sense

COUNTED = 20_000
SCANNED = 10_000
TIED = 100
RARE = 50

_FEW = 2
_BROWSED = 500
_COMPARED = 10
_ALIKE = 0.6
_FIELDS = ("topic", "tags", "content")


def found(tx: Reading, query: Query, at: datetime, sense: "Sense | None" = None) -> Found:
    if not query.text.strip():
        return _browsed(tx, query, at)
    asked = text.asked(query.text)
    entries, length = tx.sizes(query)
    frequencies = tx.frequencies(query, asked, COUNTED) if entries else {}
    worth = rank.worth(asked, frequencies, entries)
    telling = rank.telling(asked, frequencies, entries)
    # Where few memories hold a term, one look is cheaper than two.
    rare = tx.postings(query, [term.text for term in telling if term.df <= RARE])
    gathered = [term.text for term in telling]
    rough = _gathered(tx, query, gathered, rare, worth)
    best = [number for number, _ in sorted(rough.items(), key=itemgetter(1), reverse=True)]
    enough = max(rank.OF_PAIRS if any(map(text.literal, gathered)) else rank.CANDIDATES, query.limit)
    outlines = _candidates(tx, query, best, rough, enough, at)
    matched = len(outlines) if len(outlines) < enough else len(best)
    if sense is not None and entries:
        outlines += tx.outlines(query, sense.nearest(tx, query, [outline.number for outline in outlines]), at)
        outlines += tx.outlines(query, beside, at) if (beside := sense.beside(tx, outlines)) else []
    if not outlines:
        return Found([], 0)
    lengths = {outline.number: outline.length for outline in outlines}
    held = _held(tx, query, frequencies, gathered, rare, outlines, entries)
    met = rank.met(worth, held, lengths, length / entries)
    scores, told = met.scores, dict[int, list[str]]()
    if sense is not None:
        scores, told = _sensed(tx, query, sense, outlines, met, sum(worth.values()) or 1.0, length / entries)
        if not scores:
            return Found([], 0)
    top = _ordered([outline for outline in outlines if outline.number in scores], scores, query)
    words = text.spelling(query.text)
    hits = [
        Hit(memory, round(scores[number], 4), _why(asked, held.get(number, ()), words, told.get(number, ())))
        for memory in tx.memories(top)
        for number in [memory.number]
    ]
    return Found(hits, max(matched, len(scores)))


def _sensed(
    tx: Reading,
    query: Query,
    sense: "Sense",
    outlines: Sequence[Outline],
    met: rank.Met,
    whole: float,
    average: float,
) -> tuple[dict[int, float], dict[int, list[str]]]:
    """The scores with what meaning, session and time add, on the same scale, and what that was."""
    words = rank.Met({number: score / whole for number, score in met.scores.items()}, met.covered)
    weighed = sense.weighed(tx, query, outlines, words, average)
    found = {number: its for number, its in weighed.items() if its.score > 0}
    return {number: its.score * whole for number, its in found.items()}, {number: its.why for number, its in found.items()}


def _gathered(
    tx: Reading, query: Query, terms: Sequence[str], rare: Mapping[str, list[Posting]], worth: Mapping[str, float]
) -> dict[int, float]:
    """The first look: what the telling terms of each memory are worth together."""
    holders = {term: [number for number, *_ in postings] for term, postings in rare.items()}
    holders |= tx.holders(query, [term for term in terms if term not in rare], SCANNED)
    rough = rank.rough(worth, holders)
    if len(terms) <= _FEW and len(rough) > TIED:
        # So few words cannot tell so many memories apart: those that have one in their topic or tags go first.
        for number, more in rank.rough(worth, tx.holders(query, terms, SCANNED, titled=True)).items():
            rough[number] = rough.get(number, 0.0) + more
    return rough


def _candidates(
    tx: Reading, query: Query, best: Sequence[int], rough: Mapping[int, float], enough: int, at: datetime
) -> list[Outline]:
    """The best that the filters let through, and those worth as much as the last of them."""
    most = max(TIED, enough)
    kept: list[Outline] = []
    start = 0
    while start < len(best) and len(kept) < enough:
        end = min(start + enough, len(best))
        least = rough[best[end - 1]]
        while end < min(start + most, len(best)) and rough[best[end]] >= least:
            end += 1
        kept += tx.outlines(query, best[start:end], at)
        start = end
    return kept


def _held(
    tx: Reading,
    query: Query,
    frequencies: Mapping[str, int],
    telling: Sequence[str],
    rare: Mapping[str, list[Posting]],
    candidates: Sequence[Outline],
    entries: int,
) -> dict[int, list[Count]]:
    """The second look: every term that is not hopelessly common, in the candidates."""
    others = {term: df for term, df in frequencies.items() if term not in rare and 0 < df < COUNTED}
    if not rare and not others:  # every word is hopelessly common: then the one it was gathered by
        others = dict.fromkeys(telling, COUNTED)
    literal = [term for term in others if text.literal(term)]
    held: dict[int, list[Count]] = {outline.number: _read(outline, literal) if literal else [] for outline in candidates}
    postings = dict(rare)
    if literal and (long := [outline.number for outline in candidates if outline.content is None]):
        postings |= tx.postings(query, literal, long)
    often = max(rank.COMMON * entries, rank.SEEN)
    rest = {term: df for term, df in others.items() if term not in literal}
    postings |= tx.postings(query, [term for term, df in rest.items() if df <= often], list(held))
    postings |= tx.postings(query, [term for term, df in rest.items() if df > often], list(held), counted=False)
    for term, rows in postings.items():
        for number, topic, tags, content in rows:
            if number in held:
                held[number].append((term, topic, tags, content))
    return held


def _read(outline: Outline, literal: Sequence[str]) -> list[Count]:
    """Terms that stand in a text as they are, counted in it: for some twenty of them a tenth of asking the index."""
    if outline.content is None:
        return []
    content, topic, tags = text.plain(outline.content), text.plain(outline.topic), text.plain(outline.tags)
    if topic.isascii() and tags.isascii():
        return [(term, 0, 0, content.count(term)) for term in literal if term in content]
    return [
        (term, topic.count(term), tags.count(term), content.count(term))
        for term in literal
        if term in content or term in topic or term in tags
    ]


def _ordered(outlines: Sequence[Outline], scores: Mapping[int, float], query: Query) -> list[int]:
    """The best by score and nudge, the nearest first on a tie."""
    last = sorted(scores.values(), reverse=True)[: query.limit][-1]
    places = []
    for number, everywhere, session, _, confidence, relevance, reference_count, days, *_ in outlines:
        score = scores[number]
        if score >= last * rank.NUDGED:  # what is below cannot be nudged into the answer
            nudged = score * rank.nudge(confidence, relevance, reference_count, days)
            distance = 3 if everywhere and query.scope.path else (session != query.scope.name) + bool(session)
            places.append((-nudged, distance, -number))
    return [-number for _, _, number in sorted(places)[: query.limit]]


def _why(asked: Iterable[str], held: Iterable[Count], spelling: Mapping[str, str], told: Iterable[str]) -> str:
    """Which words of the question stand where in a memory, in the order of the question, and what else spoke for it."""
    counts = {term: counts for term, *counts in held}
    terms = [term for term in asked if term in counts]
    fields = ((name, [term for term in terms if counts[term][place]]) for place, name in enumerate(_FIELDS))
    said = (f"{name}: {', '.join(text.spoken(its, spelling))}" for name, its in fields if its)
    return " · ".join([*said, *told])


def _browsed(tx: Reading, query: Query, at: datetime) -> Found:
    return Found([Hit(memory, 0.0, "newest first") for memory in freshest(tx, query, at)], tx.count(query, at))


def freshest(tx: Reading, query: Query, at: datetime) -> list[Memory]:
    """The newest and most used first: by day of the last change, then by how often it was remembered."""
    newest = list(islice(tx.browse(query, at), max(_BROWSED, query.limit)))
    newest.sort(key=lambda memory: (memory.updated_at.date(), memory.reference_count, memory.updated_at), reverse=True)
    return newest[: query.limit]


def similar(tx: Reading, words: Words, scope: Scope) -> set[int]:
    """Memories of the same scope that say almost the same words."""
    alike = set()
    mine: set[str] = set()
    letters: set[str] = set()
    for memory in tx.kindred(words, scope, _COMPARED):
        # Most that share a telling pair share little else, and hardly any characters: making their terms would cost more
        # than all the rest of a remember.
        letters = letters or set(words.content)
        its = set(memory.content.lower())
        if len(its & letters) < len(its) / 2:
            continue
        mine = mine or set(words.content.split())
        its = set(text.terms(memory.content))
        if len(mine & its) >= _ALIKE * len(mine | its):
            alike.add(memory.number)
    return alike
