"""Every field of a memory, at a value that is not its default, through every output and input.

Which fields an output carries is read from the table of fields, so that a field which was added there fails here until it
is carried.
"""

import json
import sys
from datetime import UTC, datetime

import msgspec
import pytest

import omoide
from omoide import Actor, Draft, InvalidInput, Memory, Role, Scope, State
from omoide.interfaces.cli.remember import remember_command
from omoide.interfaces.cli.revise import revise_command
from omoide.interfaces.mcp.schemas import MemoryResult
from omoide.interfaces.mcp.tools.admin import AmendInput, NoteInput
from omoide.interfaces.mcp.tools.default import RememberInput, ReviseInput
from omoide.lifecycle.deduplication import merge
from omoide.markdown import pages, record
from omoide.markdown.file_per_memory import FilePerMemory
from omoide.markdown.format import Entry
from omoide.markdown.project_tree import ProjectTree
from omoide.markdown.single_file import SingleFile
from omoide.model import fields
from omoide.sync.database import FileChange
from omoide.transfer.import_ import import_file
from omoide.transfer.selection import TransferSelection

SHOP = Scope.project("shop")
MONDAY = Scope.session("shop", "monday")
FULL = Memory(
    id="019c2d5e-0000-7000-8000-000000000001",
    number=7,
    scope=MONDAY,
    key="api-auth",
    type="decision",
    topic="API auth",
    topic_given=True,
    content="認証は JWT\nを採用",
    tags=("api", "B b"),
    examples=("x = [1,\n2]", '"'),
    source="https://example.org/adr",
    confidence=0.25,
    relevance=0.75,
    reference_count=3,
    pinned=True,
    state=State.ARCHIVED,
    created_at=datetime(2026, 1, 2, 3, 4, 5, 6, UTC),
    updated_at=datetime(2026, 1, 3, 3, 4, 5, 6, UTC),
    last_accessed_at=datetime(2026, 1, 4, 3, 4, 5, 6, UTC),
    expires_at=datetime(2031, 1, 1, tzinfo=UTC),
    version=4,
    source_run_id="ci/42",
    author=Actor("agent-7", Role.WORKER, "cli"),
    original_prompt="「認証は JWT」\nと覚えて",
)
OTHER = {
    "scope": SHOP,
    "key": "auth",
    "type": "warning",
    "topic": "tokens",
    "content": "tokens last 15 minutes",
    "tags": ("token",),
    "examples": ("y = 2",),
    "source": "the wiki",
    "source_run_id": "ci/43",
    "confidence": 0.5,
    "relevance": 0.125,
    "pinned": False,
    "original_prompt": "remember: tokens",
    "state": State.ACTIVE,
    "created_at": datetime(2025, 1, 2, tzinfo=UTC),
    "expires_at": datetime(2032, 1, 1, tzinfo=UTC),
}
"""Another value for each field that somebody can set."""
RECORD = {**record.memory(FULL), "topic_given": True}


def values(memory, names):
    return {name: getattr(memory, name) for name in names}


def only(memory):
    """The one memory of a store, without counting that as use."""
    ((one, _),) = memory.everything()
    return one


def as_json(value):
    return json.loads(msgspec.json.encode(value))


