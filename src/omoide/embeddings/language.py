"""Which texts the model for English is for. Pure."""

import re

_SHARE = 0.9
"""The share of letters without accents from which a text can be English: some names have others."""
_JUDGED = 1_000
"""Characters at the start of a text by which its language is judged."""
_first_person = re.compile(r"\b(?:I(?!/)|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Uu]s|[Oo]ur)\b")
_how = re.compile(r"\bhow (?:to|do|can|could|should|would)\b", re.IGNORECASE)


def is_english(text: str) -> bool:
    """Whether a text can be English: by its letters, since code and names belong to it."""
    letters = [character for character in text[:_JUDGED] if character.isalpha()]
    return bool(letters) and sum(map(str.isascii, letters)) >= _SHARE * len(letters)


def is_personal(question: str) -> bool:
    """Whether a question in English is about the person who asks ("when did I …", "my bike"), and not about how to do
    something: there, the model for English finds a little less than the bundled one."""
    return _first_person.search(question) is not None and _how.search(question) is None
