"""Find where the work of an agent contradicts a memory: it does what the memory rules out, or has another value. Pure."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from omoide.compiled_patterns import load_pattern
from omoide.lifecycle import alternatives, comparison
from omoide.lifecycle.agent_work import GRAMMAR, AgentStatement, AgentWork, has_word, telling_terms
from omoide.lifecycle.comparison import NEAR, Verdict, extract_features
from omoide.retrieval import analyzer

_WAY = r"(?<![A-Za-z0-9_@./:+*#-])[A-Za-z0-9_@./:+*#-]{0,80}[A-Za-z0-9_*#+]"
"""What is used or ruled out: a tool, a package, a function, a file."""
_NOUN_JA = "[一-鿿ァ-ヺー]{2,}"
_DO = r"(?:use[sd]?|using|(?:run|call|import|write|choose|prefer|install)s?|running|calling|importing|writing)"
_HARMS = "confuses|breaks|broke|crashes|crashed|kills|killed|corrupts|corrupted|does not work|doesn't work|is dead|fails"
_ACT = r"(?P<act>restart|scale|drop|push|commit|merge|deploy|edit|touch|change|delete|log|store|put|add)"
_NOT = (
    r"(?:never|do not|don'?t|must not|mustn'?t|should not|shouldn'?t|no longer|stop(?:ped)?"
    r"|(?:nobody|no one)(?: may| should)?)"
)
_ALTERNATIVES = (
    load_pattern(
        rf"\b(?:{_DO} )?`?(?P<good>{_WAY})`?,? (?:not|instead of|rather than|never) (?:with )?`?(?P<bad>{_WAY})`?", re.I
    ),
    load_pattern(
        rf"`?(?P<bad>{_WAY})`?[一-鿿ァ-ヺー]{{0,6}}\s*(?:ではなく|じゃなくて?|の代わりに|でなく)[、\s]*`?(?P<good>{_WAY})`?"
    ),
)
"""Of two ways, the one that a memory asks for, and the one that it rules out."""
_NOT_JA = (
    "使わない|使わず|使えない|使用しない|使用禁止|禁止|不可|利用しない|入れない|呼ばない|書かない|流さない|避け|やめ"
    "|NG|触らない|編集しない|変更しない"
)
_EXCLUSIONS = (
    load_pattern(
        rf"\b{_NOT} {_DO} (?:the |a |any )?`?(?P<bad>{_WAY})`?(?:,? or `?(?P<other>{_WAY})`?)?",
        re.I,
    ),
    load_pattern(
        rf"\b{_NOT} {_ACT} (?:directly |straight )?(?:(?:files?|anything|code) )?(?:to |on |in |into |from |under )?"
        rf"(?:the |a |any )?`?(?P<bad>{_WAY}/?)`?",
        re.I,
    ),
    load_pattern(rf"\bno (?:more |new |raw |direct )?`?(?P<bad>{_WAY}(?:\(\))?)`?", re.I),
    load_pattern(rf"`?(?P<bad>{_WAY})`? (?:{_HARMS})\b", re.I),
    load_pattern(r"(?P<bad>\d{2,5})\b[^.,;]{0,40} (?:is|are) (?:taken|reserved|blocked|in use)\b", re.I),
    load_pattern(rf"\bavoid (?:using |calling |importing )?(?:the |a )?`?(?P<bad>{_WAY})`?", re.I),
    load_pattern(
        rf"`?(?P<bad>{_WAY})`? (?:is|are|was|were|has been|have been) (?:now )?"
        r"(?:dropped|frozen|deprecated|removed|banned|forbidden|not (?:allowed|installed|available|supported)|taken"
        r"|retired|gone|off limits)\b",
        re.I,
    ),
    load_pattern(rf"^[^A-Za-z.。]*`?(?P<bad>(?=[A-Za-z.]){_WAY})`?[^。]*?(?:{_NOT_JA})"),
    load_pattern(r"(?P<bad>[A-Za-z][\w.-]*(?: [\w.-]+){0,2})(?:を?実行)?しない", re.ASCII),
    load_pattern(rf"(?P<bad>{_NOUN_JA})(?:は|も)[^。、]{{0,12}}(?:禁止|不可|NG|避け|しない|使わない|書かない|書かず)"),
    load_pattern(rf"(?P<bad>{_NOUN_JA}|(?:生の)?[A-Z]{{3,}})(?:を|は|に)?(?:せず|しない|使わず|書かず|出さず)"),
    load_pattern(
        rf"(?P<bad>{_NOUN_JA}?)(?:等|など)?[)）]?を(?:含め|出さ|残さ|入れ|使わ|置か|保存し|出力し|送ら|書か)(?:ない|ず|ません)"
    ),
)
"""What a memory rules out without naming another way."""
_REQUESTS = (
    load_pattern(
        rf"\b(?:{_DO}|(?:managed|done|built|handled|written|formatted|go|goes|run|agreed) (?:with|by|via|in|through|on))"
        rf" (?:the )?`?(?P<good>{_WAY})`?",
        re.I,
    ),
    load_pattern(
        rf"`?(?P<good>{_WAY})`?\s*(?:を|で|に|へ)\s*(?:使|利用|採用|実行|書|寄せ|統一|まとめ|置|入れ|流|作|行|管理|出|記録|固定|検証)"
    ),
)
"""What a memory asks for."""
_NO_WAY = frozenset(
    [
        *("it", "this", "that", "them", "the", "a", "an", "any", "to", "in", "of", "with", "and", "or", "for", "on", "only"),
        *("all", "more", "less", "new", "code", "things", "anything", "is", "are", "was", "were", "be", "do", "does", "did"),
    ]
)
_QUANTITY = load_pattern(
    r"(?:(?P<before>[A-Za-zァ-ヺー一-鿿]+)[ :='\"は@]{0,4})?(?P<value>\d[\d.,]*)\s?(?:\*\s?\w+\.)?"
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
_TIME = load_pattern(r"(?<![\d:])([01]?\d|2[0-3])(?::([0-5]\d)|時(?:([0-5]?\d)分)?)(?![\d:])")
_PERIOD = load_pattern(rf"{_TIME.pattern}\s*(?:〜|~|-|–|から|to|and|until)\s*{_TIME.pattern}")
_CRON = load_pattern(r"(?<![\d*/,-])([0-5]?\d) ([01]?\d|2[0-3]) (?:[\d*/,?-]+ ){2}[\d*/,?A-Z-]+")
_FORBIDS = load_pattern(r"\b(?:no|not|never|nothing|avoid|don'?t)\b|ない|禁止|避け|不可|NG|いけ", re.I)

_CONVENTIONAL = load_pattern(r"conventional ?commits?", re.I)
_CONVENTIONAL_MESSAGE = load_pattern(
    r"\b(?:feat|fix|docs|chore|refactor|test|perf|build|ci|style|revert)(?:\([^)\n]+\))?!?: \S"
)


class MemorySentence:
    """A sentence of a memory, read once for all that it is compared with."""

    def __init__(self, text: str):
        self.text = text

    @cached_property
    def exclusions(self) -> list[tuple[str, str, str]]:
        """What it asks for, what it rules out, and by which verb; the first and the last may be empty."""
        return list(_ruled_out(self.text))

    @cached_property
    def excluded(self) -> set[str]:
        """What it rules out."""
        return {bad for _, bad, _ in self.exclusions}

    @cached_property
    def requests(self) -> list[str]:
        """The ways that it asks for."""
        ways = (as_way(match["good"]) for pattern in (*_ALTERNATIVES, *_REQUESTS) for match in pattern.finditer(self.text))
        return [way for way in ways if way and way not in self.excluded]


def find_contradiction(memory: str, sentences: Sequence[MemorySentence], work: AgentWork) -> str:
    """Say how the work of an agent contradicts a memory, which has these sentences; empty: it does not."""
    if is_conventional(memory) and _has_other_message(work):
        return "the agent's commit has another form of message"
    for sentence in sentences:
        found = (
            _forbidden_way(sentence, work)
            or _other_of_its_kind(sentence, work)
            or _other_value(sentence.text, work)
            or _forbidden_time(sentence.text, work)
            or _denied_way(sentence, work)
            or _denial(sentence.text, work)
        )
        if found:
            return found
    return ""


def is_conventional(memory: str) -> bool:
    """Return whether a memory asks for messages in the form of Conventional Commits."""
    return bool(_CONVENTIONAL.search(memory))


def has_conventional_message(text: str) -> bool:
    """Return whether a text has such a message."""
    return bool(_CONVENTIONAL_MESSAGE.search(text))


def _has_other_message(work: AgentWork) -> bool:
    commits = [line for line in work.commands.splitlines() if re.search(r"\bgit commit\b.* -[a-z]*m", line)]
    return bool(commits) and not any(map(has_conventional_message, [*commits, work.answer]))


def _ruled_out(sentence: str) -> Iterator[tuple[str, str, str]]:
    for pattern in (*_ALTERNATIVES, *_EXCLUSIONS):
        for match in pattern.finditer(sentence):
            groups = match.groupdict()
            good = as_way(groups.get("good") or "")
            for bad in (as_way(match["bad"]), as_way(groups.get("other") or "")):
                if bad and bad != good:
                    yield good, bad, (groups.get("act") or "").lower()


def as_way(text: str) -> str:
    """Return the name of a tool, a package or a file; empty: it is none."""
    way = text.rstrip(".:-").lstrip(":-").removesuffix("()").lower()
    return way if len(way) > 1 and way not in _NO_WAY else ""


def _forbidden_way(sentence: MemorySentence, work: AgentWork) -> str:
    for good, bad, act in sentence.exclusions:
        for spelling in alternatives.spellings_of(bad):
            if has_word(work.prompt, spelling) or spelling == good:
                continue
            if any(_does(spelling, good, act, statement) for statement in work.statements):
                return f"the agent uses {spelling}, which it rules out"
    return ""


def _does(bad: str, good: str, act: str, statement: AgentStatement) -> bool:
    """Whether the agent does what is ruled out, without denying it or naming the right way."""
    if statement.is_denied or not has_word(statement.text, bad) or (good and has_word(statement.text, good)):
        return False
    return not act or statement.is_change or act.removesuffix("e") in statement.text.lower()


def _denied_way(sentence: MemorySentence, work: AgentWork) -> str:
    """Say what a memory asks for that the agent says it did not use; empty: nothing."""
    omissions = [statement for statement in work.statements if statement.is_omission]
    for good in sentence.requests if omissions else ():
        naming = [statement for statement in work.statements if has_word(statement.text, good)]
        if naming and all(statement.is_omission for statement in naming) and not has_word(work.prompt, good):
            return f"the agent did without {good}"
    return ""


def _other_of_its_kind(sentence: MemorySentence, work: AgentWork) -> str:
    """Say which other tool or value of the same kind the agent used; empty: none."""
    if not work.kinds_used:
        return ""
    for kind, names in alternatives.kinds_of(sentence.text).items():
        wanted = names - sentence.excluded
        if not wanted or wanted & work.kinds.get(kind, frozenset()):
            continue
        others = work.kinds_used.get(kind, frozenset()) - work.kinds_asked.get(kind, frozenset()) - wanted
        if others:
            return f"it names {min(wanted)}, the agent uses {min(others)}"
    return ""


def _other_value(sentence: str, work: AgentWork) -> str:
    """Say which other value of the same quantity a statement has; empty: none."""
    stated = [statement for statement in work.statements if statement.has_number]
    quantities = list(_QUANTITY.finditer(sentence)) if stated else []
    if not quantities:
        return ""
    about = {term for term in telling_terms(sentence) if not term[0].isdigit()}
    least = max(1, min(2, len(about) // 2))
    for wanted in quantities:
        others = [
            other
            for statement in stated
            if len(about & (statement.terms.keys() | work.asked_terms.keys())) >= least
            for other in _same_quantity(wanted, statement)
        ]
        if others and not any(_is_met(wanted, other) for other in others):
            return f"it says {wanted[0].strip()}, the agent has {others[0][0].strip()}"
    return ""


def _same_quantity(wanted: re.Match[str], statement: AgentStatement) -> Iterator[re.Match[str]]:
    """What a statement says about the quantity of a memory, whatever its value."""
    units, name = _words(wanted["unit"]), _words(wanted["before"])
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


def _forbidden_time(sentence: str, work: AgentWork) -> str:
    """Say at which time the agent does something though a memory keeps that time free; empty: at none."""
    period = _PERIOD.search(sentence)
    if period is None or not _FORBIDS.search(sentence):
        return ""
    first, last = (minutes for minutes in _minutes(period[0]))
    for statement in work.statements:
        if statement.is_denied:
            continue
        for minutes in _minutes(statement.text):
            if first <= minutes < last if first < last else not last <= minutes < first:
                return f"the agent has {minutes // 60}:{minutes % 60:02}, which it keeps free"
    return ""


def _minutes(text: str) -> list[int]:
    """The times of day of a text, schedules of cron among them."""
    times = [int(match[1]) * 60 + int(match[2] or match[3] or 0) for match in _TIME.finditer(text)]
    return times + [int(match[2]) * 60 + int(match[1]) for match in _CRON.finditer(text)]


def _denial(sentence: str, work: AgentWork) -> str:
    """Say which statement contradicts a sentence of a memory that says nearly the same; empty: none."""
    words = comparison.fact_words(sentence)
    for statement in work.statements:
        others = statement.words
        both = words | others
        similarity = len(words & others) / len(both) if both else 0.0
        if similarity >= NEAR:
            judgement = comparison.judge(extract_features(sentence), statement.features, similarity)
            if judgement.verdict is Verdict.CONTRADICTS:
                return f"the agent says: {statement.text[:100]}"
    return ""
