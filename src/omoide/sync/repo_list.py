"""The list of a repository, `.agent/memories.md`, as its own commands know it: add, search, list, delete, inject.

The file is read without a mirror as well. The first `add` or `delete` creates a mirror, with only the memories of the file.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Conflict, InvalidInput, NotFound, Unreadable
from omoide.files.directory import Directory
from omoide.markdown.format import Entry
from omoide.markdown.page import render_labelled
from omoide.markdown.single_file import SingleFile
from omoide.model import TYPES, Memory, Mirror, Remembered, Scope, derive_topic
from omoide.service import Service
from omoide.sync.engine import LARGE, SyncEngine, size_warning


class ListItem(NamedTuple):
    """An entry of the list."""

    line: int
    """The line of its heading."""
    entry: Entry

    @property
    def title(self) -> str:
        return self.entry.topic or derive_topic(self.entry.content)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags as they stand in the file: with the type first, unless it is a plain note."""
        type = self.entry.type
        return self.entry.tags if type in (None, TYPES[0]) else (type or "", *self.entry.tags)

    @property
    def date(self) -> str:
        return "" if self.entry.created_at is None else self.entry.created_at.date().isoformat()


class RepoList:
    def __init__(self, service: Service, engine: SyncEngine, file: Path, scope: Scope, types: tuple[str, ...]):
        self._service = service
        self._engine = engine
        self._scope = scope
        self.file = file
        self._types = types

    def items(self) -> list[ListItem]:
        """The entries of the file, after a sync. A missing file is an empty list."""
        mirror = self._mirror()
        if mirror is not None:
            self._engine.import_edits([mirror], None)
        return self._read()

    def search(self, words: str) -> list[ListItem]:
        """The entries whose title, text or one of its tags contains the words, whatever their case."""
        wanted = words.casefold()
        found = [
            item
            for item in self.items()
            if any(wanted in text.casefold() for text in (item.title, item.entry.content, *item.tags))
        ]
        self._record_use(found)
        return found

    def _record_use(self, items: Sequence[ListItem]) -> None:
        """Whoever finds an entry, or gets it into a prompt, uses its memory."""
        ids = [item.entry.id for item in items if item.entry.id]
        if ids:
            self._service.record_use(ids, scope=self._scope)

    def add(self, content: str, type: str | None, tags: list[str]) -> tuple[Remembered, int]:
        """Remember something and add it to the file; return the line of its entry as well, 0 if it has none."""
        mirror = self._create_mirror()
        done = self._service.remember(content, scope=mirror.scope, type=type, tags=tags)
        self._service.join(done.memory.number, mirror.number, scope=mirror.scope)
        try:
            return done, next((item.line for item in self._read() if item.entry.id == done.memory.id), 0)
        except Unreadable:  # fallback: it is stored, and what is wrong with the file was reported
            return done, 0

    def delete(self, word: str) -> Memory:
        """Archive a memory, which removes it from the file. `word`: its id, its number as #12, or its line.

        Raises NotFound if it is not in the file.
        """
        before = self._read()
        place = None
        if word.isascii() and word.isdigit():
            # Before anything is written: the ids that are added move the lines.
            place = next((n for n, item in enumerate(before) if item.line == int(word)), None)
            if place is None:
                raise NotFound(
                    f"no entry begins at line {word} of {self.file}: `omoide memories list` shows where they do;"
                    f" the memory with this number is #{word}"
                )
        mirror = self._create_mirror()
        ref = word if place is None else before[place].entry.id
        if ref is None and place is not None:
            self._engine.sync(mirror)
            ref = self._assigned_id(before[place], place)
        memory = self._service.show(ref or word, scope=mirror.scope)
        if all(item.entry.id != memory.id for item in self._read()):
            raise NotFound(f"#{memory.number} is not in {self.file}: `omoide memories list` shows what is")
        return self._service.archive(memory.number, scope=mirror.scope)

    def _assigned_id(self, item: ListItem, place: int) -> str | None:
        """The id of an entry that had none before the sync."""
        now = self._read()
        if place < len(now) and now[place].entry.content == item.entry.content:
            return now[place].entry.id
        raise Conflict(f"{self.file} was changed at this moment: try again")

    def injection(self) -> str:
        """The whole list as text for a prompt: as it is in the file, without the ids."""
        items = self.items()
        if not items:
            return ""
        self._record_use(items)
        lines = ["# Memories", ""]
        for item in items:
            lines += [
                f"## {item.title}",
                f"- Tags: {', '.join(item.tags)}".rstrip(),
                f"- Date: {item.date}".rstrip(),
                *render_labelled("Content", item.entry.content),
                "",
            ]
        return "\n".join([*lines, "---", ""])

    def numbers(self) -> dict[str, int]:
        """The numbers of the memories in the list, by their ids; empty while the list has no mirror."""
        mirror = self._mirror()
        return {} if mirror is None else self._engine.numbers(mirror)

    def _read(self) -> list[ListItem]:
        place, name = Directory.containing(self.file)
        found = place.read(name)
        if found is None:
            return []
        if found[1].size > LARGE:
            self._engine.report(size_warning(str(self.file), found[1].size))
        return [ListItem(line, entry) for entry, line, _ in SingleFile(name, self._types).parse(name, found[0])]

    def _mirror(self) -> Mirror | None:
        for mirror in self._service.mirrors():
            if (mirror.place, mirror.file) == (str(self.file.parent), self.file.name):
                if mirror.format != "memories":
                    raise InvalidInput(
                        f"{self.file} is mirrored as {mirror.format}, not as a list: see `omoide mirror list`"
                    )
                return mirror
        return None

    def _create_mirror(self) -> Mirror:
        mirror = self._service.list_mirror(self.file, scope=self._scope)
        if mirror.scope != self._scope:
            raise Conflict(f"{self.file} is the list of {mirror.scope}, not of {self._scope}: name that scope, or none")
        return mirror
