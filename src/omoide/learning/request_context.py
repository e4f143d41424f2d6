"""What a request asks to keep: its own words, and the sentences next to it that belong to them. Pure."""

import re

from omoide.learning.english_requests import FROM_NOW
from omoide.learning.japanese_requests import FROM_NOW_JA, LEAD_JA
from omoide.learning.passages import (
    Sentence,
    leans_back,
    list_after,
    statements_after,
    statements_before,
    states_something,
)
from omoide.learning.patterns import any_of, lazy_pattern, phrases
from omoide.learning.request_rule import Request
from omoide.learning.sentences import is_question

LEAST = 3
"""Characters that are left to keep; less is no statement."""
_SHORT, _SHORT_JA, _LONG_JA, _TERSE_JA = 9, 24, 40, 28
"""Words and characters of a content that may say little by itself."""
_TOPIC_JA = lazy_pattern("[はがを]")
_LEANS = phrases(
    r"\b(?:that|it|them|this|these|those|so|the same)\b",
    "(?:これ|それ|[こそ]の(?:形式|形|前提|ルール|やり方|条件|方針|書き方|順番|順|通り|とおり|表記|名前|つもり|認識|点)|"
    "同じ(?:形|よう|やり方|形式))(?:を|に|で|は|も)",
    "(?:考慮|意識|注意|配慮|留意|踏まえ|合わせ|従っ|守っ|反映)(?:し)?て[^、。]{0,10}[。！!]*$",
    "^(?:今後|以後)?(?:は|も)?、?(?:そう|そちら|それ|これ|その|この|こう|同じ|同様|いつもこれ|毎回これ)",
    "(?:これ|それ)$|(?:そう|そのように|同じように|同様に)(?:し|やっ|お願い|頼)[^、。]{0,12}[。！!]*$",
    "例外なし|省略不可",
)
_LEANS_ON_PERSON = phrases(
    r"\b(?:him|her|them|there)\b[.!]*$",
    "(?:彼女?|あの人|その人|そちら|そっち|あちら|そこ|あそこ)(?:宛|向け|で|も|に|へ|の|を|が|は|経由)",
)
"""Words for somebody or something that the sentence before it names."""
_IS_REASON = lazy_pattern("(?:ので|から|ため|よう|んで|けど|が、)")
_REASON_INSIDE = lazy_pattern("(?:ので|から|んで|ため|けど|し)(?:、|$)")
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
    r"|^(?:どんな|どの|いかなる|すべての|全ての|あらゆる)[^、。はが]{0,12}(?:とき|時|場合|場面|際|作業|セッション|"
    r"で)(?:に|で)?も*$"
    r"|^[^。はが]{0,20}の$|^[^、。はがを]{1,8}(?:な|しい|べき)$|^(?:とても|すごく|非常に)?(?:大事|重要|大切)な(?:こと|点|"
    r"話)$"
    r"|^(?:今後|これから|以後)?の?(?:[^、。]{0,12}の)?(?:前提|参考|基準|標準|ルール|方針|決まり|デフォルト)(?:に|"
    r"と)(?:して|しておいて|"
    r"お願い|扱って|します|する|しましょう)[^、。]{0,8}[。！!]?$"
    r"|^(?:も|は)?(?:ずっと|毎回|いつも|常に|全部|すべて|この先も?|今後も?)(?:これ|それ|そう|この[^、。]{1,6}|"
    r"その[^、。]{1,6})?(?:で|です|だよ?|に)?(?:す|して)?"
    r"(?:頼む|頼みます|お願いします|よろしく)?[ねよ。！!]*$"
    r"|^(?:後|あと)で(?:また)?(?:使う|必要|要る|聞く|参照する)$"
    r"|^(?:これ|それ)[はがも]?(?:鉄則|大事|重要|大切|ルール|決まり|必須)(?:です|なので|だから)?[。！!]?$"
    r"|^the (?:new|correct|right|updated|above) (?:one|value|name|number|address|rule|setting)(?:,? please)?[.!]*$"
    r"|^(?:this|that|it|these|those|them|both|all (?:of )?(?:this|that|it|these)|the following|everything)"
    r"(?:,? (?:please|pls|too|well|ok(?:ay)?|again|this time|for (?:me|later|next time|the future)|from now "
    r"on))*(?:[.!:]*$|[,;—–]\s)"
    r"|^(?:that|this|it)(?:'s| is) (?:a|an|the|our|really|very|so)? ?(?:\w+ )?(?:rule|policy|must|important|"
    r"convention|requirement|"
    r"key|crucial)[.!]*$"
    rf"|^{LEAD_JA}$"
    rf"|^{any_of('これ', 'それ', 'あれ', 'このこと', 'そのこと', '以下', '次のこと', '上記', '[こそ]の件')}[:：。、]*$",
    re.I,
)
_POINTS = phrases(
    "(?:以後|今後|これから|必ず|ちゃんと|しっかり)?[、は]?(?:(?:その|この)(?:前提|つもり|方針|認識|ルール|形|やり方|"
    "決まり|規約)(?:で|に(?:従|沿|則)って)"
    "[^、。をはが]{0,20}|(?:徹底|厳守|遵守|順守)(?:し|を|で|の)?[^、。をはが]{0,16})[。！!]*$",
    "(?:これ|それ|ここ)[はがも]?[^、。はがを]{0,6}(?:恒久|永久|永続|固定|絶対|鉄則|ルール|決まり|約束|原則|"
    "方針)[^、。はがを]{0,6}$",
    "(?:の[^、。]{0,10}(?:では|でも|も|は))?(?:これ|それ|[こそ]の[^、。はがを]{1,6})[はをも](?:毎回|必ず|ずっと|常に|"
    "絶対に?)?"
    "(?:(?:守|続け|徹底|適用)[^、。はがを]{0,14})?[。！!]*$",
    "(?:これ|それ|ここ)[はをも]?[^、。はがを]{0,8}として$",
    "(?:今|いま|さっき|先ほど|上[でに]|前に|以前|昨日)[^、。はがを]{1,8}(?:こと|内容|話|件|点)[はをも]?(?:全部|すべて|"
    "全て)?$",
    r"(?:and |so )?(?:please |pls )?(?:act|behave|work|proceed|plan|answer) accordingly[.!]*$",
    r"(?:and |so )?(?:please |pls )?keep (?:doing|to|at) (?:it|that|this|so)(?: like (?:that|this))?[.!]*$",
    r"(?:and |so )?(?:I|we) (?:\w+ )?(?:expect|want|need|'?d like|would like|ask|trust) (?:you|us|everyone) to (?:\w+ )?"
    r"(?:follow|respect|observe|honou?r|stick to|adhere to|keep to|obey|comply with|apply|live by|do|use) "
    r"(?:this|that|it|these|those|them|so|the same)(?: \w+){0,2}[.!]*$",
)
"""A content that says that a statement holds, which is another one."""
_ANNOUNCES = lazy_pattern(
    "^(?:今から|これから|以下|次)[^。]{0,20}(?:こと|内容|点|話|前提|ルール|決まり|方針|約束)(?:を[^、。]{0,20}|です|だ|"
    "になります)?[。！!]*$|^[^、。はがを]{0,8}(?:決めごと|決め事|決まりごと|決まり|ルール|約束|取り決め|"
    "覚えておいて(?:ほしい|"
    "欲しい)こと)(?:の?追加)?(?:です|が?あります|ね|を)?[。！!]*$"
)
"""A sentence that says that a rule follows in the next one."""
_MOST_RULED = 3
"""Sentences before a rule by which it is said: a short one or a reason needs the one before it."""
_REASON_END = lazy_pattern("(?:ので|から|んで|ため)[。！!ねよ]*$")
_STOPS = " .!?。！？、,)）"
_CASE = phrases(
    r"(?:in|for) (?:that|this|such a|those) cases?\b",
    r"(?:the )?same (?:goes|applies|holds)\b",
    r"(?:so|therefore|hence|that means|which means|in other words),? (?!please|pls|from|in future|always|never|remember|"
    r"note|keep)",
    "(?:なので|だから|ですから|そのため|したがって|従って|つまり|要するに|ゆえに|よって)",
    "[そこ]の(?:場合|とき|時|際|(?:ルール|方針|決まり|運用|仕様|設定|やり方)[はをも])",
)
"""The beginning of a statement that says nothing without the sentence before it."""


