"""omoide (思い出): one memory for every agent a person runs.

import omoide

with omoide.open("memory.db") as memory:
    memory.remember("認証は JWT を採用", topic="API auth", scope=omoide.Scope.project("shop"))
    found = memory.recall("認証", scope=omoide.Scope.project("shop"))
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.app import open as open  # noqa: A004 - omoide.open, as in the README
    from omoide.errors import (
        Conflict as Conflict,
    )  # fmt: skip
    from omoide.errors import (
        InvalidInput as InvalidInput,
    )
    from omoide.errors import (
        NotAllowed as NotAllowed,
    )
    from omoide.errors import (
        NotFound as NotFound,
    )
    from omoide.errors import (
        OmoideError as OmoideError,
    )
    from omoide.errors import (
        SecretFound as SecretFound,
    )
    from omoide.errors import (
        StoreError as StoreError,
    )
    from omoide.model import (
        Actor as Actor,
    )  # fmt: skip
    from omoide.model import (
        Draft as Draft,
    )
    from omoide.model import (
        Event as Event,
    )
    from omoide.model import (
        Found as Found,
    )
    from omoide.model import (
        Hit as Hit,
    )
    from omoide.model import (
        Layer as Layer,
    )
    from omoide.model import (
        LinkKind as LinkKind,
    )
    from omoide.model import (
        Memory as Memory,
    )
    from omoide.model import (
        Query as Query,
    )
    from omoide.model import (
        Remembered as Remembered,
    )
    from omoide.model import (
        Role as Role,
    )
    from omoide.model import (
        Scope as Scope,
    )
    from omoide.model import (
        State as State,
    )

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
