"""Finding: recall, list, show."""

from collections.abc import Sequence

import click

from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_memory, tags_of, target_options, type_option
from omoide.interfaces.cli.output import day, escape_control, headline, layer, print_json, print_table
from omoide.interfaces.time_input import parse_time
from omoide.model import Layer, Link, Memory, State

_LAYERS = click.Choice([one.value for one in Layer])
_STATES = click.Choice([one.value for one in State])
_LINES = 6


@click.command("recall")
@click.argument("words", nargs=-1)
@type_option("Only memories of this type.")
@click.option("--tag", multiple=True, help="Only memories with this tag; may be given more than once.")
@click.option("--tags", help="Only memories with all these tags, separated by commas.")
@click.option("--layer", "layers", multiple=True, type=_LAYERS, help="Only this layer; may be given more than once.")
@click.option("--archived", is_flag=True, help="Search the archive instead.")
@click.option("--since", metavar="WHEN", help="Only what changed since: 2026-02-05, or 7d for seven days.")
@click.option("--limit", type=int, help="How many at the most.")
@target_options
@json_option
def recall_command(
    words: tuple[str, ...],
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    layers: tuple[str, ...],
    archived: bool,
    since: str | None,
    limit: int | None,
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
        )
    if as_json:
        print_json({"memories": [serialize.hit(hit) for hit in found.hits], "total_count": found.total})
        return
    for hit in found.hits:
        click.echo(headline(hit.memory))
        if hit.memory.content != hit.memory.topic:
            _print_opening(hit.memory.content)
        if words:
            click.echo(click.style(f"    {hit.score:.2f} · {escape_control(hit.why)}", dim=True))
    if not found.hits:
        click.echo(f"nothing found in {scope}", err=True)
    elif found.total > len(found.hits):
        click.echo(f"{len(found.hits)} of {found.total}: --limit shows more", err=True)


def _print_opening(content: str) -> None:
    lines = escape_control(content.strip("\n")[:4000]).splitlines()
    for line in lines[:_LINES]:
        click.echo(f"    {line}")
    if len(lines) > _LINES or len(content) > 4000:
        click.echo(click.style("    … omoide show has the rest", dim=True))


@click.command("list")
@type_option("Only memories of this type.")
@click.option("--tag", multiple=True, help="Only memories with this tag; may be given more than once.")
@click.option("--tags", help="Only memories with all these tags, separated by commas.")
@click.option("--layer", "layers", multiple=True, type=_LAYERS, help="Only this layer; may be given more than once.")
@click.option("--state", "states", multiple=True, type=_STATES, help="These instead of active ones.")
@click.option("--all-states", is_flag=True, help="All of them, forgotten ones too.")
@click.option("--since", metavar="WHEN", help="Only what changed since: 2026-02-05, or 7d for seven days.")
@click.option("--limit", type=int, help="How many at the most.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="How many to leave out first.")
@target_options
@json_option
def list_command(
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    layers: tuple[str, ...],
    states: tuple[str, ...],
    all_states: bool,
    since: str | None,
    limit: int | None,
    offset: int,
    target: Target,
    as_json: bool,
) -> None:
    """List memories, last changed first.

    \b
    omoide list --type decision --since 7d
    omoide list --state forgotten --limit 100
    """
    with open_memory(target) as (memory, scope):
        page = memory.list(
            scope=scope,
            type=type_,
            tags=tags_of(tag, tags),
            layers=[Layer(name) for name in layers],
            states=list(State) if all_states else [State(name) for name in states or ("active",)],
            since=None if since is None else parse_time(since, "since", future=False),
            limit=limit,
            offset=offset,
        )
    if as_json:
        print_json({"memories": [serialize.memory(one) for one in page.memories], "total_count": page.total})
    elif page.memories:
        _print_list(page.memories, with_state=all_states or bool(states))
        if page.total > offset + len(page.memories):
            click.echo(f"{len(page.memories)} of {page.total}: --limit and --offset show more", err=True)
    else:
        click.echo(f"nothing to list in {scope}", err=True)


def _print_list(memories: Sequence[Memory], *, with_state: bool) -> None:
    titles = ["#", "type", "topic", "tags", "updated", "layer", *(["state"] if with_state else [])]
    rows = [
        [
            str(one.number), one.type, one.topic, ", ".join(one.tags), day(one.updated_at), layer(one.scope),
            *([_state(one)] if with_state else []),
        ]
        for one in memories
    ]  # fmt: skip
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
        names = {
            end: memory.show(end, scope=scope)
            for _, links in found if not as_json
            for link in links
            for end in (link.source, link.target)
        }  # fmt: skip
    if as_json:
        shapes = [{**serialize.memory(one), "links": [serialize.link(link) for link in links]} for one, links in found]
        print_json(shapes[0] if len(refs) == 1 else {"memories": shapes})
        return
    for place_in_row, (one, links) in enumerate(found):
        if place_in_row:
            click.echo()
        _print_full(one)
        for link in links:
            click.echo(f"  {_format_link(link, names)}")


def _print_full(memory: Memory) -> None:
    click.echo(headline(memory))
    click.echo()
    click.echo(escape_control(memory.content))
    for example in memory.examples:
        click.echo(click.style("\nexample", dim=True))
        click.echo(escape_control(example))
    click.echo()
    accessed, expires = memory.last_accessed_at, memory.expires_at
    for name, value in (
        ("id", memory.id),
        ("scope", str(memory.scope)),
        ("key", memory.key),
        ("by", serialize.author(memory)),
        ("source", memory.source),
        ("run", memory.source_run_id),
        ("confidence", f"{memory.confidence:g}"),
        ("relevance", f"{memory.relevance:g}"),
        ("references", str(memory.reference_count)),
        ("created", day(memory.created_at)),
        ("updated", f"{day(memory.updated_at)} (version {memory.version})"),
        ("last accessed", None if accessed is None else day(accessed)),
        ("state", _state(memory) if serialize.inactive_reason(memory) else None),
        ("expires", None if expires is None else day(expires)),
    ):
        if value is not None:
            click.echo(f"  {click.style(f'{name:<13}', dim=True)}  {escape_control(value)}")


def _format_link(link: Link, names: dict[str, Memory]) -> str:
    source, target = names[link.source], names[link.target]
    topics = f"{escape_control(source.topic)} → {escape_control(target.topic)}"
    return f"{click.style('link'.ljust(13), dim=True)}  #{source.number} {link.kind.value} #{target.number}  {topics}"
