"""A name for a project that a message would begin. Pure."""

import unicodedata
from collections.abc import Collection
from itertools import count

from omoide.compiled_patterns import load_pattern
from omoide.errors import InvalidInput
from omoide.model import check_project_path
from omoide.retrieval import analyzer

_MOST_WORDS = 3
_MOST_CHARACTERS = 40
_WORD = load_pattern(r"[a-z][a-z0-9+#-]+|[ァ-ヺー]{2,}|[一-鿿々]{2,}")


def propose_name(message: str, taken: Collection[str]) -> str:
    """Return a name made of the first telling words of a message, that no project has; empty where it has none."""
    text = unicodedata.normalize("NFKC", message).casefold()
    telling = {term for term, weight in analyzer.query_terms(text).items() if weight >= 1.0}
    words: list[str] = []
    for match in _WORD.finditer(text):
        word = match[0].strip("-")
        if word not in words and not telling.isdisjoint(analyzer.terms(word)):
            words.append(word)
        if len(words) == _MOST_WORDS:
            break
    return free_name("-".join(words)[:_MOST_CHARACTERS].strip("-"), taken)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name as one that a project can have and none has; empty where it cannot be one."""
    try:
        name = check_project_path(name)
    except InvalidInput:  # fallback: no name is better than a wrong one
        return ""
    folded = {path.casefold() for path in taken}
    if name.casefold() not in folded:
        return name
    return next(other for number in count(2) if (other := f"{name}-{number}").casefold() not in folded)
