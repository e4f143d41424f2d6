"""omoide (思い出): one memory for every agent a person runs.

import omoide

with omoide.open("memory.db") as memory:
    memory.remember("認証は JWT を採用", topic="API auth", scope=omoide.Scope.project("shop"))
    result = memory.recall("認証", scope=omoide.Scope.project("shop"))
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.app import open as open  # noqa: A004 - omoide.open, as in the README
    from omoide.errors import (
        Conflict as Conflict,
        InvalidInput as InvalidInput,
        NotAllowed as NotAllowed,
        NotFound as NotFound,
        OmoideError as OmoideError,
        SecretFound as SecretFound,
        StoreError as StoreError,
    )
    from omoide.model import (
        Actor as Actor,
        Draft as Draft,
        Event as Event,
        Hit as Hit,
        Layer as Layer,
        LinkKind as LinkKind,
        Memory as Memory,
        Query as Query,
        Remembered as Remembered,
        Role as Role,
        Scope as Scope,
        SearchResult as SearchResult,
        State as State,
    )

_ERRORS = ("Conflict", "InvalidInput", "NotAllowed", "NotFound", "OmoideError", "SecretFound", "StoreError")
_MODEL = (
    *("Actor", "Draft", "Event", "Hit", "Layer", "LinkKind", "Memory", "Query", "Remembered", "Role", "Scope"),
    *("SearchResult", "State"),
)
_HOMES = {"open": "omoide.app", **dict.fromkeys(_ERRORS, "omoide.errors"), **dict.fromkeys(_MODEL, "omoide.model")}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - a list of the names above
__version__ = "0.1.0"


# Loaded when first asked for: `omoide --help` runs through this file and needs none of it.
def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'omoide' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - see above

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value
