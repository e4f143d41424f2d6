"""Requests to save in Japanese, an open family: 「…って控えといて」「…、をノートに残して」「記録を。」. Pure."""

import re
from itertools import islice

from omoide.learning.passages import is_task
from omoide.learning.patterns import any_of, lazy_pattern, phrases
from omoide.learning.request_rule import Request

_NEEDS = (
    *("覚え", "おぼえ", "憶え", "記憶", "記録", "控え", "残", "書", "メモ", "保存", "保持", "留め", "とどめ", "刻", "登録"),
    *(
        "決定",
        "結論",
        "情報",
        "理解",
        "切り替え",
        "改め",
        "覚悟",
        "固定",
        "統一",
        "共有",
        "伝え",
        "連絡",
        "知らせ",
        "言っ",
        "学習",
        "学ん",
        "把握",
        "認識",
        "留意",
        "銘じ",
        "押さえ",
        "おさえ",
        "わすれ",
        "ストック",
        "手控え",
        "蓄え",
    ),
    *("追加", "加え", "忘れ", "含みおき", "承知", "入れ", "置い", "備忘", "ノート", "頭に", "心に", "インプット", "前提"),
)
"""Parts of words, one of which is in every request to save."""
_STORE = (
    "(?:(?:プロジェクト|チーム|共有|長期|永続|作業|開発|恒久|共通|基本|社内|個人|新|正式|永久|固定|絶対|重要|大事|大切)"
    "(?:的?な|の)?)?(?:ノート|メモ帳?|メモリー?|記憶|記録|備忘録|(?:前提|予備|基礎)知識|共通認識|ルール(?:集|一覧|ブック)?|"
    "規約|決まり|ナレッジ(?:ベース)?|ノウハウ|知見|常識|(?:引き?継ぎ|申し送り|注意|確認|連絡|共有|留意)(?:事項|メモ|点)|"
    "(?:基本|個人|重要|大事な)?情報|事実|覚え書き|覚書|頭|念頭|心|脳内|手元|どこか|知識|前提|方針|決定事項|約束事?|教訓|"
    "プロフィール|好み)"
)
_PLACE = any_of(
    f"{_STORE}(?:に(?:も|は)?|へ|として(?:は|も)?|の(?:中|片隅|隅|ほう|方)に)",
    "(?:ルール|メモ|ノート|記録|決まり|方針|約束)で",
)
_MEMORY_VERB = any_of(
    "(?:覚え|おぼえ|憶え|書き留め|書きとめ|心得)",
    "(?:記憶|銘記|暗記|メモ|インプット|学習|ストック)(?:し|を(?:し|取っ|とっ|残し))",
    "(?<=で)(?:固定|統一)し(?=[てと](?:お|い))",
    "(?:頭|認識|考え|前提)を?(?:切り替え|改め|変え|アップデートし|更新し)|(?:理解|承知|了解|覚悟)し(?=[てと](?:お|い))",
    "(?:把握|認識|留意|承知|理解)し(?=[てと](?:お|い|と|ほ|く|も))|(?:押さえ|おさえ)(?=[てと](?:お|い))|肝に銘じ",
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
    "て(?:い)?て(?=[もくほねなやよ。！!、〜～]|$)",
    "[てで](?:おいて|おく(?:こと|ように|れ|と(?=助))|おこう|おきたい|おきましょう|おけ|おきなさい|もらって|や|おきや)?",
    "(?:と|ど)(?:いて|って(?=[くなやねほも。、！!〜～ー]|$)|く(?:こと|ように|れ)|こう|こ(?=[。、！!〜～ー]|$)|きたい|"
    "きましょう|け|きや|"
    "き(?=[。、！!〜～ー]|$))",
    "(?:る|ておく|とく)(?:こと|ように|といい)",
    "(?:よう|ましょう)",
)
_POLITE = (
    any_of(
        "(?:ください|下さい)(?:ませ|ます)?|ほしい|欲しい|頂戴|ちょうだい|もら(?:いたい|おう)|頼(?:む|みます)",
        "(?:もらって|いただいて|頂いて|もろて)も?(?:いい|よい|良い|よろしい|ええ)",
        "(?:くれ|もらえ|いただけ|頂け)(?:ると|ますと|ません|ます|ない|たら|れば|る)?",
        "(?:いただき|頂き|いただく|頂く|願い)(?:たく|たい|ます)?",
        "お願い(?:し|いたし|致し|でき)?(?:ます|る|たい)?",
        "(?:あげ|やっ)て|(?:助か|嬉し|うれし|ありがた|幸い)(?:ります|る|いです|い|です)?",
        "(?:くれ|もらえ)(?:へん|ん|んか|へんか)|たの(?:む|んます|んだ)|頼(?:んます|んだ|んまっせ|むわ|むで)|よろ(?:しく)?",
        "でしょう|です|ます|んだ(?:けど|が)|のですが|か(?:な)?|して|[ねよなわさやでーっ。！!？?～〜 笑w()（）☆♪…]",
    )
    + "*+"
)
_HONORIFIC = (
    "(?:お(?:控え|含みおき|含み置き|書き留め|覚え(?:おき|置き))|ご(?:承知おき|承知置き|認識(?:おき|置き)?|留意|記憶|記録))"
    "(?:(?:おき|置き)?(?=ください|下さい|いただ|頂|願)|を(?=お?願)|の(?=ほど|程)(?:ほど|程))"
)
_NOT_FORGET = "(?:忘れ|わすれ)" + any_of(
    "(?:ない|ん|へん)(?:で(?:おいて|いて)?|といて|とって|よう(?:に(?:して|しといて)?)?|こと)",
    "(?:ず(?:に)?(?:いて|おいて|(?=(?:ね|な|よ|お願い|頼|よろしく)*[。！!〜～]*$))|ぬよう(?:に)?|んな|るな|なさんな)",
    "(?:ちゃ|ては|たら|んのは)(?:だめ|ダメ|駄目|いけない|いけません|なら(?:ない|ぬ|ん)|あかん|アカン|いかん|困る|困ります)",
)
"""What one must not forget, also in the speech of Kansai."""
_NOUN = any_of(
    "(?:記録|メモ|備忘|控え|記憶|ノート|保存|登録)(?:を|で|に|よろしく|よろ(?=[。！!]|$)|(?=お願い|頼))",
    "メモ(?=[。！!ね]*$)",
    "(?:備忘録?|メモ|記録|覚え書き)(?:として|まで(?:に)?|代わりに)",
)
_END = lazy_pattern(
    rf"(?P<place>{_PLACE}、?)?(?P<phrase>(?:(?P<memory>(?:{_MEMORY_VERB})(?:{_KEEPING})|{_NOT_FORGET}|{_HONORIFIC})"
    rf"|(?P<data>(?:{_DATA_VERB})(?:{_KEEPING}))|(?P<noun>(?<![^、。はもにてでらめ度とずり念れ]){_NOUN})){_POLITE})$"
)
"""A request to save at the end of a sentence."""
_ACT_FIRST = lazy_pattern(
    rf"^(?P<before>[^、。:：]{{0,20}}?)(?:{_PLACE}、?)?(?P<phrase>(?:(?:{_MEMORY_VERB}|{_DATA_VERB})(?:{_KEEPING})|{_NOUN}"
    rf"|(?<=として)(?:保存|記録|登録)|(?<=[にへ])(?:追加|追記|保存|記録)){_POLITE})"
    r"(?:[:：→]\s*|-+>\s*|(?<=けど)[、,]\s*|(?<=が)[、,]\s*|(?<=願いします)[、,]\s*)(?P<content>.{4,})$"
)
"""A request to save before its statement."""
_ANNOUNCED = lazy_pattern(
    rf"^(?:(?=[^。]*(?:今後|次|後|将来|あと|忘れ|念|何度|また|再度|同じ|改めて|ちゃんと|失敗|反省|教訓|"
    rf"学び))[^。はをに]{{0,24}}"
    rf"(?:、?念のため|に)?)?[^、。はを]{{0,12}}?(?P<phrase>(?:念押し|共有|伝え|お伝え|書い|残し|メモし|記録し|言っ|補足し|"
    rf"引き継い|教え|申し上げ|強調し)"
    rf"(?:し)?(?:て(?:おく|おきます|おこう|おきたい(?:です)?)|とく|ときます|とこう)|"
    rf"(?:{_MEMORY_VERB}|{_DATA_VERB})[てで](?:おく(?:べき|必要がある|と(?:いい|よい))|"
    rf"おきたい|(?:おいて)?(?:ほしい|欲しい|"
    r"もらいたい|いただきたい))(?:こと|点|話|情報|ルール)"
    r"(?:です|が(?:ある|あります)|[がは]?(?:一つ|ひとつ|1つ)(?:ある|あります)?)?|(?:最終)?(?:決定|結論)(?:事項)?(?:です|"
    r"だ|が出ました|出た|が出た)|忘れ(?:ないうち|る前)に(?:書い|言っ|"
    r"伝え|残し)(?:て(?:おく|おきます)|とく|ときます)|(?:決定事項|決まったこと|ルール|決まり|方針|前提|規約|大事なこと|"
    r"重要なこと|"
    r"注意点|注意事項|約束(?:ごと)?|好み|条件)(?:だけ|のみ)?(?:を|について|は)?(?:先に|一応|改めて|一つ|ひとつ|"
    r"1つ)?(?:共有|お?伝え|連絡|"
    r"お?知らせ|書い|言っ|まとめ|追加|足)(?:し|させて)?(?:て(?:おく|おきます)|とく|ときます|ます|ください|"
    r"いただきます))[ねよわ。！!]*$"
)
"""A sentence that says that something to keep follows."""
_UPDATE = lazy_pattern(
    "(?P<phrase>(?:覚えて(?:い|お)?る|記憶(?:して(?:い)?る)?|メモ(?:して(?:い)?る)?|ノート|認識|知識|前提|"
    "把握して(?:い)?る)(?:の)?(?:内容|情報|こと|もの|ほう|方)?(?:を|も|は)?"
    rf"(?:更新|上書き|修正|訂正|差し替え|書き換え|アップデート|直し)(?:し)?(?:{_KEEPING}|を){_POLITE})$"
)
"""To update what is remembered."""
_MANNER = lazy_pattern(
    any_of(
        "(?:よう(?:さん)?|今度こそ|もう一回|もっかい|しかと|くれぐれも|マジで|まじで|ほんま(?:に|、)?|頼むから|悪いけど|"
        "いい加減に?|いいかげん|そろそろ|本当に|"
        "ほんとに|お願い(?:だ|です)から|(?:何度も|毎度|毎回|しつこく|繰り返し)(?:て|で)?(?:言う|言います|申します|"
        "なります|悪い|すみません|恐縮です)?(?:けど|が)|"
        "すまんけど|できたら|よかったら)",
        "(?:きちんと|ちゃんと|しっかり|よく|必ず|絶対に?|忘れずに|一度|一旦|念のため|一応|ぜひ|是非|どうか|できれば|"
        "ずっと|改めて|"
        "永続的に|恒久的に|永久に|今後(?:も|ずっと)?|以後|これからも|この先も|ついでに|あわせて|併せて|どこかに|だけ)",
        "(?:[^、。はがを]{0,14}の)(?:ため|参考|備忘)(?:に|として|まで(?:に)?)",
        "(?:と|て)いうか|って(?:い|ゆ)うか|てか|つーか",
        "(?:恐れ入り|すみ|すいませ)[^、。]{0,8}",
        "(?:忘れ(?:ないうち|る前)|今のうち|この機会)に",
        "(?:一つ|ひとつ|1つ)(?:だけ)?|忘れ(?:ないように|ないよう|ずに)",
        "^(?:それと|あと|また|では|じゃあ|なので|だから|で)",
        "(?:書い|言っ|残し|伝え|メモし|記録し)(?:て(?:おく|おきます)|とく|ときます)(?:[ねがよわ]|けど|けれど)*",
    )
    + "、?$"
)
"""What says how or for what something is to be kept."""
_POINTER = phrases(
    "^(?:今から|これから|以下に?|次に)[^、。はがを]{0,10}(?:こと|内容|点|話|ルール)[をはも]?$|^(?:これ|それ|"
    "ここ)[はをも]?[^、。はがを]{0,8}として$",
    "^(?:以上|上記|下記)[、は]*$",
    "^[^、。はがを]{1,8}(?:な|しい|べき)$",
    "^(?:そう|このように|そのように|そういうふうに|そこ(?:は|だけ)?)[、は]*$",
    "^(?:この|その|上の|以下の|今の)?(?:[0-9０-９一二三四五]つ|(?:意味|内容|形|通り|とおり|前提|つもり|理解|認識))(?:で|"
    "を|は|も|とも|だけ)*$",
    "^(?:これ|それ|あれ|ここ|(?:この|その|上の|次の|以下の|今の|さっきの|下の|前の)[^、。はがを]{0,8}|以下|次|上記|下記|"
    "今の|大事)?"
    "(?:だけ)?[はがをもで、]*$",
)
_PURPOSE = lazy_pattern(
    "(?:^|(?<=[、。…！!?？]))[^、。…]*(?:ように?|ために?|(?:際|とき|時|機会|場合)(?:用|のため)?に?も?|用に|(?:次|次回|"
    "今後|以後|将来|別の[^、。]{1,8})(?:で|に|から)?も?|"
    "またいでも?|(?<=[っい])ても)[、は]*$"
)
"""The last clause of a text, if it says for when or for what something is to be kept."""
_REASON = phrases(
    "(?:困|大変|苦労|ハマ|はま|失敗|痛い目|怒られ|反省|やらか|時間がかか|忘れ|つらい|辛い|大事|重要|大切|混乱|聞かれ|聞く|"
    "訊|何度も|繰り返|後で|あとで|使う|使い|必要|ぶり返|面倒|間違|迷|"
    "ややこし|紛らわし|まぎらわし|見失|揉め|もめ|参照|言い(?:たく|飽き)|言う(?:の|こと)|手間|がち)[^、。]{0,4}"
    "(?:ので|から|ため|んで|けど|し|ように?)[、]*$"
)
_TOPIC = lazy_pattern("(?<![件れこ話点])(?<!情報)(?<!内容)(?<!ルール)(?<!こと)は")
"""What a sentence is about, unless it only points to another one: with it, a reason is a statement of its own."""
_STATEMENT = lazy_pattern(
    r"^(?P<content>.{4,}?)(?:"
    + any_of(
        "[、,]?(?:という|との|って(?:いう)?)(?:こと|旨|点|情報|事実|前提|ルール|方針|決まり|件|話|結論|認識|理解|解釈|扱い|"
        "の)(?:だけ)?[をはもで、]",
        "(?:こと|旨)(?:だけ)?[をはもで、]",
        "(?:[、,。]|(?<=[」』]))(?:を|と|って)|って(?:こと(?:を|で|も)?)?|(?<=[いうくすつむるただ])と",
    )
    + "[、,]?)$"
)
"""A statement before a request to save, with the particle that makes it the thing to be kept."""
_LOOSE_STATEMENT = lazy_pattern(
    "^(?P<content>.{4,}?)(?:(?<![てでばらしはもがをにと])[、,。]|(?<=[いうくすつむるただ])な?(?:ので|から|んで|ため|"
    "ように?)[、,]?|[をはも]、?|と)$"
)
"""The same before a verb that is hardly said of data, or with the place where something is kept."""

