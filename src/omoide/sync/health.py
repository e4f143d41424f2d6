"""Check whether the files of the mirrors are in sync with the database."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from omoide.errors import OmoideError
from omoide.model import Mirror
from omoide.service.doctor import Check
from omoide.sync.engine import SyncEngine
from omoide.sync.mirrors import HeldEntry, held_entries
from omoide.sync.run import SyncReport
from omoide.sync.vanished import describe_gone, has_vanished

_NAMED = 10
"""Memories that are named with their numbers; the rest are counted."""


def check_mirror(mirror: Mirror, engine: SyncEngine) -> Iterator[Check]:
    """Sync a mirror, as every read does, and yield what keeps it from being in sync."""
    if not Path(mirror.place).exists():
        yield from _check_gone(mirror, engine)
        return
    reports = [engine.attempt(mirror, partial(engine.sync, mirror)), engine.attempt(mirror, partial(engine.plan, mirror))]
    troubles = dict.fromkeys(trouble for report in reports if report for trouble in report.troubles)
    for trouble in troubles:
        yield Check(ok=False, what=f"mirror {mirror.number}: {trouble}", remedy="then run `omoide mirror sync`")
    held = _held_entries(mirror, engine)
    plan = reports[-1]
    if plan is not None and not troubles:
        yield _check_synced(mirror, plan, held)
    yield from _check_held(mirror, held)


def _check_gone(mirror: Mirror, engine: SyncEngine) -> Iterator[Check]:
    """Check a mirror whose directory is not there."""
    if _is_of_git(mirror, engine):
        what = f"mirror {mirror.number}: {Path(mirror.place) / mirror.file} is not there, and git has it"
        yield Check(ok=True, what=what)
    else:
        what, remedy = describe_gone(mirror).split(": ", 1)
        yield Check(ok=False, what=f"mirror {mirror.number}: {what}", remedy=remedy)
    if not has_vanished(mirror):
        yield from _check_held(mirror, _held_entries(mirror, engine))


def _check_synced(mirror: Mirror, plan: SyncReport, held: Sequence[HeldEntry]) -> Check:
    """Describe a mirror without troubles: whether it is in sync, and what a person has to decide."""
    path = Path(mirror.place) / mirror.file
    what = f"mirror {mirror.number}: {path}"
    pending = [f"{count} to {action}" for count, action in ((plan.imported, "import"), (plan.written, "write")) if count]
    if pending:  # such as a block that git brought back
        remedy = f"`omoide mirror sync {mirror.number}` brings both in sync"
        return Check(ok=True, what=f"{what} is not in sync with {mirror.scope}: {', '.join(pending)}", remedy=remedy)
    undecided = f"{len(held)} {'entry' if len(held) == 1 else 'entries'} to decide on"
    if not path.exists() and held:
        return Check(ok=True, what=f"{what} does not exist: {undecided}")
    if not path.exists():
        return Check(ok=True, what=f"{what} does not exist: no memory of {mirror.scope} belongs in it")
    exception = f", except for {undecided}" if held else ""
    return Check(ok=True, what=f"{what} is in sync with {mirror.scope}{exception}")


def _is_of_git(mirror: Mirror, engine: SyncEngine) -> bool:
    try:
        return engine.is_of_git(mirror)
    except (OmoideError, OSError):  # fallback: it is gone
        return False


def _held_entries(mirror: Mirror, engine: SyncEngine) -> Sequence[HeldEntry]:
    try:
        return held_entries(engine, mirror)
    except (OmoideError, OSError):  # fallback: why the files cannot be read is among the troubles
        return ()


def _check_held(mirror: Mirror, held: Sequence[HeldEntry]) -> Iterator[Check]:
    """Entries that are not as their memories say: no fault, but a person should decide."""
    for (file, why), group in _by_cause(one for one in held if one.is_missing).items():
        what = f"mirror {mirror.number}: {group} not in {file}: not archived, because {why}"
        remedy = f"`omoide mirror put-back {mirror.number}` writes them again, `omoide mirror forget-missing"
        yield Check(ok=True, what=what, remedy=f"{remedy} {mirror.number}` forgets them")
    for (file, why), group in _by_cause(one for one in held if one.is_outdated).items():
        what = f"mirror {mirror.number}: {group} newer than what {file} shows: {why}"
        remedy = f"`omoide mirror put-back {mirror.number}` writes the newer texts, `omoide mirror accept"
        yield Check(ok=True, what=what, remedy=f"{remedy} {mirror.number}` takes the earlier ones over")
    for (file, _), group in _by_cause(one for one in held if one.is_retired).items():
        what = f"mirror {mirror.number}: {group} not active, but in {file}"
        yield Check(ok=True, what=what, remedy=f"`omoide mirror take-out {mirror.number}` removes them from the files")


def _by_cause(held: Iterable[HeldEntry]) -> dict[tuple[str, str], str]:
    """The memories of each file and cause, as a sentence begins about them."""
    numbers: dict[tuple[str, str], list[str]] = {}
    for one in held:
        numbers.setdefault((one.file, one.why), []).append(f"#{one.memory.number}")
    return {
        cause: f"{', '.join(found[:_NAMED])}{f' and {len(found) - _NAMED} more' if len(found) > _NAMED else ''}"
        f" {'is' if len(found) == 1 else 'are'}"
        for cause, found in numbers.items()
    }
