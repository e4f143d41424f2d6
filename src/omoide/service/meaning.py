"""Meaning: the embedder, the signs at hand and who fills in vectors, for one store; and what they say to a question."""

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from omoide.config import Settings
from omoide.errors import EmbedderUnavailable, StoreError
from omoide.model import Memory, Query, Scope
from omoide.search import embed, meaning, when
from omoide.search.meaning import Talk, Told, Weighed
from omoide.store.base import Coverage, Model, Outline, Reading, Store, Vector

if TYPE_CHECKING:  # it loads numpy: only whoever embeds pays for that
    from omoide.search import vectors

LIKE = 0.8
"""Likeness from which two memories are compared word by word."""
BATCH = 64
"""Memories embedded in one go, about a quarter of a second, and kept in one transaction."""


class Meaning:
    """What all who act on one store share. Nothing is loaded before a question or a vector needs it."""

    def __init__(self, store: Store, settings: Settings, *, background: bool):
        self._store = store
        self.embedder = embed.embedder(settings.embedder, settings.embedder_key)
        self._background = background
        self._model: Model | None = None
        self._places: dict[tuple[int, int], vectors.Signs] = {}
        self._loaded = False
        self._waiting: set[int] = set()
        self._whole = False
        """Whether the filling has once looked through the whole store."""
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._closing = threading.Event()
        self.trouble = ""
        """Why the last vectors could not be made."""

    # asking

    def sense(self, query: Query, at: datetime) -> "Sense | None":
        """The question as a vector; None when there is no embedder, no text, or no vector to compare it with yet."""
        if self.embedder is None or not query.text.strip():
            return None
        if self._model is None:
            with self._store.read() as tx:
                self._model = tx.model(self.embedder.name)
        if self._model is None:
            self.wake()
            return None
        try:
            row = self.embedder.vectors([query.text[: embed.ASKED]])[0]
        except EmbedderUnavailable as error:  # plan B: words alone
            self.trouble = str(error)
            return None
        self._loaded = True
        self.wake()
        if len(row) != self._model.dimensions:
            return None
        return Sense(self, self._model, row, when.span(query.text, at.astimezone()))

    def signs(self, tx: Reading, model: Model, place: int) -> "vectors.Signs":
        """The signs of a place, with all that came since they were last looked at."""
        from omoide.search import vectors  # noqa: PLC0415 - see the top

        kept = self._places.get((model.number, place))
        if kept is None:
            kept = self._places[model.number, place] = vectors.Signs(model.dimensions)
        kept.add(tx.signs(model.number, place, kept.seen))
        return kept

    # filling in

    def wake(self, numbers: Sequence[int] = ()) -> None:
        """Has these memories, or all that have none yet, get their vectors in the background.

        A process that only remembers loads no model for it: then the next one that recalls fills them in.
        """
        if self.embedder is None or not self._background:
            return
        with self._lock:
            self._waiting.update(numbers)
            if (numbers and not self._loaded) or (self._whole and not self._waiting) or self._closing.is_set():
                return
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._work, name="omoide-vectors", daemon=True)
                self._worker.start()

    def _work(self) -> None:
        try:
            for _ in self.filled():
                if self._closing.is_set():
                    return
            self._whole = True
            while not self._closing.is_set():
                with self._lock:
                    numbers = sorted(self._waiting)[:BATCH]
                    self._waiting.difference_update(numbers)
                    if not numbers:
                        self._worker = None
                        return
                with self._store.read() as tx:
                    memories = tx.memories(numbers)
                self._keep(memories)
        except (EmbedderUnavailable, StoreError) as error:  # plan B: whoever asks or embeds next tries again
            self.trouble = str(error)

    def filled(self) -> Iterator[int]:
        """Makes the vectors that are missing, batch by batch, and answers after each how many memories have theirs."""
        if self.embedder is None:
            return
        after = 0
        while True:
            with self._store.read() as tx:
                model = tx.model(self.embedder.name)
                memories = tx.unembedded(None if model is None else model.number, after, BATCH)
            if not memories:
                return
            after = memories[-1].number
            yield self._keep(memories)

    def _keep(self, memories: Sequence[Memory]) -> int:
        if self.embedder is None or not memories:
            return 0
        from omoide.search import vectors  # noqa: PLC0415 - see the top

        pieces = [(memory, piece) for memory in memories for piece in pieces_of(memory)]
        rows = self.embedder.vectors([piece for _, piece in pieces])
        made = [
            Vector(memory.number, memory.version, vectors.signs(row), vectors.parts(row))
            for (memory, _), row in zip(pieces, rows, strict=True)
        ]
        with self._store.write() as tx:
            model = tx.made_model(self.embedder.name, rows.shape[1])
            kept = tx.put_vectors(model, made)
        self._loaded, self.trouble, self._model = True, "", Model(model, rows.shape[1])
        return kept

    def pairs(self, tx: Reading, memories: Mapping[int, Memory]) -> Iterator[tuple[int, int, float]]:
        """Each two of these memories, of one scope and type, that are much alike."""
        model = None if self.embedder is None else tx.model(self.embedder.name)
        if model is None:
            return
        from omoide.search import vectors  # noqa: PLC0415 - see the top

        groups: dict[tuple[Scope, str], list[int]] = {}
        for number, memory in memories.items():
            groups.setdefault((memory.scope, memory.type), []).append(number)
        for numbers in groups.values():
            if len(numbers) > 1:
                yield from vectors.pairs(*vectors.together(tx.vectors(model.number, numbers)), LIKE)

    def coverage(self) -> Coverage:
        with self._store.read() as tx:
            model = None if self.embedder is None else tx.model(self.embedder.name)
            return tx.coverage(None if model is None else model.number)

    def close(self) -> None:
        self._closing.set()
        with self._lock:
            worker = self._worker
        if worker is not None:
            worker.join()  # at most the batch it is at


