"""What is purged is in no copy that omoide made: it names them, and removes it there if it is asked to."""

import gzip
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest

import omoide
from omoide import Scope
from omoide.transfer.backup import back_up_project

SHOP = Scope.project("shop")
SECRET = "the merger with Kurosawa Kikai is signed on the ninth\n\nsecond paragraph of Kurosawa"
FIRST = "the merger with Kurosawa is only a rumour so far"
WORD = b"Kurosawa"


@pytest.fixture
def store(place):
    return place / "data" / "memory.db"


@pytest.fixture
def memory(store, open_memory, place):
    """A store with a memory of two versions, in every kind of copy that omoide makes, and forgotten by now."""
    memory = open_memory(store)
    memory.create_project("shop")
    memory.remember("something harmless that stays", scope=SHOP)
    secret = memory.remember(FIRST, topic="merger", scope=SHOP).memory
    for format, name in (("memories", "list/memories.md"), ("entries", "entries"), ("tree", "tree")):
        memory.mirror(place / name, format, scope=SHOP)
    memory.revise(secret.id, scope=SHOP, content=SECRET)
    memory.backup()
    (place / "elsewhere").mkdir()
    memory.backup(place / "elsewhere" / "copy.db.gz")
    memory.reindex(archive=True)
    back_up_project(memory, SHOP, None, 5)
    back_up_project(memory, SHOP, place / "exports", 5)
    for file in ("list/memories.md", "tree/shop/MEMORY.md", "entries/merger.md"):
        backup = place / file.partition("/")[0] / ".omoide-backups" / f"{file.partition('/')[2]}.1"
        backup.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(place / file, backup)
    without_id = place / "list" / ".omoide-backups" / "memories.md.2"
    without_id.write_text(f"# Memories\n\n## merger\n- Content: {FIRST}\n\n## other\n- Content: harmless\n")
    memory.forget(secret.id, scope=SHOP)
    return memory


def holders(place):
    """The files in which the word stands, also compressed; not those that every purge deletes."""
    found = set()
    for file in place.rglob("*"):
        if file.is_file() and file.parent.name != "replaced":
            data = file.read_bytes()
            data += gzip.decompress(data) if file.suffix == ".gz" else b""
            found |= {file} if WORD in data else set()
    return found


def test_a_purge_names_every_copy_that_holds_the_memory(memory, place, store):
    before = holders(place) - {store, Path(f"{store}-wal")}
    assert len(before) == 9
    report = memory.purge([2], scope=SHOP)
    assert report.purged == 1
    assert {Path(copy.path) for copy in report.copies} == before
    assert {copy.state for copy in report.copies} == {"holds it"}
    assert {copy.kind for copy in report.copies} == {"backup", "archive", "project backup", "mirror backup"}
    assert holders(place) == before
    assert report.unreachable == ()


def test_a_purge_everywhere_leaves_no_byte_of_the_text_in_any_copy(memory, place, store, open_memory):
    copies = holders(place) - {store, Path(f"{store}-wal")}
    modes = {file: file.stat().st_mode for file in copies if file.suffix in (".db", ".gz", ".jsonl")}
    report = memory.purge([2], scope=SHOP, everywhere=True)
    assert {Path(copy.path) for copy in report.copies} == copies
    assert {copy.state for copy in report.copies} == {"removed"}
    assert holders(place) == set()
    assert not list(place.rglob("replaced/*"))
    assert not list(place.rglob("*.part")) + list(place.rglob(".omoide-purge-*"))
    assert {file: file.stat().st_mode for file in modes} == modes
    assert all(mode & 0o777 == 0o600 for mode in modes.values())
    assert "harmless" in (place / "list" / ".omoide-backups" / "memories.md.2").read_text()
    backups = [Path(copy.path) for copy in report.copies if copy.kind == "backup" and copy.path.endswith(".db")]
    for backup in backups:  # what else is in it is still there
        with open_memory(backup) as old:
            assert old.check() == []
            assert [one.content for one in old.list(scope=SHOP).memories] == ["something harmless that stays"]


