"""The weights of the English model, mapped from the file of its package: all processes share their pages.

The file is in the safetensors format: the length of a header, the header as JSON, and the tensors. The rows of tokens are
read one by one instead of mapped, because each mapped row would bring the pages around it into memory.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol
from weakref import finalize

import msgspec
import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]

_LENGTH = 8  # bytes of the header's length
_LARGEST_HEADER = 1_000_000
_TABLE = "embeddings.word_embeddings.weight"


class _Tensor(msgspec.Struct):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


class TokenRows(Protocol):
    """The table of tokens."""

    def read(self, tokens: list[int]) -> Rows:
        """Return the rows of these tokens."""


class _FileRows:
    """The table in a file that is kept open."""

    def __init__(self, file: Path, start: int, width: int) -> None:
        self._start, self._width = start, width
        self._descriptor = os.open(file, os.O_RDONLY)
        finalize(self, os.close, self._descriptor)

    def read(self, tokens: list[int]) -> Rows:
        size = 4 * self._width
        read = b"".join([os.pread(self._descriptor, size, self._start + size * token) for token in tokens])
        return np.frombuffer(read, dtype=np.float32).reshape(len(tokens), self._width)


class _MappedRows:
    """The table in memory, where a file cannot be read at a place."""

    def __init__(self, table: Rows) -> None:
        self._table = table

    def read(self, tokens: list[int]) -> Rows:
        return self._table[tokens]


def load(file: Path) -> tuple[Mapping[str, Rows], TokenRows]:
    """Return the tensors of a file by name, and the table of tokens; raises ValueError if it is of another kind."""
    whole = np.asarray(np.memmap(file, dtype=np.uint8, mode="r"))
    size = int.from_bytes(whole[:_LENGTH].tobytes(), "little")
    if not 0 < size <= min(_LARGEST_HEADER, len(whole) - _LENGTH):
        raise ValueError(f"{file} is no safetensors file")
    first = _LENGTH + size
    header = msgspec.json.decode(whole[_LENGTH:first].tobytes(), type=dict[str, msgspec.Raw])
    tensors = {name: msgspec.json.decode(raw, type=_Tensor) for name, raw in header.items() if name != "__metadata__"}
    arrays = {}
    for name, tensor in tensors.items():
        start, end = tensor.data_offsets
        if tensor.dtype == "F32":
            arrays[name] = whole[first + start : first + end].view(np.float32).reshape(tensor.shape)
    table = arrays.pop(_TABLE)
    if not hasattr(os, "pread"):
        return arrays, _MappedRows(table)
    return arrays, _FileRows(file, first + tensors[_TABLE].data_offsets[0], table.shape[1])
