"""A question's vector in half the time, and almost the same: somebody waits for it, and nobody keeps it.

A second convolution is given two things of each piece around: its projection, which depends on the piece alone, and what the
first one let through. What it makes of the projection is kept for the pieces met lately. The other is mostly zeros, and few
directions hold most of what comes of it: it goes through products of a sixth of the size. The rest is exact, but for the
embeddings' small part in the sum. The directions are found once, when the weights are unpacked, on texts of pieces drawn by
chance: those of real questions are hardly better. Whoever imports this module loads numpy.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from omoide.search.encoder import EMBEDDED, REACHES, WIDE, Encoder, Kept, Rows

Row = NDArray[np.float32]

_NARROW = 32  # directions kept of what neighbours made of a piece, for each convolution,
_FEW = 128  # and of the embeddings' part in the sum: together, cosines of .991 with the exact vectors of questions
_CONVOLVED = WIDE * len(REACHES)
_FIRST, _SECOND = 320, 512  # the widths of the last layers, each with a straight and a bent half
SHAPES: dict[str, tuple[int, ...]] = {
    **{f"narrow_{reach}": (WIDE, reach * _NARROW) for reach, _ in REACHES},
    "wide": (len(REACHES), _NARROW, WIDE),
    "few": (EMBEDDED, _FEW),
    "from_few": (_FEW, 2 * _FIRST),
    "from_convolved": (_CONVOLVED, 2 * _FIRST),
    "from_length": (2 * _FIRST,),
    "p3_d2": (_FIRST, 2 * _SECOND),
}
"""The weights that are made here of the model's own."""
DRAWN = (1, 300, 600, 4_000)
"""A seed, so many texts, of so many of the so many most frequent pieces."""
LONGEST = 64
"""Pieces of a question. A longer one is computed exactly: it is rare, and its products are large enough to be worth it."""

_BEGIN, _END, _USUAL = 1, 2, 6  # the pieces that begin and end a text, and the first of those in between
_EDGE = 2
_FOUR = 4
# What a piece gives to the convolutions around it: so many places before it, to those that reach so far.
_GIVEN = ((0, (2, 3, 5)), (1, (2, 3, 5)), (-1, (3, 5)), (2, (5,)), (-2, (5,)))
# In a row it follows the piece's embedding and projections: for a first convolution, for its second one, for the next first.
_GIVES = EMBEDDED + _CONVOLVED
_OF_PIECE = _GIVES + 2 * WIDE * sum(len(reaches) for _, reaches in _GIVEN)
# To compare with zeros that lie there is three times as quick as with the number 0.
_ZEROS = np.zeros((LONGEST, len(REACHES), WIDE), dtype=np.float32)
_SHARE = np.full(_CONVOLVED, 1 / (EMBEDDED + _CONVOLVED), dtype=np.float32)


class Quick(Encoder):
    """The encoder, with a shorter way for questions."""

    def __init__(self, weights: Mapping[str, Rows], table: NDArray[np.uint8]) -> None:
        super().__init__(weights, table)
        self._asked = Kept(_OF_PIECE, self._given)

    def question(self, pieces: Sequence[int]) -> Row:
        if len(pieces) > LONGEST:
            exact: Row = self.vectors([pieces])[0]
            return exact
        weights = self._weights
        rows, met, once = self.once(pieces)
        made = np.empty_like(once)
        for place, (reach, before) in enumerate(REACHES):
            narrow = _around(once[:, place] @ weights[f"narrow_{reach}"], reach, before)
            np.matmul(narrow, weights["wide"][place], out=made[:, place])
        embedded = rows[_EDGE : _EDGE + len(pieces), :EMBEDDED]
        convolved = _features(rows, met, once, made)[: len(pieces)]
        shares = _shares(embedded, convolved, self._least)
        summed: Row = shares @ convolved
        both: Row = summed @ weights["from_convolved"]
        both += shares @ embedded @ weights["few"] @ weights["from_few"]
        both += weights["from_length"] * np.float32(len(pieces) ** 0.5)
        first, zeros = both[:_FIRST], _ZEROS[0].reshape(-1)
        first += np.maximum(both[_FIRST:], zeros[:_FIRST]) @ weights["d1"]
        np.maximum(first, zeros[:_FIRST], out=first)
        both = first @ weights["p3_d2"]
        last, bent = both[:_SECOND], both[_SECOND:]
        some = (bent > 0).nonzero()[0]  # one in fifteen
        last += bent.take(some) @ weights["d3"].take(some, axis=0)
        np.tanh(last, out=last)
        last /= max(float(last @ last), self._least) ** 0.5
        return last

    def _given(self, pieces: NDArray[np.int64]) -> Rows:
        """Of each piece its embedding, its projections, and what it gives to first and second convolutions around it."""
        weights = self._weights
        known = self._computed(pieces)
        once, twice, end = {}, {}, _GIVES
        for place, (reach, before) in enumerate(REACHES):
            projected = known[:, EMBEDDED + place * WIDE : EMBEDDED + (place + 1) * WIDE]
            products = projected @ weights[f"w2_{reach}"].reshape(reach, WIDE, WIDE)
            for tap in range(reach):
                start, end = end, end + WIDE
                once[tap - before, reach], twice[tap - before, reach] = known[:, start:end], products[tap]
            once[0, reach] = once[0, reach] + weights[f"b1_{reach}"]
            twice[0, reach] = twice[0, reach] + weights[f"b2_{reach}"]
        given = [(once[away, reach], twice[away, reach]) for away, reaches in _GIVEN for reach in reaches]
        return np.concatenate([known[:, :_GIVES], *chain.from_iterable(given)], axis=1)

    def once(self, pieces: Sequence[int]) -> tuple[Rows, Rows, Rows]:
        """All that is known of the pieces, with empty rows before and after; what they give each other; and what of that
        first convolutions let through."""
        count = len(pieces)
        with self._asked.lock:
            kept, places = self._asked.found([None] * _EDGE + [*pieces] + [None] * (_EDGE + -count % _FOUR))
            rows: Rows = kept.take(places, axis=0)
        met = _met(rows).reshape(-1, len(REACHES), 2, WIDE)
        once = np.maximum(met[:, :, 0], _ZEROS[: len(met)])
        once[count:] = 0.0
        return rows, met, once


