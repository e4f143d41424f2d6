"""Real agent clients after `omoide install`, each against a stub of its model: what reaches the model, and what is learnt.

They need npm and OMOIDE_LONG=1. A client that cannot be installed here is skipped.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clients import model_stub
from clients.agents import AGENTS, ROOT, Agent, Place, install_packages
from clients.codex_server import Codex
from clients.model_stub import ModelRequest, ModelStub

PLUGIN = str(ROOT / "plugin")
PNPM = "We use pnpm as the package manager, never npm"
DEPLOY = "デプロイは毎週木曜の 15 時に行う"
NOTES = 60
"""Newer memories: the two above are not in what a session starts with, so only a prompt brings them."""


@pytest.fixture
def stub() -> Iterator[ModelStub]:
    with model_stub.serve() as running:
        yield running


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest, long: bool) -> Agent:
    if not long:
        pytest.skip("installs programs and takes minutes: run with OMOIDE_LONG=1")
    return AGENTS[request.param]


@pytest.fixture
def place(agent: Agent, stub: ModelStub, tmp_path: Path) -> Place:
    return prepare(agent, stub, tmp_path)


def prepare(agent: Agent, stub: ModelStub, tmp_path: Path) -> Place:
    """Install a client; make a home with Japanese and a space in its name, a repository, and memories."""
    commands, reason = install_packages(agent.package)
    if commands is None:
        pytest.skip(reason)
    place = Place(tmp_path / "山田 太郎", tmp_path / "shop", commands, stub.url)
    place.home.mkdir()
    place.project.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=place.project, check=True)
    # A hook gives up after a second; a machine that runs tests may need longer to start it.
    place.put(".config/omoide/config.toml", 'hook_seconds = 30\nembedder = "off"\n')
    for text in (PNPM, DEPLOY):
        run(place, "remember", text)
    notes = [{"content": f"Note {number} on the subject {chr(97 + number % 26)}{number * 7919}"} for number in range(NOTES)]
    run(place, "import", "-", "--format", "jsonl", input="".join(json.dumps(note) + "\n" for note in notes))
    agent.settings(place)
    return place


def run(place: Place, *arguments: str, input: str | None = None) -> str:
    """Run omoide as the clients find it."""
    command = [str(Path(sys.executable).with_name("omoide")), *arguments]
    done = subprocess.run(command, cwd=place.project, env=place.environment, capture_output=True, text=True, input=input)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask(agent: Agent, place: Place, stub: ModelStub, prompt: str, *, resume: bool = False) -> ModelRequest:
    """Ask the client something; return the request for its turn: there is one, whatever the hooks do."""
    stub.requests.clear()
    agent.ask(place, prompt, resume=resume)
    (turn,) = stub.turns()
    assert prompt.split(".")[0] in turn.text
    return turn


def blocks(request: ModelRequest) -> int:
    """How many texts of omoide a request contains; Gemini CLI escapes the brackets."""
    return request.text.count("omoide-memory id=")


def calls(place: Place, event: str) -> list[dict[str, Any]]:
    """The calls of hooks that omoide logged, the newest first."""
    logged = json.loads(run(place, "hook", "log", "--json", "--limit", "100"))
    return [call for call in logged if call["event"] == event]


def learnt(place: Place, question: str, text: str) -> bool:
    """Whether a text is in memory: commands learn after their output, each for a moment, so another one may be needed."""
    return any(text in run(place, "recall", question) for _ in range(5))


NOT_SETTINGS = ("/.git/", "/.local/", "/.cache/", "/node_modules/", "/.config/omoide/")


def files(place: Place) -> dict[str, bytes]:
    """The settings of all clients, in the home and in the project."""
    found = {}
    for directory in (place.home, place.project):
        for path in directory.rglob("*"):
            name = str(path.relative_to(directory.parent))
            if path.is_file() and not any(part in name for part in NOT_SETTINGS):
                found[name] = path.read_bytes()
    return found


def test_memories_reach_the_model_once_and_what_was_said_is_learnt(agent: Agent, place: Place, stub: ModelStub) -> None:
    before = files(place)
    run(place, "install", agent.name)

    related = ask(agent, place, stub, "Which package manager do we use?")
    assert PNPM in related.text
    assert DEPLOY not in related.text
    assert blocks(related) == 2  # of the session's start and of the prompt
    assert calls(place, "prompt")[0]["client"] == agent.name
    assert (calls(place, "prompt")[0]["memories"], calls(place, "session start")[0]["memories"]) == (1, 20)

    resumed = ask(agent, place, stub, "Which package manager do we use here?", resume=True)
    assert related.text.count("Note 59 on") == 1
    # No second copy, whether the client has kept what was injected or it was injected again.
    assert resumed.text.count("Note 59 on") == 1
    assert resumed.text.count(PNPM) == 1

    unrelated = ask(agent, place, stub, "Always run make check before every commit.")
    assert blocks(unrelated) == 1  # of the session's start
    assert PNPM not in unrelated.text
    assert calls(place, "prompt")[0]["memories"] == 0

    run(place, "install", agent.name, "--project")  # now two settings files name the same hooks
    twice = ask(agent, place, stub, "デプロイは毎週何曜日に行いますか?")
    assert twice.text.count(DEPLOY) == 1
    assert blocks(twice) == 2

    assert learnt(place, "what to run before a commit", "Always run make check before every commit")
    assert len(calls(place, "stop")) >= 4
    assert not [call for call in calls(place, "prompt") + calls(place, "stop") if call["state"] == "failed"]

    run(place, "uninstall", agent.name, "--project")
    run(place, "uninstall", agent.name)
    after = files(place)
    for name, data in before.items():
        assert after[name] == data, name
    for name in set(after) - set(before):
        assert b"omoide" not in after[name] or is_history(name), name


def is_history(name: str) -> bool:
    """Whether a file is the client's own account of the conversation, in which the memories were."""
    history = (
        "/backups/",
        "/trusted_hooks.json",
        ".jsonl",
        ".log",
        "/logs/",
        "/sessions/",
        "/session-state/",
        ".db",
        ".db-wal",
        ".db-shm",
        "/tmp/",
        ".sqlite",
    )
    return any(part in name for part in history)


