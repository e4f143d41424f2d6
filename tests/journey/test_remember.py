"""What remembering, forgetting and purging promise, through the public door."""

import subprocess
import sys
from datetime import timedelta

import msgspec
import pytest

import omoide
from omoide import Actor, Conflict, Draft, InvalidInput, NotAllowed, NotFound, Query, Role, Scope, SecretFound, State
from omoide.storage.sqlite.store import SqliteStore

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
MONDAY = Scope.session("shop", "monday")


def contents(memory, scope=SHOP, **filters):
    return [kept.content for kept in memory.list(scope=scope, limit=1000, **filters).memories]


# the same again


def test_the_same_key_in_a_scope_updates(memory):
    first = memory.remember("use pnpm", scope=SHOP, key="packages")
    second = memory.remember("use bun", scope=SHOP, key="packages")
    assert (first.action, second.action) == ("created", "updated")
    assert second.memory.id == first.memory.id
    assert (second.memory.reference_count, second.memory.version) == (1, 2)
    assert contents(memory) == ["use bun"]
    assert [version.memory.content for version in memory.history("packages", scope=SHOP)] == ["use pnpm", "use bun"]


def test_the_same_key_in_another_scope_is_another_memory(memory):
    for scope in (SHOP, BANK, MONDAY, Scope.everywhere()):
        assert memory.remember("x", scope=scope, key="k").action == "created"


def test_the_same_topic_and_type_in_a_scope_update(memory):
    memory.remember("JWT", scope=SHOP, topic="API auth", type="decision")
    again = memory.remember("sessions", scope=SHOP, topic="ＡＰＩ  Auth", type="decision")
    assert (again.action, again.memory.reference_count) == ("updated", 1)
    assert memory.remember("x", scope=SHOP, topic="API auth", type="tech").action == "created"
    assert memory.remember("x", scope=BANK, topic="API auth", type="decision").action == "created"
    assert memory.remember("x", scope=MONDAY, topic="API auth", type="decision").action == "created"


@pytest.mark.parametrize("named", [{"key": "k"}, {"topic": "t"}, {}])
def test_the_same_content_again_changes_nothing_but_the_count(memory, clock, named):
    first = memory.remember("use pnpm", scope=SHOP, tags=["js"], **named).memory
    clock.step()
    again = memory.remember("use pnpm", scope=SHOP, **named)
    assert again.action == "unchanged"
    assert again.memory == msgspec.structs.replace(first, reference_count=1)
    assert memory.show(first.number, scope=SHOP) == again.memory
    assert len(memory.history(first.number, scope=SHOP)) == 1


def test_fields_left_out_when_remembering_again_stay(memory):
    memory.remember(
        "one", scope=SHOP, key="k", type="decision", topic="t", tags=["a"], examples=["e"], source="s", confidence=0.5,
        relevance=0.25, pinned=True, source_run_id="7",
    )  # several entries per line  # fmt: skip
    again = memory.remember("two", scope=SHOP, key="k").memory
    assert (again.content, again.type, again.topic, again.tags, again.examples) == (
        "two",
        "decision",
        "t",
        ("a",),
        ("e",),
    )
    assert (again.source, again.confidence, again.relevance, again.pinned) == ("s", 0.5, 0.25, True)
    assert again.source_run_id == "7"


def test_a_derived_topic_never_matches_another_memory(memory):
    opening = "We decided in the meeting of the architecture board that "
    memory.remember(opening + "services talk over HTTP", scope=SHOP)
    assert memory.remember(opening + "the database is PostgreSQL", scope=SHOP).action == "created"
    derived = memory.list(scope=SHOP).memories[0].topic
    assert memory.remember("a third thing", scope=SHOP, topic=derived).action == "created"
    assert len(contents(memory)) == 3


def test_a_given_key_matches_by_key_alone(memory):
    memory.remember("one", scope=SHOP, key="a", topic="same topic")
    assert memory.remember("two", scope=SHOP, key="b", topic="same topic").action == "created"
    memory.remember("same content", scope=SHOP)
    assert memory.remember("same content", scope=SHOP, key="c").action == "created"
    assert len(contents(memory)) == 4


def test_a_key_is_one_however_its_accents_are_encoded(memory):
    memory.remember("one", scope=SHOP, key="cafe\u0301")
    assert memory.remember("two", scope=SHOP, key="caf\u00e9").action == "updated"
    assert memory.show("cafe\u0301", scope=SHOP).content == "two"


