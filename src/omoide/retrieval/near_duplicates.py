"""The near-duplicates of a memory: candidates by blocking key, compared by their words. Bounded in work.

The terms of its text are searched for in each candidate as they stand; making the terms of every candidate would take
ten times as long. Of many terms a part is searched for, evenly spread.
"""

from collections.abc import Sequence

from omoide.model import Memory
from omoide.retrieval import analyzer, blocking, constants
from omoide.storage.base import IndexEntry, NearDuplicateFilter, Reader

HEAD = 400
"""Characters of a long text that are compared from its beginning."""
TAIL = 200
"""Characters of a long text that are compared from its end."""
_MAX_TERMS = 32
"""Terms that are searched for in a candidate."""
_SHORTEST = 3
"""Characters of the shortest ASCII term that is searched for: a shorter one is a part of many words."""


def find(tx: Reader, memory: Memory, entry: IndexEntry) -> list[int]:
    """Return the other memories of the memory's own scope that say almost the same words, the closest first.

    `entry`: the index entry of the memory. Returns at most `MAX_DUPLICATES` numbers.
    """
    if not entry.key_terms:
        return []
    key, size = entry.blocking_key, len(memory.content.encode())
    wanted = NearDuplicateFilter(memory.scope, memory.number, size // 2, size * 2, HEAD, TAIL)
    most = constants.DUPLICATE_CANDIDATES
    ranges = [*blocking.ranges_beside(key), *blocking.other_ranges(key, entry.key_terms, memory.scope)]
    candidates = tx.near_duplicate_candidates(wanted, key, ranges, most)
    if not candidates:
        return []
    content = _excerpt(memory.content)
    is_whole = content == memory.content and not memory.examples
    terms = entry.content.split() if is_whole else analyzer.terms(content)
    found = select(candidates, content, terms)
    if len(found) == most:  # all of them: then those with the same key are read too, to be counted
        more = tx.near_duplicate_candidates(wanted, key, (), constants.MAX_DUPLICATES)
        found = select([*dict([*candidates, *more]).items()], content, terms)[: constants.MAX_DUPLICATES]
    return found


def _excerpt(content: str) -> str:
    """Return the part of a text that is compared."""
    return content if len(content) <= HEAD + TAIL else f"{content[:HEAD]} {content[-TAIL:]}"


def select(candidates: Sequence[tuple[int, str]], content: str, terms: Sequence[str]) -> list[int]:
    """Return the numbers of the near-duplicates of a text among candidates, the closest first, of equal ones the newest.

    `candidates`: the number and an excerpt of each. `content`: the excerpt of the text. `terms`: the terms of that excerpt.
    """
    sought = _literal_terms(terms)
    if not sought or not candidates:
        return []
    similar = []
    for (number, _), other in zip(candidates, analyzer.normalize_texts([other for _, other in candidates]), strict=True):
        share = sum(map(other.lower().__contains__, sought)) / len(sought)
        # Of the terms of both, estimated as if both were as rich in terms.
        similarity = share / (1 + len(other) / len(content) - share)
        if similarity >= constants.DUPLICATE_SIMILARITY:
            similar.append((similarity, number))
    return [number for _, number in sorted(similar, reverse=True)]


def _literal_terms(terms: Sequence[str]) -> list[str]:
    """Return terms as they stand in a text, some of them if there are many."""
    some = terms[:: -(-len(terms) // _MAX_TERMS) or 1]
    # A stem that ends in i may come from a word in y: happi is not in happy, but happ is.
    long = [term[:-1] if term[-1] == "i" else term for term in some if len(term) >= _SHORTEST or not term.isascii()]
    return long or list(some)
