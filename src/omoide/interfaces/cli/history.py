"""history and events: what happened to memories."""

from collections.abc import Sequence

import click

from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_memory, target_options
from omoide.interfaces.cli.output import day, escape_control, print_json, print_table
from omoide.interfaces.time_input import parse_time
from omoide.model import Actor, Event, Version, fields

_SHORT = 400
"""Characters of a text that is shown without the positions of its changes."""


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
    pairs = list(zip([None, *versions], versions, strict=False))  # each version with the one before
    if as_json:
        print_json({"versions": [_version_record(old, new) for old, new in pairs]})
        return
    for old, new in pairs:
        _print_version(old, new)


def _version_record(old: Version | None, new: Version) -> dict[str, object]:
    diff = [] if old is None else _diff(old.memory.content, new.memory.content)
    changed = [] if old is None else fields.changed(old.memory, new.memory)
    return {**serialize.version(new), "changed": changed, "diff": "\n".join(diff)}


def _print_version(old: Version | None, new: Version) -> None:
    memory = new.memory
    author = "" if new.actor is None else f"  {_format_actor(new.actor)}"
    title = click.style(f"version {memory.version}", bold=True)
    changed = [] if old is None else fields.changed(old.memory, memory)
    summary = f": {', '.join(changed)}" if changed else ""
    click.echo(f"{title}  {day(memory.updated_at)}{author}{summary}")
    if old is None:
        _print_diff("", memory.content)
        return
    for name in changed:
        if name == "content":
            _print_diff(old.memory.content, memory.content)
        else:
            before, after = (escape_control(_format_value(getattr(each, name))) for each in (old.memory, memory))
            click.echo(f"    {name}: {click.style(before, fg='red')} → {click.style(after, fg='green')}")


def _format_value(value: object) -> str:
    if value is None or value == ():
        return "–"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _diff(old: str, new: str) -> list[str]:
    """The unified diff, without the two file names."""
    import difflib  # lazy: only a history has a diff

    return list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2))[2:]


def _print_diff(old: str, new: str) -> None:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    short = len(old) < _SHORT and len(new) < _SHORT
    for line in _diff(old, new):
        if not (line.startswith("@@") and short):
            click.echo("    " + click.style(escape_control(line), fg=colours.get(line[:1])))


@click.command("events")
@click.argument("ref", required=False)
@click.option("--since", metavar="WHEN", help="Only what happened since: 2026-02-05, or 7d for seven days.")
@click.option("--source", metavar="SOURCE", help="Only what came from there: slack, slack:C123, github:owner/name#12.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many to show at most.")
@target_options
@json_option
def events_command(
    ref: str | None, since: str | None, source: str | None, limit: int, target: Target, as_json: bool
) -> None:
    """Show what happened, newest first.

    \b
    omoide events --since 1d
    omoide events --source slack:C123
    omoide events 12 --json
    """
    with open_memory(target) as (memory, scope):
        earliest = None if since is None else parse_time(since, "since", future=False)
        events = memory.events(ref, scope=scope, since=earliest, source=source, limit=limit)
    if as_json:
        print_json({"events": [serialize.event(event) for event in events]})
    elif events:
        rows = [_event_row(event) for event in events]
        print_table(["when", "action", "memory", "who", "source", "detail"], rows, flexible=(5, 4), optional=(3, 5, 4))
    else:
        click.echo(f"no events in {scope}", err=True)


def _event_row(event: Event) -> list[str]:
    number = "" if event.memory_number is None else f"#{event.memory_number}"
    details = "; ".join(f"{name} {_format_detail(value)}" for name, value in event.detail.items())
    source = serialize.plain_name(str(event.source))
    return [day(event.at), event.action, number, _format_actor(event.actor), source, details]


def _format_actor(value: Actor) -> str:
    return f"{escape_control(serialize.actor(value))} ({escape_control(value.via)})"


def _format_detail(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return str(value)
