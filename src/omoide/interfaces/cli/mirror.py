"""Mirrors: mirror add, list, remove, sync, status, resolve, rebuild, watch."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.errors import InvalidInput, NotFound
from omoide.files.git import git_root, work_tree
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_for_command,
    open_memory,
    settings_for,
    store_option,
    target_options,
)
from omoide.interfaces.cli.output import day, escape_control, headline, print_json, print_table
from omoide.model import Mirror, Side

if TYPE_CHECKING:  # see common
    from omoide.service import Service
    from omoide.service.mirrors import ConflictDetail
    from omoide.sync.engine import SyncEngine
    from omoide.sync.run import SyncReport

_FORMATS = ("memories", "entries", "tree", "block")
_GUIDES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
_ref = click.argument("ref", metavar="[MIRROR]", required=False)


@click.group("mirror")
def mirror_command() -> None:
    """Keep files and memories in sync, both ways.

    Every write to the memory appears in the files; every edit of the files comes in as a person's write.

    \b
    omoide mirror add
    omoide mirror add notes/ --format entries
    omoide mirror status
    """


@mirror_command.command("add")
@click.argument("path", required=False)
@click.option("--format", type=click.Choice(_FORMATS), help="How memories stand in it; told by the path if it is not said.")
@click.option(
    "--choice", type=click.Choice(["all", "own"]), default="all", help="All of the scope, or what comes in through it."
)
@target_options
@json_option
def add_command(path: str | None, format: str | None, choice: str, target: Target, as_json: bool) -> None:
    """Bind a scope to a file or a directory; in a repository, its project to .agent/memories.md.

    What stands there already is taken in. Worktrees share the file of the main one.

    \b
    omoide mirror add
    omoide mirror add docs/memories/ --format entries
    omoide mirror add CLAUDE.md
    omoide mirror add ~/notes.md --global --choice own
    """
    file, format = _target(path, format)
    with open_memory(target, writing=True) as (memory, scope):
        mirror = memory.mirror(file, format, scope=scope, choice=choice)
        try:
            report = _sync_engine(memory).sync(mirror, whole=True)
        except BaseException:  # nobody wants a mirror of which only an error message tells
            memory.unmirror(mirror.number)
            raise
    if as_json:
        print_json({**_mirror_record(mirror), **_report_record(report)})
    else:
        click.echo(f"added  {_line(mirror)}")
        _print_report(report)


@mirror_command.command("list")
@store_option
@json_option
def list_command(target: Target, as_json: bool) -> None:
    """List the mirrors of the store.

    \b
    omoide mirror list
    """
    mirrors = open_for_command(settings_for(target)).mirrors()
    if as_json:
        print_json({"mirrors": [_mirror_record(mirror) for mirror in mirrors]})
    elif mirrors:
        rows = [[str(one.number), str(one.scope), one.format, one.choice.value, _path(one)] for one in mirrors]
        print_table(["#", "scope", "format", "choice", "path"], rows, flexible=(4, 1))
    else:
        click.echo("there are no mirrors: `omoide mirror add` makes one", err=True)


@mirror_command.command("remove")
@click.argument("ref", metavar="MIRROR")
@store_option
@json_option
def remove_command(ref: str, target: Target, as_json: bool) -> None:
    """End a mirror. Its files and its memories stay as they are.

    \b
    omoide mirror remove 1
    omoide mirror remove .agent/memories.md
    """
    memory = open_for_command(settings_for(target))
    gone = memory.unmirror(_select_mirrors(memory, ref)[0].number)
    if as_json:
        print_json(_mirror_record(gone))
    else:
        click.echo(f"removed  {_line(gone)}")


@mirror_command.command("sync")
@_ref
@store_option
@json_option
def sync_command(ref: str | None, target: Target, as_json: bool) -> None:
    """Bring both sides together now, comparing all there is; a file that is gone is made anew.

    \b
    omoide mirror sync
    """
    memory = open_for_command(settings_for(target))
    reports = _each(memory, _select_mirrors(memory, ref), lambda mirroring, mirror: mirroring.sync(mirror, whole=True))
    for trouble in (trouble for _, report in reports for trouble in report.troubles):
        _sync_engine(memory).report(trouble)  # unless the sync has told it already
    if as_json:
        print_json({"mirrors": [{**_mirror_record(mirror), **_report_record(report)} for mirror, report in reports]})
    else:
        for mirror, report in reports:
            click.echo(_line(mirror))
            _print_report(report)
    click.get_current_context().exit(1 if any(report.troubles for _, report in reports) else 0)


@mirror_command.command("status")
@_ref
@store_option
@json_option
def status_command(ref: str | None, target: Target, as_json: bool) -> None:
    """Show what is not in step, what keeps it from being so, and where both sides changed.

    \b
    omoide mirror status
    """
    memory = open_for_command(settings_for(target))
    mirrors = _select_mirrors(memory, ref)
    plans = _each(memory, mirrors, lambda mirroring, mirror: mirroring.plan(mirror))
    numbers = {mirror.number for mirror in mirrors}
    conflicts = [one for one in memory.conflicts() if one.conflict.mirror in numbers]
    if as_json:
        print_json({
            "mirrors": [
                {
                    **_mirror_record(mirror),
                    "in_sync": not (plan.imported or plan.written or plan.troubles),
                    "to_import": plan.imported,
                    "to_write": plan.written,
                    "troubles": plan.troubles,
                }
                for mirror, plan in plans
            ],
            "conflicts": [_conflict_record(one) for one in conflicts],
        })  # fmt: skip
        return
    for mirror, plan in plans:
        click.echo(_line(mirror))
        waiting = [f"{n} to {what}" for n, what in ((plan.imported, "take in"), (plan.written, "write")) if n]
        click.echo(f"    {', '.join(waiting) or 'in step'}")
        for trouble in plan.troubles:
            click.echo(f"    {escape_control(trouble)}", err=True)
    for one in conflicts:
        _print_conflict(one)
    if not mirrors:
        click.echo("there are no mirrors: `omoide mirror add` makes one", err=True)


@mirror_command.command("resolve")
@click.argument("ref", metavar="REF")
@click.option("--take", type=click.Choice([side.value for side in Side]), required=True, help="The side that stands.")
@target_options
@json_option
def resolve_command(ref: str, take: str, target: Target, as_json: bool) -> None:
    """Pick the text that stands where both sides changed; the other stays in the history.

    \b
    omoide mirror resolve 12 --take file
    """
    with open_memory(target) as (memory, scope):
        done = memory.resolve(ref, take, scope=scope)
    if as_json:
        print_json(serialize.memory(done))
    else:
        click.echo(f"resolved  {headline(done)}")


@mirror_command.command("rebuild")
@_ref
@click.option(
    "--from", "source", type=click.Choice([side.value for side in Side]), required=True, help="The side that is right."
)
@store_option
@json_option
def rebuild_command(ref: str | None, source: str, target: Target, as_json: bool) -> None:
    """Make one side of a mirror from the other, whatever is newer.

    From the database: entries that it does not hold leave the files, which are backed up first. From the files: what they
    say becomes the newest version, and memories that are not in them are archived.

    \b
    omoide mirror rebuild --from database
    omoide mirror rebuild .agent/memories.md --from file
    """
    memory = open_for_command(settings_for(target))
    chosen = _select_mirrors(memory, ref)
    if len(chosen) != 1:
        raise InvalidInput("say which mirror to rebuild: its number or its path, as `omoide mirror list` shows them")
    mirror = memory.reset_sync_state(chosen[0].number)
    report = _sync_engine(memory).sync(mirror, Side(source))
    if as_json:
        print_json({**_mirror_record(mirror), **_report_record(report)})
    else:
        click.echo(f"rebuilt  {_line(mirror)}")
        _print_report(report)


@mirror_command.command("watch")
@_ref
@store_option
@json_option
def watch_command(ref: str | None, target: Target, as_json: bool) -> None:
    """Keep files and memories in step at once, until you press Ctrl-C.

    Without it, edits of the files are noticed when something is next read from the memory.

    \b
    omoide mirror watch
    """
    from omoide.sync.watch import watch  # noqa: PLC0415 - only for this command

    memory = open_for_command(settings_for(target))
    mirrors = _select_mirrors(memory, ref)
    if not mirrors:
        raise NotFound("there are no mirrors to watch: `omoide mirror add` makes one")
    click.echo(f"watching {len(mirrors)}: press Ctrl-C to stop", err=True)
    for mirror, report in watch(_sync_engine(memory), mirrors):
        if as_json:
            click.echo(serialize.dump_json({**_mirror_record(mirror), **_report_record(report)}, indent=0))
        else:
            click.echo(f"{_line(mirror)}: {_report_summary(report)}")


def _each(
    memory: "Service", mirrors: Sequence[Mirror], work: "Callable[[SyncEngine, Mirror], SyncReport]"
) -> "list[tuple[Mirror, SyncReport]]":
    """Do something with each mirror. One that cannot be reached does not keep the others from it."""
    mirroring = _sync_engine(memory)
    done = ((mirror, mirroring.attempt(mirror, partial(work, mirroring, mirror))) for mirror in mirrors)
    return [(mirror, report) for mirror, report in done if report is not None]


def _sync_engine(memory: "Service") -> "SyncEngine":
    from omoide import app  # noqa: PLC0415 - the store loads when it is opened

    return app.sync_engine(memory)


def _target(given: str | None, format: str | None) -> tuple[Path, str]:
    """The absolute path that is meant, in the main worktree, and the format that goes with it."""
    try:
        here = Path.cwd()
        if given is None:
            root = git_root(here)
            if root is None or format not in (None, "memories"):
                raise InvalidInput("say which file or directory: only in a repository, and for a list, there is a usual one")
            return root / ".agent" / "memories.md", "memories"
        path = here / Path(given).expanduser()
        path = path.parent.resolve() / path.name if path.name not in ("", "..") else path.resolve()
    except OSError as error:
        raise InvalidInput(f"{given or 'this directory'} cannot be read ({error.strerror}): name another path") from error
    path = _main_worktree_path(path)
    directory = path.is_dir() or given.endswith("/") or path.suffix != ".md"
    if format is None:
        format = "entries" if directory else "block" if path.name in _GUIDES else "memories"
    if format == "memories" and directory:
        path /= "memories.md"
    elif format == "block" and directory:
        path /= _GUIDES[0]
    elif format in ("entries", "tree") and not directory:
        raise InvalidInput(f"{path} is a file, and {format} need a directory of their own: name one")
    return path, format


def _main_worktree_path(path: Path) -> Path:
    """The same path in the main worktree: all worktrees of a repository share one."""
    there = next((directory for directory in path.parents if directory.is_dir()), path.parent)
    tree, main = work_tree(there), git_root(there)
    return main / path.relative_to(tree) if tree and main and tree != main else path


def _select_mirrors(memory: "Service", ref: str | None) -> Sequence[Mirror]:
    """The mirror that is meant by its number or its path; all of them if none is named."""
    mirrors = memory.mirrors()
    if ref is None:
        return mirrors
    if ref.removeprefix("#").isdigit():
        found = [mirror for mirror in mirrors if mirror.number == int(ref.removeprefix("#"))]
    else:
        path = Path(ref).expanduser()
        meant = {str(_main_worktree_path((Path.cwd() / path).absolute())), str((Path.cwd() / path).resolve())}
        found = [mirror for mirror in mirrors if _path(mirror).rstrip("/") in meant]
    if not found:
        raise NotFound(f"there is no mirror {ref}: `omoide mirror list` shows what there is")
    return found


def _path(mirror: Mirror) -> str:
    return str(Path(mirror.place) / mirror.file) if mirror.file else f"{mirror.place}/"


def _mirror_record(mirror: Mirror) -> dict[str, Any]:
    return {
        "number": mirror.number,
        "scope": serialize.scope(mirror.scope),
        "path": _path(mirror),
        "format": mirror.format,
        "choice": mirror.choice.value,
        "created_at": serialize.format_time(mirror.created_at),
    }


def _report_record(report: "SyncReport") -> dict[str, Any]:
    return {
        "imported": report.imported,
        "written": report.written,
        "conflicts": report.conflicts,
        "troubles": report.troubles,
    }


def _line(mirror: Mirror) -> str:
    parts = [click.style(str(mirror.number), fg="cyan"), click.style(escape_control(_path(mirror)), bold=True)]
    return "  ".join([*parts, f"[{mirror.format}]", f"{mirror.choice.value} of {escape_control(str(mirror.scope))}"])


def _report_summary(report: "SyncReport") -> str:
    return f"{report.imported} taken in, {report.written} {'file' if report.written == 1 else 'files'} written"


def _print_report(report: "SyncReport") -> None:
    click.echo(f"    {_report_summary(report)}")
    if report.conflicts:
        click.echo(f"    {report.conflicts} in dispute: `omoide mirror status` shows both texts", err=True)


def _conflict_record(one: "ConflictDetail") -> dict[str, Any]:
    return {
        "mirror": one.conflict.mirror,
        "memory": serialize.memory(one.memory),
        "at": serialize.format_time(one.conflict.at),
        "stands": one.conflict.stands.value,
        "file": None if one.file is None else serialize.memory(one.file),
        "database": serialize.memory(one.database),
    }


def _print_conflict(one: "ConflictDetail") -> None:
    click.echo(f"\n{headline(one.memory)}")
    click.echo(f"    both sides changed, {day(one.conflict.at)}; the {one.conflict.stands.value}'s text stands")
    for side, text in (("file", None if one.file is None else one.file.content), ("database", one.database.content)):
        lines = ["(deleted)"] if text is None else escape_control(text[:2000]).splitlines()
        for line in lines:
            click.echo(f"    {click.style(f'{side:<8}', dim=True)}  {line}")
    click.echo(f"    omoide mirror resolve {one.memory.number} --take file, or --take database")
