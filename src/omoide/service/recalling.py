"""How a question finds memories: a first look names those that may answer it, a second one scores the best exactly."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from omoide.model import Found, Hit, Memory, Query
from omoide.search import rank, text
from omoide.search.bits import among
from omoide.search.rank import Held
from omoide.service import looking
from omoide.service.looking import COUNTED, Look
from omoide.store.base import Holding, Posting, Reading

if TYPE_CHECKING:  # it loads numpy
    from omoide.service.sense import Sense

_BROWSED = 500
_FIELDS = ("topic", "tags", "content")
_ONCE = (0, 0, 1)
_UNKNOWN = Holding(0, None, None)


_by_words: Callable[[int], list[str]] = lambda _: []  # noqa: E731 - nothing but words spoke for it


def found(tx: Reading, query: Query, at: datetime, sense: "Sense | None" = None) -> Found:
    if not query.text.strip():
        return _browsed(tx, query, at)
    asked = text.asked(query.text)
    entries, length = tx.sizes(query)
    look = looking.look(tx, query, asked, entries, alone=sense is None)
    lengths = _candidates(tx, query, look, at)
    matched = len(lengths) if len(lengths) < look.enough else look.named
    sessions: list[int] = []
    if sense is not None and entries:
        lengths |= tx.lengths(query, sense.nearest(tx, query, [*lengths]), at)
        sessions = tx.spoken(lengths)
        if beside := sense.beside(tx, [*lengths], sessions):
            lengths |= tx.lengths(query, beside, at)
            sessions = tx.spoken(lengths)
    if not lengths:
        return _of_that_time(tx, query, at, sense, Found([], 0))
    held = _held(tx, query, look, [*lengths], entries)
    met = rank.met(look.worth, held, lengths, length / entries)
    scores, told = met.scores, _by_words
    if sense is not None:
        whole = sum(look.worth.values()) or 1.0
        words = rank.Met({number: score / whole for number, score in met.scores.items()}, met.covered)
        weighed = sense.weighed(tx, query, lengths, sessions, words, length / entries)
        scores, told = {number: score * whole for number, score in weighed.scores.items()}, weighed.why
        if not scores:
            return _of_that_time(tx, query, at, sense, Found([], 0))
    top = _ordered(tx, query, scores, at)
    why = _Why(query.text, asked, held, told)
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


def _candidates(tx: Reading, query: Query, look: Look, at: datetime) -> dict[int, int]:
    """The best that the filters let through, and their lengths."""
    kept: dict[int, int] = {}
    for numbers in look.best:
        kept |= tx.lengths(query, numbers, at)
        if len(kept) >= look.enough:
            break
    return kept


def _held(tx: Reading, query: Query, look: Look, numbers: Sequence[int], entries: int) -> dict[str, Held]:
    """The second look: every term that is not hopelessly common, in the candidates."""
    often = max(rank.COMMON * entries, rank.SEEN)
    others = {term: df for term, df in look.frequencies.items() if term not in look.rare}
    if not look.rare and not others:  # every word is common: then the one it was gathered by
        others = dict.fromkeys(look.by[:1], COUNTED)
    held, rest = dict[str, Held](), dict[str, int]()
    holders = among(numbers)
    for term, df in others.items():
        _, bits, counts = look.held.get(term, _UNKNOWN)
        if bits is not None and (counts is not None or df > often):
            held[term] = Held(holders(bits), counts if counts and df <= often else {})
        else:
            rest[term] = df
    if look.rare or rest:
        held |= _listed(tx, query, look, rest, numbers, often)
    return held


def _listed(
    tx: Reading, query: Query, look: Look, rest: Mapping[str, int], numbers: Sequence[int], often: float
) -> dict[str, Held]:
    """The same by lists, where bits do not tell."""
    among = set(numbers)
    found = {term: [posting for posting in postings if posting[0] in among] for term, postings in look.rare.items()}
    if pairs := [term for term in rest if term in look.literal]:
        found |= _read(tx, query, pairs, numbers)
    found |= tx.postings(query, [term for term, df in rest.items() if df <= often and term not in found], numbers)
    found |= tx.postings(query, [term for term in rest if term not in found], numbers, counted=False)
    return {
        term: Held([its[0] for its in postings], {its[0]: its[1:] for its in postings}) for term, postings in found.items()
    }


def _read(tx: Reading, query: Query, pairs: Sequence[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
    """Terms that stand in a text as they are, counted in it: for some twenty of them a tenth of asking the index."""
    texts = tx.texts(numbers)
    short = [each for each in texts if each.content is not None]
    who = [each.number for each in short]
    contents = text.plain(each.content or "" for each in short)
    titles = [each.topic for each in short], [each.tags for each in short]
    titled = not all(map(str.isascii, chain(*titles)))
    topics, tags = (text.plain(its) if titled else its for its in titles)
    found: dict[str, list[Posting]] = {}
    for term in pairs:
        counts = map(str.count, contents, repeat(term))
        if titled:
            above, beside = map(str.count, topics, repeat(term)), map(str.count, tags, repeat(term))
            found[term] = [posting for posting in zip(who, above, beside, counts, strict=True) if any(posting[1:])]
        else:
            found[term] = [(number, 0, 0, count) for number, count in zip(who, counts, strict=True) if count]
    if long := [each.number for each in texts if each.content is None]:
        for term, postings in tx.postings(query, pairs, long).items():
            found[term] += postings
    return found


def _ordered(tx: Reading, query: Query, scores: Mapping[int, float], at: datetime) -> list[int]:
    """The best by score and nudge, the nearest first on a tie."""
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    best = _nudged(tx, query, ranked[: query.limit], scores, at)
    reached = -max(best)[0] / rank.MOST
    best += _nudged(tx, query, [number for number in ranked[query.limit :] if scores[number] >= reached], scores, at)
    return [-number for _, _, number in sorted(best)[: query.limit]]


def _nudged(
    tx: Reading, query: Query, numbers: Sequence[int], scores: Mapping[int, float], at: datetime
) -> list[tuple[float, int, int]]:
    """What memories are ordered by: the smallest first."""
    path, name = query.scope.path, query.scope.name
    places = []
    for number, everywhere, session, confidence, relevance, reference_count, days in tx.outlines(numbers, at):
        nudged = scores[number] * rank.nudge(confidence, relevance, reference_count, days)
        distance = 3 if everywhere and path else (session != name) + bool(session)
        places.append((-nudged, distance, -number))
    return places


class _Why:
    """Which words of the question stand where in a memory, in the order of the question, and what else spoke for it."""

    def __init__(self, text: str, asked: Iterable[str], held: Mapping[str, Held], told: Callable[[int], list[str]]):
        self._text, self._asked, self._held, self._told = text, asked, held, told

    def __call__(self, number: int) -> str:
        held = ((term, self._held[term]) for term in self._asked if term in self._held)
        mine = {term: counts.get(number, _ONCE) for term, (numbers, counts) in held if number in numbers}
        spelling = text.spelling(self._text)
        fields = ((name, [term for term, its in mine.items() if its[place]]) for place, name in enumerate(_FIELDS))
        said = (f"{name}: {', '.join(text.spoken(terms, spelling))}" for name, terms in fields if terms)
        return " · ".join([*said, *self._told(number)])


def _browsed(tx: Reading, query: Query, at: datetime) -> Found:
    return Found([Hit(memory, 0.0, lambda: "newest first") for memory in freshest(tx, query, at)], tx.count(query, at))


def freshest(tx: Reading, query: Query, at: datetime) -> list[Memory]:
    """The newest and most used first: by day of the last change, then by how often it was remembered."""
    newest = list(islice(tx.browse(query, at), max(_BROWSED, query.limit)))
    newest.sort(key=lambda memory: (memory.updated_at.date(), memory.reference_count, memory.updated_at), reverse=True)
    return newest[: query.limit]
