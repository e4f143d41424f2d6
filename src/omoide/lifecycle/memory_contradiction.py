"""Find where the work of an agent contradicts a memory: it does what the memory rules out, or has another value. Pure."""

import re
from collections.abc import Iterator

from omoide.lifecycle import alternatives, comparison
from omoide.lifecycle.agent_work import GRAMMAR, AgentStatement, AgentWork, has_word, sentences_of, telling_terms
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
    re.compile(
        rf"\b(?:{_DO} )?`?(?P<good>{_WAY})`?,? (?:not|instead of|rather than|never) (?:with )?`?(?P<bad>{_WAY})`?", re.I
    ),
    re.compile(
        rf"`?(?P<bad>{_WAY})`?[一-鿿ァ-ヺー]{{0,6}}\s*(?:ではなく|じゃなくて?|の代わりに|でなく)[、\s]*`?(?P<good>{_WAY})`?"
    ),
)
"""Of two ways, the one that a memory asks for, and the one that it rules out."""
_NOT_JA = (
    "使わない|使わず|使えない|使用しない|使用禁止|禁止|不可|利用しない|入れない|呼ばない|書かない|流さない|避け|やめ"
    "|NG|触らない|編集しない|変更しない"
)
_EXCLUSIONS = (
    re.compile(
        rf"\b{_NOT} {_DO} (?:the |a |any )?`?(?P<bad>{_WAY})`?(?:,? or `?(?P<other>{_WAY})`?)?",
        re.I,
    ),
    re.compile(
        rf"\b{_NOT} {_ACT} (?:directly |straight )?(?:(?:files?|anything|code) )?(?:to |on |in |into |from |under )?"
        rf"(?:the |a |any )?`?(?P<bad>{_WAY}/?)`?",
        re.I,
    ),
    re.compile(rf"\bno (?:more |new |raw |direct )?`?(?P<bad>{_WAY}(?:\(\))?)`?", re.I),
    re.compile(rf"`?(?P<bad>{_WAY})`? (?:{_HARMS})\b", re.I),
    re.compile(r"(?P<bad>\d{2,5})\b[^.,;]{0,40} (?:is|are) (?:taken|reserved|blocked|in use)\b", re.I),
    re.compile(rf"\bavoid (?:using |calling |importing )?(?:the |a )?`?(?P<bad>{_WAY})`?", re.I),
    re.compile(
        rf"`?(?P<bad>{_WAY})`? (?:is|are|was|were|has been|have been) (?:now )?"
        r"(?:dropped|frozen|deprecated|removed|banned|forbidden|not (?:allowed|installed|available|supported)|taken"
        r"|retired|gone|off limits)\b",
        re.I,
    ),
    re.compile(rf"^[^A-Za-z.。]*`?(?P<bad>(?=[A-Za-z.]){_WAY})`?[^。]*?(?:{_NOT_JA})"),
    re.compile(r"(?P<bad>[A-Za-z][\w.-]*(?: [\w.-]+){0,2})(?:を?実行)?しない", re.ASCII),
    re.compile(rf"(?P<bad>{_NOUN_JA})(?:は|も)[^。、]{{0,12}}(?:禁止|不可|NG|避け|しない|使わない|書かない|書かず)"),
    re.compile(rf"(?P<bad>{_NOUN_JA}|(?:生の)?[A-Z]{{3,}})(?:を|は|に)?(?:せず|しない|使わず|書かず|出さず)"),
    re.compile(
        rf"(?P<bad>{_NOUN_JA}?)(?:等|など)?[)）]?を(?:含め|出さ|残さ|入れ|使わ|置か|保存し|出力し|送ら|書か)(?:ない|ず|ません)"
    ),
)
"""What a memory rules out without naming another way."""
_REQUESTS = (
    re.compile(
        rf"\b(?:{_DO}|(?:managed|done|built|handled|written|formatted|go|goes|run|agreed) (?:with|by|via|in|through|on))"
        rf" (?:the )?`?(?P<good>{_WAY})`?",
        re.I,
    ),
    re.compile(
        rf"`?(?P<good>{_WAY})`?\s*(?:を|で|に|へ)\s*(?:使|利用|採用|実行|書|寄せ|統一|まとめ|置|入れ|流|作|行|管理|出|記録|固定|検証)"
    ),
)
"""What a memory asks for."""
_NOT_DONE = re.compile(
    r"\bwithout\b|\b(?:not|n't) (?:use|add|apply|run|call)|instead of|ていません|ていない|ではなく|せず|使わず"
    "|なし(?:で|に)",
    re.I,
)
"""What an agent says of something that it left out."""
_NO_WAY = frozenset(
    [
        *("it", "this", "that", "them", "the", "a", "an", "any", "to", "in", "of", "with", "and", "or", "for", "on", "only"),
        *("all", "more", "less", "new", "code", "things", "anything", "is", "are", "was", "were", "be", "do", "does", "did"),
    ]
)
_QUANTITY = re.compile(
    r"(?:(?P<before>[A-Za-zァ-ヺー一-鿿]+)[ :='\"は@]{0,4})?(?P<value>\d[\d.,]*)\s?(?:\*\s?\w+\.)?"
    r"(?P<unit>[A-Za-z%]+(?:[ -][A-Za-z]+)?|[一-鿿ァ-ヺー]{1,4})?"
)
_AT_MOST = re.compile(
    r"(?:at most|(?:no|not|never) more than|max(?:imum|\.)?|up to|limit(?:ed)? (?:to|of|is)?|capped at|under|below|less than"
    r"|within|最大|上限は?)[ :=]*$",
    re.I,
)
_AT_LEAST = re.compile(r"(?:at least|(?:no|not|never) (?:less|fewer) than|min(?:imum|\.)?|最低|最小)[ :=]*$", re.I)
_AT_MOST_AFTER = re.compile(r"^[一-鿿ァ-ヺー%A-Za-z ]{0,8}(?:以下|以内|未満|まで|を超え|超は?禁止|max)")
_AT_LEAST_AFTER = re.compile(r"^[一-鿿ァ-ヺー%A-Za-z ]{0,8}(?:以上|より多く|minimum)")
_FROM = re.compile(r"\b(?:from|was|were|instead of) $", re.I)
_TO = re.compile(r"^\s*(?:から|→|->|=>|だった)")
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-3])(?::([0-5]\d)|時(?:([0-5]?\d)分)?)(?![\d:])")
_PERIOD = re.compile(rf"{_TIME.pattern}\s*(?:〜|~|-|–|から|to|and|until)\s*{_TIME.pattern}")
_CRON = re.compile(r"(?<![\d*/,-])([0-5]?\d) ([01]?\d|2[0-3]) (?:[\d*/,?-]+ ){2}[\d*/,?A-Z-]+")
_FORBIDS = re.compile(r"\b(?:no|not|never|nothing|avoid|don'?t)\b|ない|禁止|避け|不可|NG|いけ", re.I)

