"""Carrying memories out to a file and in again: JSON, JSONL and CSV, row by row, everything or nothing.

What goes out and comes into an empty store goes out again byte for byte the same, if one person does both. Past versions and
events stay behind: a backup has those.
"""

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from omoide import model
from omoide.errors import Conflict, InvalidInput, Unreadable
from omoide.markdown import record
from omoide.model import Draft, Link, Memory, Scope, State, expiry
from omoide.service import Service
from omoide.transfer.row import Record, to_links, to_memory_or_draft

FORMATS = ("json", "jsonl", "csv")
_SUFFIXES = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}
_HEADER = "omoide 1"
_BOM = b"\xef\xbb\xbf"
_LISTS = ("examples", "links")  # as JSON in a cell
_TRUTHS = ("pinned", "topic_given")
_SCOPE = ("layer", "project", "session")
COLUMNS = tuple(
    column for name in Record.__struct_fields__ if name not in ("score", "why", "reason")
    for column in (_SCOPE if name == "scope" else (name,))
)  # fmt: skip

_BACKUP = re.compile(r"\d{8}-\d{6}-\d{6}\.jsonl")
_READING = 0.2  # of the time an import takes

_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How a cell begins that a spreadsheet would run, and one that looks as if it had been neutralised already."""

_row = msgspec.json.Decoder(Record)
_encode = msgspec.json.Encoder().encode


class Selection(NamedTuple):
    """Which memories are meant; what is left empty lets everything through."""

    type: str | None = None
    tags: Sequence[str] = ()
    scope: Scope | None = None
    """Exactly this layer; a project comes with its sessions."""
    since: datetime | None = None
    states: Sequence[State] = ()
    """Listings: see `expiry.listing`."""

    def takes(self, thing: Memory | Draft, at: datetime) -> bool:
        changed = thing.updated_at if isinstance(thing, Memory) else thing.created_at
        state = expiry.listing(thing, at) if isinstance(thing, Memory) else State.ACTIVE
        return (
            self.type in (None, thing.type)
            and {tag.casefold() for tag in self.tags} <= {tag.casefold() for tag in thing.tags}
            and self._within(thing.scope)
            and (self.since is None or changed is None or changed >= self.since)
            and (not self.states or state in self.states)
        )

    def _within(self, scope: Scope | None) -> bool:
        wanted = self.scope
        return wanted is None or (scope is not None and scope.path == wanted.path and wanted.name in ("", scope.name))


def format_of(path: str, given: str | None = None) -> str:
    """The format that was named, or else the one that the file's name tells."""
    guessed = given or _SUFFIXES.get(Path(path).suffix.lower())
    if guessed is None:
        raise InvalidInput(f"{path} does not tell its format: name it with --format ({', '.join(FORMATS)})")
    return guessed


# out


def export(memory: Service, file: BinaryIO, format: str, chosen: Selection, tick: Callable[[int], None]) -> int:
    """Writes what is chosen, and answers how many; `tick` hears of every memory that was looked at."""

    at = model.now()
    write = {"json": _write_json, "jsonl": _write_lines, "csv": _write_cells}[format]

    def wanted(everything: Iterable[tuple[Memory, Sequence[Link]]]) -> Iterator[dict[str, Any]]:
        for one, links in everything:
            tick(1)
            if chosen.takes(one, at):
                yield record.full_memory(one, links)

    # Closed here and now, also when the reader of a pipe is gone: a transaction is open meanwhile.
    with closing(memory.everything()) as everything:
        return write(file, wanted(everything))


def _write_json(file: BinaryIO, rows: Iterator[dict[str, Any]]) -> int:
    file.write(b'{"format":' + _encode(_HEADER) + b',"memories":[')
    count = 0
    for count, row in enumerate(rows, 1):
        file.write((b"\n" if count == 1 else b",\n") + _encode(row))
    file.write(b"\n]}\n")
    return count


def _write_lines(file: BinaryIO, rows: Iterator[dict[str, Any]]) -> int:
    count = 0
    for row in rows:
        file.write(_encode(row) + b"\n")
        count += 1
    return count


def _write_cells(file: BinaryIO, rows: Iterator[dict[str, Any]]) -> int:
    import csv  # noqa: PLC0415 - only for this format

    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    count = 0
    try:
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        for row in rows:
            flat = {**row, **row["scope"]}
            writer.writerow([neutralise(_cell(name, flat[name])) for name in COLUMNS])
            count += 1
    finally:
        text.detach()
    return count


