"""The phrases by which `guidance` recognises lasting guidance, in English and Japanese."""

import re

from omoide.learning.patterns import any_in_list, any_of, lazy_pattern, phrases, words

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
    r"(?:the|your) \w+(?: \w+)? (?:is|are|looks?) (?:wrong|incorrect)(?=[,;:])",
    any_in_list(r"""
    nope, nah, wrong, incorrect, not quite, not like that
    (?:that|this|it)(?:'?s| is| was)? (?:not (?:right|correct|true|what I (?:meant|asked|wanted))|wrong|incorrect)
    (?:that|this) isn'?t (?:right|correct|true|what I (?:meant|asked|wanted))
    いや, いえ, いいえ, 違う, 違います, 違くて, ちがう, ちゃう, そう(?:じゃ|では)な(?:く|い)(?:て|です)?
    それ(?:は|、)?(?:違|間違)(?:う|います|い(?:です)?), それ(?:は|、)?(?:だめ|ダメ|NG)(?:です)?, 逆(?:です|だ)?
    間違(?:い|って(?:い?ます|る))
    """),
)
_FILLER = any_in_list("""
    oh, ah, hm+, uh, um, ok(?:ay)?, k, yes, yep, yeah, yup, sure, right, oh right, great, ah great, good, nice, cool, thanks
    thx, well, also, and, but, so, btw, by the way, fyi, careful(?=:), note, heads up, just so you know
    (?:one )?(?:more |last )?thing, fine, makes sense
    actually, wait, hey, important, sorry, please, pls, all good, perfect, go ahead, morning, looks good, lgtm
    オーケー, おk, はい, うん, ええ, ああ, あ, あと, それと, それから, ちなみに, なお, ただ, でも, まあ, えっと, で
    じゃあ, では, すみません, ごめん, いいね, いいです(?:ね)?, ありがと(?:う(?:ございます)?)?, 了解(?:です)?, お願いします
    そうですね, そうだ, 大事なこと, 補足, 念のため
""")
_AFTER = r"(?:[\s,.!:;、。！…–—-]+|$)"
LEAD = lazy_pattern(rf"^(?:{_FILLER}{_AFTER})*(?P<no>(?:{_REFUSAL}{_AFTER})+)?(?:{_FILLER}{_AFTER})*", re.I)
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
ADVERB = phrases(
    r"(?:^|[,;:.(—–-]\s*|\b(?:and|but|so|please|pls|we|you|i|must|should|to|is|are|be|goes|go|stays?|also|just|or|thing) )"
    r"(?:always\b|never\b(?! mind| seen| heard| been| worked| had| got| did))",
    r"\b(?:whenever|every ?time|each time) (?:you|we|i|someone|anyone|somebody|anybody|there)\b",
    r"\b(?:for (?:good|ever)|(?:no|not) .{2,40} (?:ever|anywhere|at all))[.!]*$",
    r"^(?:so |and |but )?our \w+(?: \w+)? (?:is|are)\b",
    any_in_list("必ず, 常に, 毎回, いつも, 絶対, 都度, 一律"),
)
"""It says "always" or "never" of what somebody is to do. What always happens may be a fault: see `BUG`."""
GENERAL = phrases(
    words("""
        in general(?! terms), as a rule, no matter (?:what|how), under no circumstances
        by default, around here, house (?:style|rules?), hands off, off[- ]limits, append[- ]only
    """),
    rf"\b{_GROUP}{_HABIT}(?! (?:to|into)\b)",
    r"\b(?:in|for|across) (?:this|our|the whole) (?:repo|repository|project|codebase|team|company|org|monorepo|app)\b",
    r"\b(?:by|per|as per|according to) (?:contract|policy|convention|law|agreement|our|the (?:style|team|contract|spec))\b",
    r"\b(?:rules?|polic(?:y|ies)|conventions?|guidelines?|standards?) (?:here |there )?(?:is|are|says?|requires?|for)\b",
    r"\b(?:rule|convention|policy)\s*:|\b(?:company|team|house|security) (?:policy|rules?)\b",
    rf"{_AUTHORITY} (?:team )?{_DEMANDS}",
    r"\b(?:every|each) (?:new )?\w+ (?:has|have|must|needs?|gets?|should|goes|is)\b",
    r"\ball (?:the |our )?\w+(?: \w+){0,4} (?:are|is|in|go|goes|must|should|use|have)\b",
    r"\b(?:keep|stay|limit)\b.{1,40}\b(?:under|below|short|small|within|at most|max(?:imum)?)\b",
    r"\b(?:is|are) (?:pinned|frozen|locked|read[- ]only|write[- ]only|immutable|deprecated|banned|reserved)\b",
    r"\bI (?:always |really |strongly |much |generally )?"
    r"(?:(?:prefer|hate|dislike|can'?t stand)\b(?! th(?:is|at|ese|ose)\b)|like (?:my|to have)\b)",
    r"\b(?:is|are) (?:mandatory|compulsory|not optional|a must)\b|\b(?:we|i) can live with\b",
    r"\b(?:i|we)'?d (?:keep|stick|leave|go with|rather)\b",
    r"(?:^|[,;:.] ?|\b(?:and|but|so|because) )i (?:don'?t|do not) (?:want|like)\b",
    any_in_list("原則, 基本(?:的に)?は?[、 ], 統一, 固定, 限定, 厳守, 必須, (?<!非)推奨, 対象(?:です|。|$|、)"),
    "(?<![のそ])うち(?:は|では|の[^、。]{1,12}(?:は|で、))|(?:弊社|社内|我々|私たち)",
    "(?:この|本)(?:プロジェクト|リポジトリ|リポ|コードベース|チーム|現場|アプリ|サービス)(?:は|では|の|で)|チーム(?:では|は|の|で)",
    any_in_list("ルール, 規約, 方針, 決まり, 約束, 運用, ポリシー, 契約, 取り決め, お作法, 慣習, 社内規定"),
    "(?:ほう|方)が(?:いい|良い|好き|楽|助か|読みやす)|好み|(?:好き|嫌い|苦手)(?:です|だ|なので|。|$)|派(?:です|なので|だから)",
)
"""It holds always, everywhere or for a group; or it is what the person likes."""

