"""Judge what an agent made of a memory that was in its prompt: it used, ignored or contradicted it. Pure.

A memory is used where the agent's words, commands or changes hold something of it that the person's message did not hold: a
path, a name, a number, a run of words. It is contradicted where the agent does what the memory rules out, or states another
value of the same thing. This is weak evidence: an agent may follow a memory without repeating a word of it.
"""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import pairwise
from typing import NamedTuple

from omoide.learning.sentences import split_sentences
from omoide.learning.wording import Wording, wording
from omoide.lifecycle import comparison
from omoide.lifecycle.comparison import NEAR, TextFeatures, Verdict, extract_features
from omoide.model import MemoryUse
from omoide.retrieval import analyzer

_MOST_READ = 100_000
"""Characters of each text that are read, from its end: a transcript may be long."""
_MOST_STATEMENTS = 400
"""Sentences and lines of the agent that a memory is compared with one by one, from the last one."""
_NAME_WEIGHT, _WORD_WEIGHT = 3.0, 1.0
_ENOUGH_WITH_NAME, _ENOUGH = 0.25, 0.4
"""The share of a memory's own terms that makes it used: with a name among them, or by words alone."""
_ENOUGH_WORDING = 0.3
"""The share of its runs of three words."""

_NAME = re.compile(
    r"[A-Za-z_@~.]?[\w@~-]*(?:[./_:-]\w[\w@*-]*)+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,}\b|\w*\d\w*", re.ASCII
)
"""A path, an identifier, an abbreviation, a version, a number."""
_LATIN_NAME = re.compile(rf"{_NAME.pattern}|[A-Za-z]{{3,}}", re.ASCII)
_KANA = re.compile("[ぁ-ゖ]")
_KATAKANA = re.compile("[ァ-ヺー]{3,}")
_WAY = r"[A-Za-z0-9_@./:+*#-]*[A-Za-z0-9_*#+]"
"""What is used or ruled out: a tool, a package, a function, a file."""
_DO = r"(?:use[sd]?|using|(?:run|call|import|write|choose|prefer|install|commit)s?|running|calling|importing|writing|push)"
_ALTERNATIVES = (
    re.compile(
        rf"\b(?:{_DO} )?`?(?P<good>{_WAY})`?,? (?:not|instead of|rather than|never) (?:with )?`?(?P<bad>{_WAY})`?", re.I
    ),
    re.compile(
        rf"`?(?P<bad>{_WAY})`?[一-鿿ァ-ヺー]{{0,6}}\s*(?:ではなく|じゃなくて?|の代わりに|でなく)[、\s]*`?(?P<good>{_WAY})`?"
    ),
)
"""Of two ways, the one that a memory asks for, and the one that it rules out."""
_NOT_JA = "使わない|使わず|使えない|使用しない|使用禁止|禁止|不可|利用しない|入れない|呼ばない|避け|やめ|NG"
_EXCLUSIONS = (
    re.compile(
        rf"\b(?:never|do not|don'?t|must not|mustn'?t|no longer|stop) {_DO} (?:the |a |any )?`?(?P<bad>{_WAY})`?"
        rf"(?:,? or `?(?P<other>{_WAY})`?)?",
        re.I,
    ),
    re.compile(rf"\bavoid (?:using |calling |importing )?(?:the |a )?`?(?P<bad>{_WAY})`?", re.I),
    re.compile(
        rf"`?(?P<bad>{_WAY})`? (?:is|are|was|were|has been|have been) (?:now )?"
        r"(?:dropped|frozen|deprecated|removed|banned|forbidden|not allowed|taken|retired|gone)\b",
        re.I,
    ),
    re.compile(rf"^[^A-Za-z。]*`?(?P<bad>[A-Za-z]{_WAY})`?[^。]*?(?:{_NOT_JA})"),
)
"""What a memory rules out without naming another way."""
_REQUESTS = (
    re.compile(
        rf"\b(?:{_DO}|(?:managed|done|built|handled|written|formatted) (?:with|by|via|in)) (?:the )?`?(?P<good>{_WAY})`?",
        re.I,
    ),
    re.compile(rf"`?(?P<good>{_WAY})`?\s*(?:を|で)\s*(?:使|利用|採用|実行|書)"),
)
"""What a memory asks for."""
_NO_WAY = frozenset(
    [
        "it",
        "this",
        "that",
        "them",
        "the",
        "a",
        "an",
        "any",
        "to",
        "in",
        "of",
        "with",
        "and",
        "or",
        "for",
        "on",
        "only",
        "all",
    ]
)
_DENIED = re.compile(
    r"\b(?:not|never|no longer|instead of|rather than|without|avoid\w*|remov\w+|replac\w+|drop\w*)\b"
    r"|\b(?:switch|migrat)\w* from\b|n't\b|ではなく|じゃなく|代わりに|使わ|使用しな|禁止|やめ|削除|置き換え|廃止",
    re.I,
)
_QUANTITY = re.compile(
    r"(?:(?P<before>[A-Za-zァ-ヺー一-鿿]+)[ :=は]{0,3})?(?P<value>\d[\d.,]*)\s?(?:\*\s?\w+\.)?"
    r"(?P<unit>[A-Za-z%]+|[一-鿿ァ-ヺー]{1,4})?"
)
_GRAMMAR = frozenset(
    [
        *("a", "an", "the", "and", "or", "as", "at", "by", "for", "from", "if", "in", "is", "are", "was", "of", "on", "so"),
        *("that", "then", "than", "to", "until", "when", "with", "but", "after", "before", "within", "about", "over"),
        *("under", "up", "down", "only", "just", "now", "every", "each"),
    ]
)
"""Words beside a number that are neither its unit nor its name."""
_STRONG = re.compile(r"\d{3,}|.*[a-z].*[./_].*[a-z].*|.*/.*")
"""A name that hardly occurs by chance: a long number, a path, an identifier of several parts."""


