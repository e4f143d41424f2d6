"""Acts of keeping in Japanese, an open family: 「…って控えといて」「…、をノートに残して」「記録を。」. Pure."""

import re

from omoide.learning.patterns import any_of, lazy_pattern, phrases
from omoide.learning.request_rule import Request

_NEEDS = (
    *("覚え", "おぼえ", "憶え", "記憶", "記録", "控え", "残", "書", "メモ", "保存", "保持", "留め", "とどめ", "刻", "登録"),
    *("追加", "加え", "忘れ", "含みおき", "承知", "入れ", "置い", "備忘", "ノート", "頭に", "心に", "インプット", "前提"),
)
"""Parts of words, one of which is in every act of keeping."""
_STORE = (
    "(?:(?:プロジェクト|チーム|共有|長期|永続|作業|開発)の?)?(?:ノート|メモ帳?|メモリー?|記憶|記録|備忘録|ルール(?:集|一覧|ブック)?|"
    "規約|決まり|ナレッジ(?:ベース)?|覚え書き|覚書|頭|念頭|心|脳内|手元|どこか|知識|前提|方針|決定事項|約束事?|教訓|プロフィール|好み)"
)
_PLACE = f"(?:{_STORE}(?:に(?:も|は)?|へ|として(?:は|も)?|の(?:中|片隅|隅|ほう|方)に))"
_MEMORY_VERB = any_of(
    "(?:覚え|おぼえ|憶え|書き留め|書きとめ|心得)",
    "(?:記憶|銘記|暗記|メモ|インプット)(?:し|を(?:し|取っ|とっ|残し))",
    "書き残し",
    "メモっ",
    "控え",
    "(?:頭|心)に(?:叩き込ん|たたき込ん|刻み込ん)",
    "(?:頭|念頭|記憶|心)(?:の(?:片)?(?:隅|すみ))?に(?:入れ|置い|おい|留め|とどめ|刻ん|残し)",
)
"""Stems of what one does with a statement, rarely with data."""
_DATA_VERB = any_of(
    "(?:記録|保存|保持|登録|追加|明記|追記)(?:し|を(?:し|取っ|とっ|残し))?",
    *("残し", "書い", "持っ", "留め", "とどめ", "加え", "入れ", "足し", "載せ", "のせ", "置い", "おい", "まとめ"),
)
"""Stems of what a program does with data as often as a person with a statement."""
_KEEPING = any_of(
    "[てで](?:おいて|おく(?:こと|ように|と(?=助))|おこう|おきたい|おきましょう|おけ|もらって)?",
    "(?:と|ど)(?:いて|く(?:こと|ように)|こう|きたい|きましょう|け)",
    "(?:る|ておく|とく)(?:こと|ように|といい)",
    "(?:よう|ましょう)",
)
_POLITE = (
    any_of(
        "(?:ください|下さい)(?:ませ|ます)?|ほしい|欲しい|頂戴|ちょうだい|もら(?:いたい|おう)|頼(?:む|みます)",
        "(?:もらって|いただいて|頂いて)も?(?:いい|よい|良い|よろしい)",
        "(?:くれ|もらえ|いただけ|頂け)(?:る|ます|ません|ない|たら|れば|ると|ますと)?",
        "(?:いただき|頂き|いただく|頂く|願い)(?:たく|たい|ます)?",
        "お願い(?:し|いたし|致し|でき)?(?:ます|る|たい)?",
        "(?:助か|嬉し|うれし|ありがた|幸い)(?:ります|る|いです|い|です)?",
        "でしょう|です|ます|んだ(?:けど|が)|のですが|か(?:な)?|して|[ねよなわさー。！!？?～〜 ]",
    )
    + "*+"
)
_HONORIFIC = (
    "(?:お(?:控え|含みおき|含み置き|書き留め|覚え(?:おき|置き))|ご(?:承知おき|承知置き|記憶|記録))"
    "(?:(?:おき|置き)?(?=ください|下さい|いただ|頂|願)|を(?=お?願)|の(?=ほど|程)(?:ほど|程))"
)
_NOUN = any_of(
    "(?:記録|メモ|備忘|控え|記憶|ノート|保存)(?:を|で|に|よろしく|(?=お願い|頼))",
    "メモ(?=[。！!ね]*$)",
    "(?:備忘録?|メモ|記録|覚え書き)(?:として|まで(?:に)?|代わりに)",
)
_END = lazy_pattern(
    rf"(?P<place>{_PLACE}、?)?(?P<phrase>(?:(?P<memory>(?:{_MEMORY_VERB})(?:{_KEEPING})|忘れないで(?:おいて)?|{_HONORIFIC})"
    rf"|(?P<data>(?:{_DATA_VERB})(?:{_KEEPING}))|(?P<noun>(?<![^、。はもに度とずり念]){_NOUN})){_POLITE})$"
)
"""An act of keeping at the end of a sentence."""
_ACT_FIRST = lazy_pattern(
    rf"^(?P<before>[^、。:：]{{0,20}}?)(?:{_PLACE}、?)?(?P<phrase>(?:(?:{_MEMORY_VERB}|{_DATA_VERB})(?:{_KEEPING})|{_NOUN}"
    rf"|(?<=として)(?:保存|記録|登録)|(?<=[にへ])(?:追加|追記|保存|記録)){_POLITE})"
    r"(?:[:：]\s*|(?<=けど)[、,]\s*|(?<=が)[、,]\s*|(?<=願いします)[、,]\s*)(?P<content>.{4,})$"
)
"""An act of keeping before its statement."""
_ANNOUNCED = lazy_pattern(
    rf"^[^、。]{{0,12}}?(?P<phrase>(?:{_MEMORY_VERB}|{_DATA_VERB})[てで](?:おく(?:べき|必要がある|と(?:いい|よい))|おきたい|(?:おいて)?(?:ほしい|欲しい|"
    r"もらいたい|いただきたい))(?:こと|点|話|情報|ルール)"
    r"(?:です|が(?:ある|あります)|[がは]?(?:一つ|ひとつ|1つ)(?:ある|あります)?)?|忘れ(?:ないうち|る前)に(?:書い|言っ|伝え|残し)(?:て(?:おく|おきます)|とく|ときます))[ねよわ。！!]*$"
)
"""A sentence that says that something to keep follows."""
_MANNER = lazy_pattern(
    any_of(
        "(?:きちんと|ちゃんと|しっかり|よく|必ず|絶対に?|忘れずに|一度|一旦|念のため|一応|ぜひ|是非|どうか|できれば|ずっと|改めて|"
        "永続的に|恒久的に|永久に|今後(?:も|ずっと)?|以後|これからも|この先も|ついでに|あわせて|併せて|どこかに|だけ)",
        "(?:[^、。はがを]{0,14}の)(?:ため|参考|備忘)(?:に|として|まで(?:に)?)",
        "(?:と|て)いうか|って(?:い|ゆ)うか|てか|つーか",
        "(?:恐れ入り|すみ|すいませ)[^、。]{0,8}",
        "(?:一つ|ひとつ|1つ)(?:だけ)?|忘れ(?:ないように|ないよう|ずに)",
        "^(?:それと|あと|また|では|じゃあ|なので|だから|で)",
        "(?:書い|言っ|残し|伝え|メモし|記録し)(?:て(?:おく|おきます)|とく|ときます)(?:[ねがよわ]|けど|けれど)*",
    )
    + "、?$"
)
"""What says how or for what something is to be kept."""
_POINTER = phrases(
    "^(?:今から|これから|以下に?|次に)[^、。はがを]{0,10}(?:こと|内容|点|話|ルール)[をはも]?$|^(?:これ|それ|ここ)[はをも]?[^、。はがを]{0,8}として$",
    "^(?:これ|それ|あれ|ここ|(?:この|その|上の|次の|以下の|今の|さっきの|下の|前の)[^、。はがを]{0,8}|以下|次|上記|下記|今の|大事)?"
    "(?:だけ)?[はがをもで、]*$",
)
_PURPOSE = phrases("^[^はがを]*(?:ように?|ために?|際に?|ときに?|時に?)[、は]*$")
_REASON = phrases(
    "(?:困|忘れ|つらい|辛い|大事|重要|大切|混乱|聞かれ|聞く|訊|何度も|繰り返|後で|あとで|使う|使い|必要|ぶり返|面倒|間違|迷|"
    "ややこし|紛らわし|まぎらわし|見失|揉め|もめ|参照|言い(?:たく|飽き)|言う(?:の|こと)|手間|がち)[^、。]{0,4}"
    "(?:ので|から|ため|んで|けど|し|ように?)[、]*$"
)
_TOPIC = lazy_pattern("(?<![件れこ話])は")
"""What a sentence is about, unless it only points to another one: with it, a reason is a statement of its own."""
_STATEMENT = lazy_pattern(
    r"^(?P<content>.{4,}?)(?:"
    + any_of(
        "[、,]?(?:という|との|って(?:いう)?)(?:こと|旨|点|情報|事実|前提|ルール|方針|決まり|件|話|結論|認識|の)(?:だけ)?[をはもで、]",
        "(?:こと|旨)(?:だけ)?[をはもで、]",
        "(?:[、,。]|(?<=[」』]))(?:を|と|って)|って(?:こと(?:を|で|も)?)?|(?<=[いうくすつむるただ])と",
    )
    + "[、,]?)$"
)
"""A statement before an act of keeping, with the particle that makes it the thing to be kept."""
_LOOSE_STATEMENT = lazy_pattern(
    "^(?P<content>.{4,}?)(?:(?<![てでばらしはもがをにと])[、,。]|(?<=[いうくすつむるただ])な?(?:ので|から|んで|ため|ように?)[、,]?|[をはも]、?|と)$"
)
"""The same before a verb that is hardly said of data, or with the place where something is kept."""

