"""Meaning: the embedder, the signs at hand and who fills in vectors, for one store.

Every process has one, and most never use it: the modules that think about meaning load with the first vector.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from omoide.errors import EmbedderUnavailable, StoreBusy, StoreError
from omoide.model import Memory, Query, Scope
from omoide.settings import Settings
from omoide.storage.base import EmbeddingModel, Reader, Store, StoredVector, StoreMark, VectorCounts, Writer

if TYPE_CHECKING:  # numpy, and the patterns of dates: 150 ms that only whoever embeds pays for
    from types import ModuleType

    from omoide.embeddings.base import Embedder
    from omoide.embeddings.quantized import Row, RowStore, SignIndex
    from omoide.embeddings.vectors import QueryVector

LIKE = 0.8
"""Likeness from which two memories are compared word by word."""
_LAST_BATCH = 10.0
"""Seconds that closing waits for the batch at hand."""
PAUSE = 60.0
"""Seconds after a failure in which nobody waits for the embedder again, unless told to embed."""
LOOK = 5.0
"""Seconds between two looks at what other processes did: each takes a thread and a turn at the store from the questions."""
_MANY = 10_000
"""Events from which the whole store is looked through instead: a tenth of a second for 100,000 memories."""
_GIVES_WAY = 0.1
"""Seconds after which vectors made in the background try again to get between others who write."""
_AT_HAND = 12_000
"""Vectors kept in the process, about 8 MB."""
BATCH = 64
"""Memories embedded in one go, about a quarter of a second, and kept in one transaction."""


def _vector_module() -> "ModuleType":
    """The module that thinks in vectors; whoever asks a server for them may have no numpy."""
    try:
        from omoide.embeddings import vectors  # noqa: PLC0415 - see the top
    except ImportError as error:
        raise EmbedderUnavailable(f'vectors need numpy ({error}): pip install "omoide[semantic]"') from error
    return vectors


class VectorCache:
    """Vectors that were compared lately, as long as nothing happened to their memories: reading eighty of them takes three
    times as long as comparing them."""

    def __init__(self) -> None:
        self._stood: tuple[int, StoreMark] | None = None
        self._rows: RowStore | None = None

    def cosines(self, tx: Reader, model: EmbeddingModel, question: "Row", numbers: Sequence[int]) -> dict[int, float]:
        """The cosines of the question and of those among these memories that have a vector."""
        from omoide.embeddings import quantized  # noqa: PLC0415 - see the top

        self._catch_up(tx, model.number)
        if self._rows is None or len(self._rows) > _AT_HAND:
            self._rows = quantized.RowStore(model.dimensions)
        return self._rows.alike(question, numbers, partial(tx.vectors, model.number))

    def _catch_up(self, tx: Reader, model: int) -> None:
        mark = tx.mark()
        stood, self._stood = self._stood, (model, mark)
        if stood is None or stood[0] != model or stood[1].renewal != mark.renewal:
            self._rows = None
        elif stood[1].event != mark.event and self._rows is not None:
            # What is said anew has no vector until one is made: that it is made logs no event, and needs none.
            for number in tx.changed_since(stood[1].event):
                self._rows.forget(number)


class EmbeddingIndex:
    """What all who act on one store share. Nothing is loaded before a question or a vector needs it."""

    def __init__(self, store: Store, settings: Settings, *, background: bool):
        self._store = store
        self._settings = settings
        self._background = background
        self._model: EmbeddingModel | None = None
        self._places: dict[tuple[int, int], SignIndex] = {}
        self._at_hand = VectorCache()
        self._loaded = False
        self._waiting: set[int] = set()
        self._seen: StoreMark | None = None
        """Where the store stood when it was last looked through for memories without a vector."""
        self._looked_at = 0.0
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._closing = threading.Event()
        self.trouble = ""
        """Why the last vectors could not be made."""
        self._failed_at = -PAUSE

    @cached_property
    def embedder(self) -> "Embedder | None":
        from omoide.embeddings.base import make_embedder  # noqa: PLC0415 - see the top

        return make_embedder(self._settings.embedder, self._settings.embedder_key)

    # asking

    def encode_query(self, query: Query) -> "QueryVector | None":
        """The question as a vector; None when there is no embedder, no text, or no vector to compare it with yet."""
        if not query.text.strip() or self.embedder is None or self._pausing:
            return None
        model = self._model
        if model is None:
            with self._store.read() as tx:
                model = self._model = tx.model(self.embedder.name)
        if model is None:
            self.wake()
            return None
        try:
            vectors = _vector_module()
            row = vectors.encode_query(self.embedder, query.text)
        except EmbedderUnavailable as error:  # plan B: words alone
            self._record_failure(error)
            return None
        if not self._loaded:
            self._loaded = True
            self._store.enlarge_cache()
        self.wake()
        vector: QueryVector = vectors.QueryVector(row, model, self._signs, self._at_hand.cosines)
        return vector if vector.fits else None

    def _signs(self, tx: Reader, model: EmbeddingModel, place: int) -> "SignIndex":
        """The signs of a place, with all that came since they were last looked at."""
        from omoide.embeddings.quantized import SignIndex  # noqa: PLC0415 - see the top

        kept = self._places.get((model.number, place))
        if kept is None:
            kept = self._places[model.number, place] = SignIndex(model.dimensions)
        kept.add(tx.sign_bits(model.number, place, kept.seen))
        return kept

    # filling in

    def wake(self, numbers: Sequence[int] = ()) -> None:
        """Has these memories, or all that have none yet, get their vectors in the background.

        A process that only remembers loads no model for it: then the next one that recalls fills them in.
        """
        if not self._background or (numbers and not self._loaded) or self.embedder is None:
            return
        with self._lock:
            self._waiting.update(numbers)
            if self._pausing or not (self._waiting or self._is_due) or self._closing.is_set():
                return
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._work, name="omoide-vectors", daemon=True)
                self._worker.start()

    def _work(self) -> None:
        try:
            if self._is_due:
                self._look()
            while not self._closing.is_set():
                with self._lock:
                    numbers = sorted(self._waiting)[:BATCH]
                    self._waiting.difference_update(numbers)
                    if not numbers:
                        self._worker = None
                        return
                for _ in self.fill(numbers, patient=False):
                    pass
        except EmbedderUnavailable as error:  # plan B: whoever asks or embeds next tries again
            self._seen = None
            self._record_failure(error)
        except StoreError as error:  # the same, and nothing is wrong with meaning
            self._seen, self.trouble = None, str(error)

    @property
    def _is_due(self) -> bool:
        return self._seen is None or time.monotonic() >= self._looked_at + LOOK

    def _look(self) -> None:
        """Finds who lacks a vector by what other processes did: few events tell whom it may be, else all are looked at."""
        self._looked_at = time.monotonic()
        seen, changed = self._seen, None
        with self._store.read() as tx:
            mark = tx.mark()
            if seen is not None and seen.renewal == mark.renewal and 0 <= mark.event - seen.event <= _MANY:
                changed = tx.changed_since(seen.event)
            if self.embedder is not None:  # one of other dimensions, if its server changed it and somebody reindexed
                self._model = tx.model(self.embedder.name)
        if changed is None:
            for _ in self.fill(patient=False):
                if self._closing.is_set():
                    return
        else:
            with self._lock:
                self._waiting.update(changed)
        self._seen = mark

    def _record_failure(self, error: Exception) -> None:
        self.trouble, self._failed_at = str(error), time.monotonic()

    def _record_success(self) -> None:
        self.trouble, self._failed_at = "", -PAUSE

    @property
    def _pausing(self) -> bool:
        return time.monotonic() < self._failed_at + PAUSE

    def fill(self, among: Sequence[int] | None = None, *, patient: bool = True) -> Iterator[int]:
        """Makes the vectors that these memories, or all, lack, batch by batch, and answers after each how many got theirs.

        Who is not patient keeps nobody of this process from reading while others write.
        """
        if self.embedder is None:
            return
        after = 0
        while True:
            with self._store.read() as tx:
                model = tx.model(self.embedder.name)
                memories = tx.without_vector(None if model is None else model.number, after, BATCH, among)
            if not memories:
                return
            after = memories[-1].number
            yield self._keep(self.embedder, memories, patient=patient)

    def _keep(self, embedder: "Embedder", memories: Sequence[Memory], *, patient: bool) -> int:
        vectors = _vector_module().make_vectors(embedder, memories)
        while True:
            try:
                with self._store.write(patient=patient) as tx:
                    kept = self._put(tx, embedder.name, vectors)
                break
            except StoreBusy:
                # Not in the store's own line: there, the questions of this process would wait behind us.
                if patient or self._closing.wait(_GIVES_WAY):
                    raise
        self._loaded = True
        self._record_success()
        return kept

    def refit(self) -> None:
        """Notices a model that was changed under its name, as a server may do: then all vectors are missing."""
        if self.embedder is None:
            return
        with self._store.read() as tx:
            model = tx.model(self.embedder.name)
        if model is not None:
            _vector_module()
            dimensions = self.embedder.vectors(["anything"]).shape[1]
            if dimensions != model.dimensions:
                with self._store.write() as tx:
                    tx.ensure_model(self.embedder.name, dimensions)

    def make_vectors(self, memories: Sequence[Memory]) -> list[StoredVector]:
        """The vectors of versions that are still to be written."""
        if self.embedder is None or not memories:
            return []
        batches = (memories[start : start + BATCH] for start in range(0, len(memories), BATCH))
        return [vector for batch in batches for vector in _vector_module().make_vectors(self.embedder, batch)]

    def store_vectors(self, tx: Writer, made: Sequence[StoredVector]) -> int:
        """Keeps these vectors, drops those of all other embedders, and answers how many memories got theirs."""
        if self.embedder is None:
            return 0
        kept = self._put(tx, self.embedder.name, made) if made else 0
        model = tx.model(self.embedder.name)
        if model is not None:
            tx.drop_vectors(model.number)
        return kept

    def _put(self, tx: Writer, name: str, made: Sequence[StoredVector]) -> int:
        dimensions = len(made[0].parts)
        self._model = EmbeddingModel(tx.ensure_model(name, dimensions), dimensions)
        return tx.put_vectors(self._model.number, made)

    # looking at all of them

    def pairs(self, tx: Reader, memories: Mapping[int, Memory]) -> Iterator[tuple[int, int, float]]:
        """Each two of these memories, of one scope and type, that are much alike."""
        model = None if self.embedder is None else tx.model(self.embedder.name)
        if model is None:
            return
        try:
            from omoide.embeddings.quantized import mean_vectors, pairs  # noqa: PLC0415 - see the top
        except ImportError:  # plan B: words find twins
            return

        groups: dict[tuple[Scope, str], list[int]] = {}
        for number, memory in memories.items():
            groups.setdefault((memory.scope, memory.type), []).append(number)
        for numbers in groups.values():
            if len(numbers) > 1:
                yield from pairs(*mean_vectors(tx.vectors(model.number, numbers)), LIKE)

    def probe(self) -> None:
        """Asks for one vector, without patience: `trouble` tells whether there was one."""
        if self.embedder is None:
            return
        with self._store.read() as tx:
            model = tx.model(self.embedder.name)
        try:
            _vector_module()
            dimensions = self.embedder.vectors(["anything"], patient=False).shape[1]
        except EmbedderUnavailable as error:
            self._record_failure(error)
            return
        self._record_success()
        if model is not None and model.dimensions != dimensions:
            self.trouble = (
                f"{self.embedder.name} answers {dimensions} dimensions, and the vectors that are kept have"
                f" {model.dimensions}: run `omoide reindex`"
            )

    def coverage(self) -> VectorCounts:
        with self._store.read() as tx:
            model = None if self.embedder is None else tx.model(self.embedder.name)
            return tx.coverage(None if model is None else model.number)

    def close(self) -> None:
        self._closing.set()
        with self._lock:
            worker = self._worker
        if worker is not None:
            worker.join(_LAST_BATCH)