def _features(rows: Rows, met: Rows, once: Rows, made: Rows) -> Rows:
    """What convolutions make of each piece, given what the second ones make of what the first ones let through."""
    made += met[:, :, 1]
    np.maximum(made, _ZEROS[: len(made)], out=made)
    made += once
    features: Rows = made.reshape(len(made), _CONVOLVED)
    features += rows[_EDGE:-_EDGE, EMBEDDED:_GIVES]
    return features


def _shares(embedded: Rows, convolved: Rows, least: float) -> Row:
    """What to multiply each piece's features with: so all have a deviation of 1, and their sum does not grow with them."""
    mean = convolved @ _SHARE
    mean += embedded @ _SHARE[:EMBEDDED]
    spread: Row = np.vecdot(convolved, convolved)
    spread += np.vecdot(embedded, embedded)
    spread *= _SHARE[0]
    spread -= mean * mean
    spread += least
    spread *= np.float32(len(spread))
    shares: Row = np.reciprocal(np.sqrt(spread))
    return shares


def _met(rows: Rows) -> Rows:
    """What the pieces around each give it together."""
    start = _GIVES + 2 * _CONVOLVED
    met: Rows = rows[_EDGE:-_EDGE, _GIVES:start] + rows[_EDGE + 1 : 1 - _EDGE, start : start + 2 * _CONVOLVED]
    start += 2 * _CONVOLVED
    for away, reaches in _GIVEN[2:]:
        wide = 2 * WIDE * len(reaches)
        met[:, 2 * _CONVOLVED - wide :] += rows[_EDGE + away : len(rows) - _EDGE + away, start : start + wide]
        start += wide
    return met


def _around(given: Rows, reach: int, before: int) -> Rows:
    """The same where all that a piece gives lies side by side, and nothing lies before and after."""
    wide = given.shape[1] // reach
    met = given[:, before * wide : (before + 1) * wide]
    for tap in range(reach):
        away, its = tap - before, given[:, tap * wide : (tap + 1) * wide]
        if away < 0:
            met[-away:] += its[:away]
        elif away > 0:
            met[:-away] += its[away:]
    return met


def narrowed(weights: Mapping[str, Rows], table: NDArray[np.uint8]) -> dict[str, Rows]:
    """The weights of `SHAPES`, made of the model's own."""
    quick = Quick(weights, table)
    straight_and_bent = np.concatenate([weights["p1"], weights["d0"]], axis=1)
    from_features = (weights["ln_g"][:, None] * weights["cnn_W"]) @ straight_and_bent
    from_features -= from_features.mean(axis=0)  # instead of taking its mean from each row
    second = {reach: np.concatenate(np.split(weights[f"w2_{reach}"], reach), axis=1) for reach, _ in REACHES}
    made, embedded = [], []
    for pieces in _drawn():
        rows, met, once = quick.once(pieces)
        twice = np.empty_like(once)
        for place, (reach, before) in enumerate(REACHES):
            twice[:, place] = _around(once[:, place] @ second[reach], reach, before)
        its = twice[: len(pieces)].copy()
        embedding = rows[_EDGE : _EDGE + len(pieces), :EMBEDDED]
        shares = _shares(embedding, _features(rows, met, once, twice)[: len(pieces)], float(weights["eps"]))
        made.append(its * shares[:, None, None])
        embedded.append(shares @ embedding @ from_features[:EMBEDDED])
    directions = [_directions(its, _NARROW) for its in np.concatenate(made).transpose(1, 0, 2)]
    few = _directions(np.array(embedded), _FEW)
    narrow = {}
    for (reach, _), its in zip(REACHES, directions, strict=True):
        narrow[f"narrow_{reach}"] = np.concatenate([part @ its for part in np.split(weights[f"w2_{reach}"], reach)], axis=1)
    return {
        **narrow,
        "wide": np.array([its.T for its in directions]),
        "few": from_features[:EMBEDDED] @ few,
        "from_few": few.T,
        "from_convolved": from_features[EMBEDDED:],
        "from_length": (weights["ln_b"] @ weights["cnn_W"] + weights["cnn_b"]) @ straight_and_bent,
        "p3_d2": np.concatenate([weights["p3"], weights["d2"]], axis=1),
    }


def _drawn() -> Iterator[list[int]]:
    seed, texts, pool, frequent = DRAWN
    chance = np.random.default_rng(seed)
    pieces = chance.integers(_USUAL, frequent, pool)
    for length in chance.integers(4, 24, texts):
        yield [_BEGIN, *chance.choice(pieces, length).tolist(), _END]


def _directions(rows: Rows, most: int) -> Rows:
    """The directions, side by side, that hold most of some rows."""
    _, found = np.linalg.eigh(rows.T @ rows)
    last: Rows = found[:, : -most - 1 : -1]
    return last
