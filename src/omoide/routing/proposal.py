"""A name for a project that a message would begin. Pure."""

import unicodedata
from collections.abc import Collection, Sequence
from itertools import count

from omoide.compiled_patterns import load_pattern
from omoide.errors import InvalidInput
from omoide.model import check_project_path
from omoide.retrieval import analyzer
from omoide.routing.cues import find_cues
from omoide.routing.everyday_words import everyday_words

_MOST_WORDS = 3
_MOST_CHARACTERS = 40
_FEW = 1
_READ = 200
"""Words of a message that are looked at."""
_WORD = load_pattern(r"[a-z][a-z0-9+#-]+|[ァ-ヺー]{2,}|[一-鿿々]{2,}")


def propose_name(message: str, taken: Collection[str]) -> str:
    """Return a name made of the first telling words of a message, that no project has.

    Empty where the message has only words of everyday talk, or hardly another one and is phrased as work that goes on or as
    a greeting.
    """
    words = _name_words(message)
    telling = [place for place, word in enumerate(words) if not _is_everyday(word)]
    cues = find_cues(message)
    if len(telling) <= (_FEW if cues.is_work or cues.greets else 0):
        return ""
    first = max(0, telling[0] - _MOST_WORDS + 1)
    return free_name("-".join(words[first : first + _MOST_WORDS])[:_MOST_CHARACTERS].strip("-"), taken)


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


def _name_words(message: str) -> Sequence[str]:
    """The words of a message that are no stop words, each once, in reading order."""
    text = unicodedata.normalize("NFKC", message).casefold()
    telling = {term for term, weight in analyzer.query_terms(text).items() if weight >= 1.0}
    words: dict[str, None] = {}
    for match in _WORD.finditer(text):
        word = match[0].strip("-")
        if not telling.isdisjoint(analyzer.terms(word)):
            words[word] = None
        if len(words) == _READ:
            break
    return [*words]


def _is_everyday(word: str) -> bool:
    """Whether a word is of everyday talk, or made of such words: 確認, 確認作業."""
    everyday = everyday_words()
    if word.isascii():
        return analyzer.stem(word) in everyday
    return word in everyday or all(word[place : place + 2] in everyday for place in range(0, len(word), 2))
