"""route: which project a message belongs to, and why."""

from typing import Any

import click

from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    directory_if_readable,
    json_option,
    open_for_command,
    read_stdin,
    settings_for,
    store_option,
    warn,
)
from omoide.interfaces.cli.output import escape_control, print_json, print_table
from omoide.model import Route


@click.command("route")
@click.argument("message", metavar="MESSAGE")
@click.option("--current", metavar="PROJECT", help="The project that the conversation is in, instead of this directory's.")
@click.option("--no-model", is_flag=True, help="Do not ask the language model, even if one is configured.")
@click.option("--explain", is_flag=True, help="Show the projects that were considered, with their scores.")
@store_option
@json_option
def route_command(message: str, current: str | None, no_model: bool, explain: bool, target: Target, as_json: bool) -> None:
    """Show which project a message belongs to, and why.

    MESSAGE is what somebody writes to an agent; - reads it from standard input. Words and vectors decide; a language model
    is asked only if one is configured and they do not. Nothing is stored, and no project is created.

    \b
    omoide route "the checkout page rejects coupons"
    omoide route --current shop "今後はコミットの前にテストを実行して"
    """
    settings = settings_for(target)
    memory = open_for_command(settings)
    text = read_stdin() if message == "-" else message
    found = memory.route(
        text, current=current or settings.project or None, directory=directory_if_readable(), ask=not no_model
    )
    if as_json:
        print_json(serialize.route(found))
        return
    _print_route(found)
    if explain:
        _print_candidates(found)


def _print_route(route: Route) -> None:
    primary = "none" if route.primary is None else route.primary.path
    click.echo(f"project    {escape_control(primary)} ({route.confidence} confidence)")
    if route.secondary:
        click.echo(f"also       {escape_control(', '.join(project.path for project in route.secondary))}")
    click.echo(f"reason     {escape_control(route.reason)}")
    if route.primary is None and route.current is not None:
        current = escape_control(route.current.path)
        click.echo(f"current    {current}: sessions and learnings stay there; its memories are not added to the prompt")
    if route.proposal:
        click.echo(f"proposal   {escape_control(route.proposal)}: `omoide project create` makes it")
    for line in route.pinned_content.splitlines():
        click.echo(f"remember   {escape_control(line)}")
    if route.trouble:
        warn(f"the language model did not help: {route.trouble}")


def _print_candidates(route: Route) -> None:
    rows: list[Any] = [
        (f"{candidate.score:.2f}", candidate.project.path, candidate.project.description) for candidate in route.candidates
    ]
    click.echo()
    print_table(("score", "project", "description"), rows, flexible=(2,))