_HARMLESS = words("""
    worry, bother, forget, think, know, care, mind, need, have, hesitate, see, remember, like, understand, get, recall, mean
    judge, laugh, blame, panic, cry, stress, quote, ask me, tell (?:him|her|them|anyone|anybody), get me wrong
    believe, work, seem, exist, matter, feel, say, look, appear, happen, show, want
""")
_NO_RULE = any_in_list("need, idea, problem, worries, rush, way, thanks, clue, longer, one, matter, luck, tests?$")
FORBIDS = phrases(
    r"(?:^|[,;:.(]\s*|\b(?:and|but|so|please|pls|just|tho|though) )"
    rf"(?:(?:do not|don'?t|never|avoid|no more) (?:ever |just )?(?!{_HARMLESS})\w+|(?:stop|quit) \w+ing\b)",
    r"\b(?:must|may|can|should)(?:n'?t| not| never) be \w+|\bmust(?:n'?t| not)\b|\bhands off\b",
    r"\b(?:not|isn'?t|aren'?t) (?:allowed|permitted)\b",
    r"\b(?:don'?t|doesn'?t) (?:go|belong) (?:in|into|to|on|here)\b",
    r"\b(?:you|we) (?:can'?t|cannot|can not|may not|mustn'?t) (?:use|do|call|run|add|have|put|import|change|rely|touch)\b",
    rf"(?:^|[,;:]\s*|\band )no (?!{_NO_RULE})[\w<>/-]+ (?:[\w<>/-]+ ){{0,4}}"
    r"(?:in|on|for|please|pls|at|anywhere|allowed|ever)\b",
    "(?<!気に)(?<!心配)(?<!気にし)(?<!心配し)ないで(?!す)",
    "(?:は|も|のは)(?:ダメ|だめ|駄目|なし|無し|ナシ|不可)",
    any_in_list("禁止, 厳禁, (?<![a-z])NG(?![a-z]), ＮＧ, ないこと(?=[、。！]|$|で), ないように, ^[^が]*しない[。！]?$"),
    "やめ(?:て|ましょう)|避けて|(?:せず|さず|かず|わず)に?、?[^。]{1,30}(?:こと|して|する|ください|書)",
)
"""It says what not to do."""

