"""Every field of a memory, carried through every output and input. What carries which field is read from the table."""

import msgspec
import pytest

from omoide import Scope
from omoide.markdown.file_per_memory import FilePerMemory
from omoide.model import fields

SHOP = Scope.project("shop")
CONTENT = "認証は JWT\nを採用"
FULL = {
    "key": "api-auth",
    "type": "decision",
    "topic": "API auth",
    "content": CONTENT,
    "tags": ("api", "B b"),
    "examples": ("x = [1,\n2]", '"'),
    "source": "https://example.org/adr",
    "pinned": True,
}
"""A value other than the default for each field of an entry."""
OTHER = {
    "key": "auth",
    "type": "warning",
    "topic": "tokens",
    "content": "tokens last 15 minutes",
    "tags": ("token",),
    "examples": ("y = 2",),
    "source": "the wiki",
    "pinned": False,
}


def test_the_values_of_these_tests_cover_every_field_of_an_entry():
    assert set(FULL) == set(OTHER) == set(fields.ENTRY)
    assert all(FULL[name] != OTHER[name] for name in fields.ENTRY)


@pytest.fixture
def directory(memory, tmp_path):
    (tmp_path / "notes").mkdir()
    memory.mirror(tmp_path / "notes", "entries", scope=SHOP)
    return tmp_path / "notes"


@pytest.mark.parametrize("take", ["file", "database"])
def test_resolving_a_conflict_takes_every_field_of_the_side_that_is_picked(memory, directory, clock, take):
    old = memory.remember("before", topic="t", source="me", key="k", scope=SHOP).memory
    clock.step(60)
    with memory._store.write() as tx:  # another process, which dies before it has written the file
        memory._writes.within(tx, clock.now).change(old, msgspec.structs.replace(old, **OTHER), "revised")
    entry = msgspec.structs.replace(old, **FULL, topic_given=True)
    text = FilePerMemory().rewrite("k.md", None, {entry.id: entry}, (), {})
    (directory / "k.md").write_text(text, encoding="utf-8", newline="")
    memory.list(scope=SHOP)
    assert len(memory.conflicts()) == 1
    picked = memory.resolve(old.number, take, scope=SHOP)
    wanted = FULL if take == "file" else OTHER
    assert {name: getattr(picked, name) for name in fields.ENTRY} == wanted
