"""Destroying: purge, the one command that cannot be undone."""

import sys

import click

from omoide.errors import InvalidInput
from omoide.interfaces.cli.options import Target, json_option, open_memory, target_options
from omoide.interfaces.cli.output import headline, print_json
from omoide.model import Layer, Memory, Scope, State
from omoide.service import Service


@click.command("purge")
@click.argument("refs", metavar="[REF...]", nargs=-1)
@click.option("--forgotten", is_flag=True, help="All forgotten memories of the scope.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@target_options
@json_option
def purge_command(refs: tuple[str, ...], forgotten: bool, yes: bool, place: Target, as_json: bool) -> None:
    """Destroy forgotten memories and their history, for good.

    This cannot be undone: no byte of them stays in the database. Backups and exports made before keep theirs.

    \b
    omoide purge 12
    omoide purge --forgotten --yes
    """
    if bool(refs) == forgotten:
        raise InvalidInput("say what to purge: memories by number, key or id, or --forgotten for all forgotten ones")
    with open_memory(place) as (memory, scope):
        doomed = _forgotten_memories(memory, scope) if forgotten else [memory.show(ref, scope=scope) for ref in refs]
        doomed = list({one.number: one for one in doomed}.values())
        if doomed and not yes:
            _confirm(doomed)
        purged = memory.purge([one.id for one in doomed], scope=scope) if doomed else 0
    if as_json:
        print_json({"purged": purged, "numbers": [one.number for one in doomed]})
    elif doomed:
        click.echo(f"purged  {', '.join(f'#{one.number}' for one in doomed)}")
    else:
        click.echo(f"nothing is forgotten in {scope}", err=True)


def _forgotten_memories(memory: Service, scope: Scope) -> list[Memory]:
    """Of this scope alone: whoever works in a project does not empty the global layer by the way."""
    layers = [Layer.PROJECT, Layer.SESSION] if scope.path else [Layer.EVERYWHERE]
    if scope.name:
        layers = [Layer.SESSION]
    return memory.list(scope=scope, layers=layers, states=[State.FORGOTTEN], limit=1_000_000).memories


def _confirm(doomed: list[Memory]) -> None:
    if not sys.stdin.isatty():
        raise InvalidInput(f"this would destroy {len(doomed)} memories, and cannot be undone: add --yes if you mean it")
    for one in doomed[:20]:
        click.echo(headline(one), err=True)
    if len(doomed) > 20:
        click.echo(f"… and {len(doomed) - 20} more", err=True)
    what = "this memory and its history" if len(doomed) == 1 else f"these {len(doomed)} memories and their history"
    if not click.confirm(f"Destroy {what}? This cannot be undone.", err=True):
        click.echo("nothing was purged", err=True)
        click.get_current_context().exit(1)
