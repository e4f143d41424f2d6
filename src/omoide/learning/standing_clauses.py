"""Sentences that only say that something holds for good: "every time, not just today", 「毎回ね」. Pure."""

import re

from omoide.learning.patterns import any_in_list, any_of, lazy_pattern, phrases

_LONGEST = 80
"""Characters of such a sentence."""
_NOT_ONCE = any_of(
    r"(?:and )?(?:not|isn'?t) (?:just|only) (?:for |in |on )?(?:today|now|once|here|(?:this|that) (?:time|one|once|pr|"
    r"task|file|change|session|\w+))",
    "(?:今回|今日|今|これ|ここ|この(?:PR|件|ファイル|セッション|作業|タスク))(?:だけ|限り|のみ|に限ら|に限った)(?:の?話|"
    "こと)?(?:じゃ|では|や|で)?(?:なく|ない|ず|あらへん)(?:て|に)?",
)
_REPEATING = "(?:say|repeat|tell|explain|correct|remind|ask|mention|fix)"
COMPLAINT = any_of(
    rf"how (?:often|many times) (?:do|did|must|have) I[^.!?:,]{{0,40}}|don'?t make me {_REPEATING}[^.!?:,]{{0,30}}",
    rf"I (?:won'?t|will not|don'?t want to|shouldn'?t have to) (?:keep )?{_REPEATING}(?:ing)?\b[^.!?:,]{{0,30}}\b(?:again|"
    rf"twice)",
    rf"I(?:'m| am)? (?:keep|hate|tired of|sick of|fed up with) (?:having to )?{_REPEATING}(?:ing)?\b[^.!?:,]{{0,30}}",
    r"you (?:always|constantly|(?:just )?keep(?: on)?) (?:forget|get|mix|miss|ignor|overlook)\w*(?: (?:this|that|it|about|"
    r"wrong|up|one|rule)){0,3}",
    r"for the (?:last|umpteenth|hundredth|nth|third) time",
)
"""A complaint of having to say something again."""
COMPLAINT_JA = (
    "(?:前|以前|この前|先日)(?:に|から)?も(?:言っ|伝え|お伝えし|お願いし|申し上げ|注意し)[^、。]{0,14}|"
    "(?:何度|何回|なんべん|何遍|毎回|毎度|いつ|しつこく|繰り返し)(?:も|から)?(?:同じ(?:こと|話)(?:を|ばかり)?)?、?"
    "(?:言(?:わせ|わす|った|って|えば|うた|う(?:けど|が)|います?が)|伝え(?:た|て)|お願いし(?:た|て)|注意し(?:た|て)|"
    "指摘し(?:た|て)|申し上げ(?:た|て))[^、。]{0,14}|(?:毎回|毎度|いちいち|いつも|何度も)"
    "(?:直す|言う|説明する|修正する|戻す|消す|訂正する|伝える|書き直す|指摘する)(?:の(?:が|は|も)|手間が)[^、。]{0,16}"
)
_SAID_BEFORE = any_of(
    r"(?:and |but )?(?:I(?:'ve| have)?|we(?:'ve| have)?) (?:already )?(?:told|said|explained|mentioned|shown|"
    r"asked)\b[^.!?]{0,30}\b(?:before|twice|again|already|times|last (?:time|week)|"
    r"yesterday|often enough)",
    COMPLAINT,
    f"{COMPLAINT_JA}|(?:さっき|前|この前|以前)(?:に|から)?(?:も)?(?:言(?:った|って|うた)|伝えた|お願いした|"
    f"注意した)[^。]{{0,14}}",
)
"""A sentence that complains of having said something before."""
ALWAYS_JA = any_of(
    "ずっと|毎(?:回|度|週|月|日|朝|晩|年|期|次|号)|いつも|常に|つねに|いつだって|いつでも|いつまでも|永久に|永遠に|"
    "恒久的に|永続的に",
    "未来永劫|金輪際|一生|例外なく|何があっても|ぜ+[っッ]*たい(?:に)?|絶(?:っ)*対に?|必ず|全部",
    "(?:どんな|どの|いかなる|あらゆる|すべての|全ての|全部の)[^、。はがを]{1,8}(?:でも|にも|も|で|には)",
    "(?:次|次回|別|他|ほか|今後|以後|この先|将来)の[^、。はがを]{1,8}(?:(?:で|に|から)も|以降[はも]?|も(?=全部|すべて|"
    "同じ|同様))",
    "(?:次|次回|今後|以後)の(?:セッション|会話|作業|タスク|依頼|回)(?:から|以降)?[は]?",
)
"""Words that say that something holds each time."""
_CORE = any_of(
    _NOT_ONCE,
    _SAID_BEFORE,
    r"\b"
    + any_in_list("""
        (?:won'?t|will (?:not|never)|isn'?t going to|doesn'?t|never) (?:ever )?changes?
        not (?:up for (?:debate|discussion)|negotiable|optional)
        final, (?:that'?s |it'?s )?(?:final|decided|settled)(?: now)?, (?:a )?done deal, non-negotiable
        ever, never, period, full stop, end of (?:story|discussion), no matter what, whatever happens
        every (?:single )?one(?: of them)?, all of them, each of them
        always, every (?:single )?time, each (?:and every )?time
        from (?:now|here|today) on(?:wards?)?, going forward, in (?:the )?future
        forever, for good, permanently, no exceptions?, without exceptions?, everywhere, until further notice, henceforth
        (?:now|today|here) and (?:later|forever|always|everywhere|every (?:day|time)|in (?:the )?future)
        as a (?:general )?rule, for all (?:future|coming|new) \\w+
        in (?:all|every|any) (?:\\w+ )?(?:sessions?|conversations?|projects?|repos?|tasks?)
    """)
    + r"\b",
    f"(?:今後|これから|この先|以後|次から|次回から|次回以降|以降|今度から)[はも]?(?:ずっと|全部|すべて)?|{ALWAYS_JA}",
    *(
        "(?:[こそ]の(?:ルール|やり方|形|方針|順番|設定|値|名前)?(?:で|を|に|は)?)?(?:固定|厳守|徹底)(?=[。！!でねだよし]|$)",
        (
            "(?:みんな|皆|全員|チーム|会議|話し合い|話し合って|うち)(?:で|が|の)?(?:決め|決ま)(?:った|た)?(?:こと|ルール|"
            "方針|"
            "もの)?(?=な?ので|だから|です|だ|な?んで|[。！!]|$)"
        ),
        "最後まで|お?間違(?:え|い|わ)(?:の)?(?:ないで|ないように|んといて|んようにな?|なきよう(?:に)?)",
        (
            "(?:もう|二度と|絶対に?|今後)*(?:迷い|変え|変更し|動かし|覆し|くつがえし|蒸し返し|議論し)(?:ません|ない)|"
            "変更(?:は)?(?:なし|"
            "ありません)|異論(?:は)?(?:なし|ありません)|(?:本|最終)?(?:決まり|決定|確定)(?=[。！!でねだよ]|$)"
        ),
        "例外(?:は|も)?(?:一切)?(?:なし|なく|ない|ありません|認め(?:ません|ない|ん))",
    ),
)
_FILLER = any_of(
    r"\b"
    + any_in_list("""
        and, so, please, pls, thanks, ok(?:ay)?, yes, no, that, this, it, too, really, i mean, same, applies, goes, for, to
        the, is, a, rule
    """)
    + r"\b",
    "(?:(?:し|やっ|守っ|続け|従っ)て(?:(?:もらえ|いただけ|くれ)(?:ると|たら|れば)?(?:助か|嬉し|うれし|"
    "ありがた)[^、。]{0,4}|ください|ほしい(?:です)?)?|(?:い|行)(?:く|こう|きます|きましょう)|"
    "従って|守って|徹底|運用)",
    "(?:いい|わかった|分かった|了解|OK|ok|いいです|よろしく|よろしい)(?:です)?[かね？?]*",
    "(?:お願い(?:し|いたし)?(?:ます|ね)?|頼(?:む|みます|んだ)|よろしく|そう|こう|[こそ](?:れ|っち|ちら)|[こそ]の(?:形式?|"
    "やり方|"
    "ルール|前提|方針|設定|順番?|方式|要領|書式|体裁|スタイル|基準)|前提|基準|同じ|同様に?|全部|すべて|禁止|厳禁|厳守|"
    "最終|です)",
    "(?:な?ので|だから|なんで|です|だよ|やで|やねん|して|だ|や|[はもでねよなにのが、。！!〜～…,.! :;—–-])",
)
_FOR_GOOD, _ONLY_FOR_GOOD = phrases(_CORE), lazy_pattern(rf"(?:{_CORE}|{_FILLER})++$", re.I)


def is_for_good(sentence: str) -> bool:
    """Whether a sentence says nothing but that what was said before it holds for good."""
    return len(sentence) <= _LONGEST and bool(_FOR_GOOD.search(sentence)) and bool(_ONLY_FOR_GOOD.match(sentence))
