"""Mirrors: mirror add, list, remove, sync, status, resolve, rebuild, watch."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.errors import InvalidInput, NotFound
from omoide.interfaces import wire
from omoide.interfaces.cli.common import Place, jsonable, opened, placed, settings_of, stored, until_done
from omoide.interfaces.cli.screen import day, headline, print_json, print_table, visible
from omoide.interfaces.place import git_root, work_tree
from omoide.model import Mirror, Side

if TYPE_CHECKING:  # see common
    from omoide.mirroring.desk import Report
    from omoide.mirroring.engine import Mirroring
    from omoide.service import Service
    from omoide.service.mirrors import Disputed

_FORMATS = ("memories", "entries", "tree", "block")
_GUIDES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
_ref = click.argument("ref", metavar="[MIRROR]", required=False)


@click.group("mirror")
def mirror_command() -> None:
    """Keep files and memories in step, both ways.

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
@placed
@jsonable
def add_command(path: str | None, format: str | None, choice: str, place: Place, as_json: bool) -> None:
    """Bind a scope to a file or a directory; in a repository, its project to .agent/memories.md.

    What stands there already is taken in. Worktrees share the file of the main one.

    \b
    omoide mirror add
    omoide mirror add docs/memories/ --format entries
    omoide mirror add CLAUDE.md
    omoide mirror add ~/notes.md --global --choice own
    """
    target, format = _target(path, format)
    with opened(place, writing=True) as (memory, scope):
        mirror = memory.mirror(target, format, scope=scope, choice=choice)
        try:
            report = _mirroring(memory).sync(mirror, whole=True)
        except BaseException:  # nobody wants a mirror of which only an error message tells
            memory.unmirror(mirror.number)
            raise
    if as_json:
        print_json({**_shape(mirror), **_done(report)})
    else:
        click.echo(f"added  {_line(mirror)}")
        _print_report(report)


@mirror_command.command("list")
@stored
@jsonable
def list_command(place: Place, as_json: bool) -> None:
    """List the mirrors of the store.

    \b
    omoide mirror list
    """
    mirrors = until_done(settings_of(place)).mirrors()
    if as_json:
        print_json({"mirrors": [_shape(mirror) for mirror in mirrors]})
    elif mirrors:
        rows = [[str(one.number), str(one.scope), one.format, one.choice.value, _path(one)] for one in mirrors]
        print_table(["#", "scope", "format", "choice", "path"], rows, flexible=(4, 1))
    else:
        click.echo("there are no mirrors: `omoide mirror add` makes one", err=True)


@mirror_command.command("remove")
@click.argument("ref", metavar="MIRROR")
@stored
@jsonable
def remove_command(ref: str, place: Place, as_json: bool) -> None:
    """End a mirror. Its files and its memories stay as they are.

    \b
    omoide mirror remove 1
    omoide mirror remove .agent/memories.md
    """
    memory = until_done(settings_of(place))
    gone = memory.unmirror(_chosen(memory, ref)[0].number)
    if as_json:
        print_json(_shape(gone))
    else:
        click.echo(f"removed  {_line(gone)}")


@mirror_command.command("sync")
@_ref
@stored
@jsonable
def sync_command(ref: str | None, place: Place, as_json: bool) -> None:
    """Bring both sides together now, comparing all there is; a file that is gone is made anew.

    \b
    omoide mirror sync
    """
    memory = until_done(settings_of(place))
    reports = _each(memory, _chosen(memory, ref), lambda mirroring, mirror: mirroring.sync(mirror, whole=True))
    for trouble in (trouble for _, report in reports for trouble in report.troubles):
        _mirroring(memory).tell(trouble)  # unless the sync has told it already
    if as_json:
        print_json({"mirrors": [{**_shape(mirror), **_done(report)} for mirror, report in reports]})
    else:
        for mirror, report in reports:
            click.echo(_line(mirror))
            _print_report(report)
    click.get_current_context().exit(1 if any(report.troubles for _, report in reports) else 0)


