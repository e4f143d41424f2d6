"""The benchmark of learning: the transcripts in the repository keep their figures, and a wrong learning is counted."""

import json
from datetime import UTC, datetime

import pytest

from bench import learning_extraction as bench
from omoide import LearningReport, Memory, Scope, Service, State


@pytest.mark.parametrize("directory", bench.TUNED_ON)
def test_on_the_transcripts_of_the_repository_the_claims_hold(directory):
    results = [bench.evaluate(each) for each in bench.load(bench.PLACE / directory, directory, 7)]
    assert len(results) >= 8
    assert {each.transcript.labels["format"] for each in results} == {"claude-code", "codex", "text"}
    assert bench.is_met(bench.figures(results))


def test_no_placeholder_of_a_secret_is_left_and_each_seed_draws_others():
    first, second = (next(bench.load(bench.PLACE / "dev", "dev", seed)) for seed in (1, 2))
    both = [*bench.load(bench.PLACE / "dev", "dev", 1)]
    assert not any(b"\xc2\xabsecret:" in line for each in both for line in each.lines)
    assert first.name == second.name
    assert [*bench.load(bench.PLACE / "dev", "dev", 1)] == both


@pytest.fixture
def transcript(tmp_path):
    (tmp_path / "one.txt").write_text(
        "User: Fix the build.\nAssistant: Done.\n"
        "User: From now on use pnpm for installs.\nUser: Remember that «secret:password» opens the door.\n"
        "User: Remember that the moon is far.\n",
        encoding="utf-8",
    )
    labels = {
        "language": "en",
        "format": "text",
        "expected": [
            {"id": "a", "kind": "request", "by": "person", "text": "pnpm", "all_of": [["pnpm"], ["install"]]},
            {"id": "b", "kind": "request", "by": "person", "text": "never said", "all_of": [["yarn"]]},
        ],
        "acceptable": [],
        "forbidden": [{"kind": "secret", "all_of": [["«secret:password»"]]}],
    }
    (tmp_path / "one.labels.json").write_text(json.dumps(labels, ensure_ascii=False), encoding="utf-8")
    (found,) = bench.load(tmp_path, "test", 7)
    return found


def test_hits_misses_and_extras_are_counted(transcript):
    result = bench.evaluate(transcript)
    assert (result.found, len(result.missed), result.extra, result.forbidden) == (
        {"a"},
        1,
        ("the moon is far.",),
        (),
    )
    sums = bench.figures([result])
    assert (sums.precision, sums.recall) == (0.5, 0.5)
    assert not bench.is_met(sums)


def test_a_kept_secret_is_an_error_whatever_else_was_found(transcript, monkeypatch):
    leaked = transcript.lines[3].decode().removeprefix("User: ").strip()

    report = LearningReport(kept=[make_memory(leaked)])
    monkeypatch.setattr(Service, "learn", lambda memory, turns, **options: report)
    result = bench.evaluate(transcript)
    assert [kind for kind, _, _ in result.forbidden] == ["secret"]
    assert not bench.is_met(bench.figures([result]))


def make_memory(content, at=datetime(2026, 1, 1, tzinfo=UTC)):
    start = ("id", 1, Scope.project("bench"), None, "learning", "topic", False, content, (), (), "learning")
    return Memory(*start, 1.0, 0.5, 0, False, State.ACTIVE, at, at, None, None, 1)


def test_without_unseen_transcripts_nothing_is_judged(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "TUNED_ON", ("test", "test2"))  # two of them, to save time
    monkeypatch.setattr("sys.argv", ["bench", "--test", str(tmp_path / "none")])
    assert bench.main() == 0
    out = capsys.readouterr().out
    assert "the claims are not judged" in out
    assert "test, tuned on" in out
    assert "test2, tuned on" in out
