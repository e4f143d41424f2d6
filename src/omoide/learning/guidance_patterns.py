"""The phrases by which `guidance` recognises what a person tells an agent for good, in English and Japanese."""

import re

from omoide.learning.patterns import any_of, listed, phrases, words

_TASK_VERB = words("""
    add, fix, make, change, rename, move, remove, delete, update, create, implement, split, refactor, check, look, find, show
    try, revert, commit, push, open, read, merge, install, set, bump, go(?! with), do, continue, extract, replace, explain
    summari[sz]e, start, have a look, take a look, rerun, apply, tell, give, send, investigate, debug, clean
""")

# How a message begins.

_NO = (
    r"no+(?!,? (?:thanks|thank you|thx|worries|problem)\b)"
    r"(?=\s*[.,!:;–—-]|$| (?:use|do|don'?t|it'?s?|we|the|that'?s?|i|you|not|please|just|keep|put|leave)\b)"
)
_REFUSAL = any_of(
    _NO,
    listed(r"""
    nope, nah, wrong, incorrect, not quite, not like that
    (?:that|this|it)(?:'?s| is| was)? (?:not (?:right|correct|true|what I (?:meant|asked|wanted))|wrong|incorrect)
    (?:that|this) isn'?t (?:right|correct|true|what I (?:meant|asked|wanted))
    いや, いえ, いいえ, 違う, 違います, 違くて, ちがう, ちゃう, そう(?:じゃ|では)な(?:く|い)(?:て|です)?
    それ(?:は|、)?(?:違|間違)(?:う|います|い(?:です)?), それ(?:は|、)?(?:だめ|ダメ|NG)(?:です)?, 逆(?:です|だ)?
    間違(?:い|って(?:い?ます|る))
    """),
)
_FILLER = listed("""
    oh, ah, hm+, uh, um, ok(?:ay)?, k, yes, yep, yeah, yup, sure, right, oh right, great, ah great, good, nice, cool, thanks
    thx, well, also, and, but, so, btw, by the way, fyi, careful(?=:), note, heads up, one (?:more )?thing, just so you know
    actually, wait, hey, important, sorry, please, pls, all good, perfect, go ahead, morning, looks good, lgtm
    オーケー, おk, はい, うん, ええ, ああ, あ, あと, それと, それから, ちなみに, なお, ただ, でも, まあ, えっと, で
    じゃあ, では, すみません, ごめん, いいね, いいです(?:ね)?, ありがと(?:う(?:ございます)?)?, 了解(?:です)?, お願いします
    そうですね, そうだ, 大事なこと, 補足, 念のため
""")
_AFTER = r"(?:[\s,.!:;、。！…–—-]+|$)"
LEAD = re.compile(rf"^(?:{_FILLER}{_AFTER})*(?P<no>(?:{_REFUSAL}{_AFTER})+)?(?:{_FILLER}{_AFTER})*", re.I)
"""Words at the beginning of a sentence that say nothing, and the one that refuses something."""

# What a sentence says.

