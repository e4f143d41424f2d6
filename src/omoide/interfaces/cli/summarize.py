"""summarize: replace the old entries of a project by a summary, show what that would do, and undo it."""

from typing import TYPE_CHECKING

import click

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_memory, project_options
from omoide.interfaces.cli.output import count_of, day, escape_control, headline, print_json, truncate
from omoide.model import Memory, Scope

if TYPE_CHECKING:  # it loads with the store
    from omoide.service.summaries import SummaryResult, SummaryUndo

_SHOWN = 12
"""Entries of a file that a preview lists; the rest is counted."""
_WIDTH = 100
_REASONS = {
    "pinned": "pinned",
    "decision": "decisions",
    "recent": "of the last 7 days",
    "knowledge": "with a type of their own, a key, examples, or in a list",
    "summary": "earlier summaries",
    "few": "too few in their session",
    "changed": "that changed meanwhile",
    "short": "that would not get shorter",
}


@click.command("summarize")
@click.option("--dry-run", is_flag=True, help="Only show what would be summarised, archived and kept.")
@click.option("--force", is_flag=True, help="Also if the project is not larger than `summarize_threshold`.")
@click.option("--undo", is_flag=True, help="Bring back the entries of the last summary.")
@click.option("--no-model", is_flag=True, help="Do not ask the language model, even if one is configured.")
@project_options
@json_option
def summarize_command(dry_run: bool, force: bool, undo: bool, no_model: bool, target: Target, as_json: bool) -> None:
    """Replace the old entries of a project by a summary, and archive them.

    Pinned memories, decisions, and everything of the last seven days stay word for word. A backup is written first; the
    entries are archived, linked from the summary, and --undo brings them back.

    \b
    omoide summarize --dry-run
    omoide summarize --force
    omoide summarize --undo
    """
    if undo and (dry_run or force or no_model):
        raise InvalidInput("--undo cannot be combined with --dry-run, --force or --no-model: choose one")
    with open_memory(target) as (memory, scope):
        if not scope.path:
            raise InvalidInput("a summary needs a project: work in a git repository, or add --project")
        if undo:
            _print_undo(memory.undo_summary(scope=scope), as_json=as_json)
            return
        result = memory.summarize(scope=scope, dry_run=dry_run, force=force, ask=not no_model)
        settings = memory.settings
    if as_json:
        print_json(summary_record(result))
    else:
        _print_result(result, scope, settings.summarize_threshold, force=force)
        if dry_run and settings.llm != "off" and not no_model:
            click.echo(f"by rules alone: a dry run does not ask {escape_control(settings.llm)}", err=True)
    if not result.success:
        raise click.exceptions.Exit(1)


def summary_record(result: "SummaryResult") -> dict[str, object]:
    """Return a summary, as JSON."""
    return {
        "dry_run": result.dry_run,
        "success": result.success,
        "is_due": result.is_due,
        "original_size": result.original_size,
        "new_size": result.new_size,
        "entries_summarized": result.entries_summarized,
        "entries_preserved": result.entries_preserved,
        "preserved": result.preserved,
        "backup_path": result.backup_path,
        "summaries": [serialize.memory(memory) for memory in result.summaries],
        "archived": [memory.number for memory in result.archived],
        "files": [{"name": file.name, "before": file.before, "after": file.after} for file in result.files],
        "trouble": result.trouble,
    }


def _print_result(result: "SummaryResult", scope: Scope, threshold: int, *, force: bool) -> None:
    if not result.success:
        click.echo(f"omoide: nothing was changed: {escape_control(result.trouble)}", err=True)
        return
    if result.trouble:
        click.echo(f"omoide: {escape_control(result.trouble)}", err=True)
    if not result.entries_summarized:
        _print_nothing(result, scope, threshold, force=force)
        return
    if result.dry_run:
        _print_preview(result)
    else:
        for summary in result.summaries:
            click.echo(headline(summary))
            _print_indented(summary.content)
            click.echo()
    _print_figures(result, threshold)
    if not result.dry_run:
        click.echo(f"backup: {escape_control(result.backup_path)}", err=True)
        click.echo("`omoide summarize --undo` brings the entries back", err=True)


