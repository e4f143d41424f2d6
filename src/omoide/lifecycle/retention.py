"""Retention: which memories move to the archive, and why. Nothing is deleted, and what is pinned stays.

A memory goes when it has expired; when nobody used it for `ttl_days`; or when its layer (the global one, a project, a
session) holds more than `max_entries`: then those unused for longest go. By itself that spares what was used within a week,
so that what was just imported or written in bulk is never archived behind its owner's back.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from omoide.model import Scope, Usage
from omoide.model.expiry import has_expired

RECENT = timedelta(days=7)
"""What was used within this time is never retired by itself because of the number of others."""


class Reason(StrEnum):
    EXPIRED = "expired"
    UNUSED = "unused"
    OVER_LIMIT = "crowded"


class Rules(msgspec.Struct, frozen=True):
    ttl_days: int
    """0: memories do not retire for not being used."""
    max_entries: int
    """Of each layer; 0: any number."""
    spared: timedelta = RECENT
    """What was used within this time is not retired because of the number of others."""


class Retirement(msgspec.Struct, frozen=True, gc=False):
    memory: Usage
    reason: Reason


class RetentionPlan(msgspec.Struct, frozen=True):
    """What is archived, in its order."""

    retirements: list[Retirement]


def unused_since(rules: Rules, now: datetime) -> datetime:
    """A memory that was used after that can only retire because it has expired: nobody need look at it."""
    days = timedelta(days=rules.ttl_days) if rules.ttl_days else rules.spared
    return now - min(days, rules.spared)


def plan(
    usages: Iterable[Usage], crowds: Mapping[Scope, int], rules: Rules, now: datetime, most: int | None = None
) -> RetentionPlan:
    """Of the active memories that are considered, in the order of `turn`, so many at the most.

    `crowds` tells how many active memories each layer holds, those that are not considered included.
    """
    retirements: list[Retirement] = []
    left = dict(crowds)
    for usage in usages:
        if len(retirements) == most:
            break
        reason = _reason(usage, left[usage.scope], rules, now)
        if reason is not None:
            retirements.append(Retirement(usage, reason))
            left[usage.scope] -= 1
    return RetentionPlan(retirements)


def order_key(usage: Usage, now: datetime) -> tuple[bool, datetime, int]:
    """Whose turn it is: what has expired makes room first, then what was unused for longest."""
    return not _is_expired(usage, now), usage.used_at, usage.number


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
