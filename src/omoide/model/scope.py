"""Scopes, layers, roles and actors: where a memory belongs, and who acts."""

import unicodedata
from enum import StrEnum

import msgspec

from omoide.errors import InvalidInput


class Layer(StrEnum):
    """The kind of a scope."""

    EVERYWHERE = "global"
    PROJECT = "project"
    SESSION = "session"


class Role(StrEnum):
    """What an actor may do: see `guard.permissions`."""

    OWNER = "owner"
    ADMIN = "admin"
    WORKER = "worker"


class Scope(msgspec.Struct, frozen=True, gc=False):
    """Where a memory belongs: everywhere (the global layer), a project, or a session of a project.

    Make one with `everywhere()`, `project(path)` or `session(path, session)`, which check the names.
    """

    path: str = ""
    """The project's path, one to three segments; empty means everywhere."""
    name: str = ""
    """The session's name; empty means the project itself."""

    @classmethod
    def everywhere(cls) -> "Scope":
        """Return the scope of the global layer, which every project sees."""
        return cls()

    @classmethod
    def project(cls, path: str) -> "Scope":
        """Return the scope of a project; raise InvalidInput if its path is not valid."""
        return cls(check_project_path(path))

    @classmethod
    def session(cls, path: str, session: str) -> "Scope":
        """Return the scope of a session of a project; raise InvalidInput if a name is not valid."""
        return cls(check_project_path(path), check_segment(session, "session"))

    @property
    def layer(self) -> Layer:
        """The layer of this scope."""
        if self.name:
            return Layer.SESSION
        return Layer.PROJECT if self.path else Layer.EVERYWHERE

    @property
    def own_layers(self) -> tuple[Layer, ...]:
        """The layers of this scope without the wider ones that it sees: a project, and its sessions; or the global layer."""
        return (Layer.PROJECT, Layer.SESSION) if self.path else (Layer.EVERYWHERE,)

    def sees(self, other: "Scope") -> bool:
        """Return whether a reader in this scope sees the memories of another scope.

        A reader sees its own project with all sessions, and the global layer; a reader in the global layer sees only that.
        """
        return not other.path or other.path == self.path

    def __str__(self) -> str:
        if self.name:
            return f"session {self.name} of project {self.path}"
        return f"project {self.path}" if self.path else "the global layer"


class Actor(msgspec.Struct, frozen=True):
    """Who acts. Set by the interface, never by the text of a request."""

    name: str
    role: Role = Role.OWNER
    via: str = "python"


# Names that Windows reserves for devices: a project tree must fit on any disk.
_RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}

_SEGMENT_BYTES = 255


def check_segment(name: str, what: str) -> str:
    """Return a name of a project segment, session or key in NFC; raise InvalidInput if it is not valid.

    `what`: what the name is for (project, session or key), for the message.
    """
    name = unicodedata.normalize("NFC", name)
    if not name.strip():
        raise InvalidInput(f"the name of the {what} is empty: choose one")
    if name != name.strip() or name.startswith(".") or name.endswith("."):
        raise InvalidInput(f"{what} {name!r} begins or ends with white space or a dot: remove it")
    for character in name:
        if character in '/\\:*?"<>|' or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            raise InvalidInput(f"{what} {name!r} contains {character!r}: use letters, digits, spaces, - _ .")
    if len(name.encode()) > _SEGMENT_BYTES:
        raise InvalidInput(f"{what} {name[:20]!r}… is longer than {_SEGMENT_BYTES} bytes: choose a shorter name")
    if name.casefold().partition(".")[0] in _RESERVED:
        raise InvalidInput(f"{what} {name!r} is reserved by Windows: choose another name")
    return name


def check_project_path(path: str) -> str:
    """Return the path of a project in NFC; raise InvalidInput if a segment is not valid or there are more than three."""
    parts = path.split("/")
    if len(parts) > 3:
        raise InvalidInput(f"project {path!r} has {len(parts)} segments, at most 3: write it like backend/python/shop")
    return "/".join(check_segment(part, "project") for part in parts)
