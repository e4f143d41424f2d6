"""What one question means, against the memories that its scope sees. Whoever imports this module loads numpy."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from operator import itemgetter

from omoide.embeddings import chunking, quantized
from omoide.embeddings.vectors import QueryVector
from omoide.model import Query
from omoide.retrieval import hybrid, time_expressions
from omoide.retrieval.hybrid import HybridScores, SessionEntry, TurnText
from omoide.retrieval.lexical import LexicalScores
from omoide.storage.base import Reader


class VectorQuery:
    """A question as a vector. Its verbs are for one transaction, in the order in which they stand here."""

    def __init__(self, vector: QueryVector, text: str, at: datetime):
        self._row, self._model, self._signs, self._alike = vector
        self._span = time_expressions.span(text, at.astimezone()) if time_expressions.mentions_time(text) else None
        self._cosines: dict[int, float] = {}
        self._talk: list[SessionEntry] = []
        self._likeness = quantized.NearestVectors([], 0.0, 1.0)
        self._count = 0

    def nearest(self, tx: Reader, query: Query, known: Sequence[int]) -> list[int]:
        """Who else is to be looked at, beside those known by their words, the best of them first."""
        near = islice(self.cosines(tx, query, known[: hybrid.COMPARED]), hybrid.BY_MEANING)
        seen = set(known)
        return [number for number in near if number not in seen]

    def session_neighbours(self, tx: Reader, known: Sequence[int], sessions: Collection[int]) -> list[int]:
        """The neighbours, in their sessions, of the best by words and by meaning."""
        if not sessions:
            return []
        seen = set(known)
        lenders = {*known[: hybrid.LENDERS], *islice(self._cosines, hybrid.LENDERS)}
        near = tx.session_neighbours(sorted(lenders & seen), 2 * hybrid.REACH)
        self._talk = [SessionEntry(one.number, (one.project, one.session), one.length) for one in near]
        return [number for number in hybrid.neighbours(self._talk, lenders) if number not in seen]

    def cosines(self, tx: Reader, query: Query, known: Sequence[int] = ()) -> dict[int, float]:
        """The cosines of those most like the question, and of those known, best first."""
        places = [self._signs(tx, self._model, place) for place in tx.areas(query)]
        self._count = sum(map(len, places))
        self._likeness = quantized.nearest(self._row, places, hybrid.LOOKED_AT)
        compared = [*dict.fromkeys([*self._likeness.numbers, *known])]
        cosines = self._alike(tx, self._model, self._row, compared)
        self._cosines = dict(sorted(cosines.items(), key=itemgetter(1), reverse=True))
        return self._cosines

    def score(
        self,
        tx: Reader,
        query: Query,
        lengths: Mapping[int, int],
        sessions: Iterable[int],
        words: LexicalScores,
        average: float,
    ) -> HybridScores:
        """The scores of the candidates, of which some are in sessions, given how well the words of each meet the question,
        as shares of it."""
        cosines = self._cosines
        standings = hybrid.standard_scores(cosines, self._likeness.mean, self._likeness.deviation, self._count)
        shares = hybrid.combine(words, cosines, standings, average)
        told: dict[int, TurnText] = {}
        turns = {number for number in sessions if lengths[number] <= hybrid.SHORT}
        if turns or self._span is not None:
            for number, its in tx.text_ends([*lengths]).items():
                told[number] = TurnText(
                    its.created_at, chunking.strip_timestamps(its.first), its.last.rstrip().endswith(("?", "？"))
                )
        talk = [one for one in self._talk if one.number in lengths]
        return HybridScores(query.text, shares, cosines, standings, talk, turns, told, self._span)

    def by_time(self, tx: Reader, query: Query, at: datetime, most: int) -> list[int]:
        """What was learnt at the time that the question names, the newest first."""
        return [] if self._span is None else tx.changed_between(query, self._span.start, self._span.end, most, at)
