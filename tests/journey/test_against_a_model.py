"""Whatever is done in whatever order, a memory behaves like a plain dictionary that follows the same few rules."""

import os
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

import omoide
from omoide import Conflict, InvalidInput, NotFound, Scope, State

LONG = os.environ.get("OMOIDE_LONG") == "1"
SCOPES = [
    Scope.everywhere(), Scope.project("shop"), Scope.project("bank"), Scope.session("shop", "monday"),
    Scope.session("shop", "tuesday"),
]  # several entries per line  # fmt: skip

scopes = st.sampled_from(SCOPES)
keys = st.sampled_from([None, None, "one", "two"])
topics = st.sampled_from([None, None, "red", "blue"])


@dataclass
class Entry:
    number: int
    scope: Scope
    key: str | None
    topic: str | None
    content: str
    state: State = State.ACTIVE
    pinned: bool = False
    count: int = 0
    past: list[str] = field(default_factory=list)

    @property
    def living(self) -> bool:
        return self.state is not State.FORGOTTEN


class Plain:
    """The rules, without a database."""

    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}

    def same(self, scope: Scope, key: str | None, topic: str | None, content: str) -> Entry | None:
        def about(entry: Entry) -> bool:
            if key is not None:
                return entry.key == key
            if topic is not None:
                return entry.topic == topic
            return entry.topic is None and entry.content == content

        found = [each for each in self.entries.values() if each.living and each.scope == scope and about(each)]
        return max(found, key=lambda entry: entry.number, default=None)

    def clashes(self, entry: Entry) -> bool:
        return entry.living and entry.key is not None and any(
            other.living and other.number != entry.number and (other.scope, other.key) == (entry.scope, entry.key)
            for other in self.entries.values()
        )  # several entries per line  # fmt: skip

    def change(self, old: Entry, new: Entry) -> None:
        if new != old:
            self.entries[old.number] = replace(new, past=[*old.past, old.content])

    def visible_entries(self, reader: Scope) -> list[Entry]:
        return [each for each in self.entries.values() if each.state is State.ACTIVE and reader.sees(each.scope)]


