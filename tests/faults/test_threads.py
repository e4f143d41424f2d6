"""Many threads on several stores of one file, on a busy machine: no verb fails, and no connection stays in a transaction."""

import gc
import itertools
import logging
import random
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from itertools import islice

import apsw
import msgspec
import pytest

import omoide
from omoide import Draft, Scope, State
from omoide.errors import StoreBusy, StoreError
from omoide.learning.transcript import Speaker, Turn
from omoide.model import HookCall, HookEvent, Query, Task
from omoide.service import Service
from omoide.storage.sqlite.store import SqliteStore

SHOP = Scope.project("shop")
STORES, THREADS, SPINNING = 3, 16, 6
ELSEWHERE = {
    "acting_as", "close", "close_quickly", "with_idempotency_key", "with_source",  # no verbs
    "hooks", "location", "settings", "types",  # no verbs either
    "join", "ensure_list_mirror", "replace_memory_file", "reset_sync_state",  # need files that people edit
    "resolve", "accept_entries",  # the same
}  # several entries per line  # fmt: skip


@pytest.fixture
def busy_machine():
    """Other processes take all the time they can get."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(SPINNING)]
    yield
    for process in spinning:
        process.kill()
        process.wait()


class Worker(threading.Thread):
    """Calls all verbs, in another order each time, on memories of its own and on those of all."""

    def __init__(self, number, memory, directory, until):
        super().__init__()
        self.errors = ["not finished"]
        self.called = set()
        self._number, self._memory, self._directory, self._until = number, memory, directory, until
        self._chance = random.Random(number)
        self._scope = Scope.session("shop", f"worker-{number}")

    def __getattr__(self, verb):
        self.called.add(verb)
        return getattr(self._memory, verb)

    def run(self):
        for n in itertools.count():
            steps = [
                self.keep,
                self.find,
                self.find,
                self.find,
                self.change,
                self.review,
                self.replay_runs,
                self.talk,
                self.manage,
            ]
            if self._number < STORES:  # these take the database for themselves
                steps.append(self.care)
            self._chance.shuffle(steps)
            for step in steps:
                if n and time.monotonic() > self._until:
                    self.errors.remove("not finished")
                    return
                try:
                    step(n)
                except (omoide.OmoideError, apsw.Error) as error:
                    self.errors.append(f"{step.__name__}: {error!r}")

    def keep(self, n):
        name = f"{self._number}.{n}"
        self.remember(f"note {name}", scope=self._scope, key=f"k{n}")
        self.entry(f"k{n}", scope=self._scope)
        self.remember(f"shared {name}", scope=SHOP)
        self.remember_many([Draft(f"many {name} {k}", self._scope) for k in range(3)])
        self.import_drafts([Draft(f"gathered {name}", self._scope)])
        self.import_memories([Draft(f"adopted {name}", self._scope)])

    def find(self, n):
        self.list(scope=SHOP, limit=2)
        self.recall("", scope=SHOP, limit=2)
        self.recall("note shared", scope=self._scope)
        self.retrieve("note", scope=self._scope)
        self.compose(Task(title="note"), scope=self._scope)
        self.project_files("shop")
        self.resume(scope=self._scope, limit=1)
        self.summary(scope=SHOP)
        self.events(scope=SHOP)
        self.events_after(self.last_event() - 2, scope=SHOP)
        self.tally()
        self.latest_event()
        self.by_key("k0", scope=self._scope)
        self.sessions(scope=SHOP)
        self.projects()
        self.catalogue()
        self.route("the zebra of the shop", directory=self._directory)
        self.project("shop", limit=1)
        self.locate(self._directory / f"root-{self._number}")
        self.identify(self._directory / f"root-{self._number}")
        self.automatic_retirements()
        self.stats()
        self.mirrors()
        self.conflicts()
        with closing(self.everything()) as everything:
            list(islice(everything, 2))

    def change(self, n):
        one, two = (self.remember(f"{what} {self._number}.{n}", scope=self._scope).memory.id for what in ("one", "two"))
        at = {"scope": self._scope}
        self.revise(one, content=f"revised {n}", **at)
        self.revert(one, 1, **at)
        self.append_activity(f"done {n}", **at)
        self.pin(one, **at)
        self.unpin(one, **at)
        self.archive(one, **at)
        self.restore(one, **at)
        self.link(one, "relates", two, **at)
        self.links(one, **at)
        self.unlink(one, "relates", two, **at)
        self.history(one, **at)
        self.show(one, **at)
        self.record_use([one], **at)
        self.similar(one, **at)
        self.promote(one, **at)
        self.forget(two, **at)

    def review(self, n):
        own = Scope.project(f"reviewed-{self._number}")
        talk = ("The worker listens on port 9000.", "Deploys run at 22:00 UTC.")
        self.learn([Turn(Speaker.AGENT, text, 1) for text in talk], scope=own, run=str(n))
        for verb, proposal in zip((self.approve, self.reject), self.proposals(scope=own), strict=False):
            verb(proposal.id, scope=own)
        self.llm_usage(days=1)

    def replay_runs(self, n):
        own = Scope.project(f"runs-{self._number}")
        one = self.remember(f"first {n}", scope=own).memory.number
        self.fix_relevance(one, scope=own)
        self.release_relevance(one, scope=own)
        self.compose(Task(title="first"), scope=own, record=True)
        self.compose(Task(title="second"), scope=own, record=True)
        newest, older = (run.number for run in self.runs(scope=own, limit=2))
        self.called.add("run")  # of the memory, not of this thread
        self._memory.run(newest, scope=own)
        self.replay(newest, scope=own)
        self.why(newest, scope=own)
        self.blame("first", scope=own)
        self.compare_runs(newest, older, scope=own)
        self.outcome(newest, "success", scope=own)
        self.undo_outcome(newest, scope=own)
        self.run_report(scope=own)
        self.project_block(scope=own)
        self.record_prompt("first", Task(title="first"), [one], scope=own, layout="list")
        self.record_copy(self._directory / "copy.db")

    def talk(self, n):
        session = f"talk-{self._number}"
        call = HookCall(
            "codex", HookEvent.PROMPT, session=session, prompt=f"shared note {n}", directory=str(self._directory)
        )
        with suppress(StoreBusy):  # by its promise: it waits only a moment for others, because an agent waits for it
            self.hook(call)
            self.hook(msgspec.structs.replace(call, event=HookEvent.STOP, last_message=f"We decided to use port {n}."))
        self.hook_calls(limit=2)
        self.last_hook_calls()
        self.injections(session=session)
        self.has_inbox()
        self.learn_from_inbox(seconds=0.1)
        self.meter(scope=SHOP)
        self.learn_corrections(self._directory, scope=SHOP)
        self.record_work_tree(None, self._directory, scope=SHOP)
        self.begin_turn(self._directory, session=f"{self._number}", scope=SHOP)
        self.end_turn(self._directory, session=f"{self._number}", scope=SHOP)

    def manage(self, n):
        started = Scope.session("shop", f"{self._number}-{n}")
        self.start_session(scope=started)
        self.session(scope=started)
        self.project_by_number(self.create_project(f"made/{self._number}/{n}").number)
        self.describe_project(f"made/{self._number}/{n}", "described")
        (self._directory / f"root-{self._number}").mkdir(exist_ok=True)
        self.claim(self._directory / f"root-{self._number}")
        self.bind_project(self._directory / f"root-{self._number}", f"made/{self._number}/{n}")
        self.create_project(f"old/{self._number}/{n}")
        self.merge_projects(f"old/{self._number}/{n}", f"made/{self._number}/{n}")
        self.undo_retirement()
        self.summary_due(scope=SHOP)
        self.summarize(scope=SHOP, dry_run=True)
        self.undo_summary(scope=Scope.project(f"made/{self._number}/{n}"))
        self.coverage()
        self.embed_pending()
        self.retire(dry_run=True)
        self.retire_if_due()
        self.probe()
        self.flush()

    def care(self, n):
        place = self._directory / f"mirrored-{self._number}-{n}.md"
        self.unmirror(self.mirror(place, scope=Scope.session("shop", f"mirrored-{self._number}")).number)
        kept = self.remember(f"purged {self._number}.{n}", scope=self._scope).memory
        self.forget(kept.id, scope=self._scope)
        if self._number == 0:
            self.backup(self._directory / f"copy{n}.db")
            self.reindex()
        elif self._number == 1:
            self.check()
            self.scan()
            self.repair()
            self.create_project(f"named/{n}")
            self.rename_project(f"named/{n}", f"renamed/{n}")
        else:
            self.purge_candidates([kept.id], scope=self._scope)
            try:
                self.purge([kept.id], scope=self._scope)
            except omoide.StoreError as error:
                if "it is erased, but another process uses the file" not in str(error):
                    raise


def test_after_all_verbs_in_many_threads_every_connection_is_idle(tmp_path, busy_machine, long, caplog):
    path = tmp_path / "memory.db"
    memories = [omoide.open(path, wait=120) for _ in range(STORES)]
    until = time.monotonic() + (30 if long else 6)
    workers = [Worker(n, memories[n % STORES], tmp_path, until) for n in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    errors = [error for worker in workers for error in worker.errors]
    assert errors == [], errors[:3]
    called = set.union(*(worker.called for worker in workers))
    assert {name for name in dir(Service) if name[0] != "_"} - ELSEWHERE - called == set()
    for memory in memories:
        assert memory._store.idle
        assert memory._store._connection.txn_state() == apsw.SQLITE_TXN_NONE
    assert [record for record in caplog.records if record.name == "omoide.store"] == []
    remember_elsewhere(path, "aardvark")
    for memory in memories:
        assert [hit.memory.content for hit in memory.recall("aardvark", scope=SHOP).hits][:1] == ["aardvark"]
    assert memories[0].check() == []
    for memory in memories:
        memory.close()


def remember_elsewhere(path, content):
    script = (
        "import sys, omoide\nwith omoide.open(sys.argv[1]) as m: m.remember(sys.argv[2], scope=omoide.Scope.project('shop'))"
    )
    subprocess.run([sys.executable, "-c", script, path, content], check=True)


@pytest.fixture
def store(tmp_path, open_memory):
    """With a thousand memories and three runs, so that none of its iterators is at its end after one."""
    with open_memory(tmp_path / "memory.db") as memory:
        memory.remember_many(Draft(f"note {n}", SHOP) for n in range(1000))
        for _ in range(3):
            memory.compose(Task(title="note"), scope=SHOP, record=True)
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        yield store


def iterators(tx, at):
    return [tx.browse(Query(SHOP), at), tx.everything(), tx.unused_memories(at, at), tx.runs(SHOP)]


@pytest.mark.parametrize("begin", ["read", "write", "snapshot"])
@pytest.mark.parametrize("begun", [True, False])
def test_an_iterator_ends_with_its_transaction(store, clock, begin, begun):
    with getattr(store, begin)() as tx:
        left = iterators(tx, clock.step(10))
        if begun:
            for one in left:
                next(one)
    assert store._connection.txn_state() == apsw.SQLITE_TXN_NONE
    for one in left:
        with pytest.raises(StoreError, match="this transaction has ended"):
            next(one)
    for verb in (lambda: tx.memory(1), lambda: tx.browse(Query(SHOP), clock.now), lambda: next(tx.everything())):
        with pytest.raises(StoreError, match="this transaction has ended"):
            verb()


def test_a_failed_transaction_ends_its_iterators(store, clock):
    left = []

    def fail(tx):
        left.extend(iterators(tx, clock.step(10)))
        next(left[0])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), store.write() as tx:
        fail(tx)
    assert store._connection.txn_state() == apsw.SQLITE_TXN_NONE
    with pytest.raises(StoreError, match="this transaction has ended"):
        next(left[0])


@pytest.mark.parametrize("statement", ["BEGIN", "BEGIN IMMEDIATE", "SELECT * FROM memories"])
@pytest.mark.parametrize("verb", ["read", "write", "scrub", "touch"])
def test_a_connection_left_in_a_transaction_is_reopened_and_logged(store, clock, caplog, statement, verb):
    left = store._connection.execute(statement)
    if verb == "scrub":
        store.scrub()
    elif verb == "touch":
        store.touch(range(1, 3000), clock())
    else:
        with getattr(store, verb)() as tx:
            assert tx.memory(1).content == "note 0"
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("omoide.store", logging.ERROR)
    assert store.location in record.message
    assert "was unexpectedly inside a transaction" in record.message
    assert store._connection.pragma("synchronous") == 2  # FULL
    remember_elsewhere(store.location, "aardvark")
    with store.read() as tx:
        assert next(tx.browse(Query(SHOP), clock.step(10))).content == "aardvark"
    assert len(caplog.records) == 1
    del left


def test_a_store_read_by_another_thread_can_be_used_by_all(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db")
    memory.remember_many(Draft(f"note {n}", SHOP) for n in range(3))
    begun = []
    thread = threading.Thread(target=lambda: begun.append((export := memory.everything(), next(export))))
    thread.start()
    thread.join()
    memory.remember("written meanwhile", scope=SHOP)
    export, _ = begun.pop()
    assert [one.content for one, _ in export] == ["note 1", "note 2"]
    del export
    gc.collect()
    assert memory.list(scope=SHOP, states=tuple(State)).total == 4


def test_a_second_store_of_one_file_keeps_the_locks_of_the_first(tmp_path, open_memory):
    path = tmp_path / "memory.db"
    with open_memory(path) as memory:
        memory.remember("zebra", scope=SHOP)
    first = open_memory(path, retire="manual")
    open_memory(path, retire="manual")
    # Whoever closes a database last removes its log. This client of SQLite is not the last.
    script = (
        "import sys, sqlite3; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM memories').fetchall(); c.close()"
    )
    subprocess.run([sys.executable, "-c", script, path], check=True)
    first.remember("okapi", scope=SHOP)
    subprocess.run([sys.executable, "-c", script, path], check=True)
    script = "import sys, omoide; print(omoide.open(sys.argv[1]).list(scope=omoide.Scope.project('shop')).total)"
    assert subprocess.run([sys.executable, "-c", script, path], check=True, capture_output=True).stdout == b"2\n"
