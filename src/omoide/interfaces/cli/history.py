"""What was: history and events."""

from collections.abc import Iterator, Sequence

import click

from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_memory, target_options
from omoide.interfaces.cli.output import day, escape_control, print_json, print_table
from omoide.interfaces.time_input import parse_time
from omoide.model import Memory, Version

_COMPARED = (
    "scope", "key", "type", "topic", "tags", "examples", "source", "source_run_id", "confidence", "relevance", "pinned",
    "state", "expires_at",
)  # fmt: skip


@click.command("history")
@click.argument("ref")
@target_options
@json_option
def history_command(ref: str, target: Target, as_json: bool) -> None:
    """Show every version of a memory and what changed between them.

    \b
    omoide history 12
    omoide history api-auth --json
    """
    with open_memory(target) as (memory, scope):
        versions = memory.history(ref, scope=scope)
    pairs = list(zip([None, *versions], versions, strict=False))
    if as_json:
        print_json({"versions": [_version_record(old, new) for old, new in pairs]})
        return
    for old, new in pairs:
        _print_version(old, new)


def _version_record(old: Version | None, new: Version) -> dict[str, object]:
    diff = [] if old is None else list(_diff(old.memory.content, new.memory.content))
    changed = [] if old is None else _changed_names(old.memory, new.memory)
    return {**serialize.version(new), "changed": changed, "diff": "\n".join(diff)}


def _print_version(old: Version | None, new: Version) -> None:
    memory, actor = new.memory, new.actor
    who = "" if actor is None else f"  {escape_control(actor.name)} ({escape_control(actor.via)})"
    title = click.style(f"version {memory.version}", bold=True)
    changed = [] if old is None else _changed_names(old.memory, memory)
    what = f": {', '.join(changed)}" if changed else ""
    click.echo(f"{title}  {day(memory.updated_at)}{who}{what}")
    if old is None:
        for line in _differences("", memory.content):
            click.echo(line)
        return
    for name in changed:
        if name == "content":
            for line in _differences(old.memory.content, memory.content):
                click.echo(line)
        else:
            before, after = (
                escape_control(_format_value(getattr(old.memory, name))),
                escape_control(_format_value(getattr(memory, name))),
            )
            click.echo(f"    {name}: {click.style(before, fg='red')} → {click.style(after, fg='green')}")


def _changed_names(old: Memory, new: Memory) -> list[str]:
    names = [name for name in _COMPARED if getattr(old, name) != getattr(new, name)]
    if not (old.topic_given or new.topic_given):
        names = [name for name in names if name != "topic"]  # it only follows the content
    return (["content"] if old.content != new.content else []) + names


def _format_value(value: object) -> str:
    if value is None or value == ():
        return "–"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _diff(old: str, new: str) -> Iterator[str]:
    import difflib  # noqa: PLC0415 - only a history has differences

    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2)
    return (line for place, line in enumerate(lines) if place > 1)  # without the two file names


def _differences(old: str, new: str) -> Iterator[str]:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in _diff(old, new):
        if not (line.startswith("@@") and len(old) < 400 and len(new) < 400):
            yield "    " + click.style(escape_control(line), fg=colours.get(line[:1]))


@click.command("events")
@click.argument("ref", required=False)
@click.option("--since", metavar="WHEN", help="Only what happened since: 2026-02-05, or 7d for seven days.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many at the most.")
@target_options
@json_option
def events_command(ref: str | None, since: str | None, limit: int, target: Target, as_json: bool) -> None:
    """Show what happened, newest first.

    \b
    omoide events --since 1d
    omoide events 12 --json
    """
    with open_memory(target) as (memory, scope):
        happened = memory.events(
            ref, scope=scope, since=None if since is None else parse_time(since, "since", future=False), limit=limit
        )
    if as_json:
        print_json({"events": [serialize.event(one) for one in happened]})
    elif happened:
        rows = [
            [
                day(one.at), one.action, "" if one.memory_number is None else f"#{one.memory_number}",
                f"{one.actor.name} ({one.actor.via})", _detail(one.detail),
            ]
            for one in happened
        ]  # fmt: skip
        print_table(["when", "action", "memory", "who", "detail"], rows, flexible=(4,), optional=(3, 4))
    else:
        click.echo(f"nothing happened in {scope}", err=True)


def _detail(detail: dict[str, object]) -> str:
    return "; ".join(
        f"{name} {', '.join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else value}"
        for name, value in detail.items()
    )
