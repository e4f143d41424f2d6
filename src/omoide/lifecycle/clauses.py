"""What a memory asks for and what it warns of, clause by clause: the terms of each. Pure.

"Zap is on its way out", "5432 collides with the local database", 「gzipだと終わらないことがあった」: a team rules a thing
out by describing its effect, so a term in a clause of harm or denial stands for what an agent should not do.
"""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.lifecycle.agent_work import telling_terms

_END = load_pattern(
    r"(?<=[.!?;:])\s+|[;；、]|(?<=[。！？])|[(（)）]|\s[–—-]\s|,\s+(?=(?:not|never|no|but|because|since|which|so)\b)"
    r"|\s+(?=(?:instead of|rather than|not|because|since|but)\b)|(?<=ではなく)|(?<=でなく)|(?<=じゃなく)"
)
"""Where a clause ends."""
_WARNS = load_pattern(
    r"\b(?:never|no|not|nobody|nothing|none|neither|nor|avoid\w*|ban(?:s|ned)?|forbid\w*|without|instead of|rather than"
    r"|legacy|deprecat\w*|flaky|br(?:eaks?|eaking|oken?)|fail\w*|los(?:es?|t|ing)|wrong|dead|gone|end(?:s|ed)|remov\w*"
    r"|drop(?:s|ped|ping)?|retired?|nightmare|crash\w*|collid\w*|kill(?:s|ed|ing)?|corrupt\w*|stale|stop(?:s|ped|ping)?"
    r"|bounced|block(?:s|ed|ing)|refus\w*|reject\w*|cost us|starv\w*|confus\w*|mess(?:y|es)?|old|way out|empty|hurts?"
    r"|slow(?:s|ed|er|ly)?|noisy|hat(?:e|es|ed)|complain\w*|angry|unavailable|unsupported|except|used to|any ?more"
    r"|trouble\w*|bugs?|buggy|hangs?|hanging|hung|leak(?:s|ed|ing)?|painful|impossible|too \w+|off limits|taken|reserved)\b"
    r"|n't\b"
    r"|ない|なく|ません|(?<![必はま])ず(?!つ)|禁止|避け|不可|廃止|やめ|(?-i:NG)|[だダ][めメ]|壊れ|落ち|詰ま|ぶつか|失敗|止ま|外し|怒られ"
    r"|遅[いく]|間違|混線|溢れ|消え|残っ|古い|レガシー|切れ|固ま|苦情|崩れ|ずれ|化け|漏れ|狂|外れ|膨ら|事故|障害|足り|不評"
    r"|うるさ|差し戻|遮断|握って",
    re.I,
)
"""Words of a clause that denies something, or describes what went wrong."""

_NOTHING_BUT = load_pattern(r"以外|しか|\b(?:nothing|no other\b.*) (?:but|than)\b", re.I)
"""Words by which a denial asks for what it names."""


class ClauseTerms(NamedTuple):
    """The telling terms of a memory, with their weights, by the kind of clause that they stand in."""

    affirmed: dict[str, float]
    denied: dict[str, float]
    """Those that stand in no clause that affirms them, too."""


def split_terms(sentences: Sequence[str], excluded: Collection[str]) -> ClauseTerms:
    """Return the terms of the sentences of a memory. `excluded`: what its rules name as ruled out."""
    affirmed: dict[str, float] = {}
    denied: dict[str, float] = {}
    for sentence in sentences:
        for clause in filter(str.strip, filter(None, _END.split(sentence))):
            (denied if _warns(clause) else affirmed).update(telling_terms(clause))
    ruled_out = {term for name in excluded for term in telling_terms(name)}
    denied |= {term: affirmed.pop(term) for term in ruled_out & affirmed.keys()}
    return ClauseTerms(affirmed, {term: weight for term, weight in denied.items() if term not in affirmed})


def _warns(clause: str) -> bool:
    return bool(_WARNS.search(clause)) and not _NOTHING_BUT.search(clause)
