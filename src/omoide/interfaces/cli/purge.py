"""purge: erase forgotten memories. The one command that cannot be undone."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_memory, target_options
from omoide.interfaces.cli.output import count_of, escape_control, headline, print_json
from omoide.model import Memory
from omoide.service.copies import HOLDS, PurgeReport

_SHOWN = 20
"""Memories that the confirmation lists."""


@click.command("purge")
@click.argument("refs", metavar="[REF...]", nargs=-1)
@click.option("--forgotten", is_flag=True, help="All forgotten memories of the scope.")
@click.option(
    "--everywhere",
    "in_copies",
    is_flag=True,
    help="Also from every copy that omoide made: backups, archives, mirrored files.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@target_options
@json_option
def purge_command(refs: tuple[str, ...], forgotten: bool, in_copies: bool, yes: bool, target: Target, as_json: bool) -> None:
    """Erase forgotten memories and their history for good.

    This cannot be undone: the database keeps no byte of them. The backups, archives and mirrored files that still hold them
    are listed. --everywhere removes them from these copies too; without memories, it does so for all that were purged
    before. Exports and the history of git cannot be changed.

    \b
    omoide purge 12 --everywhere
    omoide purge --forgotten --yes
    omoide purge --everywhere --yes
    """
    if (refs and forgotten) or not (refs or forgotten or in_copies):
        raise InvalidInput("name what to purge: memories by number, key or id, or --forgotten for all forgotten ones")
    with open_memory(target) as (memory, scope):
        only_copies = not (refs or forgotten)
        selected = [] if only_copies else memory.purge_candidates(refs, scope=scope)
        if (selected or in_copies) and not yes:
            _confirm(selected)
        report = PurgeReport(0)
        if selected or only_copies:
            report = memory.purge([each.id for each in selected], scope=scope, everywhere=in_copies)
    if as_json:
        print_json(_record(report, selected))
        return
    if selected:
        _print_purged(selected)
    elif not in_copies or forgotten:
        click.echo(f"no forgotten memories in {scope}", err=True)
    _print_copies(report, everywhere=in_copies)


def _record(report: PurgeReport, selected: Sequence[Memory]) -> dict[str, Any]:
    """The JSON object of a purge."""
    return {
        "purged": report.purged,
        "numbers": [each.number for each in selected],
        "copies": [serialize.copy(one) for one in report.copies],
        "unreachable": list(report.unreachable),
    }


def _print_purged(selected: Sequence[Memory]) -> None:
    click.echo(f"purged  {', '.join(f'#{each.number}' for each in selected)}")


def _print_copies(report: PurgeReport, *, everywhere: bool) -> None:
    """Print where the memories still are, or were removed."""
    for copy in report.copies:
        reason = f" ({escape_control(copy.reason)})" if copy.reason else ""
        click.echo(f"{copy.state:<10}  {copy.kind}: {escape_control(copy.path)}{reason}")
    for place in report.unreachable:
        click.echo(f"out of reach: {escape_control(place)}")
    if any(copy.state == HOLDS for copy in report.copies) and not everywhere:
        click.echo("`omoide purge --everywhere --yes` removes them from these copies", err=True)
    elif everywhere and not report.copies:
        click.echo("no copy that omoide made holds a purged memory", err=True)


def _confirm(selected: Sequence[Memory]) -> None:
    """Ask the person; end the command with 1 unless they agree."""
    if not selected:
        if not sys.stdin.isatty():
            raise InvalidInput("this would rewrite backups and mirrored files: add --yes to confirm")
        if not click.confirm("Remove everything that was purged from the copies that omoide made?", err=True):
            click.get_current_context().exit(1)
        return
    if not sys.stdin.isatty():
        number = count_of(len(selected), "memory", "memories")
        raise InvalidInput(f"this would erase {number} and cannot be undone: add --yes to confirm")
    for memory in selected[:_SHOWN]:
        click.echo(headline(memory), err=True)
    if len(selected) > _SHOWN:
        click.echo(f"… and {len(selected) - _SHOWN} more", err=True)
    what = "this memory and its history" if len(selected) == 1 else f"these {len(selected)} memories and their history"
    if not click.confirm(f"Erase {what}? This cannot be undone.", err=True):
        click.echo("nothing was purged", err=True)
        click.get_current_context().exit(1)