def test_codex_runs_the_hooks_once_a_person_trusts_them_and_trusts_them_after_an_upgrade(
    long: bool, stub: ModelStub, tmp_path: Path
) -> None:
    if not long:
        pytest.skip("installs programs and takes minutes: run with OMOIDE_LONG=1")
    agent = AGENTS["codex"]
    cautious = agent._replace(
        command=lambda place, prompt: [word for word in agent.command(place, prompt) if "bypass" not in word]
    )
    place = prepare(agent, stub, tmp_path)
    run(place, "install", "codex")
    assert blocks(ask(cautious, place, stub, "Which package manager do we use?")) == 0
    assert "0 of 4 hooks trusted" in run(place, "doctor")

    server = Codex(str(place.commands / "codex"), cwd=place.project, environment=place.environment)
    (listed,) = server.ask("hooks/list", cwds=[str(place.project)])["data"]
    server.end()
    assert (listed["errors"], listed["warnings"]) == ([], [])
    consent = [f'\n[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n' for hook in listed["hooks"]]
    with (place.home / ".codex/config.toml").open("a", encoding="utf-8") as config:
        config.write("".join(consent))  # what /hooks writes when a person agrees

    assert ", trusted;" in run(place, "doctor")
    run(place, "install", "codex")
    assert PNPM in ask(cautious, place, stub, "Which package manager do we use?").text


PLUGINS = {
    "claude-code": lambda place: [],
    "gemini": lambda place: [
        [str(place.commands / "gemini"), "extensions", "link", str(ROOT / "plugin/gemini"), "--consent"]
    ],
    "codex": lambda place: [
        [str(place.commands / "codex"), "plugin", "marketplace", "add", str(ROOT)],
        [str(place.commands / "codex"), "plugin", "add", "omoide@omoide"],
    ],
}
"""What installs the plugin of this repository; Claude Code gets it as an option."""


@pytest.mark.parametrize("name", PLUGINS)
def test_the_plugin_brings_the_same_memories(name: str, long: bool, stub: ModelStub, tmp_path: Path) -> None:
    if not long:
        pytest.skip("installs programs and takes minutes: run with OMOIDE_LONG=1")
    agent = AGENTS[name]
    if name == "claude-code":
        agent = agent._replace(command=lambda place, prompt: [*AGENTS[name].command(place, prompt), "--plugin-dir", PLUGIN])
    place = prepare(agent, stub, tmp_path)
    for command in PLUGINS[name](place):
        environment = {**place.environment, **agent.variables(place)}
        done = subprocess.run(
            command, cwd=place.project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    related = ask(agent, place, stub, "Which package manager do we use?")
    assert related.text.count(PNPM) == 1
    assert blocks(related) == 2
    assert len(calls(place, "stop")) == 1