_ARRANGED = (
    "置い|入っ|決まっ|決め|なっ|使っ|動い|走っ|固定し|統一し|揃え|書い|設定し|管理し|分け|保存し|運用し|見|残し|限定し|指定し|想定し"
    "|接続し|繋がっ|つながっ|依存し|提供し|共有し|公開し|用意し|まとめ|向け|許可し|対応し|制限し|予約し|割り当て|やらかし|縛られ"
)
"""How Japanese says that things were arranged so, and are so since; other verbs tell what is happening."""
STATES = phrases(
    words("lives?, sits?, resides?, listens?, stays?"),
    r"\b(?:limit|quota|timeout|ttl|max(?:imum)?|minimum|threshold|retention)\b.{0,30}\b(?:is|are)\b",
    "(?:する|入れる|書く|使う|付ける|つける|置く|分ける|揃える|残す|通す|出す|避ける|持つ|返す|しない|使わない)[。！]?$",
    r"\b(?:is|are) "
    + words("""
        stored, kept, defined, configured, hosted, deployed, generated, mounted, capped, limited, built, served, owned
        signed, cached, shared, synced, exposed, only, just an?, in, under, on, at, via, over, behind, mandatory, forever
    """),
    words("comes?, go(?:es)?, belongs?, reads?, writes?, points?, talks?, depends?, runs?, builds?, ships?, times? out")
    + r" (?:from|in|into|to|through|via|under|at|on|after|with|every|nightly|only)\b",
    r"(?<!\bi )(?<!\bwe )(?<!\byou )"
    + words("requires?, needs?, expects?, rejects?, accepts? only, only (?:works?|runs?|accepts?|supports?|links?)"),
    words("allows? (?:only|at most)"),
    "に(?:(?:置|入)(?:いて|って|かれ))|になって(?:る|ます|いる|います)|しか(?:動|使え|対応|通)|までに?(?:。|$)",
    f"(?:{_ARRANGED})(?:て|で)(?:る|ます|います|いる|ある|あります|おり|ない)|(?:され|弾かれ)(?:る|ます)|(?:残ら|使え|読め|通ら|出せ|送れ|消せ|変えられ)な",
    "(?:て|で)あ(?:る|ります)",
    any_in_list("が必要, が要る, 要ります, でのみ, 経由, ポート, 環境変数, 自動生成, 読み取り専用, 上限"),
)
"""It describes how things are."""
SPECIFIES = phrases(
    "^[^、。はが]{2,20}は[^。？?]{2,60}[\u3400-\u9fff\u30a0-\u30ffa-z0-9」)]の?(?:方|ほう)?(?: ?だ| ?です)?[。ねよ]*$",
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
    words("use, uses, using, we, prefer, should, must, please, pls, is, are, want, need, put, take, go, keep, have, let'?s")
    + r".*\b(?:instead of|rather than)\b",
    r"\b(?:instead of|rather than)\b.*\b(?:use|we|should|please|pls|put|take|call|write|run|make)\b",
    "(?:じゃ|では)なく(?:て)?",
)
"""It puts one thing in the place of another."""

DIRECTS = phrases(
    words("""
        use, keep, leave, put, take, prefer, stick, stay, call, name, write, run, must, has to, have to, needs? to
        only, instead, rather, drop, skip, go with
    """),
    r"(?:^|[,;:]\s*|\b(?:please|pls) )"
    + words("""
        wrap, pass, pin, quote, sort, return, store, cache, escape, validate, sign, prefix, tag, group, mark, document, catch
        reuse, stub, mock, round
    """),
    r"\b(?:should|not|no)\b(?! \w+ing\b)",
    any_in_list("""
        (?:に|まで)(?:落と|下げ|上げ|増や|減ら|絞)
        にする, に(?:して|しと), でいく, でいこう, でいき, でやる, を使, 残(?:し|す|って), 分け, 入れ, やめ, だけ
        しない(?!と), のみ, (?:(?<!の)で|に|へ)[。！]?$, 切(?:る|り), やめます, 外(?:す|し), 捨て, だけで
        でいい, でお願い, ようにして, こと(?=[。！(（]|$), 揃え, 寄せ, 置い, おいて, おく, 書い, まま, より, ではなく
        じゃなく, なし[で。], 足し
    """),
)
"""It says what to do."""

NAMES = phrases(
    r"^(?:please |just )?(?:use|take|go with|stick (?:to|with)) (?:the )?[\w.`/@+-]+[.!]?$",
    r"^`?[a-z0-9][\w.`/@+-]*`? ?(?:を使(?:って|う)|で(?:お願いします|頼む|よろしく|いい|いく|いこう)?)"
    "(?:ください|ね|よ)?[。！!]?$",
)
"""It says in a word or two what to use: enough if it is known what was refused."""

