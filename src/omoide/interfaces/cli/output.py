"""Text for people: tables, headlines and times, aligned in Japanese too, without escape sequences from memories."""

import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime

import click

from omoide.interfaces import serialize
from omoide.model import Memory, Role, Scope


def print_json(value: object) -> None:
    """Print a value as JSON in UTF-8, whatever the encoding of the terminal."""
    click.echo(serialize.dump_json(value).encode())


def escape_control(text: str) -> str:
    """Escape the characters that could move the cursor or reverse the line, so that any text is safe to print."""
    if text.isprintable():
        return text
    return "".join(f"\\u{ord(c):04x}" if _is_unsafe(c) else c for c in text)


def _is_unsafe(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\n\t\u200d"


def width(text: str) -> int:
    """Return the columns on a terminal: East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(c: str) -> int:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def truncate(text: str, columns: int) -> str:
    """Cut the text to this many columns, with … at the end if it is longer."""
    if width(text) <= columns:
        return text
    room = columns - 1
    for index, c in enumerate(text):
        room -= _columns(c)
        if room < 0:
            return text[:index] + "…"
    return text


def print_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], *, flexible: Sequence[int] = (), optional: Sequence[int] = ()
) -> None:
    """Print aligned columns.

    In a pipe nothing is cut. On a terminal that is too narrow the `flexible` columns shrink; where that is not enough, the
    `optional` ones are left out, in the order in which they are named.
    """
    table = [[escape_control(cell).replace("\n", " ").replace("\t", " ") for cell in row] for row in rows]
    widths = {n: max([width(title), *(width(row[n]) for row in table)]) for n, title in enumerate(titles)}
    if sys.stdout.isatty():
        widths = _fit_widths(widths, _terminal(), flexible, list(optional))
    _print_row(titles, widths, bold=True)
    for row in table:
        _print_row(row, widths)


_LEAST = 14


def _fit_widths(widths: dict[int, int], room: int, flexible: Sequence[int], optional: list[int]) -> dict[int, int]:
    """The widths that fit: one flexible column after the other shrinks, from the last one named."""
    while True:
        over = sum(widths.values()) + 2 * (len(widths) - 1) - room
        fitted = dict(widths)
        for n in reversed([n for n in flexible if n in widths]):
            spare = max(0, min(over, fitted[n] - _LEAST))
            fitted[n] -= spare
            over -= spare
        if over <= 0 or not optional:
            return fitted
        widths = {n: columns for n, columns in widths.items() if n != optional[0]}
        optional = optional[1:]


def _terminal() -> int:
    # Not shutil's: importing it takes longer than printing the table.
    if os.environ.get("COLUMNS", "").isdigit():
        return int(os.environ["COLUMNS"])
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:  # fallback: not a real terminal
        return 80


def _print_row(cells: Sequence[str], widths: dict[int, int], *, bold: bool = False) -> None:
    shown = [(truncate(cells[n], columns), columns) for n, columns in widths.items()]
    line = "  ".join(text + " " * (columns - width(text)) for text, columns in shown).rstrip()
    click.echo(click.style(line, bold=True) if bold else line)


def headline(memory: Memory) -> str:
    """Return a memory in one line: number, topic, type, tags, and the author if that is a worker."""
    parts = [
        click.style(f"#{memory.number}", fg="cyan"),
        click.style(escape_control(memory.topic), bold=True),
        click.style(f"[{escape_control(memory.type)}]", fg="green"),
    ]
    if memory.pinned:
        parts.append("pinned")
    state, reason = serialize.state(memory), serialize.inactive_reason(memory)
    if state != "active":
        parts.append(click.style(f"{state} ({reason})" if reason else state, fg="yellow"))
    parts += [click.style(escape_control(tag), dim=True) for tag in memory.tags]
    if memory.author is not None and memory.author.role is Role.WORKER:
        parts.append(click.style(f"by {escape_control(serialize.author(memory))}", dim=True))
    return "  ".join(parts)


def count_of(number: int, singular: str, plural: str) -> str:
    """Return a number with its noun: `1 memory`, `2 memories`."""
    return f"{number:,} {singular if number == 1 else plural}"


def layer(scope: Scope) -> str:
    """Return the scope in one word: the session's name, or the layer."""
    return scope.name or scope.layer.value


def day(moment: datetime) -> str:
    """Return the local date and time, to the minute."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")
