"""compose: the prompt of a task, with the memories that fit it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from omoide.errors import Unreadable
from omoide.files.git import work_tree
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_memory,
    read_stdin_bytes,
    target_options,
    warn,
    working_directory,
)
from omoide.interfaces.cli.output import print_json
from omoide.interfaces.cli.receipt import print_receipt
from omoide.model import Task

T = TypeVar("T")
Command = Callable[..., T]

_FIELD_OPTIONS = (
    click.option("--id", help="The id of the task."),
    click.option("--title", help="The title of the task."),
    click.option("--description", help="What is to be done."),
    click.option("--role", help="The text of the section Role."),
    click.option("--profile", help="A template of the setting `profiles`, instead of --role."),
    click.option("--workspace", help="Where the agent works."),
    click.option("--read-first", multiple=True, metavar="PATH", help="A path to read first; may be given more than once."),
    click.option(
        "--write-scope",
        multiple=True,
        metavar="PATH",
        help="A path or glob that the agent may write; may be given more than once.",
    ),
    click.option("--constraint", "constraints", multiple=True, help="A constraint; may be given more than once."),
    click.option("--digest", help="What happened so far, for another try."),
    click.option("--output-format", help="What the agent should answer."),
)


def _task_options(command: Command[T]) -> Command[T]:
    for option in reversed(_FIELD_OPTIONS):
        command = option(command)
    return command


@click.command("compose")
@click.option("--task", "task_file", metavar="FILE", help="The task as TOML or JSON; - is standard input.")
@_task_options
@click.option("--limit", type=click.IntRange(min=0), help="How many memories at most.")
@click.option(
    "--budget", "budget_bytes", type=click.IntRange(min=0), metavar="BYTES", help="The size of the prompt at most."
)
@click.option("--budget-tokens", type=click.IntRange(min=0), metavar="TOKENS", help="The same, in estimated tokens.")
@click.option("--run", metavar="ID", help="Record a run under this id.")
@click.option("--record", is_flag=True, help="Record a run under an id that is made.")
@click.option("--explain", is_flag=True, help="Show which memories were chosen or left out, and why, not the prompt.")
@target_options
@json_option
def compose_command(
    task_file: str | None,
    limit: int | None,
    budget_bytes: int | None,
    budget_tokens: int | None,
    run: str | None,
    record: bool,
    explain: bool,
    target: Target,
    as_json: bool,
    **fields: Any,
) -> None:
    """Compose the prompt of a task, with the memories that fit it.

    Memories with a glob tag that matches the write scope come first, then the most relevant ones.

    \b
    omoide compose --task task.toml
    omoide compose --title "Fix the login" --write-scope src/auth --budget 8000
    omoide compose --task task.json --explain
    omoide compose --task task.toml --run build-42
    """
    task = read_task(task_file, fields)
    with open_memory(target, writing=record or run is not None) as (memory, scope):
        composed = memory.compose(
            task,
            scope=scope,
            limit=limit,
            budget_bytes=budget_bytes,
            budget_tokens=budget_tokens,
            work_tree=None if target.names_scope else work_tree(working_directory()),
            run=run,
            record=record,
        )
    for problem in composed.problems:
        warn(problem)
    if as_json:
        print_json(serialize.composed_prompt(composed))
        return
    if composed.run is not None:
        click.echo(f"run {composed.run.number}  {composed.run.id}", err=True)
    if explain:
        print_receipt(composed.receipt)
    else:
        click.echo(composed.text.encode(), nl=False)


def read_task(file: str | None, flags: dict[str, Any]) -> Task:
    """The task of the file, with what the flags give instead."""
    from omoide.prompt.task_file import parse_task  # lazy: with what it imports, only for this command

    task = Task()
    if file == "-":
        task = parse_task(_decode(read_stdin_bytes(), "standard input"), "standard input")
    elif file is not None:
        try:
            data = Path(file).read_bytes()
        except OSError as error:
            raise Unreadable(f"cannot read the task {file} ({error.strerror}): name another file with --task") from error
        task = parse_task(_decode(data, file), file)
    given = {name: value for name, value in flags.items() if value not in (None, ())}
    if "role" in given:
        given.setdefault("profile", "")
    if given.get("profile"):
        given.setdefault("role", "")
    return msgspec.structs.replace(task, **given)


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{name} is not UTF-8 (byte {error.start}): convert it with iconv first") from error
