"""Near twins become one: from Python and the command line, with the old database kept."""

import gzip
from datetime import timedelta
from pathlib import Path

import pytest

from omoide import LinkKind, Scope, State
from omoide.model import now

SHOP = Scope.project("shop")


def test_near_duplicates_are_merged_with_all_facts_and_both_histories(memory):
    one = memory.remember("The API uses port 8080 for local work", scope=SHOP, tags=["api"], confidence=0.8).memory
    two = memory.remember("The API uses the port 8080 for local work", scope=SHOP, tags=["port"], confidence=0.4).memory
    memory.remember("The API uses the port 8080 for local work", scope=SHOP)  # again: its count grows
    done = memory.reindex()
    assert (done.merged, done.dropped) == (1, 0)
    kept = memory.show(two.number, scope=SHOP)
    assert (kept.content, sorted(kept.tags), kept.reference_count) == (two.content, ["api", "port"], 1)
    assert kept.confidence == 0.6
    gone = memory.show(one.number, scope=SHOP)
    assert gone.state is State.ARCHIVED
    (link,) = memory.links(two.number, scope=SHOP)
    assert (link.source, link.kind, link.target) == (two.id, LinkKind.DERIVED_FROM, one.id)
    assert [version.memory.content for version in memory.history(one.number, scope=SHOP)] == [one.content] * 2
    assert next(event.action for event in memory.events(two.number, scope=SHOP)) == "merged"
    assert [hit.memory.number for hit in memory.recall("API port", scope=SHOP).hits] == [two.number]


def test_references_during_a_merge_are_counted(memory):
    one = memory.remember("The API uses port 8080 for local work", scope=SHOP).memory
    two = memory.remember("The API uses the port 8080 for local work", scope=SHOP).memory

    def watch(step, more, _):
        if step == "indexing" and more:
            for each in (one, two):
                memory.remember(each.content, scope=SHOP)

    assert memory.reindex(watch=watch).merged == 1
    assert memory.show(one.number, scope=SHOP).reference_count == 2


def test_references_are_not_counted_twice_by_the_next_merge(memory):
    one, two = "The API uses port 8080 for local work", "The API uses the port 8080 for local work"
    counts = []
    for _ in range(4):
        for text in (one, two):
            memory.remember(text, scope=SHOP)
        memory.reindex()
        (kept,) = memory.list(scope=SHOP).memories
        assert kept.number == 1
        counts.append(kept.reference_count)
    assert counts == [0, 1, 3, 5]  # the first telling of a text counts nothing, and merged under another it was new again


def test_changes_during_a_merge_stay(memory):
    one = memory.remember("The API uses port 8080 for local work", scope=SHOP).memory
    two = memory.remember("The API uses the port 8080 for local work", scope=SHOP).memory
    gone = memory.remember("zebra", scope=SHOP).memory
    memory.forget(gone.number, scope=SHOP)

    def watch(step, more, _):
        if step == "indexing" and more:
            memory.revise(two.number, scope=SHOP, content="The API uses port 9090 for local work")
            memory.restore(gone.number, scope=SHOP)

    done = memory.reindex(watch=watch)
    assert (done.merged, done.dropped) == (0, 0)
    assert [memory.show(each.number, scope=SHOP).state for each in (one, two, gone)] == [State.ACTIVE] * 3
    assert memory.recall("9090", scope=SHOP).hits[0].memory.number == two.number
    assert memory.recall("zebra", scope=SHOP).hits[0].memory.number == gone.number


def test_texts_differing_in_a_number_scope_or_type_are_not_merged(memory):
    for text in ("The API uses port 8080 for local work", "The API uses port 8081 for local work"):
        memory.remember(text, scope=SHOP)
    memory.remember("The API uses the port 8080 for local work", scope=Scope.project("bank"))
    memory.remember("The API uses the port 8080 for local work", scope=SHOP, type="warning")
    assert memory.reindex().merged == 0


@pytest.mark.parametrize("keys", [(None, "a", "b"), ("a", None, "b"), (None, None, "a")])
def test_a_memory_with_a_key_is_never_merged_away(memory, keys):
    texts = ("Use pnpm for installs", "Use the pnpm for installs", "Use pnpm for the installs")
    for text, key in zip(texts, keys, strict=True):
        memory.remember(text, scope=SHOP, key=key)
    for _ in range(2):
        memory.reindex()
        for key in filter(None, keys):
            assert memory.show(key, scope=SHOP).state is State.ACTIVE


