"""Texts that must not be learnt from: progress reports, what holds for now only, instructions of tools, secrets. Pure."""

import re
from itertools import pairwise

from omoide.compiled_patterns import load_pattern
from omoide.learning.patterns import any_in_list, any_of, phrases, words

_PAST = any_in_list("updated, added, fixed, changed, implemented, created, removed, run, refactored, moved, set")
_PROGRESS = load_pattern(
    r"^(?:(?:ok(?:ay)?|great|perfect|alright|good|now|next|first|then|finally|so|sure|right|understood)[,.!:]?\s+)*"
    + any_of(
        r"I(?:'ll| will|'m (?:going to|now|adding|leaving|checking|running)| am now| am going to|'d like to)\b",
        r"I (?:can|could|might|try|propose)\b",
        r"I (?:have|just) \w+ed\b",
        rf"I've (?:now |just |also )?{_PAST}\b",
        r"let(?:'?s| me)\b",
        r"(?:all|the|both|\d+(?: of \d+)?) (?:\w+ )?(?:tests?|checks?) (?:now )?(?:pass|are green)",
        words("""
            done, running, checking, working on, starting, continuing, reading, looking, in progress, wip, todo, remaining
            passing, linted, committed, pushed, reverted, changed, updated, added, removed, fixed, set, take your time
        """),
        r"here(?:'s| is| are)\b",
        r"(?:the )?task (?:is )?(?:complete|done|finished)",
    ),
    re.I,
)
_WORK_JA = any_in_list("""
    修正, 追加, 変更, 実装, 作成, 削除, 更新, 確認, 実行, 対応, 完了, コミット, プッシュ, 移動, 置き換え, 差し替え, 切り出
    反映, 調査, 再実行, 起動, 計測
""")
_PROGRESS_JA = phrases(
    rf"{_WORK_JA}(?:し(?:ました|ます|ています|ましょう|てみます|ておきます)|中です|済みです|が完了しました|いたしました|え?ました)"
    "[。！!]?$",
    "^(?:まず|次に|それでは|では|続いて|これから|現在|作業中|進捗|残り|TODO)",
    "(?:見てみ|調べ|試し|やってみ|読み|分け|直し|流し|回し|進め|置き換え|変え|差し替え)(?:て(?:み|おき|いき))?(?:ます|ました)[。]?$",
    "テスト(?:は|も)?(?:\\d+件)?(?:も)?(?:すべて|全て|全部)?(?:通り|通って|パスし|成功し)",
    "^(?:了解|承知|わかりました|分かりました|かしこまりました)",
)


def is_progress(sentence: str) -> bool:
    """Whether a sentence reports what is being done, which is over when the task is over."""
    return bool(_PROGRESS.match(sentence) or _PROGRESS_JA.search(sentence))


_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_RECURS = words("every, each, mornings, afternoons, evenings, nights, always, usually, whenever, weekly")
_TEMPORARY = phrases(
    r"\b(?:today|tomorrow|yesterday|tonight|right now|at the moment|for the moment|for now|this once|just once|one-off"
    r"|temporar(?:y|ily)|in a (?:minute|sec\w*|bit)|later(?=[.,!)]|$| (?:today|on|this|in))"
    r"|next (?:week|month|sprint)|yet|still broken"
    r"|deadline|code freeze)\b",
    r"\bthis (?:time|morning|afternoon|evening|week(?:end)?|month|quarter|sprint)\b",
    r"\bthis (?:PR|commit|branch|task|ticket|session|one)\b",
    rf"^(?!.*{_RECURS}).*\b(?:since|until|till|by|on|last|this|next) {_DAY}(?!s)\b",
    r"\b(?:until|till|through) the \d+(?:st|nd|rd|th)\b(?! of (?:each|every))",
    r"\b(?:until|till|before|while) (?:i|i'm|i've|he|she)\b|\bis (?:down|out|away|on (?:holiday|vacation|leave))\b",
    "今日|明日|昨日|今朝|今夜|この前|来週|先週|今回(?:だけ|は|の|なら)|いまだけ|今だけ|一時的|とりあえず|いったん|一旦|あとで|後で|さっき|いま(?:は|の)",
    "今週|今月|今から|週明け|休み(?:中|なので|だから)|来月|先月|明後日|本日|今晩|(?:凍結|メンテ(?:ナンス)?|休暇|出張|離席|停止)(?:中|で)|返事待ち|まだ[^。、]{0,8}(?:ないで|待っ)|までに[^。]{0,12}たい",
    "この(?:PR|コミット|ブランチ|タスク|作業|チケット)",
)


