"""Write documents to a directory: a page for each type of memory.

Each page ends with a marker that contains a digest of the page. A file without the marker belongs to a person and is never
changed; a page that somebody edited is copied to the backups before it is written again.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Conflict, Unreadable, Unwritable
from omoide.files.directory import Directory
from omoide.markdown.pages import file_name, render_all, render_document
from omoide.model import Layer, Scope
from omoide.service import Service

Pages = Mapping[str, str]
"""File name → page."""

_ALL = 1_000_000
_MARKER = re.compile(r"^<!-- made by `omoide document` ([0-9a-f]{16}) -->\r?$", re.MULTILINE)


class WriteResult(NamedTuple):
    actions: Mapping[str, str]
    """File name → written, unchanged, removed (its type has no memories any more) or kept (the same, but edited)."""
    backups: Sequence[str]
    """The copies of pages that somebody had edited."""


def render_pages(memory: Service, scope: Scope, type: str | None = None, layers: Sequence[Layer] = ()) -> Pages:
    """Return the pages of a scope, of all types or of one; of its own layers, unless others are named."""
    if not layers:
        layers = (Layer.SESSION,) if scope.name else (Layer.PROJECT, Layer.SESSION) if scope.path else (Layer.EVERYWHERE,)
    found = memory.list(scope=scope, type=type, layers=layers, limit=_ALL).memories
    if type is None:
        return render_all(found)
    return {file_name(type): render_document(type, found)}


def write(made: Pages, root: Path, backups: int, *, whole: bool) -> WriteResult:
    """Write pages to a directory. `whole`: remove other pages of omoide there, because these are all there are.

    Raises Conflict if a file of that name was not made by omoide, Unwritable if the directory cannot be made.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unwritable(f"{root} cannot be made ({error.strerror}): choose another directory") from error
    place = Directory(root, backups)
    actions: dict[str, str] = {}
    copies: list[str] = []
    with place.lock():
        _require_ours(place, root, made)  # all of them before the first is written
        for name, page in made.items():
            actions[name], copy = _write_page(place, name, _add_marker(page))
            copies += [copy] if copy else []
        for name in sorted(name for name, _ in place.names() if whole and name not in made):
            action = _remove_page(place, name)
            actions |= {name: action} if action else {}
    return WriteResult(actions, copies)


def _require_ours(place: Directory, root: Path, names: Iterable[str]) -> None:
    for name in names:
        found = place.read(name)
        if found is not None and not _is_ours(found[0]):
            raise Conflict(f"{root / name} was not made by omoide: move it away, or choose another directory")


def _write_page(place: Directory, name: str, text: str) -> tuple[str, str | None]:
    found = place.read(name)
    if found is not None and found[0] == text:
        return "unchanged", None
    copy = place.backup(name) if found is not None and _is_edited(found[0]) else None
    place.write(name, text, None if found is None else found[1])
    return "written", copy


def _remove_page(place: Directory, name: str) -> str | None:
    """Remove a page that omoide made and nobody edited; return the outcome, or None for any other file."""
    try:
        found = place.read(name)
    except Unreadable:  # fallback: whatever it is, omoide did not make it
        return None
    if found is None or not _is_ours(found[0]):
        return None
    if _is_edited(found[0]):
        return "kept"
    place.remove(name, found[1])
    return "removed"


def _add_marker(page: str) -> str:
    return f"{page}\n<!-- made by `omoide document` {_digest(page)} -->\n"


def _is_ours(text: str) -> bool:
    return _MARKER.search(text) is not None


def _is_edited(text: str) -> bool:
    """Return whether somebody edited a page of omoide. Other line ends, which git may make, are no edit."""
    *_, marker = _MARKER.finditer(text)  # the last: a memory may quote one
    page = text[: marker.start()].removesuffix("\n").removesuffix("\r")
    return marker[1] != _digest(page) or bool(text[marker.end() :].strip())


def _digest(page: str) -> str:
    return hashlib.blake2b(page.replace("\r\n", "\n").encode(), digest_size=8).hexdigest()