def test_remembering_again_restores_archived_and_expired_memories(memory, clock):
    memory.remember("archived zebra", scope=SHOP, key="a")
    memory.archive("a", scope=SHOP)
    memory.remember("expiring zebra", scope=SHOP, key="e", expires_at=clock() + timedelta(seconds=5))
    clock.step(10)
    assert contents(memory) == []
    memory.remember("archived zebra", scope=SHOP, key="a")
    memory.remember("expiring zebra", scope=SHOP, key="e")
    assert {hit.memory.key for hit in memory.recall("zebra", scope=SHOP).hits} == {"a", "e"}


def test_remembering_a_forgotten_text_makes_a_new_memory(memory):
    old = memory.remember("zebra", scope=SHOP, key="k").memory
    memory.forget("k", scope=SHOP)
    new = memory.remember("zebra", scope=SHOP, key="k")
    assert (new.action, new.memory.number > old.number) == ("created", True)
    with pytest.raises(Conflict, match="'k' is taken"):
        memory.restore(old.number, scope=SHOP)


def test_many_drafts_are_stored_together_or_not_at_all(memory):
    drafts = [Draft("one", SHOP), Draft("two", BANK), Draft("\ud800", SHOP)]
    with pytest.raises(InvalidInput, match="draft 3"):
        memory.remember_many(drafts)
    assert contents(memory) == []
    done = memory.remember_many([*drafts[:2], Draft("one", SHOP), Draft("a", SHOP, key="k"), Draft("b", SHOP, key="k")])
    assert [answer.action for answer in done] == ["created", "created", "unchanged", "created", "updated"]
    assert [answer.memory.content for answer in done] == ["one", "two", "one", "a", "b"]


# what a caller calls it


def test_a_memory_is_found_by_id_number_and_key(memory):
    kept = memory.remember("x", scope=SHOP, key="k").memory
    for ref in (kept.id, kept.id.upper(), kept.number, str(kept.number), f"#{kept.number}", "k"):
        assert memory.show(ref, scope=MONDAY) == kept


def test_a_key_of_digits_is_found_although_another_project_has_that_number(memory):
    other = memory.remember("theirs", scope=BANK).memory
    memory.remember("mine", scope=SHOP, key=str(other.number))
    assert memory.show(str(other.number), scope=SHOP).content == "mine"


@pytest.mark.parametrize("ref", ["", "nothing", "\ud800", "\0", "0", 99, "#", "x" * 10_000, "../..", "9" * 30])
def test_an_unknown_reference_raises_not_found(memory, ref):
    memory.remember("x", scope=SHOP)
    with pytest.raises(NotFound, match="there is no memory"):
        memory.show(ref, scope=SHOP)


def test_another_projects_memory_gives_the_same_error_as_a_missing_one(memory):
    theirs = memory.remember("x", scope=BANK, key="k").memory
    for verb in (memory.show, memory.forget, memory.restore, memory.pin, memory.history, memory.archive, memory.links):
        for ref in (theirs.id, theirs.number, "k"):
            with pytest.raises(NotFound, match="there is no memory"):
                verb(ref, scope=SHOP)
    with pytest.raises(NotFound):
        memory.revise(theirs.id, scope=SHOP, content="y")
    memory.forget("k", scope=BANK)
    with pytest.raises(NotFound):
        memory.purge([theirs.id], scope=SHOP)


def test_links_to_other_projects_are_not_shown(memory):
    shared = memory.remember("shared", scope=Scope.everywhere()).memory
    theirs = memory.remember("theirs", scope=BANK).memory
    memory.link(theirs.id, "relates", shared.id, scope=BANK)
    assert [link.source for link in memory.links(shared.id, scope=BANK)] == [theirs.id]
    assert memory.links(shared.id, scope=SHOP) == []


def test_a_tag_matches_ignoring_case_and_width(memory):
    memory.remember("x", scope=SHOP, tags=["Café"])
    assert contents(memory, tags=["CAFE\u0301"]) == ["x"]
    with pytest.raises(InvalidInput, match="surrogate"):
        memory.recall("x", scope=SHOP, tags=["\ud800"])


# changing


