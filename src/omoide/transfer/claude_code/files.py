"""Where Claude Code keeps what it has learnt about a project, and the files it is in."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from omoide.errors import NotFound, Unreadable
from omoide.files.git import git_root

_MAX_NAME = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class SourceFile(NamedTuple):
    path: Path
    text: str
    at: datetime | None
    """When it was last written, as far as that can be true."""


def memory_directory(here: Path) -> Path:
    """The directory with the memories of the project that `here` is in: one for all worktrees of a repository."""
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser()
    places = dict.fromkeys((git_root(here) or here.resolve(), here.resolve()))
    for place in places:
        directory = home / "projects" / directory_name(str(place)) / "memory"
        if directory.is_dir():
            return directory
    looked = home / "projects" / directory_name(str(next(iter(places)))) / "memory"
    raise NotFound(f"Claude Code has no memories of this project in {looked}: name its memory directory, or a file")


def directory_name(path: str) -> str:
    """What Claude Code makes of a project's path: all but ASCII letters and digits become `-`, and a long one is cut.

    It counts in UTF-16, as JavaScript does: a character beyond the first 65,536 is two of them.
    """
    data = path.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[place : place + 2], "little") for place in range(0, len(data), 2)]
    name = "".join(chr(unit) if unit < 128 and chr(unit).isalnum() else "-" for unit in units)
    if len(name) <= _MAX_NAME:
        return name
    mark = 0
    for unit in units:
        mark = (mark * 31 + unit) & 0xFFFF_FFFF
    return f"{name[:_MAX_NAME]}-{_base36(abs(mark - (1 << 32) if mark >> 31 else mark))}"


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


def read_files(path: Path) -> tuple[dict[str, SourceFile], list[str]]:
    """A file, or those of a memory directory, by name; and what is wrong with others of the directory."""
    found: dict[str, SourceFile] = {}
    troubles: list[str] = []
    try:
        if not path.is_dir():
            return {path.name: _read(path)}, []
        for each in sorted(path.iterdir()):
            if each.suffix == ".md" and not each.name.startswith(".") and each.is_file():
                try:
                    found[each.name] = _read(each)
                except Unreadable as error:  # plan B: the other files
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
        raise Unreadable(f"{path} cannot be read ({error.strerror}): mend its permissions, or move it away") from error
    return SourceFile(path, text, written if written.year > 1980 and written <= datetime.now(UTC) else None)
