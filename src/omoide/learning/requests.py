"""Requests to remember something: "remember that …", "from now on …", 「覚えておいて」「今後は」."""

import re
from collections.abc import Sequence
from itertools import islice

from omoide.compiled_patterns import load_pattern
from omoide.learning.english_requests import ENGLISH, NOT_ENGLISH
from omoide.learning.japanese_requests import ASK_JA, HEARSAY, JAPANESE, NOT_JAPANESE, REMEMBER_JA
from omoide.learning.passages import TROUBLE, is_task, split_message, states_something
from omoide.learning.patterns import lazy_pattern, phrases
from omoide.learning.quotations import hide_quotations
from omoide.learning.request_context import LEAST, collect_content, is_pointer, tidy
from omoide.learning.request_rule import ONE_OFF, Request, RequestRule
from omoide.learning.sentences import is_question, without_quotes
from omoide.learning.standing_clauses import is_for_good

_LONGEST = 600
"""Characters of the longest sentence that is looked at: a longer one is pasted, and no request."""

_ASKS_TO_REMEMBER = phrases(
    r"\b(?:can|could|would|will) you\b(?! (?:always |even |still )*(?:see|read|access|know|tell|handle|support|"
    r"explain)\b).*\b(?:from now on|going forward|always|in (?:the )?future|every time|"
    r"from here on|to come|at all times|in all (?:sessions|conversations|projects))\b",
    r"(?:今後|これから|以後|次から|次回から|毎回|今日から|必ず|常に|いつも|今度から|原則|ずっと)"
    r"(?:(?!(?:ので|から|んで|ため)、).)*(?:もらえ|いただけ|頂け|くれ)(?:ますか|ませんか|る|"
    r"ない)[?？]?$",
    r"\b(?:can|could|would|will) you\b.*\bmake (?:it|this|that) a (?:\w+ )?(?:habit|rule|point|practice)\b",
    r"\b(?:can|could|would|will) you\b.*\b(?:remember|note|keep|save|memori|jot|write (?:this|that|it) down|hold on)",
    rf"{REMEMBER_JA}{ASK_JA}[?？]?$",
)
_ASKS_YOU = phrases(r"\b(?:can|could|would|will) you\b|\b(?:can|could|shall) we (?:\w+ )?agree\b")
_DECORATION = lazy_pattern(
    "(?:[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u2b50]|[（(](?:笑|泣|汗|爆)[）)]|(?<=[ぁ-んー。！])[wｗ笑]+|m[(（]_ "
    "?_[)）]m|\\^\\^;?|[♪☆])+[。！!]*\\s*$"
    "|^(?:[←→※★■◆▼●]\\s*)+"
)
"""What stands around a sentence and says nothing: emoji, arrows."""
_CONFIRMATION = lazy_pattern(r",?\s*(?:ok(?:ay)?|alright|got it|yeah|please)\?+\s*$", re.I)
"""The end of a request that only sounds like a question."""
_PASTED = load_pattern(
    r"//|/\*|<!--|#\s*(?:TODO|FIXME|NOTE|XXX)\b|(?:TODO|FIXME)\b|\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\]?[: ]|"
    r"\[?\d{4}-\d\d-\d\d[T ]\d"
)
"""The beginning of a line of code or of a log."""
_POLITE_TASK = lazy_pattern(
    r"[,;]?\s+(?:so|and|then)?,?\s*(?:can|could|would|will) (?:you|we)\b[^?]*\?+\s*$"
    r"|(?:ので|から|ため|、)[^。、]{0,60}[てで](?:もらえ|いただけ|頂け|くれ)(?:る|ます|ません|ない)か?[?？]+\s*$",
    re.I,
)
"""A task in the form of a question after a statement: "…, so can you …?"."""
_ASKING_START = phrases(
    r"(?:do|did|does|is|are|was|were|has|have|had|should|shall|would|could|can|may|might|will|what|why|which|who|"
    r"when|where|how|if)\b"
)
_CONDITION = phrases(r"(?:when|if)\b")
_THIS_TIME = phrases(
    r"\b(?:for (?:this one|now|today|the moment|the time being)|(?:just|only) this (?:time|once))\b",
    "今回(?:は|だけ)(?!(?:じゃ|では|や|で)な)|とりあえず|ひとまず",
)
_TEXT_OF_TASK = phrases(
    r"(?:please |pls |can you |could you )*(?:translate|rephrase|reword|rewrite|proofread|summari[sz]e|print|echo|type|"
    r"grep)\b[^:]{0,60}:",
    "[^:：。]{0,30}(?:英訳|和訳|翻訳|校正|添削|要約|変換|清書|訳)し[^:：。]{1,10}[:：]",
)
"""A task whose text follows a colon: it is no word of the person."""
_WRITING_TASK = phrases(
    r"^(?:please |pls |can you |could you |now |also |then |and |let'?s )*(?:put|add|write|generate|create|draft|make|"
    r"insert|append|include|"
    r"compose|prepare|print|design)\b(?! (?:this|that|it)\b)(?![^:]*\b(?:memor(?:y|ies)|(?:your |a |mental )notes?|"
    r"remember|in mind|rules?|polic(?:y|ies)|conventions?|guidelines?|facts?|habit|sure|you know)\b)[^:]{2,80}:",
)
"""The same for a text that is to be written: a comment, a poster, an answer."""
_WRITES_TEXT = phrases(
    r"^(?:please |pls |can you |could you |now )*(?:write|draft|generate|create|make|prepare|compose|design) (?:me |us "
    r")?(?:a|an|the|some|our) (?:[\w-]+ ){0,5}?"
    r"(?:(?:cheat ?)?sheet|poster|flyer|leaflet|guide|handbook|manual|slides?|e-?mail|banner|checklist|notice|"
    r"announcement|onboarding|speech|"
    r"newsletter|blog ?post|faq|code of conduct)\b",
    "(?:原稿|スライド|ポスター|マニュアル|手順書|掲示|貼り紙|張り紙|チラシ|案内文?|お知らせ|メール|文面|資料|しおり|"
    "チェックリスト|記事|社内報|FAQ|ガイド)[^。]{0,8}"
    "(?:つく|作|書|用意し|まとめ|起こし|考え|案(?:を|出))[^。]{0,8}(?:て|たい|ほしい|お願い)",
)
"""A first sentence that asks for a text for other people: the rules after it are its content."""
_FOR_FUTURE = phrases(r"from (?:now|here)|forward|future|henceforth", "今後|これから|次から|次回|以後")
_ACCOUNT = phrases(
    r"I(?:'m| am|'ll be) (?:on|off|away|out|back|at)\b",
    r"(?:it|this|that|they|the [\w -]{1,30}?|my [\w -]{1,30}?) (?:\w+ )?(?:crash|fail|hang|throw|break|freez|stop|die|lag|"
    r"leak|misbehave|complain|seems|becomes|gets? (?:weird|slow|stuck|worse|confus|mess|lost|corrupt|empty)|"
    r"looks? (?:weird|odd|"
    r"wrong|strange|off)|goe?s? (?:wrong|blank|missing))\w*\b(?!.*\b(?:must|should|shall|please|always|never)\b)",
)
"""What has happened since some time: no order."""
_OF_DATA = phrases(
    r"of (?!(?:this|that|it|the fact)\b)[^:]*(?:\bthen\b|\b(?:how (?:long|many|much|often)|time|duration|results?|output|"
    r"values?|numbers?|counts?|errors?|differences?|timings?)\b)"
)
"""What one takes a note of for the task at hand: a time, a number, a result."""
_UPDATES = phrases("覚えて(?:い)?る[^、。]{0,6}(?:更新|上書き|修正|訂正|差し替え|書き換え|アップデート|直し)")
"""An order to update what is remembered, which is no question about it."""
_STATEMENT_JA = lazy_pattern("[はが]|です|ます|[うくぐすつぬぶむるい]$")
_YOU = lazy_pattern(r"\b(?P<before>can|could|would|should|will|if|want|need|tell) u\b", re.I)
"""A short form, which stands in few patterns."""
_FORGET = phrases("forget", "^remember$", "忘れ")
_AND_TASK = lazy_pattern(r"[,;]\s+(?:and|then|now|so now)\s+", re.I)
_OF_RULE = phrases(r"\b(?:always|never|whenever|every|each|when|before|after|please use|must)\b")
"""Words of a rule, to which several orders belong."""
_CLAUSE = lazy_pattern(r"[,;:—–]\s+|\s+(?:and|but|so)\s+|[、：]\s*", re.I)
"""Where a part of a sentence begins that may ask for something by itself."""
_MOST_CLAUSES = 10
_LAST_CLAUSE = lazy_pattern(r"(?:[,;]|\s*[—–])\s+(?=[^,;—–]{1,60}$)|[、,]\s*(?=[^、,]{1,40}$)")
_OPEN_END, _BECAUSE = lazy_pattern("[はがをに].*[のが]$"), lazy_pattern("な(?:ので|んで|のだ|んだ|のです|んです)")
"""A statement that goes on in the words after it: it ends with a particle, or with half of 「なので」."""
_LEAST_RULE = 8
"""Characters of a rule before words such as "every time"."""
_LEAST_REASON = 8
"""Characters of a clause that can be the reason of the rule after it."""
_LATIN, _JAPANESE_TEXT = load_pattern("[A-Za-z]{2}"), load_pattern("[ぁ-ゖァ-ヺ一-鿿]")


