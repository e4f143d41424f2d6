"""Estimate the tokens of a text without a tokenizer. Pure."""

import math
import re

from omoide.compiled_patterns import load_pattern

_PIECES = load_pattern(
    r"(?P<lower>[A-Z]?[a-z]+)|(?P<upper>[A-Z]+)|(?P<digits>[0-9]+)|(?P<blank>[ \t]+)|(?P<end>[\r\n]+)"
    r"|(?P<mark>[!-/:-@\[-`{-~]+)|(?P<kana>[\u3000-\u30ff\uff00-\uffef]+)|(?P<han>[\u3400-\u9fff]+)|(?P<other>.)",
    re.DOTALL,
)
_WEIGHTS = {
    # kind of a run of characters: tokens for the run, tokens for each character after the first
    "lower": (0.95, 0.07),
    "upper": (1.0, 0.35),
    "digits": (1.0, 0.34),
    "blank": (0.15, 0.05),
    "end": (1.0, 0.1),
    "mark": (1.0, 0.35),
    "kana": (1.0, 1.0),
    "han": (1.3, 1.3),
    "other": (2.5, 0.0),
}
"""Measured by `python -m bench.tokens`: never under o200k_base by more than 10 % for English, Japanese and code."""


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a model counts in a text, rather too many than too few. Estimates of lines can be added."""
    total = 0.0
    for piece in _PIECES.finditer(text):
        first, more = _WEIGHTS[piece.lastgroup or "other"]
        total += first + more * (piece.end() - piece.start() - 1)
    return math.ceil(total)