def test_a_merge_with_a_memory_without_expiry_never_expires(memory):
    memory.remember("Use pnpm for installs", scope=SHOP, expires_at=now() + timedelta(days=1))
    memory.remember("Use the pnpm for installs", scope=SHOP)
    assert memory.reindex().merged == 1
    assert memory.show(1, scope=SHOP).expires_at is None


def test_contradictions_are_reported_and_never_merged(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", embedder="bundled")
    memory.remember("The API listens on port 8080 in development", scope=SHOP)
    memory.remember("The API listens on port 8081 in development", scope=SHOP)
    memory.embed_pending()
    (doubt,) = memory.reindex(dry_run=True).plan.contradictions
    assert (doubt.one.number, doubt.other.number, doubt.why) == (1, 2, "other numbers")


def test_linked_memories_are_not_reported_again(memory):
    one, two, three = (
        memory.remember(text, scope=SHOP).memory.number
        for text in ("The API uses port 8080", "The API uses port 8081", "The API uses the port 8081")
    )
    planned = memory.reindex(dry_run=True).plan.contradictions
    assert [(doubt.one.number, doubt.other.number) for doubt in planned] == [(one, two)]
    memory.link(two, LinkKind.SUPERSEDES, one, scope=SHOP)
    memory.link(three, LinkKind.CONTRADICTS, two, scope=SHOP)
    plan = memory.reindex(dry_run=True).plan
    assert (plan.contradictions, plan.merges) == ([], [])


def test_the_survivor_takes_over_the_links(memory):
    one, two, old, new = (
        memory.remember(text, scope=SHOP).memory
        for text in ("The API uses port 8080", "The API uses the port 8080", "ports of old", "ports to come")
    )
    memory.link(two.number, LinkKind.SUPERSEDES, old.number, scope=SHOP)
    memory.link(new.number, LinkKind.RELATES, two.number, scope=SHOP)
    assert memory.reindex().merged == 1
    found = {(link.source, link.kind, link.target) for link in memory.links(one.number, scope=SHOP)}
    assert found == {
        (one.id, LinkKind.SUPERSEDES, old.id),
        (new.id, LinkKind.RELATES, one.id),
        (one.id, LinkKind.DERIVED_FROM, two.id),
    }


def test_contradictions_are_reported_without_vectors(memory):
    for text in ("認証には三つの鍵を使う", "認証には四つの鍵を使う", "Alice reports to Bob", "Bob reports to Alice"):
        memory.remember(text, scope=SHOP)
    done = memory.reindex()
    assert done.merged == 0
    assert {doubt.why for doubt in done.plan.contradictions} == {"other numbers", "another order"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploy on Friday evenings", "Never deploy on Friday evenings"),
        ("Log the request body", "Do not log the request body"),
        ("認証には JWT を使う", "認証には JWT を使わない"),
    ],
)
def test_a_statement_and_its_denial_are_reported_however_far_apart_their_vectors_are(memory, one, other):
    for text in (one, other, "Deploy on weekdays", "Log every request"):
        memory.remember(text, scope=SHOP)
    plan = memory.reindex(dry_run=True).plan
    assert [(found.one.number, found.other.number, found.why) for found in plan.contradictions] == [(1, 2, "a negation")]


def test_a_dry_run_changes_nothing(memory):
    memory.remember("The API uses port 8080 for local work", scope=SHOP)
    memory.remember("The API uses the port 8080 for local work", scope=SHOP)
    memory.forget(memory.remember("gone", scope=SHOP).memory.number, scope=SHOP)
    before = [one for one, _ in memory.everything()]
    done = memory.reindex(dry_run=True)
    assert (len(done.plan.merges), done.merged, done.dropped) == (1, 0, 1)
    assert [one for one, _ in memory.everything()] == before


def test_reindex_shows_its_plan_and_archives_the_old_database(run, place):
    for text in (
        "認証には JWT を採用する方針です",
        "認証には、JWT を採用する方針です。",
        "認証には SAML を採用する方針です",
    ):
        run("remember", text)
    run("forget", run("remember", "to be dropped", "--json").data["memory_id"])
    planned = run("reindex", "--dry-run")
    assert "#1    #2" in planned.out
    assert "1 would be merged, 1 forgotten ones dropped" in planned.err
    done = run("reindex", "--json").data
    assert (done["merged"], done["dropped"], done["indexed"]) == (1, 1, 3)
    (before,) = (place / "archive").iterdir()
    assert before.name == f"memory_{now().astimezone():%Y%m%d}.db.gz"
    assert before.parent.stat().st_mode & 0o077 == 0
    assert done["before"] == str(before)
    assert before.stat().st_mode & 0o077 == 0
    copy = place / "copy.db"
    copy.write_bytes(gzip.decompress(before.read_bytes()))
    assert run("list", "--store", str(copy), "--all-states", "--json").data["total_count"] == 4
    assert run("doctor").code == 0
    assert "no embedder is set" in run("reindex", "--pending").err


