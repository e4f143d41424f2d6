"""Runs: receipts, replay from history, outcomes that move relevance, reports, training data and blame."""

import hashlib
import json
import threading
from datetime import timedelta

import pytest

import omoide
from omoide import Changed, Conflict, InvalidInput, NotAllowed, NotFound, Role, RunResult, Scope, Task
from omoide.guard.permissions import BoundActor
from omoide.lifecycle import relevance
from omoide.model import Actor, Layer
from omoide.service import Service

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
TASK = Task(id="7", title="直す", write_scope=("src/core/loop.ts",))


@pytest.fixture
def shop(memory):
    """Three memories: #1 tagged with a glob, #2 plain, #3 pinned."""
    memory.remember("src/core は\n全テスト必須", type="warning", tags=["src/core/**"], scope=SHOP)
    memory.remember("pnpm を使用", type="pattern", scope=SHOP)
    memory.remember("日本語で答える", pinned=True, scope=SHOP)
    return memory


def value(memory, number):
    return memory.show(number, scope=SHOP).relevance


# receipts and replay


def test_a_receipt_names_the_bytes_and_each_memory_with_its_version_and_reason(shop, clock):
    shop.remember("too many", relevance=0.1, scope=SHOP)
    composed = shop.compose(TASK, scope=Scope.session("shop", "monday"), run="build-1", limit=3)
    run = composed.run
    assert (run.number, run.id, run.scope, run.agent.name) == (
        1,
        "build-1",
        Scope.session("shop", "monday"),
        shop._actor.name,
    )
    assert (run.task, run.started_at, run.outcome) == (TASK, clock.now, None)
    assert run.receipt.sha256 == hashlib.sha256(composed.text.encode()).hexdigest()
    assert [(one.number, one.version, one.rule) for one in run.receipt.memories] == [
        (1, 1, "scope"), (3, 1, "relevance"), (2, 1, "relevance")
    ]  # several entries per line  # fmt: skip
    assert [(one.number, one.rule) for one in run.receipt.left_out] == [(4, "limit")]
    assert shop.run("build-1", scope=SHOP) == shop.run(1, scope=SHOP) == run
    assert shop.compose(TASK, scope=SHOP).run is None
    assert len(shop.compose(TASK, scope=SHOP, record=True).run.id) == 36
    with pytest.raises(Conflict, match="has a run 'build-1' already"):
        shop.compose(TASK, scope=SHOP, run="build-1")
    assert [event.action for event in shop.events(scope=SHOP, limit=2)] == ["composed", "composed"]


def test_replay_gives_the_same_bytes_after_everything_that_happens_to_memories(shop, clock):
    shop.remember("pnpm を使用する", type="pattern", scope=SHOP)
    composed = shop.compose(TASK, scope=SHOP, run="one")
    text = composed.text
    clock.step(60)
    shop.revise(1, content="other", type="note", tags=[], scope=SHOP)
    shop.archive(2, scope=SHOP)
    assert shop.replay("one", scope=SHOP) == text
    shop.promote(1, scope=SHOP)
    shop.forget(2, scope=SHOP)
    shop.outcome("one", "success", scope=SHOP)
    assert shop.replay("one", scope=SHOP) == text
    shop.restore(2, scope=SHOP)
    shop.reindex()
    assert shop.replay(1, scope=SHOP) == text


def test_replay_works_after_near_duplicates_were_merged_and_projects_too(memory):
    for text in ("Deploy on Tuesday with the blue script.", "Deploy on Tuesday with the blue script!"):
        memory.remember(text, scope=SHOP)
    text = memory.compose(TASK, scope=SHOP, run="one").text
    assert memory.reindex().merged == 1
    assert memory.replay("one", scope=SHOP) == text
    memory.remember("theirs", scope=BANK)
    memory.compose(TASK, scope=BANK, run="one")
    memory.merge_projects("shop", "bank")
    assert memory.replay(2, scope=BANK) == text
    assert [run.id for run in memory.runs(scope=BANK)] == ["one-1", "one"]


