"""Idle servers learn from what agents' hooks left, and ask the language model: on pipes and over HTTP."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import omoide
from journey.http.conftest import MAIN, needs_server
from journey.model_server import ModelServer
from omoide import HookCall, HookEvent, Scope, State

SHOP, BLOG = Scope.project("shop"), Scope.project("blog")
SAID = "We decided to use SQLite instead of Postgres because nobody wants to run a server."
DRAWN = "The nightly build runs at three in the morning."


@pytest.fixture
def model() -> Iterator[ModelServer]:
    server = ModelServer()
    server.answers = [json.dumps({"learnings": [{"text": DRAWN, "kind": "environment"}]})]
    yield server
    server.close()


@pytest.fixture
def leave_turn(place: Path) -> Callable[..., None]:
    """Leaves the end of a turn in the inbox, as a hook does."""

    def leave_turn(session: str = "s1", project: str = "shop", said: str = SAID) -> None:
        with omoide.open(place / "memory.db", project=project) as memory:
            memory.hook(HookCall("codex", HookEvent.STOP, "Stop", session, prompt=said, last_message="Done."))

    return leave_turn


def wait_for_learnings(place: Path, scope: Scope, count: int) -> set[str]:
    """What was learnt, as soon as there is so much of it, or after a minute."""
    until = time.monotonic() + 60
    states = (State.ACTIVE, State.INACTIVE)
    with omoide.open(place / "memory.db") as memory:
        while True:
            found = {one.content for one in memory.list(scope=scope, type="learning", states=states).memories}
            if len(found) >= count or time.monotonic() > until:
                return found
            threading.Event().wait(0.1)


@pytest.mark.parametrize("kind", ["mcp", pytest.param("serve", marks=needs_server)])
def test_a_server_that_nobody_calls_learns_with_the_model(
    kind: str, place: Path, model: ModelServer, leave_turn: Callable[..., None], start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMOIDE_LLM", f"{model.url}/v1#stub")
    start(kind)
    leave_turn()
    assert wait_for_learnings(place, SHOP, 2) == {SAID, DRAWN}
    assert SAID in model.question()


def test_a_server_on_pipes_that_nobody_calls_learns_with_the_model(
    place: Path, model: ModelServer, leave_turn: Callable[..., None]
) -> None:
    leave_turn()
    environment = {**os.environ, "OMOIDE_STORE": str(place / "memory.db"), "OMOIDE_LLM": f"{model.url}/v1#stub"}
    server = subprocess.Popen(
        [sys.executable, "-c", MAIN, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=place
    )
    try:
        assert wait_for_learnings(place, SHOP, 2) == {SAID, DRAWN}
    finally:
        server.communicate(timeout=60)
    assert server.returncode == 0


def test_a_server_with_a_token_bound_to_one_project_learns_from_all_projects(
    place: Path, leave_turn: Callable[..., None], start: Any
) -> None:
    with omoide.open(place / "memory.db") as memory:
        memory.remember("zebra", scope=BLOG)
    server = start("mcp")
    with (place / "memory.db.mcp.tokens").open("a") as tokens:
        tokens.write("a-token-of-the-blog worker projects=blog robot\n")
    call = {"name": "recall", "arguments": {"query": "zebra"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    reply = server.request("POST", "/mcp", body, token="a-token-of-the-blog", Accept="application/json, text/event-stream")
    assert reply.status == 200
    leave_turn()
    assert wait_for_learnings(place, SHOP, 1) == {SAID}
