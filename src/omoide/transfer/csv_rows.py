"""Records as rows of CSV, and back: a column for each key, lists as JSON, cells that a spreadsheet cannot run."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import msgspec

from omoide.errors import Unreadable
from omoide.model import fields
from omoide.transfer.row import Record, json_errors, not_utf8

_SCOPE = ("layer", "project", "session")
"""The columns of a scope, which is a record of its own in JSON."""
_KINDS: dict[str, str] = {
    **{key: field.kind for field in fields.FIELDS for key in (_SCOPE if field.kind == "scope" else field.record_keys)},
    "links": "texts",
}
COLUMNS = tuple(_KINDS)

_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How a cell begins that a spreadsheet would run, and one that looks as if it had been neutralised already."""
_FLAGS = {"true": True, "false": False}
_LONGEST_CELL = 1 << 30  # the size of a content is checked with the memory

_encode = msgspec.json.Encoder().encode


def write(file: BinaryIO, records: Iterator[dict[str, Any]]) -> int:
    """Write a line of column names and a row for each record; return how many records there were."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    count = 0
    try:
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        for record in records:
            values = {**record, **record["scope"]}
            writer.writerow([neutralise(_cell(name, values[name])) for name in COLUMNS])
            count += 1
    finally:
        text.detach()  # the file is its opener's to close
    return count


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if _KINDS[name] == "tags":
        return ",".join(value)
    if _KINDS[name] == "texts":
        return _encode(value).decode() if value else ""
    return str(value)


def neutralise(cell: str) -> str:
    """Put a quote before a cell that a spreadsheet would run as a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def restore_cell(cell: str) -> str:
    """Take off the quote that `neutralise` put there, and no other."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def read(file: BinaryIO, locate: Callable[[str], None], tick: Callable[[int], None]) -> Iterator[Record]:
    """Yield the record of each row. `locate` is called with the place of a row before it is read, `tick` with the bytes.

    Raises Unreadable for what is no CSV, an unknown or missing column, and a cell of the wrong type.
    """
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    columns: list[str] | None = None
    seen = 0
    try:
        for cells in _rows(text, locate):
            tick(file.tell() - seen)
            seen = file.tell()
            if columns is None:
                columns = _columns(cells)
            elif cells:
                yield _record(columns, cells)
    finally:
        text.detach()  # the file is its opener's to close
    if columns is None:
        locate("")
        raise Unreadable("the file is empty: CSV should start with a line of column names")


def _rows(text: io.TextIOWrapper, locate: Callable[[str], None]) -> Iterator[list[str]]:
    """The cells of each row; a row may take several lines, and is located by its first."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(text, strict=True)
    while True:
        locate(f"line {reader.line_num + 1}")
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise Unreadable(f"this is not CSV: {error}") from error
        except UnicodeDecodeError as error:
            raise not_utf8(error) from error
        if cells is None:
            return
        yield cells


def _columns(cells: Sequence[str]) -> list[str]:
    columns = [cell.strip() for cell in cells]
    for column in columns:
        if column not in COLUMNS:
            raise Unreadable(f"there is no column {column!r}: the columns are {', '.join(COLUMNS)}")
    if len(set(columns)) < len(columns):
        raise Unreadable("a column appears twice: keep one")
    if "content" not in columns:
        raise Unreadable("the column content is missing, the only one that is needed")
    return columns


def _record(columns: Sequence[str], cells: Sequence[str]) -> Record:
    if len(cells) != len(columns):
        raise Unreadable(f"{len(cells)} cells, but {len(columns)} columns: put quotes around a cell with commas")
    # An empty cell gives nothing, except for the content, whose emptiness is an error of the memory.
    values: dict[str, Any] = {
        name: _value(name, restore_cell(cell))
        for name, cell in zip(columns, cells, strict=True)
        if cell or name == "content"
    }
    scope = {name: values.pop(name) for name in _SCOPE if name in values}
    with json_errors():
        return msgspec.convert({**values, "scope": scope} if scope else values, Record)


def _value(name: str, cell: str) -> Any:
    """The value of a cell by the kind of its field; an unknown kind of text stays a text."""
    parse = _PARSERS.get(_KINDS[name])
    return cell if parse is None else parse(name, cell)


def _count(name: str, cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        raise Unreadable(f"{name} must be a number, got {cell!r}") from None


def _share(name: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise Unreadable(f"{name} must be a number, got {cell!r}") from None


def _flag(name: str, cell: str) -> bool:
    value = _FLAGS.get(cell.strip().lower())
    if value is None:
        raise Unreadable(f"{name} must be true or false, got {cell!r}")
    return value


def _tags(_: str, cell: str) -> list[str]:
    return [tag for tag in cell.split(",") if tag.strip()]


def _json_list(name: str, cell: str) -> Any:
    try:
        return msgspec.json.decode(cell)
    except msgspec.DecodeError as error:
        raise Unreadable(f"{name} should be a JSON list: {error}") from error


_PARSERS: Mapping[str, Callable[[str, str], Any]] = {
    "count": _count,
    "share": _share,
    "flag": _flag,
    "tags": _tags,
    "texts": _json_list,
}
