"""Requests that must not be done twice: with the same key, the second one returns what the first one did.

The record is written in the transaction of the request: after a crash either both are there or neither.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TypeVar, cast

import msgspec

from omoide.errors import AlreadyDone, InvalidInput, NotFound
from omoide.model import (
    ComposedPrompt,
    IdempotencyRecord,
    Link,
    Linked,
    LinkKind,
    Memory,
    Outcome,
    Project,
    Receipt,
    Remembered,
    Run,
    Scope,
    Session,
)
from omoide.storage.base import Reader, Writer

KEPT = timedelta(days=1)
_MAX_KEY = 255

Result = Remembered | Memory | Project | Session | Run | ComposedPrompt | Linked | bool
"""What an operation with a key can return."""
R = TypeVar("R", bound=Result)


class IdempotencyKey(msgspec.Struct, frozen=True):
    """The key of one request."""

    project: str
    key: str
    digest: str


def make_key(actor: str, scope: Scope, key: str, request: bytes) -> IdempotencyKey:
    """Return the key of a request; raise InvalidInput if the text `key` is empty or too long.

    `actor`: the name of the actor. `scope`: the project that the request is about. `request`: everything that makes it the
    same request.
    """
    if not key.strip() or len(key) > _MAX_KEY:
        raise InvalidInput(f"an idempotency key must have 1 to {_MAX_KEY} characters, got {len(key)}")
    return IdempotencyKey(scope.path, _hash(f"{actor}\0{key}".encode()), _hash(request))


def _hash(data: bytes) -> str:
    import hashlib  # lazy: start-up: 3 ms that only a request with a key needs

    return hashlib.sha256(data).hexdigest()


def require_new(tx: Reader, key: IdempotencyKey, at: datetime) -> None:
    """Raise AlreadyDone, with the first result, if the request of this key was done in the last day.

    Raises InvalidInput if another request had the same key, and NotFound if what the first result refers to was purged.
    """
    record = tx.idempotency_record(key.project, key.key)
    if record is None or record.at < at - KEPT:
        return
    if record.digest != key.digest:
        raise InvalidInput("this idempotency key was used for another request: choose a new one")
    raise AlreadyDone("the request with this idempotency key was done before", _restore(tx, record))


def record_result(tx: Writer, key: IdempotencyKey, result: Result, at: datetime) -> None:
    """Store what a request returns, in the transaction of the request."""
    record = IdempotencyRecord(key.project, key.key, key.digest, _refer(tx, result), at)
    tx.put_idempotency_record(record, drop_before=at - KEPT)


@contextmanager
def complete_result(with_texts: Callable[[R], R]) -> Iterator[None]:
    """Complete the result of an AlreadyDone that the block raises with texts, which its record does not hold.

    `with_texts`: returns the earlier result with the texts that are in the request.
    """
    try:
        yield
    except AlreadyDone as done:
        raise AlreadyDone(str(done), with_texts(cast("R", done.result))) from None


def _refer(tx: Reader, result: Result) -> dict[str, str | int | bool]:
    """Return a result without its texts."""
    match result:
        case Remembered():
            return {**_refer(tx, result.memory), "action": result.action}
        case Memory():
            return {"memory": result.number, "version": result.version, "references": result.reference_count}
        case Project():
            return {"project": result.number}
        case Session():
            return {"session": result.scope.name, "path": result.scope.path}
        case Run(outcome=Outcome() as outcome):
            return {"run": result.id, "outcome": _encode(msgspec.structs.replace(outcome, note=""))}
        case ComposedPrompt(run=None):
            return {"receipt": _encode(result.receipt)}
        case ComposedPrompt(run=Run() as run):
            return {"receipt": _encode(result.receipt), "run": run.id}
        case Linked(link=Link(kind=kind, created_at=at)):
            source, target = tx.memories([result.link.source, result.link.target])
            kind_of_link = {"link": kind.value, "linked_at": at.isoformat(), "done": result.is_new}
            return {"memory": source.number, "target": target.number, **kind_of_link}
        case bool():
            return {"done": result}
    raise TypeError(f"an idempotency record cannot refer to {type(result).__name__}")


def _encode(value: Outcome | Receipt) -> str:
    return msgspec.json.encode(value).decode()


def _restore(tx: Reader, record: IdempotencyRecord) -> Result:
    """Return the result as it was, without texts that are no memory's. Raises NotFound if what it refers to was purged."""
    result = msgspec.convert(record.result, _Reference)
    if result.receipt is not None or result.outcome is not None:
        return _restore_run(tx, record.project, result)
    if result.link is not None:
        return _restore_link(tx, result)
    if result.memory is not None:
        versions = [each.memory for each in tx.versions(result.memory) if each.memory.version == result.version]
        if not versions:
            raise NotFound(f"the request was done, but memory {result.memory} was purged since")
        memory = msgspec.structs.replace(versions[0], reference_count=result.references)
        return memory if result.action is None else Remembered(memory, result.action)
    if result.project is not None:
        project = tx.project(number=result.project)
        if project is None:
            raise NotFound(f"the request was done, but project {result.project} no longer exists")
        return project
    if result.session is not None:
        scope = Scope(result.path, result.session)
        for session in tx.sessions(record.at, scope):
            return msgspec.structs.replace(session, updated_at=session.created_at, memories=0)
        raise NotFound(f"the request was done, but {scope} no longer exists")
    return result.done


def _restore_run(tx: Reader, project: str, result: "_Reference") -> Run | ComposedPrompt:
    """Return a run with its outcome, or a prompt whose text the caller renders again."""
    run = None if result.run is None else tx.run(Scope(project), result.run)
    if run is None and result.run is not None:
        raise NotFound(f"the request was done, but run {result.run} no longer exists")
    if result.receipt is None:
        outcome = msgspec.json.decode(result.outcome or "", type=Outcome)
        return msgspec.structs.replace(cast("Run", run), outcome=outcome)
    receipt = msgspec.json.decode(result.receipt, type=Receipt)
    return ComposedPrompt("", receipt, run=None if run is None else msgspec.structs.replace(run, outcome=None, tick=0))


def _restore_link(tx: Reader, result: "_Reference") -> Linked:
    """Return a link as it was made, whether or not it was removed since."""
    match tx.memories([result.memory or 0, result.target]):
        case [source, target]:
            link = Link(source.id, LinkKind(result.link or ""), target.id, datetime.fromisoformat(result.linked_at))
            return Linked(link, result.done)
    raise NotFound("the request was done, but a memory of the link was purged since")


class _Reference(msgspec.Struct):
    memory: int | None = None
    target: int = 0
    link: str | None = None
    linked_at: str = ""
    version: int = 0
    references: int = 0
    action: str | None = None
    project: int | None = None
    session: str | None = None
    path: str = ""
    run: str | None = None
    outcome: str | None = None
    receipt: str | None = None
    done: bool = False