@mirror_command.command("status")
@_ref
@stored
@jsonable
def status_command(ref: str | None, place: Place, as_json: bool) -> None:
    """Show what is not in step, what keeps it from being so, and where both sides changed.

    \b
    omoide mirror status
    """
    memory = until_done(settings_of(place))
    mirrors = _chosen(memory, ref)
    plans = _each(memory, mirrors, lambda mirroring, mirror: mirroring.plan(mirror))
    numbers = {mirror.number for mirror in mirrors}
    disputes = [one for one in memory.disputes() if one.dispute.mirror in numbers]
    if as_json:
        print_json({
            "mirrors": [
                {
                    **_shape(mirror),
                    "in_step": not (plan.taken_in or plan.written or plan.troubles),
                    "to_take_in": plan.taken_in,
                    "to_write": plan.written,
                    "troubles": plan.troubles,
                }
                for mirror, plan in plans
            ],
            "disputes": [_dispute(one) for one in disputes],
        })  # fmt: skip
        return
    for mirror, plan in plans:
        click.echo(_line(mirror))
        waiting = [f"{n} to {what}" for n, what in ((plan.taken_in, "take in"), (plan.written, "write")) if n]
        click.echo(f"    {', '.join(waiting) or 'in step'}")
        for trouble in plan.troubles:
            click.echo(f"    {visible(trouble)}", err=True)
    for one in disputes:
        _print_dispute(one)
    if not mirrors:
        click.echo("there are no mirrors: `omoide mirror add` makes one", err=True)


@mirror_command.command("resolve")
@click.argument("ref", metavar="REF")
@click.option("--take", type=click.Choice([side.value for side in Side]), required=True, help="The side that stands.")
@placed
@jsonable
def resolve_command(ref: str, take: str, place: Place, as_json: bool) -> None:
    """Pick the text that stands where both sides changed; the other stays in the history.

    \b
    omoide mirror resolve 12 --take file
    """
    with opened(place) as (memory, scope):
        done = memory.resolve(ref, take, scope=scope)
    if as_json:
        print_json(wire.memory(done))
    else:
        click.echo(f"resolved  {headline(done)}")


@mirror_command.command("rebuild")
@_ref
@click.option(
    "--from", "source", type=click.Choice([side.value for side in Side]), required=True, help="The side that is right."
)
@stored
@jsonable
def rebuild_command(ref: str | None, source: str, place: Place, as_json: bool) -> None:
    """Make one side of a mirror from the other, whatever is newer.

    From the database: entries that it does not hold leave the files, which are backed up first. From the files: what they
    say becomes the newest version, and memories that are not in them are archived.

    \b
    omoide mirror rebuild --from database
    omoide mirror rebuild .agent/memories.md --from file
    """
    memory = until_done(settings_of(place))
    chosen = _chosen(memory, ref)
    if len(chosen) != 1:
        raise InvalidInput("say which mirror to rebuild: its number or its path, as `omoide mirror list` shows them")
    mirror = memory.part(chosen[0].number)
    report = _mirroring(memory).sync(mirror, Side(source))
    if as_json:
        print_json({**_shape(mirror), **_done(report)})
    else:
        click.echo(f"rebuilt  {_line(mirror)}")
        _print_report(report)


@mirror_command.command("watch")
@_ref
@stored
@jsonable
def watch_command(ref: str | None, place: Place, as_json: bool) -> None:
    """Keep files and memories in step at once, until you press Ctrl-C.

    Without it, edits of the files are noticed when something is next read from the memory.

    \b
    omoide mirror watch
    """
    from omoide.mirroring.watching import watched  # noqa: PLC0415 - only for this command

    memory = until_done(settings_of(place))
    mirrors = _chosen(memory, ref)
    if not mirrors:
        raise NotFound("there are no mirrors to watch: `omoide mirror add` makes one")
    click.echo(f"watching {len(mirrors)}: press Ctrl-C to stop", err=True)
    for mirror, report in watched(_mirroring(memory), mirrors):
        if as_json:
            click.echo(wire.dumped({**_shape(mirror), **_done(report)}, indent=0))
        else:
            click.echo(f"{_line(mirror)}: {_told(report)}")


