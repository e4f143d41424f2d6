"""Carrying memories in: import, from a file or from what another tool keeps."""

import io
from pathlib import Path
from typing import Any, BinaryIO

import click

from omoide import transfer
from omoide.errors import Unreadable
from omoide.interfaces.cli.carry import format_option, selection, since_option, states_option, tag_option, tags_option
from omoide.interfaces.cli.common import Place, jsonable, opened, piped, placed, progress, typed
from omoide.interfaces.cli.screen import print_json


class Sources(click.Group):
    """Where memories can come from; what is none of the names is a file."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        completing = extra.get("resilient_parsing") and not args
        if not completing and args[:1] not in ([name] for name in (*self.commands, "--help", "-h")):
            args = ["file", *args]
        return super().make_context(info_name, args, parent, **extra)


@click.group("import", cls=Sources)
def import_command() -> None:
    """Take in memories: a file of them, or what another tool keeps.

    \b
    omoide import memories.jsonl
    omoide import claude-code --dry-run
    """


@import_command.command("file")
@click.argument("file")
@format_option
@click.option("--dry-run", is_flag=True, help="Say what would happen, and keep nothing.")
@typed("Only memories of this type.")
@tag_option
@tags_option
@since_option
@states_option
@placed
@jsonable
def file_command(
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
    """Take in a file of memories, all of it or nothing; `import FILE` says the same.

    Rows with an id are taken as they are: dates, counts, state and links included; of two with one id the one changed
    last stands. Rows without an id are remembered anew, in the current scope if they name none. With --project,
    --session or --global only what belongs there is taken. - reads standard input.

    \b
    omoide import memories.jsonl
    omoide import notes.csv --project shop --dry-run
    """
    form = transfer.format_of("standard input" if file == "-" else file, form)
    with opened(place, writing=not dry_run) as (memory, scope), _source(file) as source:
        chosen = selection(type_, tag, tags, since, states, scope if place.named else None)
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
