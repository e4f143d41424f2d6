"""The search for near-duplicates of a new memory: bounded reads by a few hashes, never the recall pipeline."""

from collections.abc import Collection

from omoide.guard import checks
from omoide.model import Draft
from omoide.search import kin, near_duplicates, text
from omoide.search.near_duplicates import NearDuplicates
from omoide.store.base import Reading, Words
from omoide.store.rows import Candidates

COUNTED = 50
_FIRST = 6  # candidates: each is on a page of its own, and reading it takes as long as comparing it


def find(tx: Reading, draft: Draft, words: Words) -> NearDuplicates:
    """The memories of the draft's own scope that say almost the same words."""
    if not words.telling:
        return near_duplicates.NONE
    scope = checks.placed(draft)
    wanted = Candidates(scope, *near_duplicates.sizes(draft.content), near_duplicates.HEAD, near_duplicates.TAIL)
    own, (first, last) = words.kin, kin.family(words.kin)
    family = [(own + 1, last), (first, own - 1)]

    def found(by: int | None, families: Collection[tuple[int, int]], most: int) -> NearDuplicates:
        candidates = tx.near_duplicate_candidates(wanted, by, families, most)
        return near_duplicates.among(candidates, words.telling, lambda: _terms(draft, words))

    near = found(own, family, _FIRST)
    if not near.total:
        others = kin.sought(words.telling, scope) - {(first, last)}
        return found(None, others, _FIRST) if others else near
    if near.total == _FIRST:  # all of them: so more are read, to be counted; one may be the same memory, remembered again
        return found(own, family, COUNTED + 1)
    return near


def _terms(draft: Draft, words: Words) -> list[str]:
    compared = near_duplicates.excerpt(draft.content)
    if compared == draft.content and not draft.examples:
        return words.content.split()
    return text.terms(compared)