_OBJECT = lazy_pattern("(?<![れ点件と])(?<!ため)[をはがに]、?$")
"""The end of words that name something of the program, which is to be stored."""
_TEXT_TO_WRITE = lazy_pattern("^[^、。はが]{0,20}[「『][^」』]*[」』]?$")
"""A text that is to be written into something."""


def find_keeping_ja(sentence: str) -> Request | None:
    """Return what a Japanese sentence asks to keep, or None. The content is empty if it points to another sentence."""
    if not any(part in sentence for part in _NEEDS):
        return None
    announced = _ANNOUNCED.match(sentence)
    if announced:
        return Request("", "remember", announced["phrase"])
    first = _ACT_FIRST.match(sentence)
    if first and not _OBJECT.search(first["before"]):
        return Request(first["content"], "remember", first["phrase"])
    act = _find_act(sentence)
    if act is None:
        return None
    before = _without_manner(sentence[: act.start()])
    phrase = act["phrase"]
    if _POINTER.match(before) or _PURPOSE.search(before) or (_REASON.search(before) and not _TOPIC.search(before)):
        is_act = act["memory"] or act["noun"] or act["place"] or before or "おいて" in phrase or "といて" in phrase
        return Request("", "remember", phrase) if is_act else None
    is_kept = bool(act["memory"] or act["noun"] or act["place"])
    statement = _STATEMENT.match(before)
    if statement and (is_kept or not _TEXT_TO_WRITE.match(statement["content"])):
        return Request(statement["content"], "remember", phrase)
    loose = _LOOSE_STATEMENT.match(before)
    is_kept = is_kept or (
        "記録" in phrase and before.rstrip("、").endswith(("ので", "から")) and bool(_TOPIC.search(before))
    )
    if loose and is_kept and "忘れ" not in phrase and "ようにして" not in phrase:
        return Request(loose["content"], "remember", phrase)
    return None


def is_order_about_data(sentence: str) -> bool:
    """Whether a Japanese sentence asks to store something of the program: 「時刻を記録しておいて」."""
    act = _find_act(sentence)
    return act is not None and bool(act["data"]) and not act["place"] and find_keeping_ja(sentence) is None


def _find_act(sentence: str) -> re.Match[str] | None:
    return _END.search(sentence) if any(part in sentence for part in _NEEDS) else None


def _without_manner(text: str) -> str:
    for _ in range(4):
        shorter = _MANNER.sub("", text)
        if shorter == text:
            break
        text = shorter
    return text.strip()
