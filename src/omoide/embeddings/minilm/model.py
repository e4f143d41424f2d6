"""all-MiniLM-L6-v2 in numpy: six layers of BERT, and the mean over the tokens. Importing this module loads numpy.

The tokens of several texts go through the products together, one text below the other; only attention is within a text.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from omoide.embeddings.batches import token_batches
from omoide.embeddings.minilm.weights import Rows, TokenRows

WIDE = 384
MOST_TOKENS = 256
"""Of a text: what comes after them is left out, as the model's own configuration says."""
_LAYERS, _HEADS = 6, 12
_OF_HEAD = WIDE // _HEADS
_LEAST = 1e-12
_AT_ONCE = 512  # tokens computed together: what a layer makes of them fits into the processor's cache
_BEND = (-1.59501512, -0.07401617, 0.00070405)
"""x · Φ(x), with the normal distribution Φ, is about x / (1 + exp(x · (a + b·x² + c·x⁴))): off by at most .00003."""


class _Layer(NamedTuple):
    """The weights of a layer, with the products as columns."""

    query: Rows
    query_shift: Rows
    key: Rows
    key_shift: Rows
    value: Rows
    value_shift: Rows
    attended: Rows
    attended_shift: Rows
    attended_norm: tuple[Rows, Rows]
    wide: Rows
    wide_shift: Rows
    narrow: Rows
    narrow_shift: Rows
    norm: tuple[Rows, Rows]


class MiniLmEncoder:
    """Makes unit vectors of texts that are given as tokens."""

    def __init__(self, weights: Mapping[str, Rows], table: TokenRows) -> None:
        self._table = table
        # All tokens are of one segment, so its row is added to those of the places once and for all.
        self._places: Rows = (
            weights["embeddings.position_embeddings.weight"][:MOST_TOKENS]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _norm(weights, "embeddings")
        self._layers = [_layer(weights, f"encoder.layer.{place}") for place in range(_LAYERS)]

    def vectors(self, texts: Sequence[Sequence[int]]) -> Rows:
        """Return a unit vector for each text."""
        if not texts:
            return np.empty((0, WIDE), dtype=np.float32)
        return np.concatenate([self._vectors(batch) for batch in token_batches(texts, _AT_ONCE)])

    def _vectors(self, texts: Sequence[Sequence[int]]) -> Rows:
        ends = np.cumsum([0, *map(len, texts)]).tolist()
        rows = self._embed(texts)
        for layer in self._layers:
            rows = _transform(layer, rows, ends)
        means: Rows = np.add.reduceat(rows, ends[:-1], axis=0)
        means /= np.maximum(np.sqrt(np.einsum("ij,ij->i", means, means)), _LEAST)[:, None]
        return means

    def _embed(self, texts: Sequence[Sequence[int]]) -> Rows:
        tokens = [token for text in texts for token in text]
        distinct = {token: row for row, token in enumerate(dict.fromkeys(tokens))}
        rows: Rows = self._table.read([*distinct]).take([distinct[token] for token in tokens], axis=0)
        rows += np.concatenate([self._places[: len(text)] for text in texts])
        _normalize(rows, self._norm)
        return rows


def _layer(weights: Mapping[str, Rows], name: str) -> _Layer:
    def product(part: str) -> tuple[Rows, Rows]:
        return weights[f"{name}.{part}.weight"].T, weights[f"{name}.{part}.bias"]

    return _Layer(
        *product("attention.self.query"),
        *product("attention.self.key"),
        *product("attention.self.value"),
        *product("attention.output.dense"),
        _norm(weights, f"{name}.attention.output"),
        *product("intermediate.dense"),
        *product("output.dense"),
        _norm(weights, f"{name}.output"),
    )


def _norm(weights: Mapping[str, Rows], name: str) -> tuple[Rows, Rows]:
    return weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"]


def _transform(layer: _Layer, rows: Rows, ends: Sequence[int]) -> Rows:
    """Return what a layer makes of the tokens; `ends` are the bounds of the texts."""
    attended: Rows = np.matmul(_attend(layer, rows, ends), layer.attended)
    attended += layer.attended_shift
    attended += rows
    _normalize(attended, layer.attended_norm)
    wide: Rows = np.matmul(attended, layer.wide)
    wide += layer.wide_shift
    _bend(wide)
    made: Rows = np.matmul(wide, layer.narrow)
    made += layer.narrow_shift
    made += attended
    _normalize(made, layer.norm)
    return made


def _attend(layer: _Layer, rows: Rows, ends: Sequence[int]) -> Rows:
    """Return for each token the values of the tokens of its text, weighed by how much it attends to them."""
    query, key, value = rows @ layer.query, rows @ layer.key, rows @ layer.value
    query += layer.query_shift
    query *= _OF_HEAD**-0.5
    key += layer.key_shift
    value += layer.value_shift
    made = np.empty_like(rows)
    for start, end in pairwise(ends):
        its = slice(start, end)
        by_head = (len(rows[its]), _HEADS, _OF_HEAD)
        queries, keys, values = (part[its].reshape(by_head) for part in (query, key, value))
        weights = queries.transpose(1, 0, 2) @ keys.transpose(1, 2, 0)
        weights -= weights.max(axis=2, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=2, keepdims=True)
        made[its].reshape(by_head)[:] = (weights @ values.transpose(1, 0, 2)).transpose(1, 0, 2)
    return made


def _bend(rows: Rows) -> None:
    """Multiply each value by the share of the normal distribution below it, in place (GELU)."""
    first, third, fifth = (np.float32(part) for part in _BEND)
    for start in range(0, len(rows), 32):  # so few rows stay in the processor's cache
        some = rows[start : start + 32]
        squares = np.minimum(some * some, np.float32(25.0))  # beyond, the share is 0 or 1, and the polynomial is none
        power = fifth * squares
        power += third
        power *= squares
        power += first
        power *= some
        np.exp(np.minimum(power, np.float32(80.0), out=power), out=power)
        power += np.float32(1.0)
        some /= power


def _normalize(rows: Rows, norm: tuple[Rows, Rows]) -> None:
    """Scale each row to mean 0 and deviation 1, in place."""
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + _LEAST)[:, None]
    rows *= norm[0]
    rows += norm[1]
