"""Requests to remember something: "remember that …", "from now on …", 「覚えておいて」「今後は」."""

import re
from collections.abc import Sequence
from itertools import islice

from omoide.compiled_patterns import load_pattern
from omoide.learning.english_requests import ENGLISH, FROM_NOW, NOT_ENGLISH
from omoide.learning.japanese_requests import ASK_JA, FROM_NOW_JA, JAPANESE, LEAD_JA, NOT_JAPANESE, REMEMBER_JA
from omoide.learning.patterns import any_of, lazy_pattern, phrases
from omoide.learning.quotations import hide_quotations
from omoide.learning.request_rule import ONE_OFF, Request, RequestRule
from omoide.learning.sentences import is_question, split_sentences, without_quotes

_LEAST = 3
"""Characters that are left to keep; less is no statement."""
_LONGEST = 600
"""Characters of the longest sentence that is looked at: a longer one is pasted, and no request."""
_MOST_LINES = 5
"""Lines of a list that follows "remember these:"."""

_ASKS_TO_REMEMBER = phrases(
    r"\b(?:can|could|would|will) you\b.*\b(?:from now on|going forward|always|in (?:the )?future|every time|"
    r"from here on|to come|at all times|in all (?:sessions|conversations|projects))\b",
    r"(?:今後|これから|以後|次から|次回から|毎回|今日から|必ず|常に|いつも|今度から|原則|ずっと).*(?:もらえ|いただけ|"
    r"頂け|くれ)(?:ますか|ませんか|る|"
    r"ない)[?？]?$",
    r"\b(?:can|could|would|will) you\b.*\b(?:remember|note|keep|save|memori|jot|write (?:this|that|it) down|hold on)",
    rf"{REMEMBER_JA}{ASK_JA}[?？]?$",
)
_ASKS_YOU = phrases(r"\b(?:can|could|would|will) you\b|\b(?:can|could|shall) we (?:\w+ )?agree\b")
_CONFIRMATION = lazy_pattern(r",?\s*(?:ok(?:ay)?|right|alright|got it|yeah|please)\?+\s*$", re.I)
"""The end of a request that only sounds like a question."""
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
_THIS_TIME = phrases(
    r"\b(?:for (?:this one|now|today|the moment|the time being)|(?:just|only) this (?:time|once))\b",
    "今回(?:は|"
    r"だけ)|とりあえず|ひとまず",
)
_TEXT_OF_TASK = phrases(
    r"(?:please |pls |can you |could you )*(?:translate|rephrase|reword|rewrite|proofread|summari[sz]e|print|echo|type|"
    r"grep)\b[^:]{0,60}:",
    "[^:：。]{0,30}(?:英訳|和訳|翻訳|校正|添削|要約|変換|清書|訳)し[^:：。]{1,10}[:：]",
)
"""A task whose text follows a colon: it is no word of the person."""
_ACCOUNT = phrases(
    r"(?:it|this|that|they|the [\w -]{1,30}?|my [\w -]{1,30}?) (?:\w+ )?(?:crash|fail|hang|throw|break|freez|stop|die|lag|"
    r"leak|misbehave|complain)(?:e?s|ing)?\b(?!.*\b(?:must|should|shall|please|always|never)\b)"
)
"""What has happened since some time: no order."""
_OF_DATA = phrases(
    r"of (?!(?:this|that|it|the fact)\b)[^:]*(?:\bthen\b|\b(?:how (?:long|many|much|often)|time|duration|results?|output|"
    r"values?|numbers?|counts?|errors?|differences?|timings?)\b)"
)
"""What one takes a note of for the task at hand: a time, a number, a result."""
_STATEMENT_JA = lazy_pattern("[はが]|です|ます|[うくぐすつぬぶむるい]$")
_FORGET = phrases("forget", "^remember$", "忘れ")
_CLAUSE = lazy_pattern(r"[,;:—–]\s+|\s+(?:and|but|so)\s+|[、：]\s*", re.I)
"""Where a part of a sentence begins that may ask for something by itself."""
_MOST_CLAUSES = 10
_SHORT, _SHORT_JA = 9, 24
"""Words and characters of a content that may say little by itself."""
_LEANS = phrases(
    r"\b(?:that|it|them|this|these|those|so|the same)\b",
    "^(?:今後|以後)?(?:は|も)?、?(?:そう|そちら|それ|これ|その|この|こう|同じ|同様|いつもこれ|毎回これ)",
    "(?:これ|それ)$",
    "^(?:例外なし|省略不可)",
)
_GOES_ON = phrases("^(?:Not |Nobody |No one |No exceptions|Never |どんな|例外|省略|ただし)")
"""The beginning of a sentence that belongs to the rule before it."""
_IS_REASON = lazy_pattern("(?:ので|から|ため|よう)")
_PURPOSE = lazy_pattern(r"so (?:that )?(?:it|I|we|you|nobody|no one)\b", re.I)
_BEGINNING = lazy_pattern(
    r"^(?:(?:that|to)\s+|something:\s+|は、?|[、,:：]\s*|ちなみに|なお|今後[はも]?(?=\S)|(?:以後|これから|次から|"
    r"次回から)[はも](?=\S)"
    rf"|{LEAD_JA}、\s*|(?:{FROM_NOW_JA}|{FROM_NOW})[、,\s]+(?=\S))+",
    re.I,
)
_ENDING = lazy_pattern("、と$|、(?:これ|それ|この件|その点)[もをは]?$")
_POINTER = lazy_pattern(
    r"^(?:今後)?(?:ずっと|同じ|同様|そのように|そう)[^、。]{0,6}[。！!]?$"
    r"|^(?:今後も?)?(?:ずっと)?(?:それ|これ|[こそ]の(?:形|やり方|値|設定|方針|ルール|名前|上限|順番))(?:で|に)(?:頼|"
    r"お願い|いき|いく|よろしく|"
    r"統一)?[^、。]{0,6}[。！!]?$"
    r"|^(?:さっき|先ほど|先程|この前|さきほど|今|いま|昨日|上|前)の(?:件|話|こと|点|内容|やつ)[はをも]?$"
    r"|^(?:その|この)(?:つもり|前提|方針|認識|ルール|形|やり方)で(?:お願い(?:します)?|よろしく|いきます|"
    r"いきましょう)?[ねよ。！!]*$"
    r"|^(?:今後|これから|次回?)?の?(?:ため|参考|備忘|念のため)(?:に|まで|として|までに)*$"
    r"|^[^。はが]{0,20}の$|^(?:とても|すごく|非常に)?(?:大事|重要|大切)な(?:こと|点|話)$"
    r"|^(?:今後|これから|以後)?の?(?:[^、。]{0,12}の)?(?:前提|参考|基準|標準|ルール|方針|決まり|デフォルト)(?:に|と)(?:して|しておいて|"
    r"お願い|扱って|します|する|しましょう)[^、。]{0,8}[。！!]?$"
    r"|^(?:も|は)?(?:ずっと|毎回|いつも|常に|全部|すべて|この先も?|今後も?)(?:これ|それ|そう|この[^、。]{1,6}|"
    r"その[^、。]{1,6})?(?:で|です|だよ?|に)?(?:す|して)?"
    r"(?:頼む|頼みます|お願いします|よろしく)?[ねよ。！!]*$"
    r"|^(?:後|あと)で(?:また)?(?:使う|必要|要る|聞く|参照する)$"
    r"|^(?:これ|それ)[はがも]?(?:鉄則|大事|重要|大切|ルール|決まり|必須)(?:です|なので|だから)?[。！!]?$"
    r"|^the (?:new|correct|right|updated|above) (?:one|value|name|number|address|rule|setting)(?:,? please)?[.!]*$"
    rf"|^{any_of('this', 'that', 'it', 'these', 'those', 'them', 'the following', 'everything')}"
    r"(?:,? (?:please|pls|too|well|ok(?:ay)?|for (?:me|later|next time|the future)|from now on))*(?:[.!:]*$|[,;—–]\s)"
    r"|^(?:that|this|it)(?:'s| is) (?:a|an|the|our|really|very|so)? ?(?:\w+ )?(?:rule|policy|must|important|"
    r"convention|requirement|"
    r"key|crucial)[.!]*$"
    rf"|^{any_of('これ', 'それ', 'あれ', 'このこと', 'そのこと', '以下', '次のこと', '上記', '[こそ]の件')}[:：。、]*$",
    re.I,
)
_POINTS = phrases(
    "(?:以後|今後|これから|必ず|ちゃんと|しっかり)?[、は]?(?:(?:その|この)(?:前提|つもり|方針|認識|ルール|形|やり方|決まり|規約)(?:で|に(?:従|沿|則)って)"
    "[^、。をはが]{0,20}|(?:徹底|厳守|遵守|順守)(?:し|を|で|の)?[^、。をはが]{0,16})[。！!]*$",
    "(?:これ|それ|ここ)[はがも]?[^、。はがを]{0,6}(?:恒久|永久|永続|固定|絶対|鉄則|ルール|決まり|約束|原則|方針)[^、。はがを]{0,6}$",
    "(?:の[^、。]{0,10}(?:では|でも|も|は))?(?:これ|それ|[こそ]の[^、。はがを]{1,6})[はをも](?:毎回|必ず|ずっと|常に|絶対に?)?"
    "(?:(?:守|続け|徹底|適用)[^、。はがを]{0,14})?[。！!]*$",
    "(?:これ|それ|ここ)[はをも]?[^、。はがを]{0,8}として$",
    "(?:今|いま|さっき|先ほど|上[でに]|前に|以前|昨日)[^、。はがを]{1,8}(?:こと|内容|話|件|点)[はをも]?(?:全部|すべて|全て)?$",
    r"(?:and |so )?(?:please |pls )?(?:act|behave|work|proceed|plan|answer) accordingly[.!]*$",
    r"(?:and |so )?(?:please |pls )?keep (?:doing|to|at) (?:it|that|this|so)(?: like (?:that|this))?[.!]*$",
    r"(?:and |so )?(?:I|we) (?:\w+ )?(?:expect|want|need|'?d like|would like|ask|trust) (?:you|us|everyone) to (?:\w+ )?"
    r"(?:follow|respect|observe|honou?r|stick to|adhere to|keep to|obey|comply with|apply|live by|do|use) "
    r"(?:this|that|it|these|those|them|so|the same)(?: \w+){0,2}[.!]*$",
)
"""A content that says that a statement holds, which is another one."""
_ANNOUNCES = lazy_pattern(
    "^(?:今から|これから|以下|次)[^。]{0,20}(?:こと|内容|点|話|前提|ルール|決まり|方針|約束)(?:を[^、。]{0,20}|です|だ|"
    "になります)?[。！!]*$|^[^、。はがを]{0,8}(?:決めごと|決め事|決まりごと|決まり|ルール|約束|取り決め|覚えておいて(?:ほしい|"
    "欲しい)こと)(?:の?追加)?(?:です|が?あります|ね|を)?[。！!]*$"
)
"""A sentence that says that a rule follows in the next one."""
_NO_STATEMENT = phrases(
    r"^(?:ok(?:ay)?|thanks|thank you|thx|great|nice|cool|perfect|hi|hello|hey|good|sorry|done|yes|no|right|sure)\b"
    r"[^,:;]{0,30}$",
    r"^(?:please |pls |can you |could you |now |also |then |and )*(?:fix|add|write|run|check|update|remove|delete|rename|"
    r"look|show|explain|make|create|implement|refactor|change|move|deploy|review|test|commit|push|merge|open|find)\b",
    "(?:て|で)(?:ください|下さい|ほしい(?:です)?|欲しい(?:です)?|くれ(?:る|ます)?|もらえ(?:る|ます)?|おいて)?[ねよか。！!]*$",
    "(?:ありがとう|お疲れ|おつかれ|すみません|了解|おはよう|こんにちは|よろしく)[^、はが]{0,14}$",
    "(?:書い|言っ|残し|伝え)(?:て(?:おく|おきます)|とく|ときます)[^、。]{0,6}[。！!]*$",
)
"""An order, a greeting, or a sentence that something will be said."""
_LATIN, _JAPANESE_TEXT = load_pattern("[A-Za-z]{2}"), load_pattern("[ぁ-ゖァ-ヺ一-鿿]")
_CASE = phrases(
    r"(?:in|for) (?:that|this|such a|those) cases?\b",
    r"(?:the )?same (?:goes|applies|holds)\b",
    "[そこ]の(?:場合|とき|時|際|(?:ルール|方針|決まり|運用|仕様|設定|やり方)[はをも])",
)
"""The beginning of a statement that says nothing without the sentence before it."""


