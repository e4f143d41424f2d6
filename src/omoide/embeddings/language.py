"""The language of a text, as far as embeddings depend on it: its script, and whether the model for English is for it."""

import re

_SHARE = 0.9
"""The share of letters without accents from which a text can be English: some names have others."""
_JUDGED = 1_000
"""Characters at the start of a text by which its language is judged."""
_DENSITY_JUDGED = 400
"""Characters at the start of a text by which its script is judged."""
# Compiled when they are first used: every process loads this module, and few need them.
_FIRST_PERSON = r"\b(?:I(?!/)|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Uu]s|[Oo]ur)\b"
_HOW = r"\bhow (?:to|do|can|could|should|would)\b"


def is_dense(text: str) -> bool:
    """Whether more than a quarter of a text's beginning is in a script like Japanese, where a character says more."""
    beginning = text[:_DENSITY_JUDGED]
    # Every hit of a recall is judged: without a loop in Python it takes a tenth of the time.
    return not beginning.isascii() and sum(map("\u3040".__le__, beginning)) > len(beginning) / 4


def is_english(text: str) -> bool:
    """Whether a text can be English: by its letters, since code and names belong to it."""
    letters = [character for character in text[:_JUDGED] if character.isalpha()]
    return bool(letters) and sum(map(str.isascii, letters)) >= _SHARE * len(letters)


def is_personal(question: str) -> bool:
    """Whether a question in English is about the person who asks ("when did I …", "my bike"), and not about how to do
    something: there, the model for English finds a little less than the bundled one."""
    return re.search(_FIRST_PERSON, question) is not None and re.search(_HOW, question, re.IGNORECASE) is None
