"""Quantities: where an agent has another value than a memory states, or one over its limit. Pure."""

import re
from collections.abc import Iterator

from omoide.compiled_patterns import load_pattern
from omoide.lifecycle import concepts
from omoide.lifecycle.agent_work import GRAMMAR, AgentStatement, AgentWork, telling_terms
from omoide.retrieval import analyzer

_QUANTITY = load_pattern(
    r"(?:(?P<before>[A-Za-zァ-ヺー一-鿿]+)[ :='\"は@(]{0,4})?(?P<value>\d[\d.,]*)\s?(?:\*\s?\w+\.)?"
    r"(?P<unit>[A-Za-z%]+(?:[ -][A-Za-z]+)?|[一-鿿ァ-ヺー]{1,4})?"
)
_AT_MOST = load_pattern(
    r"(?:at most|(?:no|not|never) more than|max(?:imum|\.)?|up to|limit(?:ed)? (?:to|of|is)?|capped at|under|below|less than"
    r"|within|最大|上限は?)[ :=]*$",
    re.I,
)
_AT_LEAST = load_pattern(r"(?:at least|(?:no|not|never) (?:less|fewer) than|min(?:imum|\.)?|最低|最小)[ :=]*$", re.I)
_AT_MOST_AFTER = load_pattern(r"^[一-鿿ァ-ヺー%A-Za-z ]{0,8}(?:以下|以内|未満|まで|を超え|超は?禁止|max)")
_AT_LEAST_AFTER = load_pattern(r"^[一-鿿ァ-ヺー%A-Za-z ]{0,8}(?:以上|より多く|minimum)")
_FROM = load_pattern(r"\b(?:from|was|were|instead of) $", re.I)
_TO = load_pattern(r"^\s*(?:から|→|->|=>|だった)")


_MOST_WORDS = 0.75
"""The share of the words of a sentence that a statement has which says the same of it."""


def find_other_value(sentence: str, work: AgentWork, *, is_restated: bool = False) -> str:
    """Describe which other value of the same quantity a statement has; empty: none.

    `is_restated`: only a statement counts that has most of the words of the sentence.
    """
    stated = work.statements_with_numbers
    found = list(_QUANTITY.finditer(sentence)) if stated else []
    if not found:
        return ""
    about = {term for term in telling_terms(sentence) if not term[0].isdigit()}
    least = max(1, min(2, len(about) // 2))
    if is_restated:
        stated = [one for one in stated if len(about & one.terms.keys()) >= max(2.0, _MOST_WORDS * len(about))]
    for wanted in found:
        others = [
            other
            for statement in stated
            if sum(_is_about(term, statement, work) for term in about) >= least
            for other in _same_quantity(wanted, statement, about)
        ]
        if others and not any(_is_met(wanted, other) for other in others):
            return f"it says {wanted[0].strip()}, the agent has {others[0][0].strip()}"
    return ""


def _is_about(term: str, statement: AgentStatement, work: AgentWork) -> bool:
    """Whether a statement or the prompt has a term, or the statement another word for it."""
    if term in statement.terms or term in work.asked_terms:
        return True
    return any(concepts.shows(each, statement.text, statement.terms) for each in concepts.concepts_of_term(term))


def _same_quantity(wanted: re.Match[str], statement: AgentStatement, about: set[str]) -> Iterator[re.Match[str]]:
    """What a statement says about the quantity of a memory, whatever its value."""
    units, name = _words(wanted["unit"]), _words(wanted["before"]) or about
    for found in _QUANTITY.finditer(statement.text):
        if _is_old(found):
            continue
        if (units and units & (_words(found["unit"]) | _words(found["before"]))) or (
            name and not units and name & _words(found["before"])
        ):
            yield found


def _is_old(found: re.Match[str]) -> bool:
    """Whether a value is the one that was there before: `from 10 MB to 25 MB`."""
    return bool(_FROM.search(found.string[: found.start("value")]) or _TO.search(found.string[found.end() :]))


def _is_met(wanted: re.Match[str], found: re.Match[str]) -> bool:
    """Whether a value is the one that a memory states, or within the limit that it states."""
    limit, value = (_number(match["value"]) for match in (wanted, found))
    before, after = wanted.string[: wanted.start("value")], wanted.string[wanted.end("value") :]
    if _AT_MOST.search(before) or _AT_MOST_AFTER.search(after):
        return value <= limit
    if _AT_LEAST.search(before) or _AT_LEAST_AFTER.search(after):
        return value >= limit
    return wanted["value"].rstrip(".,") == found["value"].rstrip(".,")


def _number(text: str) -> float:
    whole, _, fraction = text.replace(",", "").strip(".").partition(".")
    return float(f"{whole or 0}.{fraction.replace('.', '') or 0}")


def _words(text: str | None) -> set[str]:
    """The unit or the name of a number, in its plain form."""
    if not text:
        return set()
    if not text.isascii():
        return {text[0]}
    return {analyzer.stem(word) for word in re.split("[ -]", text.lower()) if word not in GRAMMAR}
