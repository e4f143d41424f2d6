"""The list of a repository, `.agent/memories.md`, as its own commands know it: add, search, list, delete, inject.

The file is read without a mirror as well. The first `add` or `delete` creates a mirror, with only the memories of the file.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Conflict, InvalidInput, NotFound, Unreadable, Unwritable
from omoide.files.directory import Directory
from omoide.files.git import follow_link
from omoide.markdown.format import Entry
from omoide.markdown.single_file import SingleFile
from omoide.model import TYPES, Memory, Mirror, Remembered, Scope, derive_topic
from omoide.prompt.memory_list import ListedMemory, render_list
from omoide.service import Service
from omoide.settings import Settings
from omoide.sync.engine import LARGE, SyncEngine, size_warning
from omoide.sync.file_edits import describe_error


class ListItem(NamedTuple):
    """An entry of the list of a repository."""

    line: int
    """The line of its heading: it changes when entries above it do. 0: the file cannot be read at present."""
    id: str | None
    """The id of its memory; None until it is imported, by the first `add` or `delete`."""
    number: int | None
    """The number of its memory; None as long as it has no id."""
    title: str
    title_given: bool
    """False: the title is the beginning of the content."""
    type: str
    tags: tuple[str, ...]
    """As they are in the file: with the type first, unless it is a plain note."""
    date: str
    """The day it was made; empty if the file does not say."""
    content: str


class AddedEntry(NamedTuple):
    """The result of adding an entry to the list of a repository."""

    remembered: Remembered
    line: int
    """The line of its heading; 0 if the file could not be written."""


class RepoList:
    """The list of a repository, `memories.md`: a file that people edit too. `omoide.open_list` returns it.

    If the setting `memories_enabled` is false, the list is empty and nothing is added. A missing file is an empty list. If
    the file cannot be read, there is a warning, and the list is what it was when it was last in sync.
    """

    def __init__(
        self, service: Service, engine: SyncEngine, file: Path, settings: Settings, scope: Scope, root: Path | None = None
    ):
        """Work on a file. `root`: the repository that is bound to its project when something is first added."""
        self._service = service
        self._engine = engine
        self._settings = settings
        self._scope = scope
        self._root = root
        self.file = file

    @property
    def settings(self) -> Settings:
        """The settings in force, with those of the repository."""
        return self._settings

    @property
    def enabled(self) -> bool:
        """Whether the setting `memories_enabled` lets the list be used."""
        return self._settings.memories_enabled

    @property
    def inject(self) -> str:
        """When `injection` returns the list: the setting `memories_inject`."""
        return self._settings.memories_inject

    @property
    def is_away(self) -> bool:
        """Whether the file had entries and is not there: on another branch perhaps."""
        return not self.file.exists() and self._mirror() is not None

    def list(self) -> Sequence[ListItem]:
        """Return the entries in the order of the file, after what people edited is imported."""
        if not self.enabled:
            self._service.hooks.report(self._switched_off())
            return []
        try:
            mirror = self._mirror()
            if mirror is not None:
                self._engine.import_edits([mirror], None)
            return self._read()
        except Unreadable as error:  # fallback: the list as it was when it was last in sync
            self._engine.report(describe_error(self.file, error))
            return self._last_synced()

    def _last_synced(self) -> Sequence[ListItem]:
        """The entries as they were when the file could last be read, with what has changed since in the database."""
        mirror = self._mirror()
        if mirror is None:
            return []
        format = SingleFile(self.file.name, self._settings.all_types)
        return [_item(0, format.expected_entry(memory), memory.number) for memory in self._engine.memories_in_files(mirror)]

    def search(self, words: str) -> Sequence[ListItem]:
        """Return the entries whose title, content or one of whose tags contains the text `words`, ignoring case."""
        wanted = words.casefold()
        found = [
            item for item in self.list() if any(wanted in text.casefold() for text in (item.title, item.content, *item.tags))
        ]
        self._record_use(found)
        return found

    def add(self, content: str, tags: Sequence[str] = (), *, type: str | None = None) -> AddedEntry | None:
        """Store a memory and add it to the file, which is created if it is missing. Return None if the list is disabled.

        `content` is the text, `tags` are those after the type. `type` is written as the first tag; without it, a first tag
        that names a type is the type, as in the file. Raises as `Service.remember` does.
        """
        if not self.enabled:
            self._service.hooks.report(self._switched_off())
            return None
        if type is None and tags and tags[0] in self._settings.all_types:
            type, tags = tags[0], tags[1:]
        mirror = self._create_mirror()
        done = self._service.remember(content, scope=mirror.scope, type=type, tags=tags)
        self._service.join(done.memory.number, mirror.number, scope=mirror.scope)
        try:
            return AddedEntry(done, next((item.line for item in self._read() if item.id == done.memory.id), 0))
        except Unreadable:  # fallback: it is stored, and what is wrong with the file was reported
            return AddedEntry(done, 0)

    def delete(self, ref: str | int, *, choose: Callable[[Sequence[ListItem]], ListItem] | None = None) -> Memory:
        """Remove an entry from the file, and archive its memory. Return the memory.

        `ref` is the entry's id, its memory's number as #12, or the line of its heading. If digits are the line of one entry
        and the number of another, `choose` is asked which; without it, Conflict is raised. Raises NotFound if there is no
        such entry, InvalidInput if the list is disabled.
        """
        if not self.enabled:
            raise InvalidInput(self._switched_off())
        word = str(ref)
        before = self._read()
        place = None
        if word.isascii() and word.isdigit():
            # Before anything is written: the ids that are added move the lines.
            place = self._place_of(int(word), before, choose)
        mirror = self._create_mirror()
        id = word if place is None else before[place].id
        if id is None and place is not None:
            self._engine.sync(mirror)
            id = self._assigned_id(before[place], before)
        memory = self._service.show(id or word, scope=mirror.scope)
        if all(item.id != memory.id for item in self._read()):
            raise NotFound(f"#{memory.number} is not in {self.file}: `omoide memories list` shows what is")
        archived = self._service.archive(memory.number, scope=mirror.scope)
        if self._mentioned_at(memory.id):  # somebody rewrote it as something else
            self._engine.sync(mirror, take_out={memory.number})
        for line in self._mentioned_at(memory.id):
            self._engine.report(f"{self.file}, line {line}: it is no entry, and stays there: delete it by hand")
        return archived

    def _mentioned_at(self, id: str) -> Sequence[int]:
        """The line with an id that is in no entry of the file, if there is one."""
        place, name = Directory.containing(follow_link(self.file))
        found = place.read(name)
        mentions = SingleFile(name, self._settings.all_types).mentions(name, found[0]) if found else {}
        return [mentions[id].line] if id in mentions else []

    def _place_of(
        self, digits: int, items: Sequence[ListItem], choose: Callable[[Sequence[ListItem]], ListItem] | None
    ) -> int:
        """The place in the list of the entry at this line, or of the one that was chosen instead."""
        on_line = next((item for item in items if item.line == digits), None)
        numbered = next((item for item in items if item.number == digits), None)
        if on_line is None:
            raise NotFound(
                f"no entry begins at line {digits} of {self.file}: `omoide memories list` shows where they do;"
                f" the memory with this number is #{digits}"
            )
        if numbered is None or numbered == on_line:
            return items.index(on_line)
        if choose is None:
            raise Conflict(
                f"{digits} is the line of {_describe(on_line)} and the number of {_describe(numbered)}:"
                f" say which, by its id, or by its number as #{on_line.number or '…'} or #{digits}"
            )
        return items.index(choose([on_line, numbered]))

    def _assigned_id(self, item: ListItem, before: Sequence[ListItem]) -> str | None:
        """The id of an entry that had none before the sync, after which the list may show fewer entries."""
        place = [one for one in before if one.content == item.content].index(item)
        now = [one for one in self._read() if one.content == item.content]
        if place < len(now):
            return now[place].id
        raise Conflict(f"{self.file} was changed at this moment: try again")

    def injection(self, *, manual: bool = False) -> str:
        """Return the whole list as text for the start of a prompt, closed by `---`.

        Empty if the list is empty or disabled, or if the setting `memories_inject` is not auto; with `manual`, it may also
        be manual.
        """
        wanted = self.inject == "auto" or (manual and self.inject == "manual")
        items = self.list() if wanted and self.enabled else []
        self._record_use(items)
        return render_list(ListedMemory(item.title, item.tags, item.date, item.content) for item in items)

    def _record_use(self, items: Sequence[ListItem]) -> None:
        """Record a use: an entry that is found, or put into a prompt, uses its memory."""
        ids = [item.id for item in items if item.id]
        if ids:
            self._service.record_use(ids, scope=self._scope)

    def _switched_off(self) -> str:
        origin = self._settings.origins.get("memories_enabled", "default")
        return f"the list is switched off ({origin}): set `memories_enabled` to true to use it"

    def _read(self) -> Sequence[ListItem]:
        place, name = Directory.containing(follow_link(self.file))
        found = place.read(name)
        if found is None:
            return []
        if found[1].size > LARGE:
            self._engine.report(size_warning(str(self.file), found[1].size))
        mirror = self._mirror()
        if mirror is not None:
            self._engine.check_whole(mirror, name, found[0])
        format = SingleFile(name, self._settings.all_types)
        scope = self._scope if mirror is None else mirror.scope
        return [_item(*one) for one in self._engine.shown_entries(mirror, scope, format, name, found[0])]

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
        if self._root is not None:
            self._scope = self._service.claim(self._root)
        self._create_parents()
        mirror = self._service.ensure_list_mirror(self.file, scope=self._scope)
        if mirror.scope != self._scope:
            raise Conflict(f"{self.file} is the list of {mirror.scope}, not of {self._scope}: name that scope, or none")
        return mirror

    def _create_parents(self) -> None:
        """Create the directories above that of the list, where it is nested; a sync creates the last one itself."""
        try:
            self.file.parent.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unwritable(f"{self.file.parent} cannot be created ({error.strerror}): choose another directory") from error


def _item(line: int, entry: Entry, number: int | None) -> ListItem:
    type = entry.type or TYPES[0]
    return ListItem(
        line,
        entry.id,
        number,
        entry.topic or derive_topic(entry.content),
        entry.topic is not None,
        type,
        entry.tags if type == TYPES[0] else (type, *entry.tags),
        "" if entry.created_at is None else entry.created_at.date().isoformat(),
        entry.content,
    )


def _describe(item: ListItem) -> str:
    number = f", #{item.number}" if item.number else ""
    return f"{item.title!r} (line {item.line}{number})"