class UseJudgement(NamedTuple):
    """What an agent made of a memory, and why that is believed."""

    use: MemoryUse
    why: str = ""


class AgentWork:
    """What happened after memories were injected. It is read once, for all of them."""

    def __init__(self, prompt: str, answer: str, changes: str = ""):
        """`prompt`: what the person said: what stands there already is no use of a memory. `answer`: what the agent said.
        `changes`: the lines that it added to files, and the commands that it ran."""
        self.prompt, self.answer, self.changes = (text[-_MOST_READ:] for text in (prompt, answer, changes))
        self.done = f"{self.answer}\n{self.changes}"

    @cached_property
    def asked_terms(self) -> dict[str, float]:
        return _terms(self.prompt)

    @cached_property
    def done_terms(self) -> dict[str, float]:
        return _terms(self.done)

    @cached_property
    def asked_wording(self) -> Wording:
        return wording(self.prompt)

    @cached_property
    def done_wording(self) -> Wording:
        return wording(self.done)

    @cached_property
    def asked_pairs(self) -> set[tuple[str, str]]:
        return _pairs(self.prompt)

    @cached_property
    def done_pairs(self) -> set[tuple[str, str]]:
        return _pairs(self.answer)

    @cached_property
    def statements(self) -> "list[_AgentStatement]":
        texts = [*split_sentences(self.answer), *(line for line in self.changes.splitlines() if line.strip())]
        return [_AgentStatement(text) for text in texts[-_MOST_STATEMENTS:]]


class _AgentStatement:
    """A sentence of the agent, a line that it added, or a command that it ran."""

    def __init__(self, text: str):
        self.text = text[:1_000]
        self.is_denied = bool(_DENIED.search(self.text))

    @cached_property
    def terms(self) -> dict[str, float]:
        return _terms(self.text)

    @cached_property
    def features(self) -> TextFeatures:
        return extract_features(self.text)

    @cached_property
    def quantities(self) -> list[re.Match[str]]:
        return list(_QUANTITY.finditer(self.text))


def judge_use(memory: str, work: AgentWork) -> UseJudgement:
    """Return what an agent made of a memory."""
    broken = _find_contradiction(memory, work)
    if broken:
        return UseJudgement(MemoryUse.CONTRADICTED, broken)
    used = _find_use(memory, work)
    return UseJudgement(MemoryUse.USED, used) if used else UseJudgement(MemoryUse.IGNORED)


# use


def _find_use(memory: str, work: AgentWork) -> str:
    """Say what of a memory is in the work of the agent; empty: not enough of it."""
    way = next((good for good in _requested(memory) if not _has_word(work.prompt, good) and _has_word(work.done, good)), "")
    if way:
        return f"the agent uses {way}"
    own = {term: weight for term, weight in _terms(memory).items() if term not in work.asked_terms}
    found = [term for term in own if term in work.done_terms]
    total = sum(own.values())
    share = sum(own[term] for term in found) / total if total else 0.0
    has_name = any(own[term] == _NAME_WEIGHT for term in found)
    strong = next((term for term in found if own[term] == _NAME_WEIGHT and _STRONG.fullmatch(term)), "")
    if strong:
        return f"the agent's work has {strong}"
    if found and share >= (_ENOUGH_WITH_NAME if has_name else _ENOUGH):
        named = sorted(found, key=lambda term: (-own[term], -len(term), term))[:3]
        return f"the agent's work has {', '.join(named)}"
    runs = wording(memory) - work.asked_wording
    repeated = runs & work.done_wording
    if len(repeated) > 1 and len(repeated) / len(runs) >= _ENOUGH_WORDING:
        return "the agent repeats its words"
    pair = next(iter(sorted(_pairs(memory) & work.done_pairs - work.asked_pairs)), None)
    return "" if pair is None else f"the agent's work has {' '.join(pair)}"


def _pairs(text: str) -> set[tuple[str, str]]:
    """Two telling English words that stand together: `integer cents`."""
    words = [word if len(word) > 3 and word not in _GRAMMAR else "" for word in re.findall(r"[a-z]+", text.lower())]
    return {(one, other) for one, other in pairwise(words) if one and other}


