"""mirror put-back, forget-missing, take-out and accept: entries that a sync leaves to a person, and how they are shown."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_for_command, settings_for, store_option
from omoide.interfaces.cli.output import escape_control, headline, print_json
from omoide.model import Mirror
from omoide.sync import mirrors

if TYPE_CHECKING:  # they load with the store
    from omoide.service import Service
    from omoide.sync.engine import SyncEngine


_SHOWN = 20
"""Entries that are named; a file that is gone may have had thousands."""
_held_refs = click.argument("refs", metavar="[REF]...", nargs=-1)


@click.command("put-back")
@click.argument("ref", metavar="MIRROR")
@_held_refs
@store_option
@json_option
def put_back_command(ref: str, refs: tuple[str, ...], target: Target, as_json: bool) -> None:
    """Write missing or outdated entries to the files again.

    All that `omoide mirror status` lists as not in the files, or as showing an earlier text, or only those named.

    \b
    omoide mirror put-back 1
    omoide mirror put-back .agent/memories.md 12 14
    """
    _settle(mirrors.put_back, "written", ref, refs, target, as_json=as_json)


@click.command("forget-missing")
@click.argument("ref", metavar="MIRROR")
@_held_refs
@store_option
@json_option
def forget_missing_command(ref: str, refs: tuple[str, ...], target: Target, as_json: bool) -> None:
    """Forget memories whose entries are missing from the files.

    All that `omoide mirror status` lists as not in the files, or only those named. `omoide restore` brings them back.

    \b
    omoide mirror forget-missing 1
    omoide mirror forget-missing .agent/memories.md 12 14
    """
    _settle(mirrors.forget_missing, "forgotten", ref, refs, target, as_json=as_json)


@click.command("take-out")
@click.argument("ref", metavar="MIRROR")
@_held_refs
@store_option
@json_option
def take_out_command(ref: str, refs: tuple[str, ...], target: Target, as_json: bool) -> None:
    """Take archived and forgotten memories out of the files.

    All that `omoide mirror status` lists as archived or forgotten, but in a file, or only those named.

    \b
    omoide mirror take-out 1
    """
    _settle(mirrors.take_out, "taken out", ref, refs, target, as_json=as_json)


@click.command("accept")
@click.argument("ref", metavar="MIRROR")
@_held_refs
@store_option
@json_option
def accept_command(ref: str, refs: tuple[str, ...], target: Target, as_json: bool) -> None:
    """Import the earlier texts that the files show.

    All that `omoide mirror status` lists as showing an earlier text, which git or an old buffer brought back, or only those
    named. The newer texts stay in the history of the memories.

    \b
    omoide mirror accept 1
    omoide mirror accept .agent/memories.md 12
    """
    _settle(mirrors.accept, "accepted", ref, refs, target, as_json=as_json)


def _settle(
    settle: "Callable[[Service, SyncEngine, Mirror, Sequence[str]], list[mirrors.HeldEntry]]",
    action: str,
    ref: str,
    refs: Sequence[str],
    target: Target,
    *,
    as_json: bool,
) -> None:
    memory = open_for_command(settings_for(target))
    mirror = mirrors.select(memory, ref)[0]
    settled = settle(memory, sync_engine(memory), mirror, refs)
    if as_json:
        print_json({**mirror_record(mirror), "entries": [held_record(one) for one in settled]})
        return
    for one in settled:
        click.echo(f"{action}  {headline(one.memory)}")
    if not settled:
        click.echo("there is nothing to do: `omoide mirror status` shows what is not in sync", err=True)


def held_record(one: mirrors.HeldEntry) -> dict[str, Any]:
    """Such an entry as JSON."""
    return {
        "number": one.memory.number,
        "id": one.memory.id,
        "topic": one.memory.topic,
        "file": one.file,
        "line": one.line or None,
        "reason": one.reason.value,
        "why": one.why,
    }


def print_held(mirror: Mirror, held: Sequence[mirrors.HeldEntry]) -> None:
    """Print such entries, why they are left, and the commands for them."""
    missing = [one for one in held if one.is_missing]
    outdated = [one for one in held if one.is_outdated]
    retired = [one for one in held if one.is_retired]
    for one in missing[:_SHOWN]:
        where = f"cannot be read in line {one.line} of" if one.line else "not in"
        click.echo(f"    {where} {escape_control(one.file)}: {headline(one.memory)}")
        click.echo(f"        not archived, because {one.why}")
    _print_more(len(missing))
    if missing:
        click.echo(f"    omoide mirror put-back {mirror.number}        writes them to the files again")
        click.echo(f"    omoide mirror forget-missing {mirror.number}  forgets these memories")
    for one in outdated[:_SHOWN]:
        click.echo(f"    an earlier text is in {escape_control(one.file)}: {headline(one.memory)}")
        click.echo(f"        neither side was changed, because {one.why}")
    _print_more(len(outdated))
    if outdated:
        click.echo(f"    omoide mirror put-back {mirror.number}        writes the newer texts to the files again")
        click.echo(f"    omoide mirror accept {mirror.number}          imports the earlier texts")
    for one in retired[:_SHOWN]:
        where = f"line {one.line} of " if one.line else ""
        click.echo(f"    {one.memory.state.value}, but in {where}{escape_control(one.file)}: {headline(one.memory)}")
    _print_more(len(retired))
    if retired:
        click.echo(f"    omoide mirror take-out {mirror.number}        removes them from the files")


def _print_more(count: int) -> None:
    if count > _SHOWN:
        click.echo(f"    and {count - _SHOWN} more: `omoide mirror status --json` lists all")


def sync_engine(memory: "Service") -> "SyncEngine":
    """The engine that syncs the mirrors of a service."""
    from omoide import app  # lazy: the store loads when it is opened

    return app.sync_engine(memory)


def mirror_path(mirror: Mirror) -> str:
    """The file or directory of a mirror, as it is shown."""
    return f"{mirrors.location(mirror)}{'' if mirror.format in ('memories', 'block') else '/'}"


def mirror_record(mirror: Mirror) -> dict[str, Any]:
    """A mirror as JSON."""
    return {
        "number": mirror.number,
        "scope": serialize.scope(mirror.scope),
        "path": mirror_path(mirror),
        "format": mirror.format,
        "choice": mirror.choice.value,
        "created_at": serialize.format_time(mirror.created_at),
    }