def find_requests(text: str) -> list[Request]:
    """Return what a person's message asks to keep, in order: each statement without the words that ask for it.

    A decision is kept as it was said, and a statement with what goes on with it. Questions, and sentences about remembering,
    ask for nothing.
    """
    text, restore = hide_quotations(_YOU.sub(r"\g<before> you", without_quotes(text)))
    sentences = split_message(text)
    requests = [_match(sentence.text) for sentence in sentences]
    if sentences and _WRITES_TEXT.search(sentences[0].text):
        requests = [request if request and _is_for_agent(request) else None for request in requests]
    found: dict[str, Request] = {}
    used: set[int] = set()
    for place, request in enumerate(requests):
        if request is None or place in used:
            continue
        content = restore(tidy(collect_content(request, sentences, requests, place, used)))
        if len(content) >= LEAST:
            found.setdefault(content, request._replace(content=content))
    return list(found.values())


def _is_for_agent(request: Request) -> bool:
    """Whether a request cannot be the text of a poster or a manual, which says what others always do."""
    return request.kind == "remember" or bool(_FOR_FUTURE.search(request.phrase))


def _match(sentence: str) -> Request | None:
    if len(sentence) > _LONGEST or _PASTED.match(sentence) or _TEXT_OF_TASK.match(sentence) or _WRITING_TASK.match(sentence):
        return None
    if NOT_JAPANESE.search(sentence) and not _UPDATES.search(sentence):
        return None
    request = _find(_CONFIRMATION.sub("", _DECORATION.sub("", sentence)))
    return None if request is None or _is_errand(request) else _without_other_task(_complete(request, sentence))