_CONVENTIONAL = re.compile(r"conventional ?commits?", re.I)
_CONVENTIONAL_MESSAGE = re.compile(
    r"\b(?:feat|fix|docs|chore|refactor|test|perf|build|ci|style|revert)(?:\([^)\n]+\))?!?: \S"
)


def find_contradiction(memory: str, work: AgentWork) -> str:
    """Say how the work of an agent contradicts a memory; empty: it does not."""
    if is_conventional(memory) and _has_other_message(work):
        return "the agent's commit has another form of message"
    for sentence in sentences_of(memory):
        found = (
            _forbidden_way(sentence, work)
            or _other_of_its_kind(sentence, work)
            or _other_value(sentence, work)
            or _forbidden_time(sentence, work)
            or _denied_way(sentence, work)
            or _denial(sentence, work)
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


def ruled_out(sentence: str) -> Iterator[tuple[str, str, str]]:
    """Yield what a sentence asks for, what it rules out, and by which verb; the first and the last may be empty."""
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


def _forbidden_way(sentence: str, work: AgentWork) -> str:
    for good, bad, act in ruled_out(sentence):
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


def requested(sentence: str) -> Iterator[str]:
    """Yield the ways that a sentence of a memory asks for."""
    excluded = {bad for _, bad, _ in ruled_out(sentence)}
    for pattern in (*_ALTERNATIVES, *_REQUESTS):
        for match in pattern.finditer(sentence):
            good = as_way(match["good"])
            if good and good not in excluded:
                yield good


def _denied_way(sentence: str, work: AgentWork) -> str:
    """Say what a memory asks for that the agent says it did not use; empty: nothing."""
    for good in requested(sentence):
        naming = [statement for statement in work.statements if has_word(statement.text, good)]
        if naming and all(_NOT_DONE.search(statement.text) for statement in naming) and not has_word(work.prompt, good):
            return f"the agent did without {good}"
    return ""


def _other_of_its_kind(sentence: str, work: AgentWork) -> str:
    """Say which other tool or value of the same kind the agent used; empty: none."""
    excluded = {bad for _, bad, _ in ruled_out(sentence)}
    for kind, names in alternatives.kinds_of(sentence).items():
        wanted = names - excluded
        if not wanted or wanted & work.kinds.get(kind, frozenset()):
            continue
        others = work.kinds_used.get(kind, frozenset()) - work.kinds_asked.get(kind, frozenset()) - wanted
        if others:
            return f"it names {min(wanted)}, the agent uses {min(others)}"
    return ""


def _other_value(sentence: str, work: AgentWork) -> str:
    """Say which other value of the same quantity a statement has; empty: none."""
    about = {term for term in telling_terms(sentence) if not term[0].isdigit()}
    least = max(1, min(2, len(about) // 2))
    for wanted in _QUANTITY.finditer(sentence):
        others = [
            other
            for statement in work.statements
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
