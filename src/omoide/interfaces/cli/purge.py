"""purge: destroy forgotten memories. The one command that cannot be undone."""

import sys
from collections.abc import Sequence

import click

from omoide.errors import InvalidInput
from omoide.interfaces.cli.options import Target, json_option, open_memory, target_options
from omoide.interfaces.cli.output import count_of, headline, print_json
from omoide.model import Memory

_SHOWN = 20
"""Memories that the confirmation lists."""


@click.command("purge")
@click.argument("refs", metavar="[REF...]", nargs=-1)
@click.option("--forgotten", is_flag=True, help="All forgotten memories of the scope.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@target_options
@json_option
def purge_command(refs: tuple[str, ...], forgotten: bool, yes: bool, target: Target, as_json: bool) -> None:
    """Destroy forgotten memories and their history for good.

    This cannot be undone: no byte of them stays in the database. Backups and exports made earlier still contain them.

    \b
    omoide purge 12
    omoide purge --forgotten --yes
    """
    if bool(refs) == forgotten:
        raise InvalidInput("name what to purge: memories by number, key or id, or --forgotten for all forgotten ones")
    with open_memory(target) as (memory, scope):
        selected = memory.purge_candidates(refs, scope=scope)
        if selected and not yes:
            _confirm(selected)
        purged = memory.purge([each.id for each in selected], scope=scope) if selected else 0
    if as_json:
        print_json({"purged": purged, "numbers": [each.number for each in selected]})
    elif selected:
        click.echo(f"purged  {', '.join(f'#{each.number}' for each in selected)}")
    else:
        click.echo(f"no forgotten memories in {scope}", err=True)


def _confirm(selected: Sequence[Memory]) -> None:
    """Ask the person; end the command with 1 unless they agree."""
    if not sys.stdin.isatty():
        number = count_of(len(selected), "memory", "memories")
        raise InvalidInput(f"this would destroy {number} and cannot be undone: add --yes to confirm")
    for memory in selected[:_SHOWN]:
        click.echo(headline(memory), err=True)
    if len(selected) > _SHOWN:
        click.echo(f"… and {len(selected) - _SHOWN} more", err=True)
    what = "this memory and its history" if len(selected) == 1 else f"these {len(selected)} memories and their history"
    if not click.confirm(f"Destroy {what}? This cannot be undone.", err=True):
        click.echo("nothing was purged", err=True)
        click.get_current_context().exit(1)