def test_versions_stay_in_order_when_the_clock_goes_backwards(memory, clock):
    kept = memory.remember("v1", scope=SHOP, key="k").memory
    for content in ("v2", "v3"):
        clock.step(-3600)
        memory.revise("k", scope=SHOP, content=content)
    clock.step(-3600)
    memory.remember("v4", scope=SHOP, key="k")
    history = memory.history("k", scope=SHOP)
    times = [version.memory.updated_at for version in history]
    assert [version.memory.content for version in history] == ["v1", "v2", "v3", "v4"]
    assert [version.memory.version for version in history] == [1, 2, 3, 4]
    assert times == sorted(set(times))
    assert memory.show("k", scope=SHOP).created_at == kept.created_at


def test_a_revision_of_an_outdated_version_is_refused(memory):
    memory.remember("one", scope=SHOP, key="k")
    memory.revise("k", scope=SHOP, content="two", if_version=1)
    with pytest.raises(Conflict, match="at version 2, not 1"):
        memory.revise("k", scope=SHOP, content="three", if_version=1)
    assert contents(memory) == ["two"]


def test_a_derived_topic_follows_the_content_and_a_given_one_stays(memory):
    memory.remember("first", scope=SHOP, key="derived")
    memory.remember("first", scope=SHOP, key="given", topic="given")
    assert memory.revise("derived", scope=SHOP, content="second").topic == "second"
    assert memory.revise("given", scope=SHOP, content="second").topic == "given"
    assert memory.revise("given", scope=SHOP, topic=None).topic == "second"


def test_forgetting_takes_it_out_of_every_search_and_restoring_brings_it_back(memory):
    kept = memory.remember("zebra", scope=SHOP, tags=["striped"]).memory
    memory.forget(kept.id, scope=SHOP)
    assert memory.recall("zebra", scope=SHOP).hits == []
    assert memory.recall("zebra", scope=SHOP, states=[State.ACTIVE, State.ARCHIVED, State.INACTIVE]).hits == []
    assert contents(memory) == []
    with pytest.raises(Conflict, match="forgotten: restore it first"):
        memory.revise(kept.id, scope=SHOP, content="y")
    memory.restore(kept.id, scope=SHOP)
    assert [hit.memory.id for hit in memory.recall("zebra", scope=SHOP).hits] == [kept.id]
    assert memory.show(kept.id, scope=SHOP).tags == ("striped",)


def test_a_promoted_memory_is_seen_from_the_wider_scope(memory):
    kept = memory.remember("zebra", scope=MONDAY).memory
    assert memory.promote(kept.id, scope=SHOP).scope == SHOP
    assert memory.recall("zebra", scope=BANK).hits == []
    assert memory.promote(kept.id, scope=SHOP).scope == Scope.everywhere()
    assert [hit.memory.id for hit in memory.recall("zebra", scope=BANK).hits] == [kept.id]
    with pytest.raises(InvalidInput, match="wider"):
        memory.promote(kept.id, scope=SHOP)


def test_every_action_is_logged_with_its_actor_and_without_text(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", actor=Actor("bob", via="test"))
    memory.remember("zebra", scope=SHOP, key="gnu", topic="giraffe", tags=["okapi"])
    memory.revise("gnu", scope=SHOP, content="zebra two", tags=["okapi", "yak"])
    memory.forget("gnu", scope=SHOP)
    memory.restore(1, scope=SHOP)
    events = memory.events(scope=SHOP)
    assert [event.action for event in events] == ["restored", "forgotten", "revised", "remembered"]
    assert {event.actor for event in events} == {Actor("bob", via="test")}
    text = msgspec.json.encode(events).decode()
    assert not any(word in text for word in ("zebra", "giraffe", "okapi", "yak", "gnu"))


# who may


@pytest.mark.parametrize(
    ("role", "refused"),
    [
        (Role.WORKER, {"forget", "restore", "archive", "promote", "purge", "repair", "import_memories"}),
        (Role.ADMIN, {"purge", "repair"}),
        (Role.OWNER, set()),
    ],
)
def test_a_role_may_do_what_the_table_says_and_nothing_more(tmp_path, open_memory, role, refused):
    memory = open_memory(tmp_path / "memory.db", actor=Actor("someone", role))
    owner = open_memory(tmp_path / "memory.db")
    verbs = {
        "remember": lambda ref: memory.remember("new", scope=SHOP),
        "recall": lambda ref: memory.recall("zebra", scope=SHOP),
        "revise": lambda ref: memory.revise(ref, scope=SHOP, content="newer"),
        "pin": lambda ref: memory.pin(ref, scope=SHOP),
        "forget": lambda ref: memory.forget(ref, scope=SHOP),
        "restore": lambda ref: memory.restore(ref, scope=SHOP),
        "archive": lambda ref: memory.archive(ref, scope=SHOP),
        "promote": lambda ref: memory.promote(ref, scope=SHOP),
        "import_memories": lambda ref: memory.import_memories([]),
        "repair": lambda ref: memory.repair(),
        "purge": lambda ref: memory.purge([owner.forget(ref, scope=SHOP).number], scope=SHOP),
    }
    for name, verb in verbs.items():
        ref = owner.remember(f"zebra {name}", scope=SHOP).memory.number
        if name in refused:
            with pytest.raises(NotAllowed, match=f"someone is a {role}, and only"):
                verb(ref)
            assert owner.show(ref, scope=SHOP).content == f"zebra {name}"
        else:
            verb(ref)


# secrets


def test_a_secret_is_refused_or_redacted_before_anything_is_stored(tmp_path, open_memory):
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC3dE6"
    path = tmp_path / "memory.db"
    memory = open_memory(path)
    for draft in (
        Draft(token, SHOP),
        Draft("x", SHOP, topic=token),
        Draft("x", SHOP, tags=[token]),
        Draft("x", SHOP, examples=[token]),
        Draft("x", SHOP, source=token),
        Draft("x", SHOP, source_run_id=token),
    ):
        with pytest.raises(SecretFound, match="GitHub token") as refusal:
            memory.remember(draft)
        assert token not in str(refusal.value)
    redacting = open_memory(path, secrets="redact")
    kept = redacting.remember(f"the token is {token}.", scope=SHOP).memory
    assert kept.content == "the token is [redacted: GitHub token]."
    redacting.import_memories([msgspec.structs.replace(kept, id="0" * 36, number=9, content=f"imported {token}")])
    assert contents(redacting)[0] == "imported [redacted: GitHub token]"
    assert remains(tmp_path, [token]) == {}


# purging


SHOW = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())"


