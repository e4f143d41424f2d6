"""Expiry: who may set it, and in which listing an expired memory stands."""

from datetime import timedelta

import pytest

from omoide import Actor, Draft, NotAllowed, Role, Scope

SHOP = Scope.project("shop")


@pytest.fixture
def owner(tmp_path, open_memory):
    return open_memory(tmp_path / "memory.db")


@pytest.fixture
def worker(tmp_path, open_memory):
    return open_memory(tmp_path / "memory.db", actor=Actor("agent-7", Role.WORKER))


WAYS = {
    "revise": lambda worker, at: worker.revise("db", scope=SHOP, expires_at=at),
    "remember by key": lambda worker, at: worker.remember("PostgreSQL", scope=SHOP, key="db", expires_at=at),
    "remember by topic and type": lambda worker, at: worker.remember(
        "other words", scope=SHOP, topic="Database", type="decision", expires_at=at
    ),
    "remember_many": lambda worker, at: worker.remember_many(
        [Draft("one more", SHOP), Draft("PostgreSQL", SHOP, key="db", expires_at=at)]
    ),
    "gather": lambda worker, at: worker.gather([Draft("other words", SHOP, key="db", expires_at=at)]),
    "adopt": lambda worker, at: worker.adopt([Draft("PostgreSQL", SHOP, key="db", expires_at=at)]),
    "as a named agent": lambda worker, at: worker.acting_as("boss").revise("db", scope=SHOP, expires_at=at),
}


@pytest.mark.parametrize("had", [None, 30], ids=["without expiry", "with a later one"])
@pytest.mark.parametrize("way", WAYS)
def test_a_worker_cannot_let_an_existing_memory_expire_earlier(owner, worker, clock, way, had):
    expires_at = None if had is None else clock() + timedelta(days=had)
    owner.remember(
        "PostgreSQL", scope=SHOP, key="db", topic="Database", type="decision", pinned=True, expires_at=expires_at
    )
    before = owner.show("db", scope=SHOP), len(list(owner.everything()))
    for seconds in (-1, 0, 1.5, 86_400):
        with pytest.raises(NotAllowed, match="only admin or owner may"):
            WAYS[way](worker, clock() + timedelta(seconds=seconds))
    assert (owner.show("db", scope=SHOP), len(list(owner.everything()))) == before
    clock.step(2)
    assert [one.key for one in owner.resume(scope=SHOP).pinned] == ["db"]


def test_a_worker_may_lengthen_or_remove_an_expiry_and_give_one_to_what_is_new(owner, worker, clock):
    soon, later = clock() + timedelta(days=1), clock() + timedelta(days=2)
    owner.remember("PostgreSQL", scope=SHOP, key="db", expires_at=soon)
    assert worker.revise("db", scope=SHOP, expires_at=later).expires_at == later
    assert worker.remember("PostgreSQL 17", scope=SHOP, key="db", expires_at=later).memory.expires_at == later
    assert worker.revise("db", scope=SHOP, expires_at=None).expires_at is None
    assert worker.remember("freeze until the launch", scope=SHOP, expires_at=soon).memory.expires_at == soon


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN])
def test_whoever_may_archive_may_shorten_an_expiry(tmp_path, open_memory, clock, role):
    memory = open_memory(tmp_path / "memory.db", actor=Actor("someone", role))
    memory.remember("PostgreSQL", scope=SHOP, key="db")
    for days in (2, 1, -1):
        at = clock() + timedelta(days=days)
        assert memory.revise("db", scope=SHOP, expires_at=at).expires_at == at


def test_the_command_line_refuses_a_worker_an_earlier_expiry(run, monkeypatch, place):
    run("remember", "PostgreSQL", "--key", "db", "--pin")
    monkeypatch.setenv("OMOIDE_ROLE", "worker")
    editor = place / "editor.sh"
    editor.write_text("#!/bin/sh\nsed -i 's/^expires_at:.*/expires_at: 2099-01-01/' \"$1\"\n")
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    for command in (
        ["revise", "db", "--expires", "1d"],
        ["remember", "PostgreSQL", "--key", "db", "--expires", "1d"],
        ["edit", "db"],
    ):
        refused = run(*command)
        assert refused.code == 2, command
        assert "tester is a worker, and only admin or owner may archive #1 or let it expire earlier" in refused.err
    assert run("show", "db", "--json").data["expires_at"] is None
