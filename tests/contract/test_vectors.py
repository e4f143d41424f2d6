"""Vectors follow their memories: moved with them, erased with them, dropped when a text changes."""

import pytest

from omoide.model import Query, Scope, State
from omoide.storage.base import StoredVector, VectorCounts

pytestmark = pytest.mark.needs("VectorIndex")
SHOP, BANK = Scope.project("shop"), Scope.project("bank")


def store_vectors(store, *memories, model="test", version=None, pieces=1):
    with store.write() as tx:
        number = tx.ensure_model(model, 64)
        made = [
            StoredVector(
                one.number, one.version if version is None else version, bytes([one.number] * 8), bytes([piece] * 64)
            )
            for one in memories
            for piece in range(pieces)
        ]
        return number, tx.put_vectors(number, made)


def find_near(store, scope, model, states=(State.ACTIVE,), after=0):
    """The numbers of those that a search in the scope would look at and still find."""
    query = Query(scope, "anything", states=states)
    with store.read() as tx:
        near = {sign.number for place in tx.areas(query) for sign in tx.sign_bits(model, place, after)}
        return near & {number for number, _ in tx.vectors(model, sorted(near))}


def test_a_vector_belongs_to_the_area_of_its_memory(store, samples):
    mine, theirs, everybodys = (samples.add("zebra", scope) for scope in (SHOP, BANK, Scope.everywhere()))
    model, kept = store_vectors(store, mine, theirs, everybodys)
    assert kept == 3
    assert find_near(store, SHOP, model) == {mine.number, everybodys.number}
    assert find_near(store, BANK, model) == {theirs.number, everybodys.number}


def test_a_vector_follows_its_memory_through_moves_and_restores(store, samples):
    memory = samples.add("zebra", SHOP)
    model, _ = store_vectors(store, memory, pieces=2)
    archived = samples.change(memory, state=State.ARCHIVED)
    assert find_near(store, SHOP, model) == set()
    assert find_near(store, SHOP, model, states=(State.ARCHIVED,)) == {memory.number}
    inactive = samples.change(archived, state=State.INACTIVE)
    assert find_near(store, SHOP, model, states=(State.INACTIVE,)) == {memory.number}
    forgotten = samples.change(inactive, state=State.FORGOTTEN)
    assert find_near(store, SHOP, model, states=tuple(State)) == set()
    restored = samples.change(forgotten, state=State.ACTIVE)
    assert find_near(store, SHOP, model) == {memory.number}
    with store.read() as tx:
        assert len(tx.vectors(model, [memory.number])) == 2
    samples.change(restored, scope=Scope.everywhere())
    assert find_near(store, BANK, model) == {memory.number}


def test_a_revised_memory_has_no_vector_until_it_is_embedded(store, samples):
    memory = samples.add("zebra", SHOP)
    model, _ = store_vectors(store, memory)
    pinned = samples.change(memory, pinned=True)
    assert find_near(store, SHOP, model) == {memory.number}
    samples.change(pinned, content="okapi")
    assert find_near(store, SHOP, model) == set()
    with store.read() as tx:
        assert [one.number for one in tx.without_vector(model, 0, 10)] == [memory.number]
        assert tx.coverage(model) == VectorCounts(0, 1)


def test_memories_without_vector_are_listed_for_all_or_some(store, samples):
    kept = [samples.add(text, SHOP) for text in "abcdef"]
    model, _ = store_vectors(store, kept[1])
    samples.change(kept[2], state=State.FORGOTTEN)
    numbers = [one.number for one in kept]

    def numbers_without_vector(*asked):
        with store.read() as tx:
            return [one.number for one in tx.without_vector(model, *asked)]

    assert numbers_without_vector(0, 10) == [numbers[n] for n in (0, 3, 4, 5)]
    assert numbers_without_vector(0, 10, []) == []
    assert numbers_without_vector(0, 10, [*numbers[:5], 999]) == [numbers[n] for n in (0, 3, 4)]
    assert numbers_without_vector(numbers[0], 1, numbers) == [numbers[3]]


def test_a_vector_of_an_older_version_is_not_stored(store, samples):
    memory = samples.add("zebra", SHOP)
    samples.change(memory, content="okapi")
    assert store_vectors(store, memory)[1] == 0


def test_an_erased_memory_leaves_no_vector(store, samples):
    memory = samples.add("zebra", SHOP)
    model, _ = store_vectors(store, memory)
    samples.erase(memory)
    with store.read() as tx:
        assert tx.vectors(model, [memory.number]) == []
        assert tx.coverage(model) == VectorCounts(0, 0)


def test_vectors_of_two_models_are_never_mixed(store, samples):
    one, other = samples.add("zebra", SHOP), samples.add("okapi", SHOP)
    first, _ = store_vectors(store, one, other)
    second, _ = store_vectors(store, other, model="another")
    assert find_near(store, SHOP, first) == {one.number, other.number}
    assert find_near(store, SHOP, second) == {other.number}
    with store.write() as tx:
        wider = tx.ensure_model("test", 128)
        assert wider != first
        assert tx.ensure_model("test", 128) == wider
        assert tx.model("test").number == wider


def test_an_empty_vector_is_neither_found_nor_missing(store, samples):
    memory = samples.add("zebra", SHOP)
    with store.write() as tx:
        model = tx.ensure_model("english", 64)
        assert tx.put_vectors(model, [StoredVector(memory.number, memory.version, b"", b"")]) == 1
    archived = samples.change(memory, state=State.ARCHIVED)
    restored = samples.change(archived, state=State.ACTIVE)
    assert find_near(store, SHOP, model) == set()
    with store.read() as tx:
        assert [tx.sign_bits(model, area, 0) for area in tx.areas(Query(SHOP, "anything"))] in ([], [[]], [[], []])
        assert tx.without_vector(model, 0, 10) == []
        assert tx.coverage(model) == VectorCounts(1, 0)
    assert samples.problems() == []
    samples.change(restored, content="okapi")
    with store.read() as tx:
        assert [one.number for one in tx.without_vector(model, 0, 10)] == [memory.number]
    assert samples.problems() == []


def test_vectors_of_all_other_models_can_be_dropped(store, samples):
    one, other = samples.add("zebra", SHOP), samples.add("okapi", SHOP)
    first, _ = store_vectors(store, one, other)
    second, _ = store_vectors(store, other, model="another")
    with store.write() as tx:
        tx.drop_vectors(keep=[second])
    assert (find_near(store, SHOP, first), find_near(store, SHOP, second)) == (set(), {other.number})
    assert samples.problems() == []
    with store.write() as tx:  # a number is never another model's later
        assert tx.ensure_model("third", 64) not in (first, second)


def test_vectors_of_another_process_are_read_incrementally(store, samples, backend):
    memory = samples.add("zebra", SHOP)
    model, _ = store_vectors(store, memory)
    other = backend.open()
    with other.read() as tx:
        (place,) = tx.areas(Query(SHOP, "zebra"))
        seen = tx.sign_bits(model, place, 0)[-1].seq
    later = samples.add("okapi", SHOP)
    store_vectors(store, later)
    with other.read() as tx:
        assert [sign.number for sign in tx.sign_bits(model, place, seen)] == [later.number]
    samples.change(samples.change(memory, state=State.ARCHIVED), state=State.ACTIVE)
    with other.read() as tx:
        assert [sign.number for sign in tx.sign_bits(model, place, seen)] == [later.number, memory.number]
