"""Requests to remember something: "remember that …", "from now on …", 「覚えておいて」「今後は」."""

import re
from typing import NamedTuple

from omoide.learning.patterns import any_of, phrases
from omoide.learning.sentences import is_question, split_sentences

_LEAST = 3
"""Characters that are left to keep; less is no statement."""
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
    any_of("please", "pls", "also", "and", "so", "btw", "by the way", "ok(?:ay)?", "oh", "hey", "just", "important", "fyi")
    + r"[\s,:;!-]+"
)
_ASK = any_of(
    "(?:can|could|would|will) you (?:please )?",
    "I(?:'d| would) like you to ",
    "I want you to ",
    "you (?:should|must|need to) ",
    "(?:make|be) sure (?:to|you) ",
)
_START = rf"^(?:{_LEAD})*(?:{_ASK})?"
_REMEMBER = any_of(
    "remember", "memorize", "(?:keep|bear) in mind", "don'?t (?:ever )?forget", "do not forget", "never forget"
)
_NOTE = any_of(
    "(?:make|take|keep) (?:a )?note",
    "note (?:this )?down",
    "write (?:this|that|it) down",
    "save (?:this|that|it)(?: (?:to|in) (?:your |the )?memory)?",
    "store (?:this|that) in (?:your |the )?memory",
    "add (?:this|that) to (?:your |the )?memor(?:y|ies)",
)
_NOTE_AFTER = any_of(
    "(?:please )?(?:remember|memorize|keep|note|save) (?:that|this|it)(?: in mind| down)?"
    "(?: (?:please|for (?:later|next time|the future)))?",
    "(?:please )?don'?t forget (?:that|this|it)",
)
_REFERENCE = any_of(
    "for (?:future|later) reference", "for the record", "note for (?:the future|later|next time)", "note to self"
)
_FROM_NOW = any_of(
    "from now on",
    "going forward",
    "from here on(?: out)?",
    "from this point on",
    "in (?:the )?future(?=,)",
    "henceforth",
    "starting (?:now|today)",
    "as of (?:now|today)",
)
_RULE_VERB = any_of(
    "always",
    "never",
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
    "let'?s (?:standardi[sz]e|settle|agree) on",
    "we(?:'re| are) (?:standardi[sz]ing|settling) on",
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
        r"(?P<content>(?!for\b).+)$",
    ),
    _rule("remember", rf"^(?P<content>.+?)\s*[-,;:—–.(]+\s*(?P<phrase>{_NOTE_AFTER})\W*$"),
    _rule("remember", rf"^(?P<phrase>{_REFERENCE}){_DASH}(?P<content>.+)$"),
    _rule("rule", rf"{_START}(?P<phrase>{_FROM_NOW})[\s,:—–-]+(?P<content>.+)$"),
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
    _rule("decision", rf"^.{{0,40}}?(?P<phrase>{_DECIDED})\s+(?P<content>.+)$"),
    _rule("decision", rf"^(?P<phrase>(?:the )?decision(?: is| was)?(?: to)?){_DASH}(?P<content>.+)$"),
    _rule("decision", rf"{_START}(?P<phrase>{_SETTLE})\s+(?P<content>.+)$"),
)
_NOT_ENGLISH = phrases(
    r"\b(?:do|did|don'?t|didn'?t|doesn'?t|can'?t|cannot|couldn'?t) (?:you |\w+ )?remember\b",
    r"\b(?:I|I'll|they|he|she|who|nobody) (?:\w+ )?remember(?:s|ed)?\b",
    r"\bremember (?:me|when|how we|the time)\b",
    r"\b(?:if|as|as far as) (?:I|you|we) remember\b",
    r"\b(?:not|n't|never) (?:yet )?(?:been )?(?:decided|agreed|settled)\b",
    r"\bhave(?:n'?t| not) decided\b",
    r"\b(?:before we decide|once we(?:'ve| have) decided|if we (?:decided|agreed))\b",
)

# Japanese

