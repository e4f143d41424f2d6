"""Split texts into sentences, in English and Japanese, without cutting paths, versions or code."""

import re

from omoide.compiled_patterns import load_pattern

_FENCED = load_pattern(r"^(`{3,}+|~{3,}+).*?^\1\s*$", re.M | re.S)
_QUOTED = load_pattern(r"^\s*>.*$", re.M)
_BOUNDARY = load_pattern(
    r"""(?<=[。！？])(?![」』）)])|(?<=[!?])(?=[ぁ-ヺ一-鿿])|(?<=[.!?])(?=["')\]]*\s+\S)|\n+""",
    re.X,
)
_ABBREVIATION = load_pattern(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|excl|fig|dr|mr|mrs|ms|st)|(?-i:\b[A-Z]))\.$", re.I)
_ABBREVIATED = 12
"""Characters at the end of a part in which an abbreviation is looked for."""
_ASKING_END = load_pattern(
    "(?:です|ます|ました|でしょう|ましょう|だろう|るの|たの|る|た|い|の)か(?:な|ね)?$|たっけ$|かな$|(?:どう|いかが)でしょう$"
)
_BULLET = load_pattern(r"^\s*(?:[-*+•・]|\d{1,3}[.)])\s+")


def without_quotes(text: str) -> str:
    """Return the text without its fenced code blocks and the lines that quote somebody else (`> …`)."""
    return _QUOTED.sub("", _FENCED.sub("\n", text))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without bullets and surrounding space. Code blocks and quoted lines are left out."""
    sentences: list[str] = []
    pending = ""
    for part in _BOUNDARY.split(without_quotes(text)):
        pending = f"{pending} {part.strip()}".strip() if pending else _BULLET.sub("", part).strip()
        if not pending or _ABBREVIATION.search(pending[-_ABBREVIATED:]):
            continue
        sentences.append(pending)
        pending = ""
    if pending:
        sentences.append(pending)
    return sentences


def is_question(sentence: str) -> bool:
    """Whether a sentence asks something, by its last character or by a Japanese ending."""
    end = sentence.rstrip(" 」』）)\"'`。.")
    return end.endswith(("?", "？")) or bool(_ASKING_END.search(end))
