"""Entry files: one `key.md` for each memory, its fields as YAML on top and its text below; `archive/` holds retired ones.

The rules:
- Defaults are not written: a plain note has `id`, `created_at` and `updated_at`.
- Unknown fields, comments and the order of the fields stay as they are; only a field that changes is rewritten.
- A file without an id was written by a person. It needs no front matter; its name is its key, unless it says another one.
  An `id` of another program is left alone: then omoide uses `omoide_id`.
- Lines end with LF or CRLF, as the file's first one does; a carriage return that belongs to the text is written twice.
- `README.md` is not an entry: a person may describe the directory there.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from omoide.errors import Conflict, InvalidInput, Unreadable
from omoide.markdown import frontmatter
from omoide.markdown.format import (
    Entry,
    LocatedEntry,
    Mention,
    ProjectFrame,
    digest,
    entry_for,
    explicit_topic,
    fold_name,
    key_of_file,
    normalize_newlines,
    parse_time,
    parse_uuid,
    restore_newlines,
)
from omoide.markdown.loose_sections import ids_in
from omoide.markdown.record import format_time
from omoide.markdown.reformatting import is_same_content
from omoide.model import TYPES, Memory, State, check_segment
from omoide.model.fields import ENTRY, FRONT_MATTER, STAMPED, get

ARCHIVE = "archive"
_NOTE = TYPES[0]
_FIELDS = tuple(sorted(FRONT_MATTER, key=lambda name: name != "key"))
"""The key first, by which people know a file."""
_OWN_ID = "omoide_id"
_KEY_BYTES, _TOPIC_BYTES = 200, 100
_UNSAFE = re.compile(r"[\s/\\:*?\"<>|#%{}$!`'&@^=+,;\[\]~]+")
_FIELD = re.compile(r"(\w[\w.-]*)[ \t]*:(?:[ \t]|$)")


class FilePerMemory:
    """A directory of entries."""

    name = "entries"
    directories = ("", ARCHIVE)
    carries = (*ENTRY, *STAMPED)

    def owns(self, name: str) -> bool:
        last = name.removeprefix(f"{ARCHIVE}/")
        return "/" not in last and last.endswith(".md") and last[0] != "." and fold_name(last) != "readme.md"

    def file_for(self, memory: Memory, taken: Callable[[str], bool]) -> str:
        """Its key, or what its topic says; with some digits of its id where another memory is called the same."""
        prefix = f"{ARCHIVE}/" if memory.state is State.ARCHIVED else ""
        digits = memory.id.replace("-", "")
        stem = _file_stem(memory) or f"memory-{digits[-6:]}"
        names = [f"{prefix}{end}.md" for end in (stem, *(f"{stem}-{digits[-length:]}" for length in (6, 12, 32)))]
        return next((name for name in names if self.owns(name) and not taken(name)), names[-1])

    def expected_entry(self, memory: Memory) -> Entry:
        return entry_for(memory, self.carries, archived=memory.state is State.ARCHIVED)

    def parse(self, name: str, text: str) -> list[LocatedEntry]:
        plain = normalize_newlines(text)
        return [LocatedEntry(_entry(name, *_parse_fields(plain)), 1, digest(plain))]

    def mentions(self, name: str, text: str) -> dict[str, Mention]:
        [located] = self.parse(name, text)
        lines = normalize_newlines(text).split("\n")
        # An id in the text of an entry is part of that text.
        return {} if located.entry.id else {id: Mention(line + 1, text) for id, line in ids_in(lines).items()}

    def rewrite(
        self,
        name: str,
        text: str | None,
        put: Mapping[str, Memory],
        drop: Collection[str],
        stamps: Mapping[int, Memory],
    ) -> str | None:
        wanted = next(iter([*put.values(), *stamps.values()]), None)
        if text is None:
            return None if wanted is None else _render_file(self.expected_entry(wanted))
        plain = normalize_newlines(text)
        fields, content = _parse_fields(plain)
        entry = _entry(name, fields, content)
        if entry.id in drop:
            return None
        if wanted is None:
            return text
        if wanted.id in put and entry.id != wanted.id:
            raise Conflict(f"{name} has another entry: remove it, or rename it")
        # A file with an id is not named after its key: then the key is a field.
        stated = msgspec.structs.replace(entry, key=_single_value(fields, "key"))
        new = _edit(plain, fields, stated, self.expected_entry(wanted))
        return text if new == plain else restore_newlines(new, text)

    def update_frame(self, name: str, text: str | None, frame: ProjectFrame) -> str | None:
        del name, frame
        return text


def _parse_fields(plain: str) -> tuple[dict[str, Any], str]:
    """The fields and the text of a file."""
    fields, body = frontmatter.parse(plain)
    content = body if frontmatter.split(plain) else body.removesuffix("\n")
    if not content or content.isspace():
        raise Unreadable("the entry has no text: write one below the fields, or delete the file")
    return fields, content


def _entry(name: str, fields: Mapping[str, Any], content: str) -> Entry:
    id = parse_uuid(_known_value(fields, _OWN_ID)) or parse_uuid(_known_value(fields, "id"))
    return Entry(
        content=content,
        id=id,
        topic=explicit_topic(_single_value(fields, "topic") or "", content),
        type=_single_value(fields, "type") or (_NOTE if id else None),
        tags=tuple(tag for text in _list_value(fields, "tags", ",") if (tag := " ".join(text.split()))),
        examples=_list_value(fields, "examples"),
        key=_single_value(fields, "key") or (None if id else key_of_file(name)),
        pinned=(_single_value(fields, "pinned") or "").casefold() in ("true", "yes", "on", "1"),
        archived=name.startswith(f"{ARCHIVE}/"),
        source=_single_value(fields, "source"),
        relevance=_parse_share(fields, "relevance"),
        original_prompt=_single_value(fields, "original_prompt"),
        created_at=parse_time(_known_value(fields, "created_at")),
        updated_at=parse_time(_known_value(fields, "updated_at")),
        extra={name: value for name, value in fields.items() if name not in _FIELDS and name != _OWN_ID},
    )


def _single_value(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise Unreadable(f"{name} should be a single value, such as `{name}: something`")
    return value or None


def _known_value(fields: Mapping[str, Any], name: str) -> str:
    """A field that other programs fill with values of their own, which are ignored."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _list_value(fields: Mapping[str, Any], name: str, separator: str | None = None) -> tuple[str, ...]:
    value = fields.get(name)
    if isinstance(value, str):
        return tuple(value.split(separator)) if separator else (value,)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Unreadable(f"{name} should be a list of texts, such as `{name}: [one, two]`")
    return tuple(value)


