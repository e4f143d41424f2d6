"""Weigh the evidence of what an agent made of a memory: a small logistic model over what both have in common. Pure.

A use seldom repeats the memory: the agent follows a rule in other words, or only in code. So what counts is how many of its
terms and matters (`concepts`) are in the work and were not in the prompt, and whether it is a rule for such work at all: a
fact about another matter shares a word by chance.
"""

import math
import re
from collections.abc import Collection
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.lifecycle.agent_work import NAME_WEIGHT, AgentWork, TextTerms
from omoide.lifecycle.clauses import ClauseTerms
from omoide.lifecycle.concepts import concepts_of
from omoide.lifecycle.memory_contradiction import FoundContradictions
from omoide.model import MemoryUse

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


class MemoryTraces(NamedTuple):
    """What of a memory can be seen in the work of an agent."""

    followed: str
    """A way, a directory, a pattern or a telling name of it, in words; empty: none. It hardly ever occurs by chance."""
    repeated: str
    """Enough of its terms, or its words one after another, in words; empty: none."""
    contradictions: FoundContradictions
    forbids_practice: bool
    """It forbids a practice (`practices`)."""
    has_denied_name: bool
    """A name of a clause that warns of something is in what the agent wrote or ran."""
    excluded: Collection[str]
    """What it rules out or warns of: to have that is no use of it."""
    clauses: ClauseTerms
    terms: TextTerms


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
    topic: float
    """Of all its terms, by weight, the share in the work or in the prompt."""
    affirmed: float
    """Of the terms of clauses that affirm something, the share in the work."""
    affirmed_amount: float
    affirmed_name: float
    """1: a name of such a clause is in the work."""
    lacks_names: float
    """1: such clauses have names, and the work has none of them."""
    denied_amount: float
    """How much of what clauses warn of is in what the agent wrote or ran."""
    denied_name: float
    """1: a name of such a clause is there."""
    denied_alone: float
    """1: such a name is there, and no name of the clauses that affirm something."""
    ruled_out: float
    other_value: float
    prohibits: float
    obliges: float
    is_imperative: float
    has_reason: float
    has_dates: float
    lacks_numbers: float
    """1: the memory states numbers, and the work has none of them."""


WEIGHTS = {
    MemoryUse.USED: UseEvidence(
        followed=1.16,
        repeated=1.00,
        avoided=1.32,
        share=1.14,
        amount=0.33,
        matters=1.40,
        matters_amount=0.57,
        topic=2.16,
        affirmed=1.16,
        affirmed_amount=0.18,
        affirmed_name=0.79,
        lacks_names=-0.87,
        denied_amount=0.52,
        denied_name=0.44,
        denied_alone=0.34,
        ruled_out=-0.65,
        other_value=-0.21,
        prohibits=0.68,
        obliges=0.42,
        is_imperative=0.55,
        has_reason=1.03,
        has_dates=-1.31,
        lacks_numbers=-0.38,
    ),
    MemoryUse.CONTRADICTED: UseEvidence(
        followed=0.82,
        repeated=0.50,
        avoided=0.98,
        share=-0.24,
        amount=0.52,
        matters=0.69,
        matters_amount=0.33,
        topic=0.35,
        affirmed=0.87,
        affirmed_amount=0.17,
        affirmed_name=0.59,
        lacks_names=0.08,
        denied_amount=1.05,
        denied_name=0.18,
        denied_alone=0.29,
        ruled_out=1.55,
        other_value=2.29,
        prohibits=1.09,
        obliges=0.70,
        is_imperative=0.11,
        has_reason=1.05,
        has_dates=-0.89,
        lacks_numbers=0.08,
    ),
}
"""By which the evidence speaks for a use, and against the memory having been ignored."""
BIASES = {MemoryUse.USED: -2.94, MemoryUse.CONTRADICTED: -2.91}
"""Fitted, like the weights, by `python -m bench.meter --fit` on the sessions in `bench/meter_sessions` that it prints."""
CLEAR = 0.8
"""The probability from which a judgement is clear: nine of ten are right then, on sessions left out of the fit."""


def measure(memory: str, work: AgentWork, traces: MemoryTraces) -> UseEvidence:
    """Return the evidence of what an agent made of a memory. `traces`: what of it is in the work."""
    terms, contradictions = traces.terms, traces.contradictions
    own = {term: weight for term, weight in terms.content.items() if term not in work.asked_content}
    found = sum(weight for term, weight in own.items() if term in work.done_content and term not in traces.excluded)
    about = sum(weight for term, weight in terms.content.items() if term in work.asked_content or term in work.done_content)
    matters = [each for each in concepts_of(memory, terms.content) if not work.is_asked_concept(each)]
    shown = sum(map(work.has_concept, matters))
    affirmed = {term: weight for term, weight in traces.clauses.affirmed.items() if term not in work.asked_terms}
    met = [weight for term, weight in affirmed.items() if term in work.done_terms]
    denied = traces.clauses.denied.items()
    broken = [weight for term, weight in denied if term in work.written_terms and term not in work.asked_terms]
    has_name = NAME_WEIGHT in met
    numbers = _NUMBER.findall(memory)
    return UseEvidence(
        followed=float(bool(traces.followed)),
        repeated=float(bool(traces.repeated)),
        avoided=float(bool(traces.forbids_practice and shown and work.changes)),
        share=found / (sum(own.values()) or 1.0),
        amount=math.log1p(found),
        matters=shown / (len(matters) + 1),
        matters_amount=math.log1p(shown),
        topic=about / (sum(terms.content.values()) or 1.0),
        affirmed=sum(met) / (sum(affirmed.values()) or 1.0),
        affirmed_amount=math.log1p(sum(met)),
        affirmed_name=float(has_name),
        lacks_names=float(NAME_WEIGHT in affirmed.values() and not has_name),
        denied_amount=math.log1p(sum(broken)),
        denied_name=float(traces.has_denied_name),
        denied_alone=float(traces.has_denied_name and not has_name),
        ruled_out=float(bool(contradictions.ruled_out)),
        other_value=float(bool(contradictions.other_value)),
        prohibits=float(bool(_PROHIBITION.search(memory))),
        obliges=float(min(2, len(_OBLIGATION.findall(memory)))),
        is_imperative=float(bool(_IMPERATIVE.search(memory))),
        has_reason=float(bool(_REASON.search(memory))),
        has_dates=float(bool(_CALENDAR.search(memory))),
        lacks_numbers=float(bool(numbers) and not any(number in work.done for number in numbers)),
    )


def probabilities(evidence: UseEvidence) -> dict[MemoryUse, float]:
    """Return how probable it is that the agent used, ignored and contradicted the memory."""
    odds = {
        use: math.exp(BIASES[use] + sum(weight * value for weight, value in zip(weights, evidence, strict=True)))
        for use, weights in WEIGHTS.items()
    }
    total = 1.0 + sum(odds.values())
    return {MemoryUse.IGNORED: 1.0 / total} | {use: value / total for use, value in odds.items()}
