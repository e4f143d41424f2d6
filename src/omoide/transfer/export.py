"""Write memories to a file as JSON, JSONL or CSV, one record for each.

What is exported and imported into an empty store is exported again byte for byte the same, if one person does both. Past
versions and events are not exported: a backup of the store has those.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from omoide import model
from omoide.errors import Conflict
from omoide.markdown import record
from omoide.model import Link, Memory
from omoide.service import Service
from omoide.transfer.formats import HEADER
from omoide.transfer.selection import TransferSelection

_encode = msgspec.json.Encoder().encode


def export(service: Service, file: BinaryIO, format: str, selection: TransferSelection, tick: Callable[[int], None]) -> int:
    """Write the selected memories to an open file and return how many there were.

    `tick` is called with 1 for every memory of the store that was looked at, selected or not.
    """
    at = model.now()

    def records(memories: Iterable[tuple[Memory, Sequence[Link]]]) -> Iterator[dict[str, Any]]:
        for memory, links in memories:
            tick(1)
            if selection.takes(memory, at):
                yield record.full_memory(memory, links)

    # Closed at once, also when the reader of a pipe is gone: it holds a transaction open.
    with closing(service.everything()) as everything:
        return _WRITERS[format](file, records(everything))


def _write_json(file: BinaryIO, records: Iterator[dict[str, Any]]) -> int:
    file.write(b'{"format":' + _encode(HEADER) + b',"memories":[')
    count = 0
    for count, each in enumerate(records, 1):
        file.write((b"\n" if count == 1 else b",\n") + _encode(each))
    file.write(b"\n]}\n")
    return count


def _write_lines(file: BinaryIO, records: Iterator[dict[str, Any]]) -> int:
    count = 0
    for each in records:
        file.write(_encode(each) + b"\n")
        count += 1
    return count


def _write_csv(file: BinaryIO, records: Iterator[dict[str, Any]]) -> int:
    from omoide.transfer import csv_rows  # lazy: the csv module, only for this format

    return csv_rows.write(file, records)


_WRITERS = {"json": _write_json, "jsonl": _write_lines, "csv": _write_csv}


@contextmanager
def open_output(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a new file that appears under its name only when it is complete, readable by its owner alone.

    Raises Conflict if the file exists and is not to be replaced by force, or cannot be written.
    """
    if path.exists() and not force:
        raise Conflict(f"{path} exists already: choose another name, or add --force")
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if force:
            partial.replace(path)
        else:
            os.link(partial, path)  # unlike a rename, this never replaces a file that appeared meanwhile
    except OSError as error:
        raise Conflict(f"{path} cannot be written ({error.strerror}): choose another place") from error
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()