def test_runs_follow_a_project_that_is_renamed(shop):
    text = shop.compose(TASK, scope=SHOP, run="one").text
    shop.rename_project("shop", "store")
    assert shop.replay("one", scope=Scope.project("store")) == text
    assert shop.run(1, scope=Scope.project("store")).scope == Scope.project("store")
    assert shop.outcome("one", "success", scope=Scope.project("store")).outcome is not None


def test_replay_names_what_was_purged_and_refuses_to_pretend(shop, tmp_path):
    shop.compose(TASK, scope=SHOP, run="one")
    shop.compose(Task(title="x"), scope=SHOP, run="two", limit=1)
    shop.forget(2, scope=SHOP)
    shop.purge([2], scope=SHOP)
    with pytest.raises(NotFound, match="run 1 cannot be replayed: #2 in its prompt was purged"):
        shop.replay("one", scope=SHOP)
    assert "日本語" in shop.replay("two", scope=SHOP)
    (why,) = [each for each in shop.why("one", scope=SHOP) if each.number == 2]
    assert (why.chosen, why.memory) == (True, None)
    shop.close()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or "pnpm を使用".encode() not in file.read_bytes()


def test_replay_says_which_memory_was_redacted(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db")
    memory.remember("harmless", scope=SHOP)
    memory.compose(TASK, scope=SHOP, run="one")
    secret = "password = hunter2hunter2X9"
    with memory._store.write() as tx:
        tx._tx.run("UPDATE memories SET content = ? WHERE number = 1", (f"key: {secret}",))
    memory.compose(TASK, scope=SHOP, run="three")
    assert secret in memory.replay("three", scope=SHOP)
    memory.scan(fix=True)
    with pytest.raises(Conflict, match="a secret in #1 was redacted since"):
        memory.replay("three", scope=SHOP)


def test_a_profile_that_changed_does_not_change_the_past(tmp_path):
    with omoide.open(tmp_path / "m.db", profiles={"builder": "You build."}) as memory:
        text = memory.compose(Task(profile="builder"), scope=SHOP, run="one").text
    with omoide.open(tmp_path / "m.db", profiles={"builder": "Other."}) as memory:
        assert memory.replay("one", scope=SHOP) == text == "## Role\nYou build.\n"
    with omoide.open(tmp_path / "m.db", profiles={"builder": "password = hunter2hunter2X9"}) as memory:
        with pytest.raises(omoide.SecretFound):
            memory.compose(Task(profile="builder"), scope=SHOP, run="two")
        assert [run.id for run in memory.runs(scope=SHOP)] == ["one"]


# looking back


def test_why_explains_what_was_chosen_left_out_or_never_considered(shop, clock):
    shop.archive(shop.remember("archived", scope=SHOP).memory.number, scope=SHOP)
    clock.step()
    shop.compose(TASK, scope=SHOP, run="one", limit=1)
    clock.step()
    shop.remember("later", scope=SHOP)
    reasons = {each.number: (each.chosen, each.reason) for each in shop.why("one", scope=SHOP)}
    assert reasons[1] == (True, "a glob tag matches src/core/loop.ts, relevance 0.50")
    assert reasons[2] == (False, "others rank higher: relevance 0.50")
    assert shop.why("one", 4, scope=SHOP)[0].reason == "it was archived"
    assert shop.why("one", "#5", scope=SHOP)[0].reason == "it did not exist yet"
    assert shop.why("one", 1, scope=SHOP)[0].chosen
    with pytest.raises(NotFound):
        shop.why("one", 99, scope=SHOP)


def test_two_runs_are_compared_by_memories_and_lines(shop):
    shop.compose(TASK, scope=SHOP, run="one")
    shop.revise(2, content="npm を使用", scope=SHOP)
    shop.archive(3, scope=SHOP)
    shop.remember("new", scope=SHOP)
    shop.compose(TASK, scope=SHOP, run="two")
    found = shop.compare_runs("one", "two", scope=SHOP)
    assert [one.number for one in found.removed] == [3]
    assert [one.number for one in found.added] == [4]
    assert [(old.number, old.version, new.version) for old, new in found.revised] == [(2, 1, 2)]
    assert "-- [pattern] pnpm を使用" in found.diff
    assert "+- [pattern] npm を使用" in found.diff
    shop.forget(3, scope=SHOP)
    shop.purge([3], scope=SHOP)
    assert "#3" in shop.compare_runs("one", "two", scope=SHOP).problem


def test_blame_finds_the_memory_its_version_and_writer_and_the_prompt_without_it(shop, open_memory, tmp_path):
    shop.compose(TASK, scope=SHOP, run="one")
    shop.acting_as("builder").revise(2, content="yarn を使用", scope=SHOP)
    shop.compose(TASK, scope=SHOP, run="two")
    (found,) = shop.blame("yarn", scope=SHOP)
    assert (found.run.id, found.memory.number, found.memory.version) == ("two", 2, 2)
    assert (found.memory.author.name, found.memory.author.role) == ("builder", Role.WORKER)
    assert "yarn" in found.prompt
    assert found.without == found.prompt.replace("- [pattern] yarn を使用\n", "")
    assert [each.run.id for each in shop.blame("全テスト", scope=SHOP)] == ["two", "one"]
    assert [each.run.id for each in shop.blame("全テスト", scope=SHOP, run="one")] == ["one"]
    assert shop.blame("npm", scope=SHOP, run="two") == []
    with pytest.raises(InvalidInput):
        shop.blame(" ", scope=SHOP)


def test_the_id_of_a_run_may_look_like_the_number_of_another(shop):
    for id in ("build", "1", "20261118004211"):
        shop.compose(TASK, scope=SHOP, run=id)
    assert [shop.run(ref, scope=SHOP).number for ref in ("1", "#1", 1, "2", "20261118004211")] == [2, 1, 1, 2, 3]


def test_runs_are_listed_with_filters_and_only_of_their_project(shop, clock):
    for number in range(4):
        shop.acting_as("builder" if number else None).compose(TASK, scope=SHOP, run=f"r{number}", limit=number)
        clock.step(3600)
    shop.outcome("r1", "failure", scope=SHOP)

    def ids(**filters):
        return [run.id for run in shop.runs(scope=SHOP, **filters)]

    assert ids() == ["r3", "r2", "r1", "r0"]
    assert ids(limit=2) == ["r3", "r2"]
    assert ids(result="failure") == ids(result=RunResult.FAILURE) == ["r1"]
    assert ids(pending=True) == ["r3", "r2", "r0"]
    assert ids(agent=shop._actor.name) == ["r0"]
    assert ids(memory=2) == ["r3"]
    assert ids(since=clock.now - timedelta(hours=2)) == ["r3", "r2"]
    assert shop.runs(scope=BANK) == []
    for ref in ("r1", 2, "nothing"):
        with pytest.raises(NotFound, match="in project bank"):
            shop.run(ref, scope=BANK)
    with pytest.raises(InvalidInput):
        ids(result="good")


# outcomes


def test_an_outcome_moves_the_relevance_of_what_was_in_the_prompt_and_undo_moves_it_back(shop, clock):
    shop.remember("not in the prompt", relevance=0.2, scope=SHOP)
    shop.compose(TASK, scope=SHOP, run="one", limit=3)
    updated = shop.show(1, scope=SHOP).updated_at
    clock.step(90)
    done = shop.outcome("one", "success", helped=[1], note="良い", exit_code=0, scope=SHOP)
    assert done.outcome.result is RunResult.SUCCESS
    assert (done.outcome.duration, done.outcome.exit_code, done.outcome.note, done.outcome.helped) == (90.0, 0, "良い", (1,))
    assert shop.run("one", scope=SHOP) == done
    assert (value(shop, 1), value(shop, 2)) == (0.6154, 0.5455)
    assert (value(shop, 3), value(shop, 4)) == (0.5, 0.2)
    history = shop.history(1, scope=SHOP)
    assert [version.memory.relevance for version in history] == [0.5, 0.6154]
    (event,) = [event for event in shop.events(1, scope=SHOP) if event.action == "learned"]
    assert event.detail["run"] == "one"
    assert (event.detail["before"], event.detail["after"]) == (0.5, 0.6154)
    assert shop.show(1, scope=SHOP).updated_at - updated < timedelta(seconds=1)
    undone = shop.undo_outcome("one", scope=SHOP)
    assert undone.outcome is None
    assert [value(shop, number) for number in (1, 2, 3, 4)] == [0.5, 0.5, 0.5, 0.2]
    with pytest.raises(Conflict, match="has no outcome"):
        shop.undo_outcome("one", scope=SHOP)


def test_an_outcome_is_never_applied_twice_but_can_be_replaced(shop):
    shop.compose(TASK, scope=SHOP, run="one")
    shop.outcome("one", "success", scope=SHOP)
    moved = value(shop, 1)
    with pytest.raises(Conflict, match="has the outcome success already"):
        shop.outcome("one", "failure", scope=SHOP)
    assert value(shop, 1) == moved
    shop.outcome("one", "failure", scope=SHOP, force=True)
    assert value(shop, 1) == round(10 * 0.5 / 11, 4)
    shop.outcome("one", "success", scope=SHOP, force=True)
    assert value(shop, 1) == moved


def test_undoing_an_earlier_outcome_leaves_what_the_later_ones_moved(shop):
    for id in ("one", "two", "three"):
        shop.compose(TASK, scope=SHOP, run=id)
    shop.outcome("two", "failure", scope=SHOP)
    alone = value(shop, 1)
    shop.undo_outcome("two", scope=SHOP)
    shop.outcome("one", "success", scope=SHOP)
    shop.outcome("two", "failure", scope=SHOP)
    shop.undo_outcome("one", scope=SHOP)
    assert value(shop, 1) == alone


def test_the_relevance_that_a_person_sets_is_fixed_or_a_new_starting_value(shop):
    shop.fix_relevance(1, value=0.9, scope=SHOP)
    shop.revise(2, relevance=0.8, scope=SHOP)
    for id in ("one", "two"):
        shop.compose(TASK, scope=SHOP, run=id)
    shop.outcome("one", "failure", scope=SHOP, harmed=[1, 3])
    assert (value(shop, 1), value(shop, 3)) == (0.9, 0.5)
    assert value(shop, 2) == round(10 * 0.8 / 11, 4)
    shop.revise(2, relevance=0.6, scope=SHOP)  # a new prior: the evidence so far was about another one
    shop.outcome("two", "failure", scope=SHOP)
    assert value(shop, 2) == round(10 * 0.6 / 11, 4)
    shop.undo_outcome("one", scope=SHOP)
    assert value(shop, 2) == round(10 * 0.6 / 11, 4)
    shop.release_relevance(1, scope=SHOP)
    shop.outcome("two", "success", scope=SHOP, force=True)
    assert value(shop, 1) == round((10 * 0.9 + 1) / 11, 4)
    with pytest.raises(NotAllowed):
        shop.acting_as("builder").fix_relevance(1, scope=SHOP)


def test_relevance_is_fixed_and_released_only_at_the_named_version(shop):
    version = shop.show(1, scope=SHOP).version
    for change in (shop.fix_relevance, shop.release_relevance):
        with pytest.raises(Changed, match="read it again"):
            change(1, scope=SHOP, if_version=version + 1)
        assert change(1, scope=SHOP, if_version=version).version == version


def test_text_pin_and_fixed_relevance_change_in_one_transaction(shop):
    before = shop.show(1, scope=SHOP)
    with pytest.raises(NotAllowed):
        shop.acting_as("builder").revise(1, content="new", pinned=True, fixed_relevance=True, scope=SHOP)
    assert shop.show(1, scope=SHOP) == before
    after = shop.revise(1, content="new", pinned=True, fixed_relevance=True, scope=SHOP)
    assert (after.content, after.pinned) == ("new", True)
    actions = [event.action for event in shop.events(scope=SHOP, limit=3)]
    assert sorted(actions) == ["pinned", "relevance fixed", "revised"]


def test_without_evidence_relevance_returns_towards_the_prior_per_recorded_run_and_not_by_the_clock(shop, clock):
    shop.compose(TASK, scope=SHOP, run="start")
    shop.outcome("start", "success", scope=SHOP, helped=[1])
    seen = []
    for number in range(3):
        composed = shop.compose(TASK, scope=SHOP, limit=1, run=f"r{number}")
        seen.append(composed.receipt.memories[0].relevance)
        clock.step(86_400 * 30)
        again = shop.compose(TASK, scope=SHOP, limit=1)
        assert again.receipt == composed.receipt
        other = shop.compose(Task(), scope=SHOP, limit=0, run=f"other{number}")
        shop.outcome(other.run.number, "success", scope=SHOP)
    assert 0.6154 == seen[0] > seen[1] > seen[2] > 0.5


def test_learning_can_be_switched_off(tmp_path):
    with omoide.open(tmp_path / "m.db", learn_relevance=False) as memory:
        memory.remember("x", scope=SHOP)
        memory.compose(TASK, scope=SHOP, run="one")
        assert memory.outcome("one", "success", scope=SHOP).outcome is not None
        assert value(memory, 1) == 0.5


def test_a_worker_reports_an_outcome_but_moves_only_what_it_may_write(tmp_path):
    with omoide.open(tmp_path / "m.db", workers_global=False) as memory:
        memory.remember("everywhere", scope=Scope.everywhere())
        memory.remember("here", scope=SHOP)
        memory.compose(TASK, scope=SHOP, run="one")
        memory.acting_as("builder").outcome("one", "success", scope=SHOP)
        assert (value(memory, 1), value(memory, 2)) == (0.5, 0.5455)


def test_what_cannot_be_recorded_is_refused_and_nothing_changes(shop):
    shop.compose(TASK, scope=SHOP, run="one", limit=1)
    before = shop.latest_event()
    for error, arguments in (
        (NotFound, {"run": "two", "result": "success"}),
        (NotFound, {"run": "one", "result": "success", "scope": BANK}),
        (InvalidInput, {"run": "one", "result": "good"}),
        (InvalidInput, {"run": "one", "result": "success", "helped": [2]}),
        (NotFound, {"run": "one", "result": "success", "helped": [99]}),
        (InvalidInput, {"run": "one", "result": "success", "helped": [1], "harmed": [1]}),
        (InvalidInput, {"run": "one", "result": "success", "duration": -1}),
        (omoide.SecretFound, {"run": "one", "result": "success", "note": "password = hunter2hunter2X9"}),
    ):
        with pytest.raises(error):
            shop.outcome(**{"scope": SHOP, **arguments})
    assert shop.latest_event() == before
    assert shop.run("one", scope=SHOP).outcome is None


def test_of_concurrent_outcomes_one_is_recorded_and_the_others_conflict(tmp_path, open_memory):
    path = tmp_path / "memory.db"
    memories = [open_memory(path) for _ in range(4)]
    memories[0].remember("x", scope=SHOP)
    memories[0].compose(TASK, scope=SHOP, run="one")
    start, results = threading.Barrier(4), []

    def report(memory):
        start.wait()
        try:
            memory.outcome("one", "success", scope=SHOP)
            results.append("won")
        except Conflict as error:
            results.append(str(error))

    threads = [threading.Thread(target=report, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count("won") == 1
    assert all("already" in each for each in results if each != "won")
    assert value(memories[0], 1) == 0.5455


def test_evidence_is_bounded(memory):
    known = relevance.unlearned(1, 0.5, 0)
    always = [relevance.OutcomeEvidence("shop", tick, 1.0, relevance.VERDICT_WEIGHT) for tick in range(1, 5_000)]
    learned = relevance.learn(known, always)
    assert 0.95 < learned.value < 1
    assert learned.successes <= relevance.VERDICT_WEIGHT / (1 - relevance.DECAY)
    assert relevance.relevance(learned, "shop", 100_000) == 0.5


# does it help?


def test_a_share_of_runs_is_composed_without_memories_by_the_hash_of_the_run(tmp_path):
    with omoide.open(tmp_path / "m.db", holdout=0.3) as memory:
        memory.remember("x", scope=SHOP)
        runs = [memory.compose(TASK, scope=SHOP, run=f"run-{number}") for number in range(100)]
        held = [composed.run.id for composed in runs if composed.receipt.holdout]
        assert 15 <= len(held) <= 45
        assert all(("## Memories" in composed.text) is not composed.receipt.holdout for composed in runs)
        assert {one.rule for composed in runs if composed.receipt.holdout for one in composed.receipt.left_out} == {
            "holdout"
        }
        assert [run.run.id for run in runs if memory.compose(TASK, scope=BANK, run=run.run.id).receipt.holdout] == held
        assert not memory.compose(TASK, scope=SHOP).receipt.holdout


def test_the_report_compares_both_sides_and_says_when_there_is_too_little(tmp_path, run, place):
    with omoide.open(place / "memory.db", holdout=0.5) as memory:
        memory.remember("x", scope=SHOP)
        assert "too little data" not in memory.run_report(scope=SHOP).conclusion
        for number in range(80):
            composed = memory.compose(TASK, scope=SHOP, run=f"run-{number}")
            held = composed.receipt.holdout
            won = number % 10 < (3 if held else 9)
            memory.outcome(f"run-{number}", "success" if won else "failure", duration=20 if held else 10, scope=SHOP)
            if number == 8:
                assert "too little data" in memory.run_report(scope=SHOP).conclusion
        report = memory.run_report(scope=SHOP)
    assert report.with_memories.runs + report.without.runs == 80
    assert report.success.low > 0.2 < report.success.value < report.success.high
    assert report.seconds.value == pytest.approx(0.5)
    assert report.conclusion.startswith("memories help")
    shown = run("runs", "report").out
    assert "├" in shown
    assert "●" in shown
    assert report.conclusion in shown
    assert run("runs", "report", "--json").data["success_difference"]["low"] == round(report.success.low, 4)


# the command line


def test_the_life_of_a_run_on_the_command_line(place, run):
    run("remember", "全テスト必須", "--type", "warning", "--tag", "src/**")
    composed = run("compose", "--title", "直す", "--write-scope", "src/a", "--run", "build-1")
    assert composed.err == "run 1  build-1\n"
    assert run("replay", "1").out == composed.out
    assert run("runs").out.splitlines()[1].split()[:2] == ["1", "build-1"]
    assert run("runs", "--json").data["runs"][0]["task"] == {"task": {"title": "直す"}, "write_scope": ["src/a"]}
    assert run("outcome", "build-1", "success", "--helped", "1", "--duration", "2.5").code == 0
    assert run("runs", "show", "1", "--json").data["outcome"]["duration"] == 2.5
    assert "success" in run("runs", "show", "1").out
    assert "a glob tag matches src/a" in run("why", "1").out
    assert run("runs", "diff", "1", "1").out == "the prompts are the same\n"
    assert "relevance: 0.5 → 0.6154" in run("history", "1").out
    assert "without #1" in run("blame", "全テスト", "--run", "1").out
    assert run("blame", "nothing like it").code == 0
    assert run("outcome", "build-1", "failure").code == 1
    assert run("outcome", "build-1", "--undo").out == "run 1  build-1  no outcome\n"
    assert run("outcome", "build-1").code == 2
    assert run("outcome", "build-1", "success", "--undo").code == 2
    assert run("outcome", "99", "success").code == 1
    run("forget", "1")
    run("purge", "1", "--yes")
    refused = run("replay", "1")
    assert refused.code == 1
    assert "#1" in refused.err


def test_runs_are_exported_as_training_data_without_secrets(place, run):
    run("remember", "最初")
    run("compose", "--title", "x", "--run", "one")
    run("outcome", "one", "failure", "--harmed", "1", "--exit-code", "3")
    run("compose", "--title", "y", "--run", "two")
    secret = "password = hunter2hunter2X9"
    with omoide.open(place / "memory.db") as memory, memory._store.write() as tx:  # from before there was a rule for it
        tx._tx.run("UPDATE runs SET task = replace(task, '\"y\"', ?) WHERE id = 'two'", (f'"{secret}"',))
    lines = [json.loads(line) for line in run("export", "runs").out.splitlines()]
    assert [line["id"] for line in lines] == ["one", "two"]
    first, second = lines
    assert first["prompt"] == "## Task\nTitle: x\n\n## Memories\n- [note] 最初\n"
    assert [(one["number"], one["version"]) for one in first["memories"]] == [(1, 1)]
    assert (first["outcome"], first["helped"], first["harmed"], first["exit_code"]) == ("failure", [], [1], 3)
    assert "hunter2" not in json.dumps(second)
    assert second["prompt"] is None
    assert "redacted" in second["problem"] or "changed" in second["problem"]
    assert run("export", "runs", "--format", "csv").code == 2
    assert run("export", "runs", "--output", "runs.jsonl").code == 0
    assert len((place / "runs.jsonl").read_text().splitlines()) == 2
    assert run("scan", "--json").data["found"][0]["field"] == "task"


def test_an_older_version_is_brought_back_as_a_new_one(place, run):
    run("remember", "first", "--tag", "a", "--topic", "t")
    run("revise", "1", "second", "--tags", "b")
    run("archive", "1")
    done = run("restore", "1", "--version", "1", "--json").data
    assert (done["content"], done["tags"], done["state"], done["version"]) == ("first", ["a"], "active", 4)
    assert run("restore", "1", "--version", "9").code == 1


def test_a_global_memory_learns_from_every_project(memory):
    memory.remember("everywhere", scope=Scope.everywhere())
    for scope, result in ((SHOP, "success"), (BANK, "success"), (SHOP, "failure")):
        run = memory.compose(TASK, scope=scope, record=True).run
        memory.outcome(run.id, result, scope=scope)
    evidence = [
        relevance.OutcomeEvidence("shop", 1, 1, 1),
        relevance.OutcomeEvidence("bank", 1, 1, 1),
        relevance.OutcomeEvidence("shop", 2, 0, 1),
    ]
    expected = relevance.learn(relevance.unlearned(1, 0.5, 0), evidence).value
    assert value(memory, 1) == expected


def test_an_actor_without_rights_on_a_project_sees_no_runs(memory):
    memory.compose(TASK, scope=SHOP, run="one")
    bound = Service(memory._store, memory._settings, BoundActor("token", projects=("bank",)), memory._clock)
    with pytest.raises(NotAllowed):
        bound.runs(scope=SHOP)
    with pytest.raises(NotAllowed):
        bound.outcome("one", "success", scope=SHOP)
    assert isinstance(memory.run("one", scope=SHOP).agent, Actor)


@pytest.fixture
def layered(memory):
    """A run whose prompt has memories of all layers: #1 of the project, #2 of a session, #3 global; and one of a session."""
    memory.remember("project fact", relevance=0.9, scope=SHOP)
    memory.remember("session fact", relevance=0.8, scope=Scope.session("shop", "monday"))
    memory.remember("global fact", relevance=0.7, scope=Scope.everywhere())
    memory.compose(TASK, scope=SHOP, run="all")
    memory.compose(TASK, scope=Scope.session("shop", "monday"), run="of monday")
    return memory


def bind(memory, *layers):
    actor = BoundActor("token", Role.WORKER, projects=("shop",), layers=layers)
    return Service(memory._store, memory._settings, actor, memory._clock)


def test_an_actor_bound_to_layers_sees_of_a_run_only_memories_of_these_layers(layered):
    layered.outcome("all", "success", helped=[1, 2], harmed=[3], scope=SHOP)
    bound = bind(layered, Layer.PROJECT)
    (run,) = bound.runs(scope=SHOP)
    assert run == bound.run("all", scope=SHOP)
    assert [one.number for one in run.receipt.memories] == [1]
    assert (run.outcome.helped, run.outcome.harmed) == ((1,), ())
    assert [one.number for one in bound.why("all", scope=SHOP)] == [1]
    for hidden in (2, 3):
        with pytest.raises(NotFound):
            bound.why("all", hidden, scope=SHOP)
    wider = bind(layered, Layer.PROJECT, Layer.SESSION)
    assert [run.id for run in wider.runs(scope=SHOP)] == ["of monday", "all"]
    assert [one.number for one in wider.run("all", scope=SHOP).receipt.memories] == [1, 2]


def test_an_actor_bound_to_layers_does_not_see_what_was_left_out_of_other_layers(layered):
    layered.compose(TASK, scope=SHOP, run="none", limit=0)
    receipt = bind(layered, Layer.PROJECT).run("none", scope=SHOP).receipt
    assert ([one.number for one in receipt.left_out], receipt.left_out_count) == ([1], 1)


def test_a_prompt_with_memories_of_other_layers_is_not_shown_to_an_actor_bound_to_layers(layered):
    text = layered.replay("all", scope=SHOP)
    layered.compose(TASK, scope=SHOP, layers=[Layer.PROJECT], run="own")
    bound = bind(layered, Layer.PROJECT)
    with pytest.raises(NotAllowed, match="is bound to project shop and layer project"):
        bound.replay("all", scope=SHOP)
    assert "project fact" in bound.replay("own", scope=SHOP)
    compared = bound.compare_runs("all", "own", scope=SHOP)
    assert ([*compared.diff], [*compared.removed], [*compared.added]) == ([], [], [])
    assert "is bound to" in compared.problem
    assert bound.blame("fact", scope=SHOP, run="all") == []
    assert [found.run.id for found in bound.blame("fact", scope=SHOP)] == ["own"]
    assert bind(layered).replay("all", scope=SHOP) == text


def test_a_run_of_a_session_does_not_exist_for_an_actor_bound_to_other_layers(layered):
    bound = bind(layered, Layer.PROJECT)
    for look in (bound.run, bound.replay, bound.why, bound.undo_outcome):
        with pytest.raises(NotFound):
            look("of monday", scope=SHOP)
    with pytest.raises(NotFound):
        bound.compare_runs("all", "of monday", scope=SHOP)
    with pytest.raises(NotFound):
        bound.outcome("of monday", "success", scope=SHOP)
    assert layered.run("of monday", scope=SHOP).outcome is None
    assert bound.run_report(scope=SHOP).pending == 1


def test_an_actor_bound_to_layers_reports_an_outcome_that_moves_only_memories_of_these_layers(layered):
    bound = bind(layered, Layer.PROJECT)
    done = bound.outcome("all", "success", scope=SHOP)
    assert [one.number for one in done.receipt.memories] == [1]
    assert [value(layered, number) > before for number, before in ((1, 0.9), (2, 0.8), (3, 0.7))] == [True, False, False]
    whole = layered.run("all", scope=SHOP)
    assert [one.number for one in whole.receipt.memories] == [1, 2, 3]
    assert whole.outcome == done.outcome
    with pytest.raises(NotFound):
        bound.outcome("all", "success", helped=[3], scope=SHOP, force=True)


def test_an_actor_that_may_not_store_in_a_layer_records_no_run_in_it(layered):
    bound = bind(layered, Layer.SESSION)
    assert "session fact" in bound.compose(TASK, scope=SHOP).text
    with pytest.raises(NotAllowed, match="layer project"):
        bound.compose(TASK, scope=SHOP, run="new")
    with pytest.raises(NotAllowed, match="layer project"):
        bound.record_prompt("a prompt", TASK, [], scope=SHOP, layout="list")
    assert len(layered.runs(scope=SHOP)) == 2
