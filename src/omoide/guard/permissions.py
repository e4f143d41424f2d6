"""Who may do what: one table of actions and roles, and the bounds of actors that may use only some projects and layers.

Every interface is ruled by it, in the global layer, in projects and in sessions alike.
"""

import re
from collections.abc import Mapping
from functools import reduce
from typing import NoReturn

import msgspec

from omoide.errors import NotAllowed
from omoide.model import Actor, Layer, Query, Role, Scope

_EVERYONE = frozenset(Role)
_TRUSTED = frozenset({Role.OWNER, Role.ADMIN})
_OWNER = frozenset({Role.OWNER})

PERMISSIONS: dict[str, frozenset[Role]] = {
    # store and find memories that the scope sees
    "remember": _EVERYONE,
    "remember_many": _EVERYONE,
    "append_activity": _EVERYONE,
    "import_drafts": _EVERYONE,
    "revise": _EVERYONE,
    "revert": _EVERYONE,
    "pin": _EVERYONE,
    "unpin": _EVERYONE,
    "link": _EVERYONE,
    "unlink": _EVERYONE,
    "learn": _EVERYONE,
    # what an agent and a person did in a work tree of this machine
    "record_work_tree": _EVERYONE,
    "learn_corrections": _EVERYONE,
    "begin_turn": _EVERYONE,
    "end_turn": _EVERYONE,
    "proposals": _EVERYONE,
    "recall": _EVERYONE,
    "retrieve": _EVERYONE,
    "entry": _EVERYONE,
    "list": _EVERYONE,
    "show": _EVERYONE,
    "by_key": _EVERYONE,
    "history": _EVERYONE,
    "events": _EVERYONE,
    "events_after": _EVERYONE,
    "last_event": _EVERYONE,
    "links": _EVERYONE,
    "resume": _EVERYONE,
    "hook": _EVERYONE,
    "learn_from_inbox": _EVERYONE,
    "has_inbox": _EVERYONE,
    "compose": _EVERYONE,
    "record_prompt": _EVERYONE,
    "meter": _EVERYONE,
    "project_block": _EVERYONE,
    # runs, their receipts and outcomes: an agent reports how its own run ended
    "runs": _EVERYONE,
    "run": _EVERYONE,
    "replay": _EVERYONE,
    "why": _EVERYONE,
    "compare_runs": _EVERYONE,
    "blame": _EVERYONE,
    "run_report": _EVERYONE,
    "outcome": _EVERYONE,
    "undo_outcome": _EVERYONE,
    "fix_relevance": _TRUSTED,
    "release_relevance": _TRUSTED,
    "summary": _EVERYONE,
    "similar": _EVERYONE,
    "coverage": _EVERYONE,
    # which project a directory belongs to: a worker needs this to remember
    "projects": _EVERYONE,
    "locate": _EVERYONE,
    "identify": _EVERYONE,
    "claim": _EVERYONE,
    # projects and sessions: names, descriptions, contents
    "catalogue": _EVERYONE,
    "route": _EVERYONE,
    "project": _EVERYONE,
    "project_by_number": _EVERYONE,
    "project_files": _EVERYONE,
    "create_project": _EVERYONE,
    "describe_project": _EVERYONE,
    "start_session": _EVERYONE,
    "sessions": _EVERYONE,
    "session": _EVERYONE,
    "summary_due": _EVERYONE,
    # mirrors and their conflicts; the list of a repository, and adding a memory to it
    "mirrors": _EVERYONE,
    "conflicts": _EVERYONE,
    "ensure_list_mirror": _EVERYONE,
    "join": _EVERYONE,
    # whether it does anything is decided by settings alone
    "retire_if_due": _EVERYONE,
    "automatic_retirements": _EVERYONE,
    "record_use": _EVERYONE,
    "probe": _EVERYONE,
    # take memories out of use, and bring them back
    "approve": _TRUSTED,
    "reject": _TRUSTED,
    "archive": _TRUSTED,
    "restore": _TRUSTED,
    "forget": _TRUSTED,
    "promote": _TRUSTED,
    "retire": _TRUSTED,
    "undo_retirement": _TRUSTED,
    "summarize": _TRUSTED,
    "undo_summary": _TRUSTED,
    # which project a repository is, against what git says
    "bind_project": _TRUSTED,
    # as an edit of the file by its owner
    "replace_memory_file": _TRUSTED,
    "rename_project": _TRUSTED,
    "merge_projects": _TRUSTED,
    # memories go out to files and edits of files come in: see docs/decisions/0009-mirror-sync.md
    "mirror": _TRUSTED,
    "unmirror": _TRUSTED,
    "reset_sync_state": _TRUSTED,
    "resolve": _TRUSTED,
    "accept_entries": _TRUSTED,
    "embed_pending": _TRUSTED,
    # the whole store, across projects
    "import_memories": _TRUSTED,
    "everything": _TRUSTED,
    "backup": _TRUSTED,
    "record_copy": _TRUSTED,
    "tally": _TRUSTED,
    "latest_event": _TRUSTED,
    "stats": _TRUSTED,
    "llm_usage": _TRUSTED,
    "hook_calls": _TRUSTED,
    "last_hook_calls": _TRUSTED,
    "injections": _TRUSTED,
    "check": _TRUSTED,
    "scan": _TRUSTED,
    # what cannot be undone, or blocks everybody else
    "purge": _OWNER,
    "purge_candidates": _OWNER,
    "repair": _OWNER,
    "reindex": _OWNER,
}

