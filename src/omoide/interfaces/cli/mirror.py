"""mirror add, list, remove, sync, status, put-back, forget-missing, take-out, accept, resolve, rebuild and watch."""

from typing import TYPE_CHECKING, Any

import click

from omoide.errors import InvalidInput, NotFound
from omoide.interfaces import serialize
from omoide.interfaces.cli.mirror_entries import (
    accept_command,
    forget_missing_command,
    held_record,
    mirror_path,
    mirror_record,
    print_held,
    put_back_command,
    sync_engine,
    take_out_command,
)
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_for_command,
    open_memory,
    settings_for,
    store_option,
    target_options,
    working_directory,
)
from omoide.interfaces.cli.output import count_of, day, escape_control, headline, print_json, print_table
from omoide.model import Mirror, Side
from omoide.sync import git_attributes, mirrors

if TYPE_CHECKING:  # they load with the store
    from omoide.service.mirrors import ConflictDetail
    from omoide.sync.run import SyncReport

_NO_MIRRORS = "there are no mirrors: `omoide mirror add` creates one"
_CHARACTERS = 2000
"""Characters of each text of a conflict that are shown."""
_ref = click.argument("ref", metavar="[MIRROR]", required=False)


@click.group("mirror")
def mirror_command() -> None:
    """Keep files and memories in sync, both ways.

    Every write to the memory goes to the files; every edit of the files is imported as a write of the person.

    \b
    omoide mirror add
    omoide mirror add notes/ --format entries
    omoide mirror status
    """


@mirror_command.command("add")
@click.argument("path", required=False)
@click.option("--format", type=click.Choice(mirrors.FORMATS), help="The format of the files; by default it suits the path.")
@click.option(
    "--choice",
    type=click.Choice(["all", "own"]),
    help="Which memories: all of the scope, or only those that come from the files. A known mirror keeps its choice.",
)
@click.option(
    "--entries",
    is_flag=True,
    help="A file for each memory: in .omoide/memory of the repository, with --global in the data directory, or in PATH.",
)
@click.option("--retire/--no-retire", default=None, help="Let retention archive what is in a list or a block.")
@click.option(
    "--adopt",
    metavar="NAME",
    multiple=True,
    help="Also mirror these files, which have no key and no id, by name or pattern; may be given more than once.",
)
@click.option(
    "--gitattributes", is_flag=True, help="Add a line to .gitattributes that lets git merge additions of both sides."
)
@target_options
@json_option
def add_command(
    path: str | None,
    format: str | None,
    target: Target,
    as_json: bool,
    entries: bool,
    gitattributes: bool,
    **options: Any,
) -> None:
    """Mirror a scope in a file or directory.

    By default, the project of the repository in .agent/memories.md. What a file already contains is imported; in a
    directory that has files already, only those with a key or an id in their front matter, and those named with --adopt.
    Worktrees share the file of the main one.

    \b
    omoide mirror add
    omoide mirror add docs/memories/ --format entries
    omoide mirror add --entries
    omoide mirror add --entries --global
    omoide mirror add CLAUDE.md
    omoide mirror add ~/notes.md --global --choice own
    """
    here, settings = working_directory(), settings_for(target)
    if entries and format not in (None, "entries"):
        raise InvalidInput(f"--entries cannot be combined with --format {format}: choose one")
    with open_memory(target, writing=True) as (memory, scope):
        file, form = mirrors.resolve_target(path, format, here, settings, scope=scope, entries=entries)
        mirror, report = mirrors.add(
            memory, sync_engine(memory), file, form, scope=scope, **options, may_exist=gitattributes
        )
    hints = git_attributes.let_git_merge(git_attributes.merged_files(mirror), add=gitattributes)
    if as_json:
        print_json({**mirror_record(mirror), **_report_record(report)})
    else:
        click.echo(f"added  {_line(mirror)}")
        _print_report(report)
    for hint in (*hints, *mirrors.describe_missing_names(mirror, options["adopt"])):
        click.echo(escape_control(hint), err=True)