_REMEMBER_JA = any_of(
    "覚え(?:て)?(?:お|と)い?て",
    "覚えておくこと",
    "覚えておきましょう",
    "おぼえておいて",
    "憶えておいて",
    "覚えて(?=ください|ほしい|欲しい|ね|$)",
    "記憶して(?:おいて)?",
    "忘れないで(?:おいて)?",
    "忘れないように(?:して)?",
    "メモして(?:おいて)?",
    "メモっ(?:て|と)(?:おいて|いて)?",
    "記録して(?:おいて)?",
    "控えておいて",
    "保存しておいて",
    "メモリに(?:保存|追加)して",
)
_ASK_JA = any_of("くれ(?:ますか|る|ない)?", "もらえますか", "いただけますか", "頂けますか")
_END_JA = any_of("ください", "下さい", "ほしいです?", "欲しいです?", _ASK_JA, "お願いします?", *"ねよな。！! ") + "*"
_FROM_NOW_JA = any_of(
    "今後は?", "これからは?", "以後は?", "以降は?", "次回(?:から|以降)は?", "次からは?", "今日から", "毎回"
)
_NO_RULE_JA = any_of("の(?:予定|課題|方針|計画|進め|流れ|展開|見通し|タスク)", "どう", "何", "どの", "とも(?:よろしく)?")
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
    "禁止",
    "です",
    "ます",
    "だ",
    *"うくすつる",
)
_CALLED_RULE_JA = (
    "(?:という|って)?(?:ルール|決まり|約束|規約|方針)(?:にして(?:ください|います|いる)?|です|だ|にしよう|にします)"
)
_DONE_JA = any_of("決め(?:た|ました)", "決ま(?:った|りました)", "決定(?:した|しました)", "合意(?:した|しました)")
_DECIDED_JA = any_of(
    f"こと(?:に|で)(?:{_DONE_JA}|し(?:た|ました|よう|ましょう)|なった|なりました)",
    f"(?:に|と|で)(?:{_DONE_JA}|決定です)",
    "(?<=を)(?:採用|廃止|標準|統一)(?:する(?:方針)?(?:に|で)|と)?(?:した|しました|します)",
)
_STOP_JA = "(?:[。！!ねよ]|から|ので)*"
_JAPANESE = (
    _rule(
        "remember",
        rf"^(?:次の(?:こと|ルール|点)を|以下を|これ(?:を|は)?)?(?P<phrase>{_REMEMBER_JA}{_END_JA})"
        r"(?:\s*[:：、,]\s*(?P<content>.+)|[?？]?$)",
    ),
    _rule(
        "remember",
        r"^(?P<content>.+?)(?:(?:という)?(?:こと|の|点|ルール|方針)?(?:だけ)?(?:を|は|も)|って(?:こと)?|と|、)?"
        rf"(?:必ず|ちゃんと|しっかり|よく|絶対に?)?(?P<phrase>{_REMEMBER_JA}){_END_JA}$",
    ),
    _rule(
        "rule",
        rf"^(?:では|じゃあ|あと|それと|なお|ちなみに)?[、\s]*(?P<phrase>{_FROM_NOW_JA})[、,\s]*"
        rf"(?P<content>(?!{_NO_RULE_JA}).+{_RULE_END_JA}[。！!ねよな]*)$",
    ),
    _rule("rule", rf"^(?P<content>.+(?:を|は|に|で).+?)(?P<phrase>{_CALLED_RULE_JA})[。！!ねよ]*$"),
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
    sentences = split_sentences(text)
    for place, sentence in enumerate(sentences):
        request = _match(sentence)
        if request is None:
            continue
        content = sentence if request.kind == "decision" else request.content
        if len(content) < _LEAST or content.endswith((":", "：")) or _POINTER.match(content):
            content = _neighbour(sentences, place)
        content = _tidy(content)
        if len(content) >= _LEAST:
            found.setdefault(content, request._replace(content=content))
    return list(found.values())


def _match(sentence: str) -> Request | None:
    if _NOT_JAPANESE.search(sentence):
        return None
    if is_question(sentence) and not _ASKS_TO_REMEMBER.search(sentence.rstrip("。 ")):
        return None
    rules = _JAPANESE if _NOT_ENGLISH.search(sentence) else (*_JAPANESE, *_ENGLISH)
    for rule in rules:
        match = rule.pattern.match(sentence)
        if match:
            return Request((match["content"] or "").strip(), rule.kind, match["phrase"].strip())
    return None


def _neighbour(sentences: list[str], place: int) -> str:
    """The statement that a request points to: the lines after a colon, else the sentence before it, else the next one."""
    if sentences[place].rstrip().endswith((":", "：")):
        return " ".join(sentences[place + 1 : place + 1 + _MOST_LINES])
    if place:
        return sentences[place - 1]
    return sentences[1] if len(sentences) > 1 else ""


def _tidy(content: str) -> str:
    content = re.sub(r"^(?:that|to|は、?|、|,|:|：)\s*", "", content.strip())
    return content.strip(" \t\n,、").removesuffix("を").strip()
