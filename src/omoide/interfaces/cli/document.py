"""Documents from memories: document."""

import sys
from pathlib import Path

import click

from omoide.interfaces.cli.options import Target, json_option, open_memory, settings_for, target_options, type_option
from omoide.interfaces.cli.output import escape_control, print_json
from omoide.markdown.pages import INDEX
from omoide.model import Layer
from omoide.transfer.pages import Pages, render_pages, write


@click.command("document")
@type_option("Only the page of this type.")
@click.option("--output", "-o", metavar="DIR", help="Write the pages into this directory, with an index.")
@click.option(
    "--layer",
    "layers",
    multiple=True,
    type=click.Choice([one.value for one in Layer]),
    help="This layer, instead of the project and its sessions; may be given more than once.",
)
@target_options
@json_option
def document_command(type_: str | None, output: str | None, layers: tuple[str, ...], target: Target, as_json: bool) -> None:
    """Write memories as Markdown documents, one page for each type.

    Without --output, to standard output. In a directory, pages that are as they should be stay untouched, and a page that
    omoide did not make is never overwritten.

    \b
    omoide document --type decision
    omoide document --output docs/memories
    """
    with open_memory(target) as (memory, scope):
        made = render_pages(memory, scope, type_, [Layer(name) for name in layers])
        if output is None:
            _print(made, as_json=as_json)
            return
        root = Path(output).absolute()
        done = write(made, root, settings_for(target).max_backups, whole=type_ is None)
    if as_json:
        pages = [{"file": name, "action": action} for name, action in done.actions.items()]
        print_json({"directory": str(root), "pages": pages, "backups": done.backups})
        return
    for name, action in done.actions.items():
        click.echo(f"{action:<9}  {escape_control(str(root / name))}")
    for copy in done.backups:
        click.echo(f"somebody had written in a page: it is kept in {escape_control(str(root / copy))}", err=True)
    for name in (name for name, action in done.actions.items() if action == "kept"):
        click.echo(
            f"{escape_control(name)} has no memories any more, but somebody wrote in it: remove it yourself", err=True
        )


def _print(made: Pages, *, as_json: bool) -> None:
    pages = {name: page for name, page in made.items() if name != INDEX}
    if as_json:
        print_json({"pages": [{"file": name, "text": page} for name, page in pages.items()]})
        return
    # UTF-8 and to the byte, as into a file: this is for one, or for a prompt.
    sys.stdout.buffer.write("\n".join(pages.values()).encode())
    sys.stdout.flush()
