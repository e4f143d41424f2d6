"""Every field of a memory over REST, at a value that is not its default: answered, given and changed."""

import json
from pathlib import Path
from typing import Any

import msgspec

import omoide
from journey.http.conftest import needs_server
from journey.test_fields import FULL, OTHER, RECORD
from omoide import Scope
from omoide.interfaces.rest import values
from omoide.model import Draft, fields

pytestmark = needs_server
KEYS = {"id": ("uuid",), "number": ("id",), "scope": ("projectId", "session"), "author": ("author", "authorRole")}
"""The keys of fields that a client of REST knows by another name, or that take two."""


def keys(field: fields.Field) -> tuple[str, ...]:
    return KEYS.get(field.name) or (values.field_key(field.name),)


def body(names: set[str]) -> dict[str, Any]:
    """What gives OTHER's values of these fields."""
    given = json.loads(msgspec.json.encode({name: OTHER[name] for name in names}))
    return {values.field_key(name): value for name, value in given.items()}


def scope_of(server: Any, project: str) -> Scope:
    return Scope.project(server.request("GET", project.removesuffix("/memories")).data["path"])


def test_an_answer_has_every_field_that_is_shown(server: Any, project: str, place_of_server: Path) -> None:
    scope = scope_of(server, project)
    with omoide.open(place_of_server / "memory.db") as memory:
        memory.import_memories([msgspec.structs.replace(FULL, scope=Scope.session(scope.path, "monday"))])
        number = memory.show(FULL.id, scope=scope).number
    answer = server.request("GET", f"{project}/{number}").data
    # Not when it was last accessed: each answer would change that, and with it the ETag.
    shown = [field for field in fields.FIELDS if field.shown and field.name != "last_accessed_at"]
    assert set(answer) == {"active", *(key for field in shown for key in keys(field))}
    record = {**json.loads(msgspec.json.encode(RECORD)), "number": number}
    for field in shown:
        if field.name != "scope":
            assert [answer[key] for key in keys(field)] == [record[key] for key in field.record_keys], field.name
    assert (answer["projectId"], answer["session"]) == (int(project.split("/")[3]), "monday")


def test_a_new_memory_takes_every_field_of_a_draft(server: Any, project: str, place_of_server: Path) -> None:
    given = set(fields.DRAFT) - {"scope", "created_at", "pinned"}  # the date is that of the request
    done = server.request("POST", project, {**body(given), "pinned": True, "session": "monday"})
    assert done.status == 201, done.text
    scope = scope_of(server, project)
    with omoide.open(place_of_server / "memory.db") as memory:
        kept = memory.show(done.data["id"], scope=scope)
    assert {name: getattr(kept, name) for name in given} == {name: OTHER[name] for name in given}
    assert (kept.scope, kept.pinned) == (Scope.session(scope.path, "monday"), True)


def test_a_patch_changes_every_field_that_may_be_revised(server: Any, project: str, place_of_server: Path) -> None:
    scope = scope_of(server, project)
    draft = {name: getattr(FULL, name) for name in fields.DRAFT}
    with omoide.open(place_of_server / "memory.db") as memory:
        number = memory.remember(Draft(**{**draft, "scope": scope})).memory.number
    done = server.request("PATCH", f"{project}/{number}", body(set(fields.REVISABLE)))
    assert done.status == 200, done.text
    with omoide.open(place_of_server / "memory.db") as memory:
        changed = memory.show(number, scope=scope)
    assert {name: getattr(changed, name) for name in fields.REVISABLE} == {name: OTHER[name] for name in fields.REVISABLE}
