"""recall, list and show: find and read memories."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    layers_option,
    open_memory,
    settings_for,
    tags_of,
    target_options,
    type_option,
)
from omoide.interfaces.cli.output import day, escape_control, headline, layer, print_json, print_table
from omoide.interfaces.time_input import parse_time
from omoide.model import Hit, Layer, Link, Memory, Scope, State

if TYPE_CHECKING:  # it loads with the store
    from omoide.service import Service

T = TypeVar("T")

_LINES = 6
"""Lines of a text that recall shows."""
_CHARACTERS = 4000

_FILTERS = (
    type_option("Only memories of this type."),
    click.option("--tag", multiple=True, help="Only memories with this tag; may be given more than once."),
    click.option("--tags", help="Only memories with all these tags, separated by commas."),
    layers_option("Only this layer"),
    click.option("--since", metavar="WHEN", help="Only what changed since: 2026-02-05, or 7d for seven days."),
    click.option("--limit", type=int, help="How many to show at most."),
)


def _filter_options(command: Callable[..., T]) -> Callable[..., T]:
    for option in reversed(_FILTERS):
        command = option(command)
    return command


@click.command("recall")
@click.argument("words", nargs=-1)
@_filter_options
@click.option("--archived", is_flag=True, help="Search the archive instead.")
@click.option(
    "--min-score",
    type=float,
    metavar="SCORE",
    help="Show nothing if the best hit scores less than this, from 0 (show all) to 1.",
)
@target_options
@json_option
def recall_command(
    words: tuple[str, ...],
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    layers: tuple[str, ...],
    since: str | None,
    limit: int | None,
    archived: bool,
    min_score: float | None,
    target: Target,
    as_json: bool,
) -> None:
    """Find what answers a question, best first; without one, the newest.

    \b
    omoide recall 認証
    omoide recall how do we deploy --type decision --limit 3
    """
    with open_memory(target) as (memory, scope):
        found = memory.recall(
            " ".join(words),
            scope=scope,
            type=type_,
            tags=tags_of(tag, tags),
            layers=[Layer(name) for name in layers],
            states=[State.ARCHIVED if archived else State.ACTIVE],
            since=None if since is None else parse_time(since, "since", future=False),
            limit=limit,
            min_score=min_score,
        )
    if as_json:
        print_json({"memories": [serialize.hit(hit) for hit in found.hits], "total_count": found.total})
        return
    for hit in found.hits:
        _print_hit(hit, with_score=bool(words))
    if found.best_below is not None:
        click.echo(
            f"nothing relevant in {scope}: the best match scores {found.best_below:.3f}, --min-score 0 shows it", err=True
        )
    elif not found.hits:
        click.echo(f"nothing found in {scope}{_missing_database(target)}", err=True)
    elif found.total > len(found.hits):
        click.echo(f"{len(found.hits)} of {found.total}: --limit shows more", err=True)


def _print_hit(hit: Hit, *, with_score: bool) -> None:
    memory = hit.memory
    click.echo(headline(memory))
    if memory.content != memory.topic:
        _print_opening(memory.content)
    if with_score:
        click.echo(click.style(f"    {hit.score:.2f} · {escape_control(hit.why)}", dim=True))


def _print_opening(content: str) -> None:
    lines = escape_control(content.strip("\n")[:_CHARACTERS]).splitlines()
    for line in lines[:_LINES]:
        click.echo(f"    {line}")
    if len(lines) > _LINES or len(content) > _CHARACTERS:
        click.echo(click.style("    … omoide show prints the rest", dim=True))


@click.command("list")
@_filter_options
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in State]),
    help="This state instead of active; may be given more than once.",
)
@click.option("--all-states", is_flag=True, help="Every state, also forgotten.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="How many to skip first.")
@target_options
@json_option
def list_command(
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    layers: tuple[str, ...],
    since: str | None,
    limit: int | None,
    states: tuple[str, ...],
    all_states: bool,
    offset: int,
    target: Target,
    as_json: bool,
) -> None:
    """List memories, last changed first.

    \b
    omoide list --type decision --since 7d
    omoide list --state forgotten --limit 100
    """
    wanted = tuple(State) if all_states else tuple(map(State, states or ("active",)))
    with open_memory(target) as (memory, scope):
        page = memory.list(
            scope=scope,
            type=type_,
            tags=tags_of(tag, tags),
            layers=tuple(map(Layer, layers)),
            states=wanted,
            since=None if since is None else parse_time(since, "since", future=False),
            limit=limit,
            offset=offset,
        )
    if as_json:
        print_json({"memories": [serialize.memory(each) for each in page.memories], "total_count": page.total})
    elif page.memories:
        _print_list(page.memories, with_state=all_states or bool(states))
        if page.total > offset + len(page.memories):
            click.echo(f"{len(page.memories)} of {page.total}: --limit and --offset show more", err=True)
    else:
        click.echo(f"no memories to list in {scope}{_missing_database(target)}", err=True)


def _missing_database(target: Target) -> str:
    """Why there is nothing, if there is no database: its path may have a typing error."""
    store = settings_for(target).store
    return "" if Path(store).exists() else f": there is no database {escape_control(store)} yet"


def _print_list(memories: Sequence[Memory], *, with_state: bool) -> None:
    titles = ["#", "type", "topic", "tags", "updated", "layer"]
    rows = [
        [str(each.number), each.type, each.topic, ", ".join(each.tags), day(each.updated_at), layer(each.scope)]
        for each in memories
    ]
    if with_state:
        titles.append("state")
        for row, memory in zip(rows, memories, strict=True):
            row.append(_state(memory))
    print_table(titles, rows, flexible=(2, 3), optional=(5, 4, 3))


def _state(memory: Memory) -> str:
    reason = serialize.inactive_reason(memory)
    return f"{serialize.state(memory)} ({reason})" if reason else serialize.state(memory)


@click.command("show")
@click.argument("refs", metavar="REF...", nargs=-1, required=True)
@target_options
@json_option
def show_command(refs: tuple[str, ...], target: Target, as_json: bool) -> None:
    """Show a memory in full: the text, every field, the links.

    \b
    omoide show 12
    omoide show api-auth --json
    """
    with open_memory(target) as (memory, scope):
        found = [(memory.show(ref, scope=scope), memory.links(ref, scope=scope)) for ref in refs]
        linked = {} if as_json else _linked_memories(memory, [link for _, links in found for link in links], scope)
    if as_json:
        records = [{**serialize.memory(each), "links": [serialize.link(link) for link in links]} for each, links in found]
        print_json(records[0] if len(refs) == 1 else {"memories": records})
        return
    for index, (each, links) in enumerate(found):
        if index:
            click.echo()
        _print_full(each, links, linked)


def _linked_memories(memory: "Service", links: Sequence[Link], scope: Scope) -> dict[str, Memory]:
    """The memories at both ends of the links, by their ids."""
    ends = dict.fromkeys(end for link in links for end in (link.source, link.target))
    return {end: memory.show(end, scope=scope) for end in ends}


def _print_full(memory: Memory, links: Sequence[Link], linked: dict[str, Memory]) -> None:
    click.echo(headline(memory))
    click.echo()
    click.echo(escape_control(memory.content))
    if memory.original_prompt is not None:
        click.echo(click.style("\noriginal prompt", dim=True))
        click.echo(escape_control(memory.original_prompt))
    for example in memory.examples:
        click.echo(click.style("\nexample", dim=True))
        click.echo(escape_control(example))
    click.echo()
    for label, value in _details(memory):
        if value is not None:
            click.echo(f"  {click.style(f'{label:<13}', dim=True)}  {escape_control(value)}")
    for link in links:
        click.echo(f"  {_format_link(link, linked)}")


def _details(memory: Memory) -> Iterator[tuple[str, str | None]]:
    """The fields that the headline and the text do not show, with their labels; None where there is no value."""
    accessed, expires = memory.last_accessed_at, memory.expires_at
    yield "id", memory.id
    yield "scope", str(memory.scope)
    yield "key", memory.key
    yield "by", serialize.author(memory)
    yield "source", memory.source
    yield "run", memory.source_run_id
    yield "confidence", f"{memory.confidence:g}"
    yield "relevance", f"{memory.relevance:g}"
    yield "references", str(memory.reference_count)
    yield "created", day(memory.created_at)
    yield "updated", f"{day(memory.updated_at)} (version {memory.version})"
    yield "last accessed", None if accessed is None else day(accessed)
    yield "state", _state(memory) if serialize.inactive_reason(memory) else None
    yield "expires", None if expires is None else day(expires)


def _format_link(link: Link, linked: dict[str, Memory]) -> str:
    source, target = linked[link.source], linked[link.target]
    topics = f"{escape_control(source.topic)} → {escape_control(target.topic)}"
    return f"{click.style('link'.ljust(13), dim=True)}  #{source.number} {link.kind.value} #{target.number}  {topics}"