def find_requests(text: str) -> list[Request]:
    """Return what a person's message asks to keep, in order: each statement without the words that ask for it.

    A decision is kept as it was said. Questions, and sentences about remembering, ask for nothing.
    """
    found: dict[str, Request] = {}
    asked: set[int] = set()
    text, restore = hide_quotations(without_quotes(text))
    sentences = split_sentences(text)
    for place, sentence in enumerate(sentences):
        request = _match(sentence)
        if request is None:
            continue
        content = sentence if request.kind == "decision" else request.content
        if len(content) < _LEAST or content.endswith((":", "：")) or _is_pointer(content):
            if place and place - 1 in asked:
                continue  # it points to what the sentence before asks for
            content = _neighbour(sentences, place)
        elif place and (_CASE.match(content) or _leans_on(sentences[place - 1], content, sentence)):
            content = f"{sentences[place - 1]} {content}"
        elif request.kind == "rule" and sentence.find(content) > _SHORT_JA // 2 and _leans(content):
            content = sentence  # it points to a clause before it
        if place + 1 < len(sentences) and _GOES_ON.match(sentences[place + 1]):
            content = f"{content} {sentences[place + 1]}"
        asked.add(place)
        content = restore(_tidy(content))
        if len(content) >= _LEAST:
            found.setdefault(content, request._replace(content=content))
    return list(found.values())


