"""Words of a message that are unrelated to all projects: they tell that it may be about something else. Pure."""

from collections.abc import Iterable, Sequence, Set
from itertools import pairwise

from omoide.compiled_patterns import load_pattern
from omoide.retrieval.project_search import MessageMatches
from omoide.routing.everyday_words import everyday_words
from omoide.routing.work_words import work_words

TELLING = 0.5
"""The least weight of a word that shows what a message is about: more than that of a word of everyday talk."""
_NUMBER = load_pattern("[0-9何一二三四五六七八九十]|^[数毎半両全各最今前次後先].$|^.[目回番度個件行日分時人]$")
"""Numbers, and what counts, points to or orders things in Japanese."""


def find_unrelated_words(matches: MessageMatches) -> dict[str, float]:
    """Return the telling words of a message that neither a project uses nor talk about any software, with their weights."""
    used = {term for found in matches.projects.values() for term in found.rates}
    known = used | work_words() | everyday_words()
    joints = set(_joints(matches.compounds, known))
    return {
        term: weight
        for term, weight in matches.terms.items()
        if weight >= TELLING
        and term not in known
        and term not in joints
        and not _NUMBER.search(term)
        and not _is_compound(term, known)
    }


def _joints(compounds: Sequence[Iterable[str]], known: Set[str]) -> Iterable[str]:
    """The pairs of characters where two known Japanese words meet, as 外処 in 例外処理."""
    for compound in compounds:
        pairs = [term for term in compound if len(term) > 1]
        for (before, joint), (_, after) in pairwise(pairwise(pairs)):
            if before in known and after in known:
                yield joint


def _is_compound(word: str, known: Set[str]) -> bool:
    """Whether a word is made of two known ones, as コミットメッセージ."""
    return not word.isascii() and any(word[:place] in known and word[place:] in known for place in range(2, len(word) - 1))