def _print_nothing(result: "SummaryResult", scope: Scope, threshold: int, *, force: bool) -> None:
    if not result.is_due and not force and not result.dry_run:
        size = (
            f"{_kilobytes(result.original_size)} of {_kilobytes(threshold)}"
            if threshold
            else _kilobytes(result.original_size)
        )
        click.echo(
            f"{escape_control(str(scope))} is not due for a summary ({size}): --dry-run shows what it would be, --force"
            " makes it now",
            err=True,
        )
    else:
        click.echo(f"nothing to summarise in {escape_control(str(scope))}", err=True)
        _print_preserved(result)


def _print_preview(result: "SummaryResult") -> None:
    """Each file as a diff: the entries that go, then the summaries that come."""
    for file in result.files:
        before, after = len(file.before.encode()), len(file.after.encode())
        click.echo(click.style(f"{escape_control(file.name)}  {_kilobytes(before)} → {_kilobytes(after)}", bold=True))
        session = file.session
        gone = [memory for memory in result.archived if memory.scope.name == session]
        for memory in gone[:_SHOWN]:
            click.echo(click.style(f"- {_line(memory)}", fg="red"))
        if len(gone) > _SHOWN:
            click.echo(click.style(f"- … and {count_of(len(gone) - _SHOWN, 'entry', 'entries')} more", fg="red"))
        for summary in result.summaries:
            if summary.scope.name == session:
                click.echo(click.style(f"+ {escape_control(summary.topic)}", fg="green"))
                for line in escape_control(summary.content).splitlines():
                    click.echo(click.style(f"+   {line}".rstrip(), fg="green"))
        click.echo()


def _line(memory: Memory) -> str:
    text = " ".join(escape_control(memory.content).split())
    return f"#{memory.number} {day(memory.created_at)} {truncate(text, _WIDTH)}"


def _print_figures(result: "SummaryResult", threshold: int) -> None:
    would = "would be " if result.dry_run else ""
    share = 100 * (result.original_size - result.new_size) / max(1, result.original_size)
    sizes = f"{_kilobytes(result.original_size)} → {_kilobytes(result.new_size)} ({share:.0f} % less)"
    summaries = count_of(len(result.summaries), "summary", "summaries")
    entries = count_of(result.entries_summarized, "entry", "entries")
    click.echo(f"{entries} {would}archived, {summaries} in their place; MEMORY.md and sessions: {sizes}")
    _print_preserved(result)
    if result.dry_run and not result.is_due and threshold:
        click.echo(f"not due yet (setting summarize_threshold = {threshold:,}): --force summarises anyway", err=True)


def _print_preserved(result: "SummaryResult") -> None:
    reasons = ", ".join(f"{number:,} {_REASONS.get(reason, reason)}" for reason, number in result.preserved.items())
    click.echo(
        f"{count_of(result.entries_preserved, 'memory', 'memories')} kept as they are{f': {reasons}' if reasons else ''}"
    )


def _print_undo(undone: "SummaryUndo", *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "restored": [serialize.memory(memory) for memory in undone.restored],
                "forgotten": [serialize.memory(memory) for memory in undone.forgotten],
                "edited": [serialize.memory(memory) for memory in undone.edited],
            }
        )
        return
    for memory in undone.forgotten:
        click.echo(f"forgotten  {headline(memory)}")
    for memory in undone.edited:
        click.echo(f"changed since, so it stays  {headline(memory)}")
    if not (undone.restored or undone.forgotten or undone.edited):
        click.echo("there is no summary to undo", err=True)
    else:
        click.echo(f"{count_of(len(undone.restored), 'entry', 'entries')} restored", err=True)


def _print_indented(text: str) -> None:
    for line in escape_control(text).splitlines():
        click.echo(f"    {line}".rstrip())


def _kilobytes(size: int) -> str:
    return f"{size / 1000:,.1f} kB"
