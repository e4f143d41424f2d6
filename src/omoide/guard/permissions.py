"""The one table of verb and role that rules every way in: global layer, project and session alike."""

from omoide.errors import NotAllowed
from omoide.guard import bounds
from omoide.model import Actor, Layer, Role, Scope

_EVERYONE = frozenset(Role)
_TRUSTED = frozenset({Role.OWNER, Role.ADMIN})
_OWNER = frozenset({Role.OWNER})

PERMISSIONS: dict[str, frozenset[Role]] = {
    # keep and find, in what the scope sees
    "remember": _EVERYONE,
    "remember_many": _EVERYONE,
    "gather": _EVERYONE,
    "revise": _EVERYONE,
    "pin": _EVERYONE,
    "unpin": _EVERYONE,
    "link": _EVERYONE,
    "unlink": _EVERYONE,
    "recall": _EVERYONE,
    "list": _EVERYONE,
    "show": _EVERYONE,
    "by_key": _EVERYONE,
    "history": _EVERYONE,
    "events": _EVERYONE,
    "links": _EVERYONE,
    "resume": _EVERYONE,
    "summary": _EVERYONE,
    "similar": _EVERYONE,
    "coverage": _EVERYONE,
    # which project a directory is: a worker that remembers needs them
    "projects": _EVERYONE,
    "locate": _EVERYONE,
    "claim": _EVERYONE,
    # projects and sessions as such: their names, what they are about, what there is in them
    "catalogue": _EVERYONE,
    "project": _EVERYONE,
    "create_project": _EVERYONE,
    "describe_project": _EVERYONE,
    "start_session": _EVERYONE,
    "sessions": _EVERYONE,
    "session": _EVERYONE,
    # what files say; a list of one's own in a repository, and what is put into it by name
    "mirrors": _EVERYONE,
    "conflicts": _EVERYONE,
    "list_mirror": _EVERYONE,
    "join": _EVERYONE,
    # settings alone decide whether it does anything
    "retire_if_due": _EVERYONE,
    # take away and bring back
    "archive": _TRUSTED,
    "restore": _TRUSTED,
    "forget": _TRUSTED,
    "promote": _TRUSTED,
    "retire": _TRUSTED,
    # what a scope holds goes out to files, and what files say comes in: see docs/decisions/0009-mirror-sync.md
    "mirror": _TRUSTED,
    "unmirror": _TRUSTED,
    "reset_sync_state": _TRUSTED,
    "resolve": _TRUSTED,
    "embed_pending": _TRUSTED,
    # the whole store, across projects
    "adopt": _TRUSTED,
    "everything": _TRUSTED,
    "backup": _TRUSTED,
    "tally": _TRUSTED,
    "latest": _TRUSTED,
    "stats": _TRUSTED,
    "check": _TRUSTED,
    "scan": _TRUSTED,
    # what cannot be undone, or stops everybody else
    "purge": _OWNER,
    "purge_candidates": _OWNER,
    "repair": _OWNER,
    "reindex": _OWNER,
}


def require(actor: Actor, action: str, task: str = "") -> None:
    """Raise NotAllowed unless the actor's role may do the deed; `task` describes it where its name is not enough."""
    bounds.require_action(actor, action)
    allowed = PERMISSIONS[action]
    if actor.role not in allowed:
        roles = " or ".join(sorted(role.value for role in allowed))
        raise NotAllowed(f"{actor.name} is a {actor.role}, and only {roles} may {task or action}: ask one of them")


def require_layer(actor: Actor, scope: Scope, *, workers_global: bool) -> None:
    """Raise NotAllowed where a worker writes to the global layer and settings do not let workers."""
    if scope.layer is Layer.EVERYWHERE and actor.role is Role.WORKER and not workers_global:
        raise NotAllowed(
            f"{actor.name} is a worker, and the setting `workers_global` keeps workers from writing to the global layer:"
            " keep it in a project, or ask an owner or admin"
        )


def lower_role(role: Role, other: Role) -> Role:
    """The one of two roles that may do less."""
    return max(role, other, key=list(Role).index)


def outranks(role: Role, other: Role) -> bool:
    """Whether a role may do more than another."""
    return role is not other and lower_role(role, other) is other
