"""Standing rules and decisions in Japanese by their grammar: 「…は必ず…こと」「…という方針で」. Pure."""

from omoide.learning.patterns import any_of, lazy_pattern, phrases
from omoide.learning.request_rule import ONE_OFF, Request

_LONGEST_ENDING = 40
"""Characters at the end of a Japanese sentence that say whether it orders something."""
_SINCE_JA = any_of(
    "今後[はもの]?、?",
    "以後[はも]?、?",
    "(?<![0-9０-９上年月日時版])以降[はも]?、?",
    "これから(?:ずっと)?[はも、]",
    "(?:次|次回|今回|今日|本日|今週|来週|今月|来月|来期|今期|明日|[月火水木金土日]曜日?|[0-9０-９]{1,2}月)(?:から|"
    "以降|より)[はも]?、?",
    "この先[はも]?、?",
    "(?<=は)これから|今度から[はも]?",
    "これから(?:書く|作る|つくる|追加する|実装する|出す|送る|増やす)[^、。]{1,15}(?:は|には|では|も)",
    "(?:次に|次回|今度)(?=[^。]{1,60}(?:とき|時|際|場合)に?は)",
    "恒久的に|永続的に",
    "ずっと",
)
_HABIT_JA = any_of(
    *("毎回", "毎度", "常に", "つねに", "いつも", "そのたびに", "その都度", "都度"),
    *("原則(?:として)?", "基本(?:的に(?:は)?)?", "例外なく", "一律"),
)
_MANNER_JA = any_of(
    "必ず",
    "かならず",
    "絶対に?",
    "ぜったいに?",
    "決して",
    "二度と",
    "金輪際",
    "徹底して",
)
_TIME_JA = "(?:とき|時|際|場合|前|後|あと|たび|度|ごと|毎)(?:に|は|には|も|で)"
_POLITE_JA = (
    "(?:(?:ください|下さい|くださいませ|ほしい(?:です)?|欲しい(?:です)?|もらいたい(?:です)?|いただきたい(?:です)?|"
    "もらえると[^、。]{2,8}|いただけると[^、。]{2,8}|くれ|頂戴|ちょうだい|もらえ(?:ますか|ませんか|る)|"
    "いただけ(?:ますか|ませんか)|"
    "くれ(?:ますか|ませんか|る|ない)|お願い(?:します|いたします|したい(?:です)?|ね)?)?[ねよなぁー。！!？? ]*)$"
)
_DUTY_JA = any_of(
    "(?:る|う|く|す|つ|ぬ|ぶ|む|ない)こと(?:[。！!ね]|で|にして|とする|とします|を?お願い|です)*$",
    f"ように(?:して|(?=お願い)|頼|しましょう|します|する){_POLITE_JA}",
    f"(?:ない|無い)で{_POLITE_JA}",
    "ないように(?:[。！!ね]|お願い(?:します)?|頼みます|よろしく)*$",
    "(?:ということ|という形|という感じ|って(?:こと|感じ))で(?:お願い(?:します)?|よろしく|頼みます?|いきましょう|"
    "いきます)[。！!ねよ]*$",
    "(?:禁止|厳禁|NG|なし|無し|必須|徹底|厳守)(?:です|で|に(?:して|します|する)|と(?:します|する)|お願いします|"
    "ください|とのこと)*[。！!ねよ]*$",
    "(?:ましょう|ようにね|なければならない|なければなりません|ないといけません|べし)[。！!ねよ]*$",
)
_DIRECT_JA = f"(?:て|で){_POLITE_JA}"
_RULE_WORD_JA = (
    "(?:ルール|きまり|決まり|決まり事|約束|お約束|規約|方針|縛り|しばり|取り決め|取決め|ポリシー|原則|鉄則|規則|基準|"
    "習慣|運用ルール)"
)
_SCHEME_WORD_JA = "(?:仕様|運用|前提|形|体制|流れ|扱い|方向|標準|デフォルト)"
_GO_JA = (
    "(?:いき|行き|進め|やり|統一し|お願いし)(?:ます|ましょう|たい(?:です|と思います)?)|(?:いく|行く|進める|やる)|"
    "よろしく|お願い"
)
_SINCE_JAPANESE, _HABIT_JAPANESE, _MANNER_JAPANESE = phrases(_SINCE_JA), phrases(_HABIT_JA), phrases(_MANNER_JA)
_TIME_JAPANESE, _DUTY_JAPANESE, _DIRECT_JAPANESE = phrases(_TIME_JA), phrases(_DUTY_JA), phrases(_DIRECT_JA)
_WORK_JAPANESE = phrases(
    _TIME_JA,
    "コミット|プッシュ|push|マージ|レビュー|報告|返事|回答|返信|連絡|相談|リリース|デプロイ|PR|プルリク|ブランチ|"
    "チケット|確認|テスト|"
    "書く|書いて|使う|使って|返して|答え|説明|話して|教えて",
)
"""What people do at work: "always …" about anything else asks for a feature of the program."""
_FROM_DATE_JAPANESE = phrases(
    "^(?:来週|来月|来期|明日|今月|今週|[月火水木金土日]曜日?|[0-9０-９]{1,2}月)(?:から|以降|より)[はも]?、?"
    "(?!私|僕|俺)[^、。]{1,20}は[^。]{1,60}ます[。！!ねよ]*$"
)
_PLAN_JAPANESE = phrases(rf"(?:(?:に|と)(?:します|する|しましょう|しよう)|(?:で|に)(?:{_GO_JA}|統一)|で)[。！!ねよ]*$")
_BAN_JAPANESE = phrases(
    "[うくすつぬむるい]のは、?(?:絶対に?|もう|今後)?(?:ダメ|だめ|駄目|NG|不可|なし)(?:です|だ|で|だから)?[。！!ねよ]*$",
    "は、?(?:必ず|常に|絶対に?|原則|全部|すべて|一律)[^。、]{1,30}[一-鿿々ァ-ヺーA-Za-z0-9`」][。！!]*$",
    "は、?(?:今後|原則|絶対|基本)?(?:全面|一切|完全)?(?:禁止|厳禁|NG)(?:です|だ|で(?:お願いします)?|と?に?します|"
    "とする)?[。！!ねよ]*$",
)
_NAMED_RULE_JAPANESE = lazy_pattern(
    r"^(?P<content>.{3,}?)[、,]?"
    + any_of(
        rf"(?:(?:という|っていう|って|との|といった)?(?:の(?:が|を|は))?(?:、|うち(?:の)?|チームの|この|"
        rf"新しい)*)?{_RULE_WORD_JA}"
        rf"(?:です|で(?:す|{_GO_JA})|で|な(?:ので|んで)|だから|だよ?|ね|に(?:します|しましょう|しよう|して|する|"
        rf"なりました|なった|しました|した))",
        rf"(?:という|って)こと(?:で|に)(?:{_GO_JA})(?:します)?(?=[。！!ねよ]|$)",
        rf"(?:という|っていう|って|との|する|ない|す|く|う|む|の){_SCHEME_WORD_JA}(?:で(?:{_GO_JA})|に(?:します|"
        rf"しましょう|しよう|する|なりました|なった|しました)|で(?=[。！!]|$))",
        rf"[、。]?(?:これ|それ|こちら)(?:は|が|も|を)?(?:今後も?|うちの|必ず|絶対に?|新しい)*{_RULE_WORD_JA}(?:です|"
        rf"で|ね|に|だ|な)",
    )
    + r"(?P<rest>[^。]*)[。！!]*$"
)
_OBSERVE_JAPANESE = lazy_pattern(
    r"^(?P<content>.*?)[、,]?(?:という|って|との)?(?:(?:ルール|方針|こと|の|点)?(?:は|を|も|だけは|で))?"
    r"(?:[、,]?(?:これ|それ|こちら|この点|その点)(?:だけ)?(?:は|を|も|で)?)?、?(?:今後も?、?|必ず|絶対に?|ちゃんと|"
    r"しっかり|ずっと|以後|これからも)*"
    r"(?P<phrase>守って|(?:その|この)(?:つもり|前提)で|ご?承知(?:おき|して?おいて|置き)|厳守(?:して|で)|遵守して|"
    r"徹底(?:して|で|を)|続けて(?=いって|ください)|(?:頭|念頭)に(?:入れ|"
    r"置い)て(?:おいて)?|"
    r"心に?留めて(?:おいて)?|肝に銘じて|留意して|認識しておいて|把握しておいて|押さえておいて|踏まえておいて|"
    r"(?:覚え|記憶し)直して|(?:今後|以後|これから)[^、。]{0,10}(?:気を付けて|気をつけて|注意して|意識して|考慮して|"
    r"配慮して)|覚えて(?:おいて)?(?=もらえ|いただけ))" + _POLITE_JA
)
_SETTLED_JAPANESE = phrases(
    "こと(?:に|で)(?:なりました|なった|なってます|なっています|決まりました|決まった|決めました|決めた)(?!ら|"
    "っけ|のか|んだっけ|[一-鿿ァ-ヺA-Za-z])",
    "(?:いく|する|ない|行く|やる|使う|進める)ことに[。！!]*$",
    "(?:で|に|と)(?:確定|決定|合意|フィックス|一本化|決着)(?:です|で|しました|した|します|する(?=[。！!]|$|ので|"
    "から)|されました|"
    "となりました|になりました|だ|とのこと(?:です)?|(?=[。！!]|$))",
    "(?:ない|[うくすつるむぶ])ように(?:していきます|していきましょう|しましょう|していく)",
    "(?:揃え|そろえ)(?:ます|ましょう|ることに)",
    "(?:運用|ルール|方針|仕様|体制|方式|決まり)(?:に|を)[^、。]{0,20}(?:変え|変更し|変わり|切り替え|切替え|改め)(?:ました|"
    "た|ます|ることに)",
    "は[^。]{2,80}(?<!う)と(?:する|します|しました)[。！!]*$",
    "(?<=[をにで])(?:統一|一本化|固定|共通化)(?:します|しました|しましょう|する(?=[。！!]|$|ので|から|こと)|"
    "で(?:いき|行き|お願い|す|(?=[。！!]|$)))",
    "(?:と|に|で)(?:決まりました|決まった|決まりで|決めました|決めた)(?!ら|っけ|の[はかがを]|ん|[一-鿿ァ-ヺA-Za-z])",
    "(?:と|に)決まって(?:い)?(?:る|ます|おり|まして)",
    "(?:と|に|で)(?:合意|決定|確定|承認)(?:済み|ずみ)",
    "(?:で|に)(?:統一|固定|一本化|限定)(?:して|されて)(?:い)?(?:ます|る|おります)[。！!ねよ]*$",
    "(?:を|は)[^、。]{1,30}(?:見送る|やめる|廃止する|採用する|採用しない|使わない|続ける)こと(?:に|で)(?:し|なり|決ま|決め)",
    "(?:に)限(?:ります|る|定します)[。！!ねよ]*$",
    "で(?:話が)?(?:つき|まとまり|落ち着き|一致し|合意でき|握り)(?:ました|まして)|で(?:話がついた|まとまった|"
    "落ち着いた|握った)",
    "(?:を|は)[^、。]{1,20}(?:標準|既定|デフォルト|正|上限|下限|最小|最大)(?:に|と)(?:します|しました|する(?=[。！!]|"
    "$)|しましょう)",
    "(?:は|が|を)[^、。]{1,20}に変更(?:になりました|となりました)",
)
_NO_STANDING_JAPANESE = phrases(
    "もし|仮に|かもしれ|かも(?:[。！!]|$)|検討中|検討して|相談したい|予定です|らしい|みたい(?:です|だ)?[。！!]*$|"
    "はず(?!み)|(?:だった|でした|たん?だ?)っけ",
    "(?:した|なった|決まった|決めた)そう(?:です|な|だ|で)|未定|迷って|悩んで|どうか|べきか|気がする|と思って(?:い|"
    "る)|つもり(?:です|だ|でし|でいる)|と言って(?:い)?(?:た|まし|る)|って言って|"
    "と書いて(?:ある|あり)|と聞い",
    "(?:今後|これから|将来)に(?:備え|向け|つい|関し|対し)",
    "(?:今後|これから|将来)の(?:予定|課題|方針|計画|進め方|流れ|展開|見通し|タスク|ロードマップ|こと)(?:に|を|は|が)",
    "についても?(?:教え|相談|説明)|(?<!毎回)(?<!都度)(?<!いつも)教えて|調べて|確認したい|まとめて(?:ください|ほしい|"
    "$)|考えて|見せて|説明して",
    "(?:決ま|決め)(?:って|て)?い?(?:ない|ません|ら|かね)|決められ",
)
_FORBIDS_JAPANESE = phrases("は[^。]{2,60}ないように(?:ね|お願い(?:します)?|してください|して)?[。！!]*$")
_GIVEN_JAPANESE = phrases(
    "(?:それ|これ|その点|この点)?を前提(?:に|として)[^。]{0,30}(?:ください|ように(?:して)?|て|お願い(?:します)?|"
    "ほしい(?:です)?)[。！!ねよ]*$"
)
_OTHER_TASK_JA = lazy_pattern(
    "(?:ので|(?:です|ます|[いうくすつむるただ])から|のを|のが|けど|のに)、?(?![^。]*(?:必ず|絶対|決して|常に|毎回|今後))[^、。]{0,30}(?:て|で)(?:ください|ほしい|"
    "くれ|もらえ|下さい)?[。ねよ！!]*$"
)
"""The order of a sentence after the reason for it: what comes before is an account."""