def collect_content(
    request: Request, sentences: list[Sentence], requests: list[Request | None], place: int, used: set[int]
) -> str:
    """What a request asks to keep, with the sentences that belong to it; `used`: those that are kept, to which it adds."""
    sentence = sentences[place].text
    used.add(place)
    content = sentence if request.kind == "decision" else request.content
    before: list[int] = []
    after: list[int] = []
    if _announces(content, sentence, sentences, place):
        after = list_after(sentences, place)
        content = "" if is_pointer(content) or content.endswith((":", "：")) else content
    elif request.points or len(content) < LEAST or is_pointer(content):
        is_rule = request.points and request.kind == "rule"
        content = content if request.points and not is_pointer(content) else ""
        before, after = _find_rule(sentences, place) if is_rule else _find_pointed(sentences, place)
        if not before:
            after = statements_after(sentences, place)
        if used.intersection(before):
            return ""  # it points to what a sentence before it asks for
    else:
        if _is_terse(request, content):
            before = [at for at in _find_rule(sentences, place)[0] if at not in used]
        elif _CASE.match(content) or _leans_on(sentences, place, content):
            before = [at for at in statements_before(sentences, place, 1) if at not in used]
        elif request.kind == "rule" and sentence.find(content) > _SHORT_JA // 2 and _leans(content):
            content = sentence  # it points to a clause before it
        after = [] if _ends_with_phrase(request, sentence) else statements_after(sentences, place)
    after = _until_request(requests, after)
    used.update(before, after)
    parts = (*(sentences[at].text for at in before), content, *(sentences[at].text for at in after))
    return " ".join(filter(None, parts))


