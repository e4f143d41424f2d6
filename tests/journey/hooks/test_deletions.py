"""An entry that a person deletes from a file while an agent is running: a hook sees it first, and the person is told."""

import re
import subprocess
import sys

import pytest

from omoide import Actor, Role, State, app
from omoide.settings import load_settings
from omoide.sync.engine import SyncEngine

COMMAND = [sys.executable, "-c", "from omoide.interfaces.start import main; main()"]
UNDO = r"the entry of #(\d+) was deleted, so it is archived: `omoide restore \1` undoes it"


@pytest.fixture
def list_file(repository, memory, shop):
    """The list of the repository, with three entries."""
    file = repository / "メモ" / "memories.md"
    file.parent.mkdir()
    with memory() as service:
        service.mirror(file, scope=shop)
        for topic in ("eins", "二つ目", "drei"):
            service.remember(f"text of {topic}", topic=topic, scope=shop)
    return file


@pytest.fixture
def command(environment, repository):
    """Runs a command of a person, and returns what it says on standard error."""

    def run(*arguments):
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=repository, env=environment, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stderr

    return run


def delete_entry(file, *topics):
    text = file.read_text(encoding="utf-8")
    for topic in topics:
        text, count = re.subn(rf"(?m)^## {topic}\n(?:(?!## ).*\n?)*", "", text)
        assert count == 1
    file.write_text(text, encoding="utf-8")


def open_unseen(environment):
    """A service whose reports nobody sees, such as that of a server."""
    settings = load_settings({"store": environment["OMOIDE_STORE"]})
    return app.open_service(settings, Actor("agent", Role.OWNER, "mcp"), report=lambda _: None, is_seen=False)


def archived_numbers(environment, shop):
    """The memories that are archived, by topic."""
    with open_unseen(environment) as service:
        return {one.topic: one.number for one in service.list(scope=shop, states=[State.ARCHIVED], limit=100).memories}


def is_archived(environment, topic):
    """Whether the memory with this topic is archived in the database, whatever the files say by now."""
    with open_unseen(environment) as service, service._store.read() as tx:
        return next(one.state for one in tx.everything() if one.topic == topic) is State.ARCHIVED


def test_a_deletion_that_a_hook_imports_is_reported_by_the_next_command_and_only_by_that(
    list_file, hook, started, environment, command
):
    delete_entry(list_file, "二つ目")
    answer = hook(started)
    assert (answer.code, answer.err) == (0, b"")
    assert is_archived(environment, "二つ目"), "the hook has imported it"
    first = command("list")
    found = re.findall(UNDO, first)
    assert len(found) == 1
    assert str(list_file) in first
    assert "deleted" not in command("list")
    command("restore", found[0])
    assert "text of 二つ目" in list_file.read_text(encoding="utf-8")


def test_deletions_that_hooks_and_servers_import_are_reported_together_without_what_was_undone(
    list_file, hook, started, environment, command, shop
):
    delete_entry(list_file, "eins")
    hook(started)
    delete_entry(list_file, "drei")
    numbers = archived_numbers(environment, shop)
    assert set(numbers) == {"eins", "drei"}
    with open_unseen(environment) as service:
        service.restore(numbers["eins"], scope=shop)
    assert re.findall(UNDO, command("recall", "text")) == [str(numbers["drei"])]


def test_a_text_as_before_the_last_write_is_doubted_also_when_a_hook_imports_it(
    list_file, hook, started, environment, memory, command, shop
):
    buffer = list_file.read_bytes()
    with memory() as service:
        service.remember("最新の決定", scope=shop)
    list_file.write_bytes(buffer)
    hook(started)
    assert is_archived(environment, "最新の決定")
    said = command("list")
    assert re.search(UNDO + re.escape(" (the file is as it was before that entry: was an old text saved again?)"), said)


def test_a_deletion_whose_importer_is_killed_before_it_reports_is_reported_by_the_next(
    list_file, memory, command, shop, monkeypatch
):
    class Killed(BaseException):
        pass

    def die(engine):
        raise Killed

    delete_entry(list_file, "eins")
    with memory() as service:
        service.mirrors()
        monkeypatch.setattr(SyncEngine, "report_deletions", die)
        with pytest.raises(Killed):
            app.sync_engine(service).sync(service.mirrors()[0])
    assert len(re.findall(UNDO, command("list"))) == 1
    assert "deleted" not in command("list")


def test_more_deletions_than_a_person_reads_are_one_line_with_one_command(list_file, environment, command, memory, shop):
    with memory() as service:
        for number in range(30):
            service.remember(f"text {number}", topic=f"topic {number}", scope=shop)
    for start in (0, 6):
        delete_entry(list_file, *(f"topic {number}" for number in range(start, start + 6)))
        archived_numbers(environment, shop)
    numbers = archived_numbers(environment, shop).values()
    assert len(numbers) == 12
    (line,) = [line for line in command("list").splitlines() if "deleted" in line]
    undo = re.search(r"12 entries were deleted, so their memories are archived: `omoide (restore [\d ]+)` undoes it", line)[
        1
    ]
    command(*undo.split())
    assert archived_numbers(environment, shop) == {}


def test_an_entry_that_is_deleted_twice_is_reported_twice_by_one_process(list_file, memory, shop):
    with memory() as service:
        for _ in range(2):
            delete_entry(list_file, "eins")
            with pytest.warns(UserWarning, match=UNDO):
                (one,) = service.list(scope=shop, states=[State.ARCHIVED]).memories
            service.restore(one.number, scope=shop)
