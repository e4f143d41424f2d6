"""import: memories from a file, or from another tool."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from omoide.errors import Unreadable
from omoide.interfaces.cli.export import build_selection, format_option, since_option, states_option, tag_option, tags_option
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_memory,
    progress,
    read_stdin_bytes,
    settings_for,
    target_options,
    type_option,
    working_directory,
)
from omoide.interfaces.cli.output import escape_control, print_json, print_table
from omoide.transfer.formats import format_of
from omoide.transfer.import_ import import_file

if TYPE_CHECKING:  # only an import from Claude Code needs it
    from omoide.transfer.claude_code.importer import ClaudeCodeImport

_OUTCOMES = ("added", "replaced", "known")


class SourceGroup(click.Group):
    """The sources of an import. An argument that is none of their names is a file."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        completing = extra.get("resilient_parsing") and not args
        if not completing and args[:1] not in ([name] for name in (*self.commands, "--help", "-h")):
            args = ["file", *args]
        return super().make_context(info_name, args, parent, **extra)


@click.group("import", cls=SourceGroup)
def import_command() -> None:
    """Import memories from a file, or from another tool.

    \b
    omoide import memories.jsonl
    omoide import claude-code --dry-run
    omoide import hail-mary data/memory.db
    """


@import_command.command("file")
@click.argument("file")
@format_option
@click.option("--dry-run", is_flag=True, help="Show what would happen, and store nothing.")
@type_option("Only memories of this type.")
@tag_option
@tags_option
@since_option
@states_option
@target_options
@json_option
def file_command(
    file: str,
    form: str | None,
    dry_run: bool,
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    since: str | None,
    states: tuple[str, ...],
    target: Target,
    as_json: bool,
) -> None:
    """Import a file of memories, all of it or nothing.

    `import FILE` does the same. Rows with an id are stored as they are, with dates, counts, state and links; of two with
    the same id, the one changed last wins. Rows without an id become new memories, in the current scope if they name none.
    With --project, --session or --global only rows of that scope are imported. - reads standard input.

    \b
    omoide import memories.jsonl
    omoide import notes.csv --project shop --dry-run
    """
    form = format_of("standard input" if file == "-" else file, form)
    with open_memory(target, writing=not dry_run) as (memory, scope), _open_source(file) as source:
        chosen = build_selection(type_, tag, tags, since, states, scope if target.names_scope else None)
        with progress("importing", 1) as tick:
            counts = import_file(memory, source, form, name=file, here=scope, chosen=chosen, dry_run=dry_run, tick=tick)
    _print_counts(counts, dry_run=dry_run, as_json=as_json)


def _print_counts(counts: Mapping[str, int], *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        print_json({"dry_run": dry_run, **counts})
        return
    parts = [f"{counts[name]} {name}" for name in _OUTCOMES]
    parts += [f"{counts['linked']} linked"] if counts["linked"] else []
    click.echo(("would be: " if dry_run else "") + ", ".join(parts))
    if counts["dangling"]:
        click.echo(f"{counts['dangling']} links to memories that do not exist were left out", err=True)


def _open_source(file: str) -> BinaryIO:
    if file == "-":
        # All of it first: a slow pipe must not keep the transaction open.
        return io.BytesIO(read_stdin_bytes())
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise Unreadable(f"{file} cannot be read ({error.strerror}): name another file") from error


@import_command.command("claude-code")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Show what would happen, and store nothing.")
@target_options
@json_option
def claude_code_command(paths: tuple[str, ...], dry_run: bool, target: Target, as_json: bool) -> None:
    """Import what Claude Code has learnt.

    Without a path, from its memory directory for this project; with one, from that directory or file, such as CLAUDE.md
    or AGENTS.md. Run again, it imports only what is new there; what you changed or forgot here stays so. A file that
    cannot be imported is reported, and the others are imported.

    \b
    omoide import claude-code --dry-run
    omoide import claude-code
    omoide import claude-code CLAUDE.md AGENTS.md
    """
    from omoide.transfer.claude_code.importer import import_facts  # lazy: a plain file needs none of it

    with open_memory(target, writing=not dry_run) as (memory, scope):
        sources = [Path(path) for path in paths]
        here = Path() if sources else working_directory()
        done = import_facts(memory, sources, scope=scope, here=here, dry_run=dry_run)
    for reason in done.left_out:
        click.echo(f"omoide: left out {escape_control(reason)}", err=True)
    if as_json:
        print_json(_import_record(done, dry_run=dry_run))
    else:
        _print_import(done, dry_run=dry_run)
    click.get_current_context().exit(1 if done.left_out else 0)


@import_command.command("hail-mary")
@click.argument("file", metavar="DATABASE")
@click.option("--dry-run", is_flag=True, help="Show what would happen, and store nothing.")
@target_options
@json_option
def hail_mary_command(file: str, dry_run: bool, target: Target, as_json: bool) -> None:
    """Import the memory database of hail-mary.

    All of its rows are imported, or none: ids, types, topics, tags, examples, counts, dates and sources; deleted rows as
    forgotten memories. The database itself is only read. Run again, it adds only what is new there.

    \b
    omoide import hail-mary data/memory.db --dry-run
    omoide import hail-mary data/memory.db --global
    """
    from omoide import app  # lazy: the store loads when it is opened
    from omoide.transfer import hail_mary  # lazy: a plain file needs none of it

    path = Path(file).expanduser()
    rows = app.read_foreign_table(settings_for(target), path, hail_mary.TABLE, hail_mary.COLUMNS, hail_mary.DESCRIPTION)
    with open_memory(target, writing=not dry_run) as (memory, scope):
        counts = hail_mary.import_rows(memory, rows, name=file, here=scope, dry_run=dry_run)
    _print_counts(counts, dry_run=dry_run, as_json=as_json)


def _import_record(done: "ClaudeCodeImport", *, dry_run: bool) -> dict[str, Any]:
    rows = [
        {
            "action": fact.outcome,
            "file": fact.file,
            "line": fact.line,
            "memory_id": None if dry_run and fact.outcome == "added" else fact.memory.id,
            "key": fact.memory.key,
            "type": fact.memory.type,
            "topic": fact.memory.topic,
        }
        for fact in done.facts
    ]
    counts = {outcome: done.count(outcome) for outcome in _OUTCOMES}
    return {"dry_run": dry_run, **counts, "memories": rows, "left_out": done.left_out}


def _print_import(done: "ClaudeCodeImport", *, dry_run: bool) -> None:
    rows = [
        (fact.outcome, fact.memory.type, fact.memory.topic, f"{Path(fact.file).name}:{fact.line}")
        for fact in done.facts
        if fact.outcome != "known"
    ]
    if rows:
        print_table(["", "type", "topic", "from"], rows, flexible=(2, 3), optional=(3,))
    counts = ", ".join(f"{done.count(outcome)} {outcome}" for outcome in _OUTCOMES)
    click.echo(("would be: " if dry_run else "") + counts)