def find_standing_ja(sentence: str) -> Request | None:
    """Return the rule or the decision that a Japanese sentence states for good, or None. It must be no question."""
    if _NO_STANDING_JAPANESE.search(sentence):
        return None
    return _rule(sentence) or _decision(sentence)


def _rule(sentence: str) -> Request | None:
    observed = _OBSERVE_JAPANESE.match(sentence)
    if observed:
        return Request(observed["content"], "remember", observed["phrase"])
    named = _NAMED_RULE_JAPANESE.match(sentence)
    if named:
        return Request(named["content"], "rule", "")
    if _GIVEN_JAPANESE.search(sentence) and not ONE_OFF.search(sentence):
        return Request(sentence, "rule", "")
    if not _is_order_for_good(sentence) or _OTHER_TASK_JA.search(sentence) or ONE_OFF.search(sentence):
        return None
    return Request(sentence, "rule", "")


def _is_order_for_good(sentence: str) -> bool:
    """Whether a sentence orders or forbids something for good: a word such as 今後 or 必ず, and an ending that fits it."""
    if _BAN_JAPANESE.search(sentence) or _FORBIDS_JAPANESE.search(sentence):
        return True
    ending = sentence[-_LONGEST_ENDING:]
    duty, direct = _DUTY_JAPANESE.search(ending), _DIRECT_JAPANESE.search(ending)
    if _FROM_DATE_JAPANESE.search(sentence):
        return True
    if _SINCE_JAPANESE.search(sentence):
        return bool(duty or direct or _PLAN_JAPANESE.search(ending))
    if _HABIT_JAPANESE.search(sentence):
        return bool((duty or direct) and _WORK_JAPANESE.search(sentence))
    if _MANNER_JAPANESE.search(sentence):
        is_feature = "ようにして" in ending and not _WORK_JAPANESE.search(sentence)
        return bool((duty and not is_feature) or (direct and _TIME_JAPANESE.search(sentence)))
    return False


def _decision(sentence: str) -> Request | None:
    match = _SETTLED_JAPANESE.search(sentence)
    return Request(sentence, "decision", match[0]) if match else None
