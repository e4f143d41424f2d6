"""A person saves a mirrored file while a sync is under way: what was saved last is in the file and in the database."""

import os
from functools import partial

import pytest

from omoide import Scope, State, app
from omoide.sync.file_edits import FileEdits

SHOP = Scope.project("shop")
KINDS = {"memories": "memories.md", "tree": "shop/MEMORY.md", "entries": "x.md"}


@pytest.fixture(params=KINDS)
def three_entries(request, tmp_path, open_memory):
    """A service with a mirror that has three entries, and the file that has the first of them."""
    place = tmp_path / "files"
    place.mkdir()
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(place / "memories.md" if request.param == "memories" else place, request.param, scope=SHOP)
    for topic, content in (("x", "as it was"), ("y", "untouched"), ("z", "とても大切")):
        memory.remember(content, topic=topic, scope=SHOP)
    return memory, place / KINDS[request.param]


@pytest.fixture
def five_entries(tmp_path, open_memory):
    """A service with a list of five entries, and its file."""
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    for number in range(1, 6):
        memory.remember(f"text {number}", topic=f"topic {number}", scope=SHOP)
    return memory, file


def save(file, old, new):
    """Save a file as most editors do: a new file in place of the old one."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    beside = file.with_name(".saved")
    beside.write_text(text.replace(old, new), encoding="utf-8")
    beside.rename(file)


@pytest.fixture
def while_writing(monkeypatch):
    """Lets somebody act after a sync has compared both sides and imported what is new, and before it writes the files."""

    def interrupt(*actions):
        waiting = list(actions)
        write = FileEdits.write

        def writing(edits, *arguments, **options):
            if waiting:
                waiting.pop(0)()
            return write(edits, *arguments, **options)

        monkeypatch.setattr(FileEdits, "write", writing)

    return interrupt


def contents(memory):
    return {one.content for one in memory.list(scope=SHOP).memories}


def history(memory, number):
    return [version.memory.content for version in memory.history(number, scope=SHOP)]


def test_an_entry_that_is_edited_again_before_the_file_is_written_is_imported_again(three_entries, while_writing):
    memory, file = three_entries
    save(file, "as it was\n", "typed first\n")
    while_writing(partial(save, file, "typed first\n", "typed second\n"))
    memory.revise(2, scope=SHOP, content="by an agent")
    assert contents(memory) == {"typed second", "by an agent", "とても大切"}
    assert "typed second\n" in file.read_text(encoding="utf-8")
    assert memory.conflicts() == []


def test_an_agent_that_revises_an_entry_which_was_edited_twice_overwrites_neither_text(three_entries, while_writing):
    memory, file = three_entries
    save(file, "as it was\n", "typed first\n")
    while_writing(partial(save, file, "typed first\n", "typed second\n"))
    memory.revise(2, scope=SHOP, content="by an agent")
    memory.revise(1, scope=SHOP, content="by another agent")
    assert {"typed first", "typed second", "by another agent"} < set(history(memory, 1))


def test_an_entry_that_both_sides_changed_and_that_is_edited_again_keeps_both_changes(three_entries, while_writing):
    memory, file = three_entries
    save(file, "as it was\n", "typed first\n")
    while_writing(partial(save, file, "typed first\n", "typed second\n"))
    memory.revise(1, scope=SHOP, tags=["agent"])
    found = memory.show(1, scope=SHOP)
    assert (found.content, found.tags) == ("typed second", ("agent",))
    assert "typed second\n" in file.read_text(encoding="utf-8")
    assert "typed first" in history(memory, 1)
    assert memory.conflicts() == []


def test_a_text_that_is_typed_after_an_agents_text_has_won_is_imported(three_entries, while_writing):
    memory, file = three_entries
    save(file, "as it was\n", "typed first\n")
    os.utime(file, (0, 0))  # saved long ago: the agent's text is newer
    while_writing(partial(save, file, "typed first\n", "typed second\n"))
    memory.revise(1, scope=SHOP, content="by an agent")
    memory.list(scope=SHOP)
    assert history(memory, 1)[:3] == ["as it was", "by an agent", "typed first"]
    assert memory.show(1, scope=SHOP).content == "typed second"
    assert "typed second\n" in file.read_text(encoding="utf-8")


def test_an_entry_that_is_back_with_a_new_text_after_its_deletion_was_imported_is_not_removed(five_entries, while_writing):
    memory, file = five_entries
    with_it = file.read_text(encoding="utf-8")
    entry = with_it[with_it.index("## topic 3") : with_it.index("## topic 4")]
    save(file, entry, "")
    while_writing(partial(file.write_text, with_it.replace("text 3\n", "typed again\n"), encoding="utf-8"))
    memory.revise(1, scope=SHOP, content="by an agent")
    assert "typed again\n" in file.read_text(encoding="utf-8")
    assert contents(memory) == {"by an agent", "text 2", "typed again", "text 4", "text 5"}
    assert memory.show(3, scope=SHOP).state is State.ACTIVE


def test_an_edited_entry_that_is_deleted_before_the_file_is_written_is_in_both_or_in_none(five_entries, while_writing):
    memory, file = five_entries
    text = file.read_text(encoding="utf-8")
    entry = text[text.index("## topic 3") : text.index("## topic 4")]
    save(file, "text 3\n", "typed\n")
    while_writing(partial(file.write_text, text.replace(entry, ""), encoding="utf-8"))
    memory.revise(1, scope=SHOP, content="by an agent")
    assert contents(memory) == {"by an agent", "text 2", "typed", "text 4", "text 5"}
    assert "typed\n" in file.read_text(encoding="utf-8")


def test_a_new_entry_that_is_typed_further_before_it_has_its_id_loses_nothing(tmp_path, open_memory, while_writing):
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    memory.remember("by an agent", topic="t", scope=SHOP)
    save(file, "- Content: by an agent\n", "- Content: by an agent\n\n## new\n- Content: 途中まで\n")
    while_writing(partial(save, file, "途中まで\n", "最後まで書いた\n"))
    memory.list(scope=SHOP)
    found = contents(memory)
    assert {"by an agent", "最後まで書いた"} <= found
    assert set(file.read_text(encoding="utf-8").splitlines()) >= {f"- Content: {one}" for one in found}


def test_a_file_that_is_saved_again_and_again_is_in_sync_after_the_next_command(three_entries, while_writing):
    memory, file = three_entries
    save(file, "as it was\n", "typed 0\n")
    while_writing(*(partial(save, file, f"typed {n}\n", f"typed {n + 1}\n") for n in range(5)))
    memory.revise(1, scope=SHOP, tags=["agent"])
    for _ in range(2):
        memory.list(scope=SHOP)
    assert memory.show(1, scope=SHOP).content == "typed 5"
    assert "typed 5\n" in file.read_text(encoding="utf-8")
    report = app.sync_engine(memory).sync(memory.mirrors()[0], whole=True)
    assert (report.imported, report.written, report.troubles) == (0, 0, ())


@pytest.mark.parametrize("state", ["forget", "archive"])
def test_a_title_that_is_typed_while_an_agent_retires_its_memory_is_in_the_history(tmp_path, open_memory, state):
    file = tmp_path / "memories.md"
    memory = open_memory(tmp_path / "memory.db")
    memory.mirror(file, scope=SHOP)
    for topic in ("x", "y"):
        memory.remember(f"text of {topic}", topic=topic, scope=SHOP)
    agent = open_memory(tmp_path / "memory.db")
    agent.hooks.before_read = lambda scope: None  # it has decided before the person typed
    save(file, "## x\n", "## 新しい題名\n")
    getattr(agent, state)(1, scope=SHOP)
    assert contents(memory) == {"text of y"}
    assert "text of x" not in file.read_text(encoding="utf-8")
    assert "新しい題名" in [version.memory.topic for version in memory.history(1, scope=SHOP)]
    assert [conflict.memory.number for conflict in memory.conflicts()] == [1]
    report = app.sync_engine(memory).sync(memory.mirrors()[0], whole=True)
    assert (report.imported, report.written, report.troubles) == (0, 0, ())
