"""Read a part of a transcript: the lines between two positions, of a file that another program may be writing."""

from pathlib import Path
from typing import NamedTuple

CHUNK = 256 * 1024
"""Bytes that are read at once."""
LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of a line that is read; a longer one holds a file or an image, and is left out."""


class TranscriptPart(NamedTuple):
    """Whole lines of a transcript."""

    lines: list[bytes]
    end: int
    """The position behind them; where it is the start, nothing more can be read now."""


def read_part(path: Path, start: int, end: int) -> TranscriptPart:
    """Return the next whole lines from `start` on, about `CHUNK` bytes of them, without what is behind `end`.

    Raises OSError if the file cannot be read.
    """
    with path.open("rb") as file:
        file.seek(start)
        data = file.read(min(CHUNK, max(0, end - start)))
        while b"\n" not in data and start + len(data) < end and len(data) <= LONGEST_LINE:
            data += file.read(min(CHUNK, end - start - len(data)))
        if b"\n" in data:
            whole = data[: data.rindex(b"\n") + 1]
            return TranscriptPart(whole.splitlines(), start + len(whole))
        if len(data) <= LONGEST_LINE:
            return TranscriptPart([], start)  # the last line is still being written
        place = start + len(data)
        while more := file.read(min(CHUNK, max(0, end - place))):
            if b"\n" in more:
                return TranscriptPart([b""], place + more.index(b"\n") + 1)
            place += len(more)
        return TranscriptPart([], start)
