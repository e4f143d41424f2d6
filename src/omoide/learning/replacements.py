"""What a statement says is to be given up for something else: "use X instead of Y", 「YではなくX」. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping

from omoide.compiled_patterns import load_pattern
from omoide.learning.wording import content_words

_NAME = r"(?:`[^`]+`|\"[^\"]+\"|[^\s,;.。、()「」]+(?: [^\s,;.。、()「」]+)?)"
_PATTERNS = tuple(
    load_pattern(pattern, re.I)
    for pattern in (
        rf"\b(?:instead of|rather than|in place of)(?: using)? (?:the )?(?P<old>{_NAME})",
        rf"\bnot (?:the |a |in |on |at |with )?(?P<old>{_NAME})(?=\s*(?:$|[,.;!)]|anymore|any more|any longer| but\b))",
        rf"\b(?:isn'?t|aren'?t|(?:is|are|was) not) (?:the |a |in |on |at )?(?P<old>{_NAME}) ?(?:[,;.]|but|any ?more|$)",
        rf"\b(?:don'?t|do not|never|stop|no longer|not) (?:use|using|run|call|running|calling) (?:the )?(?P<old>{_NAME})",
        rf"\b(?:replace|replaces|replaced|dropped|switched from|moved from|migrated from) (?:the )?(?P<old>{_NAME})",
        r"(?P<old>[^\s、。,「」はをがに]+)\s*(?:は|を)?(?:じゃ|では)なく(?:て)?",
        r"(?P<old>[^\s、。,「」はをがに]+)\s*(?:は|を)(?:やめ|廃止|使わ(?:ない|ず)|使用しない)",
        r"(?P<old>[^\s、。,「」はをがに]+)\s*(?:から|より)\s*(?P<new>[^\s、。]+)\s*(?:へ|に)(?:変更|移行|切り替|変え|乗り換)",
    )
)
_ABOUT = 0.5
"""Share of the words of a memory that the new statement and what it gives up have in common with it."""


def find_replaced(text: str) -> list[str]:
    """Return the names of what a statement says is not to be used, or not so, any more."""
    return list(dict.fromkeys(_names(text)))


def _names(text: str) -> Iterator[str]:
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            name = match["old"].strip("`\"' ")
            if content_words(name):
                yield name


def find_replaced_memories(statement: str, memories: Mapping[int, str]) -> list[int]:
    """Return the memories, by number, whose text a statement gives up: they are about it, and say it of the same things."""
    given_up = [words for name in find_replaced(statement) if (words := content_words(name))]
    if not given_up:  # most statements give nothing up
        return []
    about = content_words(statement)
    return [number for number, text in memories.items() if _is_replaced(content_words(text), about, given_up)]


def _is_replaced(words: frozenset[str], about: frozenset[str], given_up: Iterable[frozenset[str]]) -> bool:
    for name in given_up:
        # The rest of the statement is news: a memory that has it too says already what is said now.
        news = about - name - words
        if name <= words and news and len((about | name) & words) / len(words) >= _ABOUT:
            return True
    return False