def _leans_on(before: str, content: str, sentence: str) -> bool:
    """Whether a content says little without the statement before it: it points to it, or is the reason to keep it.

    "Keep that in mind", 「また相談するので記憶して」: both are kept, because what is too much can be shortened.
    """
    if _states_nothing(before):
        return False
    return _leans(content) or bool(_IS_REASON.match(sentence.partition(content)[2]) or _PURPOSE.match(content))


def _leans(content: str) -> bool:
    is_short = len(content.split()) <= _SHORT if content.isascii() else len(content) <= _SHORT_JA
    return is_short and bool(_LEANS.search(content))


def _match(sentence: str) -> Request | None:
    if len(sentence) > _LONGEST or _TEXT_OF_TASK.match(sentence) or NOT_JAPANESE.search(sentence):
        return None
    request = _find(_CONFIRMATION.sub("", sentence))
    return None if request is None or _is_errand(request) else request


def _find(sentence: str) -> Request | None:
    """The request of a sentence: first by acts of keeping in Japanese, then by rules, then by standing orders."""
    is_japanese = bool(_JAPANESE_TEXT.search(sentence))
    kept = _find_keeping_ja(sentence) if is_japanese else None
    if kept is not None:
        return kept
    sentence = _without_task(sentence)
    is_english = bool(_LATIN.search(sentence)) and not NOT_ENGLISH.search(sentence)
    if is_question(sentence) and not _ASKS_TO_REMEMBER.search(sentence.rstrip("。 ")):
        return _find_keeping(sentence) if is_english and _ASKS_YOU.search(sentence) else None
    request = _apply_rules(sentence, is_japanese=is_japanese, is_english=is_english)
    if request is not None and request.kind == "remember" and is_japanese and _is_order_about_data(sentence):
        return None
    if is_english and (request is None or not request.content or _is_pointer(request.content)):
        request = _find_keeping(sentence) or request
    if request is None and is_japanese:
        request = _find_standing_ja(sentence)
    return _find_standing(sentence) if request is None and is_english else request


