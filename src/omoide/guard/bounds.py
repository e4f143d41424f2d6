"""Bounds: an actor that may use only some projects and some layers, and what follows from that for every verb.

A verb that is not listed as staying within bounds is refused to such an actor: a new verb is closed to it until somebody has
thought about it.
"""

from typing import NoReturn

import msgspec

from omoide.errors import NotAllowed
from omoide.model import Actor, Layer, Query, Scope

_WITHIN = frozenset(
    {
        "remember", "remember_many", "revise", "pin", "unpin", "link", "unlink", "archive", "restore", "forget", "promote",
        "purge", "purge_candidates", "recall", "list", "show", "by_key", "history", "events", "links", "resume", "summary",
        "similar", "projects", "locate", "claim", "catalogue", "project", "create_project", "describe_project",
        "start_session", "sessions", "session", "retire_if_due",
    }
)  # fmt: skip


class BoundActor(Actor, frozen=True):
    """Who acts within bounds, as the bearer of a token may."""

    projects: tuple[str, ...] = ()
    """The paths of the projects it may use; empty: all of them."""
    layers: tuple[Layer, ...] = ()
    """The layers it may use; empty: all of them."""


def require_action(actor: Actor, action: str) -> None:
    """Raise NotAllowed for a verb that reaches beyond one scope, such as a count of the whole store."""
    if isinstance(actor, BoundActor) and action not in _WITHIN:
        raise NotAllowed(f"{_describe_bounds(actor)}: {action} reaches beyond that, so use a token that is not bound")


def require_place(actor: Actor, scope: Scope) -> None:
    """Raise NotAllowed unless the actor may work in this scope: read what it may see from there, and name what is in it."""
    if not isinstance(actor, BoundActor):
        return
    if scope.path and not may_name(actor, scope.path):
        _refuse(actor, f"project {scope.path}")
    if not scope.path:
        require_layer(actor, Layer.EVERYWHERE)
    if scope.name:
        require_layer(actor, Layer.SESSION)


def require_within(actor: Actor, scope: Scope) -> None:
    """Raise NotAllowed unless the actor may keep something in exactly this scope."""
    if isinstance(actor, BoundActor):
        require_place(actor, scope)
        require_layer(actor, scope.layer)


def require_layer(actor: Actor, layer: Layer) -> None:
    if isinstance(actor, BoundActor) and actor.layers and layer not in actor.layers:
        _refuse(actor, f"layer {layer}")


def may_name(actor: Actor, path: str) -> bool:
    """Whether the actor may know that there is a project of this path."""
    return not isinstance(actor, BoundActor) or not actor.projects or path in actor.projects


def covers(actor: Actor, scope: Scope) -> bool:
    """Whether the actor may know of a memory of this scope."""
    if not isinstance(actor, BoundActor):
        return True
    if scope.path and not may_name(actor, scope.path):
        return False
    return not actor.layers or scope.layer in actor.layers


def narrow(actor: Actor, query: Query) -> Query | None:
    """The query, of those layers alone that the actor may use; None: of none."""
    require_place(actor, query.scope)
    if not isinstance(actor, BoundActor) or not actor.layers:
        return query
    layers = tuple(layer for layer in query.layers or tuple(Layer) if layer in actor.layers)
    return msgspec.structs.replace(query, layers=layers) if layers else None


def narrow_or_refuse(actor: Actor, query: Query) -> Query:
    """The same; raise NotAllowed where nothing is left to look at."""
    left = narrow(actor, query)
    if left is None and isinstance(actor, BoundActor):
        _refuse(actor, f"layer {' or '.join(query.layers)}")
    return left or query


def _refuse(actor: BoundActor, what: str) -> NoReturn:
    raise NotAllowed(f"{_describe_bounds(actor)}: {what} is not among them, so use a token that is bound to it")


def _describe_bounds(actor: BoundActor) -> str:
    projects = f"project {', '.join(actor.projects)}" if actor.projects else "every project"
    layers = f" and layer {', '.join(actor.layers)}" if actor.layers else ""
    return f"{actor.name} is bound to {projects}{layers}"
