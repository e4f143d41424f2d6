"""Check the installation from the settings to the database, and repair what can be repaired."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path

import msgspec

from omoide.errors import OmoideError, StoreBusy, StoreDamaged
from omoide.files.directory_text import directory_path
from omoide.files.sizes import format_size
from omoide.model import VectorCoverage, now
from omoide.service import Service
from omoide.settings import Settings, config_file

_DAY = timedelta(days=1)
_LEAST_FREE = 100_000_000
"""Bytes that must be free on the disk, however small the database is."""


class Check(msgspec.Struct, frozen=True):
    """One finding of `diagnose`."""

    ok: bool
    what: str
    """The fact."""
    remedy: str = ""
    """What to do, where there is something to do."""


def diagnose(
    load: Callable[[], Settings],
    open_service: Callable[[Settings], Service],
    check_mirrors: Callable[[Service], Iterable[Check]],
    engine: Callable[[], str],
    *,
    fix: bool = False,
) -> Iterator[Check]:
    """Yield what is right and what is wrong: settings, engine, permissions, free space, database, mirrors, embedder.

    `load`: reads the settings. `open_service`: opens a service with them. `check_mirrors`: checks the files of its mirrors.
    `engine`: describes the database engine. `fix`: also restrict permissions that are too open, and rebuild a broken index.
    """
    try:
        settings = load()
    except OmoideError as error:
        yield Check(ok=False, what=str(error), remedy="correct the settings first: nothing else can be checked")
        return
    file = config_file()
    yield Check(ok=True, what=f"settings: {file}" if file.exists() else "settings: the defaults")
    yield Check(ok=True, what=engine())
    store = Path(settings.store)
    if not store.exists():
        yield Check(ok=True, what=f"{store}: no database yet, the first `omoide remember` creates it")
        return
    # Permissions are changed only around a database that opens: the file may be someone else's.
    may_fix = fix and _opens(settings, open_service)
    yield from _check_directory(store.parent, fix=may_fix)
    yield from _check_files(store, fix=may_fix)
    yield _check_space(store)
    yield from _check_database(settings, open_service, check_mirrors, fix=fix)


def _opens(settings: Settings, open_service: Callable[[Settings], Service]) -> bool:
    try:
        open_service(settings).close()
    except OmoideError:  # fallback: `_check_database` reports it
        return False
    return True


def _check_directory(directory: Path, *, fix: bool) -> Iterator[Check]:
    """Whoever may write into the directory may replace the store by another file."""
    mode = directory.stat().st_mode
    if not mode & 0o022 or mode & stat.S_ISVTX:
        yield Check(ok=os.access(directory, os.W_OK), what=f"directory {directory} ({stat.filemode(mode)})")
    else:
        wrong = f"others can write into {directory} ({stat.filemode(mode)})"
        yield _check_mode(directory, mode & ~0o022, wrong, fix=fix)


def _check_files(store: Path, *, fix: bool) -> Iterator[Check]:
    for file in (store, Path(f"{store}-wal"), Path(f"{store}-shm")):
        if not file.exists():
            continue
        mode = file.stat().st_mode
        if mode & 0o077:
            yield _check_mode(file, 0o600, f"others can read {file} ({stat.filemode(mode)})", fix=fix)
        elif file == store:
            yield Check(ok=True, what=f"only you can read {file}")


def _check_mode(path: Path, mode: int, wrong: str, *, fix: bool) -> Check:
    """Report permissions that are too open, or set them to `mode`."""
    if not fix:
        return Check(ok=False, what=wrong, remedy=f"chmod {stat.S_IMODE(mode):o} '{path}', or omoide doctor --fix")
    try:
        path.chmod(stat.S_IMODE(mode))
    except OSError as error:
        return Check(ok=False, what=f"{wrong}, and that cannot be changed ({error.strerror})", remedy="ask its owner")
    return Check(ok=True, what=f"fixed: {wrong}")


def _check_space(store: Path) -> Check:
    import shutil  # lazy: slow to import, and only for the free space

    free = shutil.disk_usage(store.parent).free
    needed = max(_LEAST_FREE, 2 * store.stat().st_size)
    enough = free >= needed
    remedy = "" if enough else f"free some space: {format_size(needed)} are needed to write and to repair"
    return Check(ok=enough, what=f"{format_size(free)} free on the disk", remedy=remedy)


def _check_database(
    settings: Settings,
    open_service: Callable[[Settings], Service],
    check_mirrors: Callable[[Service], Iterable[Check]],
    *,
    fix: bool,
) -> Iterator[Check]:
    try:
        with open_service(settings) as service:
            # As a list: a store that fails half-way gets no ticks.
            checks = list(_check_service(service, check_mirrors, fix=fix))
    except StoreDamaged as error:
        checks = [Check(ok=False, what=str(error), remedy="put a copy made by `omoide backup` in its place")]
    except StoreBusy as error:
        checks = [Check(ok=False, what=str(error), remedy="end the other program, then run `omoide doctor` again")]
    except OmoideError as error:
        checks = [Check(ok=False, what=str(error))]
    yield from checks


def _check_service(service: Service, check_mirrors: Callable[[Service], Iterable[Check]], *, fix: bool) -> Iterator[Check]:
    problems = service.check()
    vectors = service.coverage(probe=True)
    if fix and any(problem.fixable for problem in problems):
        yield Check(ok=True, what=f"fixed: {service.repair()} memories indexed again")
        problems = service.check()
    for problem in problems:
        yield Check(ok=False, what=problem.what, remedy=problem.remedy)
    if not problems:
        yield Check(ok=True, what="the database and its index are intact")
        yield from check_mirrors(service)
        yield from _check_projects(service)
        yield from _check_clock(service)
    yield from _check_embeddings(vectors)


def _check_clock(service: Service) -> Iterator[Check]:
    """Name a last change that is dated in the future: the clock was wrong then, or is now."""
    for event in service.events_after(max(service.last_event() - 1, 0), limit=1).events:
        if event.at > now() + _DAY:
            yield Check(
                ok=True,
                what=f"the last change is dated {event.at:%Y-%m-%d}: the clock was ahead then, or is behind now",
                remedy="set the clock if it is wrong; nothing is archived automatically because of it",
            )


def _check_projects(service: Service) -> Iterator[Check]:
    """Name projects all of whose directories are gone: no fault, but no directory leads to their memories."""
    for project in service.projects():
        if project.places and not any(directory_path(place.directory).exists() for place in project.places):
            yield Check(
                ok=True,
                what=f"project {project.path}: {project.root} is gone",
                remedy=f"if it was moved, run `omoide project bind PATH --project {project.path}`",
            )


def _check_embeddings(vectors: VectorCoverage) -> Iterator[Check]:
    if vectors.embedder is None:
        yield Check(ok=True, what="no embedder: recall matches words only")
        return
    if vectors.trouble:
        yield Check(ok=False, what=vectors.trouble, remedy="until it works, recall matches words only")
    if vectors.english_trouble:
        yield Check(ok=False, what=vectors.english_trouble, remedy="until it works, recall uses the other model alone")
    can_embed = vectors.pending and not vectors.trouble
    yield Check(
        ok=True,
        what=f"{vectors.embedder}: {vectors.embedded:,} memories embedded, {vectors.pending:,} pending",
        remedy="omoide reindex --pending computes them now" if can_embed else "",
    )
