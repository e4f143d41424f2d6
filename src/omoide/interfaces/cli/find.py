"""Finding: recall, list, show, history, events."""

import click

from omoide.interfaces import wire
from omoide.interfaces.cli.common import Place, headline, jsonable, opened, placed, print_json, tags_of, visible
from omoide.interfaces.moments import moment
from omoide.model import Layer


@click.command("recall")
@click.argument("words", nargs=-1)
@click.option("--type", "type_", metavar="TYPE", help="Only memories of this type.")
@click.option("--tag", multiple=True, help="Only memories with this tag; may be given more than once.")
@click.option("--tags", help="Only memories with all these tags, separated by commas.")
@click.option("--layer", multiple=True, type=click.Choice([*Layer]), help="Only this layer; may be given more than once.")
@click.option("--archived", is_flag=True, help="Search the archive instead.")
@click.option("--since", metavar="WHEN", help="Only what changed since: 2026-02-05, or 7d for seven days.")
@click.option("--limit", type=int, help="How many at the most.")
@placed
@jsonable
def recall_command(
    words: tuple[str, ...],
    type_: str | None,
    tag: tuple[str, ...],
    tags: str | None,
    layer: tuple[str, ...],
    archived: bool,
    since: str | None,
    limit: int | None,
    place: Place,
    as_json: bool,
) -> None:
    """Find what answers a question, best first; without one, the newest.

    \b
    omoide recall 認証
    omoide recall how do we deploy --type decision --limit 3
    """
    with opened(place) as (memory, scope):
        found = memory.recall(
            " ".join(words),
            scope=scope,
            type=type_,
            tags=tags_of(tag, tags),
            layers=[Layer(name) for name in layer],
            states=["archived"] if archived else ["active"],
            since=None if since is None else moment(since, "since", future=False),
            limit=limit,
        )
    if as_json:
        print_json({"memories": [wire.hit(hit) for hit in found.hits], "total_count": found.total})
        return
    for hit in found.hits:
        click.echo(headline(hit.memory))
        if hit.memory.content != hit.memory.topic:
            for line in visible(hit.memory.content).splitlines()[:6]:
                click.echo(f"    {line}")
        if words:
            click.echo(click.style(f"    {hit.score:.2f} · {hit.why}", dim=True))
    if not found.hits:
        click.echo(f"nothing found in {scope}", err=True)
    elif found.total > len(found.hits):
        click.echo(f"{len(found.hits)} of {found.total}: --limit shows more", err=True)
