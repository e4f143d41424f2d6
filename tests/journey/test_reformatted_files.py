"""Mirrored files that a formatter or an agent has rewritten: the memories stay as they are, and so does the file."""

import warnings

import pytest

from omoide import Scope, State, app
from pure.reformatting_examples import CONTENTS, REFORMATTED, WRITTEN, A, B, C

SHOP = Scope.project("shop")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "memories.md"


@pytest.fixture
def mirrored(memory, file):
    """A list that omoide wrote, in sync."""
    file.write_text(WRITTEN, encoding="utf-8")
    memory.mirror(file, scope=SHOP)
    stored_memories(memory)
    return memory


def stored_memories(memory):
    """Everything that is stored, in every state, as a person would compare it."""
    found = memory.list(scope=SHOP, states=list(State), limit=1000).memories
    return {one.id: (one.content, one.topic, one.topic_given, one.type, one.tags, one.state, one.version) for one in found}


def write(file, text):
    file.write_bytes(text.encode())


@pytest.mark.parametrize("name", REFORMATTED)
def test_a_reformatted_file_changes_nothing_and_is_left_as_it_is(name, mirrored, file):
    before = stored_memories(mirrored)
    assert {id: content for id, (content, *_) in before.items()} == CONTENTS
    write(file, REFORMATTED[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stored_memories(mirrored) == before
        [mirror] = mirrored.mirrors()
        report = app.sync_engine(mirrored).sync(mirror, whole=True)
    assert (report.imported, report.written, report.troubles) == (0, 0, ())
    assert file.read_bytes() == REFORMATTED[name].encode()
    assert stored_memories(mirrored) == before


@pytest.mark.parametrize("name", ["prettier", "headings with an underline", "an agent's list of items"])
def test_a_new_memory_is_added_to_a_reformatted_file_and_the_rest_stays(name, mirrored, file):
    before = stored_memories(mirrored)
    write(file, REFORMATTED[name])
    new = mirrored.remember("新しい記憶", scope=SHOP).memory
    assert file.read_text(encoding="utf-8").startswith(REFORMATTED[name])
    after = stored_memories(mirrored)
    assert after.pop(new.id)[0] == "新しい記憶"
    assert after == before


@pytest.mark.parametrize("name", ["prettier", "markdownlint", "an agent's list of items", "texts that are not indented"])
def test_an_edit_of_a_reformatted_file_is_imported_without_the_formatting(name, mirrored, file):
    write(file, REFORMATTED[name].replace("2. look", "2. stare").replace("2) look", "2) stare"))
    content = stored_memories(mirrored)[B][0]
    changed = [(old, new) for old, new in zip(CONTENTS[B].split("\n"), content.split("\n"), strict=True) if old != new]
    assert len(changed) == 1
    assert "stare at the" in changed[0][1]
    assert stored_memories(mirrored)[A][0] == CONTENTS[A]


def test_both_sides_changed_and_the_file_was_reformatted_is_no_conflict(mirrored, file):
    write(file, REFORMATTED["prettier"])
    mirrored.revise(B, scope=SHOP, content="Ship on Mondays")
    assert stored_memories(mirrored)[B][0] == "Ship on Mondays"
    assert "- Content: Ship on Mondays\n" in file.read_text(encoding="utf-8")
    assert mirrored.conflicts(scope=SHOP) == []
    assert stored_memories(mirrored)[C][0] == CONTENTS[C]


def test_an_entry_that_cannot_be_read_is_reported_once_with_its_line_and_left_alone(mirrored, file):
    before = stored_memories(mirrored)
    third = f"## {CONTENTS[C][:50]}...\n{WRITTEN.rpartition('...')[2].lstrip()}"
    text = f"# Memories\n\n- **Try-catch** (id: {A}): Always use try-catch\n- Deploying, see {B}\n\n{third}"
    write(file, text)
    with pytest.warns(UserWarning, match="cannot be read") as warned:
        assert stored_memories(mirrored) == before
    [message] = [str(one.message) for one in warned]
    assert f"{file}, line 4: the entry of #2 cannot be read and was left alone" in message, "the first one has its text"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mirrored.remember("another", scope=SHOP)
        assert {id: one for id, one in stored_memories(mirrored).items() if id in before} == before
    assert file.read_text(encoding="utf-8").startswith(text)