_GROUP = r"(?:we|everyone|everybody|the (?:whole )?team|our \w+(?: \w+)?) (?:all |currently |still )?"
_HABIT = words("""
    always, only, don'?t, do not, never, uses?, runs?, write, name, put, store, pin, deploy, ship, prefers?, avoid, follows?
    stick, treat, tag, squash, log, document, format, version, requires?, expect, support, target, sign, round, call
    keep(?! (?:getting|seeing|hitting|having|running))
""")
_AUTHORITY = words("""
    legal, compliance, security, finance, ops, audit\\w*, the (?:client|customer|board|regulator), QA, CI, the linter, lint
    pre-commit
""")
_DEMANDS = words("""
    requires?, wants?, needs?, insists?, demands?, rejects?, enforces?, checks?, fails?, blocks?, expects?, forbids?
""")
GENERAL = phrases(
    words("""
        always, every ?time, each time, whenever, in general, as a rule, no matter (?:what|how), under no circumstances
        by default, around here, house (?:style|rules?), hands off, off[- ]limits, append[- ]only
    """),
    r"(?<!i've )(?<!has )(?<!have )(?<!had )(?<!was )\bnever\b(?! mind| seen| heard| been| worked| had| got| did)",
    rf"\b{_GROUP}{_HABIT}(?! (?:to|into)\b)",
    r"\b(?:in|for|across) (?:this|our|the whole) (?:repo|repository|project|codebase|team|company|org|monorepo|app)\b",
    r"\b(?:by|per|as per|according to) (?:contract|policy|convention|law|agreement|our|the (?:style|team|contract|spec))\b",
    r"\b(?:rules?|polic(?:y|ies)|conventions?|guidelines?|standards?) (?:here |there )?(?:is|are|says?|requires?|for)\b",
    r"\b(?:rule|convention|policy)\s*:",
    rf"{_AUTHORITY} (?:team )?{_DEMANDS}",
    r"\b(?:every|each) (?:new )?\w+ (?:has|have|must|needs?|gets?|should|goes|is)\b",
    r"\ball (?:the |our )?\w+(?: \w+){0,4} (?:are|is|in|go|goes|must|should|use|have)\b",
    r"\b(?:keep|stay|limit)\b.{1,40}\b(?:under|below|short|small|within|at most|max(?:imum)?)\b",
    r"\b(?:is|are) (?:pinned|frozen|locked|read[- ]only|write[- ]only|immutable|deprecated|banned|reserved)\b",
    r"\bI (?:always |really |strongly |much |generally )?(?:prefer|hate|dislike|can'?t stand|like (?:my|to have))\b",
    r"\b(?:is|are) (?:mandatory|compulsory|not optional|a must)\b|\b(?:we|i) can live with\b",
    r"\b(?:i|we)'?d (?:keep|stick|leave|go with|rather)\b|\bi (?:don'?t|do not) (?:want|like)\b",
    listed(
        "必ず, 常に, 毎回, いつも, 絶対, 原則, 基本(?:的に)?は?[、 ], 一律, 都度, 統一, 固定, 限定, 厳守, 必須, 推奨, 非推奨"
    ),
    "うち(?:は|では|の)|(?:弊社|社内|我々|私たち)",
    "(?:この|本)(?:プロジェクト|リポジトリ|リポ|コードベース|チーム|現場|アプリ|サービス)(?:は|では|の|で)|チーム(?:では|は|の|で)",
    listed("ルール, 規約, 方針, 決まり, 約束, 運用, ポリシー, 契約, 取り決め, お作法, 慣習, 社内規定"),
    "(?:ほう|方)が(?:いい|良い|好き|楽|助か|読みやす)|好み|(?:好き|嫌い|苦手)(?:です|だ|なので|。|$)|派(?:です|なので|だから)",
)
"""It holds always, everywhere or for a group; or it is what the person likes."""

_HARMLESS = words("""
    worry, bother, forget, think, know, care, mind, need, have, hesitate, see, remember, like, understand, get, recall, mean
    believe, work, seem, exist, matter, feel, say, look, appear, happen, show, want
""")
_NO_RULE = listed("need, idea, problem, worries, rush, way, thanks, clue, longer, one, matter, luck, tests?$")
FORBIDS = phrases(
    r"(?:^|[,;:.(]\s*|\b(?:and|but|so|please|pls|just|tho|though) )(?:do not|don'?t|never|stop|avoid|no more|quit)"
    rf" (?:ever |just )?(?!{_HARMLESS})\w+",
    r"\b(?:must|may|can|should)(?:n'?t| not| never) be \w+|\bmust(?:n'?t| not)\b|\bnot allowed\b|\bhands off\b",
    r"\b(?:don'?t|doesn'?t) (?:go|belong) (?:in|into|to|on|here)\b",
    r"\b(?:you|we) (?:can'?t|cannot|can not|may not|mustn'?t) (?:use|do|call|run|add|have|put|import|change|rely|touch)\b",
    rf"(?:^|[,;:]\s*|\band )no (?!{_NO_RULE})[\w-]+ (?:[\w-]+ )?(?:in|on|for|please|pls|at|anywhere|allowed|ever)\b",
    "(?<!気に)(?<!心配)(?<!気にし)(?<!心配し)ないで(?!す)",
    "(?:は|も|のは)(?:ダメ|だめ|駄目|なし|無し|ナシ|不可)",
    listed("禁止, 厳禁, (?<![a-z])NG(?![a-z]), ＮＧ, しないこと, ないこと, ないように, ^[^が]*しない[。！]?$, やめて"),
)
"""It says what not to do."""

