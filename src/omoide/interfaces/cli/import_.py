"""Carrying memories in: import, from a file or from what another tool keeps."""

import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click
import msgspec

from omoide.errors import InvalidInput, Unreadable
from omoide.interfaces.cli.export import build_selection, format_option, since_option, states_option, tag_option, tags_option
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_memory,
    progress,
    read_stdin_bytes,
    target_options,
    type_option,
)
from omoide.interfaces.cli.output import escape_control, print_json, print_table
from omoide.model import Draft, Remembered, Scope
from omoide.transfer.formats import format_of
from omoide.transfer.import_ import import_file

if TYPE_CHECKING:  # see common
    from omoide.service import Service


class SourceGroup(click.Group):
    """Where memories can come from; what is none of the names is a file."""

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
    """


@import_command.command("file")
@click.argument("file")
@format_option
@click.option("--dry-run", is_flag=True, help="Say what would happen, and keep nothing.")
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
    """Take in a file of memories, all of it or nothing; `import FILE` says the same.

    Rows with an id are taken as they are: dates, counts, state and links included; of two with one id the one changed
    last stands. Rows without an id are remembered anew, in the current scope if they name none. With --project,
    --session or --global only what belongs there is taken. - reads standard input.

    \b
    omoide import memories.jsonl
    omoide import notes.csv --project shop --dry-run
    """
    form = format_of("standard input" if file == "-" else file, form)
    with open_memory(target, writing=not dry_run) as (memory, scope), _source(file) as source:
        chosen = build_selection(type_, tag, tags, since, states, scope if target.names_scope else None)
        with progress("importing", 1) as tick:
            done = import_file(
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
        return io.BytesIO(read_stdin_bytes())
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise Unreadable(f"{file} cannot be read ({error.strerror}): name another file") from error


_OUTCOMES = {"created": "added", "updated": "replaced", "unchanged": "known"}


class _SourcedDraft(NamedTuple):
    file: str
    line: int
    draft: Draft


@import_command.command("claude-code")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Say what would happen, and keep nothing.")
@target_options
@json_option
def claude_code_command(paths: tuple[str, ...], dry_run: bool, target: Target, as_json: bool) -> None:
    """Take over what Claude Code has learnt.

    Without a path, from its memory directory for this project; with one, from that directory or file, such as CLAUDE.md
    or AGENTS.md. A second time only what is new there comes in; what you changed or forgot here stays so. A file that
    cannot be taken is told, and the others are.

    \b
    omoide import claude-code --dry-run
    omoide import claude-code
    omoide import claude-code CLAUDE.md AGENTS.md
    """
    with open_memory(target, writing=not dry_run) as (memory, scope):
        facts, troubles = _claude_facts(paths, scope)
        taken, refused, done = _import_facts(memory, facts, rehearse=dry_run)
    troubles += refused
    _report(taken, done, troubles, dry_run=dry_run, as_json=as_json)
    click.get_current_context().exit(1 if troubles else 0)


def _claude_facts(paths: Sequence[str], scope: Scope) -> tuple[list[_SourcedDraft], list[str]]:
    """What the files say, and what is wrong with those that cannot be understood."""
    from omoide.transfer.claude_code.facts import parse_directory  # noqa: PLC0415 - a plain file needs none of it
    from omoide.transfer.claude_code.files import memory_directory, read_files  # noqa: PLC0415 - the same

    found: list[_SourcedDraft] = []
    troubles: list[str] = []
    for path in [Path(path) for path in paths] or [memory_directory(Path.cwd())]:
        files, unread = read_files(path)
        read = parse_directory({name: file.text for name, file in files.items()})
        for fact in read.facts:
            draft = msgspec.structs.replace(fact.draft, scope=scope, created_at=files[fact.file].at)
            found.append(_SourcedDraft(str(files[fact.file].path), fact.line, draft))
        troubles += [*unread, *read.troubles]
    return found, troubles


def _import_facts(
    memory: "Service", facts: Sequence[_SourcedDraft], *, rehearse: bool
) -> tuple[list[_SourcedDraft], list[str], Sequence[Remembered]]:
    """What was kept of the facts, and why others were refused, such as one that holds a secret."""
    left, troubles, last = list(facts), [], 0

    def watch(number: int) -> None:
        nonlocal last
        last = number

    while True:
        try:
            done = memory.gather([fact.draft for fact in left], rehearse=rehearse, watch=watch)
        except InvalidInput as error:  # plan B: the others; this one is told
            refused = left.pop(last)
            troubles.append(f"{refused.file}, line {refused.line}: {error}")
        else:
            return left, troubles, done


def _report(
    facts: Sequence[_SourcedDraft], done: Sequence[Remembered], troubles: Sequence[str], *, dry_run: bool, as_json: bool
) -> None:
    outcomes = [_OUTCOMES[one.action] for one in done]
    counts = Counter(outcomes)
    each = list(zip(outcomes, facts, done, strict=True))
    for trouble in troubles:
        click.echo(f"omoide: left out {escape_control(trouble)}", err=True)
    if as_json:
        rows = [
            {
                "action": outcome,
                "file": fact.file,
                "line": fact.line,
                "memory_id": None if dry_run and outcome == "added" else one.memory.id,
                "key": one.memory.key,
                "type": one.memory.type,
                "topic": one.memory.topic,
            }
            for outcome, fact, one in each
        ]
        totals = {name: counts[name] for name in _OUTCOMES.values()}
        print_json({"dry_run": dry_run, **totals, "memories": rows, "left_out": troubles})
        return
    new = [
        (outcome, one.memory.type, one.memory.topic, f"{Path(fact.file).name}:{fact.line}")
        for outcome, fact, one in each
        if outcome != "known"
    ]
    if new:
        print_table(["", "type", "topic", "from"], new, flexible=(2, 3), optional=(3,))
    told = ", ".join(f"{counts[name]} {name}" for name in _OUTCOMES.values())
    click.echo(("would be: " if dry_run else "") + told)
