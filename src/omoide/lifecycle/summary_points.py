"""What a sentence of a project's log says, and whether a summary needs it. Pure."""

import re
from enum import StrEnum

from omoide.learning.noise import is_progress
from omoide.learning.patterns import any_of, phrases
from omoide.learning.requests import find_requests
from omoide.learning.sentences import is_question
from omoide.learning.statements import StatementKind, classify, is_decision


class PointKind(StrEnum):
    """What a sentence says; the order is that of the sections of a summary."""

    DECISION = "decision"
    RULE = "rule"
    """A request, a preference or a convention: how things are to be done."""
    CAUSE = "cause"
    """Why something failed, and what repaired it."""
    FACT = "fact"
    """Something with a name, a number, a path, a version or a date."""
    REMARK = "remark"
    """Any other statement: it stays where there is room."""
    PROGRESS = "progress"
    """What was being done at that time: left out."""
    TALK = "talk"
    """Greetings, thanks, questions: left out."""


_MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*"
_DECISION = phrases(
    # What is to hold, or to be done, from a day on or until a day.
    rf"\b(?:by|from|until|till|starting|as of|effective|before|after|on) (?:\d{{4}}-\d|{_MONTH} \d|\d{{1,2}} {_MONTH}\b)",
    r"(?:\d日|\d{4}-\d\d-\d\d) ?"
    "(?:から|まで|までに|以降|付|をもって|より|に(?:廃止|終了|移行|公開|停止|開始|切)|で(?:打|終))",
    r"\b(?:won't|will not|no longer|no more|not\b.{1,60}\b(?:any ?more|any longer))\b",
    r"\b(?:voted|outvoted|consensus|unanimous(?:ly)?|go-ahead|green light|plan of record)\b",
    r"\b(?:ok|okay|yes|no) (?:from|to|by)\b",
    r"\b(?:takes?|took|hand(?:s|ed)?) .{0,40}\bover\b|\b(?:in charge|responsible|owner|owned by|accountable)\b",
    r"\b(?:new|the) (?:default|limit|policy|standard|target|budget|deadline) (?:for|of|is|will)\b",
    r"\bphas(?:e|ed|ing) out\b|\bsunset\b|\blet'?s (?:keep|use|stick|stay|go with|drop|switch|move|leave|stop|not)\b",
    "可決|了承|許可が|打ち切|見合わせ|継続(?:利用|する)|(?:担当|責任者|窓口)(?:は|を)|既定値|取りやめ|据え置|切り替わ",
    "(?:しない|使わない|やめる|残す|残し)(?:。|、|$)|なしで(?:出|進|行|い)|(?:で|に)代用",
    r"\b(?:decided|agreed|settled|opted|chose|resolved) (?:to|on|that|against|for|not)\b",
    r"\b(?:going|go|went|gone) with\b",
    r"\b(?:decision|resolution|verdict|conclusion|agreed|approved|rejected)\s*[:：—–-]",
    r"\b(?:approved|rejected|signed off|vetoed|postponed|deprecated)\b",
    r"\bstandardi[sz](?:e|ed|ing) on\b",
    r"\b(?:is|are|was|were|has been|have been|will be|gets?|got) (?:now )?"
    r"(?:retired|adopted|frozen|replaced by|switched (?:to|off)|shut down|dropped)\b",
    r"\bin favou?r of\b",
    r"\b(?:switch(?:ed|ing)?|mov(?:e|ed|ing)|migrat(?:e|ed|ing)) (?:.{1,60} )?to\b.*\b(?:because|so that|since|as)\b",
    r"\b(?:from now on|going forward|effective|starting|as of) (?:\d|[A-Z]|next|the)",
    "決定|決め(?:た|ました|る)|決ま(?:った|りました)|合意(?:した|しました|に至)|承認",
    "方針(?:と|を|は|[:：])|採用|見送|却下|廃止|(?:統一|一本化)(?:する|した|します|しました)",
    "(?:こと|方向)(?:に|で)(?:した|する|します|しました|なった|なりました|決|進め|合意)",
    "で(?:進める|進めます|行く|行きます|いく|いきます)(?:。|$)",
    "(?:に|へ)(?:切り替え|移行|変更)(?:する|した|します|しました|る|た|ます|ました)",
    "(?:すること|もの)とする",
    r"[A-Za-z0-9ァ-ヶー一-龥）)」] ?に(?:した|しました)(?:[。、]|$)",
    "(?:サポート|対応|利用|使用|運用|提供)を?(?:やめ|止め)(?:た|ました)",
    r"\bdrop(?:ped|ping)? (?:the )?support\b",
)
_CAUSE = phrases(
    r"\b(?:root cause|caused by|the cause|turned out|workaround|fix(?:ed)? by)\b",
    r"\bthe (?:problem|issue|bug|fix|culprit) (?:is|was)\b",
    r"\b(?:because|due to)\b",
    "原因|回避策|対処|不具合|(?:が|の)ため(?:に)?(?:[、。]|です|でし)",
    "失敗(?:する|した|していた)|(?:したら|すると|することで)(?:直|解消|解決)",
)
_WORK = any_of(
    *("start(?:ed|ing)", "continu(?:ed|ing)", "resum(?:ed|ing)", "paus(?:ed|ing)", "finish(?:ed|ing)", "still", "wip"),
    *("work(?:ed|ing) on", "look(?:ed|ing) (?:at|into)", "investigat(?:ed|ing)", "debugg(?:ed|ing)", "digging", "poking"),
    *("review(?:ed|ing)", "rebas(?:ed|ing)", "commit(?:ted|ting)", "push(?:ed|ing)", "merg(?:ed|ing)", "synced"),
    *("open(?:ed|ing) (?:a |the )?(?:pr|pull request|mr)", "pair(?:ed|ing)", "wait(?:ed|ing)"),
    *("run(?:ning)?", "ran", "re-?r[au]n(?:ning)?", "check(?:ed|ing)", "try(?:ing)?", "tried", "read(?:ing)?"),
    *("clean(?:ed|ing) up", "refactor(?:ed|ing)", "updat(?:ed|ing)", "tidied", "renamed", "prepar(?:ed|ing)"),
    *("wr(?:ote|iting)", "add(?:ed|ing) (?:a |the |some |more )?tests?"),
    "fix(?:ed|ing) (?:the |some )?(?:lint|typos?|formatting|tests?|build|ci)",
    *("will (?:continue|look|pick|finish|check|try)", "to be continued"),
)
_AT_FIRST = any_of("today", "now", "also", "then", "next", "meanwhile", "again", "currently", "just", "quickly", "ok(?:ay)?")
_PROGRESS = phrases(
    rf"^\W*(?:{_AT_FIRST}[:,]?\s+)*(?:I(?:'m| am|'ve| have)? )?{_WORK}\b",
    r"^\W*(?:all |the |unit |integration |e2e )*tests? (?:are |is |now |still |all )*(?:pass|green|running|ok)",
    r"^\W*(?:ci|build|pipeline|lint|suite|everything) (?:is |are |now |still |was )*"
    r"(?:green|passing|passes|passed|running|fine|ok|red|done)",
    r"^\W*(?:all )?\d+ (?:tests? )?(?:passed|failed|passing)\b",
    r"\b(?:in progress|work in progress|no blockers|nothing new|same as yesterday|more tomorrow|tomorrow I)\b",
    r"^\W*(?:waiting|blocked) (?:for|on)\b",
    r"\b\d+ ?% done\b|\bhalf(?:way)? done\b",
    "(?:して|見て|流して|進めて|書いて|調べて|待って|回して|読んで|直して|作って|試して|考えて)い(?:る|ます|ました|た)"
    "(?:。|ところ|$)",
    "(?:作業|調査|対応|実装|修正|確認|検証|レビュー|テスト|実行|ビルド|検討|執筆)中(?:。|です|で|、|$)",
    "(?:を|の)(?:続き|続行|再開|開始|着手|進め)(?:を|た|ました|ます|る|。|$)",
    "(?:に|を)(?:着手|開始|再開|続行)(?:し(?:た|ました|ます)|。|$)",
    "(?:テスト|CI|ビルド|lint)(?:は|が|も)?(?:すべて|全て|全部|全件|無事)?(?:通っ|通り|パス|成功|グリーン|緑)",
    "(?:コミット|プッシュ|push|commit|マージ|リベース|rebase|レビュー|リファクタ(?:リング)?)(?:を)?"
    "(?:し(?:た|て|ました|ます|直)|済|完了|。|$)",
    "(?:待ち|途中)(?:。|です|$)",
    "^(?:引き続き|続けて|今|いま|現在|これから|本日|今日は?)[、 ]?.*(?:中|ます|いる|予定)(?:です)?(?:。|$)",
    "(?:明日|また後で|あとで|次回)(?:に|は)?.*(?:続け|続き|再開|やる|やります|確認|対応)",
    "(?:進捗|残り).*(?:割|%|％|件)|(?:割|%|％) ?(?:ほど|くらい|程度|まで)?(?:終わ|完了|進)",
    "(?:更新|整理|掃除|整形)(?:し(?:た|ました))(?:。|$)",
    "特に(?:進展|変化|問題)(?:は)?(?:なし|ない|ありません)",
)
_TALK = phrases(
    r"^\W*(?:thanks?|thank you|hi|hello|good (?:morning|evening|night)|ok(?:ay)?|sure|great|nice|cool|sounds good|lgtm|bye"
    r"|see you)\b.{0,30}$",
    "^(?:おはよう|お疲れ|おつかれ|ありがとう|了解|承知|こんにちは|よろしく|はい|うん|いいね|なるほど).{0,15}$",
)
_SHORTEST = 4
_LETTER = re.compile(r"[^\W\d_]")


