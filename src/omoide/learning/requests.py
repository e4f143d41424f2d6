"""Requests to remember something: "remember that …", "from now on …", 「覚えておいて」「今後は」."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from omoide.learning.english_requests import ENGLISH, FROM_NOW, NOT_ENGLISH
from omoide.learning.japanese_requests import ASK_JA, FROM_NOW_JA, JAPANESE, LEAD_JA, NOT_JAPANESE, REMEMBER_JA
from omoide.learning.patterns import any_of, phrases
from omoide.learning.request_rule import RequestRule
from omoide.learning.sentences import is_question, split_sentences

_LEAST = 3
"""Characters that are left to keep; less is no statement."""
_LONGEST = 600
"""Characters of the longest sentence that is looked at: a longer one is pasted, and no request."""
_MOST_LINES = 5
"""Lines of a list that follows "remember these:"."""

_ASKS_TO_REMEMBER = phrases(
    r"\b(?:can|could|would|will) you\b.*\b(?:remember|note|keep|save|memori)", rf"{REMEMBER_JA}{ASK_JA}[?？]?$"
)
_CONFIRMATION = re.compile(r",?\s*(?:ok(?:ay)?|right|alright|got it|yeah|please)\?+\s*$", re.I)
"""The end of a request that only sounds like a question."""
_CLAUSE = re.compile(r"[,;:—–]\s+|\s+(?:and|but|so)\s+|[、：]\s*", re.I)
"""Where a part of a sentence begins that may ask for something by itself."""
_MOST_CLAUSES = 10
_BEGINNING = re.compile(
    r"^(?:(?:that|to)\s+|something:\s+|は、?|[、,:：]\s*|ちなみに|なお|今後[はも]?(?=\S)"
    rf"|{LEAD_JA}、\s*|(?:{FROM_NOW_JA}|{FROM_NOW})[、,\s]+(?=\S))+",
    re.I,
)
_ENDING = re.compile("、(?:これ|それ|この件|その点)[もをは]?$")
_POINTER = re.compile(
    r"^(?:今後)?(?:ずっと|同じ|同様|そのように|そう)[^、。]{0,6}[。！!]?$"
    rf"|^{any_of('this', 'that', 'it', 'these', 'those', 'them', 'the following', 'everything')}[.!:]*$"
    rf"|^{any_of('これ', 'それ', 'あれ', 'このこと', 'そのこと', '以下', '次のこと', '上記', '[こそ]の件')}[:：。、]*$",
    re.I,
)


class Request(NamedTuple):
    """What somebody asks to keep."""

    content: str
    kind: str
    """remember (asked for by name), rule (from now on) or decision."""
    phrase: str
    """The words that ask for it."""


def find_requests(text: str) -> list[Request]:
    """Return what a person's message asks to keep, in order: each statement without the words that ask for it.

    A decision is kept as it was said. Questions, and sentences about remembering, ask for nothing.
    """
    found: dict[str, Request] = {}
    asked: set[int] = set()
    sentences = split_sentences(text)
    for place, sentence in enumerate(sentences):
        request = _match(sentence)
        if request is None:
            continue
        content = sentence if request.kind == "decision" else request.content
        if len(content) < _LEAST or content.endswith((":", "：")) or _POINTER.match(content):
            if place and place - 1 in asked:
                continue  # it points to what the sentence before asks for
            content = _neighbour(sentences, place)
        asked.add(place)
        content = _tidy(content)
        if len(content) >= _LEAST:
            found.setdefault(content, request._replace(content=content))
    return list(found.values())


def _match(sentence: str) -> Request | None:
    if len(sentence) > _LONGEST or NOT_JAPANESE.search(sentence):
        return None
    sentence = _CONFIRMATION.sub("", sentence)
    if is_question(sentence) and not _ASKS_TO_REMEMBER.search(sentence.rstrip("。 ")):
        return None
    rules: Sequence[RequestRule] = JAPANESE if NOT_ENGLISH.search(sentence) else (*JAPANESE, *ENGLISH)
    whole = _apply(rules, sentence)
    if whole is not None:
        return whole
    rules = [rule for rule in rules if rule.kind != "decision"]
    clauses = (sentence[boundary.end() :] for boundary in islice(_CLAUSE.finditer(sentence), _MOST_CLAUSES))
    return next(filter(None, (_apply(rules, clause) for clause in clauses)), None)


def _apply(rules: Sequence[RequestRule], text: str) -> Request | None:
    for rule in rules:
        match = rule.pattern.match(text)
        if match:
            topic = match.groupdict().get("topic") or ""
            return Request(f"{topic}{match['content'] or ''}".strip(), rule.kind, match["phrase"].strip())
    return None


def _neighbour(sentences: list[str], place: int) -> str:
    """The statement that a request points to: the lines after a colon, else the sentence before it, else the next one."""
    if sentences[place].rstrip().endswith((":", "：")):
        return " ".join(sentences[place + 1 : place + 1 + _MOST_LINES])
    if place:
        return sentences[place - 1]
    return sentences[1] if len(sentences) > 1 else ""


def _tidy(content: str) -> str:
    """The statement without words that ask for it, or lead to it, at its beginning, and without a dangling particle."""
    content = _ENDING.sub("", _BEGINNING.sub("", content.strip()))
    return content.strip(" \t\n,、").removesuffix("を").strip()
