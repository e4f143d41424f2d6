"""Read what a person typed: what of it can be searched for, and in which language it is. Pure."""

from omoide.compiled_patterns import load_pattern
from omoide.learning.injected_text import strip_injected
from omoide.retrieval import analyzer

_COMMAND = load_pattern(r"/[\w:.-]+(?=\s|$)")
"""`/compact`, `/shop:deploy now`; not a path, which has more slashes."""
_JAPANESE_TERM = load_pattern(r"[一-鿿㐀-䶿々〆]{2,}|[ァ-ヺー]{2,}")
_JAPANESE = load_pattern(r"[ぁ-ゖァ-ヺー一-鿿㐀-䶿々〆]")
_KANA = load_pattern(r"[ぁ-ゖァ-ヺ]")
_LATIN = load_pattern(r"[A-Za-z]")
_LATIN_FOR_ONE = 8
"""Latin letters that weigh as much as one Japanese character: names, paths and commands stand in Japanese sentences too."""
_LEAST_TERMS = 2
_READ = 8_000
"""Characters that the language is decided by."""


def search_text(prompt: str) -> str:
    """Return the part of a prompt to search memories for; an empty text if there is nothing to search for.

    That is the prompt without what clients and omoide put into it. A slash command, and a prompt of fewer than two content
    terms such as "yes, go on", contain nothing to search for.
    """
    text = strip_injected(prompt).strip().strip('"').strip()
    if _COMMAND.match(text) or count_content_terms(text) < _LEAST_TERMS:
        return ""
    return text


def count_content_terms(text: str) -> int:
    """Return how many different terms of a text say what it is about. Particles, pronouns and common verbs do not count."""
    words = sum(term.isascii() and weight >= 1 for term, weight in analyzer.query_terms(text).items())
    return words + len(set(_JAPANESE_TERM.findall(text[:_READ])))


def is_japanese(text: str) -> bool:
    """Return whether a text is Japanese; it may contain English names and code."""
    text = text[:_READ]
    if not _KANA.search(text):
        return False
    return _LATIN_FOR_ONE * len(_JAPANESE.findall(text)) >= len(_LATIN.findall(text))
