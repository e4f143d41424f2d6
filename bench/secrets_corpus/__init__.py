"""An evaluation set for the secret guard: texts with a secret and look-alikes without one.

Do not tune the guard's rules on this set. It was written without knowledge of the rules and measures them only as long as
nobody looks at it while writing them. A rule that should be better needs other examples: see `tests/pure/test_secrets.py`.

Every text is put together when it is needed, from a seed: sentences from here, keys and passwords from random characters.
No key stands in the source, and none of them works anywhere.
"""

from random import Random

from bench.secrets_corpus import lookalikes, policies, private_keys, providers, sentences, snippets
from bench.secrets_corpus.parts import Item, Language

__all__ = ["SEED", "Item", "Language", "corpus"]

SEED = 20260214
_SOURCES = (providers, snippets, private_keys, sentences, lookalikes, policies)


def corpus(seed: int = SEED) -> list[Item]:
    """Return all texts: those with a `secret`, then the look-alikes, the same ones for the same seed."""
    rng = Random(seed)
    return [item for source in _SOURCES for item in source.items(rng)]
