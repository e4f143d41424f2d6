"""Every way in which a memory is stored follows the same rules: Python, many at once, imports and edits of files."""

import logging
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from omoide import Actor, Draft, InvalidInput, Memory, NotAllowed, Role, Scope, SecretFound, State
from omoide.guard.permissions import BoundActor
from omoide.model import derive_topic, new_id, now
from omoide.service import Service
from omoide.service.hooks import Hooks

SHOP, BANK, EVERYWHERE = Scope.project("shop"), Scope.project("bank"), Scope.everywhere()
SECRET = "the key is " + "AKIA" + "Q3EGRZ7WJ5KXT2LB"


def by_remember(memory: Service, draft: Draft, _: Path) -> None:
    memory.remember(draft)


def by_remember_many(memory: Service, draft: Draft, _: Path) -> None:
    memory.remember_many([draft])


def by_import_memories(memory: Service, draft: Draft, _: Path) -> None:
    memory.import_memories([draft])


def by_import_drafts(memory: Service, draft: Draft, _: Path) -> None:
    memory.import_drafts([draft])


def by_file(memory: Service, draft: Draft, directory: Path) -> None:
    """Type an entry into a file of a mirror that shows only what was typed into it; the next read imports it."""
    directory.mkdir(exist_ok=True)
    if draft.key is not None:
        (directory / f"{draft.key}.md").write_text(f"---\nkey: {draft.key}\n---\n\n{draft.content}", encoding="utf-8")
        memory.mirror(directory, "entries", scope=draft.scope or SHOP, choice="own")
    else:
        file = directory / "memories.md"
        title = draft.topic or derive_topic(draft.content)
        file.write_text(f"# Memories\n\n## {title}\n- Content: {draft.content}\n", encoding="utf-8")
        memory.mirror(file, "memories", scope=draft.scope or SHOP, choice="own")
    memory.list(scope=draft.scope or SHOP)


Path_ = Callable[[Service, Draft, Path], None]
CALLS: tuple[Path_, ...] = (by_remember, by_remember_many, by_import_memories, by_import_drafts)
every_path = pytest.mark.parametrize("store", [*CALLS, by_file])
every_call = pytest.mark.parametrize("store", CALLS)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "notes"


def list_memories(memory: Service, states: Iterable[State] = (State.ACTIVE,)) -> list[Memory]:
    return list(memory.list(scope=SHOP, states=list(states)).memories)


# the same memory


@every_path
def test_the_same_topic_and_type_update_the_memory(memory, directory, store):
    old = memory.remember("pnpm is used", scope=SHOP, topic="Package manager").memory
    store(memory, Draft("npm is used", SHOP, topic="package  MANAGER"), directory)
    (new,) = list_memories(memory)
    assert (new.number, new.content, new.version) == (old.number, "npm is used", 2)
    assert [event.action for event in memory.events(old.number, scope=SHOP)] == ["updated", "remembered"]


@every_path
def test_the_same_key_updates_the_memory(memory, directory, store):
    old = memory.remember("pnpm is used", scope=SHOP, key="packages").memory
    store(memory, Draft("npm is used", SHOP, key="packages"), directory)
    (new,) = list_memories(memory)
    assert (new.number, new.content, new.version) == (old.number, "npm is used", 2)


@every_path
def test_the_same_content_without_a_topic_is_the_same_memory(memory, directory, store):
    old = memory.remember("pnpm is used", scope=SHOP).memory
    store(memory, Draft("pnpm is used", SHOP), directory)
    (same,) = list_memories(memory)
    assert (same.number, same.version) == (old.number, 1)
    # What another tool still says is no new reference.
    assert same.reference_count == (0 if store is by_import_drafts else 1)


@every_path
@pytest.mark.parametrize("scope", [BANK, Scope.session("shop", "monday"), EVERYWHERE])
def test_the_same_content_in_another_scope_is_another_memory(memory, directory, store, scope):
    memory.remember("pnpm is used", scope=scope)
    store(memory, Draft("pnpm is used", SHOP), directory)
    assert sum(count for *_, count in memory.tally()) == 2


@every_path
def test_a_current_memory_is_updated_rather_than_an_archived_one(memory, directory, store):
    archived = memory.remember("pnpm is used", scope=SHOP, topic="packages").memory
    memory.archive(archived.number, scope=SHOP)
    current = memory.remember("yarn is used", scope=SHOP, topic="tools").memory
    current = memory.revise(current.number, scope=SHOP, topic="packages")
    store(memory, Draft("npm is used", SHOP, topic="packages"), directory)
    (new,) = list_memories(memory)
    assert (new.number, new.content) == (current.number, "npm is used")


# who, from which run, and by which checks


@every_call
def test_the_run_of_the_settings_is_recorded(tmp_path, open_memory, directory, store):
    memory = open_memory(tmp_path / "memory.db", run="run-7")
    store(memory, Draft("pnpm is used", SHOP), directory)
    assert [stored.source_run_id for stored in list_memories(memory)] == ["run-7"]


def test_an_edit_of_a_file_is_of_no_run_whichever_agent_reads_it(tmp_path, open_memory, directory):
    memory = open_memory(tmp_path / "memory.db", run="run-7")
    by_file(memory, Draft("pnpm is used", SHOP), directory)
    assert [stored.source_run_id for stored in list_memories(memory)] == [None]


@every_call
def test_a_run_that_the_draft_names_goes_before_that_of_the_settings(tmp_path, open_memory, directory, store):
    memory = open_memory(tmp_path / "memory.db", run="run-7")
    store(memory, Draft("pnpm is used", SHOP, source_run_id="run-1"), directory)
    assert [stored.source_run_id for stored in list_memories(memory)] == ["run-1"]


