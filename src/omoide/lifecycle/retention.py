"""Retention: which memories move to the archive, and why. Pure. Nothing is deleted, and pinned memories stay.

A memory is archived when it has expired; when it was not used for `ttl_days`; or when its layer (the global one, a project,
a session) has more than `max_entries` memories: then those unused for longest. The limit spares what was used within a week,
so that what was just imported or written in bulk is never archived unexpectedly.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from omoide.model import Scope, Usage
from omoide.model.expiry import has_expired

QUIET = timedelta(days=45)
"""After so long without an event nobody is working here: the automatic run archives nothing, and proposes it first."""
RECENT = timedelta(days=7)
"""Memories used within this time are not archived automatically for the limit of their layer."""


class Reason(StrEnum):
    """Why a memory is archived."""

    EXPIRED = "expired"
    UNUSED = "unused"
    OVER_LIMIT = "over_limit"


class Rules(msgspec.Struct, frozen=True):
    """When memories are archived."""

    ttl_days: int
    """Days without use after which a memory is archived; 0: never."""
    max_entries: int
    """Active memories of a layer; 0: any number."""
    spared: timedelta = RECENT
    """Memories used within this time are not archived for the limit of their layer."""
    share: float | None = None
    """At most this share of each layer, and at least one memory of it; None: any number."""


class Retirement(msgspec.Struct, frozen=True, gc=False):
    """A memory to archive."""

    memory: Usage
    reason: Reason


class RetentionPlan(msgspec.Struct, frozen=True):
    """The memories to archive, in order."""

    retirements: list[Retirement]


def unused_since(rules: Rules, now: datetime) -> datetime:
    """Return the moment from which a memory must be unused to be considered, unless it has expired."""
    days = timedelta(days=rules.ttl_days) if rules.ttl_days else rules.spared
    return now - min(days, rules.spared)


def plan(
    usages: Iterable[Usage],
    layer_sizes: Mapping[Scope, int],
    rules: Rules,
    now: datetime,
    most: int | None = None,
    is_exempt: Callable[[Usage], bool] = lambda _: False,
) -> RetentionPlan:
    """Plan which active memories to archive.

    usages: the memories to consider: first what has expired, then what was unused for longest
    layer_sizes: how many active memories each layer has, those that are not considered included
    most: memories to archive at most
    is_exempt: whether a memory is only archived when it has expired
    """
    retirements: list[Retirement] = []
    left = dict(layer_sizes)
    quota = {scope: _quota(count, rules) for scope, count in layer_sizes.items()}
    for usage in usages:
        if len(retirements) == most:
            break
        reason = _reason(usage, left[usage.scope], rules, now)
        if reason is None or quota[usage.scope] == 0 or (reason is not Reason.EXPIRED and is_exempt(usage)):
            continue
        retirements.append(Retirement(usage, reason))
        left[usage.scope] -= 1
        quota[usage.scope] -= 1
    return RetentionPlan(retirements)


def _quota(count: int, rules: Rules) -> int:
    return count if rules.share is None else max(1, int(count * rules.share))


def _reason(usage: Usage, in_layer: int, rules: Rules, now: datetime) -> Reason | None:
    if usage.pinned:
        return None
    if _is_expired(usage, now):
        return Reason.EXPIRED
    unused = now - usage.used_at
    if rules.ttl_days and unused >= timedelta(days=rules.ttl_days):
        return Reason.UNUSED
    if rules.max_entries and in_layer > rules.max_entries and unused >= rules.spared:
        return Reason.OVER_LIMIT
    return None


def _is_expired(usage: Usage, now: datetime) -> bool:
    return has_expired(usage.expires_at, now)