STATES = phrases(
    words("lives?, sits?, resides?, listens?, stays?"),
    r"\b(?:limit|quota|timeout|ttl|max(?:imum)?|minimum|threshold|retention)\b.{0,30}\b(?:is|are)\b",
    "(?:する|入れる|書く|使う|付ける|つける|置く|分ける|揃える|残す|通す|出す|避ける|持つ|返す|しない|使わない)[。！]?$",
    r"\b(?:is|are) "
    + words("""
        stored, kept, defined, configured, hosted, deployed, generated, mounted, capped, limited, built, served, owned
        signed, cached, shared, synced, exposed, only, just an?, in, under, on port, behind
    """),
    words("comes?, go(?:es)?, belongs?, reads?, writes?, points?, talks?, depends?, runs?, builds?, ships?, times? out")
    + r" (?:from|in|into|to|through|via|under|at|on|after|with|every|nightly|only)\b",
    words("requires?, needs?, expects?, rejects?, accepts? only, only (?:works?|runs?|accepts?|supports?)"),
    words("allows? (?:only|at most)"),
    "に(?:(?:置|入)(?:いて|って|かれ))|になって(?:る|ます|いる|います)|しか(?:動|使え|対応|通)|までに?(?:。|$)",
    "(?:て|で)(?:る|ます|います|いる|ある|あります|おり)[。よねんの]?|(?:され|弾かれ)(?:る|ます|て)|(?:残ら|使え|読め|通ら|動か)な",
    listed("が必要, が要る, 要ります, でのみ, 経由, ポート, 環境変数, 自動生成, 読み取り専用, 上限"),
)
"""It describes how things are."""
SPECIFIES = phrases(
    "^[^、。はが]{2,20}は[^。？?]{2,60}[\u3400-\u9fff\u30a0-\u30ffa-z0-9」)]の?(?:方|ほう)?[。ねよ]*$",
    "^[^、。はが]{2,20}は[^。？?]{2,40}で、|^[^、。はが]{2,20}は ?[a-z0-9./_-]+、",
)
"""A Japanese sentence that states what something is."""
LOCATES = phrases(
    "^[^、。はが]{2,25}(?:は|が)[^。？?]{1,40}に(?:ある|あります|置いて(?:ある|あります))(?:。|よ|ね|から|ので|$)"
)
"""A Japanese sentence that states where something is."""

_VERB = words("""
    is, are, was, were, isn'?t, aren'?t, has, have, had, hasn'?t, doesn'?t, don'?t, can'?t, won'?t, would, will, needs?
    still, breaks?, calls?, reads?, uses?, depends?, expects?, runs?, wants?, said, says, failed, fails, gets?, got, goes
    drops?, rejects?
""")
EXPLAINS = phrases(
    rf"[,:;—–] ?(?!and\b|then\b|not\b|please\b)[\w'-]+(?: [\w'.-]+){{0,6}} {_VERB}",
    r"^(?:let'?s )?(?:keep|leave|stick|stay|go with|use|do|put|prefer|drop|skip)\b[^,;:—–]{3,60}[,;:—–] ?"
    rf"(?!(?:and|then|or|please|also|but)\b|{_TASK_VERB})(?:[\w'.-]+ ){{3,}}",
    "だと[^。、]{2,30}(?:る|ない|た)(?:[。のん]|から|$)",
    "(?:と|たら|ば)[^。、]{0,30}(?:ずれ|壊れ|落ち|困|怒られ|弾かれ|引っかか|止ま|消え|遅く|重く|失敗|エラー)",
)
"""A second clause that explains the first one."""
CONTRAST = phrases(
    r"[,;—–-] ?not (?:to |in |on |with |from |a |an |the |via )?[\w`.-]+",
    words("instead of, rather than"),
    "(?:じゃ|では)なく(?:て)?",
)
"""It puts one thing in the place of another."""

DIRECTS = phrases(
    words("""
        use, keep, leave, put, take, prefer, stick, stay, call, name, write, run, should, must, has to, have to, needs? to
        only, instead, rather, not, no, drop, skip, go with, want
    """),
    listed("""
        にする, にして, でいく, でいこう, でいき, でやる, を使, 残(?:し|す|って), 分け, 入れ, やめ, しない, だけ, のみ
        でいい, でお願い, ようにして, こと[。！]?$, 揃え, 寄せ, 置い, おいて, おく, 書い, まま, より, ではなく
        じゃなく, なし[で。], 足し
    """),
)
"""It says what to do."""

NAMES = phrases(
    r"^(?:please |just )?(?:use|take|go with|stick (?:to|with)) (?:the )?[\w.`/@+-]+[.!]?$",
    r"^`?[a-z0-9][\w.`/@+-]*`? ?(?:を使(?:って|う)|で(?:お願いします|頼む|よろしく|いい|いく|いこう)?)"
    "(?:ください|ね|よ)?[。！!]?$",
)
"""It says in a word or two what to use: enough for whoever knows what was refused."""