@pytest.mark.parametrize("reached", [True, False])
def test_a_purge_leaves_no_name_of_an_entry_file_that_begins_with_the_text(open_memory, place, reached):
    store, entries = place / "data" / "memory.db", place / "entries"
    with open_memory(store) as memory:
        memory.mirror(entries, "entries", scope=SHOP)
        secret = memory.remember(FIRST.replace("the merger with ", ""), scope=SHOP).memory
        [file] = entries.glob("*.md")
        assert WORD.decode() in file.name
        file.write_text(file.read_text().replace("rumour", "mere rumour"))
        assert "mere rumour" in memory.show(secret.number, scope=SHOP).content
        memory.backup()
        if not reached:
            entries.rename(place / "not mounted")
        memory.forget(secret.number, scope=SHOP)
        memory.purge([secret.number], scope=SHOP, everywhere=True)
        assert {event.action for event in memory.events(scope=SHOP)} >= {"remembered", "revised", "purged"}
    left = {file for file in place.rglob("*") if file.is_file() and "not mounted" not in file.parts}
    assert {file for file in left if WORD in file.read_bytes() or WORD.decode() in file.name} == set()


def test_what_was_purged_before_can_be_removed_from_the_copies_later(memory, place, store):
    memory.purge([2], scope=SHOP)
    report = memory.purge([], scope=SHOP, everywhere=True)
    assert report.purged == 0
    # Its text is no longer known: a backup of a file from before the entry had an id cannot be recognised any more.
    assert holders(place) == {place / "list" / ".omoide-backups" / "memories.md.2"}


def test_a_purge_of_entries_that_came_back_leaves_no_replaced_file_that_looks_like_a_late_save(memory, place):
    file, older = place / "list" / "memories.md", (place / "list" / ".omoide-backups" / "memories.md.1").read_bytes()
    memory.purge([2], scope=SHOP)
    file.write_bytes(older)  # as git brings it back
    with pytest.warns(UserWarning, match="was purged"):
        memory.list(scope=SHOP)
    report = memory.purge([], scope=SHOP, everywhere=True)
    assert str(file) in {copy.path for copy in report.copies if copy.state == "removed"}
    assert not list((place / "list").rglob("replaced/*"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [one.content for one in memory.list(scope=SHOP).memories] == ["something harmless that stays"]


def test_a_block_that_git_brought_back_is_written_without_what_was_purged(open_memory, place, monkeypatch):
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "t")
    repository = place / "repo"
    file = repository / "CLAUDE.md"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    file.write_text("# My rules\n\nBe kind.\n")
    memory = open_memory(place / "data" / "memory.db")
    secret = memory.remember(SECRET, scope=SHOP).memory
    memory.mirror(file, "block", scope=SHOP)
    memory.list(scope=SHOP)
    assert WORD.decode() in file.read_text()
    subprocess.run(["git", "add", "-A"], cwd=repository, check=True)
    subprocess.run(["git", "commit", "-qm", "rules"], cwd=repository, check=True)
    memory.forget(secret.number, scope=SHOP)
    [line] = memory.purge([secret.number], scope=SHOP).unreachable
    assert f"the git history of {repository} (commit " in line
    assert WORD.decode() not in file.read_text()
    subprocess.run(["git", "checkout", "-q", "--", "."], cwd=repository, check=True)
    assert WORD.decode() in file.read_text()
    report = memory.purge([], scope=SHOP, everywhere=True)
    assert [(copy.path, copy.kind, copy.state) for copy in report.copies] == [(str(file), "mirror", "removed")]
    assert WORD.decode() not in file.read_text()
    assert file.read_text().startswith("# My rules\n\nBe kind.\n")
    assert memory.purge([], scope=SHOP, everywhere=True).copies == ()


def test_a_damaged_backup_is_named_and_left_as_it_is(memory, place):
    backup = next(file for file in (place / "data").glob("memory-*.db"))
    packed = place / "elsewhere" / "copy.db.gz"
    data = bytearray(backup.read_bytes())
    data[4096 : 4096 * 3] = b"x" * 8192
    backup.write_bytes(data)
    packed.write_bytes(packed.read_bytes()[:-100])
    before = {file: file.read_bytes() for file in (backup, packed)}
    report = memory.purge([2], scope=SHOP, everywhere=True)
    unreadable = {Path(copy.path): copy.reason for copy in report.copies if copy.state == "unreadable"}
    assert set(unreadable) == {backup, packed}
    assert all("left as it is" in reason for reason in unreadable.values())
    assert {file: file.read_bytes() for file in before} == before


def test_the_history_of_git_is_named_as_out_of_reach(open_memory, place, monkeypatch):
    repository = place / "repo"
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "t")
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    memory = open_memory(place / "data" / "memory.db")
    secret = memory.remember(SECRET, scope=SHOP).memory
    memory.mirror(repository / "memories.md", scope=SHOP)
    memory.mirror(repository / "notes", "entries", scope=SHOP)
    memory.list(scope=SHOP)
    subprocess.run(["git", "add", "-A"], cwd=repository, check=True)
    subprocess.run(["git", "commit", "-qm", "memories"], cwd=repository, check=True)
    memory.forget(secret.id, scope=SHOP)
    report = memory.purge([secret.id], scope=SHOP, everywhere=True)
    [line] = report.unreachable  # one line, though two mirrors are in that repository
    assert f"the git history of {repository} (commit " in line
    assert "every clone of it" in line
    assert WORD.decode() not in (repository / "memories.md").read_text()


