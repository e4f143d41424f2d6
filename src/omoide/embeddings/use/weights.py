"""The bundled model's weights, unpacked once into the user's cache and from then on mapped: a process starts in a third of
the time and holds only the pages it uses, which all processes share. The rows of tokens are read one by one instead: mapped,
each of them would bring the pages around it into memory.

Where nothing can be written, each process unpacks them for itself.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from math import prod
from pathlib import Path
from weakref import finalize
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from omoide.embeddings.use import fast_query
from omoide.embeddings.use.model import CHUNKS, EMBEDDED, REACHES, WIDE, TokenTable

_WIDTH = WIDE * len(REACHES)
_TABLE = (CHUNKS * 7_530, EMBEDDED)
_SHAPES: dict[str, tuple[int, ...]] = {
    "scale": (CHUNKS,), "lo": (CHUNKS,), "proj": (EMBEDDED, _WIDTH), "proj_b": (_WIDTH,), "proj_ln_g": (_WIDTH,),
    "proj_ln_b": (_WIDTH,),
    **{f"w1_{reach}": (WIDE, reach * WIDE) for reach, _ in REACHES},
    **{f"w2_{reach}": (reach * WIDE, WIDE) for reach, _ in REACHES},
    **{f"{name}_{reach}": (WIDE,) for name in ("b1", "b2") for reach, _ in REACHES},
    "ln_g": (EMBEDDED + _WIDTH,), "ln_b": (EMBEDDED + _WIDTH,), "cnn_W": (EMBEDDED + _WIDTH, 512), "cnn_b": (512,),
    "d0": (512, 320), "d1": (320, 320), "d2": (320, 512), "d3": (512, 512), "p1": (512, 320), "p3": (320, 512), "eps": (),
    **fast_query.SHAPES,
}  # a table: several entries per line  # fmt: skip
"""The weights in the order of the file, after the table."""
_BYTES = prod(_TABLE) + 4 * sum(map(prod, _SHAPES.values()))
_LAYOUT = crc32(repr((_SHAPES, fast_query.DRAWN)).encode())
"""Part of the file's name: another order or shape is another file."""

Parts = tuple[Mapping[str, NDArray[np.float32]], TokenTable]
"""The weights by name, and the table of tokens."""


class _ReadTable:
    """The table of tokens in a file that is kept open."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_RDONLY)
        finalize(self, os.close, self._descriptor)

    def rows(self, tokens: NDArray[np.int64]) -> NDArray[np.uint8]:
        read = b"".join([os.pread(self._descriptor, EMBEDDED, EMBEDDED * token) for token in tokens.tolist()])
        return np.frombuffer(read, dtype=np.uint8).reshape(len(tokens), EMBEDDED)


class _ArrayTable:
    """The table of tokens in memory."""

    def __init__(self, table: NDArray[np.uint8]) -> None:
        self._table = table

    def rows(self, tokens: NDArray[np.int64]) -> NDArray[np.uint8]:
        return self._table[tokens]


def resource(package: str, name: str) -> Path:
    """Return a file of the model's package, which is not imported: it would load modules that nothing here needs.

    Raises ImportError if there is no such package.
    """
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ImportError(f"there is no package {package}")
    return Path(found.submodule_search_locations[0]) / "resources" / name


def load(package: str, cache: Path) -> Parts:
    source = resource(package, "weights.npz")
    status = source.stat()
    file = cache / f"{package}-{_LAYOUT:x}-{status.st_size:x}-{status.st_mtime_ns:x}.weights"
    try:
        return _map_file(file)
    except (OSError, ValueError):  # fallback: it is made again
        whole = _unpack(source)
    try:
        _save(file, whole)
        return _map_file(file)
    except (OSError, ValueError):  # fallback: those in memory
        weights, table = _split_tensors(whole)
        return weights, _ArrayTable(table)


def _map_file(file: Path) -> Parts:
    whole = np.asarray(np.memmap(file, dtype=np.uint8, mode="r"))
    if len(whole) != _BYTES:
        raise ValueError(f"{file} has {len(whole):,} bytes, expected {_BYTES:,}")
    weights, table = _split_tensors(whole)
    return weights, _ReadTable(file) if hasattr(os, "pread") else _ArrayTable(table)


def _split_tensors(whole: NDArray[np.uint8]) -> tuple[dict[str, NDArray[np.float32]], NDArray[np.uint8]]:
    weights = {}
    start = prod(_TABLE)
    for name, shape in _SHAPES.items():
        end = start + 4 * prod(shape)
        weights[name] = whole[start:end].view(np.float32).reshape(shape)
        start = end
    return weights, whole[: prod(_TABLE)].reshape(_TABLE)


def _unpack(source: Path) -> NDArray[np.uint8]:
    whole = np.empty(_BYTES, dtype=np.uint8)
    weights, table = _split_tensors(whole)
    with source.open("rb") as file, np.load(file, allow_pickle=False) as packed:  # numpy leaves a broken one open
        for chunk in range(CHUNKS):
            table[chunk::CHUNKS] = packed[f"q{chunk + 1}"]
        for name, values in _rename_tensors({name: packed[name] for name in packed.files if not name.startswith("q")}):
            weights[name][...] = values
    for name, values in fast_query.narrow_weights(weights, _ArrayTable(table)).items():
        weights[name][...] = values
    return whole


def _rename_tensors(packed: Mapping[str, NDArray[np.float32]]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the weights as they are used: projections of all convolutions side by side, first convolutions by place."""
    for name, its in (("proj", "proj"), ("proj_b", "proj_b"), ("proj_ln_g", "ln_g"), ("proj_ln_b", "ln_b")):
        yield name, np.concatenate([packed[f"{its}{reach}"] for reach, _ in REACHES], axis=-1)
    for reach, _ in REACHES:
        yield f"w1_{reach}", np.concatenate(np.split(packed[f"w1_{reach}"], reach), axis=1)
    for name in _SHAPES.keys() & packed.keys():
        if not name.startswith("w1"):
            yield name, packed[name]


def _save(file: Path, whole: NDArray[np.uint8]) -> None:
    """Write the file atomically, also where two processes do so at once, and remove those of other versions."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = file.with_suffix(f".{os.getpid()}")
    try:
        own.write_bytes(whole.data)
        own.replace(file)
    finally:
        own.unlink(missing_ok=True)
    for other in file.parent.glob("*.weights"):
        if other != file:
            with suppress(OSError):  # fallback: another process still uses it, or has deleted it
                other.unlink()
