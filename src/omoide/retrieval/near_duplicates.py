"""Near-duplicates: which of some texts say almost the same words as a new one. Bounded in work, and pure.

The terms of the new text are looked for in each candidate as they stand; making the terms of every candidate would take ten
times as long. Of many terms a part is looked for, evenly spread.
"""

from collections.abc import Sequence

from omoide.retrieval import analyzer

HEAD = 400
"""Characters of a long text that are compared from its beginning."""
TAIL = 200
"""Characters of a long text that are compared from its end."""
_LIKENESS = 0.55
"""Share of the terms of both texts that near-duplicates have in common; an estimate, since the terms of one are not made."""
_TERMS = 32
"""Terms that are looked for in a candidate at the most."""
_SHORTEST = 3
"""Characters of a term in ASCII that is looked for: a shorter one stands in many words."""


def sizes(content: str) -> tuple[int, int]:
    """The smallest and the largest size in bytes of a text that can be a near-duplicate."""
    size = len(content.encode())
    return size // 2, size * 2


def excerpt(content: str) -> str:
    """What is compared of a text."""
    return content if len(content) <= HEAD + TAIL else f"{content[:HEAD]} {content[-TAIL:]}"


def select(candidates: Sequence[tuple[int, str]], content: str, terms: Sequence[str]) -> list[int]:
    """The numbers of the near-duplicates of a text among candidates, the closest and newest first.

    `candidates` are numbers and excerpts of texts, `content` is the excerpt of the text, and `terms` are its terms.
    """
    sought = _literal_terms(terms)
    if not sought or not candidates:
        return []
    alike = []
    for (number, _), other in zip(candidates, analyzer.plain([other for _, other in candidates]), strict=True):
        share = sum(map(other.lower().__contains__, sought)) / len(sought)
        likeness = share / (1 + len(other) / len(content) - share)  # of what both have, as if both were as rich in terms
        if likeness >= _LIKENESS:
            alike.append((likeness, number))
    return [number for _, number in sorted(alike, reverse=True)]


def _literal_terms(terms: Sequence[str]) -> list[str]:
    """Terms of a text as they stand in it, some of them if there are many."""
    some = terms[:: -(-len(terms) // _TERMS) or 1]
    # A stem that ends in i may come from a word in y: happi does not stand in happy, but happ does.
    long = [term[:-1] if term[-1] == "i" else term for term in some if len(term) >= _SHORTEST or not term.isascii()]
    return long or list(some)
