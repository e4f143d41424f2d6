"""Files and database in sync: what one side says, the other says too, and nothing that anybody wrote is lost."""

import os
import re
import shutil
import time
import warnings
from datetime import UTC, datetime, timedelta

import pytest

from omoide import Actor, Role, Scope, State, app
from omoide.errors import Conflict, InvalidInput, NotFound
from omoide.model import Choice, Side
from omoide.sync.run import SyncReport

SHOP = Scope.project("shop")
EVERY_STATE = list(State)


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".agent" / "memories.md"


@pytest.fixture
def mirrored(memory, file):
    """A list of everything in project shop."""
    file.parent.mkdir()
    memory.mirror(file, scope=SHOP)
    return memory


def contents(memory, scope=SHOP, states=(State.ACTIVE,)):
    return {one.content for one in memory.list(scope=scope, states=states, layers=[scope.layer], limit=1000).memories}


def edit(file, old, new, *, at=None):
    """As a person does: the whole file, in place."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    if at is not None:
        os.utime(file, (at.timestamp(), at.timestamp()))


def without(file, title):
    """Takes an entry out of a list."""
    text = file.read_text(encoding="utf-8")
    cut = re.sub(rf"## {re.escape(title)}\n(?:(?!## ).*\n)*", "", text)
    assert cut != text
    file.write_text(cut, encoding="utf-8")


def sync(memory, number=1, **how):
    mirror = next(one for one in memory.mirrors() if one.number == number)
    return app.sync_engine(memory).sync(mirror, **how)


# from the database into the file


def test_every_verb_that_writes_updates_the_file(mirrored, file):
    def text():
        return file.read_text(encoding="utf-8")

    one = mirrored.remember("use pnpm", scope=SHOP, tags=["build"]).memory
    assert "- Content: use pnpm\n" in text()
    mirrored.revise(one.number, scope=SHOP, content="use bun", topic="package manager")
    assert "## package manager\n" in text()
    assert "use pnpm" not in text()
    mirrored.archive(one.number, scope=SHOP)
    assert "use bun" not in text()
    mirrored.restore(one.number, scope=SHOP)
    assert "use bun" in text()
    mirrored.revise(one.number, scope=SHOP, active=False)
    assert "use bun" not in text()
    mirrored.restore(one.number, scope=SHOP)
    mirrored.forget(one.number, scope=SHOP)
    assert "use bun" not in text()
    mirrored.restore(one.number, scope=SHOP)
    mirrored.promote(one.number, scope=SHOP)
    assert "use bun" not in text()
    mirrored.acting_as("builder").remember("an agent's", scope=SHOP)
    assert "an agent's" in text()


def test_a_file_contains_its_scope_and_nothing_else(mirrored, file):
    mirrored.remember("of the project", scope=SHOP)
    for scope in (Scope(), Scope.project("bank"), Scope.session("shop", "monday")):
        mirrored.remember("of another", scope=scope)
    assert "of the project" in file.read_text(encoding="utf-8")
    assert "of another" not in file.read_text(encoding="utf-8")


def test_memories_older_than_the_mirror_are_written_to_it(memory, file):
    for n in range(3):
        memory.remember(f"note {n}", scope=SHOP)
    memory.archive(2, scope=SHOP)
    file.parent.mkdir()
    memory.mirror(file, scope=SHOP)
    sync(memory)
    assert re.findall(r"- Content: (.*)", file.read_text(encoding="utf-8")) == ["note 0", "note 2"]


def test_one_changed_memory_changes_only_its_lines(mirrored, file):
    for n in range(5):
        mirrored.remember(f"the text of note {n}", topic=f"note {n}", scope=SHOP)
    edit(file, "# Memories\n", "# Memories\n\nWhat we agreed on; see also the wiki.\n")
    before = file.read_text(encoding="utf-8").splitlines()
    mirrored.revise(3, scope=SHOP, content="something else")
    after = file.read_text(encoding="utf-8").splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [("- Content: the text of note 2", "- Content: something else")]


def test_remembering_the_same_again_leaves_the_file_as_it_is(mirrored, file):
    mirrored.remember("use pnpm", scope=SHOP)
    before = file.stat()
    mirrored.remember("use pnpm", scope=SHOP)
    mirrored.recall("pnpm", scope=SHOP)
    mirrored.revise(1, scope=SHOP, confidence=0.4)
    after = file.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


# from the file into the database


def test_an_edit_is_imported_as_a_persons_write_with_history(mirrored, file):
    mirrored.remember("use pnpm", scope=SHOP, source="slack", confidence=0.7)
    edit(file, "- Tags:\n", "- Tags: decision, build\n")
    edit(file, "- Content: use pnpm", "- Content: use bun")
    kept = mirrored.show(1, scope=SHOP)
    assert (kept.content, kept.type, kept.tags, kept.version) == ("use bun", "decision", ("build",), 2)
    assert (kept.source, kept.confidence) == ("slack", 0.7)
    assert [(one.memory.content, one.actor.name, one.actor.via) for one in mirrored.history(1, scope=SHOP)] == [
        ("use pnpm", os.environ.get("USER") or "owner", "python"),
        ("use bun", "human", "file"),
    ]
    assert [hit.memory.number for hit in mirrored.recall("bun", scope=SHOP).hits] == [1]
    assert "## use bun\n" in file.read_text(encoding="utf-8"), "a title that is how the text begins follows it"


def test_a_typed_entry_becomes_a_memory_and_gets_its_id(mirrored, file, clock):
    file.write_text("# Memories\n\n## Deploy\n- Tags: pattern, ci\n- Date: 2025-03-01\n- Content: on Fridays never\n")
    (kept,) = mirrored.list(scope=SHOP).memories
    assert (kept.content, kept.topic, kept.type, kept.tags) == ("on Fridays never", "Deploy", "pattern", ("ci",))
    assert kept.created_at.date().isoformat() == "2025-03-01"
    assert kept.source == "file"
    assert file.read_text(encoding="utf-8") == (
        f"# Memories\n\n## Deploy\n- Tags: pattern, ci\n- Date: 2025-03-01\n- Id: {kept.id}\n- Content: on Fridays never\n"
    )
    assert mirrored.list(scope=SHOP).memories == [kept]


def test_two_typed_entries_with_the_same_title_are_two_memories(mirrored, file):
    file.write_text("# Memories\n\n## Deploy\n- Content: one\n\n## Deploy\n- Content: two\n\n## Deploy\n- Content: two\n")
    assert sorted(one.content for one in mirrored.list(scope=SHOP).memories) == ["one", "two", "two"]
    assert file.read_text(encoding="utf-8").count("- Id: ") == 3
    assert mirrored.list(scope=SHOP).total == 3


def test_a_typed_entry_with_the_topic_of_a_memory_updates_that_memory(memory, file):
    known = memory.remember("use pnpm", topic="Package manager", scope=SHOP, confidence=0.3).memory
    file.parent.mkdir()
    file.write_text("## package manager\n- Content: use bun\n\n## elsewhere\n- Content: new\n")
    memory.mirror(file, scope=SHOP, choice="own")
    with pytest.warns(UserWarning, match="entries that were there are imported"):
        assert contents(memory) == {"use bun", "new"}
    kept = memory.show(known.number, scope=SHOP)
    assert (kept.content, kept.confidence, kept.version) == ("use bun", 0.3, 2)
    assert f"- Id: {known.id}\n" in file.read_text(encoding="utf-8")


def test_an_entry_with_the_id_of_another_store_keeps_that_id(tmp_path, open_memory, clock):
    files = [tmp_path / name / "memories.md" for name in ("alice", "bob")]
    people = [open_memory(tmp_path / f"{name}.db") for name in ("alice", "bob")]
    for file, memory in zip(files, people, strict=True):
        file.parent.mkdir()
        memory.mirror(file, scope=SHOP)
    alice, bob = people
    hers = alice.remember("learnt by alice", scope=SHOP, created_at=datetime(2025, 6, 1, tzinfo=UTC)).memory
    files[1].write_bytes(files[0].read_bytes())  # git pull
    (his,) = bob.list(scope=SHOP).memories
    assert (his.id, his.content, his.created_at.date()) == (hers.id, hers.content, hers.created_at.date())
    assert files[1].read_bytes() == files[0].read_bytes()
    bob.revise(his.number, scope=SHOP, content="better known by bob")
    files[0].write_bytes(files[1].read_bytes())
    assert alice.show(hers.number, scope=SHOP).content == "better known by bob"


def test_a_plainly_deleted_entry_is_archived_and_the_command_that_undoes_it_is_printed(mirrored, file):
    for topic in ("one", "two"):
        mirrored.remember(f"text of {topic}", topic=topic, scope=SHOP)
    without(file, "one")
    with pytest.warns(UserWarning, match=r"the entry of #1 was deleted, so it is archived: `omoide restore 1` undoes it"):
        assert contents(mirrored) == {"text of two"}
    assert contents(mirrored, states=[State.ARCHIVED]) == {"text of one"}
    last = mirrored.history(1, scope=SHOP)[-1]
    assert (last.actor.via, last.memory.state) == ("file", State.ARCHIVED)
    mirrored.restore(1, scope=SHOP)
    assert "text of one" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("state", ["archive", "forget"])
def test_an_entry_that_comes_back_does_not_revive_its_memory_and_a_new_text_does(mirrored, file, state):
    for topic in ("one", "two"):
        mirrored.remember(f"text of {topic}", topic=topic, scope=SHOP)
    mirrored.revise(1, scope=SHOP, content="newer text of one")
    before = file.read_bytes()
    getattr(mirrored, state)(1, scope=SHOP)
    gone = file.read_bytes()
    for _ in range(2):  # coming and going
        file.write_bytes(before.replace(b"newer text of one", b"newer *text* of\n  one"))  # reformatted
        assert contents(mirrored) == {"text of two"}
        file.write_bytes(gone)
        assert contents(mirrored) == {"text of two"}
    file.write_bytes(before.replace(b"newer text of one", b"text of one"))
    version = mirrored.show(1, scope=SHOP).version
    assert contents(mirrored) == {"text of two"}, "not by an earlier version either"
    mirrored.remember("text of three", topic="three", scope=SHOP)
    assert "text of one" in file.read_text(encoding="utf-8"), "it is not taken out unasked"
    assert mirrored.show(1, scope=SHOP).version == version
    sync(mirrored, take_out=[1])
    assert "text of one" not in file.read_text(encoding="utf-8")
    file.write_bytes(file.read_bytes() + b"\n" + before.replace(b"newer text of one", b"something else about one"))
    assert contents(mirrored) == {"text of two", "something else about one", "text of three"}


@pytest.mark.parametrize("gone", ["deleted", "emptied"])
def test_a_deleted_file_deletes_no_memory_and_is_written_again_when_asked(mirrored, file, gone):
    mirrored.remember("kept", scope=SHOP)
    if gone == "emptied":
        file.write_text("")
    else:
        file.unlink()
    assert contents(mirrored) == {"kept"}
    assert not file.exists() or not file.read_text()
    mirrored.remember("another", scope=SHOP)
    assert re.findall(r"- Content: (.*)", file.read_text(encoding="utf-8")) == ["another"]
    assert contents(mirrored) == {"kept", "another"}
    sync(mirrored, put_back=[1])
    assert re.findall(r"- Content: (.*)", file.read_text(encoding="utf-8")) == ["another", "kept"]
    assert sync(mirrored, whole=True) == SyncReport(1)


def test_a_file_that_is_only_touched_or_saved_again_changes_nothing(mirrored, file):
    mirrored.remember("kept", scope=SHOP)
    for _ in range(2):
        file.write_bytes(file.read_bytes())
        os.utime(file)
        assert mirrored.show(1, scope=SHOP).version == 1
    assert len(mirrored.events(1, scope=SHOP)) == 1


def test_an_edit_with_the_same_size_and_time_is_imported(mirrored, file, monkeypatch):
    now = time.time_ns

    def soon() -> int:
        """However long it takes here, the clock has moved on by a millisecond since the file was written."""
        return file.stat().st_mtime_ns + 1_000_000 if file.exists() else now()

    monkeypatch.setattr("omoide.sync.snapshot.time.time_ns", soon)
    mirrored.remember("aaaa", topic="t", scope=SHOP)
    for text in ("bbbb", "cccc", "dddd"):
        stat = file.stat()
        # With its label: the id is random, and would be edited too where it contains the text.
        edit(file, f"- Content: {mirrored.show(1, scope=SHOP).content}", f"- Content: {text}")
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # a clock too coarse to tell
        assert contents(mirrored) == {text}


def test_windows_line_ends_and_a_bom_survive_both_ways(mirrored, file):
    file.write_bytes("\ufeff# Memories\r\n\r\n## a\r\n- Content: one\r\n  two\r\n".encode())
    assert contents(mirrored) == {"one\ntwo"}
    mirrored.remember("three", scope=SHOP)
    raw = file.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf# Memories\r\n")
    assert raw.count(b"\n") == raw.count(b"\r\n")


# both at once


def change_both(memory, file, clock, *, file_is_newer):
    """The text changes on both sides between two meetings."""
    kept = memory.remember("before", topic="t", scope=SHOP).memory
    clock.step(60)
    at = clock.now + timedelta(seconds=30 if file_is_newer else -30)
    with memory._store.write() as tx:  # another process, which dies before it has written the file
        old = tx.memory(kept.number)
        memory._writes.within(tx, clock.now).change(old, memory_with(old, content="by the agent"), "revised")
    edit(file, "- Content: before", "- Content: by the person", at=at)
    memory.list(scope=SHOP)
    return kept.number


def memory_with(memory, **fields):
    import msgspec

    return msgspec.structs.replace(memory, **fields)


@pytest.mark.parametrize(("newer", "stands"), [(True, "by the person"), (False, "by the agent")])
def test_of_two_conflicting_changes_the_newer_stands_and_the_other_is_a_version(mirrored, file, clock, newer, stands):
    number = change_both(mirrored, file, clock, file_is_newer=newer)
    assert mirrored.show(number, scope=SHOP).content == stands
    assert f"- Content: {stands}\n" in file.read_text(encoding="utf-8")
    texts = [version.memory.content for version in mirrored.history(number, scope=SHOP)]
    assert set(texts) == {"before", "by the person", "by the agent"}
    (disputed,) = mirrored.conflicts(scope=SHOP)
    assert disputed.conflict.stands == (Side.FILE if newer else Side.DATABASE)
    assert (disputed.file.content, disputed.database.content) == ("by the person", "by the agent")
    assert mirrored.conflicts(scope=Scope.project("bank")) == []
    assert len(mirrored.history(number, scope=SHOP)) == len(texts), "looking again changes nothing"


@pytest.mark.parametrize("newer", [True, False])
@pytest.mark.parametrize(("take", "text"), [("file", "by the person"), ("database", "by the agent")])
def test_a_conflict_is_resolved_by_picking_a_side(mirrored, file, clock, newer, take, text):
    number = change_both(mirrored, file, clock, file_is_newer=newer)
    assert mirrored.resolve(number, take, scope=SHOP).content == text
    assert mirrored.conflicts() == []
    assert f"- Content: {text}\n" in file.read_text(encoding="utf-8")
    assert {one.memory.content for one in mirrored.history(number, scope=SHOP)} >= {"by the person", "by the agent"}
    with pytest.raises(NotFound, match="has no sync conflict"):
        mirrored.resolve(number, take, scope=SHOP)
    with pytest.raises(InvalidInput, match="take must be file or database"):
        mirrored.resolve(number, "both", scope=SHOP)


def test_changes_to_different_fields_are_merged_without_a_conflict(mirrored, file, clock):
    mirrored.remember("before", topic="t", scope=SHOP)
    with mirrored._store.write() as tx:
        old = tx.memory(1)
        mirrored._writes.within(tx, clock.step()).change(old, memory_with(old, tags=("agent",), pinned=True), "revised")
    edit(file, "- Content: before", "- Content: by the person")
    kept = mirrored.show(1, scope=SHOP)
    assert (kept.content, kept.tags, kept.pinned) == ("by the person", ("agent",), True)
    assert mirrored.conflicts() == []
    text = file.read_text(encoding="utf-8")
    assert "- Tags: agent\n" in text
    assert "- Content: by the person\n" in text


def test_an_entry_deleted_while_its_memory_changed_is_written_again_as_a_conflict(mirrored, file, clock):
    for topic in ("t", "other"):
        mirrored.remember("before", topic=topic, scope=SHOP)
    with mirrored._store.write() as tx:
        old = tx.memory(1)
        mirrored._writes.within(tx, clock.step()).change(old, memory_with(old, content="by the agent"), "revised")
    without(file, "t")
    assert mirrored.show(1, scope=SHOP).content == "by the agent"
    assert "by the agent" in file.read_text(encoding="utf-8")
    (disputed,) = mirrored.conflicts()
    assert disputed.file is None
    assert mirrored.resolve(1, "file", scope=SHOP).state is State.ARCHIVED
    assert "by the agent" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("newer", [True, False])
def test_an_entry_edited_while_its_memory_was_forgotten_loses_nothing(mirrored, file, clock, newer):
    mirrored.remember("before", topic="t", scope=SHOP)
    clock.step(60)
    with mirrored._store.write() as tx:
        old = tx.memory(1)
        mirrored._writes.within(tx, clock.now).change(old, memory_with(old, state=State.FORGOTTEN), "forgotten")
    edit(file, "- Content: before", "- Content: edited", at=clock.now + timedelta(seconds=9 if newer else -9))
    kept = mirrored.show(1, scope=SHOP)
    assert kept.state is (State.ACTIVE if newer else State.FORGOTTEN)
    assert "edited" in {one.memory.content for one in mirrored.history(1, scope=SHOP)}
    assert ("edited" in file.read_text(encoding="utf-8")) is newer
    assert len(mirrored.conflicts()) == 1


def test_the_same_change_on_both_sides_is_no_conflict(mirrored, file, clock):
    mirrored.remember("before", topic="t", scope=SHOP)
    with mirrored._store.write() as tx:
        old = tx.memory(1)
        mirrored._writes.within(tx, clock.step()).change(old, memory_with(old, content="after"), "revised")
    edit(file, "before", "after")
    assert mirrored.show(1, scope=SHOP).version == 2
    assert mirrored.conflicts() == []


# own lists, several mirrors, scopes


def test_a_repository_list_contains_only_what_was_added_through_it(memory, file):
    memory.remember("private", scope=SHOP)
    file.parent.mkdir()
    file.write_text("## typed\n- Content: public\n")
    mirror = memory.mirror(file, scope=SHOP, choice="own")
    memory.remember("private too", scope=SHOP)
    with pytest.warns(UserWarning, match="1 entry that was there is imported"):
        assert contents(memory) == {"private", "private too", "public"}
    assert "private" not in file.read_text(encoding="utf-8")
    memory.join(1, mirror.number, scope=SHOP)
    memory.revise(1, scope=SHOP, content="told")
    assert re.findall(r"- Content: (.*)", file.read_text(encoding="utf-8")) == ["public", "told"]
    memory.forget(1, scope=SHOP)
    assert "told" not in file.read_text(encoding="utf-8")
    memory.restore(1, scope=SHOP)
    assert "told" in file.read_text(encoding="utf-8")


def test_a_repository_list_can_be_changed_to_mirror_everything(memory, file):
    file.parent.mkdir()
    own = memory.ensure_list_mirror(file, scope=SHOP)
    assert memory.ensure_list_mirror(file, scope=SHOP) == own
    memory.remember("private", scope=SHOP)
    assert not file.exists()
    assert memory.mirror(file, scope=SHOP).number == own.number
    memory.list(scope=SHOP)
    assert "private" in file.read_text(encoding="utf-8")
    with pytest.raises(Conflict, match="has a mirror already"):
        memory.mirror(file, scope=SHOP)
    with pytest.raises(Conflict, match="has a mirror already"):
        memory.mirror(file.parent, "entries", scope=SHOP)


def test_an_edit_in_one_file_reaches_the_other(memory, tmp_path):
    files = [tmp_path / "a.md", tmp_path / "b.md"]
    for file in files:
        memory.mirror(file, scope=SHOP)
    memory.remember("before", topic="t", scope=SHOP)
    edit(files[0], "before", "after")
    memory.list(scope=SHOP)
    assert "- Content: after\n" in files[1].read_text(encoding="utf-8")
    assert memory.show(1, scope=SHOP).version == 2


def test_a_file_cannot_reach_into_another_project(mirrored, file):
    theirs = mirrored.remember("of the bank", scope=Scope.project("bank")).memory
    file.write_text(f"## grab\n- Id: {theirs.id}\n- Content: of the bank, changed\n")
    with pytest.warns(UserWarning, match=r"line 1: the memory with this id is none of this mirror's: take the id out"):
        assert contents(mirrored) == set()
    assert mirrored.show(theirs.number, scope=Scope.project("bank")) == theirs
    assert "of the bank, changed" in file.read_text(encoding="utf-8")


def test_a_purged_entry_that_is_put_back_is_refused(mirrored, file):
    gone = mirrored.remember("secret plan", scope=SHOP).memory
    before = file.read_bytes()
    mirrored.forget(1, scope=SHOP)
    mirrored.purge([1], scope=SHOP)
    file.write_bytes(before)
    with pytest.warns(UserWarning, match="was purged"):
        assert contents(mirrored, states=EVERY_STATE) == set()
    edit(file, f"- Id: {gone.id}\n", "")
    assert contents(mirrored) == {"secret plan"}


def test_a_memory_that_leaves_the_scope_leaves_the_file(mirrored, file):
    mirrored.remember("for all", scope=SHOP)
    mirrored.promote(1, scope=SHOP)
    assert "for all" not in file.read_text(encoding="utf-8")
    assert contents(mirrored, Scope()) == {"for all"}


# trouble


def test_a_file_that_cannot_be_read_is_reported_and_left_alone(mirrored, file):
    mirrored.remember("kept", topic="t", scope=SHOP)
    whole = file.read_bytes()
    file.write_bytes(b"\xff\xfebroken")
    with pytest.warns(UserWarning, match=r"memories\.md is UTF-16: save it as UTF-8"):
        assert contents(mirrored) == {"kept"}
    with warnings.catch_warnings():  # reported once
        mirrored.remember("meanwhile", scope=SHOP)
    assert file.read_bytes() == b"\xff\xfebroken"
    file.write_bytes(whole)
    assert contents(mirrored) == {"kept", "meanwhile"}
    assert "meanwhile" in file.read_text(encoding="utf-8")


def test_a_file_with_a_merge_conflict_of_git_is_left_alone(mirrored, file):
    mirrored.remember("kept", topic="t", scope=SHOP)
    edit(file, "- Content: kept\n", "<<<<<<< HEAD\n- Content: mine\n=======\n- Content: theirs\n>>>>>>> branch\n")
    before = file.read_bytes()
    with pytest.warns(UserWarning, match="git left conflict markers"):
        mirrored.remember("meanwhile", scope=SHOP)
    assert contents(mirrored) == {"kept", "meanwhile"}
    assert file.read_bytes() == before


def test_an_entry_with_a_secret_is_refused_and_the_others_are_imported(mirrored, file):
    mirrored.remember("kept", topic="t", scope=SHOP)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    edit(file, "- Content: kept", f"- Content: use {token}")
    with file.open("a") as end:
        end.write("\n## fine\n- Content: harmless\n")
    with pytest.warns(UserWarning, match=r"memories\.md, line 3: the content seems to hold a secret"):
        assert contents(mirrored) == {"kept", "harmless"}
    assert token in file.read_text(encoding="utf-8")
    with warnings.catch_warnings():
        mirrored.revise(1, scope=SHOP, tags=["later"])
    assert token in file.read_text(encoding="utf-8"), "what a person typed is not overwritten"
    edit(file, f"use {token}", "use the vault")
    assert mirrored.show(1, scope=SHOP).content == "use the vault"
    assert mirrored.show(1, scope=SHOP).tags == ("later",)


def test_a_redacted_secret_is_left_in_the_file_as_it_was_typed(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", secrets="redact")
    file = tmp_path / "memories.md"
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory.mirror(file, scope=SHOP)
    file.write_text(f"## t\n- Content: use {token}\n")
    (kept,) = memory.list(scope=SHOP).memories
    assert token not in kept.content
    assert memory.list(scope=SHOP).memories == [kept]


def test_a_read_only_file_is_reported_and_written_once_it_is_writable(mirrored, file):
    mirrored.remember("kept", scope=SHOP)
    file.chmod(0o444)
    with pytest.warns(UserWarning, match="read-only"):
        mirrored.remember("meanwhile", scope=SHOP)
    assert contents(mirrored) == {"kept", "meanwhile"}
    file.chmod(0o644)
    mirrored.remember("later", scope=SHOP)
    assert re.findall(r"- Content: (.*)", file.read_text(encoding="utf-8")) == ["kept", "meanwhile", "later"]


@pytest.mark.parametrize("gone", ["deep", "disk"])
def test_a_missing_directory_fails_no_verb_and_is_not_created_again(tmp_path, memory, gone):
    place = tmp_path / "disk" / "deep"
    place.mkdir(parents=True)
    memory.mirror(place / "memories.md", scope=SHOP)
    memory.remember("kept", scope=SHOP)
    shutil.rmtree(place if gone == "deep" else place.parent)
    assert contents(memory) == {"kept"}
    with pytest.warns(UserWarning, match="deep is gone: bring it back"):
        memory.remember("meanwhile", scope=SHOP)
    assert contents(memory) == {"kept", "meanwhile"}
    assert not place.exists()


def test_files_are_private_unless_they_are_in_a_repository(memory, tmp_path):
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "by hand").write_text("as the umask says")
    usual = (tmp_path / "by hand").stat().st_mode
    for place, mode in ((tmp_path, 0o100600), (tmp_path / "repository", usual)):
        memory.mirror(place / "memories.md", scope=SHOP)
        memory.remember(f"for {place.name}", scope=SHOP)
        assert (place / "memories.md").stat().st_mode == mode


def test_circular_links_fail_no_verb(memory, tmp_path):
    memory.mirror(tmp_path / "a.md", scope=SHOP)
    (tmp_path / "a.md").symlink_to(tmp_path / "b.md")
    (tmp_path / "b.md").symlink_to(tmp_path / "a.md")
    with pytest.warns(UserWarning, match=r"a\.md|cannot be reached"):
        memory.remember("kept", scope=SHOP)
    assert contents(memory) == {"kept"}


# roles


def test_a_workers_sync_gains_it_no_rights(tmp_path, open_memory, file):
    owner = open_memory(tmp_path / "memory.db")
    worker = open_memory(tmp_path / "memory.db", actor=Actor("w", Role.WORKER))
    file.parent.mkdir()
    owner.mirror(file, scope=SHOP)
    for topic in ("one", "two"):
        owner.remember("text", topic=topic, scope=SHOP)
    without(file, "one")
    with pytest.warns(UserWarning, match="the entry of #1 was deleted"):
        assert worker.list(scope=SHOP).total == 1, "what a person deleted in the file is archived, whoever looks next"
    last = owner.history(1, scope=SHOP)[-1]
    assert (last.actor.name, last.actor.role, last.actor.via) == ("human", Role.OWNER, "file")
    for verb in (worker.archive, worker.forget, worker.restore):
        with pytest.raises(Exception, match="w is a worker"):
            verb(2, scope=SHOP)


# making one side from the other


def test_the_file_is_rebuilt_from_the_database(mirrored, file):
    mirrored.remember("kept", topic="t", scope=SHOP)
    edit(file, "# Memories\n", "# Memories\n\nA word of my own.\n")
    mirrored.list(scope=SHOP)
    edit(file, "- Content: kept", "- Content: changed")
    with file.open("a") as end:
        end.write("\n## typed\n- Content: new\n")
    mirrored.reset_sync_state(1)
    report = sync(mirrored, prefer=Side.DATABASE)
    assert report.troubles == ()
    text = file.read_text(encoding="utf-8")
    assert re.findall(r"- Content: (.*)", text) == ["kept"]
    assert "A word of my own." in text
    backups = [each.read_text() for each in (file.parent / ".omoide-backups").rglob("*") if each.is_file()]
    assert any("- Content: changed" in text and "- Content: new" in text for text in backups)
    assert contents(mirrored, states=EVERY_STATE) == {"kept"}


def test_a_broken_file_is_rebuilt_from_the_database(mirrored, file):
    mirrored.remember("kept", scope=SHOP)
    file.write_bytes(b"\xff\xfebroken")
    mirrored.reset_sync_state(1)
    with warnings.catch_warnings(record=True):
        sync(mirrored, prefer=Side.DATABASE)
    assert "- Content: kept\n" in file.read_text(encoding="utf-8")
    assert any(each.read_bytes() == b"\xff\xfebroken" for each in (file.parent / ".omoide-backups").rglob("*.1"))


def test_the_database_is_rebuilt_from_the_file(mirrored, file, clock):
    for topic in ("one", "two"):
        mirrored.remember(f"text of {topic}", topic=topic, scope=SHOP)
    without(file, "two")
    edit(file, "text of one", "as it should be", at=datetime(2020, 1, 1, tzinfo=UTC))
    mirrored.reset_sync_state(1)
    sync(mirrored, prefer=Side.FILE)
    assert contents(mirrored) == {"as it should be"}
    assert contents(mirrored, states=[State.ARCHIVED]) == {"text of two"}
    assert mirrored.conflicts() == []


def test_a_lost_database_is_rebuilt_from_the_files(tmp_path, open_memory, mirrored, file):
    kept = [mirrored.remember(f"note {n}", scope=SHOP, tags=["a"]).memory for n in range(3)]
    before = file.read_bytes()
    with open_memory(tmp_path / "new.db") as other:
        other.mirror(file, scope=SHOP)
        with pytest.warns(UserWarning, match="3 entries that were there are imported"):
            found = other.list(scope=SHOP).memories
        assert {(one.id, one.content, one.tags) for one in found} == {(one.id, one.content, one.tags) for one in kept}
    assert file.read_bytes() == before


# what it costs where there is none


def test_without_a_mirror_no_verb_runs_a_statement_more(memory, monkeypatch):
    monkeypatch.setattr("omoide.sync.hook.time.monotonic", lambda: 1000.0)
    memory.remember("first", scope=SHOP)
    statements = []
    memory._store._connection.exec_trace = lambda _, sql, __: statements.append(sql) or True
    memory.remember("second", scope=SHOP)
    memory.recall("second", scope=SHOP)
    memory._store._connection.exec_trace = None
    assert not [sql for sql in statements if "mirror" in sql]


def test_a_mirror_that_another_process_added_is_followed_within_a_second(tmp_path, open_memory, file, monkeypatch):
    time = 1000.0
    monkeypatch.setattr("omoide.sync.hook.time.monotonic", lambda: time)
    mine, other = open_memory(tmp_path / "memory.db"), open_memory(tmp_path / "memory.db")
    mine.remember("before", scope=SHOP)
    file.parent.mkdir()
    other.mirror(file, scope=SHOP)
    time += 1.1
    mine.remember("after", scope=SHOP)
    assert re.findall(r"- Content: (.*)", file.read_text(encoding="utf-8")) == ["before", "after"]


def test_errors_of_mirror_say_what_to_do(memory, tmp_path):
    with pytest.raises(InvalidInput, match="there is no format 'word': use memories, entries, tree, block"):
        memory.mirror(tmp_path / "a.md", "word", scope=SHOP)
    with pytest.raises(InvalidInput, match="there is no choice 'some': use all or own"):
        memory.mirror(tmp_path / "a.md", scope=SHOP, choice="some")
    with pytest.raises(NotFound, match="there is no mirror 7: `omoide mirror list`"):
        memory.unmirror(7)
    mirror = memory.mirror(tmp_path / "a.md", scope=SHOP)
    other = memory.remember("elsewhere", scope=Scope()).memory
    with pytest.raises(Conflict, match="is in the global layer, and the mirror is of project shop"):
        memory.join(other.number, mirror.number, scope=SHOP)
    assert mirror.choice is Choice.ALL
    assert memory.unmirror(mirror.number) == mirror
    assert memory.mirrors() == []