_WITHIN_BOUNDS = frozenset(
    [
        "remember",
        "remember_many",
        "learn",
        "proposals",
        "approve",
        "reject",
        "append_activity",
        "revise",
        "revert",
        "pin",
        "unpin",
        "link",
        "unlink",
        "archive",
        "restore",
        "forget",
        "promote",
        "purge",
        "recall",
        "retrieve",
        "entry",
        "list",
        "show",
        "by_key",
        "history",
        "events",
        "events_after",
        "last_event",
        "links",
        "resume",
        "hook",
        "compose",
        "record_prompt",
        "meter",
        "project_block",
        "runs",
        "run",
        "replay",
        "why",
        "compare_runs",
        "blame",
        "run_report",
        "outcome",
        "undo_outcome",
        "fix_relevance",
        "release_relevance",
        "summary",
        "similar",
        "projects",
        "locate",
        "claim",
        "catalogue",
        "route",
        "project",
        "project_by_number",
        "project_files",
        "create_project",
        "describe_project",
        "start_session",
        "sessions",
        "session",
        "summary_due",
        "summarize",
        "undo_summary",
        "retire_if_due",
        "automatic_retirements",
        "record_use",
        "probe",
    ]
)
"""The actions that stay within one scope. Every other one is refused to an actor with bounds: a new action is closed to it
until somebody has thought about it."""


class BoundActor(Actor, frozen=True):
    """An actor with bounds, such as the bearer of a token that is limited to one project."""

    projects: tuple[str, ...] = ()
    """The paths of the projects it may use; empty: all of them."""
    layers: tuple[Layer, ...] = ()
    """The layers it may use; empty: all of them."""


def require(actor: Actor, action: str, task: str = "") -> None:
    """Raise NotAllowed unless the actor may do this.

    `task` describes the action in the message where its name is not enough.
    """
    if isinstance(actor, BoundActor) and action not in _WITHIN_BOUNDS:
        raise NotAllowed(f"{_describe_bounds(actor)}: {action} reaches beyond that, so use a token that is not bound")
    allowed = PERMISSIONS[action]
    if actor.role not in allowed:
        roles = " or ".join(sorted(role.value for role in allowed))
        raise NotAllowed(f"{actor.name} is a {actor.role}, and only {roles} may {task or action}: ask one of them")


def allows(actor: Actor, action: str) -> bool:
    """Whether the actor may do this, for operations that do something else if not."""
    return actor.role in PERMISSIONS[action] and (not isinstance(actor, BoundActor) or action in _WITHIN_BOUNDS)


def require_layer(actor: Actor, scope: Scope, *, workers_global: bool) -> None:
    """Raise NotAllowed if a worker writes to the global layer and the setting `workers_global` does not allow it."""
    if scope.layer is Layer.EVERYWHERE and actor.role is Role.WORKER and not workers_global:
        raise NotAllowed(
            f"{actor.name} is a worker, and the setting `workers_global` keeps workers from writing to the global layer:"
            " keep it in a project, or ask an owner or admin"
        )


def lower_role(role: Role, other: Role) -> Role:
    """The one of two roles that may do less."""
    return max(role, other, key=list(Role).index)


