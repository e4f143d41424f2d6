"""The options that say what a memory is like, the same for remember and revise."""

from collections.abc import Callable
from typing import TypeVar

import click

from omoide.interfaces.cli.options import type_option

T = TypeVar("T")
Command = Callable[..., T]


def field_options(command: Command[T]) -> Command[T]:
    for option in reversed(
        (
            click.option("--topic", help="A title; the same topic and type again updates the memory."),
            type_option("What kind of memory it is, such as decision or warning."),
            click.option("--tag", multiple=True, help="A tag; may be given more than once."),
            click.option("--tags", help="Tags separated by commas."),
            click.option("--key", help="A name of its own; the same key again updates the memory."),
            click.option("--example", multiple=True, help="An example, such as some code; may be given more than once."),
            click.option("--source", help="Where it comes from, such as a URL."),
            click.option("--run", "source_run_id", metavar="ID", help="The run of an agent that it comes from."),
            click.option("--confidence", type=float, help="How sure it is, from 0 to 1."),
            click.option("--expires", metavar="WHEN", help="When it stops being true: 2026-12-31, an ISO time, 90d, 12h."),
        )
    ):
        command = option(command)
    return command
