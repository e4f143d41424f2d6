"""The entry of a memory in a file, and what every Markdown format can do with it."""

import hashlib
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

import msgspec

from omoide.compiled_patterns import load_pattern
from omoide.errors import InvalidInput
from omoide.markdown.reformatting import (
    is_beginning,
    is_same_content,
    is_same_title,
    is_same_value,
    keep_formatting,
    whole_content,
)
from omoide.model import Memory, check_segment, derive_topic, fields

USUAL_SOURCE = "file"
"""The source of what comes from a file: it is not written there."""
_ID = load_pattern(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


class Entry(msgspec.Struct, frozen=True):
    """What a file shows of one memory."""

    content: str
    id: str | None = None
    """The memory's UUID as it is written in the file; None: a person wrote the entry and it is not imported yet."""
    topic: str | None = None
    """None if the title in the file is only what is derived from the content."""
    type: str | None = None
    """None if a person wrote the entry without one."""
    tags: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    key: str | None = None
    pinned: bool | None = None
    """None: the format does not show it."""
    archived: bool = False
    session: str = ""
    source: str | None = None
    relevance: float | None = None
    """None: the format does not show it."""
    original_prompt: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    extra: dict[str, Any] = {}
    """Fields that omoide does not know: they stay as they are."""
    below: str = ""
    """The text below the content that belongs to no entry: where a formatter may have put the rest of the content."""


class LocatedEntry(NamedTuple):
    """An entry and its place in a file."""

    entry: Entry
    line: int
    """Of its heading, from 1."""
    digest: str
    """Of its lines, whichever line ends the file has."""
    is_exact: bool = True
    """False: it is in another style than omoide writes, and was read as well as it can be read."""


class Mention(NamedTuple):
    """An id in a file that belongs to no entry that can be read."""

    line: int
    """From 1."""
    text: str
    """The lines around it: its item of a list, its row or its paragraph."""
    lines: tuple[int, ...] = ()
    """The numbers of these lines, from 1; empty: they cannot be removed by themselves."""


class ProjectFrame(NamedTuple):
    """What a project's main page shows besides its memories."""

    project: str
    description: str = ""
    sessions: tuple[str, ...] = ()


class Format(Protocol):
    """How memories are written to files. Pure: texts in, texts out; all names of files are relative, with `/`."""

    name: str
    directories: tuple[str, ...]
    """Where its files are; empty if it has one file, whose name `file_for` returns."""
    carries: tuple[str, ...]
    """The fields of a memory that its entries show."""

    def owns(self, name: str) -> bool:
        """Return whether this is one of its files."""

    def file_for(self, memory: Memory, taken: Callable[[str], bool]) -> str:
        """Return the file that a memory belongs in.

        `taken`: whether something else has that name already, on any kind of disk; two names are the same if `fold_name`
        returns the same for both.
        """

    def expected_entry(self, memory: Memory) -> Entry:
        """Return what the file shows of a memory: what `parse` would return for it, freshly written."""

    def parse(self, name: str, text: str) -> list[LocatedEntry]:
        """Return the entries of a file, from the top; raise Unreadable, with the line and what to do, if it has errors.

        An id belongs to one entry only: of two that differ the second counts as new (a person copied and changed it), and
        an exact copy is left out.
        """

    def mentions(self, name: str, text: str) -> dict[str, Mention]:
        """Return the ids in a file that belong to none of the entries that `parse` returns."""

    def rewrite(
        self,
        name: str,
        text: str | None,
        put: Mapping[str, Memory],
        drop: Collection[str],
        stamps: Mapping[int, Memory],
    ) -> str | None:
        """Return the text of a file after a change; every line that need not change stays as it is, to the byte.

        A line that says what it should, and that only a formatter has changed, need not change.

        `put`: id → the memory that its entry should show; an entry that is not there is appended. `drop`: ids of entries
        to remove. `stamps`: line of an entry without id → the memory it became; if that memory has another entry in the
        file, the new one is removed and the other shows it. `text` None: there is no file yet. Returns None if no file is
        needed.
        """

    def update_frame(self, name: str, text: str | None, frame: ProjectFrame) -> str | None:
        """Return the file with what it shows of the project itself brought up to date; the same text if it shows nothing."""


def shown_source(source: str) -> str | None:
    """Return the source of a memory as a file shows it; None for a file, which is not written there."""
    return None if source == USUAL_SOURCE or source.startswith(f"{USUAL_SOURCE}:") else source


def entry_for(memory: Memory, carried: Iterable[str], **values: Any) -> Entry:
    """Return what a format that carries these fields shows of a memory; `values`: what it shows in a way of its own."""
    shown: dict[str, Any] = {name: getattr(memory, name) for name in carried}
    shown["topic"] = explicit_topic(memory.topic, memory.content)
    if "source" in shown:
        shown["source"] = shown_source(memory.source)
    return Entry(**shown | values)


def changed_fields(memory: Memory, shown: Entry, entry: Entry) -> dict[str, Any]:
    """Return the fields that a person changed in a file, with their values; what a file does not show has not changed.

    `memory` is what the file showed before, `shown` how the format shows it, `entry` what is there now. What only a
    formatter changed is as it was: also those parts of a content in which nothing else changed.
    """
    changed: dict[str, Any] = {
        name: value
        for name in fields.ENTRY
        if name != "topic" and (value := getattr(entry, name)) is not None and not is_shown(name, shown, entry)
    }
    if "content" in changed:
        content = whole_content(shown.content, entry.content, entry.below)
        changed["content"] = keep_formatting(shown.content, content)
    # A title that was derived from the old text, and left as it was, is no topic: it is derived again from the new text.
    is_left = entry.topic is not None and is_same_title(heading_text(memory.topic), entry.topic)
    if not is_left and not is_shown("topic", shown, entry):
        changed["topic"] = entry.topic
    return changed


def is_shown(name: str, expected: Entry, entry: Entry) -> bool:
    """Return whether an entry says what is expected of one of its fields, however a formatter has written it."""
    if name == "topic":
        titles = (one.topic or heading_text(derive_topic(one.content)) for one in (expected, entry))
        return expected.topic == entry.topic or is_same_title(*titles)
    if name == "content":
        return is_same_content(expected.content, entry.content, entry.below)
    return is_same_value(getattr(expected, name), getattr(entry, name))


def heading_text(topic: str) -> str:
    """Return a topic as a heading: one line, and never empty."""
    return " ".join(topic.split()) or "…"


def explicit_topic(topic: str, content: str) -> str | None:
    """Return the topic of a title; None if the title is only what is derived from the content."""
    title = heading_text(topic)
    is_derived = not topic or title == heading_text(derive_topic(content)) or is_beginning(title, content)
    return None if is_derived else title


def normalize_newlines(text: str) -> str:
    """Return a file's text with LF line ends and without a BOM."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def restore_newlines(text: str, like: str = "") -> str:
    """Return a text with the BOM and the line ends of the file that it replaces: the reverse of `normalize_newlines`.

    A carriage return at the end of a line belongs to a memory's text. It is written twice, so that one of them is left when
    the other is taken for a line end, by omoide, by git or by an editor.
    """
    crlf = like.partition("\n")[0].endswith("\r")
    text = text.replace("\n", "\r\n") if crlf else text.replace("\r\n", "\r\r\n")
    return "\ufeff" + text if like.startswith("\ufeff") else text


def parse_uuid(text: str) -> str | None:
    """Return the id that a text is, or None."""
    return text.lower() if _ID.fullmatch(text) else None


def parse_time(text: str) -> datetime | None:
    """Return the time of a text; without a zone it is UTC. None if it is not one."""
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # the answer of this function
        return None


def key_of_file(name: str) -> str | None:
    """Return the key that the name of a file gives; None if it is not a valid key."""
    try:
        return check_segment(name.rpartition("/")[2].removesuffix(".md"), "key")
    except InvalidInput:  # the answer of this function
        return None


def fold_name(name: str) -> str:
    """Return the same for all names that are one file on a disk that ignores case or the Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def digest(text: str) -> str:
    """Return a short digest of a text, by which a change is noticed."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
