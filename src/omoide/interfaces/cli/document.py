"""Documents from memories: document."""

import sys
from pathlib import Path

import click

from omoide import documenting
from omoide.interfaces.cli.common import Place, jsonable, opened, placed, settings_of, typed
from omoide.interfaces.cli.screen import print_json, visible
from omoide.model import Layer


@click.command("document")
@typed("Only the page of this type.")
@click.option("--output", "-o", metavar="DIR", help="Write the pages into this directory, with an index.")
@click.option(
    "--layer",
    "layers",
    multiple=True,
    type=click.Choice([one.value for one in Layer]),
    help="This layer, instead of the project and its sessions; may be given more than once.",
)
@placed
@jsonable
def document_command(type_: str | None, output: str | None, layers: tuple[str, ...], place: Place, as_json: bool) -> None:
    """Write memories as documents: a page for each type, the surest first.

    Without --output, to standard output. In a directory, pages that are as they should be stay untouched, and a page that
    omoide did not make is never overwritten.

    \b
    omoide document --type decision
    omoide document --output docs/memories
    """
    with opened(place) as (memory, scope):
        made = documenting.pages(memory, scope, type_, [Layer(name) for name in layers])
        if output is None:
            _print(made, as_json=as_json)
            return
        root = Path(output).absolute()
        done = documenting.write(made, root, settings_of(place).max_backups, whole=type_ is None)
    if as_json:
        pages = [{"file": name, "action": action} for name, action in done.actions.items()]
        print_json({"directory": str(root), "pages": pages, "backups": done.backups})
        return
    for name, action in done.actions.items():
        click.echo(f"{action:<9}  {visible(str(root / name))}")
    for copy in done.backups:
        click.echo(f"somebody had written in a page: it is kept in {visible(str(root / copy))}", err=True)
    for name in (name for name, action in done.actions.items() if action == "kept"):
        click.echo(f"{visible(name)} has no memories any more, but somebody wrote in it: remove it yourself", err=True)


def _print(made: "documenting.Pages", *, as_json: bool) -> None:
    pages = {name: page for name, page in made.items() if name != documenting.INDEX}
    if as_json:
        print_json({"pages": [{"file": name, "text": page} for name, page in pages.items()]})
        return
    # UTF-8 and to the byte, as into a file: this is for one, or for a prompt.
    sys.stdout.buffer.write("\n".join(pages.values()).encode())
    sys.stdout.flush()
