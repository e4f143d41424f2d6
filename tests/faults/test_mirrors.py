"""Agents, an editor and kill -9 around mirrored files: every text that was ever written is somewhere afterwards."""

import os
import random
import re
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from functools import partial
from operator import add
from pathlib import Path
from typing import Any

import apsw
import pytest

from omoide import Scope, State, app
from omoide.files import late_saves
from omoide.files.directory import Directory
from omoide.storage.sqlite.store import SqliteStore
from omoide.sync import run
from omoide.sync.database import SyncDatabase
from omoide.sync.file_edits import FileEdits

SHOP = Scope.project("shop")


@pytest.fixture
def worker() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `mirror_workers.py <what> …` as a process; all of them are gone when the test ends."""
    children: list[subprocess.Popen[str]] = []

    def start(what: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
        script = Path(__file__).with_name("mirror_workers.py")
        pipe = subprocess.PIPE
        command = [sys.executable, str(script), what, *map(str, arguments)]
        children.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **options))
        return children[-1]

    yield start
    for process in children:
        process.kill()
        process.communicate()


def everything(memory, place):
    """Every text in the files, the backups, the database and its history."""
    found = []
    for path in place.rglob("*"):
        if path.is_file():
            found.append(path.read_text(encoding="utf-8", errors="replace"))
    with memory._store.read() as tx:
        for one in tx.everything():
            found += [version.memory.content for version in tx.versions(one.number)]
    return "\n".join(found)


@pytest.mark.parametrize("kind", ["memories", "entries"])
def test_an_editor_and_four_agents_lose_no_text(tmp_path, open_memory, worker, long, kind):
    seconds = 20 if long else 3
    place = tmp_path / "files"
    place.mkdir()
    path = tmp_path / "memory.db"
    memory = open_memory(path, wait=60)
    memory.mirror(place / "memories.md" if kind == "memories" else place, kind, scope=SHOP)
    # Each goes on until that time is over and it has written something: on a busy machine that may take longer.
    children = [worker("agent", path, f"agent{n}", seconds, 3) for n in range(4)]
    children.append(worker("editor", place, kind, "person", seconds, 12))
    for process in children:
        assert process.stdout.readline() == "ready\n"
    for process in children:
        print(file=process.stdin, flush=True)
    written = []
    for process in children:
        output, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors
        assert not re.search(r"Traceback|Error", errors), errors
        written.append(output.splitlines())
    report = app.sync_engine(memory).sync(memory.mirrors()[0], whole=True)
    # The last save may have gone to a file that was just being replaced: it is imported, and reported once.
    assert [message for message in report.troubles if "was saved while it was replaced: its entries" not in message] == []
    left = everything(memory, place)
    assert [text for texts in written for text in texts if not re.search(rf"{re.escape(text)}\b", left)] == []
    settle(memory)
    check_agreement(memory, place, kind)
    assert memory.check() == []


def settle(memory):
    """Put back what an old buffer left out, and take out what it brought back, as `mirror status` suggests to a person."""
    engine = app.sync_engine(memory)
    (mirror,) = memory.mirrors()
    held = engine.held_states(mirror)
    missing = {one.number for one, state in held if not state.is_in_file}
    engine.sync(mirror, put_back=missing, take_out={one.number for one, _ in held} - missing)


def check_agreement(memory, place, kind):
    """Both sides say the same at the end."""
    active = {one.content for one in memory.list(scope=SHOP, limit=100_000).memories}
    if kind == "memories":
        assert set(re.findall(r"- Content: (.*)", (place / "memories.md").read_text(encoding="utf-8"))) == active
    else:
        assert {path.read_text(encoding="utf-8").rpartition("---\n")[2].strip() for path in place.glob("*.md")} == active


@pytest.mark.parametrize("kind", ["memories", "entries"])
def test_what_was_acknowledged_is_in_the_files_after_any_kill(tmp_path, open_memory, worker, long, kind):
    chance = random.Random(kind)
    place = tmp_path / "files"
    place.mkdir()
    path = tmp_path / "memory.db"
    open_memory(path).mirror(place / "memories.md" if kind == "memories" else place, kind, scope=SHOP)
    acknowledged = []
    for round in range(30 if long else 5):
        process = worker("sync_for_ever", path, f"round{round}")
        acknowledged += [process.stdout.readline().rstrip("\n") for _ in range(chance.randint(1, 8))]
        process.kill()
        # Not by communicate(), which would pass over what readline() has read ahead.
        output, errors = process.stdout.read(), process.stderr.read()
        assert errors == ""
        acknowledged += [line for line in output.splitlines(keepends=True) if line.endswith("\n")]
        with open_memory(path) as memory:
            memory.list(scope=SHOP)  # the next reader repairs what was left
            kept = {one.content for one in memory.list(scope=SHOP, limit=100_000).memories}
            assert {text.rstrip("\n") for text in acknowledged} <= kept
            assert memory.list(scope=SHOP, states=[State.ARCHIVED]).total == 0
            assert memory.conflicts() == []
            assert {version for one in memory.list(scope=SHOP, limit=100_000).memories for version in [one.version]} == {1}
            check_agreement(memory, place, kind)


def test_a_file_that_is_being_saved_is_not_imported(tmp_path, open_memory):
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    for n in range(3):
        memory.remember(f"text {n}", topic=f"topic {n}", scope=SHOP)
    text = file.read_text()
    with file.open("w") as saving:
        saving.write(text[: text.index("text 1")])
        saving.flush()
        assert memory.list(scope=SHOP).total == 3
        assert memory.list(scope=SHOP, states=[State.ARCHIVED]).total == 0
        saving.write(text[text.index("text 1") :].replace("text 1", "a better text"))
    assert {one.content for one in memory.list(scope=SHOP).memories} == {"text 0", "a better text", "text 2"}
    assert memory.list(scope=SHOP, states=[State.ARCHIVED]).total == 0


@pytest.mark.parametrize("again", ["", "before the first text is back in its place", "after that, without it"])
def test_a_save_that_waits_for_the_lease_is_imported_after_the_file_was_replaced(tmp_path, open_memory, monkeypatch, again):
    """An editor opens the file just before it is replaced, and writes just after: its text is in no file of that name.

    `again`: the person saves once more, a text that was read before the first one was back in the file.
    """
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    memory.remember("before", topic="t", scope=SHOP)
    wanted = file.read_text().replace("- Content: before", "- Content: by the person")
    script = "import sys; f = open(sys.argv[1], 'w'); f.write(sys.argv[2]); f.close()"
    editors = []
    write = Directory.write

    def writing(place, name, text, seen):
        if not editors:  # it waits for the file, which we are about to replace
            editors.append(subprocess.Popen([sys.executable, "-c", script, str(file), wanted]))
            wait_for(editors[0])
        elif again and len(editors) == 1:
            editors[0].wait()
            editors.append(editors[0])
            once_more = file.read_text() + "\n## more\n- Content: and more\n"
            if again.startswith("after"):
                write(place, name, text, seen)
            file.write_text(once_more)
            if again.startswith("after"):
                return place.stat(name)
        return write(place, name, text, seen)

    monkeypatch.setattr(Directory, "write", writing)
    with pytest.warns(UserWarning, match=r"memories\.md was saved while it was replaced") if again else nullcontext():
        memory.remember("by an agent", scope=SHOP)
    found = {one.content for one in memory.list(scope=SHOP).memories}
    assert found == {"by the person", "by an agent", *(["and more"] if again else [])}
    editors[0].wait()


def wait_for(process):
    """Until it hangs in the opening of the file, which a lease keeps it from."""
    ends = time.monotonic() + 60
    while process.poll() is None and "lease" not in Path(f"/proc/{process.pid}/wchan").read_text():
        assert time.monotonic() < ends, "the editor never waited for the lease"
        time.sleep(0.01)


class Killed(BaseException):
    """The process is gone at this point."""


CRASHES = {
    "before the files were looked at": (run.SyncRun, "_compare"),
    "after they were taken in": (run.SyncRun, "_finish"),
    "before a file was written": (FileEdits, "_write"),
    "between the file and the note of it": (SyncDatabase, "record_sync"),
}


@pytest.mark.parametrize("where", CRASHES)
@pytest.mark.parametrize("kind", ["memories", "entries", "tree"])
def test_a_sync_that_is_killed_at_any_step_is_finished_by_the_next(tmp_path, open_memory, monkeypatch, kind, where):
    place = tmp_path / "files"
    place.mkdir()
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(place / "memories.md" if kind == "memories" else place, kind, scope=SHOP)
    kept = [memory.remember(f"text {n}", topic=f"topic {n}", scope=SHOP).memory for n in range(4)]
    files = {
        kept[n].number: file for n in range(4) for file in place.rglob("*.md") if f"text {n}\n" in file.read_text("utf-8")
    }
    before = files[1].read_text(encoding="utf-8")
    # A person edits one and types another, an agent changes two others.
    files[1].write_text(before.replace("text 0\n", "by the person\n"), encoding="utf-8")
    typed = place / "typed.md" if kind == "entries" else files[1]
    with typed.open("a", encoding="utf-8") as end:
        end.write(
            {"entries": "typed\n", "memories": "\n## new\n- Content: typed\n", "tree": "\n### new\n- 内容: typed\n"}[kind]
        )
    owner, name = CRASHES[where]
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, die)
        with pytest.raises(Killed):
            memory.revise(kept[1].number, scope=SHOP, content="by the agent", topic="moved")
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, die)
        with pytest.raises(Killed):
            memory.pin(kept[2].number, scope=SHOP)
    later = open_memory(tmp_path / "memory.db")
    wanted = {"by the person", "by the agent", "text 2", "text 3", "typed"}
    found = later.list(scope=SHOP, limit=100).memories
    assert {one.content for one in found} == wanted
    assert len(found) == len(wanted)
    assert later.conflicts() == []
    assert later.show(kept[2].number, scope=SHOP).pinned
    text = "\n".join(file.read_text(encoding="utf-8") for file in place.rglob("*.md"))
    assert all(text.count(f"{each}\n") == 1 for each in wanted - {"typed"})
    report = app.sync_engine(later).sync(later.mirrors()[0], whole=True)
    assert (report.imported, report.written, report.troubles) == (0, 0, ())


def die(*_: object, **__: object) -> None:
    raise Killed


def test_a_sync_state_lost_to_a_power_cut_makes_no_conflict(tmp_path, open_memory):
    """The files are newer than what the database knows of them: it finds its own texts there."""
    place = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(place, scope=SHOP)
    one = memory.remember("version 1", topic="t", scope=SHOP).memory
    meetings = rows(tmp_path / "memory.db")
    for n in (2, 3):
        memory.revise(one.number, scope=SHOP, content=f"version {n}")
    put_back(tmp_path / "memory.db", meetings)
    later = open_memory(tmp_path / "memory.db")
    later.revise(one.number, scope=SHOP, content="version 4")
    assert later.conflicts() == []
    assert later.show(one.number, scope=SHOP).version == 4
    assert "version 4" in place.read_text()


def rows(path):
    connection = apsw.Connection(str(path))
    found = {
        table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("sync_states", "file_states", "mirrors")
    }
    connection.close()
    return found


def put_back(path, tables):
    connection = apsw.Connection(str(path))
    for table, rows in tables.items():
        connection.execute(f"DELETE FROM {table}")
        for row in rows:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    connection.close()


LATE_EDITOR = """
import os, sys
old = os.open(sys.argv[1], os.O_PATH)  # the file that has the name now, not yet opened for writing
print("ready", flush=True)
text = sys.stdin.read()
with open(f"/proc/self/fd/{old}", "w", encoding="utf-8") as file:
    file.write(text)
