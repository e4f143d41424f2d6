"""The search for near-duplicates of a new memory: bounded reads by a few hashes, never the recall pipeline."""

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
    own, (first, last) = words.kin, kin.family(words.kin)
    family = [(own + 1, last), (first, own - 1)]
    others = kin.sought(words.telling, scope)
    others.discard((first, last))
    wanted = Candidates(scope, *near_duplicates.sizes(draft.content), near_duplicates.HEAD, near_duplicates.TAIL)
    candidates = tx.near_duplicate_candidates(wanted, own, [*family, *others], _FIRST)
    if not candidates:
        return near_duplicates.NONE
    near = near_duplicates.among(candidates, words.telling, lambda: _terms(draft, words))
    if near.total < _FIRST:
        return near
    # All of them are: so more are read, to be counted. One may be the same memory, remembered again.
    candidates = tx.near_duplicate_candidates(wanted, own, family, COUNTED + 1)
    return near_duplicates.among(candidates, words.telling, lambda: _terms(draft, words))


def _terms(draft: Draft, words: Words) -> list[str]:
    compared = near_duplicates.excerpt(draft.content)
    if compared == draft.content and not draft.examples:
        return words.content.split()
    return text.terms(compared)