def _ends_with_phrase(request: Request, sentence: str) -> bool:
    """Whether a sentence ends with the words that ask to remember it: what follows is mostly something else."""
    return request.kind == "remember" and sentence.rstrip(_STOPS).endswith(request.phrase.rstrip(_STOPS))


def _until_request(requests: list[Request | None], places: list[int]) -> list[int]:
    """The places before the first one that has a request of its own."""
    end = next((number for number, at in enumerate(places) if requests[at] is not None), len(places))
    return places[:end]


def _announces(content: str, sentence: str, sentences: list[Sentence], place: int) -> bool:
    """Whether what is to be kept follows as a list, or after a colon at the end."""
    if sentence.rstrip().endswith((":", "：")):
        return True
    is_list = place + 1 < len(sentences) and sentences[place + 1].is_item and not sentences[place].is_item
    return is_list and not (place and states_something(sentences[place - 1].text) and is_pointer(content))


def _find_pointed(sentences: list[Sentence], place: int) -> tuple[list[int], list[int]]:
    """The places of the statements before and after a request that points to them.

    A sentence before it that states nothing, such as an order, a greeting or a reason, gives way to one after it that does.
    """
    before = [] if _ANNOUNCES.match(sentences[place].text) else statements_before(sentences, place)
    if before:
        return before, []
    after = statements_after(sentences, place)
    if after or not place:
        return [], after or list(range(place + 1, min(place + 2, len(sentences))))
    return [place - 1], []


def _find_rule(sentences: list[Sentence], place: int) -> tuple[list[int], list[int]]:
    """The places of what words such as "every time" make a rule: the statement or the order before them, with its reason."""
    before: list[int] = []
    for at in range(place - 1, max(-1, place - 1 - _MOST_RULED), -1):
        text = sentences[at].text
        if is_question(text) and len(text) < _SHORT_JA // 2:
            continue  # 「わかった？」
        before.insert(0, at)
        if not leans_back(text) and not _REASON_END.search(text):
            break
    return before, []


def _leans_on(sentences: list[Sentence], place: int, content: str) -> bool:
    """Whether a content says little without the statement before it: it points to it, or is the reason to keep it.

    "Keep that in mind", 「また相談するので記憶して」: both are kept, because what is too much can be shortened.
    """
    if not place or not states_something(sentences[place - 1].text):
        return False
    is_reason = _IS_REASON.match(sentences[place].text.partition(content)[2]) or _REASON_INSIDE.search(content)
    return _leans(content) or bool(is_reason or _PURPOSE.match(content))


def _is_terse(request: Request, content: str) -> bool:
    """Whether a rule is so short that it may say little without the sentence before it: 「英数字オンリーで」."""
    return (
        request.kind == "rule"
        and not content.isascii()
        and len(content) <= _TERSE_JA
        and not _TOPIC_JA.search(tidy(content))
    )


def _leans(content: str) -> bool:
    is_short = len(content.split()) <= _SHORT if content.isascii() else len(content) <= _LONG_JA
    return (is_short and bool(_LEANS.search(content))) or bool(_LEANS_ON_PERSON.search(content))


def is_pointer(content: str) -> bool:
    """Whether a content states nothing by itself: "that", 「その前提で」, "I expect you to follow that convention"."""
    return bool(_POINTER.match(content) or _POINTS.match(content))


def tidy(content: str) -> str:
    """The statement without words that ask for it, or lead to it, at its beginning, and without a dangling particle."""
    content = _ENDING.sub("", _BEGINNING.sub("", content.strip()))
    return content.strip(" \t\n,、").removesuffix("を").strip()
