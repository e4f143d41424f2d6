"""The one table of role and deed that rules every way in."""

from omoide.errors import NotAllowed
from omoide.model import Actor, Role

_EVERYONE = frozenset(Role)
_TRUSTED = frozenset({Role.OWNER, Role.ADMIN})

DEEDS: dict[str, frozenset[Role]] = {
    "remember": _EVERYONE,
    "recall": _EVERYONE,
    "revise": _EVERYONE,
    "pin": _EVERYONE,
    "link": _EVERYONE,
    "archive": _TRUSTED,
    "restore": _TRUSTED,
    "forget": _TRUSTED,
    "promote": _TRUSTED,
    "import": _TRUSTED,
    "purge": frozenset({Role.OWNER}),
    "mend": frozenset({Role.OWNER}),
}


def require(actor: Actor, deed: str) -> None:
    allowed = DEEDS[deed]
    if actor.role not in allowed:
        roles = " or ".join(sorted(role.value for role in allowed))
        raise NotAllowed(f"{actor.name} is a {actor.role}, and only {roles} may {deed}: ask one of them")
