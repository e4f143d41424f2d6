"""The embedder that runs a model of the library fastembed."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from omoide.embeddings.base import unit_vectors
from omoide.errors import EmbedderUnavailable

if TYPE_CHECKING:  # see `base`
    from omoide.embeddings.base import Rows


class FastembedEmbedder:
    """A model of fastembed, by its name there. It loads, or is downloaded, with the first text."""

    def __init__(self, model: str):
        self.name = f"fastembed:{model}"
        self._wanted = model
        self._model: Any = None

    def vectors(self, texts: Sequence[str], *, patient: bool = True) -> "Rows":
        """Return a unit vector for each text; not patient, only with a model that is already downloaded."""
        if self._model is None:
            try:
                # Without its hub it tries for most of a minute: a query uses the model that is there already, or none.
                self._model = import_module("fastembed").TextEmbedding(self._wanted, local_files_only=not patient)
            except _library_errors() as error:
                raise EmbedderUnavailable(
                    f"{self.name} cannot be loaded ({error}): install fastembed, and run `omoide reindex --pending` once"
                    " where its hub can be reached"
                ) from error
        try:
            rows = list(self._model.embed(list(texts)))
        except _library_errors() as error:
            raise EmbedderUnavailable(f"{self.name} returned no vectors ({error}): check the setting `embedder`") from error
        return unit_vectors(rows, self.name)


def _library_errors() -> tuple[type[Exception], ...]:
    """The errors that fastembed raises. Those of the runtime below it derive from Exception alone, so each is listed."""
    runtime = vars(sys.modules.get("onnxruntime.capi.onnxruntime_pybind11_state", object)).values()
    foreign = [kind for kind in runtime if isinstance(kind, type) and issubclass(kind, Exception)]
    return (ImportError, ValueError, OSError, RuntimeError, *foreign)
