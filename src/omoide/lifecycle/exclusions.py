"""What a memory asks for and what it rules out: a tool, a package, a function, a file, by patterns of rules. Pure."""

import re
from collections.abc import Iterator
from functools import cached_property

from omoide.compiled_patterns import load_pattern
from omoide.lifecycle.practices import Practice, forbidden_practices

_WAY = r"(?<![A-Za-z0-9_@./:+*#-])[A-Za-z0-9_@./:+*#-]{0,80}[A-Za-z0-9_*#+]"
"""What is used or ruled out: a tool, a package, a function, a file."""
_NOUN_JA = "[一-鿿ァ-ヺー]{2,}"
_DO = r"(?:use[sd]?|using|(?:run|call|import|write|choose|prefer|install)s?|running|calling|importing|writing)"
_HARMS = "confuses|breaks|broke|crashes|crashed|kills|killed|corrupts|corrupted|does not work|doesn't work|is dead|fails"
_NOT = (
    r"(?:never|do not|don'?t|must not|mustn'?t|should not|shouldn'?t|may not|cannot|can'?t|no longer|stop(?:ped)?"
    r"|(?:nobody|no one)(?: may| should| must)?)"
)
_PLACE = (
    r"(?:(?:directly|straight|anything|files?|code|data|it|them|things) )?(?:to |on |in |into |from |under |inside |at )?"
)
_ALTERNATIVES = (
    load_pattern(
        rf"\b(?:{_DO} )?`?(?P<good>{_WAY})`?(?:,? (?:not|instead of|rather than)|, never) (?:with )?`?(?P<bad>{_WAY})`?",
        re.I,
    ),
    load_pattern(
        rf"`?(?P<bad>{_WAY})`?[一-鿿ァ-ヺー]{{0,6}}\s*(?:ではなく|じゃなくて?|の代わりに|でなく)[、\s]*`?(?P<good>{_WAY})`?"
    ),
)
"""Of two ways, the one that a memory asks for, and the one that it rules out."""
_USE_JA = (
    "使わ|使え|使用し|用い|利用し|入れ|呼ば|書か|出さ|置か|増やさ|足さ|追加し|作ら|含め|残さ|流さ|送ら|保存し|出力し|実行し|叩か"
    "|触ら|編集し|変更し|打た|引か|付け|載せ|持た|渡さ|通さ|選ば|混ぜ"
)
_NOT_JA = rf"(?:{_USE_JA})(?:ない|ず|ません|るな)|禁止|不可|NG|避け|やめ|使えない|廃止|いけない"
_HARMS_JA = "切れ|切られ|落ち|壊れ|止ま|固ま|苦情|崩れ|失敗|消え|ずれ|化け|詰ま|漏れ|狂|外れ|膨らむ|事故|障害|足りな|溢れ"
_EXCLUSIONS = (
    load_pattern(
        rf"\b{_NOT} {_DO} (?:the |a |any )?`?(?P<bad>{_WAY})`?(?:,? or `?(?P<other>{_WAY})`?)?",
        re.I,
    ),
    load_pattern(
        rf"\b{_NOT} (?P<act>[a-z]{{3,}})(?: (?:or|and) [a-z]+)? {_PLACE}(?:the |a |any |our )?`?(?P<bad>{_WAY}/?)`?",
        re.I,
    ),
    load_pattern(
        rf"(?:^|[.,;:(] |\b(?:and|but|with) )no (?:more |new |raw |direct )?`?(?P<bad>{_WAY}(?:\(\))?)`?"
        r"(?= (?:in|on|for|from|at|to|with|inside|anywhere|or|and|please|here)\b|[.,;:)]|$)",
        re.I,
    ),
    load_pattern(r"\bno (?:more |new |raw |direct )?`?(?P<bad>[\w-]*[.(/@#_:][\w.()/@#:-]*\w(?:\(\))?)`?", re.I),
    load_pattern(
        rf"\b(?i:{_NOT}) [a-z]+ (?:[\w-]+ ){{1,4}}(?:in|into|to|from|on|under|inside|via|with) (?:the |a )?"
        r"`?(?P<bad>[\w/.-]*(?:[a-z][A-Z]|[./_])[\w/.-]*\w)`?"
    ),
    load_pattern(rf"\b(?:never|not) (?:on|in|via|through) (?:the |a )?`?(?P<bad>{_WAY})`?", re.I),
    load_pattern(r"(?:\b(?:not?|never|instead of|rather than)|n't \w+) (?:raw |plain |bare )?`?(?P<bad><[a-z][\w-]*)", re.I),
    load_pattern(rf"[,;] (?:never|not) `?(?P<bad>{_WAY})`?(?=[.,;:)]|$)", re.I),
    load_pattern(r"\b(?P<bad>\d{2,5}) (?:belongs to|is used by|is for|goes to|was)\b", re.I),
    load_pattern(rf"`?(?P<bad>{_WAY})`? (?:{_HARMS})\b", re.I),
    load_pattern(r"(?P<bad>\d{2,5})\b[^.,;]{0,40} (?:is|are) (?:taken|reserved|blocked|in use)\b", re.I),
    load_pattern(
        r"\b(?:keep|leave) (?:the )?(?:[a-z]+ )?(?P<bad>[\w./-]*\d[\w./-]*) (?:free|alone|untouched|unused)\b", re.I
    ),
    load_pattern(rf"\bavoid (?:using |calling |importing )?(?:the |a )?`?(?P<bad>{_WAY})`?", re.I),
    load_pattern(
        rf"`?(?P<bad>{_WAY})`? (?:is|are|was|were|has been|have been) (?:now )?"
        r"(?:dropped|frozen|deprecated|removed|banned|forbidden|not (?:allowed|installed|available|supported)|taken"
        r"|retired|gone|off limits)\b",
        re.I,
    ),
    load_pattern(rf"`?(?P<bad>{_WAY})`?(?:を|に)?(?:する|した|使う|だ|で出す)と[^。]{{0,24}}(?:{_HARMS_JA})"),
    load_pattern(r"(?P<bad>[A-Za-z][\w.-]*(?: [\w.-]+){0,2})(?:を?実行)?しない", re.ASCII),
    load_pattern(rf"(?P<bad>{_NOUN_JA})(?:は|も)[^。、]{{0,12}}(?:禁止|不可|NG|避け|しない|使わない|書かない|書かず)"),
    load_pattern(
        rf"(?P<bad>{_NOUN_JA}|(?:生の)?[A-Z]{{3,}})(?:を|は|に)?(?:直接|直に|そのまま)?(?:せず|しない|使わず|書かず|出さず)"
    ),
    load_pattern(
        rf"(?P<bad>{_NOUN_JA}?)(?:等|など)?[)）]?を(?:含め|出さ|残さ|入れ|使わ|置か|保存し|出力し|送ら|書か)(?:ない|ず|ません)"
    ),
)
"""What a memory rules out without naming another way."""
_RULES_OUT_JA = load_pattern(_NOT_JA)
"""The end of a clause in Japanese that rules out what it names."""
_NAMED_JA = load_pattern(
    rf"`?((?:{_WAY} )?{_WAY})`?"
    r"(?=\s*(?:系|製|版|方式|形式|コマンド)?(?:を|は|も|や|など|等|に|へ|で|・|[)）]|の[^、。]{1,12}(?:は|を|も)))"
)
_LIMITS_JA = load_pattern("以外|しか|だけ|のみ|ではなく|じゃなく|でなく|代わりに")
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
        *("by", "via", "through", "from", "at", "as", "before", "after", "when", "if", "because", "until", "while", "than"),
        *("just", "even", "yet", "every", "each", "one", "we", "you", "they", "he", "she", "its", "our", "your", "their"),
        *("us", "too", "so", "not", "no", "must", "should", "may", "can", "will", "there", "here", "what", "where", "how"),
        *("have", "has", "had", "been"),
    ]
)


