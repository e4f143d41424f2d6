"""Sentences that only say that something holds for good: "every time, not just today", 「毎回ね」. Pure."""

import re

from omoide.learning.patterns import any_of, lazy_pattern, listed, phrases

_LONGEST = 80
"""Characters of such a sentence."""
_NOT_ONCE = any_of(
    r"(?:and )?(?:not|isn'?t) (?:just|only) (?:for |in |on )?(?:today|now|once|here|(?:this|that) (?:time|one|once|pr|"
    r"task|file|change|session|\w+))",
    "(?:今回|今日|今|これ|ここ|この(?:PR|件|ファイル|セッション|作業|タスク))(?:だけ|限り|のみ|に限ら|に限った)(?:の?話|"
    "こと)?(?:じゃ|では|や|で)?(?:なく|ない|ず|あらへん)(?:て|に)?",
)
_SAID_BEFORE = any_of(
    r"(?:and |but )?(?:I(?:'ve| have)?|we(?:'ve| have)?) (?:already )?(?:told|said|explained|mentioned|shown|"
    r"asked)\b[^.!?]{0,30}\b(?:before|twice|again|already|times|last (?:time|week)|"
    r"yesterday|often enough)",
    r"how (?:often|many times) (?:do|must|have) I[^.!]{0,40}|don'?t make me (?:say|repeat|tell)[^.!?]{0,30}|I (?:won'?t|"
    r"will not|don'?t want to) (?:say|repeat|tell)[^.!?]{0,30}again|"
    r"for the last time",
    "(?:何度|何回|なんべん|何遍|いつ|さっき|前|この前|以前)(?:も|から)?(?:言(?:わせ|った|って|えば|うた)|伝えた|"
    "お願いした|注意した)[^。]{0,14}",
)
"""A sentence that complains of having said something before."""
_CORE = any_of(
    _NOT_ONCE,
    _SAID_BEFORE,
    r"\b"
    + listed("""
        final, (?:that'?s |it'?s )?(?:final|decided|settled)(?: now)?, (?:a )?done deal, non-negotiable
        ever, never, period, full stop, end of (?:story|discussion), no matter what, whatever happens
        every (?:single )?one(?: of them)?, all of them, each of them
        always, every (?:single )?time, each (?:and every )?time
        from (?:now|here|today) on(?:wards?)?, going forward, in (?:the )?future
        forever, for good, permanently, no exceptions?, without exceptions?, everywhere, until further notice, henceforth
        as a (?:general )?rule, for all (?:future|coming|new) \\w+
        in (?:all|every|any) (?:\\w+ )?(?:sessions?|conversations?|projects?|repos?|tasks?)
    """)
    + r"\b",
    "(?:今後|これから|この先|以後|次から|次回から|次回以降|以降|今度から)[はも]?(?:ずっと|全部|すべて)?",
    *(
        "絶対に?|必ず|どんな(?:とき|時|場合)(?:も|でも)|いかなる場合も|何があっても|いつでも",
        "毎回|毎度|いつも|常に|つねに|永久に|恒久的に|永続的に|ずっと",
        "例外(?:は|も)?(?:一切)?(?:なし|なく|ない|ありません|認め(?:ません|ない|ん))",
    ),
)
_FILLER = any_of(
    r"\b"
    + listed("""
        and, so, please, pls, thanks, ok(?:ay)?, yes, no, that, this, it, too, really, i mean, same, applies, goes, for, to
        the, is, a, rule
    """)
    + r"\b",
    "(?:(?:し|やっ|守っ|続け|従っ)て(?:(?:もらえ|いただけ|くれ)(?:ると|たら|れば)?(?:助か|嬉し|うれし|"
    "ありがた)[^、。]{0,4}|ください|ほしい(?:です)?)?|(?:い|行)(?:く|こう|きます|きましょう)|"
    "従って|守って|徹底|運用)",
    "(?:いい|わかった|分かった|了解|OK|ok|いいです|よろしく|よろしい)(?:です)?[かね？?]*",
    "(?:お願い(?:し|いたし)?(?:ます|ね)?|頼(?:む|みます|んだ)|よろしく|そう|これ|それ|この(?:形|やり方|ルール)|その(?:形|"
    "やり方|ルール)|同じ|同様に?|全部|すべて)",
    "(?:です|だよ|やで|やねん|して|だ|や|[はもでねよなにのが、。！!〜～…,.! :;—–-])",
)
_FOR_GOOD, _ONLY_FOR_GOOD = phrases(_CORE), lazy_pattern(rf"(?:{_CORE}|{_FILLER})++$", re.I)


def is_for_good(sentence: str) -> bool:
    """Whether a sentence says nothing but that what was said before it holds for good."""
    return len(sentence) <= _LONGEST and bool(_FOR_GOOD.search(sentence)) and bool(_ONLY_FOR_GOOD.match(sentence))