@mirror_command.command("list")
@store_option
@json_option
def list_command(target: Target, as_json: bool) -> None:
    """List the mirrors of the store.

    \b
    omoide mirror list
    """
    found = open_for_command(settings_for(target)).mirrors()
    if as_json:
        print_json({"mirrors": [mirror_record(mirror) for mirror in found]})
    elif found:
        rows = [
            [str(mirror.number), str(mirror.scope), mirror.format, mirror.choice.value, mirror_path(mirror)]
            for mirror in found
        ]
        print_table(["#", "scope", "format", "choice", "path"], rows, flexible=(4, 1))
    else:
        click.echo(_NO_MIRRORS, err=True)


@mirror_command.command("remove")
@click.argument("ref", metavar="MIRROR")
@store_option
@json_option
def remove_command(ref: str, target: Target, as_json: bool) -> None:
    """Remove a mirror. Its files and its memories stay as they are.

    \b
    omoide mirror remove 1
    omoide mirror remove .agent/memories.md
    """
    memory = open_for_command(settings_for(target))
    removed = memory.unmirror(mirrors.select(memory, ref)[0].number)
    if as_json:
        print_json(mirror_record(removed))
    else:
        click.echo(f"removed  {_line(removed)}")


@mirror_command.command("sync")
@_ref
@store_option
@json_option
def sync_command(ref: str | None, target: Target, as_json: bool) -> None:
    """Sync both sides now, comparing everything.

    Entries that are missing from a file are not written again: `omoide mirror put-back` does that.

    \b
    omoide mirror sync
    """
    memory = open_for_command(settings_for(target))
    engine = sync_engine(memory)
    reports = mirrors.sync_each(engine, mirrors.select(memory, ref))
    troubles = [trouble for _, report in reports for trouble in report.troubles]
    for trouble in troubles:
        engine.report(trouble)  # unless the sync has reported it already
    if as_json:
        print_json({"mirrors": [{**mirror_record(mirror), **_report_record(report)} for mirror, report in reports]})
    else:
        for mirror, report in reports:
            click.echo(_line(mirror))
            _print_report(report)
    click.get_current_context().exit(1 if troubles else 0)


@mirror_command.command("status")
@_ref
@store_option
@json_option
def status_command(ref: str | None, target: Target, as_json: bool) -> None:
    """Show what is not in sync, what prevents it, and conflicts.

    Also which memories are not in the files they were in, why they were not archived, and what to do.

    \b
    omoide mirror status
    """
    memory = open_for_command(settings_for(target))
    selected = mirrors.select(memory, ref)
    found = mirrors.status_each(sync_engine(memory), selected)
    conflicts = mirrors.conflicts_of(memory, selected)
    if as_json:
        records = [_status_record(status) for status in found]
        print_json({"mirrors": records, "conflicts": [_conflict_record(detail) for detail in conflicts]})
        return
    for status in found:
        _print_status(status)
        print_held(status.mirror, status.held)
    for detail in conflicts:
        _print_conflict(detail)
    if not selected:
        click.echo(_NO_MIRRORS, err=True)


def _status_record(status: mirrors.MirrorStatus) -> dict[str, Any]:
    mirror, plan, held = status
    return {
        **mirror_record(mirror),
        "in_sync": status.in_sync,
        "to_import": plan.imported,
        "to_write": plan.written,
        "troubles": plan.troubles,
        "missing": [held_record(one) for one in held if one.is_missing],
        "outdated": [held_record(one) for one in held if one.is_outdated],
        "retired": [held_record(one) for one in held if one.is_retired],
    }


def _print_status(status: mirrors.MirrorStatus) -> None:
    mirror, plan, held = status
    click.echo(_line(mirror))
    counts = ((plan.imported, "import"), (plan.written, "write"), (len(held), "decide on"))
    pending = [f"{count} to {action}" for count, action in counts if count]
    if pending or not plan.troubles:
        click.echo(f"    {', '.join(pending) or 'in sync'}")
    if plan.imported or plan.written:
        click.echo(f"    omoide mirror sync {mirror.number}            brings both sides in sync")
    for trouble in plan.troubles:
        click.echo(f"    {escape_control(trouble)}", err=True)


mirror_command.add_command(put_back_command)
mirror_command.add_command(forget_missing_command)
mirror_command.add_command(take_out_command)
mirror_command.add_command(accept_command)