@contextmanager
def open_output(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file that appears whole or not at all, for its owner's eyes; one that is there is replaced only by force."""
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


class Backup(NamedTuple):
    file: Path
    memories: int
    removed: Sequence[Path]
    """Older ones, of which there were too many."""


def back_up_project(memory: Service, scope: Scope, directory: Path, keep: int) -> Backup:
    """Writes all of a project into one more file of the directory, and keeps the newest so many there."""
    stamp = model.now().strftime("%Y%m%d-%H%M%S-%f")
    try:
        for each in reversed([directory, *directory.parents]):
            each.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Conflict(f"{directory} cannot be made ({error.strerror}): choose another place with --output") from error
    target = directory / f"{stamp}.jsonl"
    with open_output(target, force=False) as file:
        count = export(memory, file, "jsonl", Selection(scope=scope), lambda _: None)
    # By its name, which is its time: a copied or touched file has another date.
    copies = sorted(each for each in directory.iterdir() if _BACKUP.fullmatch(each.name) and each.is_file())
    for copy in copies[:-keep]:
        copy.unlink()
    return Backup(target, count, copies[:-keep])


# in


class _Row(NamedTuple):
    place: str
    record: Record


class _Cursor:
    """Where the reader is: an error that comes up further in is told with it."""

    def __init__(self) -> None:
        self.place = ""


def import_file(
    memory: Service,
    file: BinaryIO,
    format: str,
    *,
    name: str,
    here: Scope,
    chosen: Selection,
    rehearse: bool,
    tick: Callable[[float], None],
) -> Mapping[str, int]:
    """Takes a file in: what has an id as it is, what has none as `remember` would. An error names its row, and then
    nothing was kept. `tick` hears how much of the work is done, as a share of 1."""
    cursor = _Cursor()
    size = max(1, file.seek(0, os.SEEK_END))

    def progress(more: int) -> None:
        tick(_READING * more / size)

    try:
        file.seek(0)
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            raise Unreadable("the text is UTF-16: save the file as UTF-8 first")
        file.seek(0)
        things = list(_read_things(file, format, cursor, here, chosen, progress))

        def watch(number: int) -> None:
            cursor.place = things[number][0]
            tick((1 - _READING) / len(things))

        return memory.adopt((thing for _, thing in things), rehearse=rehearse, watch=watch)
    except (InvalidInput, Conflict) as error:
        where = f"{name}, {cursor.place}" if cursor.place else name
        raise type(error)(f"{where}: {error}") from error


def _read_things(
    file: BinaryIO, format: str, cursor: _Cursor, here: Scope, chosen: Selection, tick: Callable[[int], None]
) -> Iterator[tuple[str, Memory | Draft | Link]]:
    """Memories as they come; then drafts, which take numbers that are left; then links, as both ends are there."""
    at = model.now()
    drafts: list[tuple[str, Draft]] = []
    links: list[tuple[str, Link]] = []
    read = {"json": _read_json, "jsonl": _read_lines, "csv": _read_cells}[format]
    for place, row in read(file, cursor, tick):
        thing = to_memory_or_draft(row, here, at)
        if not chosen.takes(thing, at):
            continue
        if isinstance(thing, Draft):
            drafts.append((place, thing))
            continue
        links += [(place, link) for link in to_links(row, at)]
        yield place, thing
    # One project after the other: the index takes rising row ids much faster.
    drafts.sort(key=lambda item: item[1].scope.path if item[1].scope else "")
    yield from drafts
    yield from links


class _File(msgspec.Struct):
    memories: list[msgspec.Raw]
    format: str = _HEADER


def _read_json(file: BinaryIO, cursor: _Cursor, tick: Callable[[int], None]) -> Iterator[_Row]:
    data = file.read().removeprefix(_BOM)
    if not data.strip():
        raise Unreadable('the file is empty: JSON should hold {"memories": […]}')
    with _json_errors():
        if data.lstrip()[:1] == b"[":
            rows = msgspec.json.decode(data, type=list[msgspec.Raw])
        else:
            content = msgspec.json.decode(data, type=_File)
            if content.format != _HEADER:
                raise Unreadable(f"its format is {content.format!r}, this omoide knows {_HEADER!r}: upgrade omoide")
            rows = content.memories
    share = len(data) // max(1, len(rows))
    for number, row in enumerate(rows, 1):
        cursor.place = f"row {number}"
        tick(share)
        with _json_errors():
            one = _row.decode(row)
        yield _Row(cursor.place, one)


def _read_lines(file: BinaryIO, cursor: _Cursor, tick: Callable[[int], None]) -> Iterator[_Row]:
    for number, line in enumerate(file, 1):
        cursor.place = f"line {number}"
        tick(len(line))
        text = (line.removeprefix(_BOM) if number == 1 else line).strip()
        if text:
            with _json_errors():
                one = _row.decode(text)
            yield _Row(cursor.place, one)


def _read_cells(file: BinaryIO, cursor: _Cursor, tick: Callable[[int], None]) -> Iterator[_Row]:
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    columns: list[str] | None = None
    seen = 0
    try:
        for cells in _csv_rows(text, cursor):
            tick(file.tell() - seen)
            seen = file.tell()
            if columns is None:
                columns = _columns(cells)
            elif cells:
                yield _Row(cursor.place, _from_cells(columns, cells))
    finally:
        text.detach()  # the file is its opener's to close
    if columns is None:
        cursor.place = ""
        raise Unreadable("the file is empty: CSV should start with a line of column names")


def _csv_rows(text: io.TextIOWrapper, cursor: _Cursor) -> Iterator[list[str]]:
    """The cells of each row; a row may take several lines, and is called by its first."""
    import csv  # noqa: PLC0415 - only for this format

    csv.field_size_limit(1 << 30)  # the content's size is checked with the memory
    reader = csv.reader(text, strict=True)
    while True:
        cursor.place = f"line {reader.line_num + 1}"
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise Unreadable(f"this is not CSV: {error}") from error
        except UnicodeDecodeError as error:
            raise _not_utf8(error) from error
        if cells is None:
            return
        yield cells


# cells


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if name == "tags":
        return ",".join(value)
    if name in _LISTS:
        return _encode(value).decode() if value else ""
    return str(value)


def neutralise(cell: str) -> str:
    """Put a quote before a cell that a spreadsheet would run as a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def restore_cell(cell: str) -> str:
    """Take off the quote that `neutralised` put there, and no other."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _columns(cells: Sequence[str]) -> list[str]:
    columns = [cell.strip() for cell in cells]
    for column in columns:
        if column not in COLUMNS:
            raise Unreadable(f"there is no column {column!r}: the columns are {', '.join(COLUMNS)}")
    if len(set(columns)) < len(columns):
        raise Unreadable("a column stands there twice: keep one")
    if "content" not in columns:
        raise Unreadable("there is no column content, the only one that is needed")
    return columns


def _from_cells(columns: Sequence[str], cells: Sequence[str]) -> Record:
    if len(cells) != len(columns):
        raise Unreadable(f"{len(cells)} cells, but {len(columns)} columns: put quotes around a cell with commas")
    # An empty cell says nothing, but for the content, whose emptiness is an error further in.
    row: dict[str, Any] = {
        name: _value(name, restore_cell(cell))
        for name, cell in zip(columns, cells, strict=True)
        if cell or name == "content"
    }
    place = {name: row.pop(name) for name in _SCOPE if name in row}
    with _json_errors():
        return msgspec.convert({**row, "scope": place} if place else row, Record)


def _value(name: str, cell: str) -> Any:
    try:
        if name in ("number", "reference_count", "version"):
            return int(cell)
        if name in ("confidence", "relevance"):
            return float(cell)
        if name in _TRUTHS:
            return {"true": True, "false": False}[cell.strip().lower()]
    except (ValueError, KeyError):
        wanted = "true or false" if name in _TRUTHS else "a number"
        raise Unreadable(f"{name} is {cell!r}: {wanted}, please") from None
    if name == "tags":
        return [tag for tag in cell.split(",") if tag.strip()]
    if name in _LISTS:
        try:
            return msgspec.json.decode(cell)
        except msgspec.DecodeError as error:
            raise Unreadable(f"{name} should be a JSON list: {error}") from error
    return cell


@contextmanager
def _json_errors() -> Iterator[None]:
    """What JSON cannot say, in our words."""
    try:
        yield
    except msgspec.ValidationError as error:
        problem, _, field = str(error).partition(" - at `$")
        field = field.removeprefix("[...]").removeprefix(".").removesuffix("`")
        raise Unreadable(f"{field}: {problem}" if field else problem) from error
    except msgspec.DecodeError as error:
        raise Unreadable(f"this is not whole JSON: {error}") from error
    except UnicodeDecodeError as error:
        raise _not_utf8(error) from error
    except RecursionError as error:
        raise Unreadable("this JSON is nested too deeply to be a memory") from error


def _not_utf8(error: UnicodeDecodeError) -> Unreadable:
    return Unreadable(f"the text is not UTF-8 (byte {error.object[error.start]:#04x}): save the file as UTF-8 first")