_KEEP_FOR_LATER = lazy_pattern("[てで](?:おいて|おけ|おこう)|(?:と|ど)(?:いて|け|って)")
"""To keep something in its place: 「残しておいて」."""
_KEPT_ALONE = lazy_pattern(rf"^記録|{_KEEP_FOR_LATER.pattern}")
_KEEPS = lazy_pattern("記録|残|保存|登録|書")
_DOCUMENT = phrases("README|コメント|ドキュメント|ファイル|テーブル|データベース|DB|ログ|チケット|issue|仕様書|Wiki|docs")
"""Verbs of keeping that need no place, and places that are no memory."""
_COMMENT = lazy_pattern("[、,…]$|(?:けど|が|し|やろ|でしょ|よね|から|ので|んで)[、,]?$")
"""The end of words about the request: 「前も言ったやろ、」「次ハマったとき用に」."""

_THANKED = lazy_pattern(
    "^(?P<request>.*(?:て|で)(?:おいて)?(?:もらえると|いただけると|頂けると|くれると|くれたら|もらえたら|いただければ|"
    "もらえれば))(?=.).+$"
)
"""A request in the form of a condition: 「覚えておいてもらえると話が早い」."""
_TRAILING_POINTER = lazy_pattern(
    "(?:(?<=[、。])(?:そこ|それ|これ|ここ)|(?<=[、。はに])[こそ]の(?:点|こと|件))(?:は|を|も|だけは?)?、?$"
)
_LEAST_REST = 6
"""Characters of a statement after a request to save."""
_COMMA = lazy_pattern("[、,]")
_MOST_CLAUSES = 8
_COMPLETE = lazy_pattern(
    "(?:(?:て|で)(?:おいて|(?=ください|ほしい|もらえ|いただけ|くれ))|といて|どいて|とって)(?:ください|下さい|"
    "ほしい(?:です)?|くれ(?:ると|ます|る)?|もらえ(?:ると|ます|る|たら)?|"
    "いただけ(?:ると|ます|れば|たら)?|[ねよなや])*$"
)
"""The end of a clause that asks for something by itself."""
_OBJECT_ACT = lazy_pattern("[^、。はが]を(?:覚え|記憶|記録|保存|保持|登録|控え|メモ)")
"""An act with an object: before another task, it is mostly something of the program."""
_LINK = lazy_pattern("(?:なので|ので|んで|(?<=[いうくすつむるただ])から|(?<=[一-鿿ァ-ヺーA-Za-z0-9」])で)$")
"""What links a statement to the act after it."""

