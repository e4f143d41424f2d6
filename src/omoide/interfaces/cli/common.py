"""What the commands share: where they work, how they open the memory, how they print."""

import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import click

from omoide import app, config
from omoide.errors import InvalidInput
from omoide.interfaces import wire
from omoide.interfaces.place import git_root
from omoide.model import Actor, Memory, Role, Scope
from omoide.service import Service

P = ParamSpec("P")
T = TypeVar("T")


class Place(NamedTuple):
    """Where a command works, as its flags say."""

    store: str | None
    project: str | None
    session: str | None
    everywhere: bool


def placed(command: Callable[..., T]) -> Callable[..., T]:
    """The flags that say where to work, handed to the command as one `place`."""
    import functools  # noqa: PLC0415 - a line of its own keeps the imports above to what the commands need

    @click.option("--store", metavar="FILE", help="The database file to work on.")
    @click.option("--project", metavar="PATH", help="The project to work in, instead of the one of this directory.")
    @click.option("--session", metavar="NAME", help="A session of the project.")
    @click.option("--global", "everywhere", is_flag=True, help="The global layer, instead of a project.")
    @functools.wraps(command)
    def run(*args: Any, store: str | None, project: str | None, session: str | None, everywhere: bool, **kwargs: Any) -> T:
        return command(*args, place=Place(store, project, session, everywhere), **kwargs)

    return run


def jsonable(command: Callable[..., T]) -> Callable[..., T]:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text for people.")(command)


@contextmanager
def opened(place: Place, *, writing: bool = False) -> Iterator[tuple[Service, Scope]]:
    """The memory and the scope a command works in."""
    settings = config.settings({"store": place.store, "project": place.project})
    with app.opened(settings, Actor(settings.actor, Role.OWNER, "cli")) as memory:
        yield memory, _scope(memory, place, settings, writing=writing)


def _scope(memory: Service, place: Place, settings: config.Settings, *, writing: bool) -> Scope:
    if place.everywhere:
        if place.project or place.session:
            raise InvalidInput("--global cannot go with --project or --session: choose one")
        return Scope.everywhere()
    if settings.project:
        scope = Scope.project(settings.project)
    else:
        root = git_root(Path.cwd())
        if root is None:
            if place.session:
                raise InvalidInput("--session needs a project: work in a git repository, or add --project")
            return Scope.everywhere()
        scope = memory.claim(root) if writing else memory.locate(root)
    return Scope.session(scope.path, place.session) if place.session else scope


def tags_of(tag: Sequence[str], tags: str | None) -> list[str]:
    """`--tag a --tag b` and `--tags a,b` say the same."""
    return [*tag, *(part for part in (tags or "").split(",") if part.strip())]


def print_json(value: object) -> None:
    click.echo(wire.dumped(value))


def visible(text: str) -> str:
    """Text from anywhere, safe to show: what could move the cursor or turn the line round is shown as an escape."""
    return "".join(
        f"\\u{ord(c):04x}" if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t\u200d" else c for c in text
    )


def width(text: str) -> int:
    """Columns on a terminal: East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def cut(text: str, columns: int) -> str:
    """The text in at most so many columns, … at the end when it is longer."""
    if width(text) <= columns:
        return text
    kept = ""
    for c in text:
        if width(kept + c) > columns - 1:
            break
        kept += c
    return kept + "…"


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]], *, flexible: int) -> None:
    """Aligned columns; the flexible one gives way on a narrow terminal, and nothing is cut in a pipe."""
    table = [[visible(cell).replace("\n", " ") for cell in row] for row in rows]
    widths = [max([width(title), *(width(row[n]) for row in table)]) for n, title in enumerate(titles)]
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns - sum(widths) + widths[flexible] - 2 * (len(widths) - 1)
        widths[flexible] = max(12, min(widths[flexible], room))
    click.echo(_row(titles, widths, bold=True))
    for row in table:
        click.echo(_row(row, widths))


def _row(cells: Sequence[str], widths: Sequence[int], *, bold: bool = False) -> str:
    line = "  ".join(
        shown + " " * (columns - width(shown))
        for cell, columns in zip(cells, widths, strict=True)
        for shown in [cut(cell, columns)]
    ).rstrip()
    return click.style(line, bold=True) if bold else line


def headline(memory: Memory) -> str:
    """One memory in one line: number, topic, type, tags."""
    parts = [
        click.style(f"#{memory.number}", fg="cyan"),
        click.style(visible(memory.topic), bold=True),
        click.style(f"[{memory.type}]", fg="green"),
    ]
    if memory.pinned:
        parts.append("pinned")
    if memory.state != "active":
        parts.append(click.style(memory.state.value, fg="yellow"))
    parts += [click.style(visible(tag), dim=True) for tag in memory.tags]
    return "  ".join(parts)


def day(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")