def is_temporary(sentence: str) -> bool:
    """Whether a sentence says that it holds for now only."""
    return bool(_TEMPORARY.search(sentence))


_VERY = "(?:(?:so|really|quite|a bit|a little|very|still|already|just|much|not|pretty|kind of|rather|way|too|all) ){0,3}"
_ACQUAINTANCE = words("""
    friend, colleague, coworker, neighbou?r, brother, sister, wife, husband, nephew, niece, son, daughter, mother, father
    mum, mom, dad, cousin, uncle, aunt
""")
_MUSING = any_of(
    r"\bi (?:wonder|guess|suppose|bet|doubt|imagine|presume|keep \w+ing|always (?:forget|get|wonder|think|mix|feel))\b",
    words("""
        my (?:guess|hunch|feeling|plan) (?:is|was), no idea, who knows, beats me, fingers crossed, just saying
        believe it or not, funny (?:how|thing|enough), no wonder, lol, haha, reminds? me of, wish me luck
        (?:makes?|made) me (?:wonder|think|laugh|smile|nervous|sad|happy|feel), get me started, rabbit hole, big fan
        (?:it|that|this)(?:'s| is| was) (?:such )?(?:an? )?(?:really )?(?:nice|lovely|beautiful|pity|shame|mess|joke|relief)
        (?:it|that|this) must (?:be (?:some\\w*|because|related)|have been)
    """),
    rf"\bi(?:'m| am| was| feel| felt) {_VERY}(?:tired|exhausted|curious|worried|surprised|happy|glad|impressed|confused"
    r"|nervous|excited|relieved|proud|annoyed|hungry|torn|stuck|lost)\b",
    rf"\b(?:looks|feels|sounds|seems) {_VERY}(?:nice|nicer|good|better|great|lovely|fine|ok|okay|calmer|cleaner|cramped|ugly"
    r"|off|odd|strange|weird|funny|different)\b",
    r"\bor (?:whatever\b|something(?=[.,!]|$))",
    "(?:なあ|なぁ|なー)[ー〜。！!…]*$|けど[なねさ][。]?$",
    "気がし|気になっ|気になり|気になる(?![ぁ-ん]?(?:点|箇所|こと|ところ))|んだろう|のだろう|だろうな|でしょうね|不思議|信じられない",
    r"\bi(?:'d| would) love to\b|\bno (?:pressure|rush|hurry)(?=[,.!]|$)",
    "(?:のに(?:な|ね|さ)?|すごい(?:です|よ|ね|な|わ)+)[。！!]?$",
    r"\b(?:lately|these days)\b|最近は|最近、|最近[^の、。]{1,20}(?:増え|減|多い)",
    "(?:まいっ|参っ|困っ)ちゃ|勘弁|うんざり|散々|好みの問題|(?:んじゃない|じゃない)か(?:と|な)?[。]?$",
    "びっくり|懐かし|楽しみ|泣きそう|参った|疲れ(?:た|て|ま)|眠い|お腹|嬉しい|うれしい|ハマ(?:る|った)|落ち着きます",
)
"""Thinking aloud, and how somebody feels about something."""
_SEEN = any_of(
    r"\b(?:should|supposed to) (?:be|have|say|read|show)\b.{0,60}\b(?:and|but|yet) (?:it|they|i|we)"
    r" (?:says?|shows?|gets?|got|is|are|sees?|reads?|have)\b",
    "(?:が|は|も)(?:ちょっと|少し|なんか|どこか|かなり)?(?:変(?:です|だ|なん|[。]?$)|怪しい|妙に)",
    "(?:なっ|寄っ|ずれ|出|欠け|切れ|残っ|抜け|重なっ|増え|減っ)て(?:い)?(?:る|ます)(?:ね|な)[。]?$",
    r"^(?:here(?:'s| is| are)|that's) the\b|\bas you (?:can )?see\b|\bso far\b|\babout to\b|\bfor a (?:moment|second)\b",
    r"\b(?:numbers|results|figures) (?:\w+ ){0,3}are in(?=[,.;!]|$)",
    r"\ba (?:bit|little) (?:more|less|bigger|smaller|wider|darker|lighter)\b",
    r"\bon my (?:\w+ )?(?:phone|iphone|ipad|tablet|screen|monitor|samsung|pixel)\b",
    "(?:見ての|ご覧の|スクショの)(?:とおり|通り)|(?:プッシュ|コミット|マージ|デプロイ)済み|レビュー待ち|(?:数字|結果)が出ました",
    "もう(?:少し|ちょっと|ちょい)|^(?:残り|あと)の?[一二三四五六七八九十0-9]+(?:つ|件|個|本|枚)|しばらく残",
    "はず(?:なのに|なん|が、)|べきところ|(?:原因|理由|出どころ)(?:が|は)(?:わから|分から|不明)|よく(?:わから|分から)な",
)
"""What somebody sees at the moment, the progress of a thing, and small adjustments."""
_SEASON = words("""
    january, february, march, april, may, june, july, august, september, october, november, december
    spring, summer, autumn, fall, winter
""")
_OPEN = any_of(
    rf"(?:'re|'m|'s|\b(?:are|am|is)) \w+ing\b.{{0,60}}\b(?:in|by|until|till) {_SEASON}",
    words("""
        still (?:discussing|talking|negotiating|arguing|thinking|waiting|unsure), sleep on, i have to (?:ask|check|think)
        i(?:'ll| will| need to| should|'d better) (?:ask|check with|talk to|think)
        we(?:'ll| will) (?:see|know|find out|decide)
        we (?:can|could|should|might) (?:think|talk) about, i (?:meant|intended|planned|was going) to
        i(?:'ve got| have|'ve| got|'d better) to (?:go|leave|feed|catch|pick|head)
        (?:one|another|an) (?:option|alternative) is
        an alternative (?:would|could|might), in theory, let'?s park
        i (?:heard|read) (?:somewhere|that), swears? by
    """),
    rf"\bmy (?:\w+ )?{_ACQUAINTANCE} (?:of mine )?(?:always |just )?(?:says?|said|thinks?|thought|told|mentioned|set|did)\b",
    "話し(?:て(?:い)?る(?:ところ|最中)|合(?:って|い中))",
    "(?:聞いて|確認して|相談して|考えて|調べて)(?:み(?:る|ます|ない|よう)|くる|きます)",
    "聞かないと|考えさせて|決まる(?:予定|はず)|交渉中|調整中|悩(?:む|ましい)|どうするか|つもり(?:だ|です|で|[。]?$)",
    "(?:行って|食べて|出かけて|買って)(?:くる|きます)|戻ります|帰ります|(?:撮り|書き|やり|作り|出し)直し(?:ます|てき)",
    r"\bi need (?:it|them|this|that|these|those) (?:for|by|before)\b"
    r".{0,20}\b(?:talk|meeting|presentation|call|demo|lecture)\b",
    "(?:俺|僕|自分|私|こっち)は(?:これから|今から|もう|先に|.{0,40}(?:する|おく|やる|出す|見る|行く)わ|.{0,20}てくる)",
    "(?:する|やる|行く|帰る|出す|見る|寝る|直す|送る|聞く)わ(?=[、。]|$)",
    "(?:し|やら|行か|出さ|買わ|送ら|出かけ|帰ら|寝)ないと[。]?$",
    "(?:手も|のも)(?:ある|あり)|(?:置いて|やめて)おこう|様子(?:を)?見|(?:比べ|試し|確かめ|見せ)たい(?:から|ので|だけ|[。]?$)",
    r"\bi want to (?:compare|try|test|check|look|show|think)\b",
    "(?:決まっ|わかっ|分かっ|届い|終わっ)たら(?:また)?(?:連絡|知らせ|言い|言う|教え)",
    "(?:って|という)(?:言ってま|聞い|聞き|話(?:です|だ|[。]?$)|噂|伝説)|どこかで(?:読|見|聞)",
)
"""What is undecided, hearsay, or what somebody is about to do."""
_ANECDOTE = any_of(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )\b(?:always|never) (?:said|says?|thought|thinks?|was|were|had|went|came|felt|knew"
    r"|swears?|took|got|complains?|laughs?|crashed|failed|worked|used (?!by\b|in\b|for\b|as\b))",
    r"\b(?:every ?time|each time|whenever) (?:i|we|they|he|she|it|some(?:body|one))"
    r" (?:\w+ed|did|was|were|had|got|went|came|saw|ran|tried)\b",
    r"\b(?:when i was|back (?:then|in the day|when)|in the old days|used to be)\b",
    "(?:いた|だった|の|入社した)(?:頃|ころ)は",
    "(?:もともと|元々|昔|当時|以前)は.{0,60}(?:た|たん(?:です|だ))(?:けど|が)?[ねよな]*[。]?$",
    "(?:毎回|毎週|毎日|いつも|必ず|絶対|常に|うちの|前任者|前の(?:会社|職場|担当)).{0,60}(?<!にし)(?<!なっ)"
    "(?<!なり)(?<!決め)(?<!決まり)(?<!一し)(?<!更し)(?<!止し)(?<!変え)(?:ました|でした|[っいしきえけせれ]た)(?:んです|んだ)?(?:けど|が)?(?:ね|よ|な)*[。！]?$",
)
"""What happened once, or happens to somebody again and again."""
_PASSING = phrases(_MUSING, _SEEN, _OPEN, _ANECDOTE)