def _without_task(sentence: str) -> str:
    """The statement of a sentence that ends with a task in the form of a question; else the sentence."""
    statement = _POLITE_TASK.sub("", sentence)
    is_statement = len(statement) > _LEAST and not is_question(statement) and not _ASKING_START.match(statement)
    return statement if is_statement else sentence


def _apply_rules(sentence: str, *, is_japanese: bool, is_english: bool) -> Request | None:
    rules: Sequence[RequestRule] = (*(JAPANESE if is_japanese else ()), *(ENGLISH if is_english else ()))
    request = _apply(rules, sentence)
    if request is None:
        request = _match_clause([rule for rule in rules if rule.kind != "decision"], sentence)
    return request


def _find_keeping(sentence: str) -> Request | None:
    from omoide.learning.keeping_english import find_keeping  # lazy: its patterns take long to compile

    return find_keeping(sentence)


def _find_keeping_ja(sentence: str) -> Request | None:
    from omoide.learning.keeping_japanese import find_keeping_ja  # lazy: its patterns take long to compile

    return find_keeping_ja(sentence)


def _is_order_about_data(sentence: str) -> bool:
    from omoide.learning.keeping_japanese import is_order_about_data  # lazy: its patterns take long to compile

    return is_order_about_data(sentence)


def _find_standing(sentence: str) -> Request | None:
    from omoide.learning.standing_english import find_standing  # lazy: its patterns take long to compile

    return find_standing(sentence)


