"""Google's multilingual sentence encoder (USE 3, the convolutional one) in numpy: tokens of texts in, unit vectors out.

The package that bundles the weights can do this too. Here a query takes half the time, because everything that depends on
one token alone, its embedding, projection and first convolution, is cached for recent tokens. The vectors are the same
except for rounding. Importing this module loads numpy.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from omoide.embeddings.batches import token_batches

Rows = NDArray[np.float32]
T = TypeVar("T", np.float32, np.uint16)

CHUNKS = 17
"""The parts of the table of tokens, each with its own scale; a token is in the part of its number modulo this."""
EMBEDDED, WIDE = 512, 256
REACHES = ((2, 0), (3, 1), (5, 2))
"""The convolutions: over how many tokens each goes, and how many of them are before."""
_FEATURES = EMBEDDED + WIDE * len(REACHES)
_OF_TOKEN = _FEATURES + WIDE * sum(reach for reach, _ in REACHES)
_EDGE = 2  # empty rows before and after a text, as far as the widest convolution reaches
_FOUR = 4  # rows that a product computes together: 11 rows take half as long again as 12
_AT_ONCE = 256  # tokens computed together: fewer take longer, more take memory
_KEPT = 256  # tokens cached, 4 MB


class TokenTable(Protocol):
    """The table of tokens: a row of `EMBEDDED` bytes for each."""

    def rows(self, tokens: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the rows of these tokens."""


class RowCache(Generic[T]):
    """What was computed of recent tokens, each in its own row of every table."""

    def __init__(self, widths: Sequence[int], kept: int, number: type[T]) -> None:
        self.lock = threading.Lock()
        self._widths = widths
        self._kept = kept
        self._number: type[T] = number
        self._places: dict[int, int] = {}
        """Piece → its row below; the first row is empty."""
        self._tables: list[NDArray[T]] = self._empty(kept)

    def _empty(self, tokens: int) -> list[NDArray[T]]:
        return [np.zeros((1 + tokens, width), dtype=self._number) for width in self._widths]

    def rows(
        self, laid: Sequence[int | None], compute: Callable[[NDArray[np.int64]], Sequence[NDArray[T]]]
    ) -> tuple[list[NDArray[T]], list[int]]:
        """Return the tables, and the row of each token: an empty one for None. Hold the lock to call this and to read
        them.

        compute: makes the rows of tokens. Not kept: a cycle would keep an encoder and its weights in memory.
        """
        distinct = [token for token in dict.fromkeys(laid) if token is not None]
        missing = [token for token in distinct if token not in self._places]
        if len(self._places) + len(missing) > self._kept:
            self._places.clear()
            missing = distinct
        tables, places = self._tables, self._places
        if len(missing) > self._kept:  # a text of more tokens than are cached: they are computed for it alone
            tables, places = self._empty(len(missing)), {}
        if missing:
            free = 1 + len(places)
            for table, rows in zip(tables, compute(np.array(missing)), strict=True):
                table[free : free + len(missing)] = rows
            places.update(zip(missing, range(free, free + len(missing)), strict=True))
        return tables, [0 if token is None else places[token] for token in laid]


