"""How a question finds memories: terms, the postings of the telling ones, a rough order, then the exact one.

Bounds, so that common words never make it linear: a term is counted up to COUNTED memories, at most SCANNED postings are
read, rarest term first, and RANKED memories are scored exactly. A term that no longer fits into SCANNED still counts for
the memories that hold a rarer one.
"""

import zlib
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from omoide.model import Draft, Found, Hit, Memory, Query, Scope
from omoide.search import order as rank
from omoide.search import text
from omoide.store.base import Outline, Posting, Reading, Words

COUNTED = 20_000
SCANNED = 12_000
RANKED = 200

_BROWSED = 500
_ALIKE = 0.6
_DAY = 86_400


def found(tx: Reading, query: Query, at: datetime) -> Found:
    if not query.text.strip():
        return _browsed(tx, query, at)
    asked = text.asked(query.text)
    entries, length = tx.sizes(query)
    if not asked or not entries:
        return Found([], 0)
    frequencies = {term: tx.frequency(query, term, COUNTED) for term in asked}
    terms = rank.telling(asked, frequencies, entries)
    postings = _postings(tx, query, terms)
    absent = sum(rank.idf(0, entries) * weight for term, weight in asked.items() if not frequencies[term])
    rough = rank.scores(terms, absent, postings, entries, 1.0)
    best = sorted(rough, key=lambda number: (-rough[number], -number))
    outlines = _outlines(tx, query, best, at)
    lengths = {outline.number: outline.length for outline in outlines}
    exact = rank.scores(terms, absent, postings, entries, length / entries, lengths)
    ordered = sorted(outlines, key=lambda outline: _place(outline, exact, query.scope, at))
    top = [outline.number for outline in ordered[: query.limit]]
    hits = [
        Hit(memory, round(exact[memory.number], 4), _why(memory, terms, postings)) for memory in tx.memories(top)
    ]
    return Found(hits, len(outlines) if len(best) <= RANKED else len(best))


def _place(outline: Outline, exact: dict[int, float], reader: Scope, at: datetime) -> tuple[float, int, int]:
    age = (at - outline.updated_at).total_seconds() / _DAY
    nudge = rank.nudge(outline.confidence, outline.relevance, outline.reference_count, age)
    return (-exact[outline.number] * nudge, reader.distance(outline.scope), -outline.number)


def _postings(tx: Reading, query: Query, terms: Sequence[rank.Term]) -> list[Sequence[Posting]]:
    """Who holds each term, rarest term first, until the budget is used up."""
    read = 0
    lists: list[Sequence[Posting]] = []
    scanned: list[str] = []
    for term in terms:
        if not scanned or read + term.df <= SCANNED:
            lists.append(tx.postings(query, term.text, SCANNED))
            scanned.append(term.text)
            read += len(lists[-1])
        else:
            lists.append(tx.postings(query, term.text, SCANNED, among=scanned))
    return lists


def _outlines(tx: Reading, query: Query, best: Sequence[int], at: datetime) -> list[Outline]:
    """The first RANKED of these that the filters let through."""
    kept: list[Outline] = []
    for start in range(0, len(best), RANKED):
        kept += tx.outlines(query, best[start : start + RANKED], at)
        if len(kept) >= max(RANKED, query.limit):
            break
    return kept


def _why(memory: Memory, terms: Sequence[rank.Term], postings: Sequence[Sequence[Posting]]) -> str:
    """Which words of the question stand where."""
    fields: dict[str, list[str]] = {"topic": [], "tags": [], "content": []}
    for term, rows in zip(terms, postings, strict=True):
        for number, topic, tags, content in rows:
            if number == memory.number:
                for name, times in (("topic", topic), ("tags", tags), ("content", content)):
                    if times:
                        fields[name].append(term.text)
                break
    return " · ".join(f"{name}: {', '.join(words)}" for name, words in fields.items() if words)


def _browsed(tx: Reading, query: Query, at: datetime) -> Found:
    """The newest and most used first: by day of the last change, then by how often it was remembered."""
    newest = list(islice(tx.browse(query, at), max(_BROWSED, query.limit)))
    newest.sort(key=lambda memory: (memory.updated_at.date(), memory.reference_count, memory.updated_at), reverse=True)
    return Found([Hit(memory, 0.0, "newest first") for memory in newest[: query.limit]], tx.count(query, at))


def similar(tx: Reading, draft: Draft, words: Words) -> set[int]:
    """Memories of the same scope that say almost the same words.

    Found by a few long terms, chosen so that two texts alike choose alike; then compared term by term.
    """
    assert draft.scope is not None
    mine = set(words.content.split())
    sample = sorted(mine, key=lambda term: (-len(term), zlib.crc32(term.encode())))[:9]
    query = Query(draft.scope)
    candidates = tx.holding(query, [sample[0:3], sample[3:6], sample[6:9]], 20)
    alike = set()
    for memory in tx.memories(candidates):
        its = set(text.terms(memory.content))
        if memory.scope == draft.scope and len(mine & its) >= _ALIKE * len(mine | its):
            alike.add(memory.number)
    return alike