HOUSE_TOPIC = phrases(
    words("""
        commits?, commit messages?, branch(?:es| names?)?, PR (?:titles?|descriptions?), changelogs?, naming, comments?
        docstrings?, keywords?, indent(?:ation)?, tabs, spaces, quotes, imports?, trailers?, prefix(?:es)?, suffix(?:es)?
        snake_case, camelCase, kebab-case, lowercase, uppercase, error messages?, log (?:lines?|messages?), timestamps?
        dates?, units?, wording, spelling, answers?, replies, docs, documentation, release notes?
    """),
    listed("""
        コミット(?:メッセージ)?, ブランチ名?, (?<![a-z])PR(?![a-z]), プルリク, コメント
        命名, テストは, デフォルト, 既定, 初期値, 間隔, 仕様, 変数名, 関数名, テスト名, ログ
        エラー(?:文|メッセージ), 文言, 表記, 用語, 日付, 時刻, 単位, 数字, 文章, 文体, 見出し, リリースノート
        インデント, 改行, カラム名, テーブル名, 回答, 返事, 返答
        説明, レビュー
    """),
)
"""What conventions are about."""
HOUSE_SHAPE = phrases(
    r"\b(?:please|pls)[.!]*$",
    r"\b(?:in|as) (?:english|japanese|german|french|utc|iso\b|lowercase|uppercase|[\w-]+_case|present tense|imperative)",
    words("is, are, has, have, with, without, no, only, should, must, start, begin, end, prefixed?"),
    "で(?:お願い|統一|す|書|、|。|$)|に(?:して|する|統一|、|。|$)",
    listed("なし, 英語, 日本語, 半角, 全角, 両方, 降順, 昇順, 形式, つけ, 付け, 始め, 頭に, 先頭, 末尾"),
)
"""The form in which people state a convention."""

# What a sentence is, that is not guidance.

TASK = re.compile(
    any_of(
        r"^(?:can|could|would|will) (?:you|we)\b",
        r"^i(?:'d| would)? (?:need|want|like) you to\b",
        r"^let'?s (?:go(?! with)|start|try|tune|see|fix|add|look|move on|continue)\b",
        rf"^(?:please |pls |now |then |just |also )*{_TASK_VERB}",
        "(?:てもらえ|てくれ(?:る|ます|ない)|ていただけ|ちょうだい|頂戴|したい|直して|見て(?:くれ|もら|ほし)?|調べて|教えて|お願いできる|やって)"
        "(?:[?？。！ー〜]|ください|る|ます|$)",
    ),
    re.I,
)
"""It asks for something once."""
BUG = phrases(
    words("gives?, throws?, returns?, shows?, gets?, getting, got")
    + r" (?:me |us )?(?:an? )?(?:\d{3}|error|exception|blank|wrong|empty|null)\b",
    words("""
        crash(?:es|ed)?, broken, stopped working, doesn'?t (?:work|register|load|show|start), flaky
        still (?:feels|fails|shows|there)
    """),
    "落ち(?:る|て|ます)|エラー(?:に|が|出)|ずれ(?:て|る)|遅い(?:です|んだ|$)",
    listed("動かない, おかしい, 壊れて, できちゃう, 押せちゃう"),
)
"""It describes what is broken."""
DEPENDENT = phrases(
    "^"
    + words("""
        it, they, that, this, those, these, he, she, because, otherwise, or else, since, so that, so (?:we|they|that|nobody)
        the reason, in case, only, and (?:it|they), which, like
    """),
    r"^(?:e\.g\.|i\.e\.)",
    "^[^。、]{0,20}だと",
    "^"
    + listed(
        "それ(?!から|と|に), これ(?!から), そう(?!したら|して), じゃないと, でないと, なぜなら, 理由, 例えば, 「, 前に"
    ),
    "(?:ので|から|ため|ないと(?:困る)?(?:です)?|みたいな(?:感じ)?)[。！]?$",
)
"""It only explains the sentence before it."""
VAGUE = phrases(
    r"^(?:it|this|that|these|those|they|he|she|which|there)\b"
    r"(?!\s+(?:repo|repository|project|codebase|team|service|package|module|app))",
    words("maybe, perhaps, might, probably, i think, i guess, not sure, dunno, could be, i wonder, idk"),
    r"^no (?:need|problem|worries|rush|idea|thanks)\b",
    "^(?:これ|それ|あれ|この辺|その辺)(?:は|が|を|も)",
    "(?:かもしれ|と思い|気がし|たぶん|多分|おそらく|っぽい|かも[。！]?$)",
)
"""It cannot be understood alone, or is a guess."""
