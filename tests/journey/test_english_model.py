"""The model for English beside the bundled one: the vectors of its reference implementation, and two spaces in one store."""

import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from omoide import Draft, Scope
from omoide.embeddings import base, english
from omoide.embeddings.base import make_english_embedder
from omoide.embeddings.english import EnglishEmbedder
from omoide.embeddings.minilm import weights
from omoide.embeddings.minilm.tokenizer import Tokenizer
from omoide.errors import EmbedderUnavailable

SHOP = Scope.project("shop")
BOTH = "bundled+english"
UNDO, REFLOG, DATABASE = (
    "`kubectl rollout undo` goes back to the previous deployment",
    "`git reflog` brings back a commit after a hard reset",
    "データベースは毎晩更新される",
)
# The first values of the vector of each text, by sentence-transformers 6.2 with PyTorch 2.13 on the files of the package.
REFERENCE = {
    "how to find large files in linux": (0.04804, 0.04342, -0.07695, -0.05962, 0.09817, -0.06691),
    "def read_json(path):\n    with open(path) as f:\n        return json.load(f)": (
        -0.00991, 0.0278, -0.06678, 0.05898, -0.03585, -0.08028,
    ),
    "Ünïcode naïve café — “quotes” … ½": (-0.0585, -0.00189, 0.02678, 0.03561, -0.01535, -0.01214),
    "Use pnpm to install packages; don't use npm.": (0.05504, -0.04025, -0.03011, -0.00985, 0.10727, -0.0334),
    "": (-0.11884, 0.0483, -0.00255, -0.01101, 0.05195, 0.01029),
    "日本語とEnglishの混在": (0.02008, 0.11017, 0.11351, -0.02631, -0.02747, 0.0344),
    "release notes " * 200: (-0.01518, -0.02311, -0.00391, -0.05079, 0.01642, 0.09108),
}  # several entries per line  # fmt: skip
COSINES = {(0, 1): 0.0835, (0, 3): 0.0489, (1, 3): 0.0453, (2, 4): 0.1638, (0, 6): 0.156, (3, 5): -0.0996}
"""Of some of these texts with each other: all values of the vectors count."""
TOKENS = {
    "how to find large files in linux": [101, 2129, 2000, 2424, 2312, 6764, 1999, 11603, 102],
    "Ünïcode naïve café — “quotes” … ½": [101, 27260, 15743, 7668, 1517, 1523, 16614, 1524, 1529, 1092, 102],
    "Use pnpm to install packages; don't use npm.": [
        101, 2224, 1052, 16275, 2213, 2000, 16500, 14555, 1025, 2123, 1005, 1056, 2224, 27937, 2213, 1012, 102,
    ],
    "日本語とEnglishの混在": [101, 1864, 1876, 1950, 1666, 13159, 13602, 30197, 100, 100, 102],
    "a\u200bb\x00\ufffd \t\u3000": [101, 11113, 102],
    "x" * 101: [101, 100, 102],
    "": [101, 102],
}  # several entries per line  # fmt: skip


def model_directory() -> Path:
    found = find_spec(english.PACKAGE)
    assert found is not None, "the English model is missing: make test installs it"
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def embedder():
    return EnglishEmbedder()


@pytest.fixture
def memory(tmp_path, open_memory):
    opened = open_memory(tmp_path / "memory.db", embedder=BOTH)
    opened._embeddings._background = False
    opened.remember_many([Draft(note, SHOP) for note in (UNDO, REFLOG, DATABASE)])
    assert opened.embed_pending() == 3
    return opened


@pytest.fixture
def broken_package(tmp_path, monkeypatch):
    """The package, with a file of weights that is cut off."""
    monkeypatch.setattr(base, "_shared_english", cache(EnglishEmbedder))  # not the one that is loaded already
    directory = tmp_path / "packages" / "broken_minilm" / "model"
    directory.mkdir(parents=True)
    (directory.parent / "__init__.py").touch()
    shutil.copy(model_directory() / "vocab.txt", directory)
    with (model_directory() / "model.safetensors").open("rb") as file:
        (directory / "model.safetensors").write_bytes(file.read(20_000))
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.setattr(english, "PACKAGE", "broken_minilm")


def english_counts(memory):
    """How many memories have a vector of the English model, and how many have been looked at."""
    with memory._store.read() as tx:
        model = tx.model(EnglishEmbedder.name)
        if model is None:
            return 0, 0
        numbers = [hit.number for hit in tx.everything()]
        return len({number for number, _ in tx.vectors(model.number, numbers)}), tx.coverage(model.number).embedded


def test_tokens_are_those_of_the_reference_implementation():
    tokenizer = Tokenizer((model_directory() / "vocab.txt").read_text("utf-8").splitlines())
    assert {text: tokenizer.encode(text, 256) for text in TOKENS} == TOKENS
    assert tokenizer.encode("a b c d e", 4) == [101, 1037, 1038, 102]


def test_vectors_are_those_of_the_reference_implementation_singly_and_in_batches(embedder):
    texts = [*REFERENCE]
    together = embedder.vectors(texts)
    assert np.allclose(together[:, :6], [*REFERENCE.values()], atol=1e-4)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for (one, other), cosine in COSINES.items():
        assert float(together[one] @ together[other]) == pytest.approx(cosine, abs=2e-4)
    assert np.allclose(np.concatenate([embedder.vectors([text]) for text in texts]), together, atol=1e-5)
    assert embedder.vectors([]).shape == (0, english.DIMENSIONS)