@pytest.fixture
def jsonl(place):
    file = place / "full.jsonl"
    file.write_text(json.dumps(as_json({**RECORD, "links": []}), ensure_ascii=False) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def full(run, jsonl):
    """The command line on a store that holds FULL alone."""
    assert run("import", str(jsonl), "--json").data["added"] == 1
    return run


@pytest.fixture
def request_once(omoide):
    """Sends one request to an MCP server that is started for it."""

    def request_once(method, **params):
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        return omoide("mcp", "--tools", "all", input=json.dumps(message).encode() + b"\n").data["result"]

    return request_once


@pytest.fixture
def call(request_once):
    """Calls one tool, which succeeds."""

    def call(tool, **arguments):
        result = request_once("tools/call", name=tool, arguments=arguments)
        assert not result["isError"], result["content"]
        return result["structuredContent"]

    return call


# the values of this page


def test_the_values_here_cover_every_field_and_are_not_the_default(memory):
    plain = memory.remember("x", scope=Scope.everywhere()).memory
    assert [name for name in fields.NAMES if getattr(FULL, name) == getattr(plain, name)] == []
    assert set(OTHER) == {*fields.DRAFT, *fields.REVISABLE, *fields.FROM_FILES}
    assert [name for name, value in OTHER.items() if value == getattr(FULL, name)] == []


# files of one's own


@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_an_export_and_its_import_carry_every_field(full, place, form):
    first, second, other = place / f"first.{form}", place / f"second.{form}", str(place / "other.db")
    assert full("export", "--output", str(first)).code == 0
    assert full("import", str(first), "--store", other, "--json").data["added"] == 1
    with omoide.open(other) as memory:
        assert values(only(memory), fields.NAMES) == values(FULL, fields.NAMES)
    full("export", "--output", str(second), "--store", other)
    assert second.read_bytes() == first.read_bytes()


def test_an_export_writes_every_key_of_every_field(full):
    keys = [key for field in fields.FIELDS for key in field.record_keys]
    (written,) = full("export", "--json").data["memories"]
    assert list(written) == [*keys, "links"]
    assert {key: written[key] for key in keys} == as_json(RECORD)


def test_a_record_without_an_id_gives_every_field_of_a_draft(memory, tmp_path):
    kept = {key: RECORD[key] for name in fields.DRAFT for key in fields.get(name).record_keys}
    file = tmp_path / "drafts.jsonl"
    file.write_bytes(msgspec.json.encode(kept))
    with file.open("rb") as opened:
        import_file(
            memory, opened, "jsonl", name="it", here=SHOP, chosen=TransferSelection(), dry_run=False, tick=lambda _: None
        )
    assert values(only(memory), fields.DRAFT) == values(FULL, fields.DRAFT)


def test_a_backup_of_a_project_carries_every_field(full, place):
    assert full("project", "backup", "--output", str(place / "backups")).code == 0
    (file,) = (place / "backups").rglob("*.jsonl")
    assert full("import", str(file), "--store", str(place / "other.db"), "--json").data["added"] == 1
    with omoide.open(place / "other.db") as memory:
        assert only(memory) == FULL


def test_a_backup_of_the_store_carries_every_field(full, place):
    assert full("backup", str(place / "copy.db")).code == 0
    with omoide.open(place / "copy.db") as memory:
        assert only(memory) == FULL


# what is shown


def test_show_prints_every_field_that_is_shown(full):
    shown = [key for field in fields.FIELDS if field.shown for key in field.record_keys]
    printed = full("show", "7", "--json").data
    assert {key: printed[key] for key in shown} == {key: as_json(RECORD)[key] for key in shown}


def test_show_prints_every_field_for_people(full):
    printed = full("show", "7").out
    shown = {
        **as_json(RECORD),
        "scope": str(MONDAY),
        "by": "agent-7, worker",
        "number": "#7",
        "pinned": "pinned",
        "version": "(version 4)",
        **{field.name: getattr(FULL, field.name).date() for field in fields.FIELDS if field.kind == "moment"},
        "state": "archived",
    }
    del shown["by_role"], shown["topic_given"]  # beside the author; whether there is a topic at all
    missing = [
        key
        for key, value in shown.items()
        for text in (value if isinstance(value, list) else [value])
        for line in str(text).split("\n")
        if line not in printed
    ]
    assert missing == []


@pytest.mark.parametrize("command", [["recall", "JWT"], ["list"]], ids=lambda command: command[0])
def test_a_command_that_lists_memories_gives_every_field_that_is_shown(full, command):
    full("restore", "7")
    shown = full("show", "7", "--json").data
    (listed,) = full(*command, "--json").data["memories"]
    del shown["links"], shown["last_accessed_at"]
    assert {key: listed[key] for key in shown} == shown
    assert "last_accessed_at" in listed


def test_a_tool_that_shows_a_memory_gives_every_field_that_is_shown(full, call):
    shown = [key for field in fields.FIELDS if field.shown for key in field.record_keys]
    given = call("show", id="7")["memory"]
    assert {key: given[key] for key in shown} == {key: as_json(RECORD)[key] for key in shown}


def test_the_short_form_of_a_tool_is_right_in_what_it_carries(full, call):
    (given,) = call("list", state="archived")["memories"]
    same = set(MemoryResult.__struct_fields__) & set(fields.NAMES) - {"created_at"}
    assert {name: given[name] for name in same} == as_json(values(FULL, same))
    assert given["created_at"] == int(FULL.created_at.timestamp())
    assert (given["by"], given["by_role"], given["layer"]) == ("agent-7", "worker", "session")


def test_a_document_shows_what_the_memory_says_and_how_sure_it_is():
    page = pages.render_document(FULL.type, [FULL])
    for text in (FULL.topic, FULL.content, *FULL.tags, *FULL.examples, "agent-7, worker", "References: 3", "0.25"):
        assert text in page


# versions


def test_a_past_version_carries_every_field_of_a_version(full, place):
    with omoide.open(place / "memory.db") as memory:
        memory.restore(7, scope=MONDAY)
        memory.revise(7, scope=MONDAY, **{name: OTHER[name] for name in fields.REVISABLE})
        first = memory.history(7, scope=MONDAY)[0].memory
        present = only(memory)
    versioned = fields.names(lambda field: field.versioned)
    assert values(first, versioned) == values(FULL, versioned)
    assert first.version == FULL.version
    unversioned = set(fields.UNVERSIONED) - {"version", "last_accessed_at"}
    assert values(first, unversioned) == values(present, unversioned)


def test_history_names_every_field_that_changed(full, place):
    with omoide.open(place / "memory.db") as memory:
        memory.revise(7, scope=MONDAY, **{name: OTHER[name] for name in fields.REVISABLE})
        assert set(memory.events(7, scope=MONDAY)[0].detail["fields"]) == set(fields.REVISABLE)
    (_, last) = full("history", "7", "--json").data["versions"]
    assert set(last["changed"]) == set(fields.REVISABLE)


# changing


def test_remember_takes_every_field_of_a_draft(memory):
    kept = memory.remember(**values(FULL, fields.DRAFT)).memory
    assert values(kept, fields.DRAFT) == values(FULL, fields.DRAFT)
    assert values(only(memory), fields.DRAFT) == values(FULL, fields.DRAFT)


def test_remembering_again_changes_what_the_table_says_and_nothing_else(memory):
    drafted = values(FULL, fields.DRAFT)
    first = memory.remember(Draft(**drafted)).memory
    again = memory.remember(Draft(**{**drafted, **{name: OTHER[name] for name in fields.UPDATES}})).memory
    assert (again.number, again.version) == (first.number, 2)
    assert values(again, fields.UPDATES) == {name: OTHER[name] for name in fields.UPDATES}
    others = set(fields.DRAFT) - set(fields.UPDATES)
    assert values(again, others) == values(first, others)


@pytest.mark.parametrize("name", fields.REVISABLE)
def test_revise_sets_and_clears_each_field_that_is_revisable(memory, name):
    memory.remember(Draft(**values(FULL, fields.DRAFT)))
    revised = memory.revise(1, scope=MONDAY, **{name: OTHER[name]})
    assert getattr(revised, name) == OTHER[name]
    if fields.get(name).optional:
        cleared = memory.revise(1, scope=MONDAY, **{name: None})
        assert not cleared.topic_given if name == "topic" else getattr(cleared, name) is None
    else:
        with pytest.raises(InvalidInput):
            memory.revise(1, scope=MONDAY, **{name: object()})


@pytest.mark.parametrize(
    "name", ["colour", *(name for name in fields.NAMES if name not in (*fields.REVISABLE, "scope", "pinned"))]
)
def test_revise_refuses_a_field_that_it_may_not_set(memory, name):
    memory.remember("x", scope=SHOP)
    with pytest.raises(TypeError, match=name):
        memory.revise(1, scope=SHOP, **{name: "x"})


@pytest.mark.parametrize("name", ["active", "pinned", "fixed_relevance"])
def test_revise_takes_only_true_or_false_for_a_switch(memory, name):
    before = memory.remember("x", scope=SHOP).memory
    with pytest.raises(InvalidInput, match=name):
        memory.revise(1, scope=SHOP, **{name: "x"})
    assert memory.show(1, scope=SHOP) == before


def test_the_author_is_who_changed_what_a_memory_says(memory, open_memory, tmp_path):
    for name in fields.REVISABLE:
        number = memory.remember(f"about {name}", scope=SHOP).memory.number
        other = open_memory(tmp_path / "memory.db", actor=Actor("another"))
        revised = other.revise(number, scope=SHOP, **{name: OTHER[name]})
        assert (revised.author.name == "another") is fields.get(name).authored, name
        other.revise(number, scope=SHOP, key=None)


def test_near_duplicates_merge_as_the_table_says():
    other = msgspec.structs.replace(FULL, number=8, reference_count=5, **{**OTHER, "pinned": True})
    into = msgspec.structs.replace(FULL, pinned=False)
    merged = merge(into, [other])
    assert {name for name in fields.NAMES if getattr(merged, name) != getattr(into, name)} == {
        field.name for field in fields.FIELDS if field.merge != "own" and field.name != "relevance"
    }
    assert merged.content == OTHER["content"]
    assert merged.tags == (*FULL.tags, *OTHER["tags"])
    assert merged.examples == (*FULL.examples, *OTHER["examples"])
    assert (merged.confidence, merged.relevance, merged.reference_count, merged.pinned) == (0.375, 0.75, 8, True)
    assert (merged.created_at, merged.expires_at) == (OTHER["created_at"], OTHER["expires_at"])
    assert merge(into, [msgspec.structs.replace(other, expires_at=None)]).expires_at is None


# files of mirrors


@pytest.mark.parametrize("form", [FilePerMemory(), ProjectTree("shop"), SingleFile()], ids=lambda form: form.name)
def test_the_entry_of_a_file_carries_what_its_format_carries(form):
    name = form.file_for(FULL, lambda _: False)
    text = form.rewrite(name, None, {FULL.id: FULL}, (), {})
    (found,) = form.parse(name, text)
    assert found.entry == form.expected_entry(FULL)
    exact = [name for name in form.carries if name != "created_at"]
    assert values(found.entry, exact) == values(FULL, exact)
    assert found.entry.created_at.date() == FULL.created_at.date()
    silent = [name for name in fields.ENTRY if name not in form.carries]
    assert values(found.entry, silent) == values(Entry(""), silent)


def test_front_matter_has_every_field_that_the_table_puts_there():
    form = FilePerMemory()
    text = form.rewrite("k.md", None, {FULL.id: FULL}, (), {})
    head = text.split("---\n")[1]
    assert [line.partition(":")[0] for line in head.splitlines() if line[0] not in " -"] == sorted(
        fields.FRONT_MATTER, key=lambda name: name != "key"
    )


def test_an_entry_has_every_field_that_a_file_may_set():
    # a state and a scope by the place of the file, what is a person's own, and what a formatter may have moved below it
    beside = {"archived", "session", "extra", "below"}
    assert set(Entry.__struct_fields__) - beside == {*fields.ENTRY, *fields.STAMPED}


@pytest.fixture
def directory(memory, tmp_path):
    (tmp_path / "notes").mkdir()
    memory.mirror(tmp_path / "notes", "entries", scope=SHOP)
    return tmp_path / "notes"


def write_entry(directory, file, memory):
    text = FilePerMemory().rewrite(file, None, {memory.id: memory}, (), {})
    (directory / file).write_text(text, encoding="utf-8", newline="")


def test_an_edited_file_sets_every_field_of_its_entry(memory, directory):
    old = memory.remember("before", topic="t", source="me", key="k", scope=SHOP).memory
    write_entry(directory, "k.md", msgspec.structs.replace(old, **values(FULL, fields.ENTRY)))
    assert values(memory.show(old.number, scope=SHOP), fields.ENTRY) == values(FULL, fields.ENTRY)


def test_a_new_file_gives_every_field_of_its_entry(memory, directory):
    write_entry(directory, "k.md", FULL)
    assert values(only(memory), [*fields.ENTRY, "id", "created_at"]) == values(FULL, [*fields.ENTRY, "id", "created_at"])


@pytest.mark.parametrize("take", ["file", "database"])
def test_resolving_a_conflict_takes_every_field_of_the_side_that_is_picked(memory, directory, clock, take):
    old = memory.remember("before", topic="t", source="me", key="k", scope=SHOP).memory
    clock.step(60)
    changed = {name: OTHER[name] for name in fields.ENTRY}
    with memory._store.write() as tx:  # another process, which dies before it has written the file
        memory._writes.within(tx, clock.now).change(old, msgspec.structs.replace(old, **changed), "revised")
    write_entry(directory, "k.md", msgspec.structs.replace(old, **values(FULL, fields.ENTRY)))
    memory.list(scope=SHOP)
    assert len(memory.conflicts()) == 1
    picked = memory.resolve(old.number, take, scope=SHOP)
    assert values(picked, fields.ENTRY) == (values(FULL, fields.ENTRY) if take == "file" else changed)


@pytest.mark.parametrize("name", fields.ENTRY)
def test_a_field_that_a_file_changes_is_merged_with_all_others_that_the_database_changes(memory, directory, clock, name):
    draft = Draft(**{**values(FULL, fields.DRAFT), "scope": SHOP})
    old = memory.remember(draft).memory
    clock.step(60)
    theirs = {other: OTHER[other] for other in fields.ENTRY if other != name}
    with memory._store.write() as tx:  # another process, which dies before it has written the file
        memory._writes.within(tx, clock.now).change(old, msgspec.structs.replace(old, **theirs), "revised")
    (file,) = directory.glob("*.md")
    write_entry(directory, file.name, msgspec.structs.replace(old, **{name: OTHER[name]}))
    merged = memory.show(old.number, scope=SHOP)
    assert values(merged, fields.ENTRY) == {each: OTHER[each] for each in fields.ENTRY}
    assert memory.conflicts() == []


@pytest.mark.parametrize("name", ["colour", *(name for name in fields.NAMES if name not in fields.FROM_FILES)])
def test_a_file_sets_no_field_that_the_table_does_not_give_it(memory, directory, name):
    kept = memory.remember("x", scope=SHOP).memory
    mirror = memory.mirrors()[0]
    database = omoide.app.sync_engine(memory)._database
    change = FileChange(Entry("y"), "k.md", kept.number, kept.version, {name: "y"})
    (result,) = database.import_changes(mirror, [change], [], [])
    assert result.memory is None
    assert name in result.refused
    assert only(memory) == kept


# interfaces that spell the names out


def options(command):
    names = {"type_": "type", "tag": "tags", "example": "examples", "expires": "expires_at", "pin": "pinned"}
    return {names.get(option.name, option.name) for option in command.params}


def test_the_command_line_can_set_every_field():
    beside = {"created_at", "scope"}  # for imports, by --project and --session
    assert set(fields.DRAFT) - beside <= options(remember_command)
    assert set(fields.REVISABLE) <= options(revise_command)


FLAGS = {"tags": "--tags", "examples": "--example", "expires_at": "--expires", "source_run_id": "--run"}


def flags(names):
    """The options that give the values of OTHER."""
    for name in names:
        for value in OTHER[name] if isinstance(OTHER[name], tuple) else [OTHER[name]]:
            yield FLAGS.get(name, f"--{name.replace('_', '-')}")
            yield value.isoformat() if isinstance(value, datetime) else str(value)


def test_the_command_line_stores_every_field(run, place):
    given = set(fields.DRAFT) - {"content", "scope", "created_at", "pinned"}
    assert run("remember", OTHER["content"], *flags(given), "--pin").code == 0
    with omoide.open(place / "memory.db") as memory:
        kept = only(memory)
    assert values(kept, given) == {name: OTHER[name] for name in given}
    assert (kept.content, kept.scope, kept.pinned) == (OTHER["content"], SHOP, True)


def test_the_command_line_changes_every_field(full, place):
    changed = set(fields.REVISABLE) - {"content"}
    assert full("revise", "7", OTHER["content"], *flags(changed)).code == 0
    with omoide.open(place / "memory.db") as memory:
        assert values(only(memory), fields.REVISABLE) == {name: OTHER[name] for name in fields.REVISABLE}


def test_an_editor_changes_every_field(full, place, monkeypatch):
    """The editor finds the fields above the text, and replaces them all."""
    changed = {name: OTHER[name] for name in fields.REVISABLE if name != "content"}
    text = f"---\n{msgspec.json.encode(changed).decode()}\n---\n\n{OTHER['content']}\n"
    script = place / "editor.py"
    script.write_text(f"import pathlib, sys\npathlib.Path(sys.argv[1]).write_text({text!r})\n", encoding="utf-8")
    monkeypatch.setenv("VISUAL", f"'{sys.executable}' '{script}'")
    done = full("edit", "7")
    assert done.code == 0, done.err
    with omoide.open(place / "memory.db") as memory:
        assert values(only(memory), fields.REVISABLE) == {name: OTHER[name] for name in fields.REVISABLE}


def arguments(names):
    """The arguments of tools that give the values of OTHER."""
    return as_json({name: OTHER[name] for name in names})


def test_the_tools_store_every_field(call, place):
    given = set(fields.DRAFT) - {"scope", "created_at", "pinned"}
    call("remember_many", memories=[{**arguments(given), "pin": True}])
    with omoide.open(place / "memory.db") as memory:
        kept = only(memory)
    assert values(kept, given) == {name: OTHER[name] for name in given}
    assert (kept.scope, kept.pinned) == (SHOP, True)


def test_the_tools_change_every_field(full, call, place):
    for tool, inputs in (("revise", ReviseInput), ("amend", AmendInput)):
        call(tool, id="7", **arguments(set(fields.REVISABLE) & set(inputs.__struct_fields__)))
    with omoide.open(place / "memory.db") as memory:
        assert values(only(memory), fields.REVISABLE) == {name: OTHER[name] for name in fields.REVISABLE}


@pytest.mark.usefixtures("full")
def test_a_resource_shows_what_the_memory_says(request_once):
    text = request_once("resources/read", uri=f"omoide://memory/{FULL.id}")["contents"][0]["text"]
    for shown in (FULL.topic, FULL.content, *FULL.tags, *FULL.examples, FULL.type, FULL.key, "agent-7, worker", FULL.source):
        assert shown in text


def test_the_tools_can_set_every_field():
    revising = {*ReviseInput.__struct_fields__, *AmendInput.__struct_fields__}
    assert set(fields.REVISABLE) <= revising
    assert revising & set(fields.NAMES) <= {*fields.REVISABLE, "id"}
    for tool in (RememberInput, NoteInput):
        assert set(tool.__struct_fields__) & set(fields.NAMES) <= set(fields.DRAFT)