def _parse_share(fields: Mapping[str, Any], name: str) -> float:
    """A number from 0 to 1; its default if there is none."""
    text = _single_value(fields, name)
    try:
        share = float(get(name).default if text is None else text)
    except ValueError:  # refused below
        share = -1
    if not 0 <= share <= 1:
        raise Unreadable(f"{name} should be a number from 0 to 1, such as `{name}: 0.9`")
    return share


def _file_stem(memory: Memory) -> str:
    """A readable file name that is valid on every disk: the key, or the words of the topic."""
    if memory.key:
        return _shorten(memory.key, _KEY_BYTES)
    text = unicodedata.normalize("NFC", memory.topic)
    kept = "".join(character for character in text if character.isspace() or unicodedata.category(character)[0] != "C")
    stem = _shorten(_UNSAFE.sub("-", kept).strip("-. "), _TOPIC_BYTES)
    try:
        return check_segment(stem, "file")
    except InvalidInput:  # nothing is left, or it is a name that Windows keeps for a device
        return f"{stem.replace('.', '-')}-note" if stem else ""


def _shorten(stem: str, most: int) -> str:
    if len(stem.encode()) <= most:
        return stem
    short = stem.encode()[: most - 9].decode(errors="ignore").rstrip("-. ")
    return f"{short}-{hashlib.blake2b(stem.encode(), digest_size=4).hexdigest()}"


