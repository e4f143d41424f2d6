"""Check whether the files of the mirrors are in sync with the database."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from omoide.errors import OmoideError
from omoide.model import Mirror
from omoide.service.doctor import Check
from omoide.sync.engine import SyncEngine
from omoide.sync.mirrors import HeldEntry, held_entries
from omoide.sync.vanished import describe_gone

_NAMED = 10
"""Memories that are named with their numbers; the rest are counted."""


def check_mirror(mirror: Mirror, engine: SyncEngine) -> Iterator[Check]:
    """Sync a mirror, as every read does, and yield what keeps it from being in sync."""
    if not Path(mirror.place).exists():
        if _is_of_git(mirror, engine):
            what = f"mirror {mirror.number}: {Path(mirror.place) / mirror.file} is not there, and git has it"
            yield Check(ok=True, what=what)
            return
        what, remedy = describe_gone(mirror).split(": ", 1)
        yield Check(ok=False, what=f"mirror {mirror.number}: {what}", remedy=remedy)
        return
    troubles: dict[str, None] = {}
    for work in (engine.sync, engine.plan):  # as every read does; then all that it would leave as it is
        report = engine.attempt(mirror, partial(work, mirror))
        if report is None:
            return
        troubles |= dict.fromkeys(report.troubles)
    for trouble in troubles:
        yield Check(ok=False, what=f"mirror {mirror.number}: {trouble}", remedy="then run `omoide mirror sync`")
    held = _held_entries(mirror, engine)
    if not troubles:
        yield Check(ok=True, what=f"mirror {mirror.number}: {_describe_synced(mirror, held)}")
    yield from _check_held(mirror, held)


def _describe_synced(mirror: Mirror, held: Sequence[HeldEntry]) -> str:
    """What is said of a mirror without troubles."""
    path = Path(mirror.place) / mirror.file
    missing = "" if path.exists() else ", but does not exist"
    to_settle = f", but for {len(held)} to settle" if held else ""
    return f"{path} is in sync with {mirror.scope}{to_settle}{missing}"


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