"""


def late_editor(file):
    """An editor that has looked up the file and opens it for writing only when it is given the text to save."""
    command = [sys.executable, "-c", LATE_EDITOR, str(file)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdout.readline() == "ready\n"
    return process


MIRRORED = {"memories": ("memories.md", "memories.md"), "entries": ("", "t.md"), "tree": ("", "shop/MEMORY.md")}


@pytest.mark.parametrize("kind", MIRRORED)
@pytest.mark.parametrize("reopened", [False, True])
def test_a_text_saved_to_the_replaced_file_is_imported_and_reported(tmp_path, open_memory, kind, reopened):
    place = tmp_path / "files"
    place.mkdir()
    mirror, name = MIRRORED[kind]
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(place / mirror, kind, scope=SHOP)
    number = memory.remember("before", topic="t", scope=SHOP).memory.number
    memory.remember("untouched", topic="u", scope=SHOP)
    file = place / name
    before = file.read_text(encoding="utf-8")
    editor = late_editor(file)
    memory.revise(number, scope=SHOP, tags=["by-an-agent"])  # the file is replaced
    editor.communicate(before.replace("before\n", "by the person\n"))
    if reopened:
        memory = open_memory(tmp_path / "memory.db")
    with pytest.warns(UserWarning, match=f"{name} was saved while it was replaced.*kept as"):
        assert app.sync_engine(memory).sync(memory.mirrors()[0]).imported == 1
    found = memory.list(scope=SHOP).memories
    assert {(one.content, one.tags) for one in found} == {("by the person", ("by-an-agent",)), ("untouched", ())}
    assert "by the person\n" in file.read_text(encoding="utf-8")
    report = app.sync_engine(memory).sync(memory.mirrors()[0], whole=True)
    assert (report.imported, report.written, report.troubles) == (0, 0, ())


@pytest.mark.filterwarnings("error")
def test_a_copy_of_a_replaced_file_is_no_late_save(tmp_path, open_memory):
    place = tmp_path / "files"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(place / "memories.md", scope=SHOP)
    for text in ("one", "two", "three"):
        memory.remember(text, topic="t", scope=SHOP)
    place.rename(tmp_path / "before")
    shutil.copytree(tmp_path / "before", place)  # as `git stash --all` and `git stash pop` do
    assert list((place / ".omoide-backups" / "replaced").iterdir())
    report = app.sync_engine(memory).sync(memory.mirrors()[0], whole=True)
    assert (report.imported, report.troubles) == (0, ())
    assert memory.show(1, scope=SHOP).content == "three"
    assert [path.name for path in place.glob(".omoide-backups/memories*")] == []


def test_a_late_save_is_imported_although_an_agent_changes_its_memory_at_that_moment(tmp_path, open_memory, monkeypatch):
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    agent = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    number = memory.remember("before", topic="t", scope=SHOP).memory.number
    text = file.read_text()
    editor = late_editor(file)
    memory.revise(number, scope=SHOP, tags=["first"])  # the file is replaced
    editor.communicate(text.replace("before\n", "by the person\n"))
    agent.hooks.after_commit = lambda numbers: None  # it has no time to write the files
    import_changes = SyncDatabase.import_changes
    revisions = iter(["second", "third"])

    def with_an_agent(database, *arguments):
        for tag in revisions:
            agent.revise(number, scope=SHOP, tags=[tag])
            break
        return import_changes(database, *arguments)

    monkeypatch.setattr(SyncDatabase, "import_changes", with_an_agent)
    with pytest.warns(UserWarning, match="was saved while it was replaced: its entries were imported"):
        app.sync_engine(memory).sync(memory.mirrors()[0])
    (found,) = memory.list(scope=SHOP).memories
    assert (found.content, found.tags) == ("by the person", ("third",))
    assert "by the person\n" in file.read_text()


def test_a_replaced_file_that_an_editor_has_open_is_kept_however_long_and_whatever_follows(
    tmp_path, open_memory, monkeypatch
):
    monkeypatch.setattr(late_saves, "_GRACE_SECONDS", 0)
    monkeypatch.setattr(late_saves, "_MOST_BYTES", 1)
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    number = memory.remember("before", topic="t", scope=SHOP).memory.number
    text = file.read_text()
    old = os.open(file, os.O_PATH)
    memory.revise(number, scope=SHOP, tags=["by-an-agent"])  # the file is replaced
    with Path(f"/proc/self/fd/{old}").open("w") as editor:
        os.close(old)
        for n in range(3 * late_saves._PRUNE_AFTER):
            memory.remember(f"text {n}", scope=SHOP)
        monkeypatch.setattr(late_saves, "KEEP_SECONDS", 0)
        memory.remember("one more", scope=SHOP)
        app.sync_engine(memory).sync(memory.mirrors()[0])
        editor.write(text.replace("before\n", "by the person\n"))
    with pytest.warns(UserWarning, match="was saved while it was replaced: its entries were imported"):
        app.sync_engine(memory).sync(memory.mirrors()[0])
    assert memory.show(number, scope=SHOP).content == "by the person"
    assert len(list((tmp_path / ".omoide-backups" / "replaced").iterdir())) == 0, "all others are gone"


def test_an_editor_that_takes_long_to_save_loses_nothing_and_cuts_off_nothing(tmp_path, open_memory, monkeypatch):
    """It waits for the lease when the file is replaced, empties it, and is slow to write."""
    monkeypatch.setattr(late_saves, "_WAIT_SECONDS_REPLACED", 0.0)
    monkeypatch.setattr(late_saves, "_WAIT_SECONDS", 0.0)
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    memory.remember("before", topic="t", scope=SHOP)
    wanted = file.read_text().replace("- Content: before", "- Content: by the person")
    script = """