class Memories(RuleBasedStateMachine):
    numbers = Bundle("numbers")

    @initialize()
    def open(self) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.now = datetime(2026, 2, 5, tzinfo=UTC)
        self.plain = Plain()
        self.words = 0
        self.memory = omoide.open(self.directory / "memory.db", clock=lambda: self.now)

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            assert self.memory.check() == []
            self.memory.close()
            shutil.rmtree(self.directory)

    @rule()
    def open_again(self) -> None:
        self.memory.close()
        self.memory = omoide.open(self.directory / "memory.db", clock=lambda: self.now)

    @rule(seconds=st.sampled_from([1, 3600, -1, -86400]))
    def pass_time(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    def word(self) -> str:
        """A word that no memory holds yet, and that no stemming makes the same as another."""
        self.words += 1
        return "".join("bdfgkmnp"[int(digit)] + "o" for digit in f"{self.words:04o}") + "ko"

    @rule(target=numbers, scope=scopes, key=keys, topic=topics, again=st.integers(0, 9))
    def remember(self, scope: Scope, key: str | None, topic: str | None, again: int) -> object:
        known = [each.content for each in self.plain.entries.values()]
        content = known[-again] if 0 < again <= len(known) else self.word() + " note"
        done = self.memory.remember(content, scope=scope, key=key, topic=topic)
        old = self.plain.same(scope, key, topic, content)
        if old is None:
            assert done.action == "created"
            assert done.memory.number > max(self.plain.entries, default=0)
            self.plain.entries[done.memory.number] = Entry(done.memory.number, scope, key, topic, content)
            return done.memory.number
        state = State.ACTIVE if old.state is State.ARCHIVED else old.state
        new = replace(old, content=content, topic=topic or old.topic, state=state)
        assert done.action == ("unchanged" if new == old else "updated")
        assert done.memory.number == old.number
        self.plain.change(old, new)
        self.plain.entries[old.number].count += 1
        return multiple()

    @rule(number=numbers, key=keys, rewrite=st.booleans())
    def revise(self, number: int, key: str | None, rewrite: bool) -> None:
        old = self.plain.entries.get(number)
        content = self.word() + " revised" if rewrite or old is None else old.content
        self.apply(
            number,
            lambda scope: self.memory.revise(number, scope=scope, content=content, key=key),
            lambda old: old.living and replace(old, content=content, key=key),
        )

    @rule(number=numbers)
    def forget(self, number: int) -> None:
        self.apply(
            number, lambda scope: self.memory.forget(number, scope=scope), lambda old: replace(old, state=State.FORGOTTEN)
        )

    @rule(number=numbers)
    def restore(self, number: int) -> None:
        self.apply(
            number, lambda scope: self.memory.restore(number, scope=scope), lambda old: replace(old, state=State.ACTIVE)
        )

    @rule(number=numbers)
    def archive(self, number: int) -> None:
        self.apply(
            number,
            lambda scope: self.memory.archive(number, scope=scope),
            lambda old: old.living and replace(old, state=State.ARCHIVED),
        )

    @rule(number=numbers)
    def pin(self, number: int) -> None:
        self.apply(
            number, lambda scope: self.memory.pin(number, scope=scope), lambda old: old.living and replace(old, pinned=True)
        )

    @rule(number=numbers)
    def promote(self, number: int) -> None:
        def wider(old: Entry) -> Entry | bool:
            target = Scope(old.scope.path) if old.scope.name else Scope.everywhere()
            return old.living and target != old.scope and replace(old, scope=target)

        self.apply(number, lambda scope: self.memory.promote(number, scope=scope), wider)

    def apply(self, number, do, expected) -> None:
        """Does it from the memory's own scope; where the rules say no, it is refused and nothing is changed."""
        old = self.plain.entries.get(number)
        if old is None:
            with pytest.raises(NotFound):
                do(Scope.project("shop"))
            return
        new = expected(old)
        if not new or self.plain.clashes(new):
            with pytest.raises((Conflict, InvalidInput)):
                do(old.scope)
        else:
            do(old.scope)
            self.plain.change(old, new)
        self.show(number)

    @rule(number=numbers, really=st.integers(0, 3))
    def purge(self, number: int, really: int) -> None:
        old = self.plain.entries.get(number)
        if old is None or really:  # seldom, for it is slow
            return
        if old.living:
            with pytest.raises(Conflict):
                self.memory.purge([number], scope=old.scope)
            return
        self.memory.purge([number], scope=old.scope)
        del self.plain.entries[number]

    @rule(number=numbers)
    def show(self, number: int) -> None:
        entry = self.plain.entries.get(number)
        if entry is None:
            return
        kept = self.memory.show(number, scope=entry.scope)
        assert (kept.scope, kept.key, kept.content, kept.state) == (entry.scope, entry.key, entry.content, entry.state)
        assert (kept.pinned, kept.reference_count) == (entry.pinned, entry.count)
        assert kept.topic == (entry.topic or entry.content)
        history = self.memory.history(number, scope=entry.scope)
        assert [version.memory.content for version in history] == [*entry.past, entry.content]
        times = [version.memory.updated_at for version in history]
        assert times == sorted(set(times))

    @rule(number=numbers, reader=scopes)
    def recall(self, number: int, reader: Scope) -> None:
        entry = self.plain.entries.get(number)
        if entry is not None:
            word = entry.content.split()[0]
            found = self.memory.recall(word, scope=reader, limit=1000)
            numbers = {hit.memory.number for hit in found.hits}
            visible = self.plain.visible_entries(reader)
            wanted = [each for each in visible if word in each.content]
            sessions = {each.scope for each in wanted if each.scope.name}
            neighbours = {each.number for each in visible if each.scope in sessions}
            assert {each.number for each in wanted} <= numbers <= {each.number for each in wanted} | neighbours
            assert found.total == len(numbers)

    @rule(reader=scopes)
    def list_all(self, reader: Scope) -> None:
        page = self.memory.list(scope=reader, limit=1000)
        assert {each.number for each in page.memories} == {each.number for each in self.plain.visible_entries(reader)}
        assert page.total == len(page.memories)

    @invariant()
    def every_key_is_unique(self) -> None:
        if hasattr(self, "plain"):
            assert not any(self.plain.clashes(each) for each in self.plain.entries.values())


TestMemories = Memories.TestCase
TestMemories.settings = settings(
    max_examples=400 if LONG else 25,
    stateful_step_count=60 if LONG else 30,
)
