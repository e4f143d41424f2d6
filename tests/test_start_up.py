"""What a process loads before it answers: the modules of omoide, and those of the standard library that take long.

Start-up is most of the time of a command. A module that is missing in a list below slows every start: load it when it is
used, or add it here if every such command needs it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys
sys.stdout, answer = sys.stderr, sys.stdout
try:
    from omoide.interfaces.start import main
    os._exit = sys.exit
    main()
except SystemExit as end:
    assert not end.code, end.code
finally:
    print(*sys.modules, file=answer)
"""
NEVER = {
    *("asyncio", "csv", "difflib", "email", "hashlib", "importlib.metadata", "json", "logging", "numpy", "platformdirs"),
    *("random", "rich", "shutil", "subprocess", "tempfile", "tomllib", "urllib.request", "yaml"),
}
"""Modules that none of these commands needs."""
READS = {
    "omoide.embeddings": "indexer language process_end",
    "omoide.files": "directory_text git repository_stamp",
    "omoide.guard": "permissions secrets validation",
    "omoide.guard.secrets": "patterns",
    "omoide.interfaces": "cli process_end serialize start time_input",
    "omoide.interfaces.cli": "options output",
    "omoide.lifecycle": "retention",
    "omoide.llm": "client",
    "omoide.markdown": "fence record",
    "omoide.model": (
        "event expiry fields hook idempotency llm_call memory mirror project prompt route run scope search source work_tree"
    ),
    "omoide.service": "archives core hook_calls hooks on_demand preparation repositories retention",
    "omoide.storage": (
        "base bitset capabilities hooks idempotency llm_calls prompts rows runs search_index sqlite vector_index work_trees"
    ),
    "omoide.storage.sqlite": (
        "absent cache connection events faults file hooks idempotency llm_calls mirrors names postings projects prompts "
        "ranking_cache reader runs store transaction vectors work_trees writer"
    ),
    "omoide.sync": "hook",
}
"""What every command that opens a store in a known repository loads."""
SEARCH = "analyzer bit_sums candidates confidence constants lexical pipeline query_parts"
COMMANDS = {
    "list": {"omoide.interfaces.cli": "query", "omoide.service": "queries"},
    "recall": {
        "omoide.embeddings": "base",
        "omoide.interfaces.cli": "query",
        "omoide.retrieval": SEARCH,
        "omoide.service": "queries",
    },
    "remember": {
        "omoide.interfaces.cli": "remember",
        "omoide.retrieval": "analyzer blocking constants near_duplicates",
        "omoide.service": "idempotency memories versioning write_path",
    },
}
"""What each loads beside that."""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository that is a project already, with one memory."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("OMOIDE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OMOIDE_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("OMOIDE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("OMOIDE_EMBEDDER", "off")
    place = tmp_path / "shop"
    place.mkdir()
    subprocess.run(["git", "init", "--quiet", str(place)], check=True)
    modules_after(place, "remember", "pnpm を使用")
    return place


def modules_after(place: Path, *arguments: str, input: str = "") -> set[str]:
    """The modules that are loaded when the program ends."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(command, cwd=place, input=input, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def names(*tables: dict[str, str]) -> set[str]:
    return {f"{package}.{name}" for table in tables for package, listed in table.items() for name in listed.split()}


@pytest.mark.parametrize(("command", "text"), [("list", ()), ("recall", ("pnpm",)), ("remember", ("npm も使用",))])
def test_a_command_loads_these_modules_and_no_others(repository, command, text):
    loaded = modules_after(repository, command, *text)
    modules = {name for name in loaded if name.startswith("omoide.") and name.count(".") > 1}
    expected = names(READS, COMMANDS[command])
    assert modules - expected == set(), "loads more than before"
    assert expected - modules == set(), "loads less than before: take them out of the list"
    assert loaded & NEVER == set()


def test_a_hook_at_the_start_of_a_session_loads_neither_the_command_line_nor_git_nor_rules_of_learning(repository):
    call = {"hook_event_name": "SessionStart", "session_id": "one", "cwd": str(repository), "source": "startup"}
    loaded = modules_after(repository, "hook", input=json.dumps(call))
    assert "omoide.service.injections" in loaded
    assert loaded & (NEVER - {"hashlib"}) == set()
    assert {name for name in loaded if name.startswith(("click", "omoide.interfaces.cli", "omoide.transfer"))} == set()
    learning = {"omoide.learning.candidates", "omoide.learning.transcript", "omoide.service.inbox", "omoide.service.meter"}
    assert loaded & {*learning, "omoide.markdown.format"} == set()
