"""What one question means, against the memories that its scope sees. Whoever imports this module loads numpy."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from operator import itemgetter

from omoide.model import Memory, Query
from omoide.search import meaning, pieces, vectors, when
from omoide.search.embed import Embedder
from omoide.search.meaning import Talk, Told, Weighed
from omoide.search.rank import Met
from omoide.search.vectors import Row, Signs
from omoide.store.base import Model, Reading, Vector


def made(embedder: Embedder, memories: Sequence[Memory]) -> list[Vector]:
    """The vectors of memories: one for each piece of their texts."""
    texts = [
        (memory, piece)
        for memory in memories
        for piece in pieces.pieces(memory.topic if memory.topic_given else "", memory.content)
    ]
    rows = embedder.vectors([piece for _, piece in texts])
    return [
        Vector(memory.number, memory.version, vectors.signs(row), vectors.parts(row))
        for (memory, _), row in zip(texts, rows, strict=True)
    ]


class Sense:
    """A question as a vector. Its verbs are for one transaction, in the order in which they stand here."""

    def __init__(
        self,
        embedder: Embedder,
        model: Model,
        text: str,
        at: datetime,
        signs: Callable[[Reading, Model, int], Signs],
        alike: Callable[[Reading, Model, Row, Sequence[int]], dict[int, float]],
    ):
        self._row = embedder.vectors([text[: pieces.ASKED]], patient=False)[0]
        self._model, self._signs, self._alike = model, signs, alike
        self._span = when.span(text, at.astimezone()) if when.mentioned(text) else None
        self._cosines: dict[int, float] = {}
        self._talk: list[Talk] = []
        self._likeness = vectors.Likeness([], 0.0, 1.0)
        self._count = 0

    @property
    def fits(self) -> bool:
        """Whether the kept vectors are of its kind: a server may have changed its model under the same name."""
        return len(self._row) == self._model.dimensions

    def nearest(self, tx: Reading, query: Query, known: Sequence[int]) -> list[int]:
        """Who else is to be looked at, beside those known by their words, the best of them first."""
        near = islice(self.likeness(tx, query, known[: meaning.COMPARED]), meaning.BY_MEANING)
        seen = set(known)
        return [number for number in near if number not in seen]

    def beside(self, tx: Reading, known: Sequence[int], sessions: Collection[int]) -> list[int]:
        """The neighbours, in their sessions, of the best by words and by meaning."""
        if not sessions:
            return []
        seen = set(known)
        lenders = {*known[: meaning.LENDERS], *islice(self._cosines, meaning.LENDERS)}
        near = tx.near(sorted(lenders & seen), 2 * meaning.REACH)
        self._talk = [Talk(one.number, (one.project, one.session), one.length) for one in near]
        return [number for number in meaning.neighbours(self._talk, lenders) if number not in seen]

    def likeness(self, tx: Reading, query: Query, known: Sequence[int] = ()) -> dict[int, float]:
        """The cosines of those most like the question, and of those known, best first."""
        places = [self._signs(tx, self._model, place) for place in tx.places(query)]
        self._count = sum(map(len, places))
        self._likeness = vectors.nearest(self._row, places, meaning.LOOKED_AT)
        compared = [*dict.fromkeys([*self._likeness.numbers, *known])]
        cosines = self._alike(tx, self._model, self._row, compared)
        self._cosines = dict(sorted(cosines.items(), key=itemgetter(1), reverse=True))
        return self._cosines

    def weighed(
        self, tx: Reading, query: Query, lengths: Mapping[int, int], sessions: Iterable[int], words: Met, average: float
    ) -> Weighed:
        """The scores of the candidates, of which some are in sessions, given how well the words of each meet the question,
        as shares of it."""
        cosines = self._cosines
        standings = meaning.standing(cosines, self._likeness.mean, self._likeness.deviation, self._count)
        shares = meaning.joined(words, cosines, standings, average)
        told: dict[int, Told] = {}
        turns = {number for number in sessions if lengths[number] <= meaning.SHORT}
        if turns or self._span is not None:
            for number, its in tx.openings([*lengths]).items():
                told[number] = Told(its.created_at, pieces.unstamped(its.first), its.last.rstrip().endswith(("?", "？")))
        talk = [one for one in self._talk if one.number in lengths]
        return Weighed(query.text, shares, cosines, standings, talk, turns, told, self._span)

    def then(self, tx: Reading, query: Query, at: datetime, most: int) -> list[int]:
        """What was learnt at the time that the question names, the newest first."""
        return [] if self._span is None else tx.between(query, self._span.start, self._span.end, most, at)