def classify_point(sentence: str, *, is_specific: bool) -> PointKind:
    """Return what a sentence of a log says.

    `is_specific`: whether it has a detail such as a number or a path (see `details`): that makes a statement a fact.
    """
    if len(sentence) < _SHORTEST or not _LETTER.search(sentence) or _TALK.search(sentence) or is_question(sentence):
        return PointKind.TALK
    kind = classify(sentence, by_person=True)
    if is_decision(sentence) or _DECISION.search(sentence) or kind is StatementKind.DECISION:
        return PointKind.DECISION
    if kind is StatementKind.CONVENTION or find_requests(sentence):
        return PointKind.RULE
    if _CAUSE.search(sentence):
        return PointKind.CAUSE
    if _PROGRESS.search(sentence) or is_progress(sentence):
        return PointKind.PROGRESS
    return PointKind.FACT if is_specific else PointKind.REMARK


_DIARY = phrases(
    r"^\W*(?:[A-Z]\w+ and I |I |we )?(?!"
    + any_of("decid", "agre", "chos", "pick", "reject", "approv", "resolv", "vot", "opt", "adopt", "drop", "switch", "settl")
    + r")(?:[a-z]{2,}(?:[^e]ed|ing)|(?:re)?wrote|got|ran|made|spent|left|went|took|had|did|sent|met|came|saw|gave|built)\b",
    r"\b(?:so far|to go|for an hour|in progress|no (?:answer|result)|not much|nearly|almost|half of)\b",
    "(?:った|いた|した|えた|けた|めた|れた|せた|きた|ました|んだ|済み|中|ている|ています|ところ)(?:です)?[。！]?$",
    "(?:あと|残り)(?:は)? ?[^。]{0,8}(?:少し|個|件|本)",
)


def is_diary(sentence: str) -> bool:
    """Return whether a sentence tells what somebody did or does, as in a diary: "Paired with Ann", 「紙に描いている」."""
    return bool(_DIARY.search(sentence))


_LEAD = re.compile(
    r"^(?:(?:fyi|note(?: that)?|btw|by the way|just a note|heads[- ]up|for the record|memo|update|reminder)\s*[:,—–-]?\s+"
    r"|(?:メモ|補足|備考|連絡|共有)\s*[:：]\s*|(?:なお|ちなみに|ところで|それと|あと|また)、\s*)+",
    re.I,
)


def without_lead(sentence: str) -> str:
    """Return a sentence without the words that only introduce it, such as "FYI:" or ちなみに."""
    rest = _LEAD.sub("", sentence)
    if not rest or rest == sentence:
        return sentence
    return rest[0].upper() + rest[1:] if rest[0].isascii() and sentence[0].isupper() else rest
