"""What another tool keeps is taken over once, and never against what became of it here."""

import msgspec
import pytest

from omoide import Draft, InvalidInput, Scope

SHOP = Scope.project("shop")


def draft(content="pnpm", key="build", **fields):
    return Draft(content, SHOP, **{"topic": "The build", "type": "tech", "key": key, **fields})


def actions(done):
    return [one.action for one in done]


def state_of(memory):
    return msgspec.json.encode([one for one, _ in memory.everything()]), memory.latest_event()


def test_a_second_import_changes_nothing(memory):
    drafts = [draft(), draft("JWT", "auth", tags=["api"])]
    assert actions(memory.import_drafts(drafts)) == ["created", "created"]
    before = state_of(memory)
    assert actions(memory.import_drafts(drafts)) == ["unchanged", "unchanged"]
    assert state_of(memory) == before


@pytest.mark.parametrize("fields", [{"content": "npm"}, {"topic": "Building"}, {"type": "context"}, {"tags": ["new"]}])
def test_a_changed_text_of_the_other_tool_is_a_new_version(memory, fields):
    memory.import_drafts([draft()])
    (done,) = memory.import_drafts([draft(**fields)])
    assert (done.action, done.memory.version) == ("updated", 2)


def test_revised_archived_or_forgotten_memories_stay_so(memory):
    memory.import_drafts([draft(key=key) for key in ("revised", "archived", "forgotten")])
    memory.revise("revised", scope=SHOP, content="ours")
    memory.archive("archived", scope=SHOP)
    memory.forget("forgotten", scope=SHOP)
    before = state_of(memory)
    assert (
        actions(memory.import_drafts([draft(key=key) for key in ("revised", "archived", "forgotten")])) == ["unchanged"] * 3
    )
    assert state_of(memory) == before


def test_a_text_without_key_is_recognised_in_any_state(memory):
    drafts = [Draft(text, SHOP, type="context", tags=["list"]) for text in ("one", "two", "three")]
    drafts += [Draft("text of a section", SHOP, topic="Section", type="context")]
    assert actions(memory.import_drafts(drafts)) == ["created"] * 4
    memory.revise(1, scope=SHOP, content="one, revised")
    memory.forget(2, scope=SHOP)
    memory.revise(4, scope=SHOP, content="a better section")
    before = state_of(memory)
    assert actions(memory.import_drafts(drafts)) == ["unchanged"] * 4
    assert state_of(memory) == before
    assert actions(memory.import_drafts([Draft("one", Scope.everywhere(), type="context")])) == ["created"]
    newer = memory.import_drafts([Draft("the section again", SHOP, topic="Section", type="context")])
    assert [(one.action, one.memory.number) for one in newer] == [("updated", 4)]


def test_a_new_text_is_imported_whatever_became_of_the_old_one(memory):
    memory.import_drafts([draft(key=key) for key in ("revised", "archived", "forgotten")])
    memory.revise("revised", scope=SHOP, content="ours")
    memory.archive("archived", scope=SHOP)
    memory.forget("forgotten", scope=SHOP)
    done = memory.import_drafts([draft("new", key) for key in ("revised", "archived", "forgotten")])
    assert actions(done) == ["updated", "updated", "created"]
    assert {memory.show(key, scope=SHOP).content for key in ("revised", "archived", "forgotten")} == {"new"}
    said = [version.memory.content for version in memory.history("revised", scope=SHOP)]
    assert said == ["pnpm", "ours", "new"]


def test_a_dry_run_answers_the_same_and_stores_nothing(memory):
    before = state_of(memory)
    assert actions(memory.import_drafts([draft(), draft("JWT", "auth")], dry_run=True)) == ["created", "created"]
    assert state_of(memory) == before


def test_an_invalid_draft_stores_nothing_and_its_position_is_reported(memory):
    seen = []
    with pytest.raises(InvalidInput, match="empty"):
        memory.import_drafts([draft(), draft(" ", "blank"), draft("c", "c")], watch=seen.append)
    assert seen[-1] == 1
    assert memory.list(scope=SHOP).total == 0


def test_a_redacted_text_is_recognised_on_the_next_import(tmp_path, open_memory):
    memory = open_memory(tmp_path / "redacting.db", secrets="redact")
    drafts = [draft("token ghp_" + "a1B2" * 9)]
    assert actions(memory.import_drafts(drafts)) == ["created"]
    assert actions(memory.import_drafts(drafts)) == ["unchanged"]
