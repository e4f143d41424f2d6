"""Why a message was given to a project, as a sentence for people. Pure."""

from collections.abc import Sequence

from omoide.compiled_patterns import load_pattern
from omoide.retrieval import analyzer
from omoide.retrieval.project_search import MessageMatches
from omoide.routing.decision import Decision
from omoide.routing.scoring import shared_terms

_ENDING = load_pattern("(?<=[^ぁ-ゖ])[ぁ-ゖ]$")
_MOST_WORDS = 5
_LEAST = 0.2
"""What a word must say for the project to be shown."""


def explain(decision: Decision, matches: MessageMatches, message: str) -> str:
    """Return why the decision was made, with the words of the message that are evidence for the project, or for none.

    Only words of the message itself are shown, never those of a memory.
    """
    if decision.primary is None:
        return _with_words(decision.why, "words of private life", decision.private)
    shared = shared_terms(matches)[decision.primary]
    telling = {term for term in sorted(shared, key=shared.__getitem__, reverse=True) if shared[term] >= _LEAST}
    words = analyzer.display_words([term for term in matches.terms if term in telling], analyzer.spelling(message))
    words = [word for word in map(_strip_ending, words) if len(word) > 1 and not word.isdecimal()]
    return _with_words(decision.why, "words in common", words)


def _with_words(why: str, label: str, words: Sequence[str]) -> str:
    return f"{why} ({label}: {', '.join(words[:_MOST_WORDS])})." if words else f"{why}."


def _strip_ending(word: str) -> str:
    """A Japanese word without the particle that follows it."""
    return _ENDING.sub("", word) or word
