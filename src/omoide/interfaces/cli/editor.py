"""Edit a text in the person's editor, without ever losing what they wrote."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from omoide.errors import InvalidInput, OmoideError


@contextmanager
def edit_text(text: str, name: str) -> Iterator[str]:
    """Open the text in the editor, and yield what was saved.

    If the block raises and the text was changed, its file stays, and the error names it.
    """
    descriptor, path = tempfile.mkstemp(prefix=f"omoide-{name}-", suffix=".md")
    file = Path(path)
    before = text.encode()
    with os.fdopen(descriptor, "wb") as writer:
        writer.write(before)
    try:
        _edit(file)
        yield _read(file)
    except OmoideError as error:
        if file.exists() and file.read_bytes() not in (before, b""):
            raise type(error)(f"{error}\nyour text is saved in {file}") from error
        file.unlink(missing_ok=True)
        raise
    file.unlink(missing_ok=True)


def _edit(file: Path) -> None:
    try:
        click.edit(filename=str(file))
    except click.ClickException as error:
        raise InvalidInput(f"{error.message}: set EDITOR to a command such as vi or `code --wait`") from error


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        raise InvalidInput("the editor deleted the file: nothing was changed") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the text is not UTF-8 (byte {error.start}): save it as UTF-8") from error
