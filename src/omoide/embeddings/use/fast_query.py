"""Almost the same vector in half the time, for a query: somebody waits for it, and it is not stored.

A second convolution gets two inputs of each token around: its projection, which depends on the token alone, and what the
first convolution let through. The product with the projection is cached for recent tokens, as bfloat16, which is exact
enough and takes half of the memory. The other input is mostly zeros, and few directions have most of the variance of its
product: it goes through products of a tenth of the size. The rest is exact. The directions are computed once, when the
weights are unpacked, on texts of random tokens: those of real queries are hardly better. Importing this module loads
numpy.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omoide.embeddings.use.model import EMBEDDED, REACHES, WIDE, Encoder, RowCache, Rows, TokenTable

Row = NDArray[np.float32]
BFloat16 = NDArray[np.uint16]

_NARROW = 16  # directions kept of what neighbours made of a token, for each convolution: cosines of .991 with exact vectors
_CONVOLVED = WIDE * len(REACHES)
_FIRST, _SECOND = 320, 512  # the widths of the last layers, each with a straight and a bent half
SHAPES: dict[str, tuple[int, ...]] = {
    **{f"narrow_{reach}": (WIDE, reach * _NARROW) for reach, _ in REACHES},
    "wide": (len(REACHES), _NARROW, WIDE),
    "from_embedded": (EMBEDDED, 2 * _FIRST),
    "from_convolved": (_CONVOLVED, 2 * _FIRST),
    "from_length": (2 * _FIRST,),
    "p3_d2": (_FIRST, 2 * _SECOND),
}
"""The weights that are computed here from the model's own."""
DRAWN = (1, 300, 600, 4_000)
"""The sample: a seed, the number of texts, of tokens, and of the most frequent tokens to draw them from."""
LONGEST = 64
"""Tokens of the longest query that is computed this way. A longer one is computed exactly: it is rare."""

_KEPT = 400  # tokens cached, 5 MB: those of about 100 questions

_BEGIN, _END, _USUAL = 1, 2, 6  # the tokens that begin and end a text, and the first of those in between
_EDGE = 2
_FOUR = 4
# What a token gives to the convolutions around it: so many places before it, to those that reach so far.
_GIVEN = ((0, (2, 3, 5)), (1, (2, 3, 5)), (-1, (3, 5)), (2, (5,)), (-2, (5,)))
# What is kept of a token, in tables of such widths: what the last layers see of its embedding; the sum of the embedding's
# parts, and of their squares; its projections; and for each place around it what it gives to the convolutions there.
_WIDTHS = (2 * _FIRST, 2, _CONVOLVED, *(2 * WIDE * len(reaches) for _, reaches in _GIVEN))
# Comparing with an array of zeros is three times as fast as with the number 0.
_ZEROS = np.zeros((LONGEST, len(REACHES), WIDE), dtype=np.float32)
_ONES = np.ones(_CONVOLVED, dtype=np.float32)
_HALF, _HALF_OF_LAST = np.uint32(16), np.uint32(1 << 15)
_SHARE = np.float32(1 / (EMBEDDED + _CONVOLVED))


class FastQueryEncoder(Encoder):
    """The encoder, with a faster computation for queries."""

    def __init__(self, weights: Mapping[str, Rows], table: TokenTable) -> None:
        super().__init__(weights, table)
        self._asked = RowCache(_WIDTHS, _KEPT, np.uint16)

    def question(self, tokens: Sequence[int]) -> Row:
        if len(tokens) > LONGEST:
            exact: Row = self.vectors([tokens])[0]
            return exact
        weights = self._weights
        known = self.known_tokens(tokens)
        once, made = known.once, np.empty_like(known.once)
        for place, (reach, before) in enumerate(REACHES):
            narrow = _around(once[:, place] @ weights[f"narrow_{reach}"], reach, before)
            np.matmul(narrow, weights["wide"][place], out=made[:, place])
        convolved = _features(known, made)
        shares = _shares(known, convolved, self._least)
        summed: Row = shares @ convolved
        both: Row = summed @ weights["from_convolved"]
        both += shares @ known.seen
        both += weights["from_length"] * np.float32(len(tokens) ** 0.5)
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

    def _token_rows(self, tokens: NDArray[np.int64]) -> list[BFloat16]:
        """Return of each token what the tables contain."""
        weights = self._weights
        known = self._compute(tokens)
        embedded, projections = known[:, :EMBEDDED], known[:, EMBEDDED : EMBEDDED + _CONVOLVED]
        once, twice, end = {}, {}, EMBEDDED + _CONVOLVED
        for place, (reach, before) in enumerate(REACHES):
            products = projections[:, place * WIDE : (place + 1) * WIDE] @ weights[f"w2_{reach}"].reshape(reach, WIDE, WIDE)
            for tap in range(reach):
                start, end = end, end + WIDE
                once[tap - before, reach], twice[tap - before, reach] = known[:, start:end], products[tap]
            once[0, reach] = once[0, reach] + weights[f"b1_{reach}"]
            twice[0, reach] = twice[0, reach] + weights[f"b2_{reach}"]
        sums = np.stack([embedded.sum(axis=1), np.vecdot(embedded, embedded)], axis=1)
        given = (
            np.concatenate([part for reach in reaches for part in (once[away, reach], twice[away, reach])], axis=1)
            for away, reaches in _GIVEN
        )
        return [_to_bfloat16(rows) for rows in (embedded @ weights["from_embedded"], sums, projections, *given)]

    def known_tokens(self, tokens: Sequence[int]) -> "_Pieces":
        count = len(tokens)
        with self._asked.lock:
            padded = [None] * _EDGE + [*tokens] + [None] * (_EDGE + -count % _FOUR)
            tables, laid = self._asked.rows(padded, self._token_rows)
            (seen, sums, projections, *given), places = tables, np.array(laid)
            own, ends = places[_EDGE : _EDGE + count], len(places) - _EDGE
            met = _take_rows(given[0], places[_EDGE:ends])
            for (away, _), table in zip(_GIVEN[1:], given[1:], strict=True):
                met[:, -table.shape[1] :] += _take_rows(table, places[_EDGE + away : ends + away])
            met = met.reshape(-1, len(REACHES), 2, WIDE)
            once = np.maximum(met[:, :, 0], _ZEROS[: len(met)])
            once[count:] = 0.0
            return _Pieces(_take_rows(seen, own), _take_rows(sums, own), _take_rows(projections, own), met[:, :, 1], once)