def _complete(request: Request, sentence: str) -> Request:
    """The request with the whole sentence, where what it asks to keep would end in the middle: 「日付はUTCがチームの」."""
    cut = sentence.find(request.content) + len(request.content)
    is_open = _OPEN_END.search(request.content) or _BECAUSE.match(sentence, cut - 1)
    return request._replace(content=sentence) if request.content in sentence and is_open else request


def _without_other_task(request: Request) -> Request:
    """The request without the task that follows its fact: "remember that the API is frozen, and fix the chart"."""
    end = _AND_TASK.search(request.content) if request.kind == "remember" else None
    if end is None or not is_task(request.content[end.end() :]) or _OF_RULE.search(request.content):
        return request
    return request._replace(content=request.content[: end.start()])


def _find(sentence: str) -> Request | None:
    """The request of a sentence: first by requests to save in Japanese, then by rules, then by standing orders."""
    is_japanese = bool(_JAPANESE_TEXT.search(sentence))
    kept = _find_save_request_ja(sentence) if is_japanese else None
    if kept is not None:
        return kept
    sentence = _without_task(sentence)
    is_english = bool(_LATIN.search(sentence)) and not NOT_ENGLISH.search(sentence)
    if is_question(sentence) and not _ASKS_TO_REMEMBER.search(sentence.rstrip("。 ")):
        return _find_in_question(sentence) if is_english else None
    if is_for_good(sentence):
        return Request("", "rule", sentence, points=True)
    pointing = _find_pointing_act(sentence) if is_english else None
    if pointing is not None:
        return pointing
    request = _apply_rules(sentence, is_japanese=is_japanese, is_english=is_english)
    if request is not None and is_japanese and _is_report(request, sentence):
        return None
    if is_english and (request is None or not request.content or is_pointer(request.content)):
        request = _find_save_request(sentence) or request
    return request or _find_standing_order(sentence, is_japanese=is_japanese, is_english=is_english)


def _find_in_question(sentence: str) -> Request | None:
    """The request of a question in English that asks the agent to do something: "can you keep in mind that …?"."""
    if not _ASKS_YOU.search(sentence):
        return None
    return _find_save_request(sentence) or _find_memory_act(sentence)


def _is_report(request: Request, sentence: str) -> bool:
    """Whether a Japanese sentence says what somebody else said, or what a program is to keep, rather than asking for it."""
    return _is_order_about_data(sentence) if request.kind == "remember" else HEARSAY.search(sentence) is not None


def _find_standing_order(sentence: str, *, is_japanese: bool, is_english: bool) -> Request | None:
    """The request of a sentence that says what holds from now on, without a word that asks to keep it."""
    request = _find_standing_ja(sentence) if is_japanese else None
    if request is None and is_english:
        request = _find_standing(sentence) or _find_signals(sentence)
    return request or _find_closed(sentence)


