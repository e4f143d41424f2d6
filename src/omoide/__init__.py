"""omoide (思い出): one memory for every agent a person runs.

    import omoide

    with omoide.open("memory.db") as memory:
        memory.remember("認証は JWT を採用", topic="API auth", scope=omoide.Scope.project("shop"))
        found = memory.recall("認証", scope=omoide.Scope.project("shop"))
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.app import open as open
    from omoide.errors import (
        Conflict as Conflict, InvalidInput as InvalidInput, NotAllowed as NotAllowed, NotFound as NotFound,
        OmoideError as OmoideError, SecretFound as SecretFound, StoreError as StoreError,
    )  # fmt: skip
    from omoide.model import (
        Actor as Actor, Draft as Draft, Event as Event, Found as Found, Hit as Hit, Layer as Layer,
        LinkKind as LinkKind, Memory as Memory, Query as Query, Remembered as Remembered, Role as Role, Scope as Scope,
        State as State,
    )  # fmt: skip

_HOMES = {
    "open": "omoide.app",
    **dict.fromkeys(
        ("Conflict", "InvalidInput", "NotAllowed", "NotFound", "OmoideError", "SecretFound", "StoreError"),
        "omoide.errors",
    ),
    **dict.fromkeys(
        ("Actor", "Draft", "Event", "Found", "Hit", "Layer", "LinkKind", "Memory", "Query", "Remembered", "Role",
         "Scope", "State"),
        "omoide.model",
    ),
}  # fmt: skip

__all__ = sorted(_HOMES)  # noqa: PLE0605 - a list of the names above
__version__ = "0.1.0"


# Loaded when first asked for: `omoide --help` runs through this file and needs none of it.
def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'omoide' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - see above

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value
