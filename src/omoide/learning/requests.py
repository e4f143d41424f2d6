"""Requests to remember something: "remember that …", "from now on …", 「覚えておいて」「今後は」."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from omoide.learning.patterns import any_of, phrases
from omoide.learning.sentences import is_question, split_sentences

_LEAST = 3
"""Characters that are left to keep; less is no statement."""
_LONGEST = 600
"""Characters of the longest sentence that is looked at: a longer one is pasted, and no request."""
_MOST_LINES = 5
"""Lines of a list that follows "remember these:"."""


class Request(NamedTuple):
    """What somebody asks to keep."""

    content: str
    kind: str
    """remember (asked for by name), rule (from now on) or decision."""
    phrase: str
    """The words that ask for it."""


class _Rule(NamedTuple):
    kind: str
    pattern: re.Pattern[str]
    """Its group `phrase` asks, its group `content` is what to keep; empty, the sentence before or after it is meant."""


def _rule(kind: str, pattern: str) -> _Rule:
    return _Rule(kind, re.compile(pattern, re.I | re.S))


# English

_LEAD = (
    any_of(
        *(
            "please",
            "pls",
            "also",
            "and",
            "but",
            "so",
            "then",
            "plus",
            "btw",
            "by the way",
            "ok(?:ay)?",
            "yes",
            "yeah",
            "oh",
        ),
        *("hey", "hi", "thanks", "just", "well", "right", "important", "fyi", "one (?:more )?thing", "reminder"),
        r"(?:for|in|on|re) [\w/]+(?:[.-][\w/]+)*",
    )
    + r"[\s,:;!.-]+"
)
_ASK = any_of(
    "(?:can|could|would|will) you (?:please )?",
    "I(?:'d| would) like you to ",
    "I want you to ",
    "you (?:should|must|need to) ",
    "(?:make|be) sure (?:to|you) ",
    "(?:let'?s|we (?:should|need to|have to)) (?:all )?",
)
_START = rf"^(?:{_LEAD})*(?:{_ASK})?(?:please |also |always )?"
_FOR = "(?: for (?:(?:all|any|the) )?(?:future|later|next|new)(?: [\\w-]+){0,2})?"
_REMEMBER = any_of(
    "remember",
    "memori[sz]e",
    f"(?:keep|bear) (?:it )?in mind{_FOR}",
    "don'?t (?:ever )?forget",
    "do not forget",
    "never forget",
)
_NOTE = any_of(
    f"(?:make|take|keep) (?:a )?note{_FOR}",
    f"(?:please |pls )?note{_FOR}(?= that\\b|:)",
    "note (?:this )?down",
    "for your notes",
    "(?:put|jot|write|get) (?:this|that|it) (?:down|in(?:to)? (?:your |the )?(?:notes|memory))",
    "write (?:this|that|it) down",
    "save (?:this|that|it)(?: (?:to|in) (?:your |the )?memory)?",
    "store (?:this|that) in (?:your |the )?memory",
    "add (?:(?:this|that) )?to (?:your |the )?(?:memor(?:y|ies)|notes)",
)
_IT = "(?:that|this|it)"
_NOTE_AFTER = (
    "(?:(?:and |so |but )?(?:please |pls )?(?:always )?(?:can you |could you )?)"
    + any_of(
        f"(?:remember|memori[sz]e|keep|note|save|write|jot|put|store|record|log) {_IT}"
        "(?: in mind| down| somewhere| in(?:to)? (?:your |the )?(?:notes|memory))?",
        f"(?:make|take|keep) (?:a )?note(?: of {_IT})?",
        f"(?:add|save|commit) {_IT} to (?:your |the )?(?:notes|memory|memories)",
        f"do(?:n'?t| not) (?:ever )?forget(?: {_IT})?",
        "(?:keep|bear) (?:that|this|it) in mind",
    )
    + "(?:,? (?:please|pls|ok(?:ay)?|thanks|for (?:later|next time|the future|good)))*"
)
_REFERENCE = any_of(
    "(?:just )?for (?:future|later) reference",
    "(?:just )?so you know(?: for (?:the future|later|next time))?",
    "for (?:the future|next time|later)(?= ?[:,—–])",
    "for the record",
    "note for (?:the future|later|next time)",
    "(?:a )?note(?: to self)?(?= ?[:—–])",
    "to remember(?= ?:)",
)
_RULE = "(?:rule|policy|convention|guideline|practice)"
_CALLED_RULE = any_of(
    f"(?:(?:a|the|our|one|another) )?(?:(?:new|more|general|team|house|standing|hard) )?{_RULE}"
    "(?: (?:for|in|on|from|going) [\\w -]{1,30}?)?(?: is)?",
    f"(?:make|call) (?:it|this|that) (?:a|the|our) (?:new |general )?{_RULE}",
    f"as a (?:general )?{_RULE}",
)
_FROM_NOW = any_of(
    "from now on",
    "going forward",
    "from here on(?: out)?",
    "from (?:this point|today) on(?:wards?)?",
    "in (?:the )?future(?=,)",
    "henceforth",
    "(?:starting|as of|beginning|effective) (?:now|today|immediately)",
)
_FROM_DATE = any_of(
    "from (?:tomorrow|(?:next )?\\w+) on(?:wards?)?", "(?:starting|as of|beginning|effective) (?:tomorrow|next \\w+|\\w+day)"
)
"""From another time than now: that belongs to what is to be kept."""
_RULE_VERB = any_of(
    "always",
    "never",
    "no(?: more)?",
    "don'?t",
    "do not",
    "please",
    "use",
    "prefer",
    "avoid",
    "we (?:always|never|only)",
    "you (?:should|must)",
)
_DECIDED = any_of(
    r"\bwe(?:'ve| have)? (?:just |already |finally |now )?(?:decided|agreed|settled)\b",
    r"\b(?:the )?(?:team|group|board|client|management|\w+ team) (?:has )?(?:decided|agreed)\b",
    r"\b(?:it (?:has been|was)|it's been) decided\b",
)
_SETTLE = any_of(
    "let'?s (?:all )?(?:(?:standardi[sz]e|settle|agree) on|agree (?:that|to))",
    "we(?:'re| are) (?:now )?(?:standardi[sz]ing|settling) on",
    "we(?:'ll| will) (?:stick|go) with",
)
_DASH = r"\s*[:,—–-]\s*"
_ENGLISH = (
    _rule(
        "remember",
        rf"{_START}(?P<phrase>{_REMEMBER})(?: (?:the following|this(?: (?:one|fact|rule))?|that|these))?(?:{_DASH}|\s+)"
        r"(?P<content>(?!when\b|me\b|how (?:we|I)\b|the time\b).+)$",
    ),
    _rule(
        "remember",
        rf"{_START}(?P<phrase>{_NOTE})(?: (?:of this|that|of the fact that))?(?:{_DASH}|\s+(?:that\s+)?)"
        r"(?P<content>(?!(?:for|as|to|in|into|under|with|at|on)\b).+)$",
    ),
    _rule("remember", rf"^(?P<content>.*?)(?:^|\s*[-,;:—–.(]+\s*)(?P<phrase>{_NOTE_AFTER})\W*$"),
    _rule("remember", rf"^(?P<phrase>{_REFERENCE}){_DASH}(?P<content>.+)$"),
    _rule("rule", rf"{_START}(?P<phrase>{_FROM_NOW})[\s,:—–-]+(?P<content>.+)$"),
    _rule("rule", rf"{_START}(?P<content>(?P<phrase>{_FROM_DATE})[\s,:—–-]+.+)$"),
    _rule(
        "rule",
        rf"{_START}(?P<content>{_RULE_VERB} .+?)[\s,]+"
        r"(?P<phrase>from now on|going forward|in (?:the )?future|every time|each time)[.!]*$",
    ),
    _rule(
        "rule",
        rf"{_START}(?P<phrase>next time|every time|whenever)[\s,]+"
        r"(?P<content>.*(?:\balways\b|\bnever\b|\bplease\b|\buse\b|\brun\b|don'?t|do not).+)$",
    ),
    _rule("rule", rf"{_START}(?P<phrase>{_CALLED_RULE}){_DASH}(?P<content>.+)$"),
    _rule("rule", rf"{_START}(?P<phrase>make it a {_RULE} (?:that|to))\s+(?P<content>.+)$"),
    _rule("decision", rf"^.{{0,80}}?(?P<phrase>{_DECIDED})\b:?\s+(?P<content>.+)$"),
    _rule("decision", rf"{_START}(?P<phrase>(?:the )?decision(?: is| was)?(?: to)?){_DASH}(?P<content>.+)$"),
    _rule("decision", rf"{_START}(?P<phrase>(?:it(?:'s| is) )?(?:settled|agreed|decided)){_DASH}(?P<content>.+)$"),
    _rule("decision", rf"{_START}(?P<phrase>{_SETTLE})\s+(?P<content>.+)$"),
)
_NOT_ENGLISH = phrases(
    r"\b(?:do|did|don'?t|didn'?t|doesn'?t|can'?t|cannot|couldn'?t) (?:you |\w+ )?remember\b",
    r"\b(?:I|I'll|they|he|she|who|nobody) (?:\w+ )?remember(?:s|ed)?\b",
    r"\bremember (?:me|when|how we|the time)\b",
    r"\b(?:if|as|as far as) (?:I|you|we) remember\b",
    r"\b(?:not|n't|never) (?:yet )?(?:been )?(?:decided|agreed|settled)\b",
    r"\bhave(?:n'?t| not) decided\b",
    r"\b(?:what|which|where|when|why|how|whether|if|who|until|unless) (?:we|they|I)(?:'ve| have)? (?:\w+ )?"
    r"(?:decided|agreed|settled)\b",
    r"\b(?:recall|remind me)\b",
    r"\b(?:before we decide|once we(?:'ve| have) decided|if we (?:decided|agreed))\b",
)

# Japanese

_REMEMBER_JA = any_of(
    "(?:覚え|おぼえ|憶え)(?:て)?(?:お|と)い?て",
    "覚えておくこと",
    "覚えておきましょう",
    "覚えて(?=ください|ほしい|欲しい|ね|$)",
    "(?:記憶|記録)して(?:おいて)?",
    "忘れないで(?:おいて)?",
    "忘れないように(?:して)?",
    "(?:メモ|記録|記憶)を?(?:して|とって|取って|残して)?(?=お願い)",
    "メモ(?:して|を?取って|を?残して)(?:おいて)?",
    "メモっ(?:て|と)(?:おいて|いて)?",
    "控えておいて",
    "書き(?:留め|とめ|残し)て(?:おいて)?",
    "(?:ルール|決まり|方針|記録|メモ)として(?:残|記録|保存|覚え)(?:し|えて)?て?(?:おいて|ください)",
    "(?<!ファイルに)保存しておいて",
    "メモリに(?:保存|追加)して",
)
_ASK_JA = any_of("くれ(?:ますか|る|ない)?", "もらえますか", "いただけますか", "頂けますか")
_END_JA = any_of("ください", "下さい", "ほしいです?", "欲しいです?", _ASK_JA, "お願いします?", *"ねよな。！! ") + "*"
_FROM_NOW_JA = any_of(
    "今後[はも]?",
    "これから(?:[はも]|(?=、))",
    "以後[はも]?",
    "以降[はも]?",
    "次回(?:から|以降)[はも]?",
    "次からは?",
    "今日から",
    "毎回",
)
_LEAD_JA = any_of(
    *(
        "では",
        "じゃあ",
        "あと",
        "それと",
        "それから",
        "また",
        "なお",
        "ちなみに",
        "うん",
        "はい",
        "了解",
        "そして",
        "で",
        "一点",
    ),
    *("念のため", "ついでに", "なので", "だから"),
)
_NO_RULE_JA = any_of(
    "の(?![^、。]{1,20}は)",
    "の(?:予定|課題|方針|計画|進め|流れ|展開|見通し|タスク)",
    "どう",
    "何",
    "どの",
    "とも(?:よろしく)?",
)
_RULE_END_JA = any_of(
    "て",
    "で",
    "ください",
    "下さい",
    "こと",
    "ない",
    "ません",
    "ように",
    "お願い(?:します)?",
    "よろしく(?:です|お願いします)?",
    "禁止",
    "です",
    "ます",
    "だ",
    *"うくすつる",
)
_CALLED_RULE_JA = (
    "(?:という|って)?(?:ルール|決まり|約束|規約|方針)"
    "(?:にして(?:ください|います|いる)?|で(?:お願いします|いきましょう|いきます)|です|だ|にし(?:よう|ましょう|ます|ました))"
)
_DONE_JA = any_of("決め(?:た|ました)", "決ま(?:った|りました)", "決定(?:した|しました)", "合意(?:した|しました)")
_DECIDED_JA = any_of(
    f"こと(?:に|で)(?:{_DONE_JA}|し(?:た|ました|ます|よう|ましょう)|する|なった|なりました)",
    "(?:という)?(?:方針|仕様|運用)(?:で(?:いき|行き|進め)ます|で(?:いく|行く|進める)|に(?:する|します|しました|決めた))",
    f"(?:に|と|で)(?:{_DONE_JA}|決定です)",
    "(?<=を)(?:採用|廃止|標準|統一)(?:する(?:方針)?(?:に|で)|と)?(?:した|しました|します)",
)
_TASK_JA = "(?:て|で)(?:ください|下さい|ほしい|欲しい|もらえ|くれ)?[ねよ。！!]*$"
"""The end of a sentence that asks for something else, after "remember that, and"."""
_STOP_JA = "(?:[。！!ねよ]|から|ので)*"
_SURELY_JA = "(?:必ず|ちゃんと|しっかり|よく|絶対に?|忘れずに)"
_JAPANESE = (
    _rule(
        "remember",
        rf"^(?:(?:これ|ここ)?[はが]?(?:大事|重要|大切)(?:なので|だから|です)、?)?(?:次の(?:こと|ルール|点)を|以下を|(?:これ|それ|この件|その点)(?:を|は|も|だけは)?)?、?{_SURELY_JA}?(?P<phrase>{_REMEMBER_JA}{_END_JA})"
        rf"(?:\s*(?:[:：]|[、,](?!.*{_TASK_JA}))\s*(?P<content>.+)|、.*|[?？]?$)",
    ),
    _rule(
        "remember",
        r"^(?P<content>.+?)(?:(?:という)?(?:こと|の|点|ルール|方針)?(?:だけ)?(?:を|は|も|で)|って(?:こと)?で?|と|から|な?ので)?、?"
        rf"{_SURELY_JA}?(?P<phrase>{_REMEMBER_JA}){_END_JA}$",
    ),
    _rule(
        "rule",
        rf"^(?:{_LEAD_JA}[、\s]*)*(?P<phrase>{_FROM_NOW_JA})[、,\s]*"
        rf"(?P<content>(?!{_NO_RULE_JA}).+{_RULE_END_JA}[。！!ねよな]*)$",
    ),
    _rule(
        "rule",
        rf"^(?:{_LEAD_JA}[、\s]*)*(?P<topic>[^、。]{{1,40}}[はもを])、?(?P<phrase>{_FROM_NOW_JA})[、,\s]*"
        rf"(?P<content>(?!{_NO_RULE_JA}).+{_RULE_END_JA}[。！!ねよな]*)$",
    ),
    _rule("rule", rf"^(?P<content>.+(?:を|は|に|で).+?)、?(?P<phrase>{_CALLED_RULE_JA})[。！!ねよ]*$"),
    _rule("decision", rf"^(?P<content>.+?)(?P<phrase>{_DECIDED_JA}){_STOP_JA}.*$"),
    _rule("decision", r"^(?P<phrase>決定(?:事項)?|決まったこと)\s*[:：]\s*(?P<content>.+)$"),
)
_NOT_JAPANESE = phrases(
    "覚えて(?:い(?:る|ない|ません|ます)|る|ない|ません|ます)",
    "覚えてな(?:い|く)",
    "(?:決ま|決め)(?:って)?い?(?:ない|ません)",
    "決ま(?:ったら|り次第|ってから)",
    "決め(?:たら|てから)",
)
_ASKS_TO_REMEMBER = phrases(
    r"\b(?:can|could|would|will) you\b.*\b(?:remember|note|keep|save|memori)", rf"{_REMEMBER_JA}{_ASK_JA}[?？]?$"
)
_CONFIRMATION = re.compile(r",?\s*(?:ok(?:ay)?|right|alright|got it|yeah|please)\?+\s*$", re.I)
"""The end of a request that only sounds like a question."""
_CLAUSE = re.compile(r"[,;:—–]\s+|\s+(?:and|but|so)\s+|[、：]\s*", re.I)
"""Where a part of a sentence begins that may ask for something by itself."""
_MOST_CLAUSES = 10
_BEGINNING = re.compile(
    rf"^(?:(?:that|to)\s+|は、?|[、,:：]\s*|(?:{_LEAD_JA}、\s*)|(?:ちなみに|なお)|(?:{_FROM_NOW_JA}|{_FROM_NOW})[、,\s]+(?=\S)|今後[はも]?(?=\S))+",
    re.I,
)
_POINTER = re.compile(
    rf"^{any_of('this', 'that', 'it', 'these', 'those', 'them', 'the following', 'everything')}[.!:]*$"
    rf"|^{any_of('これ', 'それ', 'あれ', 'このこと', 'そのこと', '以下', '次のこと', '上記', '[こそ]の件')}[:：。、]*$",
    re.I,
)


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
    if len(sentence) > _LONGEST or _NOT_JAPANESE.search(sentence):
        return None
    sentence = _CONFIRMATION.sub("", sentence)
    if is_question(sentence) and not _ASKS_TO_REMEMBER.search(sentence.rstrip("。 ")):
        return None
    rules: Sequence[_Rule] = _JAPANESE if _NOT_ENGLISH.search(sentence) else (*_JAPANESE, *_ENGLISH)
    whole = _apply(rules, sentence)
    if whole is not None:
        return whole
    rules = [rule for rule in rules if rule.kind != "decision"]
    clauses = (sentence[boundary.end() :] for boundary in islice(_CLAUSE.finditer(sentence), _MOST_CLAUSES))
    return next(filter(None, (_apply(rules, clause) for clause in clauses)), None)


def _apply(rules: Sequence[_Rule], text: str) -> Request | None:
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
    content = _BEGINNING.sub("", content.strip())
    return content.strip(" \t\n,、").removesuffix("を").strip()
