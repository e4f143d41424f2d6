"""The embeddings of one store: the embedder, the vectors in memory, and the thread that makes missing vectors.

Every process has an instance, and most never use it: the modules that need numpy load with the first vector.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from omoide.embeddings import language
from omoide.embeddings.process_end import EndSignal, is_process_ending
from omoide.errors import EmbedderUnavailable, StoreBusy, StoreError
from omoide.model import Memory, Query, Scope
from omoide.settings import Settings
from omoide.storage.base import EmbeddingModel, Reader, Store, StoredVector, StoreMark, VectorCounts, Writer
from omoide.storage.capabilities import Housekeeping

if TYPE_CHECKING:  # numpy takes 150 ms that only a process that embeds should pay for
    from types import ModuleType

    from omoide.embeddings.base import Embedder
    from omoide.embeddings.cache import VectorCache
    from omoide.embeddings.quantized import Row
    from omoide.embeddings.vectors import EnglishVector, QueryVector

SIMILAR = 0.8
"""The cosine from which two memories are compared word by word."""
_CLOSE_WAIT = 10.0
"""Seconds that closing waits for the batch in progress. The process itself waits for the batch without a limit."""
PAUSE = 60.0
"""Seconds after a failure in which the embedder is not tried again, except by `fill`."""
LOOK = 5.0
"""Seconds between two checks for what other processes wrote: each takes a thread and a turn at the store from queries."""
_MANY = 10_000
"""Events from which the whole store is checked instead: a tenth of a second for 100,000 memories."""
_RETRY = 0.1
"""Seconds after which vectors made in the background are tried to be written again while others write."""
FOREGROUND = 192
"""Memories that a process without a background thread embeds before it answers a query: about half a second."""
_MOST_TEXTS = 1_000
"""Texts whose vectors are kept for the next comparison."""
FOREGROUND_ENGLISH = 32
"""The same for the English model, which takes ten times as long: about half a second more."""
_BUNDLED = ("auto", "bundled", "bundled+english")
"""Values of the setting `embedder` that name the bundled model."""
BATCH = 64
"""Memories embedded together, about a quarter of a second, and stored in one transaction."""
ENGLISH_BATCH = 8
"""The same for the English model: a process that ends waits for the batch in progress."""


def _vector_module() -> "ModuleType":
    """Return the module of vectors. A process that asks a server for them may have no numpy: raises EmbedderUnavailable."""
    try:
        from omoide.embeddings import vectors  # lazy: numpy, see the top
    except ImportError as error:
        raise EmbedderUnavailable(f'vectors need numpy ({error}): pip install "omoide[semantic]"') from error
    return vectors


class EmbeddingIndex:
    """The embeddings of a store, shared by all services on it. Nothing loads before a query or a vector needs it."""

    def __init__(self, store: Store, settings: Settings, *, background: bool):
        """`background`: whether missing vectors are made by a thread of this process; if not, a query makes some first."""
        self._store = store
        self._settings = settings
        self._background = background
        self._fills_first = not background
        self._models: dict[str, EmbeddingModel] = {}
        """The models that made vectors here, by the names of their embedders."""
        self._cache: VectorCache | None = None
        self._texts: dict[str, Row] = {}
        """Vectors of texts that are no memories."""
        self._loaded = False
        self._waiting: set[int] = set()
        self._seen: StoreMark | None = None
        """The state of the store when it was last checked for memories without a vector."""
        self._looked_at = 0.0
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._ending = EndSignal()
        self.trouble = ""
        """Why the last vectors could not be made."""
        self.english_trouble = ""
        """Why the English model is not used in this process."""
        self._failed_at = -PAUSE

    @cached_property
    def embedder(self) -> "Embedder | None":
        """The embedder that the settings name; None if semantic search is off."""
        from omoide.embeddings.base import make_embedder  # lazy: see the top

        return make_embedder(self._settings.embedder, self._settings.embedder_key)

    @cached_property
    def english(self) -> "Embedder | None":
        """The embedder for English beside it; None if there is none, or if it failed."""
        from omoide.embeddings.base import make_english_embedder  # lazy: see the top

        return make_english_embedder(self._settings.embedder)

    def _give_up_english(self, error: EmbedderUnavailable) -> None:
        """Go on without the English model: it is a file of this machine, so trying again would not help."""
        self.english_trouble, self.english = str(error), None

    # queries

    def encode_query(self, query: Query, *, in_english: bool = True) -> "QueryVector | None":
        """Return the query's text as a vector; None if there is no embedder, no text, or no vector to compare it with.

        `in_english`: whether the English model, where there is one, makes a vector of an English text, too.
        """
        if not query.text.strip() or self.embedder is None or self._is_pausing:
            return None
        if self._fills_first or is_process_ending():  # no thread is started any more
            self._fill_some()
        model = self._stored_model(self.embedder)
        if model is None:
            self.wake()
            return None
        try:
            vectors = _vector_module()
            row = vectors.encode_query(self.embedder, query.text)
        except EmbedderUnavailable as error:  # fallback: words alone
            self._record_failure(error)
            return None
        if not self._loaded:
            self._loaded = True
            if isinstance(self._store, Housekeeping):
                self._store.enlarge_cache()
        self.wake()
        english = self._encode_in_english(query.text) if in_english else None
        vector: QueryVector = vectors.QueryVector(row, model, self.cache(), english)
        return vector if vector.fits else None

    def compare_texts(self, vector: "QueryVector", texts: Sequence[str]) -> list[float]:
        """Return the cosine of a query's vector with each of these texts; an empty list if the embedder gives none.

        The vectors of texts are kept: the same texts, such as the descriptions of projects, are compared again and again.
        """
        known = self._texts
        if len(known) > _MOST_TEXTS:
            known = self._texts = {}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        try:
            if missing and self.embedder is not None:
                known.update(zip(missing, self.embedder.vectors(missing, patient=False), strict=True))
        except EmbedderUnavailable as error:  # fallback: words alone
            self._record_failure(error)
            return []
        return [float(vector.row @ known[text]) for text in texts]

    def _encode_in_english(self, text: str) -> "EnglishVector | None":
        """Return the query's text as a vector of the English model; None if it is not for it, or there is none."""
        embedder = self.english
        if embedder is None or not language.is_english(text) or language.is_personal(text):
            return None
        model = self._stored_model(embedder)
        if model is None:
            return None
        vectors = _vector_module()
        try:
            vector: EnglishVector = vectors.EnglishVector(vectors.encode_query(embedder, text), model)
        except EmbedderUnavailable as error:  # fallback: the other model alone
            self._give_up_english(error)
            return None
        return vector

    def _stored_model(self, embedder: "Embedder") -> EmbeddingModel | None:
        """Return the model of this embedder that made vectors here."""
        model = self._models.get(embedder.name)
        if model is None:
            with self._store.read() as tx:
                model = tx.model(embedder.name)
            if model is not None:
                self._models[embedder.name] = model
        return model

    def encode_query_without_loading(self, query: Query) -> "QueryVector | None":
        """Return the query's text as a vector if that is cheap: by the bundled model, which this process has loaded.

        For callers that must answer at once and without a network; None: search by words.
        """
        is_cheap = self._loaded and self._settings.embedder in _BUNDLED
        return self.encode_query(query, in_english=False) if is_cheap else None

    def _fill_some(self) -> None:
        """Make a few missing vectors now, in a process that ends after its answer, as a command does."""
        try:
            for embedder, most in ((self.embedder, FOREGROUND), (self.english, FOREGROUND_ENGLISH)):
                done = 0
                for memories in self._missing(embedder, None, min(BATCH, most)):
                    done += self._embed(embedder, memories, patient=False)
                    if done >= most:
                        break
        except EmbedderUnavailable as error:  # fallback: words alone
            self._record_failure(error)
        except StoreError as error:  # fallback: the vectors that there are
            self.trouble = str(error)

    def cache(self) -> "VectorCache":
        """Return the vectors of the store that are in memory."""
        if self._cache is None:
            from omoide.embeddings.cache import VectorCache  # lazy: numpy, see the top

            self._cache = VectorCache()
        return self._cache

    # missing vectors

    def wake(self, numbers: Sequence[int] = ()) -> None:
        """Have the vectors of these memories, or of all that lack one, made in the background.

        A process that only remembers loads no model for it: the next process that recalls makes the vectors.
        """
        if not self._background or (numbers and not self._loaded) or self.embedder is None:
            return
        with self._lock:
            self._waiting.update(numbers)
            if self._is_pausing or not (self._waiting or self._is_due) or self._ending.is_set():
                return
            if self._worker is None or not self._worker.is_alive():
                # No daemon: the interpreter ends those wherever they are, and the C++ code of a tokenizer then aborts.
                self._worker = threading.Thread(target=self._work, name="omoide-vectors", daemon=False)
                self._worker.start()

    def after_commit(self, numbers: Sequence[int]) -> None:
        """Post-commit hook: have the memories that were just stored or changed get their vectors."""
        if numbers:
            self.wake(numbers)

    def _work(self) -> None:
        try:
            if self._is_due:
                self._check_changes()
            while not self._ending.is_set():
                with self._lock:
                    numbers = sorted(self._waiting)[:BATCH]
                    self._waiting.difference_update(numbers)
                    if not numbers:
                        self._worker = None
                        return
                for _ in self.fill(numbers, patient=False):
                    pass
        except EmbedderUnavailable as error:  # fallback: the next query or `fill` tries again
            self._seen = None
            self._record_failure(error)
        except StoreError as error:  # the same, and the embedder is not to blame
            self._seen, self.trouble = None, str(error)

    @property
    def _is_due(self) -> bool:
        return self._seen is None or time.monotonic() >= self._looked_at + LOOK

    def _check_changes(self) -> None:
        """Find the memories that lack a vector among those that other processes changed; among all if that is much."""
        self._looked_at = time.monotonic()
        seen, changed = self._seen, None
        with self._store.read() as tx:
            mark = tx.mark()
            if seen is not None and seen.rebuild == mark.rebuild and 0 <= mark.event - seen.event <= _MANY:
                changed = tx.memories_changed_since(seen.event)
            if self.embedder is not None:  # one of other dimensions, if its server changed it and somebody reindexed
                model = tx.model(self.embedder.name)
                self._models.update({} if model is None else {self.embedder.name: model})
        if changed is None:
            for _ in self.fill(patient=False):
                pass
            if self._ending.is_set():
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
    def _is_pausing(self) -> bool:
        return time.monotonic() < self._failed_at + PAUSE

    def fill(self, among: Sequence[int] | None = None, *, patient: bool = True) -> Iterator[int]:
        """Make the vectors that these memories, or all, lack; yields after each batch how many memories got theirs.

        Not patient, as in the background, it never blocks queries of this process while other processes write, and stops
        when the index is closed or the process ends. Raises EmbedderUnavailable.
        """
        for memories in self._missing(self.embedder, among, patient=patient):
            stored = self._embed(self.embedder, memories, patient=patient)
            # Both in turn, so that each memory is counted once, when it has all its vectors.
            numbers = [memory.number for memory in memories]
            for lacking in self._missing(self.english, numbers, ENGLISH_BATCH, patient=patient):
                self._embed(self.english, lacking, patient=patient)
            yield stored
        for memories in self._missing(self.english, among, ENGLISH_BATCH, patient=patient):
            yield self._embed(self.english, memories, patient=patient)

    def _missing(
        self, embedder: "Embedder | None", among: Sequence[int] | None, most: int = BATCH, *, patient: bool = True
    ) -> Iterator[list[Memory]]:
        """Yield batches of the memories, of these or of all, that lack a vector; not patient, until the end."""
        after = 0
        while embedder is not None and embedder in (self.embedder, self.english):  # one that failed is not tried again
            if not patient and self._ending.is_set():
                return
            with self._store.read() as tx:
                model = tx.model(embedder.name)
                memories = tx.without_vector(None if model is None else model.number, after, most, among)
            if not memories:
                return
            after = memories[-1].number
            yield memories

    def _embed(self, embedder: "Embedder | None", memories: Sequence[Memory], *, patient: bool) -> int:
        """Make and store the vectors of memories; return how many got theirs."""
        if embedder is None:
            return 0
        try:
            vectors = self._make(embedder, memories)
        except EmbedderUnavailable as error:
            if embedder is self.embedder:
                raise
            self._give_up_english(error)  # fallback: the other model alone
            return 0
        while True:
            try:
                with self._store.write(patient=patient) as tx:
                    stored = self._put(tx, embedder.name, vectors)
                break
            except StoreBusy:
                # Not by waiting inside the store: there, the queries of this process would wait behind us.
                if patient or self._ending.wait(_RETRY):
                    raise
        self._loaded = True
        self._record_success()
        return stored

    def refit(self) -> None:
        """Notice a model that was changed under its name, as a server may do: then all vectors are missing."""
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

    def _make(self, embedder: "Embedder", memories: Sequence[Memory]) -> list[StoredVector]:
        vectors = _vector_module()
        make = vectors.make_vectors if embedder is self.embedder else vectors.make_english_vectors
        made: list[StoredVector] = make(embedder, memories)
        return made

    def make_vectors(self, memories: Sequence[Memory]) -> list[StoredVector]:
        """Return the vectors of versions that are not written yet; those of English follow later.

        Raises EmbedderUnavailable.
        """
        if self.embedder is None or not memories:
            return []
        batches = (memories[start : start + BATCH] for start in range(0, len(memories), BATCH))
        return [vector for batch in batches for vector in self._make(self.embedder, batch)]

    def store_vectors(self, tx: Writer, made: Sequence[StoredVector]) -> int:
        """Store these vectors, drop those of all other embedders, and return how many memories got theirs."""
        if self.embedder is None:
            return 0
        stored = self._put(tx, self.embedder.name, made) if made else 0
        models = [tx.model(embedder.name) for embedder in (self.embedder, self.english) if embedder is not None]
        if models[0] is not None:
            tx.drop_vectors([model.number for model in models if model is not None])
        return stored

    def _put(self, tx: Writer, name: str, made: Sequence[StoredVector]) -> int:
        from omoide.embeddings import english  # lazy: see the top

        # Of memories in other languages, the English model makes nothing but empty vectors.
        dimensions = max(len(vector.int8) for vector in made) or english.DIMENSIONS
        model = self._models[name] = EmbeddingModel(tx.ensure_model(name, dimensions), dimensions)
        return tx.put_vectors(model.number, made)

    # all vectors

    def pairs(self, tx: Reader, memories: Mapping[int, Memory]) -> Iterator[tuple[int, int, float]]:
        """Return each two of these memories, of one scope and type, with a cosine of at least `SIMILAR`, and the cosine."""
        model = None if self.embedder is None else tx.model(self.embedder.name)
        if model is None:
            return
        try:
            from omoide.embeddings.quantized import mean_vectors, pairs  # lazy: numpy, see the top
        except ImportError:  # fallback: near-duplicates by words
            return

        groups: dict[tuple[Scope, str], list[int]] = {}
        for number, memory in memories.items():
            groups.setdefault((memory.scope, memory.type), []).append(number)
        for numbers in groups.values():
            if len(numbers) > 1:
                yield from pairs(*mean_vectors(tx.vectors(model.number, numbers)), SIMILAR)

    def probe(self) -> None:
        """Ask the embedder for one vector, as a query would: `trouble` then says why there was none."""
        if self.embedder is None:
            return
        if self.english is not None:
            try:
                self.english.vectors(["anything"])
            except EmbedderUnavailable as error:
                self._give_up_english(error)
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
                f"{self.embedder.name} returns vectors of {dimensions} dimensions, and the stored ones have"
                f" {model.dimensions}: run `omoide reindex`"
            )

    def coverage(self) -> VectorCounts:
        """Return how many memories have a vector of every embedder that is for them, and how many lack one."""
        embedders = [self.embedder, *([] if self.english is None else [self.english])]
        with self._store.read() as tx:
            models = [None if embedder is None else tx.model(embedder.name) for embedder in embedders]
            counts = [tx.coverage(None if model is None else model.number) for model in models]
        return max(counts, key=lambda count: count.pending)

    def close(self) -> None:
        """End the background thread after the batch in progress."""
        self._ending.set()
        with self._lock:
            worker = self._worker
        if worker is not None:
            worker.join(_CLOSE_WAIT)
