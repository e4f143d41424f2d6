"""The embedder that asks a server with OpenAI's embeddings interface, such as Ollama."""

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from omoide.embeddings.base import unit_vectors
from omoide.embeddings.process_end import is_process_ending
from omoide.errors import EmbedderUnavailable

if TYPE_CHECKING:  # see `base`
    from omoide.embeddings.base import Rows

SILENCE_LIMIT = 10.0
"""Seconds without a byte after which a batch fails."""
BATCH_LIMIT = 120.0
"""Seconds for a whole batch, however slowly its bytes arrive."""
QUERY_LIMIT = 2.0
"""Seconds for a query, from resolving the name to the last byte: somebody waits for it."""
_MAX_ABANDONED = 4  # requests that were given up and still run, from which on the server is asked nothing more
_READ_SIZE = 1 << 16
_STEP = 0.2
"""Seconds between two looks at whether the process ends."""


class _Vector(msgspec.Struct):
    index: int
    embedding: list[float]


class _EmbeddingList(msgspec.Struct):
    data: list[_Vector]


class OpenAIEmbedder:
    """A model of a server: its base URL, the model's name there, and the API key if it needs one."""

    def __init__(self, url: str, model: str, key: str = ""):
        self.name = f"{url}#{model}"
        self._url, self._model, self._key = url.rstrip("/") + "/embeddings", model, key
        self._abandoned: list[threading.Thread] = []

    def vectors(self, texts: Sequence[str], *, patient: bool = True) -> "Rows":
        """Return a unit vector for each text; not patient, within `QUERY_LIMIT` seconds."""
        from http.client import HTTPException  # lazy: 40 ms that only this embedder needs

        try:
            answer = self._request(msgspec.json.encode({"model": self._model, "input": list(texts)}), patient=patient)
            rows = sorted(msgspec.json.decode(answer, type=_EmbeddingList).data, key=lambda row: row.index)
            if len(rows) != len(texts):
                raise EmbedderUnavailable(f"{self._url} returned {len(rows)} vectors for {len(texts)} texts")
        # ValueError: an address or a key that no request can carry. RuntimeError: no thread can be started.
        except (OSError, HTTPException, msgspec.DecodeError, ValueError, RuntimeError) as error:
            raise EmbedderUnavailable(f"{self._url} returned no vectors ({error}): check the setting `embedder`") from error
        return unit_vectors([row.embedding for row in rows], self.name)

    def _request(self, body: bytes, *, patient: bool) -> bytes:
        """Return the server's answer, requested in a thread that can be abandoned: a socket's timeout applies to each read,
        so a slow server could block for ever, and resolving a name has no timeout at all."""
        from http.client import HTTPException  # lazy: see `vectors`
        from urllib.request import Request, urlopen  # lazy: see `vectors`

        self._abandoned = [thread for thread in self._abandoned if thread.is_alive()]
        if len(self._abandoned) >= _MAX_ABANDONED:
            raise TimeoutError("it is still busy with earlier requests")
        headers = {"Content-Type": "application/json"}
        if not self._key.isprintable():  # the request would fail too, with the key in its message
            raise ValueError("its key contains a line break or another control character")
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        silence, limit = (SILENCE_LIMIT, BATCH_LIMIT) if patient else (QUERY_LIMIT, QUERY_LIMIT)
        end = time.monotonic() + limit
        parts: list[bytes] = []
        errors: list[Exception] = []

        def request() -> None:
            try:
                # S310: the setting accepts http and https only.
                with urlopen(Request(self._url, body, headers), timeout=silence) as answer:  # noqa: S310 - see above
                    while time.monotonic() < end and (part := answer.read1(_READ_SIZE)):
                        parts.append(part)
            except (OSError, HTTPException, ValueError) as error:  # raised below, in the thread that waits
                errors.append(error)

        # A daemon: it waits for a socket, and runs no C++ code that the interpreter could not stop.
        thread = threading.Thread(target=request, name="omoide-embedder", daemon=True)
        thread.start()
        _wait(thread, end)
        is_late = time.monotonic() >= end
        if thread.is_alive():
            self._abandoned.append(thread)
        if errors:
            raise errors[0]
        if is_late:
            raise TimeoutError(f"timed out after {limit:g} s")
        if thread.is_alive():
            raise TimeoutError("this process is ending")
        return b"".join(parts)


def _wait(thread: threading.Thread, end: float) -> None:
    """Wait until the thread or the time has ended; in a process that ends, no longer than for a query."""
    began = time.monotonic()
    while thread.is_alive() and (left := end - time.monotonic()) > 0:
        if is_process_ending():
            end = min(end, began + QUERY_LIMIT)
        thread.join(min(left, _STEP))
