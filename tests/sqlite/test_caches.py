"""What a process caches of a SQLite store, and what it reads where there are too many memories to cache."""

import pytest

from contract.test_search import (
    bits,
    test_ranking_facts_carry_what_the_ranking_needs as test_ranking_facts_read_from_rows,
    test_ranking_facts_come_in_the_order_asked_for_and_without_what_expired as test_ranking_facts_read_in_order,
    test_ranking_facts_follow_changes_also_of_another_process as test_ranking_facts_read_after_changes,
)
from omoide.model import Query, Scope

SHOP = Scope.project("shop")
UNCACHED = (test_ranking_facts_read_from_rows, test_ranking_facts_read_in_order, test_ranking_facts_read_after_changes)


@pytest.fixture(autouse=True)
def without_cache(request, monkeypatch):
    """The tests of the contract above run once more, as if there were too many memories to cache."""
    if request.function in UNCACHED:
        monkeypatch.setattr("omoide.storage.sqlite.cache.HIGHEST_CACHED", 0)


def test_the_cache_keeps_recently_used_terms(samples, monkeypatch):
    monkeypatch.setattr("omoide.storage.sqlite.postings._MAX_BYTES", 2_000)
    kept = {f"w{n}": samples.add(f"w{n} gnu", SHOP).number for n in range(30)}
    for word, number in [*kept.items(), *kept.items()]:
        assert bits(samples, Query(SHOP), word).bits == 1 << number
        assert bits(samples, Query(SHOP), "gnu").frequency == 30
    samples.add("gnu w1", SHOP)
    assert (bits(samples, Query(SHOP), "gnu").frequency, bits(samples, Query(SHOP), "w1").frequency) == (31, 2)


def test_there_are_no_bitsets_for_high_numbers(samples):
    samples.add("gnu", SHOP, number=1_000_000)
    assert samples.ask(lambda tx: tx.posting_sets(Query(SHOP), {"gnu": 9}, 9)) is None