import sys
with open(sys.argv[1], "w") as file:
    file.write(sys.argv[2][:20])
    file.flush()
    print("half", flush=True)
    sys.stdin.readline()
    file.write(sys.argv[2][20:])
"""
    editors = []
    write = Directory.write

    def writing(place, name, text, seen):
        if not editors:
            command = [sys.executable, "-c", script, str(file), wanted]
            editors.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            wait_for(editors[0])
        return write(place, name, text, seen)

    monkeypatch.setattr(Directory, "write", writing)
    memory.remember("by an agent", scope=SHOP)
    assert editors[0].stdout.readline() == "half\n"
    assert "before" in file.read_text()
    assert {one.content for one in memory.list(scope=SHOP).memories} == {"before", "by an agent"}
    editors[0].communicate("\n")
    with pytest.warns(UserWarning, match="was saved while it was replaced: its entries were imported"):
        app.sync_engine(memory).sync(memory.mirrors()[0])
    assert {one.content for one in memory.list(scope=SHOP).memories} == {"by the person", "by an agent"}


def test_a_text_saved_to_the_replaced_file_of_a_block_is_kept_and_reported(tmp_path, open_memory):
    file = tmp_path / "files" / "CLAUDE.md"
    file.parent.mkdir()
    file.write_text("# Mine\n")
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, "block", scope=SHOP)
    editor = late_editor(file)
    memory.remember("by an agent", scope=SHOP)
    editor.communicate("# Mine\n\nby the person\n")
    with pytest.warns(UserWarning, match=r"CLAUDE\.md was saved while it was replaced.*kept as .omoide-backups/CLAUDE.md.1"):
        app.sync_engine(memory).sync(memory.mirrors()[0])
    assert (file.parent / ".omoide-backups/CLAUDE.md.1").read_text() == "# Mine\n\nby the person\n"


def test_an_entry_with_a_secret_in_a_late_save_is_refused_and_reported(tmp_path, open_memory):
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    memory.remember("before", topic="t", scope=SHOP)
    editor = late_editor(file)
    text = file.read_text()
    memory.remember("by an agent", scope=SHOP)
    editor.communicate(text + f"\n## new\n- Content: ghp_{'x1Y2' * 9}\n\n## other\n- Content: by the person\n")
    with pytest.warns(UserWarning, match=r"not all of its entries were imported \(.*secret.*kept as"):
        app.sync_engine(memory).sync(memory.mirrors()[0])
    found = {one.content for one in memory.list(scope=SHOP).memories}
    assert found == {"before", "by an agent", "by the person"}


@pytest.mark.parametrize("kind", MIRRORED)
def test_a_purged_text_is_in_no_replaced_file(tmp_path, open_memory, kind):
    place = tmp_path / "files"
    place.mkdir()
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(place / MIRRORED[kind][0], kind, scope=SHOP)
    memory.remember("stays", scope=SHOP)
    number = memory.remember("leaves no trace", scope=SHOP).memory.number
    memory.forget(number, scope=SHOP)
    memory.purge([number], scope=SHOP)
    assert "leaves no trace" not in "".join(file.read_text() for file in place.rglob("*") if file.is_file())


def test_a_late_save_is_imported_by_reading_memories_too(tmp_path, open_memory, monkeypatch):
    monkeypatch.setattr(late_saves, "_LOOK_SECONDS", 0.0)
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    memory.remember("before", topic="t", scope=SHOP)
    editor = late_editor(file)
    text = file.read_text()
    memory.remember("by an agent", scope=SHOP)
    editor.communicate(text.replace("before", "by the person"))
    with pytest.warns(UserWarning, match=r"memories\.md was saved while it was replaced"):
        found = {one.content for one in memory.list(scope=SHOP).memories}
    assert found == {"by the person", "by an agent"}


def test_a_late_save_is_imported_by_an_agent_that_only_writes(tmp_path, open_memory, monkeypatch):
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    number = memory.remember("before", topic="t", scope=SHOP).memory.number
    editor = late_editor(file)
    text = file.read_text()
    memory.remember("by an agent", scope=SHOP)
    editor.communicate(text.replace("before", "by the person"))
    for n in range(2 * late_saves._PRUNE_AFTER):  # within the same second, perhaps
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            memory.remember(f"text {n}", scope=SHOP)
    monkeypatch.setattr(late_saves.time, "monotonic", partial(add, time.monotonic(), 2 * late_saves._LOOK_SECONDS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        memory.remember("a second later", scope=SHOP)
    assert "by the person" in file.read_text()
    with memory._store.read() as tx:
        assert tx.memory(number).content == "by the person"


def test_the_losing_text_of_a_conflict_is_on_the_disk_before_its_file_is_overwritten(
    tmp_path, open_memory, clock, monkeypatch
):
    """Everything else that is imported stands in a file and would be imported again after a power cut."""
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    number = memory.remember("before", topic="t", scope=SHOP).memory.number
    file.write_text(file.read_text().replace("before", "by the person"))
    os.utime(file, (0, 0))  # the person saved it long ago, so that the database stands
    clock.step()
    durable_writes = []
    write = SqliteStore.write

    @contextmanager
    def record_write(store, *, patient=True, durable=True):
        with write(store, patient=patient, durable=durable) as tx:
            yield tx
            if any(version.memory.content == "by the person" for version in tx.versions(number)):
                durable_writes.append(durable)

    monkeypatch.setattr(SqliteStore, "write", record_write)
    memory.revise(number, scope=SHOP, content="by an agent")
    assert memory.show(number, scope=SHOP).content == "by an agent"
    assert len(memory.conflicts()) == 1
    assert durable_writes[0]


def test_an_entry_that_moves_to_another_file_is_written_there_before_it_is_removed_here(tmp_path, open_memory, monkeypatch):
    place = tmp_path / "files"
    place.mkdir()
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(place, "tree", scope=SHOP)
    number = memory.remember("moves", topic="t", scope=SHOP).memory.number
    write = FileEdits._write
    written = []

    def die_at_the_second_file(edits, name, edit, **options):
        if written:
            raise Killed
        written.append(name)
        write(edits, name, edit, **options)

    with monkeypatch.context() as patch:
        patch.setattr(FileEdits, "_write", die_at_the_second_file)
        with pytest.raises(Killed):
            memory.pin(number, scope=SHOP)
    assert written == ["shop/pinned.md"]
    assert all("moves" in (place / "shop" / name).read_text() for name in ("pinned.md", "MEMORY.md"))
    later = open_memory(tmp_path / "memory.db")
    assert [one.content for one in later.list(scope=SHOP).memories] == ["moves"]
    assert "moves" not in (place / "shop" / "MEMORY.md").read_text()


def test_a_clock_five_years_ahead_for_one_command_loses_nothing(tmp_path, open_memory, clock):
    file = tmp_path / "list" / "memories.md"
    with open_memory(tmp_path / "memory.db") as memory:
        memory.mirror(file, scope=SHOP)
        for number in range(12):
            memory.remember(f"note {number}", scope=SHOP)
        memory.remember("valid for two years", scope=SHOP, expires_at=clock() + timedelta(days=730))
    before = file.read_text(encoding="utf-8")
    clock.step(1825 * 86_400)
    memory = open_memory(tmp_path / "memory.db")
    memory.list(scope=SHOP)
    memory.remember("written in the future", scope=SHOP)
    with pytest.warns(UserWarning, match="nothing is archived automatically") as warned:
        memory.close()
    assert len(warned) == 1
    clock.step(-1825 * 86_400)
    with open_memory(tmp_path / "memory.db") as memory:
        listed = memory.list(scope=SHOP, limit=100).memories
        assert {one.content for one in listed} == {
            *(f"note {number}" for number in range(12)), "valid for two years", "written in the future",
        }  # several entries per line  # fmt: skip
        [mirror] = memory.mirrors()
        app.sync_engine(memory).sync(mirror, whole=True)
    after = file.read_text(encoding="utf-8")
    assert all(line in after for line in before.splitlines())
    assert "written in the future" in after