def _find_closed(sentence: str) -> Request | None:
    """The rule of a sentence whose last clause only says that it holds for good: "…, every time", 「…、毎回これで」."""
    boundary = _LAST_CLAUSE.search(sentence)
    if boundary is None or not is_for_good(sentence[boundary.end() :]):
        return None
    statement = sentence[: boundary.start()]
    is_account = TROUBLE.search(statement) or (_ASKING_START.match(statement) and not _CONDITION.match(statement))
    return None if is_account or len(statement) < _LEAST_RULE else Request(statement, "rule", sentence[boundary.start() :])


def _without_task(sentence: str) -> str:
    """The statement of a sentence that ends with a task in the form of a question; else the sentence."""
    task = _POLITE_TASK.search(sentence)
    statement = sentence[: task.start()] if task and not _ASKS_TO_REMEMBER.search(task[0]) else sentence
    is_statement = len(statement) > LEAST and not is_question(statement) and not _ASKING_START.match(statement)
    return statement if is_statement else sentence


def _apply_rules(sentence: str, *, is_japanese: bool, is_english: bool) -> Request | None:
    rules: Sequence[RequestRule] = (*(JAPANESE if is_japanese else ()), *(ENGLISH if is_english else ()))
    request = _apply(rules, sentence)
    if request is None:
        request = _match_clause([rule for rule in rules if rule.kind != "decision"], sentence)
    return request


def _find_save_request(sentence: str) -> Request | None:
    from omoide.learning.save_requests_english import find_save_request  # lazy: its patterns take long to compile

    return find_save_request(sentence)


def _find_pointing_act(sentence: str) -> Request | None:
    from omoide.learning.save_requests_english import find_pointing_act  # lazy: its patterns take long to compile

    return find_pointing_act(sentence)


def _find_save_request_ja(sentence: str) -> Request | None:
    from omoide.learning.save_requests_japanese import find_save_request_ja  # lazy: its patterns take long to compile

    return find_save_request_ja(sentence)


def _is_order_about_data(sentence: str) -> bool:
    from omoide.learning.save_requests_japanese import is_order_about_data  # lazy: its patterns take long to compile

    return is_order_about_data(sentence)


def _find_standing(sentence: str) -> Request | None:
    from omoide.learning.standing_english import find_standing  # lazy: its patterns take long to compile

    return find_standing(sentence)


def _find_signals(sentence: str) -> Request | None:
    from omoide.learning.signals_english import find_signals  # lazy: its patterns take long to compile

    return find_signals(sentence)


def _find_memory_act(sentence: str) -> Request | None:
    from omoide.learning.signals_english import find_memory_act  # lazy: its patterns take long to compile

    return find_memory_act(sentence)


def _find_standing_ja(sentence: str) -> Request | None:
    from omoide.learning.standing_japanese import find_standing_ja  # lazy: its patterns take long to compile

    return find_standing_ja(sentence)


def _match_clause(rules: Sequence[RequestRule], sentence: str) -> Request | None:
    for boundary in islice(_CLAUSE.finditer(sentence), _MOST_CLAUSES):
        request = _apply(rules, sentence[boundary.end() :])
        if request is not None:
            before = sentence[: boundary.start()]
            is_empty = is_pointer(request.content) or (request.kind == "rule" and not request.content)
            if is_empty and len(before) > LEAST:
                return request._replace(content=before)
            if _is_reason(request, before):
                return request._replace(content=f"{before}{boundary[0]}{request.content}")
            return request
    return None


def _is_reason(request: Request, before: str) -> bool:
    """Whether the clause before a rule belongs to it, as its reason or its condition."""
    return request.kind == "rule" and len(before) >= _LEAST_REASON and states_something(before)


def _is_errand(request: Request) -> bool:
    """Whether a request is for this time only: an order for today, a thing not to be forgotten, a choice for now."""
    if request.kind != "remember":
        return bool(_THIS_TIME.search(request.content) or _ACCOUNT.match(request.content))
    if _OF_DATA.match(request.content):
        return True
    if "忘れ" in request.phrase and request.content and not request.points and not _STATEMENT_JA.search(request.content):
        return True
    return bool(_FORGET.search(request.phrase) and ONE_OFF.search(request.content))


def _apply(rules: Sequence[RequestRule], text: str) -> Request | None:
    for rule in rules:
        match = rule.match(text)
        if match:
            topic = match.groupdict().get("topic") or ""
            return Request(f"{topic}{match['content'] or ''}".strip(), rule.kind, match["phrase"].strip())
    return None