def test_a_table_that_cannot_be_read_at_a_place_gives_the_same_vectors(monkeypatch, embedder):
    texts = [*REFERENCE]
    usual = embedder.vectors(texts)
    monkeypatch.delattr(weights.os, "pread")
    assert np.array_equal(EnglishEmbedder().vectors(texts), usual)


def test_an_english_question_is_compared_in_both_spaces(memory, tmp_path, open_memory):
    question = "revert a broken release"
    alone = open_memory(tmp_path / "memory.db", embedder="bundled")
    assert alone.recall(question, scope=SHOP, min_score=0).hits[0].memory.content == REFLOG
    hit = memory.recall(question, scope=SHOP, min_score=0).hits[0]
    assert hit.memory.content == UNDO
    assert hit.why.startswith("meaning: ")


def test_only_english_memories_get_a_vector_of_the_english_model(memory):
    assert english_counts(memory) == (2, 3)
    assert memory.coverage().pending == 0
    assert memory.recall("When is the database refreshed?", scope=SHOP).hits[0].memory.content == DATABASE


def test_japanese_alone_never_loads_the_english_model(tmp_path, open_memory, broken_package):
    memory = open_memory(tmp_path / "memory.db", embedder=BOTH)
    memory.remember_many([Draft(DATABASE, SHOP), Draft("猫が窓辺で眠っている", SHOP)])
    assert memory.embed_pending() == 2
    assert memory.recall("データベースの更新はいつ", scope=SHOP).hits[0].memory.content == DATABASE
    assert (memory.coverage().english_trouble, memory.coverage().pending) == ("", 0)


def test_a_revised_memory_follows_its_language(memory):
    number = memory.recall("kubectl rollout", scope=SHOP).hits[0].memory.number
    memory.revise(number, scope=SHOP, content="kubectl rollout undo で前のデプロイに戻す")
    assert memory.embed_pending() == 1
    assert english_counts(memory) == (1, 3)
    memory.revise(number, scope=SHOP, content=UNDO)
    assert memory.embed_pending() == 1
    assert english_counts(memory) == (2, 3)


def test_memories_of_before_get_their_vectors_when_the_english_model_is_added(tmp_path, open_memory):
    before = open_memory(tmp_path / "memory.db", embedder="bundled")
    before.remember_many([Draft(note, SHOP) for note in (UNDO, REFLOG, DATABASE)])
    before.embed_pending()
    after = open_memory(tmp_path / "memory.db", embedder=BOTH)
    after._embeddings._background = False
    assert (before.coverage().pending, after.coverage().pending) == (0, 3)
    assert after.recall("git reflog", scope=SHOP).hits[0].memory.content == REFLOG
    assert after.embed_pending() == 3
    assert after.coverage().pending == 0


def test_reindex_keeps_the_vectors_of_both_models_and_drops_what_is_no_longer_used(memory, tmp_path, open_memory):
    memory.reindex()
    assert english_counts(memory) == (2, 3)
    open_memory(tmp_path / "memory.db", embedder="bundled").reindex()
    assert english_counts(memory) == (0, 0)
    assert memory.embed_pending() == 3
    assert english_counts(memory) == (2, 3)


def test_a_broken_english_model_leaves_the_other_one_in_use_and_is_reported(tmp_path, open_memory, broken_package):
    memory = open_memory(tmp_path / "memory.db", embedder=BOTH)
    memory._embeddings._background = False
    memory.remember_many([Draft(note, SHOP) for note in (UNDO, REFLOG, DATABASE)])
    assert memory.embed_pending() == 3
    assert memory.recall("When is the database refreshed?", scope=SHOP).hits[0].memory.content == DATABASE
    coverage = memory.coverage(probe=True)
    assert (coverage.embedder, coverage.trouble, coverage.pending) == ("use-multilingual-3", "", 0)
    assert "the English model cannot be loaded" in coverage.english_trouble


def test_stats_and_doctor_name_the_models_in_use(run, monkeypatch):
    monkeypatch.setenv("OMOIDE_EMBEDDER", BOTH)
    run("remember", UNDO)
    assert "1 memories embedded" in run("reindex", "--pending").err
    models = "use-multilingual-3 + all-MiniLM-L6-v2"
    assert f"1 embedded, 0 pending ({models})" in run("stats").out
    assert f"{models}: 1 memories embedded, 0 pending" in run("doctor").out


def test_doctor_reports_a_broken_english_model(run, broken_package, monkeypatch):
    monkeypatch.setenv("OMOIDE_EMBEDDER", BOTH)
    run("remember", UNDO)
    checked = run("doctor")
    assert checked.code != 0
    assert "the English model cannot be loaded" in checked.out
    assert "until it works, recall uses the other model alone" in checked.out


def test_the_setting_decides_whether_there_is_an_english_model(monkeypatch):
    assert make_english_embedder("auto") is make_english_embedder(BOTH) is not None
    assert make_english_embedder("bundled") is make_english_embedder("off") is None
    assert make_english_embedder("http://localhost:1/v1#model") is None
    monkeypatch.setattr(english, "PACKAGE", "no_such_package")
    assert make_english_embedder("auto") is None
    with pytest.raises(EmbedderUnavailable, match="not installed"):
        EnglishEmbedder().vectors(["hello"])


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 7, b"\xff" * 100, (10**6).to_bytes(8, "little") + b"{}", b"\x02" + b"\x00" * 7 + b"[]"]
)
def test_a_file_that_holds_no_weights_is_refused(tmp_path, content):
    file = tmp_path / "model.safetensors"
    file.write_bytes(content)
    with pytest.raises((ValueError, KeyError)):
        weights.load(file)
