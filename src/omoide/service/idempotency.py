"""Requests that must not be done twice: with the same key, the second one returns what the first one did.

The record is written in the transaction of the request: after a crash either both are there or neither.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from omoide.errors import AlreadyDone, InvalidInput, NotFound
from omoide.model import IdempotencyRecord, Memory, Project, Remembered, Scope, Session
from omoide.storage.base import Reader, Writer

KEPT = timedelta(days=1)
_MAX_KEY = 255

Result = Remembered | Memory | Project | Session | bool
"""What an operation with a key can return."""


class IdempotencyKey(NamedTuple):
    """The key of one request."""

    project: str
    key: str
    digest: str


def make_key(actor: str, scope: Scope, key: str, request: bytes) -> IdempotencyKey:
    """Return the key of a request by an actor; raise InvalidInput if the key is empty or too long.

    `request` is everything that makes it the same request.
    """
    if not key.strip() or len(key) > _MAX_KEY:
        raise InvalidInput(f"an idempotency key must have 1 to {_MAX_KEY} characters, got {len(key)}")
    return IdempotencyKey(scope.path, _hash(f"{actor}\0{key}".encode()), _hash(request))


def _hash(data: bytes) -> str:
    import hashlib  # lazy: start-up: 3 ms that only a request with a key needs

    return hashlib.sha256(data).hexdigest()


def require_new(tx: Reader, key: IdempotencyKey, at: datetime) -> None:
    """Raise AlreadyDone with its result for a request that was done, InvalidInput for another request with its key."""
    record = tx.idempotency_record(key.project, key.key)
    if record is None or record.at < at - KEPT:
        return
    if record.digest != key.digest:
        raise InvalidInput("this idempotency key was used for another request: choose a new one")
    raise AlreadyDone("the request with this idempotency key was done before", _restore(tx, record))


def record_result(tx: Writer, key: IdempotencyKey, result: Result, at: datetime) -> None:
    """Store what a request did, in its own transaction."""
    tx.put_idempotency_record(IdempotencyRecord(key.project, key.key, key.digest, _refer(result), at), drop_before=at - KEPT)


def _refer(result: Result) -> dict[str, str | int | bool]:
    """Return a result without its texts."""
    match result:
        case Remembered():
            return {**_refer(result.memory), "action": result.action}
        case Memory():
            return {"memory": result.number, "version": result.version, "references": result.reference_count}
        case Project():
            return {"project": result.number}
        case Session():
            return {"session": result.scope.name, "path": result.scope.path}
    return {"done": result}


def _restore(tx: Reader, record: IdempotencyRecord) -> Result:
    """Return the result as it was. Raises NotFound if what it refers to was purged."""
    result = msgspec.convert(record.result, _Reference)
    if result.memory is not None:
        versions = [each.memory for each in tx.versions(result.memory) if each.memory.version == result.version]
        if not versions:
            raise NotFound(f"the request was done, but memory {result.memory} was purged since")
        memory = msgspec.structs.replace(versions[0], reference_count=result.references)
        return memory if result.action is None else Remembered(memory, result.action)
    if result.project is not None:
        project = tx.project(number=result.project)
        if project is None:
            raise NotFound(f"the request was done, but project {result.project} is no more")
        return project
    if result.session is not None:
        scope = Scope(result.path, result.session)
        for session in tx.sessions(record.at, scope):
            return session
        raise NotFound(f"the request was done, but {scope} is no more")
    return result.done


class _Reference(msgspec.Struct):
    memory: int | None = None
    version: int = 0
    references: int = 0
    action: str | None = None
    project: int | None = None
    session: str | None = None
    path: str = ""
    done: bool = False