def _each(
    memory: "Service", mirrors: Sequence[Mirror], work: "Callable[[Mirroring, Mirror], Report]"
) -> "list[tuple[Mirror, Report]]":
    """Do something with each mirror. One that cannot be reached does not keep the others from it."""
    mirroring = _mirroring(memory)
    done = ((mirror, mirroring.attempt(mirror, partial(work, mirroring, mirror))) for mirror in mirrors)
    return [(mirror, report) for mirror, report in done if report is not None]


def _mirroring(memory: "Service") -> "Mirroring":
    from omoide import app  # noqa: PLC0415 - the store loads when it is opened

    return app.mirroring(memory)


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
    path = _shared(path)
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


def _shared(path: Path) -> Path:
    """The same path in the main worktree: all worktrees of a repository share one."""
    there = next((directory for directory in path.parents if directory.is_dir()), path.parent)
    tree, main = work_tree(there), git_root(there)
    return main / path.relative_to(tree) if tree and main and tree != main else path


def _chosen(memory: "Service", ref: str | None) -> Sequence[Mirror]:
    """The mirror that is meant by its number or its path; all of them if none is named."""
    mirrors = memory.mirrors()
    if ref is None:
        return mirrors
    if ref.removeprefix("#").isdigit():
        found = [mirror for mirror in mirrors if mirror.number == int(ref.removeprefix("#"))]
    else:
        path = Path(ref).expanduser()
        meant = {str(_shared((Path.cwd() / path).absolute())), str((Path.cwd() / path).resolve())}
        found = [mirror for mirror in mirrors if _path(mirror).rstrip("/") in meant]
    if not found:
        raise NotFound(f"there is no mirror {ref}: `omoide mirror list` shows what there is")
    return found


def _path(mirror: Mirror) -> str:
    return str(Path(mirror.place) / mirror.file) if mirror.file else f"{mirror.place}/"


def _shape(mirror: Mirror) -> dict[str, Any]:
    return {
        "number": mirror.number,
        "scope": wire.scope(mirror.scope),
        "path": _path(mirror),
        "format": mirror.format,
        "choice": mirror.choice.value,
        "created_at": wire.moment(mirror.created_at),
    }


def _done(report: "Report") -> dict[str, Any]:
    return {
        "taken_in": report.taken_in,
        "written": report.written,
        "disputes": report.disputes,
        "troubles": report.troubles,
    }


def _line(mirror: Mirror) -> str:
    parts = [click.style(str(mirror.number), fg="cyan"), click.style(visible(_path(mirror)), bold=True)]
    return "  ".join([*parts, f"[{mirror.format}]", f"{mirror.choice.value} of {visible(str(mirror.scope))}"])


def _told(report: "Report") -> str:
    return f"{report.taken_in} taken in, {report.written} {'file' if report.written == 1 else 'files'} written"


def _print_report(report: "Report") -> None:
    click.echo(f"    {_told(report)}")
    if report.disputes:
        click.echo(f"    {report.disputes} in dispute: `omoide mirror status` shows both texts", err=True)


def _dispute(one: "Disputed") -> dict[str, Any]:
    return {
        "mirror": one.dispute.mirror,
        "memory": wire.memory(one.memory),
        "at": wire.moment(one.dispute.at),
        "stands": one.dispute.stands.value,
        "file": None if one.file is None else wire.memory(one.file),
        "database": wire.memory(one.database),
    }


def _print_dispute(one: "Disputed") -> None:
    click.echo(f"\n{headline(one.memory)}")
    click.echo(f"    both sides changed, {day(one.dispute.at)}; the {one.dispute.stands.value}'s text stands")
    for side, text in (("file", None if one.file is None else one.file.content), ("database", one.database.content)):
        lines = ["(deleted)"] if text is None else visible(text[:2000]).splitlines()
        for line in lines:
            click.echo(f"    {click.style(f'{side:<8}', dim=True)}  {line}")
    click.echo(f"    omoide mirror resolve {one.memory.number} --take file, or --take database")
