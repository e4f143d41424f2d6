"""document: write memories as Markdown documents."""

import sys

import click

from omoide.errors import InvalidInput
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    layers_option,
    open_memory,
    settings_for,
    target_options,
    type_option,
    working_directory,
)
from omoide.interfaces.cli.output import count_of, escape_control, print_json
from omoide.markdown.pages import INDEX
from omoide.model import Layer
from omoide.transfer.pages import Pages, render_pages, write

_DIRECTORY = "memory-docs"


@click.command("document")
@type_option("Only the page of this type.")
@click.option("--output", "-o", metavar="DIR", help=f"The directory of the pages; by default {_DIRECTORY}.")
@click.option("--stdout", is_flag=True, help="Print the pages instead, for a prompt or a pipe.")
@layers_option("This layer, instead of the project and its sessions")
@target_options
@json_option
def document_command(
    type_: str | None, output: str | None, stdout: bool, layers: tuple[str, ...], target: Target, as_json: bool
) -> None:
    """Write memories as Markdown documents, one page for each type.

    The most certain memories come first. The pages go to memory-docs in this directory, with an index, unless --output or
    --stdout says otherwise. Pages that are up to date stay untouched, and a page that omoide did not write is never
    overwritten.

    \b
    omoide document
    omoide document --output docs/memories
    omoide document --type decision --stdout
    """
    if output is not None and stdout:
        raise InvalidInput("--output cannot be combined with --stdout: choose one")
    with open_memory(target) as (memory, scope):
        pages = render_pages(memory, scope, type_, [Layer(name) for name in layers])
        if stdout:
            _print(pages, as_json=as_json)
            return
        root = working_directory() / (output or _DIRECTORY)
        done = write(pages, root, settings_for(target).max_backups, whole=type_ is None)
    if as_json:
        records = [{"file": name, "action": action} for name, action in done.actions.items()]
        print_json({"directory": str(root), "pages": records, "backups": done.backups})
        return
    for name, action in done.actions.items():
        click.echo(f"{action:<9}  {escape_control(str(root / name))}")
    present = sum(action != "removed" for action in done.actions.values())
    click.echo(f"{count_of(present, 'file', 'files')} in {escape_control(str(root))}")
    for copy in done.backups:
        click.echo(f"a page had been edited: the old text is in {escape_control(str(root / copy))}", err=True)
    for name in (name for name, action in done.actions.items() if action == "kept"):
        click.echo(f"{escape_control(name)} has no memories any more, but was edited: delete it yourself", err=True)


def _print(pages: Pages, *, as_json: bool) -> None:
    texts = {name: text for name, text in pages.items() if name != INDEX}
    if as_json:
        print_json({"pages": [{"file": name, "text": text} for name, text in texts.items()]})
        return
    # The bytes of the file, in UTF-8: they go into a file or a prompt.
    sys.stdout.buffer.write("\n".join(texts.values()).encode())
    sys.stdout.flush()