def remains(directory, words):
    """Where the words still stand in the raw bytes of the directory's files, in any case."""
    found = {}
    for file in directory.rglob("*"):
        if file.is_file():
            # By another process: one that closes a file loses its locks on it, and with them the database that it has open.
            raw = subprocess.run([sys.executable, "-c", SHOW, file], check=True, capture_output=True).stdout.lower()
            held = [word for word in words if word.lower().encode() in raw]
            if held:
                found[file.name] = held
    return found


RARE = [
    "Quixotrabbit",
    "Zanzibarsnail",
    "Wombatlantern",
    "Xylobananas",
    "Velvetmarmot",
    "Pumicetoucan",
    "Gherkinyodel",
    "Teapotnarwhal",
]


def purgeable(memory):
    """A memory with a rare word in every field and every version; its neighbours share its pages and its index."""
    content, topic, tag, example, past, key, source, ran = RARE
    before = [memory.remember(f"neighbour {n} before", scope=SHOP, topic=f"topic {n}").memory for n in range(30)]
    kept = memory.remember(
        f"{past} once", scope=SHOP, topic=topic, tags=[tag], examples=[example], key=key, source=source,
        source_run_id=ran,
    ).memory  # several entries per line  # fmt: skip
    memory.revise(kept.id, scope=SHOP, content=f"{content} " + "and more " * 2000)
    memory.revise(kept.id, scope=SHOP, content=f"{content} at last")
    memory.recall(content, scope=SHOP)
    memory.remember_many(Draft(f"neighbour {n} after", SHOP) for n in range(30))
    memory.link(kept.id, "relates", before[0].id, scope=SHOP)
    return kept


def test_a_purge_leaves_no_byte_of_the_memory_anywhere(tmp_path, memory):
    kept = purgeable(memory)
    assert set().union(*remains(tmp_path, RARE).values()) == set(RARE)  # the search of the bytes does find them
    memory.forget(kept.id, scope=SHOP)
    assert memory.purge([kept.id], scope=SHOP).purged == 1
    assert remains(tmp_path, RARE) == {}
    assert memory.check() == []
    assert len(contents(memory)) == 60
    with pytest.raises(NotFound):
        memory.restore(kept.id, scope=SHOP)
    memory.close()
    assert remains(tmp_path, RARE) == {}


def test_the_only_memory_is_purged_from_the_index_too(tmp_path, memory):
    kept = memory.remember("Quixotrabbit Zanzibarsnail", scope=SHOP).memory
    memory.forget(kept.id, scope=SHOP)
    memory.purge([kept.id], scope=SHOP)
    assert remains(tmp_path, RARE) == {}