def is_passing(sentence: str) -> bool:
    """Whether a sentence is talk of the moment: thinking aloud, a feeling, a fault that is seen, what is open, a story."""
    return bool(_PASSING.search(sentence))


_ORDER = any_in_list("""
    please, you (?:must|should|need to|have to), always, never, do not, don'?t, make sure, ensure, remember, ignore
    disregard, run, execute, install, use, send, forward, delete, add, save, store, upload, report, from now on
""")
_INSTRUCTION = phrases(
    rf"^\W*(?:\w+(?: \w+){{0,3}}:\s*)?{_ORDER}\b",
    r"\b(?:ignore|disregard) (?:all |any )?(?:previous|prior|above|other)\b",
    r"\b(?:AI|assistant|agent|LLM|model|bot|copilot)s?(?: \w+)? (?:must|should|need to|have to|are (?:required|asked))\b",
    r"\b(?:AI|LLM|coding) (?:assistant|agent|model)s?\s*[:：]",
    r"\b(?:must|should) (?:always|never|also|first)\b",
    "して(?:ください|下さい)|すること|しなさい|しないで|してはいけ|覚えて|無視して|記憶して",
    "(?:AI|エージェント|アシスタント)(?:への|は|の皆)",
)
_REFUSE = any_of("won'?t", "will not", "not going to", "didn'?t", "did not", "I'?m not")
_NOTICE = any_in_list("instruction, notice, comment, request, note, banner")
_ABOUT_INSTRUCTION = phrases(
    r"\b(?:addressed|aimed|directed) (?:to|at) (?:\w+ )?(?:agents?|assistants?|AIs?|models?|LLMs?|me)\b",
    r"\b(?:hidden|embedded|injected|suspicious) (?:comment|instruction|text|prompt|note|message)s?\b",
    r"\bprompt[- ]injection\b",
    rf"\b{_REFUSE} (?:act on|follow|do that|execute|obey|comply|going to follow)\b",
    rf"\b(?:ignor(?:e|ed|ing)|leaving|skipp(?:ed|ing)) (?:that|the|this|it)\b.*\b{_NOTICE}",
    rf"\b{_NOTICE}s?\b.*\b(?:ignor|came from|leaving .* alone|nobody (?:here )?asked)",
    "(?:指示|命令|コメント|文言|注意書き)[^。]*(?:従い?ま?せん|従わ|無視|実行しま?せん|対応しま?せん)",
    "プロンプトインジェクション|埋め込まれた(?:指示|命令)|エージェント(?:宛|向け|への)",
)


