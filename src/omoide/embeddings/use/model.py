"""Google's multilingual sentence encoder (USE 3, the convolutional one) as numbers: texts as pieces in, unit vectors out.

The package that bundles the weights can do this too. Here a question takes half the time, because all that depends on one
piece alone, its embedding, projection and first convolution, is kept for the pieces met lately. The vectors are the same but
for rounding. Whoever imports this module loads numpy.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]

CHUNKS = 17
"""The table of pieces is in so many parts, each with a scale of its own; a piece is in the part of its number's rest."""
EMBEDDED, WIDE = 512, 256
REACHES = ((2, 0), (3, 1), (5, 2))
"""The convolutions: how many pieces each goes over, and how many of them come before."""
_FEATURES = EMBEDDED + WIDE * len(REACHES)
_OF_PIECE = _FEATURES + WIDE * sum(reach for reach, _ in REACHES)
_EDGE = 2  # empty rows before and after a text, as far as the widest convolution reaches
_FOUR = 4  # rows that a product computes together: of 11 rows it takes half as long again as of 12
_AT_ONCE = 384  # pieces computed together, as many as the processor's cache holds
_KEPT = 1_024  # pieces kept, 16 MB; for questions 26 MB


class RowCache:
    """What was computed of the pieces met last, each in a row of its own in every table."""

    def __init__(self, widths: Sequence[int], computed: Callable[[NDArray[np.int64]], Sequence[Rows]]) -> None:
        self.lock = threading.Lock()
        self._widths = widths
        self._computed = computed
        self._places: dict[int, int] = {}
        """Piece → its row below; the first row is empty."""
        self._tables = self._empty(_KEPT)

    def _empty(self, pieces: int) -> list[Rows]:
        return [np.zeros((1 + pieces, width), dtype=np.float32) for width in self._widths]

    def rows(self, laid: Sequence[int | None]) -> tuple[list[Rows], list[int]]:
        """The tables, and which row is whose: an empty one for None. Only whoever holds the lock may ask and read them."""
        distinct = [piece for piece in dict.fromkeys(laid) if piece is not None]
        missing = [piece for piece in distinct if piece not in self._places]
        if len(self._places) + len(missing) > _KEPT:
            self._places.clear()
            missing = distinct
        tables, places = self._tables, self._places
        if len(missing) > _KEPT:  # a text of more pieces than are kept: they are computed for it alone
            tables, places = self._empty(len(missing)), {}
        if missing:
            free = 1 + len(places)
            for table, rows in zip(tables, self._computed(np.array(missing)), strict=True):
                table[free : free + len(missing)] = rows
            places.update(zip(missing, range(free, free + len(missing)), strict=True))
        return tables, [0 if piece is None else places[piece] for piece in laid]


class Encoder:
    def __init__(self, weights: Mapping[str, Rows], table: NDArray[np.uint8]) -> None:
        self._weights = weights
        self._table = table
        self._least = float(weights["eps"])
        self._kept = RowCache([_OF_PIECE], lambda pieces: [self._compute(pieces)])

    def vectors(self, texts: Sequence[Sequence[int]]) -> Rows:
        if not texts:
            return np.empty((0, EMBEDDED), dtype=np.float32)
        bounds, size = [0], 0
        for place, pieces in enumerate(texts):
            if size and size + len(pieces) > _AT_ONCE:
                bounds.append(place)
                size = 0
            size += len(pieces)
        return np.concatenate([self._vectors(texts[start:end]) for start, end in pairwise([*bounds, len(texts)])])

    def _vectors(self, texts: Sequence[Sequence[int]]) -> Rows:
        weights = self._weights
        laid: list[int | None] = [None] * _EDGE
        starts: list[int] = []
        for pieces in texts:
            starts.append(len(laid) - _EDGE)
            laid += [*pieces, *[None] * _EDGE]
        laid += [None] * (-(len(laid) - 2 * _EDGE) % _FOUR)
        empty = [row - _EDGE for row, piece in enumerate(laid) if piece is None][_EDGE:-_EDGE]
        features = self._convolve(self._cached_rows(laid), empty)
        _normalize(features, weights["ln_g"], weights["ln_b"], self._least)
        features[empty] = 0.0
        lengths = np.array([[len(pieces)] for pieces in texts], dtype=np.float32)
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

    def _cached_rows(self, laid: Sequence[int | None]) -> Rows:
        """What is known of each piece, and an empty row for None."""
        with self._kept.lock:
            (table,), places = self._kept.rows(laid)
            rows: Rows = table[places]
            return rows

    def _compute(self, pieces: NDArray[np.int64]) -> Rows:
        """Of each piece its embedding, its projection, and what it gives to each place of the first convolutions."""
        weights = self._weights
        made = np.empty((len(pieces), _OF_PIECE), dtype=np.float32)
        embedded, projected = made[:, :EMBEDDED], made[:, EMBEDDED:_FEATURES]
        chunk = pieces % CHUNKS
        embedded[:] = self._table[pieces]
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

    def _convolve(self, rows: Rows, empty: Sequence[int]) -> Rows:
        """The features of all rows but the edges: a piece's embedding, and what convolutions make of those around it."""
        weights = self._weights
        inner = rows[_EDGE:-_EDGE]
        features = np.empty((len(inner), _FEATURES), dtype=np.float32)
        features[:, :EMBEDDED] = inner[:, :EMBEDDED]
        end = _FEATURES
        for place, (reach, before) in enumerate(REACHES):
            start, end = end, end + reach * WIDE
            mine = slice(EMBEDDED + place * WIDE, EMBEDDED + (place + 1) * WIDE)
            once = np.zeros((len(rows), WIDE), dtype=np.float32)
            middle = once[_EDGE:-_EDGE]
            for tap in range(reach):
                first = _EDGE - before + tap
                middle += rows[first : first + len(inner), start + tap * WIDE : start + (tap + 1) * WIDE]
            middle += weights[f"b1_{reach}"]
            np.maximum(middle, 0, out=middle)
            middle += inner[:, mine]
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
    """To mean 0 and deviation 1 of each row, in place."""
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + least)[:, None]
    rows *= scale
    rows += shift
