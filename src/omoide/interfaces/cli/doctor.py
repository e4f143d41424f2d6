"""Looking for trouble: doctor, which must say something useful of any store, however broken."""

import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from omoide import app
from omoide.errors import OmoideError, StoreBusy, StoreDamaged
from omoide.interfaces.cli.options import Target, json_option, open_store, settings_for, store_option
from omoide.interfaces.cli.output import escape_control, print_json, size
from omoide.model import VectorCoverage
from omoide.settings import Settings, config_file

if TYPE_CHECKING:  # see common
    from omoide.service import Service

_ROOM = 100_000_000


class Check(NamedTuple):
    ok: bool
    what: str
    remedy: str = ""


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Mend what can be mended: the index and the permissions.")
@store_option
@json_option
def doctor_command(fix: bool, target: Target, as_json: bool) -> None:
    """Check the database, its index and permissions; --fix repairs them.

    Ends with 1 when something is wrong and was not mended.

    \b
    omoide doctor
    omoide doctor --fix
    """
    checks = list(_checks(target, fix=fix))
    healthy = all(check.ok for check in checks)
    if as_json:
        print_json({"healthy": healthy, "checks": [check._asdict() for check in checks]})
    else:
        for check in checks:
            mark = click.style("✓", fg="green") if check.ok else click.style("✗", fg="red", bold=True)
            click.echo(f"{mark} {escape_control(check.what)}")
            if check.remedy:
                click.echo(f"  → {escape_control(check.remedy)}")
    click.get_current_context().exit(0 if healthy else 1)


def _checks(target: Target, *, fix: bool) -> Iterator[Check]:
    try:
        settings = settings_for(target)
    except OmoideError as error:
        yield Check(ok=False, what=str(error), remedy="mend the settings first: nothing else can be checked")
        return
    file = config_file()
    yield Check(ok=True, what=f"settings: {file}" if file.exists() else "settings: the defaults")
    engine, schema = app.engine_info()
    yield Check(ok=True, what=f"{engine}, schema {schema}")
    store = Path(settings.store)
    if not store.exists():
        yield Check(ok=True, what=f"{store}: no database yet, the first `omoide remember` makes it")
        return
    # Permissions are mended only around a database that opens: the file may be someone else's.
    opens = _check_opens(settings)
    yield from _check_directory(store.parent, fix=fix and opens)
    yield from _check_files(store, fix=fix and opens)
    yield from _check_space(store)
    yield from _check_database(settings, fix=fix)


def _check_opens(settings: Settings) -> bool:
    try:
        open_store(settings, tell=lambda _: None).close()  # `_database` tells what is wrong with mirrored files
    except OmoideError:  # plan B: `_database` tells
        return False
    return True


def _check_directory(directory: Path, *, fix: bool) -> Iterator[Check]:
    """Whoever may write into the directory may put another file in the store's place."""
    mode = directory.stat().st_mode
    if not mode & 0o022 or mode & stat.S_ISVTX:
        yield Check(ok=os.access(directory, os.W_OK), what=f"directory {directory} ({stat.filemode(mode)})")
    else:
        wrong = f"others can write into {directory} ({stat.filemode(mode)})"
        yield _check_mode(directory, mode & ~0o022, wrong, fix=fix)


def _check_files(store: Path, *, fix: bool) -> Iterator[Check]:
    for file in (store, Path(f"{store}-wal"), Path(f"{store}-shm")):
        if file.exists():
            mode = file.stat().st_mode
            if mode & 0o077:
                yield _check_mode(file, 0o600, f"others can read {file} ({stat.filemode(mode)})", fix=fix)
            elif file == store:
                yield Check(ok=True, what=f"only you can read {file}")


def _check_mode(path: Path, mode: int, wrong: str, *, fix: bool) -> Check:
    remedy = f"chmod {stat.S_IMODE(mode):o} '{path}', or omoide doctor --fix"
    if not fix:
        return Check(ok=False, what=wrong, remedy=remedy)
    try:
        path.chmod(stat.S_IMODE(mode))
    except OSError as error:
        return Check(ok=False, what=f"{wrong}, and that cannot be changed ({error.strerror})", remedy="ask its owner")
    return Check(ok=True, what=f"mended: {wrong}")


def _check_space(store: Path) -> Iterator[Check]:
    import shutil  # noqa: PLC0415 - only for the free space

    free = shutil.disk_usage(store.parent).free
    needed = max(_ROOM, 2 * store.stat().st_size)
    what = f"{size(free)} free on the disk"
    yield (
        Check(ok=True, what=what)
        if free >= needed
        else Check(ok=False, what=what, remedy=f"make room: {size(needed)} are wanted, to write and to mend")
    )


def _check_database(settings: Settings, *, fix: bool) -> Iterator[Check]:
    try:
        # What is wrong with mirrored files is among the checks, and need not be told twice.
        with open_store(settings, tell=lambda _: None) as memory:
            findings = memory.check()
            vectors = memory.coverage(tried=True)
            mended = ""
            if fix and any(finding.fixable for finding in findings):
                mended = f"mended: {memory.repair()} memories are indexed anew"
                findings = memory.check()
            mirrors = [] if findings else list(_mirrors(memory))
    except StoreDamaged as error:
        yield Check(ok=False, what=str(error), remedy="put a copy made by `omoide backup` in its place")
    except StoreBusy as error:
        yield Check(ok=False, what=str(error), remedy="end the other program, then look again")
    except OmoideError as error:
        yield Check(ok=False, what=str(error))
    else:
        if mended:
            yield Check(ok=True, what=mended)
        for finding in findings:
            yield Check(ok=False, what=finding.what, remedy=finding.remedy)
        if not findings:
            yield Check(ok=True, what="the database and its index are whole")
        yield from mirrors
        yield from _check_embeddings(vectors)


def _mirrors(memory: "Service") -> Iterator[Check]:
    """Sync each mirror, as every verb that reads does, and show what keeps it from being in step."""
    mirroring = None
    for mirror in memory.mirrors():
        mirroring = mirroring or app.sync_engine(memory)
        report = mirroring.attempt(mirror, partial(mirroring.sync, mirror))
        path = Path(mirror.place) / mirror.file
        for trouble in report.troubles if report else ():
            yield Check(ok=False, what=f"mirror {mirror.number}: {trouble}", remedy="then run `omoide mirror sync`")
        if report is not None and not report.troubles:
            missing = "" if path.exists() else ", and is not there: `omoide mirror sync` makes it"
            yield Check(ok=True, what=f"mirror {mirror.number}: {path} is in step with {mirror.scope}{missing}")


def _check_embeddings(vectors: VectorCoverage) -> Iterator[Check]:
    if vectors.embedder is None:
        yield Check(ok=True, what="no embedder: recall goes by words alone")
        return
    if vectors.trouble:
        yield Check(ok=False, what=vectors.trouble, remedy="until it is mended, recall goes by words alone")
    makes_them = vectors.pending and not vectors.trouble
    yield Check(
        ok=True,
        what=f"{vectors.embedder}: {vectors.embedded:,} memories embedded, {vectors.pending:,} to go",
        remedy="omoide reindex --pending makes them now" if makes_them else "",
    )
