"""A memory as it stands in a file, and what every Markdown format of omoide can do with it."""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, Protocol

import msgspec

from omoide.model import Memory, derive_topic, fields

USUAL_SOURCE = "file"
"""The source of what comes from a file: it is not written there."""
_ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


class Entry(msgspec.Struct, frozen=True):
    content: str
    id: str | None = None
    """The memory's UUID as written in the file; None: a person has just typed it."""
    topic: str | None = None
    """None where the file's title is only what omoide derives from the content."""
    type: str | None = None
    """None where a person typed an entry and named none."""
    tags: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    key: str | None = None
    pinned: bool | None = None
    """None: the format does not say."""
    archived: bool = False
    session: str = ""
    source: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    extra: dict[str, Any] = {}
    """Fields of a person's own, kept where they stand."""


class LocatedEntry(NamedTuple):
    """An entry and where it stands."""

    entry: Entry
    line: int
    """Of its heading, from 1."""
    digest: str
    """Of its lines, whichever line ends the file has."""


class ProjectFrame(NamedTuple):
    """What a project's main page says besides its memories."""

    project: str
    description: str = ""
    sessions: tuple[str, ...] = ()


class Format(Protocol):
    """How memories stand in files. Pure: texts in, texts out; all names are relative, with `/`."""

    name: str
    directories: tuple[str, ...]
    """Where its files are; empty where it has one file, whose name `place` says."""
    carries: tuple[str, ...]
    """The fields of a memory that its entries show. Of the others, a file says nothing."""

    def owns(self, name: str) -> bool:
        """Whether this is one of its files."""

    def file_for(self, memory: Memory, taken: Callable[[str], bool]) -> str:
        """The file a memory belongs in. `taken`: whether something else has that name already, on any kind of disk:
        two names are one if `folded` says the same of both."""

    def expected_entry(self, memory: Memory) -> Entry:
        """What the file says of a memory: what `parsed` would answer for it, freshly written."""

    def parse(self, name: str, text: str) -> list[LocatedEntry]:
        """The entries of a file, from the top; Unreadable, with the line and a remedy, if it cannot be told.

        An id stands in one entry only: of two that differ the second counts as just typed (a person copied and changed
        it), and a plain copy of another is passed over.
        """

    def rewrite(
        self,
        name: str,
        text: str | None,
        put: Mapping[str, Memory],
        drop: Collection[str],
        stamps: Mapping[int, Memory],
    ) -> str | None:
        """The file after a change; every line that need not change stays as it is, to the byte.

        put: id → the memory that its entry should say, appended when it is not there. drop: ids whose entries go.
        stamps: line of an entry without id → the memory it became. If that memory already stands elsewhere in the file,
        the typed entry goes and the other says it. `text` None: there is no file yet; the answer None: there need be none.
        """

    def update_frame(self, name: str, text: str | None, frame: ProjectFrame) -> str | None:
        """The file with what it says of the project itself brought up to date; the same text where it says nothing."""


def entry_for(memory: Memory, carried: Iterable[str], **values: Any) -> Entry:
    """Return what a format that carries these fields shows of a memory; `values`: what it shows in a way of its own."""
    shown: dict[str, Any] = {name: getattr(memory, name) for name in carried}
    shown["topic"] = explicit_topic(memory.topic, memory.content)
    if shown.get("source") == USUAL_SOURCE:
        shown["source"] = None
    return Entry(**shown | values)


def changed_fields(memory: Memory, shown: Entry, entry: Entry) -> dict[str, Any]:
    """What a person changed in a file, as `revise` calls it, and `pinned`; what a file does not say has not changed.

    `memory` is what the file said before, `shown` how the format shows it, `entry` what stands there now.
    """
    found: dict[str, Any] = {
        name: value
        for name in fields.ENTRY
        if name != "topic" and (value := getattr(entry, name)) is not None and value != getattr(shown, name)
    }
    # A title that omoide made from the old text, left as it was, is no topic: it will be made anew from the new text.
    left = entry.topic is not None and not memory.topic_given and entry.topic == heading_text(memory.topic)
    if entry.topic != shown.topic and not left:
        found["topic"] = entry.topic
    return found


def heading_text(topic: str) -> str:
    """A topic as a heading: one line, and never empty."""
    return " ".join(topic.split()) or "…"


def explicit_topic(topic: str, content: str) -> str | None:
    """The topic that a title is; None where it is only what omoide makes from the content."""
    return None if not topic or heading_text(topic) == heading_text(derive_topic(content)) else heading_text(topic)


def normalize_newlines(text: str) -> str:
    """A file's text with plain line ends and without a BOM."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def restore_newlines(text: str, like: str = "") -> str:
    """The way back: with the BOM and the line ends of the file that it replaces.

    A carriage return at the end of a line belongs to a memory's text. It is written twice, so that one of them is left when
    the other is taken for a line end, by us, by git or by an editor.
    """
    crlf = like.partition("\n")[0].endswith("\r")
    text = text.replace("\n", "\r\n") if crlf else text.replace("\r\n", "\r\r\n")
    return "\ufeff" + text if like.startswith("\ufeff") else text


def parse_uuid(text: str) -> str | None:
    """The id that a text is, or None."""
    return text.lower() if _ID.fullmatch(text) else None


def fold_name(name: str) -> str:
    """The same for all names that are one file on a disk that does not tell upper and lower case, or NFC and NFD, apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