def _lines(entry: Entry) -> dict[str, str]:
    """The lines of each field; none for a default."""
    values = {name: _yaml_value(name, getattr(entry, name)) for name in _FIELDS}
    return {
        name: f"{name}: {value}\n" if get(name).kind in _UNQUOTED else frontmatter.render_fields({name: value})
        for name, value in values.items()
        if value is not None
    }


_UNQUOTED = ("id", "flag", "moment", "share")
"""Kinds that never need quotes: so other programs see a date, a yes and a number."""


def _yaml_value(name: str, value: Any) -> Any:
    """The value of a field as it is written; None for a default."""
    kind = get(name).kind
    if kind in ("tags", "texts"):
        return list(value) or None
    if kind == "flag":
        return "true" if value else None
    if kind == "moment":
        return format_time(value)
    if kind == "share":
        return None if value in (None, get(name).default) else f"{value:g}"
    if kind == "type" and value == _NOTE:
        return None
    return value


def _render_file(entry: Entry) -> str:
    return restore_newlines(f"---\n{''.join(_lines(entry).values())}---\n\n{entry.content}\n")


def _edit(plain: str, fields: Mapping[str, Any], old: Entry, new: Entry) -> str:
    """Change a file so that it says `new`, and leave everything else in it as it was."""
    halves = frontmatter.split(plain)
    head, below = halves or ("", f"\n{plain}")
    have, want = _lines(old), _lines(new)
    if fields.get("created_at"):  # it does not change, and a person may write it in another way
        want.pop("created_at", None)
        have.pop("created_at", None)
    changed = {name: want.get(name, "") for name in _FIELDS if want.get(name) != have.get(name)}
    if "id" in changed and (fields.get(_OWN_ID) or (fields.get("id") and not parse_uuid(_known_value(fields, "id")))):
        changed[_OWN_ID] = changed.pop("id").replace("id", _OWN_ID, 1)
    is_same = is_same_content(new.content, old.content)
    if not changed and is_same:
        return plain
    kept = {name: value for name, value in fields.items() if name not in changed}
    wanted = kept | _read("".join(changed.values()))
    lines = _replace_fields(head, changed)
    if _read(lines) != wanted:  # fallback for YAML without a field on each line: rewrite all of it
        lines = frontmatter.render_fields(wanted)
    body = below if is_same else f"\n{new.content}\n"
    return f"---\n{lines}---\n{body}"


def _read(lines: str) -> dict[str, Any]:
    try:
        return frontmatter.parse(f"---\n{lines}---\n").fields
    except Unreadable:  # fallback: see the caller
        return {}


def _replace_fields(head: str, changed: Mapping[str, str]) -> str:
    """The lines of the front matter with some fields replaced, added, or (if the new line is empty) removed."""
    lines = [f"{line}\n" for line in head.split("\n")[:-1]]
    starts = {match[1]: index for index, line in enumerate(lines) if (match := _FIELD.match(line))}
    ends = dict(zip(starts, [*starts.values(), len(lines)][1:], strict=True))
    new: dict[int, str] = {}
    for name, line in changed.items():
        start = starts.get(name)
        if start is None:
            after = _FIELDS[_FIELDS.index(name) + 1 :] if name in _FIELDS else ()
            place = min((starts[later] for later in after if later in starts), default=len(lines))
        else:
            place, end = start, ends[name]
            # A comment above the next field belongs to that one.
            while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
                end -= 1
            lines[start:end] = ["\0"] * (end - start)
        new[place] = new.get(place, "") + line
    return "".join(new.get(index, "") + line.strip("\0") for index, line in enumerate([*lines, ""]))
