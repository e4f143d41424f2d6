"""Fields that a memory gets when it is created: relevance, source and run, on every interface."""

import json
from itertools import count

import pytest

import omoide
from omoide import Draft, Scope


@pytest.fixture
def memory(place):
    with omoide.open(role="owner") as memory:
        yield memory


WARNING = "src/core/配下の変更は全テスト実行が必須"


def test_the_command_line_gives_a_new_memory_its_relevance(run):
    stored = run("remember", WARNING, "--type", "warning", "--tags", "src/core/**,testing", "--relevance", "0.9", "--json")
    memory = stored.data["memory"]
    assert (memory["type"], memory["tags"], memory["relevance"]) == ("warning", ["src/core/**", "testing"], 0.9)
    assert run("remember", "unknown yet", "--json").data["memory"]["relevance"] == 0.5
    done = run("remember", "too much", "--relevance", "1.5")
    assert done.code == 2
    assert "relevance" in done.err


def test_python_gives_a_new_memory_its_relevance(memory):
    shop = Scope.project("shop")
    assert memory.remember(WARNING, scope=shop, relevance=0.9).memory.relevance == 0.9
    (done,) = memory.remember_many([Draft("another", shop, relevance=0.2)])
    assert done.memory.relevance == 0.2


def test_imports_give_a_new_memory_its_relevance(run, place):
    (place / "one.csv").write_text(f"content,relevance\n{WARNING},0.9\n", encoding="utf-8")
    (place / "two.json").write_text(json.dumps([{"content": "another", "relevance": 0.2}]))
    for file in ("one.csv", "two.json"):
        assert run("import", file).code == 0
    listed = run("list", "--json").data["memories"]
    assert {one["content"]: one["relevance"] for one in listed} == {WARNING: 0.9, "another": 0.2}


def test_front_matter_gives_a_new_memory_its_relevance_and_follows_it(run, place):
    run("mirror", "add", "notes/", "--format", "entries")
    file = place / "notes" / "core-tests.md"
    file.write_text(f"---\ntags: [testing]\nrelevance: 0.9\n---\n\n{WARNING}\n", encoding="utf-8")
    assert run("show", "core-tests", "--json").data["relevance"] == 0.9
    run("revise", "core-tests", "--relevance", "0.4")
    assert "relevance: 0.4\n" in file.read_text(encoding="utf-8")
    run("revise", "core-tests", "--relevance", "0.5")
    assert "relevance" not in file.read_text(encoding="utf-8")
    file.write_text(file.read_text(encoding="utf-8").replace("tags:", "relevance: high\ntags:"), encoding="utf-8")
    done = run("recall", "src/core")
    assert "relevance should be a number from 0 to 1" in done.err


def test_a_person_at_the_command_line_is_the_source_unless_another_is_named(run, monkeypatch):
    texts = (f"pnpm + Turborepo を使用 {number}" for number in count())

    def source(*flags):
        return run("remember", next(texts), *flags, "--json").data["memory"]["source"]

    assert source() == "human"
    assert source("--source", "learning") == "learning"
    assert source("--source", "https://example.org") == "https://example.org"
    assert source("--run", "12") == "run"
    monkeypatch.setenv("OMOIDE_RUN", "run-7")
    assert source() == "run"
    assert source("--source", "human") == "human"


def test_an_agent_is_not_taken_for_a_person(run, memory, monkeypatch):
    assert memory.remember("from code", scope=Scope.project("shop")).memory.source == "python"
    monkeypatch.setenv("OMOIDE_ROLE", "worker")
    assert run("remember", "an agent at the command line", "--json").data["memory"]["source"] == "cli"


@pytest.mark.parametrize(("given", "stored"), [(12, "12"), ("12", "12"), ("run-7", "run-7")])
def test_a_run_is_named_by_its_number_or_its_id(run, memory, given, stored):
    shop = Scope.project("shop")
    assert memory.remember("from a call", scope=shop, source_run_id=given).memory.source_run_id == stored
    assert memory.remember(Draft("from a draft", shop, source_run_id=given)).memory.source_run_id == stored
    revised = memory.revise(1, scope=shop, source_run_id=given)
    assert revised.source_run_id == stored
    assert run("remember", "from a command", "--run", str(given), "--json").data["memory"]["source_run_id"] == stored


@pytest.mark.parametrize("given", [True, 1.5, ["a"]])
def test_anything_else_is_no_run(memory, given):
    with pytest.raises(omoide.InvalidInput, match="source_run_id"):
        memory.remember("x", scope=Scope.everywhere(), source_run_id=given)


def test_an_expiry_in_the_past_is_refused_by_the_command_line_and_kept_by_an_import(run, place):
    done = run("remember", "over already", "--expires", "2020-01-01")
    assert done.code == 2
    assert "expires must be in the future, got '2020-01-01'" in done.err
    assert run("list", "--all-states", "--json").data["total_count"] == 0
    (place / "old.json").write_text(json.dumps([{"content": "over already", "expires_at": "2020-01-01T00:00:00Z"}]))
    assert run("import", "old.json").code == 0
    (kept,) = run("list", "--all-states", "--json").data["memories"]
    assert kept["expires_at"] == "2020-01-01T00:00:00Z"
