"""The state of a memory: archive, restore, pin, promote; its history."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from omoide.interfaces.rest import values
from omoide.interfaces.rest.routes.memories import LIST, MEMORY, ONE, list_page
from omoide.interfaces.rest.routing import Answer, Call, NoQuery, route
from omoide.model import Memory, State

if TYPE_CHECKING:  # the service loads with the store, at the first request
    from omoide.service import Service

Function = TypeVar("Function", bound=Callable[..., Answer])


class VersionList(values.Output, frozen=True):
    """Every version of a memory, oldest first."""

    versions: list[values.MemoryAnswer]


def _state_route(path: str, operation: str) -> Callable[[Function], Function]:
    """Return a decorator for a route that changes a memory and answers it."""
    return route(
        "POST",
        f"{ONE}/{path}",
        operation,
        answer=values.MemoryAnswer,
        statuses=(409, 412),
        example=MEMORY,
        if_match=True,
        idempotent=True,
    )


def _change(call: Call[NoQuery, None], change: "Callable[[Service, int | None], Memory]") -> Answer:
    """Change the memory in the path; `change` gets the service and the version that If-Match requires."""
    version = call.if_version()
    return call.memory(call.once(call.scope, lambda service: change(service, version)))


@route(
    "GET",
    LIST.replace("memories", "archive"),
    "listArchive",
    query=values.ArchiveFilter,
    answer=values.MemoryList,
    example={"memories": [{**MEMORY, "state": "archived", "active": False}], "nextCursor": None},
)
def list_archive(call: Call[values.ArchiveFilter, None]) -> Answer:
    """List the archived memories of a project, last changed first."""
    return list_page(call, (State.ARCHIVED,), {})


@_state_route("archive", "archiveMemory")
def archive_memory(call: Call[NoQuery, None]) -> Answer:
    """Archive a memory: it is no longer listed or recalled."""
    return _change(call, lambda service, version: service.archive(call.memory_ref, scope=call.scope, if_version=version))


@_state_route("restore", "restoreMemory")
def restore_memory(call: Call[NoQuery, None]) -> Answer:
    """Make a deleted, archived or inactive memory active again."""
    return _change(call, lambda service, version: service.restore(call.memory_ref, scope=call.scope, if_version=version))


@_state_route("pin", "pinMemory")
def pin_memory(call: Call[NoQuery, None]) -> Answer:
    """Pin a memory: it is never retired, and comes first where a session is resumed."""
    return _change(call, lambda service, version: service.pin(call.memory_ref, scope=call.scope, if_version=version))


@_state_route("unpin", "unpinMemory")
def unpin_memory(call: Call[NoQuery, None]) -> Answer:
    """Unpin a memory."""
    return _change(call, lambda service, version: service.unpin(call.memory_ref, scope=call.scope, if_version=version))


@_state_route("promote", "promoteMemory")
def promote_memory(call: Call[NoQuery, None]) -> Answer:
    """Move a memory to the next wider layer: from a session to its project, from a project to the global layer."""
    return _change(call, lambda service, version: service.promote(call.memory_ref, scope=call.scope, if_version=version))


@route("GET", f"{ONE}/history", "listVersions", answer=VersionList, example={"versions": [MEMORY]})
def list_versions(call: Call[NoQuery, None]) -> Answer:
    """List every version of a memory, oldest first; the last one is the current one."""
    versions = call.service.history(call.memory_ref, scope=call.scope)
    return Answer(VersionList(versions=[values.memory(each.memory, call.project_id) for each in versions]))


@_state_route("history/{version}/restore", "restoreVersion")
def restore_version(call: Call[NoQuery, None]) -> Answer:
    """Make a past version the current one again, as a new version."""
    past = int(call.path["version"])
    return _change(
        call, lambda service, version: service.revert(call.memory_ref, past, scope=call.scope, if_version=version)
    )
