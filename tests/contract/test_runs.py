"""Runs: stored in their project, with an outcome that counts for memories, and moved with their project."""

import pytest
from msgspec.structs import replace

from contract.samples import ALICE, START
from omoide.errors import Conflict
from omoide.model import (
    LearnedRelevance,
    Outcome,
    OutcomeEvidence,
    Project,
    PromptMemory,
    Receipt,
    Run,
    RunResult,
    Scope,
    Task,
)

SHOP, BANK, MONDAY = Scope.project("shop"), Scope.project("bank"), Scope.session("shop", "monday")
TASK = Task(id="12", title="直す", description="line\nline", write_scope=("src/**",))


def run(id, scope=SHOP, memories=()):
    notes = tuple(PromptMemory(memory.number, memory.id, memory.version, "relevance", 0.5) for memory in memories)
    return Run(0, id, scope, TASK, ALICE, START, Receipt("ab" * 32, 10, 3, 1, notes, left_out_count=4))


def add(store, *runs):
    with store.write() as tx:
        return [tx.add_run(each) for each in runs]


def finish(store, run, tick, credits, event=0):
    outcome = Outcome(RunResult.SUCCESS, START, "alice", duration=1.5, exit_code=0, note="良い", helped=(1,), event=event)
    with store.write() as tx:
        tx.put_outcome(replace(run, tick=tick), outcome, credits)
    return replace(run, tick=tick, outcome=outcome)


def test_runs_are_numbered_in_their_project_and_found_by_number_and_id(samples, store):
    memory = samples.add("x", SHOP)
    first, second, theirs, everywhere = add(
        store, run("a", memories=[memory]), run("b", MONDAY), run("a", BANK), run("a", Scope.everywhere())
    )
    assert [first.number, second.number, theirs.number, everywhere.number] == [1, 2, 1, 1]
    with store.read() as tx:
        assert tx.run(SHOP, 1) == tx.run(SHOP, "a") == first
        assert tx.run(SHOP, "c") is None
        assert tx.run(BANK, 2) is None
        assert tx.run(Scope.project("none"), 1) is None
        assert list(tx.runs(SHOP)) == [second, first]
        assert list(tx.runs(MONDAY)) == [second]
        assert list(tx.runs(BANK)) == [theirs]
        assert list(tx.runs(Scope.everywhere())) == [everywhere]
    with pytest.raises(Conflict, match="has a run 'a' already"):
        add(store, run("a"))


def test_an_outcome_is_stored_counted_and_taken_back(samples, store):
    one, two = samples.add("one", SHOP), samples.add("two", SHOP)
    first, second = add(store, run("a", memories=[one, two]), run("b", memories=[one]))
    first = finish(store, first, 1, {one.number: (1.0, 3.0)}, 5)
    second = finish(store, second, 2, {one.number: (0.0, 1.0)}, 9)
    with store.read() as tx:
        assert tx.run(SHOP, 1) == first
        assert tx.last_tick(SHOP) == 2
        assert tx.last_tick(BANK) == 0
        evidence = [OutcomeEvidence("shop", 1, 1.0, 3.0), OutcomeEvidence("shop", 2, 0.0, 1.0)]
        assert tx.evidence(one.number, 0) == evidence
        assert tx.evidence(one.number, 9) == evidence[1:]
        assert tx.evidence(two.number, 0) == []
    with store.write() as tx:
        tx.put_outcome(second, None, {})
    with store.read() as tx:
        assert tx.run(SHOP, 2) == replace(second, outcome=None, tick=0)
        assert tx.evidence(one.number, 0) == evidence[:1]
        assert tx.last_tick(SHOP) == 1


def test_outcomes_are_returned_in_the_order_in_which_they_were_recorded(samples, store):
    one = samples.add("one", SHOP)
    first, second = add(store, run("a", memories=[one]), run("b", memories=[one]))
    finish(store, second, 1, {one.number: (1.0, 1.0)}, 5)
    finish(store, first, 2, {one.number: (0.0, 1.0)}, 9)
    with store.read() as tx:
        assert [each.tick for each in tx.evidence(one.number, 0)] == [1, 2]


def test_what_was_learned_is_known_in_the_project_and_goes_with_the_memory(samples, store):
    shop, bank, everywhere = samples.add("x", SHOP), samples.add("y", BANK), samples.add("z")
    known = [
        LearnedRelevance(memory.number, 0.5, 0.6, 4, fixed, 1.5, 0.5, project, tick)
        for memory, project, tick, fixed in ((shop, "shop", 3, False), (bank, "bank", 1, True), (everywhere, "", 0, False))
    ]
    with store.write() as tx:
        for each in known:
            tx.put_learned_relevance(each)
        tx.put_learned_relevance(replace(known[0], value=0.7))
    with store.read() as tx:
        assert tx.learned_relevances(SHOP) == [replace(known[0], value=0.7), known[2]]
        assert tx.learned_relevances(BANK) == [known[1], known[2]]
    samples.erase(shop)
    with store.write() as tx:
        tx.drop_learned([everywhere.number, 99])
    with store.read() as tx:
        assert tx.learned_relevances(SHOP) == []


def test_merging_projects_moves_runs_behind_those_of_the_target(samples, store):
    global_one = samples.add("x")
    add(store, run("a"), run("b"))
    theirs = add(store, run("a", BANK, [global_one]), run("c", BANK))
    finish(store, theirs[0], 1, {global_one.number: (1.0, 1.0)})
    (mine,) = [each for each in samples.ask(lambda tx: list(tx.runs(SHOP))) if each.id == "b"]
    finish(store, mine, 3, {})
    with store.write() as tx:
        tx.put_learned_relevance(LearnedRelevance(global_one.number, 0.5, 0.6, 0, False, 1.0, 0.0, "bank", 1))
        tx.put_project(Project("bank"))
        tx.merge_projects("bank", "shop")
    with store.read() as tx:
        assert [(each.number, each.id, each.tick) for each in tx.runs(SHOP)] == [
            (4, "c", 0), (3, "a-1", 4), (2, "b", 3), (1, "a", 0)
        ]  # several entries per line  # fmt: skip
        assert tx.evidence(global_one.number, 0) == [OutcomeEvidence("shop", 4, 1.0, 1.0)]
        assert [(each.project, each.tick) for each in tx.learned_relevances(SHOP)] == [("shop", 4)]
