"""Read a part of a transcript: the lines between two positions, of a file that another program may be writing."""

from pathlib import Path
from typing import BinaryIO, NamedTuple

from omoide.files.ordinary_file import open_ordinary_file

CHUNK = 256 * 1024
"""Bytes that are read at once."""
LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of a line that is read; a longer one holds a file or an image, and is left out."""


MOST_SKIPPED = 16 * 1024 * 1024
"""Bytes of such a line that are read at once: a hook has less than a second."""


class TranscriptPart(NamedTuple):
    """Whole lines of a transcript."""

    lines: list[bytes]
    end: int
    """The position behind them; where it is the start, nothing more can be read now."""


def transcript_size(path: str) -> int:
    """Return the size of a transcript in bytes; 0 if there is none, or it cannot be read. `path` may begin with `~`."""
    try:
        return Path(path).expanduser().stat().st_size if path else 0
    except (OSError, ValueError, RuntimeError):  # fallback: there is nothing to read
        return 0


def read_part(path: Path, start: int, end: int) -> TranscriptPart:
    """Return the next whole lines from `start` on, about `CHUNK` bytes of them, without what is behind `end`.

    A line that is too long is skipped, in parts without lines. Raises OSError if the file cannot be read.
    """
    with open_ordinary_file(path) as file:
        if _is_within_line(file, start):  # of which the beginning was skipped
            return _skip_line(file, start, end)
        file.seek(start)
        data = file.read(min(CHUNK, max(0, end - start)))
        while b"\n" not in data and start + len(data) < end and len(data) <= LONGEST_LINE:
            data += file.read(min(CHUNK, end - start - len(data)))
        if b"\n" in data:
            whole = data[: data.rindex(b"\n") + 1]
            return TranscriptPart(whole.splitlines(), start + len(whole))
        if len(data) <= LONGEST_LINE:
            return TranscriptPart([], start)  # the last line is still being written
        return _skip_line(file, start + len(data), end)


def _is_within_line(file: BinaryIO, position: int) -> bool:
    if position == 0:
        return False
    file.seek(position - 1)
    return file.read(1) not in (b"\n", b"")


def _skip_line(file: BinaryIO, place: int, end: int) -> TranscriptPart:
    """Read on to the end of a line, which may be hundreds of megabytes away: a part of them."""
    file.seek(place)
    until = min(end, place + MOST_SKIPPED)
    while more := file.read(min(CHUNK, max(0, until - place))):
        if b"\n" in more:
            return TranscriptPart([b""], place + more.index(b"\n") + 1)
        place += len(more)
    return TranscriptPart([], place)
