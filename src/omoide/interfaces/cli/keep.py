"""Keeping: remember."""

import sys

import click

from omoide.errors import InvalidInput
from omoide.interfaces import wire
from omoide.interfaces.cli.common import Place, headline, jsonable, opened, placed, print_json, tags_of
from omoide.interfaces.moments import moment


@click.command("remember")
@click.argument("content", required=False)
@click.option("--topic", help="A title; the same topic and type again updates the memory.")
@click.option("--type", "type_", metavar="TYPE", help="What kind of memory it is, such as decision or warning.")
@click.option("--tag", multiple=True, help="A tag; may be given more than once.")
@click.option("--tags", help="Tags separated by commas.")
@click.option("--key", help="A name of its own; the same key again updates the memory.")
@click.option("--example", multiple=True, help="An example, such as a piece of code; may be given more than once.")
@click.option("--source", help="Where it comes from, such as a URL.")
@click.option("--confidence", type=float, help="How sure it is, from 0 to 1.")
@click.option("--pin", is_flag=True, help="Pin it: never retired.")
@click.option("--expires", metavar="WHEN", help="When it stops being true: 2026-12-31, an ISO time, or 90d, 12h.")
@placed
@jsonable
def remember_command(
    content: str | None,
    topic: str | None,
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    key: str | None,
    example: tuple[str, ...],
    source: str | None,
    confidence: float | None,
    pin: bool,
    expires: str | None,
    place: Place,
    as_json: bool,
) -> None:
    """Keep something: an argument, - for standard input, or your editor.

    \b
    omoide remember "pnpm + Turborepo を使用" --type pattern --tags build,pnpm
    git log -1 --format=%B | omoide remember - --topic "last release"
    """
    text = _content(content)
    expires_at = None if expires is None else moment(expires, "expires", future=True)
    with opened(place, writing=True) as (memory, scope):
        done = memory.remember(
            text,
            scope=scope,
            topic=topic,
            type=type_,
            tags=tags_of(tag, tags),
            examples=example,
            key=key,
            source=source,
            confidence=confidence,
            pinned=True if pin else None,
            expires_at=expires_at,
        )
    if as_json:
        print_json(wire.remembered(done))
        return
    click.echo(f"{done.action}  {headline(done.memory)}")
    if done.similar_count:
        click.echo(f"{done.similar_count} others say almost the same: omoide recall shows them", err=True)


def _content(given: str | None) -> str:
    if given == "-":
        return sys.stdin.read()
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise InvalidInput("say what to remember: omoide remember TEXT, or - to read standard input")
    edited = click.edit("", extension=".md")
    if not (edited or "").strip():
        raise InvalidInput("nothing was written, so nothing is remembered")
    assert edited is not None
    return edited.rstrip("\n")