@every_call
def test_a_secret_is_refused(memory, directory, store):
    with pytest.raises(SecretFound):
        store(memory, Draft(SECRET, SHOP), directory)
    assert list_memories(memory) == []


def test_a_secret_in_a_file_is_refused(memory, directory):
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        by_file(memory, Draft(SECRET, SHOP), directory)
    assert any("seems to hold a secret" in str(warning.message) for warning in reported)
    assert list_memories(memory) == []


@every_path
def test_a_secret_is_redacted_where_the_settings_say_so(tmp_path, open_memory, directory, store):
    memory = open_memory(tmp_path / "memory.db", secrets="redact")
    store(memory, Draft(SECRET, SHOP), directory)
    (stored,) = list_memories(memory)
    assert stored.content.startswith("the key is ")
    assert SECRET.split()[-1] not in stored.content


@every_call
def test_a_field_that_breaks_a_rule_is_refused(memory, directory, store):
    with pytest.raises(InvalidInput):
        store(memory, Draft("pnpm is used", SHOP, type="no such type"), directory)
    assert list_memories(memory) == []


@every_call
def test_a_worker_writes_to_the_global_layer_only_where_the_settings_allow_it(tmp_path, open_memory, directory, store):
    worker = open_memory(tmp_path / "memory.db", actor=Actor("agent", Role.WORKER), workers_global=False)
    with pytest.raises(NotAllowed):
        store(worker, Draft("pnpm is used", EVERYWHERE), directory)
    assert worker.list(scope=EVERYWHERE).memories == []


@every_call
def test_an_actor_writes_only_within_its_bounds(tmp_path, open_memory, directory, store):
    bound = open_memory(tmp_path / "memory.db", actor=BoundActor("agent", Role.OWNER, projects=("bank",)))
    with pytest.raises(NotAllowed):
        store(bound, Draft("pnpm is used", SHOP), directory)
    assert list_memories(open_memory(tmp_path / "memory.db")) == []


def test_an_edit_of_a_file_has_the_owners_rights_in_whatever_role_it_is_read(tmp_path, open_memory, directory):
    owner = open_memory(tmp_path / "memory.db")
    by_file(owner, Draft("pnpm is used", SHOP), directory)
    worker = open_memory(tmp_path / "memory.db", actor=Actor("agent", Role.WORKER))
    file = directory / "memories.md"
    file.write_text(file.read_text(encoding="utf-8").replace("pnpm", "npm"), encoding="utf-8")
    (stored,) = list_memories(worker)
    assert stored.content == "npm is used"
    assert (stored.author.name, stored.author.role) == ("human", Role.OWNER)


# after the commit


@every_path
def test_the_embedder_is_woken(tmp_path, open_memory, directory, store):
    memory = open_memory(tmp_path / "memory.db", embedder="bundled")
    memory.remember("The cat sleeps on the window sill", scope=BANK)
    assert memory.embed_pending() == 1
    store(memory, Draft("pnpm is used", SHOP), directory)
    worker = memory._embeddings._worker
    if worker is not None:
        worker.join(30)
    assert memory.coverage().pending == 0


@pytest.fixture
def commits(memory: Service) -> list[list[int]]:
    """What the post-commit hooks of a service get."""
    seen: list[list[int]] = []
    memory._writes._hooks = Hooks(after_commit=[lambda numbers: seen.append(list(numbers))])
    return seen


@every_call
def test_a_hook_gets_the_numbers_of_what_was_stored(memory, commits, directory, store):
    store(memory, Draft("pnpm is used", SHOP), directory)
    assert commits == [[1]]


def test_a_hook_gets_every_memory_that_is_changed_or_erased(memory, commits):
    memory.remember_many([Draft("one", SHOP), Draft("two", SHOP), Draft("three", SHOP, key="three")])
    memory.revise(1, scope=SHOP, content="uno")
    memory.forget(2, scope=SHOP)
    memory.purge([2], scope=SHOP)
    memory.start_session(scope=Scope.session("shop", "monday"))
    assert commits == [[1, 2, 3], [1], [2], [2], []]


def test_no_hook_runs_for_a_transaction_that_is_rolled_back(memory, commits):
    assert memory.import_memories([Draft("one", SHOP)], dry_run=True)["added"] == 1
    assert [done.action for done in memory.import_drafts([Draft("one", SHOP)], dry_run=True)] == ["created"]
    with pytest.raises(InvalidInput):
        memory.import_memories([Draft("one", SHOP), Draft("", SHOP)])
    assert commits == []


def test_a_hook_that_fails_does_not_fail_a_verb_whose_commit_is_done(memory, caplog):
    def fail(_: object) -> None:
        raise RuntimeError("a mistake in a hook")

    seen: list[object] = []
    memory._writes._hooks = Hooks(after_commit=[fail, seen.append])
    assert memory.remember("pnpm is used", scope=SHOP).action == "created"
    assert [stored.content for stored in list_memories(memory)] == ["pnpm is used"]
    assert seen == [[1]], "the other hooks run all the same"
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "committed" in record.message
    assert "a mistake in a hook" in str(record.exc_info)
    caplog.clear()


def test_a_memory_imported_whole_keeps_its_own_run(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", run="run-7")
    theirs = open_memory(tmp_path / "theirs.db").remember("pnpm is used", scope=SHOP).memory
    memory.import_memories([theirs, msgspec.structs.replace(theirs, id=new_id(now()), content="x", source_run_id="run-1")])
    assert {stored.source_run_id for stored in list_memories(memory)} == {None, "run-1"}
