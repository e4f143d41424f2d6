"""Documents in a directory: a page for each type of memory, written only where nothing of a person's stands in the way.

Each page ends with a mark that tells whose it is, and whether somebody wrote in it since. A page without the mark is never
touched; one that was written in is kept among the backups before it is made anew.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
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
    """File name → written, unchanged, removed (its type has no memories any more) or kept (the same, but written in)."""
    backups: Sequence[str]
    """Where pages are that somebody had written in, as they were."""


def render_pages(memory: Service, scope: Scope, type: str | None = None, layers: Sequence[Layer] = ()) -> Pages:
    """Of the scope's own layers, unless others are named: what is for all projects is nobody's page."""
    if not layers:
        layers = (Layer.SESSION,) if scope.name else (Layer.PROJECT, Layer.SESSION) if scope.path else (Layer.EVERYWHERE,)
    found = memory.list(scope=scope, type=type, layers=layers, limit=_ALL).memories
    if type is None:
        return render_all(found)
    return {file_name(type): render_document(type, found)}


def write(made: Pages, root: Path, backups: int, *, whole: bool) -> WriteResult:
    """Puts pages into a directory. `whole`: they are all there are, and pages of ours beside them have had their time."""
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unwritable(f"{root} cannot be made ({error.strerror}): choose another directory") from error
    place = Directory(root, backups)
    actions: dict[str, str] = {}
    copies: list[str] = []
    with place.lock():
        for name in made:  # all of them before the first is written
            found = place.read(name)
            if found is not None and not _is_ours(found[0]):
                raise Conflict(f"{root / name} was not made by omoide: move it away, or choose another directory")
        for name, page in made.items():
            actions[name], copy = _write_page(place, name, _add_marker(page))
            copies += [copy] if copy else []
        for name in sorted(name for name, _ in place.names() if whole and name not in made):
            action = _remove_page(place, name)
            actions |= {name: action} if action else {}
    return WriteResult(actions, copies)


def _write_page(place: Directory, name: str, text: str) -> tuple[str, str | None]:
    found = place.read(name)
    if found is not None and found[0] == text:
        return "unchanged", None
    copy = place.backup(name) if found is not None and _is_edited(found[0]) else None
    place.write(name, text, None if found is None else found[1])
    return "written", copy


def _remove_page(place: Directory, name: str) -> str | None:
    """Takes a page away that is ours; None: it is not."""
    try:
        found = place.read(name)
    except Unreadable:  # plan B: whatever it is, we did not make it
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
    """Whether somebody wrote in a page of ours. Other line ends, which git may give it, are no writing."""
    *_, mark = _MARKER.finditer(text)  # the last: a memory may quote one
    page = text[: mark.start()].removesuffix("\n").removesuffix("\r")
    return mark[1] != _digest(page) or bool(text[mark.end() :].strip())


def _digest(page: str) -> str:
    return hashlib.blake2b(page.replace("\r\n", "\n").encode(), digest_size=8).hexdigest()
