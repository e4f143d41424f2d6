"""Read memories from a file of JSON, JSONL or CSV: all of them are imported, or none."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO

import msgspec

from omoide import model
from omoide.errors import Conflict, InvalidInput, Unreadable
from omoide.model import Draft, Link, Memory, Scope
from omoide.service import Service
from omoide.transfer.formats import HEADER
from omoide.transfer.row import Record, json_errors, to_links, to_memory_or_draft
from omoide.transfer.selection import TransferSelection

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_READING = 0.2  # of the time that an import takes

_decode = msgspec.json.Decoder(Record).decode


class _Progress:
    """Where the import is: the place for messages, and the share of the work that is done."""

    def __init__(self, tick: Callable[[float], None], size: int) -> None:
        self.place = ""
        self._tick = tick
        self._size = max(1, size)

    def locate(self, place: str) -> None:
        self.place = place

    def read(self, bytes: int) -> None:
        self._tick(_READING * bytes / self._size)

    def store(self, place: str, total: int) -> None:
        self.place = place
        self._tick((1 - _READING) / total)


def import_file(
    service: Service,
    file: BinaryIO,
    format: str,
    *,
    name: str,
    here: Scope,
    chosen: TransferSelection,
    dry_run: bool,
    tick: Callable[[float], None],
) -> Mapping[str, int]:
    """Import the chosen memories of an open file, and return the counts of `Service.import_memories`.

    A record with an id is a memory and is stored as it is; one without is stored as `remember` would. What names no
    scope belongs `here`. A rehearsal checks and counts everything and stores nothing. `tick` is called with shares of
    the work, which add up to 1. An error names the file by `name` and the row; then nothing was stored.
    """
    progress = _Progress(tick, file.seek(0, os.SEEK_END))
    try:
        file.seek(0)
        if file.read(2) in _UTF16:
            raise Unreadable("the text is UTF-16: save the file as UTF-8 first")
        file.seek(0)
        located = list(_memories_and_links(file, format, progress, here, chosen))

        def watch(index: int) -> None:
            progress.store(located[index][0], len(located))

        return service.import_memories((thing for _, thing in located), dry_run=dry_run, watch=watch)
    except (InvalidInput, Conflict) as error:
        where = f"{name}, {progress.place}" if progress.place else name
        raise type(error)(f"{where}: {error}") from error


def _memories_and_links(
    file: BinaryIO, format: str, progress: _Progress, here: Scope, chosen: TransferSelection
) -> Iterator[tuple[str, Memory | Draft | Link]]:
    """Memories as they come; then drafts, which take numbers that are left; then links, because both ends exist by then.

    Each with its place in the file.
    """
    at = model.now()
    drafts: list[tuple[str, Draft]] = []
    links: list[tuple[str, Link]] = []
    for record in _READERS[format](file, progress):
        place = progress.place
        memory = to_memory_or_draft(record, here, at)
        if not chosen.takes(memory, at):
            continue
        if isinstance(memory, Draft):
            drafts.append((place, memory))
            continue
        links += [(place, link) for link in to_links(record, at)]
        yield place, memory
    # One project after the other: the index takes rising row ids much faster.
    drafts.sort(key=lambda item: item[1].scope.path if item[1].scope else "")
    yield from drafts
    yield from links


class _JsonFile(msgspec.Struct):
    memories: list[msgspec.Raw]
    format: str = HEADER


def _read_json(file: BinaryIO, progress: _Progress) -> Iterator[Record]:
    data = file.read().removeprefix(_BOM)
    if not data.strip():
        raise Unreadable('the file is empty: JSON should hold {"memories": […]}')
    rows = _json_rows(data)
    share = len(data) // max(1, len(rows))
    for number, row in enumerate(rows, 1):
        progress.locate(f"row {number}")
        progress.read(share)
        with json_errors():
            record = _decode(row)
        yield record


def _json_rows(data: bytes) -> list[msgspec.Raw]:
    with json_errors():
        if data.lstrip()[:1] == b"[":
            return msgspec.json.decode(data, type=list[msgspec.Raw])
        content = msgspec.json.decode(data, type=_JsonFile)
    if content.format != HEADER:
        raise Unreadable(f"its format is {content.format!r}, this omoide knows {HEADER!r}: upgrade omoide")
    return content.memories


def _read_lines(file: BinaryIO, progress: _Progress) -> Iterator[Record]:
    for number, line in enumerate(file, 1):
        progress.locate(f"line {number}")
        progress.read(len(line))
        text = (line.removeprefix(_BOM) if number == 1 else line).strip()
        if text:
            with json_errors():
                record = _decode(text)
            yield record


def _read_csv(file: BinaryIO, progress: _Progress) -> Iterator[Record]:
    from omoide.transfer import csv_rows  # lazy: the csv module, only for this format

    return csv_rows.read(file, progress.locate, progress.read)


_READERS = {"json": _read_json, "jsonl": _read_lines, "csv": _read_csv}