def _requested(memory: str) -> Iterator[str]:
    """The ways that a memory asks for."""
    for sentence in split_sentences(memory):
        excluded = {bad for _, bad in _ruled_out(sentence)}
        for pattern in (*_ALTERNATIVES, *_REQUESTS):
            for match in pattern.finditer(sentence):
                good = _way(match["good"])
                if good and good not in excluded:
                    yield good


def _terms(text: str) -> dict[str, float]:
    """The terms that tell a text from others, with their weights."""
    weights: dict[str, float] = {}
    for name in _names(text):
        weights[name] = _NAME_WEIGHT
    for term, weight in analyzer.query_terms(text, limit=100_000).items():
        if weight == 1.0 and len(term) > 1 and term not in weights and not _is_ending(term):
            weights[term] = _WORD_WEIGHT
    return weights


def _names(text: str) -> Iterator[str]:
    # In Japanese a word in Latin letters is a name.
    pattern = _LATIN_NAME if _KANA.search(text) else _NAME
    for match in pattern.finditer(text):
        name = match[0].strip(".:-/").lower()
        if len(name) > 1:
            yield name
    for match in _KATAKANA.finditer(text):
        yield match[0]


def _is_ending(term: str) -> bool:
    """Whether a term is made of hiragana, which carries grammar."""
    return all("ぁ" <= character <= "ゖ" for character in term)


# contradiction


def _find_contradiction(memory: str, work: AgentWork) -> str:
    """Say how the work of the agent contradicts a memory; empty: it does not."""
    for sentence in split_sentences(memory):
        for good, bad in _ruled_out(sentence):
            if not _has_word(work.prompt, bad) and _does(bad, good, work):
                return f"the agent uses {bad}, which it rules out"
        found = _other_value(sentence, work) or _denial(sentence, work)
        if found:
            return found
    return ""


def _ruled_out(sentence: str) -> Iterator[tuple[str, str]]:
    """Pairs of what a sentence asks for (it may be empty) and what it rules out."""
    for pattern in (*_ALTERNATIVES, *_EXCLUSIONS):
        for match in pattern.finditer(sentence):
            groups = match.groupdict()
            good = _way(groups.get("good") or "")
            for bad in (_way(match["bad"]), _way(groups.get("other") or "")):
                if bad and bad != good:
                    yield good, bad


def _way(text: str) -> str:
    way = text.strip(".:-").lower()
    return way if len(way) > 1 and way not in _NO_WAY else ""


def _does(bad: str, good: str, work: AgentWork) -> bool:
    """Whether a statement or a change of the agent has what is ruled out, without denying it or naming the right way."""
    return any(
        _has_word(statement.text, bad) and not statement.is_denied and not (good and _has_word(statement.text, good))
        for statement in work.statements
    )


def _has_word(text: str, word: str) -> bool:
    return bool(_word_pattern(word).search(text.lower()))


@cache
def _word_pattern(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.ASCII)


def _other_value(sentence: str, work: AgentWork) -> str:
    """Say which other value of the same quantity a statement has; empty: none."""
    about = {term for term in _terms(sentence) if not term[0].isdigit()}
    least = max(1, min(2, len(about) // 2))
    for wanted in _QUANTITY.finditer(sentence):
        others = [
            other
            for statement in work.statements
            if len(about & (statement.terms.keys() | work.asked_terms.keys())) >= least
            for other in _same_quantity(wanted, statement)
        ]
        if others and all(other["value"].rstrip(".,") != wanted["value"].rstrip(".,") for other in others):
            return f"it says {wanted[0].strip()}, the agent has {others[0][0].strip()}"
    return ""


def _same_quantity(wanted: re.Match[str], statement: _AgentStatement) -> Iterator[re.Match[str]]:
    """What a statement says about the quantity of a memory, whatever its value."""
    unit, name = _unit(wanted["unit"]), _unit(wanted["before"])
    for found in statement.quantities:
        if (unit and unit == _unit(found["unit"])) or (name and not unit and name == _unit(found["before"])):
            yield found


def _unit(word: str | None) -> str:
    """The unit or the name of a number, in its plain form; empty: it has none."""
    if not word or word.lower() in _GRAMMAR:
        return ""
    return analyzer.stem(word.lower()) if word.isascii() else word[0]


def _denial(sentence: str, work: AgentWork) -> str:
    """Say which statement contradicts a sentence of a memory that says nearly the same; empty: none."""
    own = extract_features(sentence)
    words = set(own.words)
    for statement in work.statements:
        others = set(statement.features.words)
        both = words | others
        similarity = len(words & others) / len(both) if both else 0.0
        if similarity >= NEAR:
            judgement = comparison.judge(own, statement.features, similarity)
            if judgement.verdict is Verdict.CONTRADICTS:
                return f"the agent says: {statement.text[:100]}"
    return ""