@pytest.mark.parametrize("times", [1, 20])
def test_a_purge_after_many_changes_of_state_leaves_nothing_in_the_index(tmp_path, memory, times):
    kept = memory.remember("Quixotrabbit", scope=MONDAY, tags=["Wombatlantern"]).memory
    for _ in range(times):
        memory.archive(kept.id, scope=MONDAY)
        memory.restore(kept.id, scope=MONDAY)
    memory.promote(kept.id, scope=MONDAY)
    memory.forget(kept.id, scope=MONDAY)
    memory.purge([kept.id], scope=MONDAY)
    assert remains(tmp_path, RARE) == {}


READER = """
import sys, omoide
with omoide.open(sys.argv[1]) as memory:
    scope = omoide.Scope.project("shop")
    print(len(memory.recall("Quixotrabbit", scope=scope).hits), flush=True)
    sys.stdin.readline()
    print(len(memory.recall("Quixotrabbit", scope=scope).hits), flush=True)
    sys.stdin.readline()
"""


def test_a_purge_leaves_no_byte_while_another_process_has_the_memory_open(tmp_path, memory):
    kept = purgeable(memory)
    arguments = [sys.executable, "-c", READER, str(tmp_path / "memory.db")]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout.readline() == "1\n"
        memory.forget(kept.id, scope=SHOP)
        memory.purge([kept.id], scope=SHOP)
        assert remains(tmp_path, RARE) == {}
        print(file=reader.stdin, flush=True)
        assert reader.stdout.readline() == "0\n"
        assert remains(tmp_path, RARE) == {}
        print(file=reader.stdin, flush=True)
        assert reader.wait() == 0
    assert memory.check() == []


def test_a_purge_says_when_an_open_reader_keeps_old_pages(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", wait=0.05)
    kept = memory.remember("Quixotrabbit", scope=SHOP).memory
    memory.forget(kept.id, scope=SHOP)
    other = SqliteStore(tmp_path / "memory.db")
    with other.read() as tx:
        tx.memory(kept.number)
        with pytest.raises(omoide.StoreError, match="it is erased, but another process"):
            memory.purge([kept.id], scope=SHOP)
    other.close()
    memory.purge([], scope=SHOP)
    assert remains(tmp_path, RARE) == {}


def test_only_forgotten_memories_are_purged_all_or_none(memory):
    living, forgotten = (memory.remember(name, scope=SHOP).memory for name in ("living", "forgotten"))
    memory.forget(forgotten.id, scope=SHOP)
    with pytest.raises(Conflict, match="forget it first"):
        memory.purge([forgotten.id, living.id], scope=SHOP)
    assert memory.restore(forgotten.id, scope=SHOP).content == "forgotten"


def test_a_purged_number_is_never_reused(memory):
    kept = memory.remember("x", scope=SHOP).memory
    memory.forget(kept.id, scope=SHOP)
    memory.purge([kept.id], scope=SHOP)
    assert memory.remember("y", scope=SHOP).memory.number > kept.number
    memory.import_memories([kept])
    assert memory.show(kept.id, scope=SHOP).number > kept.number


def test_a_forgotten_memory_is_restored_by_its_key(memory):
    kept = memory.remember("JWT を採用", key="api-auth", scope=SHOP).memory
    memory.forget("api-auth", scope=SHOP)
    assert memory.restore("api-auth", scope=SHOP).number == kept.number
    assert [hit.memory.number for hit in memory.recall("JWT", scope=SHOP).hits] == [kept.number]


def test_a_key_means_the_living_memory_before_a_forgotten_one(memory):
    old = memory.remember("sessions in cookies", key="api-auth", scope=SHOP).memory
    memory.forget(old.number, scope=SHOP)
    new = memory.remember("JWT を採用", key="api-auth", scope=SHOP).memory
    assert memory.show("api-auth", scope=SHOP).number == new.number != old.number


def test_values_beside_a_whole_draft_or_query_are_refused_and_not_ignored(memory):
    with pytest.raises(InvalidInput, match="scope, tags cannot be given beside a Draft: set them in it"):
        memory.remember(Draft("one", SHOP), scope=BANK, tags=["x"])
    with pytest.raises(InvalidInput, match="limit, states cannot be given beside a Query"):
        memory.recall(Query(SHOP, "one"), limit=3, states=(State.ARCHIVED,))
    assert contents(memory, BANK) == []
    assert memory.remember(Draft("one", SHOP)).action == "created"
    assert len(memory.recall(Query(SHOP, "one")).hits) == 1