HOUSE_TOPIC = phrases(
    words("""
        commits?, commit messages?, branch(?:es| names?)?, PR (?:titles?|descriptions?), changelogs?, naming, comments?
        docstrings?, keywords?, indent(?:ation)?, tabs, spaces, quotes, imports?, trailers?, prefix(?:es)?, suffix(?:es)?
        snake_case, camelCase, kebab-case, lowercase, uppercase, error messages?, log (?:lines?|messages?), timestamps?
        dates?, units?, wording, spelling, answers?, replies, docs, documentation, release notes?
    """),
    any_in_list("""
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
    words("without, no, only, should, must, start, begin, end, prefixed?"),
    "で(?:お願い|統一|す|書|、)|(?<!の)で(?:。|$)|に(?:して|する|統一|、|。|$)",
    any_in_list("なし, 英語, 日本語, 半角, 全角, 両方, 降順, 昇順, 形式, つけ, 付け, 始め, 頭に, 先頭, 末尾"),
)
"""The form in which people state a convention."""

GENERIC = phrases(
    r"^(?:the |our |all )?(?:[\w.*/<>-]+ ){0,4}[\w-]{2,}s (?:only |always |never )?"
    r"(?:stay|live|belong|go (?:in|into|to|on|through|via)|come from|must|have to|get (?:their|its|an?|only)|only get"
    r"|are (?:forever|final))\b",
    r"^[\w.`/<>-]+(?: [\w.`/<>-]+)? only (?:in|on|for|with|from|through|via|at|as)\b",
    r"^(?:[\w.`/<>-]+ ){1,2}(?:for|in|on) (?:all|every|everything|each)\b",
    "は[^。]{2,}(?:[うくぐすつぬぶむる]|ない)こと(?=[。！(（]|$)",
)
"""A sentence about all things of a kind: "library crates get their own errors", 「写真は縮小してから送ること」."""
HOUSE_SUBJECT = phrases(
    r"^(?:the |our |all |every )?(?:\w+ )?"
    + words("""
        commits?, commit messages?, branch(?:es| names?)?, PR (?:titles?|descriptions?), changelogs?, naming, names?
        docstrings?, indentation, imports?, error messages?, log (?:lines?|messages?), timestamps?, message style, docs
        comments?, snapshots?, tests?, migrations?, releases?, secrets?, figures?
    """)
    + r" (?:is|are|has|have|go|goes|live|only get|get|gets|use|need|needs|come|belong|stay|stays)\b"
)
"""A sentence about a matter of conventions, in the present."""

# What a sentence is, that is not guidance.

TASK = lazy_pattern(
    any_of(
        r"^(?:can|could|would|will) (?:you|we)\b",
        r"^i(?:'d| would)? (?:need|want|like) you to\b",
        r"^let'?s (?:go(?! with)|start|try|tune|see|fix|add|look|move on|continue)\b",
        rf"^(?:please |pls |now |then |just |also )*{_TASK_VERB}",
        "(?:てもらえ|てくれ(?:る|ます|ない)|ていただけ|ちょうだい|頂戴|したい|直して|見て(?!る|い)(?:くれ|もら|ほし)?|調べて|教えて|お願いできる|やって)"
        "(?:[?？。！ー〜]|ください|る|ます|$)",
    ),
    re.I,
)
"""It asks for something once."""
BUG = phrases(
    words("gives?, throws?, returns?, shows?, gets?, getting, got, reads?")
    + r" (?:me |us )?(?:an? |the )?(?:\d{3}|0|error|exception|blank|wrong|empty|null|nothing)\b",
    words("""
        (?:doesn'?t|don'?t|didn'?t|won'?t|never) (?:work|register|load|show|start|pass)(?:es)?
        crash(?:es|ed|ing)?, broken, stopped working
        flaky, failing, failed, stuck, hangs?, hung, leaks?, spikes?, duplicated, freez(?:es|ing), reboots?, out of memory
        still (?:feels|fails|shows|there|get|see), fails (?:for|with|after|when)
        (?:are|is|was|were|went|came|comes|looks?) (?:\\w+ )?(?:empty|blank|wrong|slow|missing|gone|off|odd|weird|late)
        keeps? (?:getting|failing|crashing|hanging|rebooting|losing|dropping)
        went out, (?:way |a bit )?too (?:early|late|slow|often|high|low|small|big|long|short|dark|bright|\\w+ful)
        (?:don'?t|doesn'?t) match, lost, loses?, not assignable, memory leak
    """),
    "落ち(?:る|て|ます|た)|エラー(?:に|が|出)|ずれ(?:て|る|ます)|遅い(?:です|んだ|$)|遅くて|重い(?:です|$)",
    "(?:詰まっ|抜け|漏れ|固まっ|止まっ|消え|壊れ|混ざっ|化け|かかっ|溢れ|切れ|ズレ|残っちゃっ)(?:て(?:い)?(?:る|ます|た|ました|しま)|ちゃ)",
    "(?:タイムアウト|失敗|発生|クラッシュ|誤判定|二重に|バグっ)(?:し|され|送|て)(?:て|ます|た|る|い)",
    any_in_list("動かない, おかしい, 壊れて, できちゃう, 押せちゃう, 鳴らない, 出ない, 飛ばない, 届かない, 効かない$"),
    "できないみたい|ことがある",
)
"""It describes what is broken."""
ORDERS = phrases(
    r"^(?:please |pls |just |also |and |so |then |always |only |let'?s |we |you (?:must|should|have to|need to) )*"
    + words("""
        use, keep, leave, put, take, prefer, stick, stay, call, name, write, run, drop, skip, go with, don'?t, do not, never
        avoid, pass, pin, wrap, return, log, store, check, ask, test, treat, add, set, make
    """),
    "(?:て|(?<!の)で)(?:ください|下さい|くれ|ほしい|欲しい|おいて|ね|よ)*[。！!]?$|(?:すること|こと|よう(?:に)?)[。！!]?$|しよう|ましょう",
)
"""It tells somebody what to do, as opposed to what happens."""
ENDS_OPEN_JA = lazy_pattern(
    "(?:て|(?<!ま)で)(?:ください|下さい|くれ|くださいね|ほしい(?:です)?|欲しい(?:です)?|もらって|おいて|ね|よ)*[。！!]?$|がほしい"
    "|(?:ので|んで|から)(?:ね|さ)?[。！!]?$"
)
"""A Japanese sentence that ends by asking for something, or only gives a reason: it states no fact."""
UNSETTLED = phrases(
    r"\b(?:haven'?t|have not|hasn'?t|not) (?:yet )?(?:decided|settled|agreed|sure|certain)\b|\bundecided\b|\btbd\b",
    r"\b(?:keep|been) (?:thinking|wondering)\b|\b(?:may|might) (?:well )?be nothing\b",
    r"\blooks? (?:odd|strange|weird|funny)\b",
    r"\b(?:thinking (?:about|of)|considering|wondering|debating|discussing|whether (?:we|to|i|it))\b",
    r"\bsome(?:one|body)(?: \w+){0,3} (?:said|wrote|says)\b",
    r"\b(?:rumou?r|apparently|supposedly|allegedly|as far as i (?:know|remember)|afaik|iirc|i (?:don'?t|can'?t) remember)\b",
    "(?:まだ|未)(?:.{0,12})(?:決ま|決め|決定|確定)|検討中|相談(?:する|して|中|します)|迷って|悩んで|かどうか|どうしよう|どうなんだろ",
    "(?:らしい|そうです|はず|みたい|とのこと|って言ってた|んだって)(?:です|だ|で|けど|。|$)",
)
"""It is not decided yet, or only hearsay."""
OWN_PLAN = phrases(
    r"^(?:i'?ll|i will|i (?:just|already)|brb|afk)\b",
    r"^i'?m (?:off|out|back|going|gonna|in|at|on (?:a|an|the|my|holiday|vacation)|away|not)\b",
    r"\bi'?ll (?:look|check|do|see|swap|review|put|fix|send|get|try|be|test|ask|merge|commit|push|handle|take|deal|write)\b",
    r"\bi (?:need (?:an?|the|some)|(?:want|would like|'d like) to (?:see|know|have))\b",
    "(?:^|今から|あとは?)(?:自分|私|俺|僕|こっち)(?:が|で|は).*(?:する|やる|出す|確認|対応|見る|見ます|します|やります)",
    "(?:やっとく|やっときます|しとく|しときます|しておきます|ておく(?:ね|わ)|出てきます|離れます|戻りました|見ます|寝ます|切りたい|したいです)(?:ね|わ|よ)?[。！!]?$",
)
"""What the person does or wants to do: over when it is done."""
RETRACTS = phrases(
    words("forget (?:it|that|i (?:asked|said)|about (?:it|that)), scratch that, never ?mind, (?:was|were) going to say"),
    "忘れて(?:ください|くれ|[。！]|$)|なかったことに|やっぱり?(?:いい(?:や|です)|やめ)",
)
"""It takes back what it says."""
REFERS = phrases(
    r"^(?:so |and |but |then |because )?(?:it|that|those|these|they|he|she|which|this|there)\b",
    words("them, those, the same, same (?:for|in|with|goes), there(?= |,|\\.|$)(?! (?:is|are|was|were)\\b), needs? one"),
    r"\bthat(?= (?:at|in|on|for|to|with|from|since|because|when|way)\b|[,.!]|$)",
    "(?:^|[、。 ])(?:それ(?!から|で[は、]|なら|じゃ|でも)|そこ(?!で)|そっち|そう|その(?!後|あと)"
    "|これ(?!から)|こっち|あれ|ここ)",
    "(?:が|を|に)(?:それ|そこ|そっち|そう)|同じ|みたいに[。！]?$",
)
"""It is about something that stands in another sentence."""
POINTS = phrases(
    r"^(?:that|this|it|those|these|they)\b", "^(?:それ|これ|あれ|その|この|あの|そっち|こっち)", r".*\babout (?:it|that)\b"
)
"""Its subject is something that is only pointed at."""
TELLS = phrases(
    words("""
        last time, last year, (?:in|since) (?:the )?20\\d\\d, we (?:had|got|lost|spent), once, used to, it took us
        people (?:got|lost)
    """),
    "(?:[っいしきちりえけせてめれ]た|ました|んだ)(?:こと|の)?(?:が(?:ある|あって))?[。！]?$",
)
"""It describes what happened once: the story behind a rule."""
OPEN_REASON = phrases("(?:ので|から|んで|ため)(?:ね|さ)?[。！]?$", r"^(?:because|since)\b")
"""It only gives a reason: for what stands before or after it."""
DEPENDENT = phrases(
    "^"
    + words("""
        it, they, that, this, those, these, he, she, because, otherwise, or else, since, so that, so (?:we|they|that|nobody)
        the reason, in case, only, and (?:it|they), which, like
    """),
    r"^(?:e\.g\.|i\.e\.)",
    "^[^。、]{0,20}だと",
    "^"
    + any_in_list(
        "それ(?!から|と|に), これ(?!から), そう(?!したら|して), じゃないと, でないと, なぜなら, 理由, 例えば, 「, 前に"
    ),
    "(?:ので|から|んで|ため|ないと(?:困る)?(?:です)?|しかない(?:です)?|みたいな(?:感じ)?)[。！]?$",
)
"""It only explains the sentence before it."""
BAN_OF_PREVIOUS = phrases(
    r"^(?:so |and |please |but )?(?:do not|don'?t|never) \w+ (?:it|this|that|those|these|them)\b[^.]{0,20}[.!]?$"
)
"""It forbids something about what the sentence before it says."""
INSTEAD = phrases(
    r"^(?:please |just |so )?(?:use|take|go with|put|keep)\b(?! (?:it|that|this)\b)", "^(?:代わりに|かわりに|代わりは)"
)
"""After what is forbidden: what to do instead."""
VAGUE = phrases(
    r"^(?:it|this|that|these|those|they|he|she|which|there)\b"
    r"(?!\s+(?:repo|repository|project|codebase|team|service|package|module|app))",
    words("maybe, perhaps, might, probably, i think, i guess, not sure, dunno, could be, i wonder, idk"),
    r"^no (?:need|problem|worries|rush|idea|thanks)\b",
    r"^(?:not|nor|or) ",
    r"^(?:leave|keep|drop|put|take|use|skip) (?:it|that|this|those|these|them)\b(?! (?:at|in|under|as|on) )",
    "^(?:これ|それ|あれ|この辺|その辺)(?:は|が|を|も)",
    "(?:かもしれ|と思い|気がし|たぶん|多分|おそらく|っぽい|かも[。！]?$|かな[。！]?$|(?<!んだ)(?:よ|です)ね[。！]?$)",
)
"""It cannot be understood alone, or is a guess."""
DEICTIC = phrases(
    "^[^、。]{0,12}(?:この|その|あの)(?!プロジェクト|リポ|コードベース|チーム|現場|アプリ|サービス|会社|案件|システム|場合|まま|ため|うえ|上で)",
)
"""It is about something that is seen only in the conversation."""
