"""The one table of a memory's fields: what each holds, who may set it, and where it is written.

Validation, `revise`, file sync, merging, export and import, CSV, front matter, history, serialisation and SQL columns
derive from it, so that a new field is added here and is carried everywhere. The order is the one in which people and
files see the fields; the order of `Memory` is that of its constructor.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from omoide.errors import InvalidInput
from omoide.model.memory import Memory, State

Kind = Literal[
    "id",
    "count",
    "scope",
    "key",
    "type",
    "line",
    "run",
    "text",
    "tags",
    "texts",
    "share",
    "flag",
    "state",
    "moment",
    "actor",
]
"""What sort of value a field holds: `guard.validation` has a check for each kind, `transfer` a cell of CSV.

A line is a text without line ends, a run is the id or the number of a run, a text is kept byte for byte, a share is a number
from 0 to 1.
"""

Merge = Literal["own", "longest", "union", "mean", "sum", "highest", "lowest", "any", "latest"]
"""What a memory has in a field after near-duplicates were merged into it.

own: what it had. latest: the last expiry of them all, or none if one of them has none.
"""

REQUIRED: Any = msgspec.UNSET
"""The default of a field that has none."""


class Field(msgspec.Struct, frozen=True):
    """One field of a memory."""

    name: str
    kind: Kind
    default: Any = REQUIRED
    """The value where none is given; REQUIRED where the code that makes the memory decides."""
    optional: bool = False
    """None is a value: there is none. For the topic, one that is derived from the content."""
    draft: bool = False
    """A draft may give it."""
    updates: bool = False
    """Remembering the same again changes it, where the draft gives it."""
    revisable: bool = False
    """`revise` may set it."""
    entry: bool = False
    """The entry of a mirrored file shows it, and may set it."""
    placed: bool = False
    """The place of an entry (its file or directory) sets it."""
    stamped: bool = False
    """omoide writes it into the front matter of a file; nobody sets it there."""
    authored: bool = False
    """Part of what the memory says: the actor that changes it becomes the author."""
    logged: bool = True
    """The event of a change names it."""
    versioned: bool = True
    """Kept in past versions."""
    resolved: bool = False
    """Picking a side of a sync conflict takes it over, as it does every field of an entry."""
    merge: Merge = "own"
    """How a merge of near-duplicates fills it."""
    keys: tuple[str, ...] = ()
    """The keys of a record (JSON, CSV) that carry it; empty: its name."""
    shown: bool = True
    """In every record; False: only in those of an export."""

    @property
    def record_keys(self) -> tuple[str, ...]:
        """The keys of a record that carry this field."""
        return self.keys or (self.name,)


FIELDS = (
    Field("id", "id", stamped=True, versioned=False),
    Field("number", "count", default=0, versioned=False),
    # Resolving a conflict leaves a memory in the scope that it has now: it may have been promoted since.
    Field("scope", "scope", draft=True, placed=True),
    Field("key", "key", default=None, optional=True, draft=True, revisable=True, entry=True),
    Field("type", "type", draft=True, updates=True, revisable=True, entry=True, authored=True),
    Field("topic", "line", optional=True, draft=True, updates=True, revisable=True, entry=True, authored=True),
    Field("content", "text", draft=True, updates=True, revisable=True, entry=True, authored=True, merge="longest"),
    Field("tags", "tags", default=(), draft=True, updates=True, revisable=True, entry=True, authored=True, merge="union"),
    Field(
        "examples", "texts", default=(), draft=True, updates=True, revisable=True, entry=True, authored=True, merge="union"
    ),
    Field("source", "line", draft=True, updates=True, revisable=True, entry=True, authored=True),
    Field("author", "actor", default=None, optional=True, logged=False, resolved=True, keys=("by", "by_role")),
    Field("source_run_id", "run", default=None, optional=True, draft=True, updates=True, revisable=True),
    Field("confidence", "share", default=1.0, draft=True, updates=True, revisable=True, merge="mean"),
    Field("relevance", "share", default=0.5, draft=True, updates=True, revisable=True, entry=True, merge="highest"),
    Field("reference_count", "count", default=0, logged=False, versioned=False, merge="sum"),
    Field("pinned", "flag", default=False, draft=True, updates=True, entry=True, merge="any"),
    Field(
        "original_prompt",
        "text",
        default=None,
        optional=True,
        draft=True,
        updates=True,
        revisable=True,
        entry=True,
        authored=True,
    ),
    Field("state", "state", default=State.ACTIVE, placed=True, resolved=True),
    Field("created_at", "moment", draft=True, stamped=True, merge="lowest"),
    Field("updated_at", "moment", stamped=True, logged=False),
    Field("last_accessed_at", "moment", default=None, optional=True, logged=False, versioned=False),
    Field("expires_at", "moment", default=None, optional=True, draft=True, updates=True, revisable=True, merge="latest"),
    Field("version", "count", default=1, logged=False, versioned=False),
    # False where omoide derived the topic. It follows from the topic, so nobody sets it.
    Field("topic_given", "flag", resolved=True, shown=False),
)

_BY_NAME = {field.name: field for field in FIELDS}


def get(name: str) -> Field:
    """Return the field of this name; raise InvalidInput if there is none."""
    field = _BY_NAME.get(name)
    if field is None:
        raise InvalidInput(f"there is no field {name!r}: the fields are {', '.join(_BY_NAME)}")
    return field


def names(wanted: Callable[[Field], bool]) -> tuple[str, ...]:
    """Return the names of the fields that `wanted` accepts, in the order of the table."""
    return tuple(field.name for field in FIELDS if wanted(field))


NAMES = tuple(_BY_NAME)
DRAFT = names(lambda field: field.draft)
UPDATES = names(lambda field: field.updates)
REVISABLE = names(lambda field: field.revisable)
ENTRY = names(lambda field: field.entry)
FROM_FILES = names(lambda field: field.entry or field.placed)
STAMPED = names(lambda field: field.stamped)
FRONT_MATTER = names(lambda field: field.stamped or (field.entry and field.name != "content"))
"""The content is no part of it: it stands below."""
AUTHORED = names(lambda field: field.authored)
LOGGED = frozenset(names(lambda field: field.logged))
UNVERSIONED = names(lambda field: not field.versioned)
RESOLVED = names(lambda field: field.entry or field.resolved)
DEFAULTS = {field.name: field.default for field in FIELDS if field.default is not REQUIRED}
_COMPARED = names(
    lambda field: field.versioned and field.logged and field.shown and field.name not in ("content", "created_at")
)
"""The fields that `changed` compares besides the content. When a memory was created does not change."""


def changed(old: Memory, new: Memory) -> list[str]:
    """Return the names of the fields that differ for a person between two versions of a memory, the content first.

    A topic that is derived does not count: it follows from the content.
    """
    differing = [name for name in ("content", *_COMPARED) if getattr(old, name) != getattr(new, name)]
    return differing if old.topic_given or new.topic_given else [name for name in differing if name != "topic"]
