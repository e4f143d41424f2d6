"""export: write memories to a file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide.errors import InvalidInput
from omoide.interfaces.cli.options import Target, open_memory, progress, tags_of, target_options, type_option
from omoide.interfaces.time_input import parse_time
from omoide.model import Scope, State
from omoide.transfer.export import export, open_output
from omoide.transfer.formats import FORMATS, format_of
from omoide.transfer.selection import TransferSelection

if TYPE_CHECKING:  # it loads with the store
    from omoide.service import Service

format_option = click.option(
    "--format", "form", type=click.Choice(FORMATS), help="The format, where the file name does not show it."
)
tag_option = click.option("--tag", multiple=True, help="Only memories with this tag; may be given more than once.")
tags_option = click.option("--tags", help="Only memories with all these tags, separated by commas.")
since_option = click.option("--since", metavar="WHEN", help="Only what changed since: 2026-02-05, or 7d for seven days.")
states_option = click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in State]),
    help="Only memories in this state.",
)


@click.command("export")
@click.argument("what", type=click.Choice(["memories", "runs"]), default="memories")
@format_option
@click.option("--output", "-o", metavar="FILE", help="The file to write; - or nothing is standard output.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@type_option("Only memories of this type.")
@tag_option
@tags_option
@since_option
@states_option
@target_options
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def export_command(
    what: str,
    form: str | None,
    output: str | None,
    force: bool,
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    since: str | None,
    states: tuple[str, ...],
    target: Target,
    as_json: bool,
) -> None:
    """Write memories to a file or standard output.

    Everything in the store, in every state, unless a filter or --project, --session or --global selects a part.
    `omoide import` reads the file without loss; past versions and events are only in a `backup`.

    `omoide export runs` writes the runs of the project instead, as training data: a JSON object in each line.

    \b
    omoide export --output memories.jsonl
    omoide export --project shop --type decision --format csv > decisions.csv
    """
    path = None if output is None or output == "-" else Path(output)
    if what == "runs":
        if form not in (None, "jsonl") or type_ or tag or tags or since or states or as_json:
            raise InvalidInput("runs are exported as JSON lines, without filters: give --output and --project at most")
        _export_runs(path, target, force=force)
        return
    if as_json:
        form = "json"
    elif path is not None:
        form = format_of(str(path), form)
    with open_memory(target) as (memory, scope):
        selection = build_selection(type_, tag, tags, since, states, scope if target.names_scope else None)
        _export_memories(memory, path, form or "json", selection, force=force)


def _export_memories(memory: "Service", path: Path | None, form: str, selection: TransferSelection, *, force: bool) -> None:
    if path is None:
        export(memory, sys.stdout.buffer, form, selection, lambda _: None)
        sys.stdout.buffer.flush()
        return
    total = sum(count for *_, count in memory.tally())
    with open_output(path, force=force) as file, progress("exporting", total) as tick:
        count = export(memory, file, form, selection, tick)
    click.echo(f"exported {count} memories to {path}", err=True)


def _export_runs(path: Path | None, target: Target, *, force: bool) -> None:
    from omoide.transfer.runs import export_runs  # lazy: only for runs

    with open_memory(target) as (memory, scope):
        if path is None:
            export_runs(memory, sys.stdout.buffer, scope)
            sys.stdout.buffer.flush()
            return
        with open_output(path, force=force) as file:
            count = export_runs(memory, file, scope)
    click.echo(f"exported {count} runs to {path}", err=True)


def build_selection(
    type: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    since: str | None,
    states: tuple[str, ...],
    scope: Scope | None,
) -> TransferSelection:
    """Return the memories that these flags select."""
    return TransferSelection(
        type=type,
        tags=[name.strip() for name in tags_of(tag, tags)],
        scope=scope,
        since=None if since is None else parse_time(since, "since", future=False),
        states=[State(name) for name in states],
    )
