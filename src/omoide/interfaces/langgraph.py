"""A LangGraph store on a memory: what agents of LangGraph put is found by every other interface, and the other way round.

Needs the extra `langgraph`.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from omoide.model import Draft, Memory, Scope

if TYPE_CHECKING:  # for annotations
    from omoide.service import Service

_TAG = "langgraph"
_UNINDEXED = "langgraph-unindexed"
_PAGE = 500
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, other: value == other,
    "$ne": lambda value, other: value != other,
    "$gt": lambda value, other: float(value) > float(other),
    "$gte": lambda value, other: float(value) >= float(other),
    "$lt": lambda value, other: float(value) < float(other),
    "$lte": lambda value, other: float(value) <= float(other),
}


class _Place(msgspec.Struct, frozen=True):
    """Where an item is, kept with the memory: a key of LangGraph can be any text."""

    namespace: tuple[str, ...]
    key: str


class OmoideStore(BaseStore):
    """A `BaseStore` of LangGraph in one project of a memory.

    An item is a pinned memory of type `context`; its content is the value as JSON. A search with a query is omoide's: by
    words, and by meaning with the extra `semantic`. `index=False` keeps an item out of such searches; a list of fields in
    `index` makes no difference, because the whole value is indexed. Deleting forgets the memory, which is reversible.
    """

    def __init__(self, service: "Service", *, project: str = "langgraph"):
        """Store items through a service, as its actor, in this project."""
        self._service = service
        self._scope = Scope.project(project)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations; what is read is of the moment before the batch writes. All items that are put are stored, or none.

        Raise an `OmoideError`, such as SecretFound, for an item that cannot be stored.
        """
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            match op:
                case GetOp():
                    results.append(self._get(op))
                case SearchOp():
                    results.append(self._search(op))
                case ListNamespacesOp():
                    results.append(self._list_namespaces(op))
                case PutOp():
                    puts[op.namespace, op.key] = op
                    results.append(None)
                case _:
                    raise ValueError(f"there is no operation {type(op).__name__} in a LangGraph store")
        self._put(puts.values())
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations in a thread: see `batch`."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _get(self, op: GetOp) -> Item | None:
        found = self._service.by_key(_memory_key(op.namespace, op.key), scope=self._scope)
        items = [item for memory in found if (item := _item(memory)) is not None]
        return Item(**_fields(items[0])) if items else None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found = (item for item in self._candidates(op) if _passes(item.value, op.filter))
        wanted: list[SearchItem] = []
        for place, item in enumerate(found):
            if place >= op.offset + op.limit:
                break
            if place >= op.offset:
                wanted.append(item)
        return wanted

    def _candidates(self, op: SearchOp) -> Iterator[SearchItem]:
        tag = _prefix_tag(op.namespace_prefix)
        if not op.query:
            yield from (item for memory in self._memories(tag) if (item := _item(memory)) is not None)
            return
        limit = 10_000 if op.filter else op.offset + op.limit
        for hit in self._service.recall(op.query, scope=self._scope, tags=[tag], limit=limit).hits:
            item = _item(hit.memory, hit.score)
            if item is not None and _UNINDEXED not in hit.memory.tags:
                yield item

    def _memories(self, tag: str) -> Iterator[Memory]:
        """Yield the memories of a namespace and those below it, last changed first."""
        before = None
        while True:
            page = self._service.list(scope=self._scope, tags=[tag], limit=_PAGE, before=before, total=False).memories
            yield from page
            if len(page) < _PAGE:
                return
            before = (page[-1].updated_at, page[-1].number)

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        places = (_place(memory) for memory in self._memories(_prefix_tag(())))
        namespaces = {
            place.namespace[: op.max_depth]
            for place in places
            if place is not None and all(_matches(condition, place.namespace) for condition in op.match_conditions or ())
        }
        return sorted(namespaces)[op.offset : op.offset + op.limit]

    def _put(self, ops: Iterable[PutOp]) -> None:
        ops = list(ops)
        drafts = [_draft(op, op.value, self._scope) for op in ops if op.value is not None]
        if drafts:
            self._service.remember_many(drafts)
        for op in ops:
            if op.value is None:
                for memory in self._service.by_key(_memory_key(op.namespace, op.key), scope=self._scope):
                    if memory.scope == self._scope:
                        self._service.forget(memory.id, scope=self._scope)


def _draft(op: PutOp, value: Mapping[str, Any], scope: Scope) -> Draft:
    prefixes = [_prefix_tag(op.namespace[:length]) for length in range(len(op.namespace) + 1)]
    return Draft(
        msgspec.json.encode(value).decode(),
        scope=scope,
        type="context",
        tags=[*prefixes, *([_UNINDEXED] if op.index is False else [])],
        examples=[msgspec.json.encode(_Place(op.namespace, op.key)).decode()],
        key=_memory_key(op.namespace, op.key),
        pinned=True,  # retention never archives what a program has put
    )


def _memory_key(namespace: tuple[str, ...], key: str) -> str:
    return f"{_TAG}-{_digest(msgspec.json.encode([namespace, key]))}"


def _prefix_tag(namespace: tuple[str, ...]) -> str:
    """Return the tag of all items in a namespace or below it."""
    return f"{_TAG}-{_digest(msgspec.json.encode(namespace))}" if namespace else _TAG


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _place(memory: Memory) -> _Place | None:
    """Return where an item is; None for a memory that is no item of a LangGraph store."""
    if _TAG not in memory.tags or not memory.examples:
        return None
    try:
        return msgspec.json.decode(memory.examples[0], type=_Place)
    except msgspec.DecodeError:  # fallback: somebody tagged another memory so
        return None


def _item(memory: Memory, score: float | None = None) -> SearchItem | None:
    place = _place(memory)
    if place is None:
        return None
    try:
        value = msgspec.json.decode(memory.content, type=dict[str, Any])
    except msgspec.DecodeError:  # fallback: a person has rewritten it as plain text
        value = {"content": memory.content}
    return SearchItem(
        namespace=place.namespace,
        key=place.key,
        value=value,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        score=score,
    )


def _fields(item: SearchItem) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ("value", "key", "namespace", "created_at", "updated_at")}


def _passes(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(_compare(value.get(name), condition) for name, condition in (wanted or {}).items())


def _compare(value: Any, condition: Any) -> bool:
    """Return whether a value fulfils a condition: a value to equal, or a mapping that may have operators."""
    if not isinstance(condition, dict):
        return bool(value == condition)
    operators = {name: other for name, other in condition.items() if name.startswith("$")}
    if not operators:
        return isinstance(value, dict) and all(_compare(value.get(name), other) for name, other in condition.items())
    unknown = sorted(set(operators) - set(_OPERATORS))
    if unknown:
        raise ValueError(f"there is no operator {unknown[0]}: use {', '.join(_OPERATORS)}")
    return all(_OPERATORS[name](value, other) for name, other in operators.items())


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