def _find_standing_ja(sentence: str) -> Request | None:
    from omoide.learning.standing_japanese import find_standing_ja  # lazy: its patterns take long to compile

    return find_standing_ja(sentence)


def _match_clause(rules: Sequence[RequestRule], sentence: str) -> Request | None:
    for boundary in islice(_CLAUSE.finditer(sentence), _MOST_CLAUSES):
        request = _apply(rules, sentence[boundary.end() :])
        if request is not None:
            before = sentence[: boundary.start()]
            is_pointer = _is_pointer(request.content) or (request.kind == "rule" and not request.content)
            return request._replace(content=before) if is_pointer and len(before) > _LEAST else request
    return None


def _is_pointer(content: str) -> bool:
    """Whether a content states nothing by itself: "that", 「その前提で」, "I expect you to follow that convention"."""
    return bool(_POINTER.match(content) or _POINTS.match(content))


def _is_errand(request: Request) -> bool:
    """Whether a request is for this time only: an order for today, a thing not to be forgotten, a choice for now."""
    if request.kind != "remember":
        return bool(_THIS_TIME.search(request.content) or _ACCOUNT.match(request.content))
    if _OF_DATA.match(request.content):
        return True
    if "忘れ" in request.phrase and request.content and not _STATEMENT_JA.search(request.content):
        return True
    return bool(_FORGET.search(request.phrase) and ONE_OFF.search(request.content))


def _apply(rules: Sequence[RequestRule], text: str) -> Request | None:
    for rule in rules:
        match = rule.match(text)
        if match:
            topic = match.groupdict().get("topic") or ""
            return Request(f"{topic}{match['content'] or ''}".strip(), rule.kind, match["phrase"].strip())
    return None


def _neighbour(sentences: list[str], place: int) -> str:
    """The statement that a request points to: the lines after a colon, else the sentence before it, else the next one.

    A sentence before it that states nothing, such as an order, a greeting or a reason, gives way to one after it that does.
    """
    if sentences[place].rstrip().endswith((":", "：")):
        return " ".join(sentences[place + 1 : place + 1 + _MOST_LINES])
    before = sentences[place - 1] if place else ""
    after = sentences[place + 1] if place + 1 < len(sentences) else ""
    if after and (_ANNOUNCES.match(sentences[place]) or not before):
        return after
    return after if after and _states_nothing(before) and not _states_nothing(after) else before


def _states_nothing(sentence: str) -> bool:
    return is_question(sentence) or _is_pointer(sentence) or bool(_NO_STATEMENT.search(sentence))


def _tidy(content: str) -> str:
    """The statement without words that ask for it, or lead to it, at its beginning, and without a dangling particle."""
    content = _ENDING.sub("", _BEGINNING.sub("", content.strip()))
    return content.strip(" \t\n,、").removesuffix("を").strip()