class _Pieces(NamedTuple):
    """What is cached of the tokens of a query, with some empty rows after them for convolutions."""

    seen: Rows
    """What the last layers see of their embeddings."""
    sums: Rows
    """Of the embeddings' parts, and of their squares."""
    projections: Rows
    given: Rows
    """What second convolutions get from projections."""
    once: Rows
    """What first convolutions let through."""


def _to_bfloat16(rows: Rows) -> BFloat16:
    """Return numbers rounded to the upper half of their bits: the sign, the exponent and 8 significant ones."""
    bits = rows.view(np.uint32) + _HALF_OF_LAST
    return (bits >> _HALF).astype(np.uint16)


def _take_rows(table: BFloat16, places: NDArray[np.int64]) -> Rows:
    """Return these rows of a table; numpy has no bfloat16, so the other half of each number's bits is added as zeros."""
    bits = table.take(places, axis=0).astype(np.uint32)
    bits <<= _HALF
    return bits.view(np.float32)


def _features(known: _Pieces, made: Rows) -> Rows:
    """Return the convolutions of each token; `made` are the second ones of what the first ones let through."""
    made += known.given
    np.maximum(made, _ZEROS[: len(made)], out=made)
    made += known.once
    features: Rows = made.reshape(len(made), _CONVOLVED)[: len(known.projections)]
    features += known.projections
    return features


def _shares(known: _Pieces, convolved: Rows, least: float) -> Row:
    """Return the factor of each token's features, so that all have a deviation of 1 and their sum does not grow with
    them."""
    mean = convolved @ _ONES
    mean += known.sums[:, 0]
    mean *= _SHARE
    spread: Row = np.vecdot(convolved, convolved)
    spread += known.sums[:, 1]
    spread *= _SHARE
    spread -= mean * mean
    spread += least
    spread *= np.float32(len(spread))
    shares: Row = np.reciprocal(np.sqrt(spread))
    return shares


def _around(given: Rows, reach: int, before: int) -> Rows:
    """Return what each token gets from those around it; what a token gives to each place is side by side in its row."""
    wide = given.shape[1] // reach
    met = given[:, before * wide : (before + 1) * wide]
    for tap in range(reach):
        away, its = tap - before, given[:, tap * wide : (tap + 1) * wide]
        if away < 0:
            met[-away:] += its[:away]
        elif away > 0:
            met[:-away] += its[away:]
    return met


def narrow_weights(weights: Mapping[str, Rows], table: TokenTable) -> dict[str, Rows]:
    """Return the weights of `SHAPES`, computed from the model's own."""
    straight_and_bent = np.concatenate([weights["p1"], weights["d0"]], axis=1)
    from_features = (weights["ln_g"][:, None] * weights["cnn_W"]) @ straight_and_bent
    from_features -= from_features.mean(axis=0)  # instead of taking its mean from each row
    quick = FastQueryEncoder({**weights, "from_embedded": from_features[:EMBEDDED]}, table)
    second = {reach: np.concatenate(np.split(weights[f"w2_{reach}"], reach), axis=1) for reach, _ in REACHES}
    made = []
    for tokens in _sample_tokens():
        known = quick.known_tokens(tokens)
        twice = np.empty_like(known.once)
        for place, (reach, before) in enumerate(REACHES):
            twice[:, place] = _around(known.once[:, place] @ second[reach], reach, before)
        its = twice[: len(tokens)].copy()
        shares = _shares(known, _features(known, twice), float(weights["eps"]))
        made.append(its * shares[:, None, None])
    directions = [_directions(its, _NARROW) for its in np.concatenate(made).transpose(1, 0, 2)]
    narrow = {}
    for (reach, _), its in zip(REACHES, directions, strict=True):
        narrow[f"narrow_{reach}"] = np.concatenate([part @ its for part in np.split(weights[f"w2_{reach}"], reach)], axis=1)
    return {
        **narrow,
        "wide": np.array([its.T for its in directions]),
        "from_embedded": from_features[:EMBEDDED],
        "from_convolved": from_features[EMBEDDED:],
        "from_length": (weights["ln_b"] @ weights["cnn_W"] + weights["cnn_b"]) @ straight_and_bent,
        "p3_d2": np.concatenate([weights["p3"], weights["d2"]], axis=1),
    }


def _sample_tokens() -> Iterator[list[int]]:
    seed, texts, pool, frequent = DRAWN
    chance = np.random.default_rng(seed)
    tokens = chance.integers(_USUAL, frequent, pool)
    for length in chance.integers(4, 24, texts):
        yield [_BEGIN, *chance.choice(tokens, length).tolist(), _END]


def _directions(rows: Rows, most: int) -> Rows:
    """Return the directions, as columns, with most of the variance of some rows."""
    _, found = np.linalg.eigh(rows.T @ rows)
    last: Rows = found[:, : -most - 1 : -1]
    return last
