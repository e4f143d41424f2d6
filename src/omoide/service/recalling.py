"""How a question finds memories: a first look names those that may answer it, a second one scores the best exactly."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from omoide.guard import checks
from omoide.model import Draft, Found, Hit, Memory, Query
from omoide.search import kin, rank, text
from omoide.search.bits import members
from omoide.service import looking
from omoide.service.looking import COUNTED, Look
from omoide.store.base import Holding, Outline, Posting, Reading, Words

if TYPE_CHECKING:  # it loads numpy
    from omoide.service.sense import Sense

_BROWSED = 500
_ALIKE = 0.6
_FIELDS = ("topic", "tags", "content")
_ONCE = (0, 0, 1)


def found(tx: Reading, query: Query, at: datetime, sense: "Sense | None" = None) -> Found:
    if not query.text.strip():
        return _browsed(tx, query, at)
    asked = text.asked(query.text)
    entries, length = tx.sizes(query)
    look = looking.look(tx, query, asked, entries, alone=sense is None)
    outlines = _candidates(tx, query, look, at)
    matched = len(outlines) if len(outlines) < look.enough else look.named
    if sense is not None and entries:
        near = sense.nearest(tx, query, [outline.number for outline in outlines])
        outlines += tx.outlines(query, near, at, texts=bool(look.literal))
        if beside := sense.beside(tx, outlines):
            outlines += tx.outlines(query, beside, at, texts=bool(look.literal))
    if not outlines:
        return _of_that_time(tx, query, at, sense, Found([], 0))
    lengths = {outline.number: outline.length for outline in outlines}
    postings = _held(tx, query, look, outlines, entries)
    met = rank.met(look.worth, postings, lengths, length / entries)
    scores, told = met.scores, dict[int, list[str]]()
    if sense is not None:
        scores, told = _sensed(tx, query, sense, outlines, met, sum(look.worth.values()) or 1.0, length / entries)
        if not scores:
            return _of_that_time(tx, query, at, sense, Found([], 0))
    top = _ordered([outline for outline in outlines if outline.number in scores], scores, query)
    why = _Why(query.text, asked, postings, told)
    hits = [Hit(memory, round(scores[memory.number], 4), partial(why, memory.number)) for memory in tx.memories(top)]
    return _of_that_time(tx, query, at, sense, Found(hits, max(matched, len(scores))))


def _of_that_time(tx: Reading, query: Query, at: datetime, sense: "Sense | None", found: Found) -> Found:
    """Where words and meaning leave room, what is of the time that the question names: "what happened on 5 May?"."""
    if sense is None or len(found.hits) >= query.limit:
        return found
    known = {hit.memory.number for hit in found.hits}
    numbers = [number for number in sense.then(tx, query, at, query.limit) if number not in known]
    more = tx.memories(numbers[: query.limit - len(known)])
    hits = [Hit(memory, 0.0, partial("time: {:%Y-%m-%d}".format, memory.updated_at)) for memory in more]
    return Found([*found.hits, *hits], found.total + len(hits))


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


def _candidates(tx: Reading, query: Query, look: Look, at: datetime) -> list[Outline]:
    """The best that the filters let through."""
    kept: list[Outline] = []
    for numbers in look.best:
        kept += tx.outlines(query, numbers, at, texts=bool(look.literal))
        if len(kept) >= look.enough:
            break
    return kept


def _held(tx: Reading, query: Query, look: Look, candidates: Sequence[Outline], entries: int) -> dict[str, list[Posting]]:
    """The second look: every term that is not hopelessly common, in the candidates."""
    numbers = [outline.number for outline in candidates]
    among = set(numbers)
    others = {term: df for term, df in look.frequencies.items() if term not in look.rare}
    if not look.rare and not others:  # every word is common: then the one it was gathered by
        others = dict.fromkeys(look.by[:1], COUNTED)
    held = {term: [posting for posting in postings if posting[0] in among] for term, postings in look.rare.items()}
    literal = [term for term in others if term in look.literal]
    asked = sum(1 << number for number in numbers) if look.held else 0
    if literal:
        held |= _read([outline for outline in candidates if outline.content is not None], literal, look.held, asked)
        if long := [outline.number for outline in candidates if outline.content is None]:
            for term, postings in tx.postings(query, literal, long).items():
                held[term] += postings
    often = max(rank.COMMON * entries, rank.SEEN)
    rest = {term: df for term, df in others.items() if term not in literal}
    if look.held:
        for term, df in [*rest.items()]:
            _, bits, counts = look.held[term]
            counts = {} if df > often else counts
            if bits is not None and counts is not None:
                held[term] = [(number, *counts.get(number, _ONCE)) for number in members(bits & asked, len(numbers))]
                del rest[term]
    if rest:
        held |= tx.postings(query, [term for term, df in rest.items() if df <= often], numbers)
        held |= tx.postings(query, [term for term, df in rest.items() if df > often], numbers, counted=False)
    return held


def _read(
    outlines: Sequence[Outline], literal: Sequence[str], held: Mapping[str, Holding], asked: int
) -> dict[str, list[Posting]]:
    """Terms that stand in a text as they are, counted in it: for some twenty of them a tenth of asking the index."""
    numbers = [outline.number for outline in outlines]
    contents = dict(zip(numbers, text.plain(outline.content or "" for outline in outlines), strict=True))
    titles = [outline.topic for outline in outlines], [outline.tags for outline in outlines]
    titled = not all(map(str.isascii, chain(*titles)))
    topics, tags = (dict(zip(numbers, text.plain(its) if titled else its, strict=True)) for its in titles)
    found: dict[str, list[Posting]] = {}
    for term in literal:
        bits = held[term].bits if held else None
        who = numbers if bits is None else members(bits & asked, len(numbers))
        counts = map(str.count, map(contents.__getitem__, who), repeat(term))
        if titled:
            above = map(str.count, map(topics.__getitem__, who), repeat(term))
            beside = map(str.count, map(tags.__getitem__, who), repeat(term))
            found[term] = [posting for posting in zip(who, above, beside, counts, strict=True) if any(posting[1:])]
        else:
            found[term] = [(number, 0, 0, count) for number, count in zip(who, counts, strict=True) if count]
    return found


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


class _Why:
    """Which words of the question stand where in a memory, in the order of the question, and what else spoke for it."""

    def __init__(
        self, text: str, asked: Iterable[str], held: Mapping[str, Iterable[Posting]], told: Mapping[int, Iterable[str]]
    ):
        self._text, self._asked, self._held, self._told = text, asked, held, told

    def __call__(self, number: int) -> str:
        counts = {term: counts for term in self._asked for holder, *counts in self._held.get(term, ()) if holder == number}
        spelling = text.spelling(self._text)
        fields = ((name, [term for term, its in counts.items() if its[place]]) for place, name in enumerate(_FIELDS))
        said = (f"{name}: {', '.join(text.spoken(terms, spelling))}" for name, terms in fields if terms)
        return " · ".join([*said, *self._told.get(number, ())])


def _browsed(tx: Reading, query: Query, at: datetime) -> Found:
    return Found([Hit(memory, 0.0, lambda: "newest first") for memory in freshest(tx, query, at)], tx.count(query, at))


def freshest(tx: Reading, query: Query, at: datetime) -> list[Memory]:
    """The newest and most used first: by day of the last change, then by how often it was remembered."""
    newest = list(islice(tx.browse(query, at), max(_BROWSED, query.limit)))
    newest.sort(key=lambda memory: (memory.updated_at.date(), memory.reference_count, memory.updated_at), reverse=True)
    return newest[: query.limit]


def similar(tx: Reading, draft: Draft, words: Words, most: int) -> list[int]:
    """Memories of the same scope that say almost the same words, the closest first."""
    size, telling, scope = len(draft.content), words.telling, checks.placed(draft)
    alike: list[tuple[float, int]] = []
    mine: set[str] = set()
    for number, content in tx.kindred(kin.sought(telling, scope), scope):
        # Most of the kin share little else: making their terms would cost more than all the rest of a remember.
        if not size <= 2 * len(content) <= 4 * size or sum(map(content.lower().__contains__, telling)) * 3 < len(telling):
            continue
        mine = mine or set((text.joined(draft.content) if draft.examples else words.content).split())
        its = set(text.terms(content))
        likeness = len(mine & its) / len(mine | its)
        if likeness >= _ALIKE:
            alike.append((-likeness, -number))
            if len(alike) == most:
                break
    return [-number for _, number in sorted(alike)]