def is_instruction(sentence: str) -> bool:
    """Whether a sentence tells somebody what to do."""
    return bool(_INSTRUCTION.search(sentence))


_TELLS = any_in_list("""
    says?, said, reads?, tells?, told, states?, stated, claims?, claimed, writes?, wrote, suggests?, suggested, recommends?
    recommended, insists?, insisted
""")
_REPORTED = phrases(
    rf"\b{_TELLS}\b[^\"“'「『]{{0,20}}[\"“'「『]\S",
    rf"^(?!(?:I|we|as I|as we)\b)[\w' -]{{1,40}} {_TELLS} (?:(?:me|us|you) )?(?:that|to|we|you|I|it|they)\b",
    '[」』”"] ?(?:と|って)[^、。]{0,6}(?:書いて|書かれて|書いた|記載|言って|言った|言われ|表示|出て|出た|いう)',
    "(?:と|って)[^、。]{0,6}(?:書いてあ|書かれて|記載され|言われ(?:た|て)|言ってた|言っていた)",
)


def is_reported(sentence: str) -> bool:
    """Whether a sentence tells what somebody else, a file or a page says."""
    return bool(_REPORTED.search(sentence))


_STANDING = phrases(
    words("from now on, always, never, every time, must, remember"), "今後|これから|必ず|常に|覚えて|記憶して|毎回"
)


