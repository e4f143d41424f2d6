"""The list of a repository, `.agent/memories.md`, as its own commands know it: add, search, list, delete, inject.

The file is what they speak of. It is read without a mirror as well, and gets one, of only what came in through it, with the
first thing that is added or deleted here.
"""

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
    """Where its heading stands now."""
    entry: Entry

    @property
    def title(self) -> str:
        return self.entry.topic or derive_topic(self.entry.content)

    @property
    def tags(self) -> tuple[str, ...]:
        """With its type first, as they stand in the file."""
        type = self.entry.type
        return self.entry.tags if type in (None, TYPES[0]) else (type or "", *self.entry.tags)

    @property
    def date(self) -> str:
        return "" if self.entry.created_at is None else self.entry.created_at.date().isoformat()


class RepoList:
    def __init__(self, memory: Service, mirroring: SyncEngine, file: Path, scope: Scope, types: tuple[str, ...]):
        self._memory = memory
        self._mirroring = mirroring
        self._scope = scope
        self.file = file
        self._types = types

    def items(self) -> list[ListItem]:
        """What stands in the file, once what others wrote has come to it. A file that is missing is an empty list."""
        mirror = self._mirror()
        if mirror is not None:
            self._mirroring.import_edits([mirror], None)
        return self._read()

    def search(self, words: str) -> list[ListItem]:
        """Those whose title, text or a tag holds the words, in whatever case."""
        wanted = words.casefold()
        return [
            item
            for item in self.items()
            if any(wanted in text.casefold() for text in (item.title, item.entry.content, *item.tags))
        ]

    def add(self, content: str, type: str | None, tags: list[str]) -> tuple[Remembered, int]:
        """Keeps something and puts it into the file; answers the line where it stands as well, 0 if it does not."""
        mirror = self._create_mirror()
        done = self._memory.remember(content, scope=mirror.scope, type=type, tags=tags)
        self._memory.join(done.memory.number, mirror.number, scope=mirror.scope)
        try:
            return done, next((item.line for item in self._read() if item.entry.id == done.memory.id), 0)
        except Unreadable:  # plan B: it is kept, and its person has been told what is wrong with the file
            return done, 0

    def delete(self, word: str) -> Memory:
        """Takes an entry out of the file, and archives it; named by its id, its number as #12, or its line."""
        before = self._read()
        place = None
        if word.isascii() and word.isdigit():
            # Before anything is written: with the ids that are stamped in, lines move.
            place = next((n for n, item in enumerate(before) if item.line == int(word)), None)
            if place is None:
                raise NotFound(
                    f"no entry begins at line {word} of {self.file}: `omoide memories list` shows where they do;"
                    f" the memory with this number is #{word}"
                )
        mirror = self._create_mirror()
        ref = word if place is None else before[place].entry.id
        if ref is None and place is not None:
            self._mirroring.sync(mirror)
            ref = self._assigned_id(before[place], place)
        memory = self._memory.show(ref or word, scope=mirror.scope)
        if all(item.entry.id != memory.id for item in self._read()):
            raise NotFound(f"#{memory.number} does not stand in {self.file}: `omoide memories list` shows what does")
        return self._memory.archive(memory.number, scope=mirror.scope)

    def _assigned_id(self, item: ListItem, place: int) -> str | None:
        """The id of an entry that had none before the file was taken in."""
        now = self._read()
        if place < len(now) and now[place].entry.content == item.entry.content:
            return now[place].entry.id
        raise Conflict(f"{self.file} was changed at this moment: look at it again")

    def injection(self) -> str:
        """The whole list, to be put before a prompt: as it stands in the file, but for the ids."""
        items = self.items()
        if not items:
            return ""
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
        """The numbers of the memories in the list, by their ids; of none before the list has a mirror."""
        mirror = self._mirror()
        return {} if mirror is None else self._mirroring.numbers(mirror)

    def _read(self) -> list[ListItem]:
        place, name = Directory.containing(self.file)
        found = place.read(name)
        if found is None:
            return []
        if found[1].size > LARGE:
            self._mirroring.report(size_warning(str(self.file), found[1].size))
        return [ListItem(line, entry) for entry, line, _ in SingleFile(name, self._types).parse(name, found[0])]

    def _mirror(self) -> Mirror | None:
        for mirror in self._memory.mirrors():
            if (mirror.place, mirror.file) == (str(self.file.parent), self.file.name):
                if mirror.format != "memories":
                    raise InvalidInput(f"{self.file} is mirrored as {mirror.format}, not as a list: `omoide mirror list`")
                return mirror
        return None

    def _create_mirror(self) -> Mirror:
        mirror = self._memory.list_mirror(self.file, scope=self._scope)
        if mirror.scope != self._scope:
            raise Conflict(f"{self.file} is the list of {mirror.scope}, not of {self._scope}: name that, or no other")
        return mirror
