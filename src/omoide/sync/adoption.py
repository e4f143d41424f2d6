"""Which files of a mirrored directory are omoide's: never an unrelated document in the same directory. Pure."""

from collections.abc import Callable
from fnmatch import fnmatchcase

from omoide.errors import Unreadable
from omoide.markdown import frontmatter
from omoide.markdown.format import normalize_newlines, parse_uuid
from omoide.model import Mirror

_EVERYTHING = ("*",)
_IDS = ("id", "omoide_id")
_MARK = "<!-- omoide:"


class Adoption:
    """The files that a mirror may read and write: its own, and those that a person handed over."""

    def __init__(self, mirror: Mirror, is_known: Callable[[str], bool]):
        """`is_known`: whether the mirror has synced a file already."""
        self._mirror = mirror
        self._is_known = is_known

    def is_foreign(self, name: str, text: str | None = None) -> bool:
        """Whether a file is somebody else's. Without a text, one that cannot be read has no marks of omoide."""
        if self._mirror.adopt == _EVERYTHING:
            return False
        if any(fnmatchcase(name, pattern) for pattern in self._mirror.adopt):
            return False
        return not (text is not None and has_marks(text, self._mirror.format)) and not self._is_known(name)


def has_marks(text: str, format: str) -> bool:
    """Whether a file has the marks of omoide: a key or an id in its front matter, or the comment with an id in a tree."""
    if format == "tree":
        return _MARK in text
    try:
        fields = frontmatter.parse(normalize_newlines(text)).fields
    except Unreadable:  # fallback: front matter of another program
        return False
    return bool(fields.get("key")) or any(isinstance(fields.get(name), str) and parse_uuid(fields[name]) for name in _IDS)
