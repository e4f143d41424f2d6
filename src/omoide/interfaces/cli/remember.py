"""remember: store a memory."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    field_options,
    json_option,
    open_memory,
    read_stdin,
    tags_of,
    target_options,
)
from omoide.interfaces.cli.output import escape_control, headline, print_json
from omoide.interfaces.time_input import parse_expiry
from omoide.model import Remembered


@click.command("remember")
@click.argument("content", required=False)
@field_options
@click.option("--pin", is_flag=True, help="Pin it: never archived automatically.")
@target_options
@json_option
def remember_command(
    content: str | None,
    topic: str | None,
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    key: str | None,
    example: tuple[str, ...],
    source: str | None,
    source_run_id: str | None,
    original_prompt: str | None,
    confidence: float | None,
    relevance: float | None,
    expires: str | None,
    pin: bool,
    target: Target,
    as_json: bool,
) -> None:
    """Store a memory: an argument, - for standard input, or your editor.

    \b
    omoide remember "pnpm + Turborepo を使用" --type pattern --tags build,pnpm
    git log -1 --format=%B | omoide remember - --topic "last release"
    """
    expires_at = None if expires is None else parse_expiry(expires, "expires")
    with _read_content(content) as text, open_memory(target, writing=True) as (memory, scope):
        remembered = memory.remember(
            text,
            scope=scope,
            topic=topic,
            type=type_,
            tags=tags_of(tag, tags),
            examples=example,
            key=key,
            source=source,
            source_run_id=source_run_id,
            original_prompt=original_prompt,
            confidence=confidence,
            relevance=relevance,
            pinned=True if pin else None,
            expires_at=expires_at,
        )
    if as_json:
        print_json(serialize.remember_result(remembered))
    else:
        _print_remembered(remembered)


def _print_remembered(remembered: Remembered) -> None:
    memory, similar = remembered.memory, remembered.similar_count
    click.echo(f"{remembered.action}  {headline(memory)}")
    if similar:
        others = "1 other memory is" if similar == 1 else f"{similar} other memories are"
        click.echo(f"{others} nearly the same: see omoide similar {memory.number}", err=True)
    if remembered.suggested_tags:
        click.echo(f"suggested tags: {escape_control(', '.join(remembered.suggested_tags))}", err=True)


@contextmanager
def _read_content(argument: str | None) -> Iterator[str]:
    """The text of the argument, of standard input, or of the editor, whose file stays if the block fails."""
    if argument is not None:
        yield read_stdin() if argument == "-" else argument
        return
    if not sys.stdin.isatty():
        raise InvalidInput("there is no text to remember: omoide remember TEXT, or - to read standard input")
    from omoide.interfaces.cli.editor import edit_text  # lazy: most texts come as an argument

    with edit_text("", "new") as text:
        if not text.strip():
            raise InvalidInput("the text is empty: nothing was remembered")
        yield text.removesuffix("\n")