def is_standing_order(sentence: str) -> bool:
    """Whether a sentence tells somebody what to do from now on: only a person may say that."""
    return is_instruction(sentence) and bool(_STANDING.search(sentence))


def is_about_instruction(sentence: str) -> bool:
    """Whether a sentence is about an instruction that somebody hid in a file, a page or an output."""
    return bool(_ABOUT_INSTRUCTION.search(sentence))


_TOKEN = load_pattern(r"[^\s,;、。「」『』()（）\[\]{}<>\"'`“”]{8,}")
_SIGNS = load_pattern(r"[-_.:/+=@~*$!?]+")
_SEGMENT = load_pattern(r"[A-Za-z]*\d*|\d+[A-Za-z]{0,3}|[a-z0-9]{1,5}")
"""A part of names, versions, addresses and paths: of ESP32-S3, 10.3.1, s3://a/b2, lib/l10n."""
_PLAIN = load_pattern(r"https?://\S+|\d{4}-\d\d-\d\dT[\d:.]+Z?|[0-9a-f]{7,40}")
"""An address, a time, a commit."""


def has_credential(sentence: str) -> bool:
    """Whether a sentence contains a word that looks like a password or a key: letters, digits and signs without a pattern.

    The guard of the write path knows the formats of credentials. This rule is for a conversation, where people write a
    password without saying that it is one: it refuses more than the guard.
    """
    return any(
        not _is_plain(token) and _changes(token) >= 4
        for token in _TOKEN.findall(sentence)
        if token.isascii() and any(map(str.isdigit, token)) and any(map(str.isalpha, token))
    )


def _is_plain(token: str) -> bool:
    return bool(_PLAIN.fullmatch(token)) or all(_SEGMENT.fullmatch(part) for part in _SIGNS.split(token))


def _changes(token: str) -> int:
    """How often a word changes between lower case, upper case, digits and signs."""
    kinds = [character.islower() + 2 * character.isupper() + 4 * character.isdigit() for character in token]
    return sum(one != other for one, other in pairwise(kinds))