_OBJECT = lazy_pattern("(?<![れ点件と])(?<!ため)[をはがに]、?$")
"""The end of words that name something of the program, which is to be stored."""
_FILE = phrases("コード|ファイル|画像|図|データ|表|結果|ログ|出力|スクリプト|テーブル|変更|状態")
"""What is stored, and stands for no statement."""
_TEXT_TO_WRITE = lazy_pattern("^[^、。はが]{0,20}[「『][^」』]*[」』]?$")
"""A text that is to be written into something."""


def find_save_request_ja(sentence: str) -> Request | None:
    """Return what a Japanese sentence asks to keep, or None. The content is empty if it points to another sentence."""
    if not any(part in sentence for part in _NEEDS):
        return None
    fixed = _find_fixed_form(sentence)
    if fixed is not None:
        return fixed
    act = _find_act(sentence)
    if act is None:
        thanked = _THANKED.match(sentence)
        return find_save_request_ja(thanked["request"]) if thanked else _find_inside(sentence)
    before = _TRAILING_POINTER.sub("", _without_manner(sentence[: act.start()]))
    before = _without_manner(_PURPOSE.sub("", before))
    if _POINTER.match(before) or (_REASON.search(before) and not _TOPIC.search(before)):
        is_file = act["data"] and not act["place"] and _FILE.search(before)
        is_act = not is_file and (_names_memory(act) or before or _KEPT_ALONE.search(act["phrase"]))
        return Request("", "remember", act["phrase"]) if is_act else None
    return _find_statement(before, act)