class Encoder:
    def __init__(self, weights: Mapping[str, Rows], table: TokenTable) -> None:
        self._weights = weights
        self._table = table
        self._least = float(weights["eps"])
        self._kept = RowCache([_OF_TOKEN], _KEPT, np.float32)

    def vectors(self, texts: Sequence[Sequence[int]]) -> Rows:
        if not texts:
            return np.empty((0, EMBEDDED), dtype=np.float32)
        return np.concatenate([self._vectors(batch) for batch in token_batches(texts, _AT_ONCE)])

    def _vectors(self, texts: Sequence[Sequence[int]]) -> Rows:
        weights = self._weights
        laid: list[int | None] = [None] * _EDGE
        starts: list[int] = []
        for tokens in texts:
            starts.append(len(laid) - _EDGE)
            laid += [*tokens, *[None] * _EDGE]
        laid += [None] * (-(len(laid) - 2 * _EDGE) % _FOUR)
        empty = [row - _EDGE for row, token in enumerate(laid) if token is None][_EDGE:-_EDGE]
        features = self._features(laid, empty)
        _normalize(features, weights["ln_g"], weights["ln_b"], self._least)
        features[empty] = 0.0
        lengths = np.array([[len(tokens)] for tokens in texts], dtype=np.float32)
        mean: Rows = np.add.reduceat(features, starts, axis=0) @ weights["cnn_W"]
        mean += lengths * weights["cnn_b"]
        mean /= np.sqrt(lengths)
        first: Rows = mean @ weights["p1"]
        first += np.maximum(mean @ weights["d0"], 0) @ weights["d1"]
        np.maximum(first, 0, out=first)
        last: Rows = first @ weights["p3"]
        last += np.maximum(first @ weights["d2"], 0) @ weights["d3"]
        np.tanh(last, out=last)
        unit: Rows = last / np.sqrt(np.maximum(np.einsum("ij,ij->i", last, last), self._least))[:, None]
        return unit

    def _features(self, laid: Sequence[int | None], empty: Sequence[int]) -> Rows:
        """Return the features of the tokens, without the edges; of None, whatever comes of an empty row."""
        with self._kept.lock:
            (table,), places = self._kept.rows(laid, lambda tokens: [self._compute(tokens)])
            return self._convolve(table, np.array(places), empty)

    def _compute(self, tokens: NDArray[np.int64]) -> Rows:
        """Return of each token its embedding, its projection, and its product for each place of the first convolutions."""
        weights = self._weights
        made = np.empty((len(tokens), _OF_TOKEN), dtype=np.float32)
        embedded, projected = made[:, :EMBEDDED], made[:, EMBEDDED:_FEATURES]
        chunk = tokens % CHUNKS
        embedded[:] = self._table.rows(tokens)
        embedded *= weights["scale"][chunk, None]
        embedded += weights["lo"][chunk, None]
        projected[:] = embedded @ weights["proj"]
        projected += weights["proj_b"]
        _normalize(projected, weights["proj_ln_g"], weights["proj_ln_b"], self._least)
        end = _FEATURES
        for place, (reach, _) in enumerate(REACHES):
            start, end = end, end + reach * WIDE
            made[:, start:end] = projected[:, place * WIDE : (place + 1) * WIDE] @ weights[f"w1_{reach}"]
        return made

    def _convolve(self, table: Rows, rows: NDArray[np.int64], empty: Sequence[int]) -> Rows:
        """Return the features of all rows but the edges: the embedding of a token, and the convolutions of those around
        it.

        rows: of the table. Its columns are read where they are needed: all at once would take 6 MB.
        """
        weights = self._weights
        inner = rows[_EDGE:-_EDGE]
        features = np.empty((len(inner), _FEATURES), dtype=np.float32)
        features[:, :EMBEDDED] = table[inner, :EMBEDDED]
        end = _FEATURES
        for place, (reach, before) in enumerate(REACHES):
            start, end = end, end + reach * WIDE
            mine = slice(EMBEDDED + place * WIDE, EMBEDDED + (place + 1) * WIDE)
            once = np.zeros((len(rows), WIDE), dtype=np.float32)
            middle = once[_EDGE:-_EDGE]
            for tap in range(reach):
                first = _EDGE - before + tap
                middle += table[rows[first : first + len(inner)], start + tap * WIDE : start + (tap + 1) * WIDE]
            middle += weights[f"b1_{reach}"]
            np.maximum(middle, 0, out=middle)
            middle += table[inner, mine]
            middle[empty] = 0.0
            around = np.concatenate(
                [once[at : at + len(inner)] for at in range(_EDGE - before, _EDGE - before + reach)], axis=1
            )
            twice = around @ weights[f"w2_{reach}"]
            twice += weights[f"b2_{reach}"]
            np.maximum(twice, 0, out=twice)
            np.add(twice, middle, out=features[:, mine])
        return features


def _normalize(rows: Rows, scale: Rows, shift: Rows, least: float) -> None:
    """Scale each row to mean 0 and deviation 1, in place."""
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + least)[:, None]
    rows *= scale
    rows += shift