@mirror_command.command("resolve")
@click.argument("ref", metavar="REF")
@click.option("--take", type=click.Choice([side.value for side in Side]), required=True, help="The side whose text stands.")
@target_options
@json_option
def resolve_command(ref: str, take: str, target: Target, as_json: bool) -> None:
    """Choose the text that stands where both sides changed.

    The other stays in the history.

    \b
    omoide mirror resolve 12 --take file
    """
    with open_memory(target) as (memory, scope):
        resolved = memory.resolve(ref, take, scope=scope)
    if as_json:
        print_json(serialize.memory(resolved))
    else:
        click.echo(f"resolved  {headline(resolved)}")


@mirror_command.command("rebuild")
@_ref
@click.option(
    "--from", "source", type=click.Choice([side.value for side in Side]), required=True, help="The side that is right."
)
@store_option
@json_option
def rebuild_command(ref: str | None, source: str, target: Target, as_json: bool) -> None:
    """Rebuild one side of a mirror from the other.

    From the database: entries that it does not contain are removed from the files, which are backed up first. From the
    files: their texts become the newest version, and memories that are not in them are archived.

    \b
    omoide mirror rebuild --from database
    omoide mirror rebuild .agent/memories.md --from file
    """
    memory = open_for_command(settings_for(target))
    mirror, report = mirrors.rebuild(memory, sync_engine(memory), mirrors.select_one(memory, ref), Side(source))
    if as_json:
        print_json({**mirror_record(mirror), **_report_record(report)})
    else:
        click.echo(f"rebuilt  {_line(mirror)}")
        _print_report(report)


@mirror_command.command("watch")
@_ref
@store_option
@json_option
def watch_command(ref: str | None, target: Target, as_json: bool) -> None:
    """Sync files and memories at every change until Ctrl-C.

    Without it, edits of the files are imported at the next read of the memory.

    \b
    omoide mirror watch
    """
    from omoide.sync.watch import watch  # lazy: only this command needs it

    memory = open_for_command(settings_for(target))
    selected = mirrors.select(memory, ref)
    if not selected:
        raise NotFound(_NO_MIRRORS)
    click.echo(f"watching {count_of(len(selected), 'mirror', 'mirrors')}: press Ctrl-C to stop", err=True)
    for mirror, report in watch(sync_engine(memory), selected):
        if as_json:
            click.echo(serialize.dump_json({**mirror_record(mirror), **_report_record(report)}, indent=0))
        else:
            click.echo(f"{_line(mirror)}: {_report_summary(report)}")


def _report_record(report: "SyncReport") -> dict[str, Any]:
    return {
        "imported": report.imported,
        "written": report.written,
        "conflicts": report.conflicts,
        "troubles": report.troubles,
    }


def _line(mirror: Mirror) -> str:
    parts = [click.style(str(mirror.number), fg="cyan"), click.style(escape_control(mirror_path(mirror)), bold=True)]
    return "  ".join([*parts, f"[{mirror.format}]", f"{mirror.choice.value} of {escape_control(str(mirror.scope))}"])


def _report_summary(report: "SyncReport") -> str:
    return f"{report.imported} imported, {count_of(report.written, 'file', 'files')} written"


def _print_report(report: "SyncReport") -> None:
    click.echo(f"    {_report_summary(report)}")
    if report.conflicts:
        click.echo(
            f"    {count_of(report.conflicts, 'conflict', 'conflicts')}: `omoide mirror status` shows both texts", err=True
        )


def _conflict_record(detail: "ConflictDetail") -> dict[str, Any]:
    return {
        "mirror": detail.conflict.mirror,
        "memory": serialize.memory(detail.memory),
        "at": serialize.format_time(detail.conflict.at),
        "stands": detail.conflict.stands.value,
        "file": None if detail.file is None else serialize.memory(detail.file),
        "database": serialize.memory(detail.database),
    }


def _print_conflict(detail: "ConflictDetail") -> None:
    conflict = detail.conflict
    click.echo(f"\n{headline(detail.memory)}")
    click.echo(f"    both sides changed, {day(conflict.at)}; the text of the {conflict.stands.value} stands")
    texts = {"file": None if detail.file is None else detail.file.content, "database": detail.database.content}
    for side, text in texts.items():
        lines = ["(deleted)"] if text is None else escape_control(text[:_CHARACTERS]).splitlines()
        for line in lines:
            click.echo(f"    {click.style(f'{side:<8}', dim=True)}  {line}")
    click.echo(f"    omoide mirror resolve {detail.memory.number} --take file, or --take database")
