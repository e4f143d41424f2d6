"""Carrying memories: export and import."""

import io
import sys
from pathlib import Path
from typing import BinaryIO

import click

from omoide import transfer
from omoide.errors import Unreadable
from omoide.interfaces.cli.common import Place, jsonable, opened, piped, placed, progress, tags_of, typed
from omoide.interfaces.cli.screen import print_json
from omoide.interfaces.moments import moment
from omoide.model import Scope, State
from omoide.transfer import Selection

_format = click.option("--format", "form", type=click.Choice(transfer.FORMATS), help="If the file's name does not tell.")
_tag = click.option("--tag", multiple=True, help="Only memories with this tag; may be given more than once.")
_tags = click.option("--tags", help="Only memories with all these tags, separated by commas.")
_since = click.option("--since", metavar="WHEN", help="Only what changed since: 2026-02-05, or 7d for seven days.")
_states = click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([one.value for one in State]),
    help="Only memories in this state.",
)


@click.command("export")
@_format
@click.option("--output", "-o", metavar="FILE", help="Where to; standard output if it is not said, or -.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@typed("Only memories of this type.")
@_tag
@_tags
@_since
@_states
@placed
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def export_command(
    form: str | None,
    output: str | None,
    force: bool,
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    since: str | None,
    states: tuple[str, ...],
    place: Place,
    as_json: bool,
) -> None:
    """Write memories to a file or standard output.

    Everything in the store, in every state, unless a filter or --project, --session or --global narrows it to exactly
    that. `omoide import` takes the file in again without loss; past versions and events are in a `backup` only.

    \b
    omoide export --output memories.jsonl
    omoide export --project shop --type decision --format csv > decisions.csv
    """
    to = None if output in (None, "-") else Path(str(output))
    form = "json" if as_json else transfer.format_of(str(output), form) if to else form or "json"
    with opened(place) as (memory, scope):
        chosen = _selection(type_, tag, tags, since, states, scope if place.named else None)
        total = sum(count for *_, count in memory.tally())
        if to is None:
            out = sys.stdout.buffer
            transfer.export(memory, out, form, chosen, lambda _: None)
            out.flush()
            return
        with transfer.saved(to, force=force) as file, progress("exporting", total) as tick:
            count = transfer.export(memory, file, form, chosen, tick)
    click.echo(f"exported {count} memories to {to}", err=True)


def _selection(
    type: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    since: str | None,
    states: tuple[str, ...],
    scope: Scope | None,
) -> Selection:
    return Selection(
        type=type,
        tags=[name.strip() for name in tags_of(tag, tags)],
        scope=scope,
        since=None if since is None else moment(since, "since", future=False),
        states=[State(name) for name in states],
    )


@click.command("import")
@click.argument("file")
@_format
@click.option("--dry-run", is_flag=True, help="Say what would happen, and keep nothing.")
@typed("Only memories of this type.")
@_tag
@_tags
@_since
@_states
@placed
@jsonable
def import_command(
    file: str,
    form: str | None,
    dry_run: bool,
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    since: str | None,
    states: tuple[str, ...],
    place: Place,
    as_json: bool,
) -> None:
    """Take in a file of memories, all of it or nothing.

    Rows with an id are taken as they are: dates, counts, state and links included; of two with one id the one changed
    last stands. Rows without an id are remembered anew, in the current scope if they name none. With --project,
    --session or --global only what belongs there is taken. - reads standard input.

    \b
    omoide import memories.jsonl
    omoide import notes.csv --project shop --dry-run
    """
    form = transfer.format_of("standard input" if file == "-" else file, form)
    with opened(place, writing=not dry_run) as (memory, scope), _source(file) as source:
        chosen = _selection(type_, tag, tags, since, states, scope if place.named else None)
        with progress("importing", 1) as tick:
            done = transfer.imported(
                memory, source, form, name=file, here=scope, chosen=chosen, rehearse=dry_run, tick=tick
            )  # fmt: skip
    if as_json:
        print_json({"dry_run": dry_run, **done})
        return
    told = [f"{done[name]} {name}" for name in ("added", "replaced", "known")]
    told += [f"{done['linked']} linked"] if done["linked"] else []
    click.echo(("would be: " if dry_run else "") + ", ".join(told))
    if done["astray"]:
        click.echo(f"{done['astray']} links lead to memories that are not here and were left out", err=True)


def _source(file: str) -> BinaryIO:
    if file == "-":
        # All of it first: a slow pipe must not hold everyone else up in the middle of a transaction.
        return io.BytesIO(piped())
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise Unreadable(f"{file} cannot be read ({error.strerror}): name another file") from error
