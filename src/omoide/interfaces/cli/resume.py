"""resume and summary: the context to continue with, and the numbers of a layer."""

from collections.abc import Sequence

import click

from omoide.files.sizes import format_size
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, layers_option, open_memory, target_options
from omoide.interfaces.cli.output import count_of, day, escape_control, headline, print_json, print_table
from omoide.markdown.fence import indent
from omoide.model import Layer, Memory, ResumeContext, State

_RESUMED = 20
"""Memories in each list, as over MCP."""


@click.command("resume")
@click.option("--limit", type=click.IntRange(1, 1000), default=_RESUMED, help="How many memories in each list at most.")
@target_options
@json_option
def resume_command(limit: int, target: Target, as_json: bool) -> None:
    """Show what is needed to continue: the session's context, pinned memories, your preferences.

    \b
    omoide resume
    omoide resume --session monday
    """
    with open_memory(target) as (memory, scope):
        found = memory.resume(scope=scope, limit=limit)
    if as_json:
        print_json({name: [serialize.memory(one) for one in memories] for name, memories in _lists(found).items()})
        return
    text = _format_resume(found)
    if text:
        click.echo(text)
    else:
        click.echo(f"there are no memories in {escape_control(str(scope))} yet", err=True)


def _lists(found: ResumeContext) -> dict[str, Sequence[Memory]]:
    return {
        "session": found.session,
        "pinned": found.pinned,
        "preferences": found.preferences,
        "agent_preferences": found.agent_preferences,
        "project": found.project,
    }


_TITLES = {
    "session": "This session",
    "pinned": "Pinned",
    "preferences": "Preferences of the user",
    "agent_preferences": "Preferences noted by agents",
    "project": "This project",
}


def _format_resume(found: ResumeContext) -> str:
    """The lists that are not empty, each below its title, with the whole texts."""
    sections = [
        "\n\n".join([click.style(f"{_TITLES[name]}:", bold=True), *map(_format_memory, memories)])
        for name, memories in _lists(found).items()
        if memories
    ]
    return "\n\n".join(sections)


def _format_memory(memory: Memory) -> str:
    return f"{headline(memory)}\n{indent(escape_control(memory.content), '    ')}"


@click.command("summary")
@layers_option("This layer, instead of the project and its sessions")
@click.option("--archived", is_flag=True, help="Count the archive instead.")
@target_options
@json_option
def summary_command(layers: tuple[str, ...], archived: bool, target: Target, as_json: bool) -> None:
    """Count the memories of a layer, or of its archive, by type and tag.

    \b
    omoide summary
    omoide summary --global --archived
    """
    state = State.ARCHIVED if archived else State.ACTIVE
    with open_memory(target) as (memory, scope):
        found = memory.summary(scope=scope, layers=[Layer(name) for name in layers] or scope.own_layers, states=(state,))
    if as_json:
        print_json(serialize.summary(found))
        return
    kind = "archived memory" if archived else "memory"
    plural = "archived memories" if archived else "memories"
    click.echo(f"{count_of(found.count, kind, plural)} in {escape_control(str(scope))}, {format_size(found.bytes)}")
    if found.oldest and found.newest:
        click.echo(f"from {day(found.oldest)} to {day(found.newest)}")
    for title, counts in (("type", found.by_type), ("tag", found.by_tag)):
        if counts:
            click.echo("")
            print_table([title, "memories"], [(name, f"{count:,}") for name, count in counts.items()], flexible=(0,))
