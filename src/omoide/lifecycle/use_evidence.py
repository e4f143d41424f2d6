"""Weigh the evidence that an agent used a memory: a small logistic model over what both have in common. Pure.

A use seldom repeats the memory: the agent follows a rule in other words, or only in code. So what counts is how many of its
terms and matters (`concepts`) are in the work and were not in the prompt, and whether it is a rule for such work at all: a
fact about another matter shares a word by chance.
"""

import math
import re
from collections.abc import Collection
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.lifecycle.agent_work import AgentWork, TextTerms
from omoide.lifecycle.concepts import concepts_of

_PROHIBITION = load_pattern(
    r"\b(?:never|no|not|nothing|nobody|avoid|banned|forbidden|without|only)\b|n't\b"
    "|ない|禁止|避け|せず|わず|かず|不可|だけ|のみ",
    re.I,
)
_OBLIGATION = load_pattern(
    r"\b(?:must|always|every|each|has to|have to|needs?|should|before|instead|keep|kept|use[sd]?|goes? (?:to|through|into))"
    r"\b|必ず|こと(?:[。)]|$)|統一|決まり|方針|約束|使う|付ける|置く|書く|出す|持つ",
    re.I,
)
_IMPERATIVE = load_pattern(
    r"(?:^|[.;:] )(?:Add|Ask|Avoid|Build|Call|Check|Do|Don't|Get|Give|Inject|Keep|Leave|Log|Make|Name|Never|No|Pin|Prefer"
    r"|Profile|Put|Read|Return|Run|Say|Send|Set|Show|Speak|Start|Store|Take|Test|Type|Use|Validate|Verify|Wrap|Write)\b"
    r"|(?<!て)(?:[うくすつぶむぐ]|[^いあ]る|ない)(?:こと)?(?:[。)）]|$)|ず、|統一(?:[。、]|$)|禁止(?:[。、]|$)"
)
_REASON = load_pattern(
    r"\b(?:because|otherwise|so that|since|hates?|us|cost|lost|broke)\b"
    "|ので|ため[。、]?|(?:た|だ)ことが|去年|以前|苦情|崩れ|落ち",
    re.I,
)
_CALENDAR = load_pattern(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:january|february|april|june|july|august|september|october|november"
    r"|december)\b|毎[月週年朝]|[月火水木金土日]曜|\d+日|expires?\b",
    re.I,
)
_NUMBER = load_pattern(r"(?<![\w.])\d[\d.,:]*")


class SeenUse(NamedTuple):
    """What the rules find of a memory in the work of an agent."""

    followed: bool
    """A way, a directory, a pattern or a telling name."""
    repeated: bool
    """Enough of its terms, or its words one after another."""
    forbids_practice: bool
    """It forbids a practice (`practices`)."""


class UseEvidence(NamedTuple):
    """What a memory and the work of an agent have in common, in numbers."""

    followed: float
    repeated: float
    avoided: float
    """1: the memory forbids a practice, the work is about such matters, and does not show it."""
    share: float
    """Of the memory's own terms, by weight, the share in the work."""
    amount: float
    matters: float
    """Of the memory's own matters, the share in the work."""
    matters_amount: float
    prohibits: float
    obliges: float
    is_imperative: float
    has_reason: float
    has_dates: float
    lacks_numbers: float
    """1: the memory states numbers, and the work has none of them."""


WEIGHTS = UseEvidence(
    followed=3.09,
    repeated=0.90,
    avoided=2.18,
    share=3.60,
    amount=0.75,
    matters=2.02,
    matters_amount=1.09,
    prohibits=1.55,
    obliges=0.72,
    is_imperative=1.05,
    has_reason=1.76,
    has_dates=-1.62,
    lacks_numbers=-1.29,
)
BIAS = -3.82
"""Fitted by `python -m bench.meter --fit` on the memories that were used or ignored in `bench/meter_sessions`."""


def measure(memory: str, terms: TextTerms, work: AgentWork, excluded: Collection[str], seen: SeenUse) -> UseEvidence:
    """Return the evidence that an agent used a memory.

    `terms`: those of the memory. `excluded`: what it rules out: to have that is no use of it. `seen`: what the rules find.
    """
    own = {term: weight for term, weight in terms.content.items() if term not in work.asked_content}
    found = sum(weight for term, weight in own.items() if term in work.done_content and term not in excluded)
    matters = [each for each in concepts_of(memory, terms.content) if not work.is_asked_concept(each)]
    shown = sum(map(work.has_concept, matters))
    numbers = _NUMBER.findall(memory)
    return UseEvidence(
        followed=float(seen.followed),
        repeated=float(seen.repeated),
        avoided=float(bool(seen.forbids_practice and shown and work.changes)),
        share=found / (sum(own.values()) or 1.0),
        amount=math.log1p(found),
        matters=shown / (len(matters) + 1),
        matters_amount=math.log1p(shown),
        prohibits=float(bool(_PROHIBITION.search(memory))),
        obliges=float(min(2, len(_OBLIGATION.findall(memory)))),
        is_imperative=float(bool(_IMPERATIVE.search(memory))),
        has_reason=float(bool(_REASON.search(memory))),
        has_dates=float(bool(_CALENDAR.search(memory))),
        lacks_numbers=float(bool(numbers) and not any(number in work.done for number in numbers)),
    )


def score(evidence: UseEvidence) -> float:
    """Return the logarithm of the odds that the agent used the memory rather than ignored it."""
    return BIAS + sum(weight * value for weight, value in zip(WEIGHTS, evidence, strict=True))
