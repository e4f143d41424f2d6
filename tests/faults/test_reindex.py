"""Reindexing while others are at work, and reindexing that dies: no memory is lost, the index is always whole."""

import random
import shutil
import signal
from collections import Counter

import pytest

from omoide import Draft, Scope, State
from omoide.errors import StoreBusy

SHOP = Scope.project("shop")


def fill(memory, count=1_500, twins=300):
    memory.remember_many(
        [Draft(f"note {n} tells of subject{n} and of nothing else in the shop", SHOP) for n in range(count)]
        + [Draft(f"The note {n} tells of subject{n}, and of nothing else in the shop", SHOP) for n in range(0, 2 * twins, 2)]
    )
    for number in range(11, 21):
        memory.forget(number, scope=SHOP)


def stage(memory, count=1_500, twins=300):
    """Whether all is as before a reindex, or all as after it; and whatever it is, every subject is found."""
    assert memory.check() == []
    for n in (0, 2 * twins - 2, count - 1):
        assert f"subject{n}" in memory.recall(f"subject{n}", scope=SHOP).hits[0].memory.content
    found = Counter()
    for one, links in memory.everything():
        found[one.state] += 1
        found["linked"] += len(links)
    merged = twins - 5  # five have lost their twin
    before = {State.ACTIVE: count + twins - 10, State.FORGOTTEN: 10}
    after = {State.ACTIVE: count + twins - 10 - merged, State.ARCHIVED: merged, "linked": merged}
    return {tuple(sorted(before.items())): "before", tuple(sorted(after.items())): "after"}.get(
        tuple(sorted((+found).items())), found
    )


@pytest.mark.parametrize("step", ["archiving", "comparing", "indexing", "done"])
def test_a_killed_reindex_is_atomic_and_the_next_one_finishes(tmp_path, child, open_memory, step):
    path = tmp_path / "memory.db"
    memory = open_memory(path)
    fill(memory)
    process = child("reindex", path)
    process.stdout.readline()
    print(file=process.stdin, flush=True)
    for line in process.stdout:
        if line.strip() == step:
            break
    process.kill()
    process.communicate()
    assert stage(memory) == ("after" if step == "done" else "before")
    archives = list((tmp_path / "archive").glob("*.db.gz"))
    assert len(archives) == (1 if step == "done" else 0)
    open_memory(path).close()
    assert list((tmp_path / "archive").glob("*")) == archives, "nothing else is left of the killed one"
    done = memory.reindex()
    assert stage(memory) == "after"
    assert memory.reindex(dry_run=True).plan.merges == []
    assert done.indexed == sum(count for *_, count in memory.tally())


@pytest.mark.parametrize("took_effect", [False, True])
def test_the_archive_of_a_reindex_killed_at_its_end_stays_only_if_it_took_effect(tmp_path, child, open_memory, took_effect):
    path = tmp_path / "memory.db"
    with open_memory(path) as memory:
        memory.remember("one", scope=SHOP)
    process = child("reindex_and_die", path, "after" if took_effect else "before")
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert list((tmp_path / "archive").glob("*.db.gz")) == []
    open_memory(path).close()
    assert len(list((tmp_path / "archive").glob("memory_*.db.gz"))) == took_effect
    assert len(list((tmp_path / "archive").iterdir())) == took_effect


def test_a_reindex_killed_before_any_statement_is_atomic(tmp_path, child, open_memory, long):
    model = tmp_path / "model.db"
    with open_memory(model, embedder="bundled") as memory:
        fill(memory, 60, 30)
        memory.embed_pending()
    first = tmp_path / "0.db"
    shutil.copy(model, first)
    last = int(child("reindex_until", first, 0).communicate()[0])
    stages = []
    for statement in sorted({*range(1, last, 7 if long else last // 12), *range(last - 4, last + 1)}):
        path = tmp_path / f"{statement}.db"
        shutil.copy(model, path)
        process = child("reindex_until", path, statement)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        with open_memory(path, embedder="bundled") as memory:
            stages.append(stage(memory, 60, 30))
            assert memory.coverage().pending == 0
            memory.reindex()
            assert stage(memory, 60, 30) == "after"
    assert stages[0] == "before"
    assert stages[-1] == "after"
    assert stages == sorted(stages, reverse=True)  # before, before, …, after: once, and never anything else


def test_a_reindex_in_a_power_cut_is_atomic(tmp_path, disk, ordinary_disk, open_memory):
    chance, cuts = random.Random(1), []

    def perhaps():
        if chance.random() < 0.1:
            cuts.append(disk.cut(tmp_path / f"cut{len(cuts)}", chance))

    with open_memory(tmp_path / "memory.db") as memory:
        disk.connections[-1].wal_autocheckpoint(15)  # so that moving the log into the file is cut short as well
        fill(memory, 60, 30)
        disk.watch = perhaps
        memory.reindex()
    disk.watch = lambda: None
    ordinary_disk()
    assert len(cuts) > 10
    stages = []
    for directory in cuts:
        with open_memory(directory / "memory.db") as memory:
            stages.append(stage(memory, 60, 30))
    assert set(stages) == {"before", "after"}


def test_writes_during_a_reindex_are_stored_and_found(tmp_path, child, open_memory):
    path = tmp_path / "memory.db"
    memory = open_memory(path)
    fill(memory)
    writer = child("write_for_ever", path, "meanwhile")
    printed = [writer.stdout.readline().strip()]
    seen = []

    def watch(step, *_):
        printed.append(writer.stdout.readline().strip())
        if step == "indexing":
            seen.append(memory.recall("subject1001", scope=SHOP).total)

    memory.reindex(watch=watch)
    printed += [writer.stdout.readline().strip() for _ in range(5)]
    writer.kill()
    # Not by communicate(), which would pass over what readline() has read ahead.
    rest, errors = writer.stdout.read(), writer.stderr.read()
    assert errors == ""
    printed += [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    assert all(seen)
    kept = {one.id for one, _ in memory.everything()}
    assert {id.strip() for id in printed} <= kept
    assert memory.check() == []
    assert memory.recall("meanwhile", scope=SHOP, limit=1_000).total >= len(set(printed))


def test_a_second_reindex_at_once_gets_a_clear_error(tmp_path, open_memory):
    path = tmp_path / "memory.db"
    memory, other = open_memory(path), open_memory(path)
    fill(memory, 700)
    refused = []

    def watch(step, *_):
        if not refused:
            with pytest.raises(StoreBusy, match="another reindex is running") as refusal:
                other.reindex()
            refused.append(refusal)

    memory.reindex(watch=watch)
    assert refused
    other.reindex()
    assert memory.check() == []


def test_killed_embedding_resumes_where_it_stopped(tmp_path, child, open_memory):
    path = tmp_path / "memory.db"
    memory = open_memory(path, embedder="bundled")
    memory.remember_many([Draft(f"note {n} tells of subject{n}", SHOP) for n in range(400)])
    process = child("embed", path)
    first = int(process.stdout.readline())
    process.kill()
    process.communicate()
    before = memory.coverage()
    assert before.embedded >= first > 0
    assert before.embedded + before.pending == 400
    assert memory.embed_pending() == before.pending
    assert memory.coverage().pending == 0
    assert memory.check() == []
