"""Scopes, roles and actors: where a memory belongs, and who acts."""

import unicodedata
from enum import StrEnum

import msgspec

from omoide.errors import InvalidInput


class Layer(StrEnum):
    EVERYWHERE = "global"
    PROJECT = "project"
    SESSION = "session"


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    WORKER = "worker"


class Scope(msgspec.Struct, frozen=True, gc=False):
    """Where a memory belongs: everywhere, a project, or a session of a project.

    Make one with `everywhere()`, `project(path)` or `session(path, session)`, which check the names.
    """

    path: str = ""
    """The project's path, one to three segments; empty means everywhere."""
    name: str = ""
    """The session's name; empty means the project itself."""

    @classmethod
    def everywhere(cls) -> "Scope":
        return cls()

    @classmethod
    def project(cls, path: str) -> "Scope":
        return cls(check_project_path(path))

    @classmethod
    def session(cls, path: str, session: str) -> "Scope":
        return cls(check_project_path(path), check_segment(session, "session"))

    @property
    def layer(self) -> Layer:
        if self.name:
            return Layer.SESSION
        return Layer.PROJECT if self.path else Layer.EVERYWHERE

    def sees(self, other: "Scope") -> bool:
        """A reader sees its project, all sessions of it and the global layer; never another project."""
        return not other.path or other.path == self.path

    def distance(self, other: "Scope") -> int:
        """How far a memory is from its reader: the smaller, the nearer; breaks ties in a ranking."""
        if other == self:
            return 0
        if not other.path:
            return 3
        return 2 if other.name else 1

    def __str__(self) -> str:
        if self.name:
            return f"session {self.name} of project {self.path}"
        return f"project {self.path}" if self.path else "the global layer"


class Actor(msgspec.Struct, frozen=True):
    """Who acts. Set by the way in, never by the text of a request."""

    name: str
    role: Role = Role.OWNER
    via: str = "python"


# Names Windows keeps for devices: a project tree must be able to live on any disk.
_RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}

_SEGMENT_BYTES = 255


def check_segment(name: str, what: str) -> str:
    """A checked name of a project segment or a session, in NFC."""
    name = unicodedata.normalize("NFC", name)
    if not name.strip():
        raise InvalidInput(f"a {what} needs a name: it is empty")
    if name != name.strip() or name.startswith(".") or name.endswith("."):
        raise InvalidInput(f"{what} {name!r}: no white space at its ends, and no dot at its start or end, please")
    for character in name:
        if character in '/\\:*?"<>|' or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            raise InvalidInput(f"{what} {name!r} holds {character!r}: letters, digits, spaces, - _ . are fine")
    if len(name.encode()) > _SEGMENT_BYTES:
        raise InvalidInput(f"{what} {name[:20]!r}… is longer than {_SEGMENT_BYTES} bytes: choose a shorter name")
    if name.casefold().partition(".")[0] in _RESERVED:
        raise InvalidInput(f"{what} {name!r} is a reserved name: choose another")
    return name


def check_project_path(path: str) -> str:
    parts = path.split("/")
    if len(parts) > 3:
        raise InvalidInput(f"project {path!r} has {len(parts)} segments: one to three, like backend/python/shop")
    return "/".join(check_segment(part, "project") for part in parts)