class MemorySentence:
    """A sentence of a memory, read once for all that it is compared with."""

    def __init__(self, text: str):
        self.text = text

    @cached_property
    def exclusions(self) -> list[tuple[str, str, str]]:
        """What it asks for, what it rules out, and by which verb; the first and the last may be empty."""
        return list(dict.fromkeys(_find_exclusions(self.text)))

    @cached_property
    def excluded(self) -> set[str]:
        """What it rules out."""
        return {bad for _, bad, _ in self.exclusions}

    @cached_property
    def requests(self) -> list[str]:
        """The ways that it asks for."""
        ways = (as_way(match["good"]) for pattern in (*_ALTERNATIVES, *_REQUESTS) for match in pattern.finditer(self.text))
        return [way for way in ways if way and way not in self.excluded]

    @cached_property
    def practices(self) -> list[tuple[str, Practice]]:
        """The practices that it forbids, each with the word by which it does."""
        return list(forbidden_practices(self.text))


def _find_exclusions(sentence: str) -> Iterator[tuple[str, str, str]]:
    for pattern in (*_ALTERNATIVES, *_EXCLUSIONS):
        for match in pattern.finditer(sentence):
            groups = match.groupdict()
            good = as_way(groups.get("good") or "")
            if pattern in _ALTERNATIVES and not good:
                continue
            for bad in (as_way(match["bad"]), as_way(groups.get("other") or "")):
                if bad and bad != good:
                    yield good, bad, (groups.get("act") or "").lower()
    if not sentence.isascii():
        yield from (("", way, "") for way in _find_exclusions_in_japanese(sentence))


def _find_exclusions_in_japanese(sentence: str) -> Iterator[str]:
    start = 0
    for end in _RULES_OUT_JA.finditer(sentence):
        start = max(start, sentence.rfind("、", start, end.start()) + 1, sentence.rfind("。", start, end.start()) + 1)
        clause = sentence[start : end.start()]
        if not _LIMITS_JA.search(clause):
            yield from filter(None, (as_way(named[1]) for named in _NAMED_JA.finditer(clause)))
        start = end.end()


def as_way(text: str) -> str:
    """Return the name of a tool, a package or a file; empty: it is none."""
    way = text.rstrip(".:-").lstrip(":-").removesuffix("()").lower()
    return way if len(way) > 1 and way not in _NO_WAY else ""