def test_the_command_names_copies_and_removes_them(run, place, monkeypatch):
    run("remember", SECRET)
    copy = place / "copy.db"
    run("backup", str(copy))
    run("forget", "1")
    done = run("purge", "1", "--yes")
    assert f"holds it    backup: {copy}" in done.out
    assert "omoide purge --everywhere" in done.err
    done = run("purge", "--everywhere", "--yes", "--json")
    assert [(one["path"], one["state"]) for one in done.data["copies"]] == [(str(copy), "removed")]
    assert WORD not in copy.read_bytes()
    assert run("purge", "--everywhere").code != 0, "without a terminal it must be confirmed"
    assert "no copy that omoide made" in run("purge", "--everywhere", "--yes").err


def test_a_mirrored_file_that_still_has_the_entry_is_named_and_cleaned(open_memory, place):
    file = place / "memories.md"
    memory = open_memory(place / "data" / "memory.db")
    secret = memory.remember(SECRET, scope=SHOP).memory
    memory.mirror(file, scope=SHOP)
    memory.list(scope=SHOP)
    held = file.read_text(encoding="utf-8")
    memory.forget(secret.id, scope=SHOP)
    memory.list(scope=SHOP)
    file.write_text(held + "\nmy own words\n", encoding="utf-8")  # as git or an old editor would
    named = memory.purge([secret.id], scope=SHOP)
    assert [(copy.kind, copy.state) for copy in named.copies if copy.kind == "mirror"] == [("mirror", "holds it")]
    cleaned = memory.purge([], scope=SHOP, everywhere=True)
    assert ("mirror", "removed") in [(copy.kind, copy.state) for copy in cleaned.copies]
    assert "my own words" in file.read_text(encoding="utf-8")
    assert WORD.decode() not in file.read_text(encoding="utf-8")


def test_a_bullet_that_an_agent_made_of_the_entry_is_removed_and_the_other_bullets_stay(open_memory, place):
    service = open_memory(place / "memory.db")
    file = place / "notes" / "memories.md"
    file.parent.mkdir()
    service.mirror(file, scope=SHOP)
    other, secret = (service.remember(text, scope=SHOP).memory for text in ("stays", "秘密の住所"))
    file.write_text(f"# Memories\n\n- stays ({other.id})\n- 秘密の住所 ({secret.id})\n\nMine.\n", encoding="utf-8")
    service.list(scope=SHOP)
    service.forget(secret.number, scope=SHOP)
    done = service.purge([secret.number], scope=SHOP, everywhere=True)
    assert [copy.state for copy in done.copies if copy.path == str(file)] == ["removed"]
    assert file.read_text(encoding="utf-8") == f"# Memories\n\n- stays ({other.id})\n\nMine.\n"
    assert not [one for one in place.rglob("*") if one.is_file() and "秘密の住所".encode() in one.read_bytes()]


def test_only_an_owner_may_purge_copies(place, open_memory):
    memory = open_memory(place / "data" / "memory.db", actor=omoide.Actor("agent", omoide.Role.WORKER, "mcp"))
    with pytest.raises(omoide.NotAllowed):
        memory.purge([], scope=SHOP, everywhere=True)