def test_the_newest_five_archived_databases_stay(run, place):
    run("remember", "one")
    kept = [run("reindex", "--json").data["before"] for _ in range(7)]
    names = [Path(file).name for file in kept]
    assert names[1] == names[0].replace(".db.gz", "_2.db.gz")
    assert {file.name for file in (place / "archive").iterdir()} == set(names[-5:])


def test_reindex_makes_vectors_and_stats_and_doctor_report_them(run, monkeypatch):
    monkeypatch.setenv("OMOIDE_EMBEDDER", "bundled")
    run("remember", "The cat sleeps on the window sill")
    run("remember", "Invoices are sent monthly")
    assert run("stats", "--json").data["vectors"] == {"embedder": "use-multilingual-3", "embedded": 0, "pending": 2}
    assert "omoide reindex --pending" in run("doctor").out
    assert run("reindex", "--pending", "--json").data == {"embedder": "use-multilingual-3", "embedded": 2}
    assert "2 embedded, 0 pending" in run("stats").out
    assert run("recall", "kitty", "napping", "--json").data["memories"][0]["number"] == 1
    assert run("similar", "1", "--json").data["memories"][0]["number"] == 2


def test_mirrored_files_follow_a_merge(memory, tmp_path):
    file = tmp_path / "memories.md"
    memory.mirror(file, scope=SHOP)
    memory.remember("The API uses port 8080 for local work", scope=SHOP)
    memory.remember("The API uses the port 8080 for local work", scope=SHOP)
    assert file.read_text(encoding="utf-8").count("## ") == 2
    assert memory.reindex().merged == 1
    assert file.read_text(encoding="utf-8").count("## ") == 1


SIMILAR = (
    "A carpenter repairs the wooden fence of the garden",
    "A carpenter is fixing the garden's wooden fence",
)


@pytest.fixture
def run_with_proposals(run, monkeypatch):
    """A store with two memories that say the same in other words, and one that states another number."""
    monkeypatch.setenv("OMOIDE_EMBEDDER", "bundled")
    for text in (
        *SIMILAR,
        "The API listens on port 8080 in every environment",
        "The API listens on port 9090 in every environment",
    ):
        run("remember", text)
    return run


def proposals(run):
    return [(pair["one"], pair["other"]) for pair in run("reindex", "--dry-run", "--json").data["proposals"]]


def test_a_contradiction_is_shown_with_both_texts(run):
    run("remember", "Deploy on Friday evenings")
    run("remember", "Never deploy on Friday evenings")
    run("remember", "Never deploy on Friday evenings.")
    done = run("reindex")
    assert "a negation  Deploy on Friday evenings / Never deploy on Friday evenings" in done.out
    assert done.err.startswith("1 merge, ")


def test_the_same_in_other_words_is_proposed_with_both_texts_and_merged_only_on_request(run_with_proposals):
    plain = run_with_proposals("reindex")
    assert "--review asks about each" in plain.out
    assert all(text[:20] in plain.out for text in SIMILAR)
    assert proposals(run_with_proposals) == [(1, 2)]
    done = run_with_proposals("reindex", "--similar", "--json").data
    assert [(merge["into"], merge["merged"]) for merge in done["merges"]] == [(1, [2])]
    assert done["merges"][0]["content"].splitlines() == [*SIMILAR]
    assert [pair["why"] for pair in done["contradictions"]] == ["other numbers"]


@pytest.mark.parametrize(
    ("answer", "merged", "asked_again", "links"),
    [
        ("m", True, False, ["derived_from"]),
        ("k", False, True, []),
        ("c", False, False, ["contradicts"]),
        ("n", False, False, ["relates"]),
    ],
)
def test_a_review_merges_keeps_notes_a_contradiction_or_never_asks_again(
    run_with_proposals, answer, merged, asked_again, links
):
    done = run_with_proposals("reindex", "--review", input=f"{answer}\n")
    assert done.code == 0, done.err
    assert all(text in done.out for text in SIMILAR)
    shown = run_with_proposals("show", "1", "--json").data
    assert (SIMILAR[1] in shown["content"]) is merged
    assert bool(proposals(run_with_proposals)) is asked_again
    assert [link["kind"] for link in shown["links"]] == links