def pieces_of(memory: Memory) -> list[str]:
    return embed.pieces(memory.topic if memory.topic_given else "", memory.content)


class Sense:
    """What one question means, against the memories that its scope sees."""

    def __init__(self, mind: Meaning, model: Model, row: "vectors.Row", span: when.Span | None):
        self._mind, self._model, self._row, self._span = mind, model, row, span
        self._cosines: dict[int, float] = {}
        self._talk: list[Talk] = []
        self._likeness: vectors.Likeness | None = None
        self._count = 0

    def nearest(self, tx: Reading, query: Query, known: Collection[int]) -> list[int]:
        """Who else is to be looked at, beside those known by their words."""
        return [number for number in islice(self.likeness(tx, query), meaning.BY_MEANING) if number not in known]

    def beside(self, tx: Reading, outlines: Sequence[Outline]) -> list[int]:
        """The neighbours, in their sessions, of the best by words and by meaning."""
        if not any(outline.session for outline in outlines):
            return []
        known = [outline.number for outline in outlines]
        seen = set(known)
        lenders = {*known[: meaning.LENDERS], *islice(self._cosines, meaning.LENDERS)}
        near = tx.near(sorted(lenders & seen), 2 * meaning.REACH)
        self._talk = [Talk(one.number, (one.project, one.session), one.length) for one in near]
        return [number for number in meaning.neighbours(self._talk, lenders) if number not in seen]

    def likeness(self, tx: Reading, query: Query) -> dict[int, float]:
        """The cosines of those most like the question, best first."""
        from omoide.search import vectors  # noqa: PLC0415 - see the top

        places = [self._mind.signs(tx, self._model, place) for place in tx.places(query)]
        self._count = sum(map(len, places))
        self._likeness = vectors.nearest(self._row, places, meaning.LOOKED_AT)
        cosines = vectors.alike(self._row, tx.vectors(self._model.number, self._likeness.numbers))
        self._cosines = dict(sorted(cosines.items(), key=lambda item: -item[1]))
        return self._cosines

    def weighed(
        self, tx: Reading, query: Query, outlines: Sequence[Outline], words: Mapping[int, float], average: float
    ) -> dict[int, Weighed]:
        """The scores of the candidates, given what share of the question the words of each cover."""
        from omoide.search import vectors  # noqa: PLC0415 - see the top

        best = sorted(words, key=lambda number: -words[number])[: meaning.COMPARED]
        missing = [number for number in best if number not in self._cosines]
        cosines = self._cosines | vectors.alike(self._row, tx.vectors(self._model.number, missing))
        likeness = self._likeness or vectors.Likeness([], 0.0, 1.0)
        standings = meaning.standing(cosines, likeness.mean, likeness.deviation, self._count)
        shares = meaning.joined(words, cosines, standings, average)
        told: dict[int, Told] = {}
        turns = {outline.number for outline in outlines if outline.session and outline.length <= meaning.SHORT}
        if turns or self._span is not None:
            for number, its in tx.openings([outline.number for outline in outlines]).items():
                told[number] = Told(its.created_at, embed.unstamped(its.first), its.last.rstrip().endswith(("?", "？")))
        seen = {outline.number for outline in outlines}
        talk = [one for one in self._talk if one.number in seen]
        return meaning.weighed(query.text, shares, cosines, standings, talk, turns, told, self._span)
