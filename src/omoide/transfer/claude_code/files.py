"""Find and read the files in which Claude Code keeps its memory of a project."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from omoide.errors import NotFound, Unreadable
from omoide.files.git import git_root

_MAX_NAME = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class SourceFile(NamedTuple):
    """A file that was read."""

    path: Path
    text: str
    at: datetime | None
    """When it was last written; None if its time cannot be right."""


def memory_directory(here: Path) -> Path:
    """Return the memory directory of the project that `here` is in: one for all worktrees of a repository.

    Raises NotFound if there is none.
    """
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser()
    places = dict.fromkeys((git_root(here) or here.resolve(), here.resolve()))
    for place in places:
        directory = home / "projects" / directory_name(str(place)) / "memory"
        if directory.is_dir():
            return directory
    expected = home / "projects" / directory_name(str(next(iter(places)))) / "memory"
    raise NotFound(f"Claude Code has no memories of this project in {expected}: name its memory directory, or a file")


def directory_name(path: str) -> str:
    """Return the name that Claude Code gives a project's directory: its path with `-` for all but ASCII letters and digits.

    A long one is cut, and a hash added. Characters are counted in UTF-16, as JavaScript does.
    """
    data = path.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[place : place + 2], "little") for place in range(0, len(data), 2)]
    name = "".join(chr(unit) if unit < 128 and chr(unit).isalnum() else "-" for unit in units)
    if len(name) <= _MAX_NAME:
        return name
    hashed = 0
    for unit in units:
        hashed = (hashed * 31 + unit) & 0xFFFF_FFFF
    signed = hashed - (1 << 32) if hashed >> 31 else hashed
    return f"{name[:_MAX_NAME]}-{_base36(abs(signed))}"


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


def read_files(path: Path) -> tuple[dict[str, SourceFile], list[str]]:
    """Return a file, or those of a memory directory, by name; and why other files of the directory cannot be read.

    Raises Unreadable if the path itself cannot be read.
    """
    found: dict[str, SourceFile] = {}
    troubles: list[str] = []
    try:
        if not path.is_dir():
            return {path.name: _read(path)}, []
        for each in sorted(path.iterdir()):
            if each.suffix == ".md" and not each.name.startswith(".") and each.is_file():
                try:
                    found[each.name] = _read(each)
                except Unreadable as error:  # fallback: the other files
                    troubles.append(str(error))
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error.strerror}): name another") from error
    return found, troubles


def _read(path: Path) -> SourceFile:
    try:
        text = path.read_bytes().decode()
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8 first") from error
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error.strerror}): change its permissions, or move it away") from error
    return SourceFile(path, text, written if written.year > 1980 and written <= datetime.now(UTC) else None)
