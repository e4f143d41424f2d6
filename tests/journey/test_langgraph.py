"""The LangGraph store: it does what LangGraph's own store in memory does, and is shared with every other interface."""

import asyncio
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import omoide
from omoide.errors import SecretFound
from omoide.model import Scope

pytestmark = pytest.mark.skipif(importlib.util.find_spec("langgraph") is None, reason="needs the extra `langgraph`")
USERS = ("users", "太郎")


@pytest.fixture
def store(memory: omoide.Service) -> Any:
    from omoide.interfaces.langgraph import OmoideStore

    return OmoideStore(memory, project="agents")


def test_an_item_is_put_got_changed_and_deleted(store: Any) -> None:
    store.put(USERS, "likes/お茶?", {"food": "抹茶", "score": 3, "nested": {"a": [1, None]}})
    item = store.get(USERS, "likes/お茶?")
    assert (item.namespace, item.key, item.value["food"], item.value["nested"]) == (
        USERS,
        "likes/お茶?",
        "抹茶",
        {"a": [1, None]},
    )
    store.put(USERS, "likes/お茶?", {"food": "煎茶"})
    changed = store.get(USERS, "likes/お茶?")
    assert (changed.value, changed.created_at) == ({"food": "煎茶"}, item.created_at)
    assert store.get(("users",), "likes/お茶?") is None
    store.delete(USERS, "likes/お茶?")
    assert store.get(USERS, "likes/お茶?") is None
    store.delete(USERS, "never there")


def test_a_search_by_words_finds_below_a_namespace_best_first(store: Any) -> None:
    store.put(USERS, "1", {"text": "認証は JWT を採用する"})
    store.put(USERS, "2", {"text": "pnpm installs packages"})
    store.put(("other",), "3", {"text": "JWT tokens expire"})
    store.put(USERS, "4", {"text": "JWT kept out of the index"}, index=False)
    found = store.search(("users",), query="JWT")
    assert [item.key for item in found] == ["1"]
    assert found[0].score > 0
    assert {item.key for item in store.search((), query="JWT")} == {"1", "3"}
    assert {item.key for item in store.search(USERS)} == {"1", "2", "4"}


def test_filters_compare_as_langgraph_documents(store: Any) -> None:
    for number in range(5):
        store.put(("n",), str(number), {"score": number, "even": number % 2 == 0})
    assert {item.key for item in store.search(("n",), filter={"score": {"$gte": 2, "$lt": 4}})} == {"2", "3"}
    assert {item.key for item in store.search(("n",), filter={"even": True, "score": {"$ne": 0}})} == {"2", "4"}
    assert len(store.search(("n",), limit=2, offset=4)) == 1
    with pytest.raises(ValueError, match="there is no operator"):
        store.search(("n",), filter={"score": {"$near": 1}})


def test_namespaces_are_listed_by_prefix_suffix_and_depth(store: Any) -> None:
    for namespace in (("a", "b", "c"), ("a", "b", "d", "e"), ("a", "c", "f"), ("x",)):
        store.put(namespace, "k", {"v": 1})
    assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [("a", "b", "c"), ("a", "b", "d")]
    assert store.list_namespaces(suffix=("f",)) == [("a", "c", "f")]
    assert store.list_namespaces(prefix=("a", "*", "c")) == [("a", "b", "c")]
    assert store.list_namespaces(limit=1, offset=1) == [("a", "b", "d", "e")]


def test_a_batch_and_the_async_methods(store: Any) -> None:
    from langgraph.store.base import GetOp, PutOp, SearchOp

    async def use() -> Any:
        await store.aput(USERS, "1", {"v": 1})
        ops = [
            GetOp(USERS, "1"),
            PutOp(USERS, "1", {"v": 2}),
            PutOp(USERS, "2", {"v": 3}),
            GetOp(USERS, "2"),
            SearchOp(USERS),
        ]
        return await store.abatch(ops), await store.aget(USERS, "1"), await store.asearch(USERS)

    results, item, found = asyncio.run(use())
    assert results[0].value == {"v": 1}
    assert results[1:4] == [None, None, None]
    assert [each.key for each in results[4]] == ["1"]
    assert item.value == {"v": 2}
    assert {each.key for each in found} == {"1", "2"}


def test_items_are_memories_of_every_other_interface_and_are_never_retired(store: Any, memory: omoide.Service) -> None:
    store.put(USERS, "1", {"text": "the build uses pnpm"})
    (hit,) = memory.recall("pnpm", scope=Scope.project("agents")).hits
    assert hit.memory.pinned
    assert memory.list(scope=Scope.project("shop")).memories == []
    with pytest.raises(SecretFound):
        store.put(USERS, "2", {"token": "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC3dE6"})
    memory.remember("somebody's own note", scope=Scope.project("agents"), tags=["langgraph"])
    assert [item.key for item in store.search(())] == ["1"]


labels = st.sampled_from(["a", "b", "ab", "太郎", "*x"])
namespaces = st.lists(labels, min_size=1, max_size=3).map(tuple)
values = st.dictionaries(
    st.sampled_from(["x", "y"]), st.one_of(st.integers(-5, 5), st.text("abcあ", max_size=4)), max_size=2
)
operations = st.one_of(
    st.tuples(st.just("put"), namespaces, st.sampled_from("kl"), values),
    st.tuples(st.just("delete"), namespaces, st.sampled_from("kl")),
    st.tuples(st.just("get"), namespaces, st.sampled_from("kl")),
    st.tuples(st.just("search"), namespaces),
    st.tuples(st.just("list"), namespaces, st.integers(1, 3)),
)


@settings(max_examples=20)
@given(st.lists(operations, max_size=12))
def test_it_does_what_langgraphs_own_store_does(tmp_path_factory: pytest.TempPathFactory, steps: list[Any]) -> None:
    from langgraph.store.memory import InMemoryStore

    from omoide.interfaces.langgraph import OmoideStore

    path = Path(tmp_path_factory.mktemp("langgraph")) / "memory.db"
    with omoide.open(path) as memory:
        ours, theirs = OmoideStore(memory), InMemoryStore()
        for name, *arguments in steps:
            answers = [_answer(store, name, arguments) for store in (ours, theirs)]
            assert answers[0] == answers[1], (name, arguments)


def _answer(store: Any, name: str, arguments: list[Any]) -> Any:
    match name:
        case "search":
            found = store.search(arguments[0], limit=100)
            return sorted((item.namespace, item.key, sorted(item.value.items())) for item in found)
        case "list":
            listed = store.list_namespaces(prefix=arguments[0][:1], max_depth=arguments[1])
            return [each for each in listed if store.search(each, limit=1)]  # the one in memory lists empty ones too
        case "get":
            item = store.get(*arguments)
            return None if item is None else (item.namespace, item.key, item.value)
    return getattr(store, name)(*arguments)