def _find_fixed_form(sentence: str) -> Request | None:
    """Return the request of a sentence that updates, announces or begins with what is to be kept."""
    update = _UPDATE.search(sentence)
    if update:
        return Request(sentence[: update.start()].rstrip("、"), "remember", update["phrase"], points=True)
    announced = _ANNOUNCED.match(sentence)
    if announced:
        return Request("", "remember", announced["phrase"])
    first = _ACT_FIRST.match(sentence)
    if first and not _OBJECT.search(first["before"]):
        return Request(first["content"], "remember", first["phrase"])
    return None


def _find_statement(before: str, act: re.Match[str]) -> Request | None:
    """Return the request whose content stands before the request to save, or which points to another sentence."""
    phrase, is_kept = act["phrase"], _names_memory(act)
    statement = _STATEMENT.match(before)
    if statement and (is_kept or not _TEXT_TO_WRITE.match(statement["content"])):
        return Request(statement["content"], "remember", phrase)
    is_kept = is_kept or ("記録" in phrase and _gives_reason_of_topic(before))
    loose = _LOOSE_STATEMENT.match(before)
    if loose and is_kept and "忘れ" not in phrase and "ようにして" not in phrase:
        return Request(loose["content"], "remember", phrase)
    is_later = bool(_KEEP_FOR_LATER.search(phrase) and _KEEPS.match(phrase)) and not _DOCUMENT.search(before)
    if (is_kept or is_later) and _COMMENT.search(before):
        return Request(_LINK.sub("", before.rstrip("、, …")), "remember", phrase, points=True)
    return None


