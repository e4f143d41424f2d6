"""The search for near-duplicates of a new memory: bounded reads by a few hashes, never the recall pipeline."""

from omoide.guard import validation
from omoide.model import Draft
from omoide.retrieval import analyzer, blocking, near_duplicates
from omoide.storage.base import IndexEntry, NearDuplicateFilter, Reader

COUNTED = 50
_FIRST = 5  # candidates: each is on a page of its own, and reading it takes longer than comparing it


def find(tx: Reader, draft: Draft, words: IndexEntry) -> list[int]:
    """The numbers of memories of the draft's own scope that say almost the same words, the closest first."""
    if not words.key_terms:
        return []
    scope = validation.scope_of(draft)
    own, (first, last) = words.blocking_key, blocking.family(words.blocking_key)
    family = [(own + 1, last), (first, own - 1)]
    wanted = NearDuplicateFilter(scope, *near_duplicates.sizes(draft.content), near_duplicates.HEAD, near_duplicates.TAIL)
    candidates = tx.near_duplicate_candidates(wanted, own, family, _FIRST)
    if len(candidates) < _FIRST:
        others = blocking.candidate_keys(words.key_terms, scope) - {(first, last)}
        candidates += tx.near_duplicate_candidates(wanted, 0, others, _FIRST - len(candidates))  # no text has kin 0
    if not candidates:
        return []
    content = near_duplicates.excerpt(draft.content)
    whole = content == draft.content and not draft.examples
    terms = words.content.split() if whole else analyzer.terms(content)
    found = near_duplicates.select(candidates, content, terms)
    if len(found) == _FIRST:  # all of them: so the others of the kin itself are read, to be counted
        more = tx.near_duplicate_candidates(wanted, own, (), COUNTED + 1)  # one may be the same memory, remembered again
        found = near_duplicates.select([*dict([*candidates, *more]).items()], content, terms)
    return found
