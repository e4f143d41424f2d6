"""The benchmarks of speed and size run, on few memories: their figures mean nothing here."""

import pytest

from bench import compose, document, files, footprint, learning, remember

FEW = 120  # the corpus asks a hundred questions


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (document, "SIZES", (FEW, 2 * FEW)),
        (files, "SIZES", (FEW, 2 * FEW)),
        (files, "SCANNED", FEW),
        (files, "SINGLE", 2),
        (footprint, "SIZE", 2 * FEW),
        (footprint, "RUNS", 1),
        (remember, "SINGLE", FEW // 2),
        (remember, "MANY", FEW),
        (remember, "LANGUAGES", {"en": "English"}),
    ):
        monkeypatch.setattr(module, name, value)
    for variable in ("OMOIDE_STORE", "OMOIDE_CONFIG"):  # set by `footprint`: restored after the test
        monkeypatch.setenv(variable, "")


@pytest.mark.parametrize("benchmark", [document, files, footprint, remember], ids=lambda module: module.__name__)
def test_a_benchmark_of_speed_or_size_measures_every_row(benchmark) -> None:
    rows = benchmark.rows()
    assert len({row.what for row in rows}) == len(rows) >= 3
    assert all(row.ours and row.claim for row in rows)


def test_the_benchmark_of_prompts_measures_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SIZE", FEW), ("GLOBS", 10), ("ROUNDS", 1), ("RECORDED", 3)):
        monkeypatch.setattr(compose, name, value)
    rows = compose.rows()
    assert len(rows) == 2
    assert all(row.ours and row.claim for row in rows)


def test_relevance_learns_which_memories_help_where_tasks_differ() -> None:
    found = learning.measure(learning.different_tasks, 20)
    assert sum(each.right for each in found[-1][1]) >= 19
    helpful, harmful, others = found[-1][1][0].means
    assert harmful < others < helpful