def _names_memory(act: re.Match[str]) -> bool:
    """Whether a request to save is one of memory by its verb, its noun or its place."""
    return bool(act["memory"] or act["noun"] or act["place"])


def _gives_reason_of_topic(text: str) -> bool:
    return text.rstrip("、").endswith(("ので", "から")) and bool(_TOPIC.search(text))


def _find_inside(sentence: str) -> Request | None:
    """Return the request of a clause before the last one: 「この3つは覚えておいてください、来月も使うので」."""
    for comma in islice(_COMMA.finditer(sentence), _MOST_CLAUSES):
        clause = sentence[: comma.start()]
        if _COMPLETE.search(clause) and not (_OBJECT_ACT.search(clause) and is_task(sentence)):
            request = find_save_request_ja(clause)
            if request is not None:
                rest = sentence[comma.end() :]
                is_content = len(rest) >= _LEAST_REST and not _LINK.search(rest.rstrip("。！!")) and not is_task(rest)
                return request if request.content or not is_content else request._replace(content=rest)
    return None


def is_order_about_data(sentence: str) -> bool:
    """Whether a Japanese sentence asks to store something of the program: 「時刻を記録しておいて」."""
    act = _find_act(sentence)
    return act is not None and bool(act["data"]) and not act["place"] and find_save_request_ja(sentence) is None


def _find_act(sentence: str) -> re.Match[str] | None:
    return _END.search(sentence) if any(part in sentence for part in _NEEDS) else None


def _without_manner(text: str) -> str:
    for _ in range(4):
        shorter = _MANNER.sub("", text)
        if shorter == text:
            break
        text = shorter
    return text.strip()
