"""Keeping: remember."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.cli.field_options import field_options
from omoide.interfaces.cli.options import Target, json_option, open_memory, read_stdin, tags_of, target_options
from omoide.interfaces.cli.output import escape_control, headline, print_json
from omoide.interfaces.time_input import parse_time


@click.command("remember")
@click.argument("content", required=False)
@field_options
@click.option("--pin", is_flag=True, help="Pin it: never retired.")
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
    confidence: float | None,
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
    expires_at = None if expires is None else parse_time(expires, "expires", future=True)
    with _content(content) as text, open_memory(target, writing=True) as (memory, scope):
        done = memory.remember(
            text,
            scope=scope,
            topic=topic,
            type=type_,
            tags=tags_of(tag, tags),
            examples=example,
            key=key,
            source=source,
            source_run_id=source_run_id,
            confidence=confidence,
            pinned=True if pin else None,
            expires_at=expires_at,
        )
    if as_json:
        print_json(serialize.remembered(done))
        return
    click.echo(f"{done.action}  {headline(done.memory)}")
    if done.similar_count:
        others = "1 other says" if done.similar_count == 1 else f"{done.similar_count} others say"
        click.echo(f"{others} almost the same: omoide similar {done.memory.number} shows them", err=True)
    if done.suggested_tags:
        click.echo(f"tags that would fit: {escape_control(', '.join(done.suggested_tags))}", err=True)


@contextmanager
def _content(given: str | None) -> Iterator[str]:
    if given is not None:
        yield read_stdin() if given == "-" else given
        return
    if not sys.stdin.isatty():
        raise InvalidInput("say what to remember: omoide remember TEXT, or - to read standard input")
    from omoide.interfaces.cli.editor import edit_text  # noqa: PLC0415 - most texts come as an argument

    with edit_text("", "new") as text:
        if not text.strip():
            raise InvalidInput("nothing was written, so nothing is remembered")
        yield text.removesuffix("\n")