def role_for(agents: Mapping[str, Role], name: str) -> Role:
    """Return the role that a table of agents gives to a name, which is worker if it gives none.

    The name itself goes before patterns (`admin_*`, with `*` and `?`), and a longer pattern before a shorter one; of two
    equally long ones, the one that may do less counts.
    """
    if name in agents:
        return agents[name]
    matching = [pattern for pattern in agents if _matches(pattern, name)]
    if not matching:
        return Role.WORKER
    longest = max(map(len, matching))
    return reduce(lower_role, (agents[pattern] for pattern in matching if len(pattern) == longest))


def _matches(pattern: str, name: str) -> bool:
    wildcards = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(wildcards, name) is not None


def outranks(role: Role, other: Role) -> bool:
    """Whether a role may do more than another."""
    return role is not other and lower_role(role, other) is other


def require_grant(role: Role, wanted: Role) -> None:
    """Raise NotAllowed if somebody with a role would grant one that may do more."""
    if outranks(wanted, role):
        raise NotAllowed(
            f"a process in the role {role} cannot grant the role {wanted}: use --role {role}, or ask an {wanted}"
        )


# Bounds


def require_place(actor: Actor, scope: Scope) -> None:
    """Raise NotAllowed unless the actor may work in this scope: read what is visible from it, and name what is in it."""
    if not isinstance(actor, BoundActor):
        return
    if scope.path and not may_name(actor, scope.path):
        _refuse(actor, f"project {scope.path}")
    if not scope.path:
        require_allowed_layer(actor, Layer.EVERYWHERE)
    if scope.name:
        require_allowed_layer(actor, Layer.SESSION)


def require_within(actor: Actor, scope: Scope) -> None:
    """Raise NotAllowed unless the actor may store memories in exactly this scope."""
    if isinstance(actor, BoundActor):
        require_place(actor, scope)
        require_allowed_layer(actor, scope.layer)


def require_allowed_layer(actor: Actor, layer: Layer) -> None:
    """Raise NotAllowed if the actor is bound to other layers."""
    if isinstance(actor, BoundActor) and actor.layers and layer not in actor.layers:
        _refuse(actor, f"layer {layer}")


def readable_layers(actor: Actor) -> tuple[Layer, ...]:
    """The layers that the actor may use."""
    return actor.layers if isinstance(actor, BoundActor) and actor.layers else tuple(Layer)


def may_name(actor: Actor, path: str) -> bool:
    """Whether the actor may know that there is a project with this path."""
    return not isinstance(actor, BoundActor) or not actor.projects or path in actor.projects


def covers(actor: Actor, scope: Scope) -> bool:
    """Whether the actor may know of memories of this scope."""
    if not isinstance(actor, BoundActor):
        return True
    if scope.path and not may_name(actor, scope.path):
        return False
    return not actor.layers or scope.layer in actor.layers


def require_whole_prompt(actor: Actor, run: int, *, is_whole: bool) -> None:
    """Raise NotAllowed unless the actor may know of all memories in the prompt of a run."""
    if isinstance(actor, BoundActor) and not is_whole:
        _refuse(actor, f"the layer of a memory in the prompt of run {run}")


def narrow(actor: Actor, query: Query) -> Query | None:
    """The query, limited to the layers that the actor may use; None if none is left."""
    require_place(actor, query.scope)
    if not isinstance(actor, BoundActor) or not actor.layers:
        return query
    layers = tuple(layer for layer in query.layers or tuple(Layer) if layer in actor.layers)
    return msgspec.structs.replace(query, layers=layers) if layers else None


def narrow_or_refuse(actor: Actor, query: Query) -> Query:
    """The same; raises NotAllowed if no layer is left."""
    narrowed = narrow(actor, query)
    if narrowed is None and isinstance(actor, BoundActor):
        _refuse(actor, f"layer {' or '.join(query.layers)}")
    return narrowed or query


def _refuse(actor: BoundActor, what: str) -> NoReturn:
    raise NotAllowed(f"{_describe_bounds(actor)}: {what} is not among them, so use a token that is bound to it")


def _describe_bounds(actor: BoundActor) -> str:
    projects = f"project {', '.join(actor.projects)}" if actor.projects else "every project"
    layers = f" and layer {', '.join(actor.layers)}" if actor.layers else ""
    return f"{actor.name} is bound to {projects}{layers}"
