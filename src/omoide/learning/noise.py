"""Texts that must not be learnt from: progress reports, what holds for now only, instructions of tools, secrets. Pure."""

import re
from itertools import pairwise

from omoide.compiled_patterns import load_pattern
from omoide.learning.patterns import any_of, listed, phrases, words

_PAST = listed("updated, added, fixed, changed, implemented, created, removed, run, refactored, moved, set")
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
_WORK_JA = listed("""
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
    r"\b(?:until|till|before|while) (?:i|i'm|i've|he|she)\b|\bis (?:down|out|away|on (?:holiday|vacation|leave))\b",
    "今日|明日|昨日|今朝|今夜|この前|来週|先週|今回(?:だけ|は|の|なら)|いまだけ|今だけ|一時的|とりあえず|いったん|一旦|あとで|後で|さっき|いま(?:は|の)",
    "今週|今月|今から|週明け|休み(?:中|なので|だから)|来月|先月|明後日|本日|今晩|(?:凍結|メンテ(?:ナンス)?|休暇|出張|離席|停止)(?:中|で)|返事待ち|まだ[^。、]{0,8}(?:ないで|待っ)|までに[^。]{0,12}たい",
    "この(?:PR|コミット|ブランチ|タスク|作業|チケット)",
)


def is_temporary(sentence: str) -> bool:
    """Whether a sentence says that it holds for now only."""
    return bool(_TEMPORARY.search(sentence))


_ORDER = listed("""
    please, you (?:must|should|need to|have to), always, never, do not, don'?t, make sure, ensure, remember, ignore
    disregard, run, execute, install, use, send, forward, delete, add, save, store, upload, report, from now on
""")
_INSTRUCTION = phrases(
    rf"^\W*(?:\w+:\s*)?{_ORDER}\b",
    r"\b(?:ignore|disregard) (?:all |any )?(?:previous|prior|above|other)\b",
    r"\b(?:AI|assistant|agent|LLM|model|bot|copilot)s?(?: \w+)? (?:must|should|need to|have to|are (?:required|asked))\b",
    r"\b(?:AI|LLM|coding) (?:assistant|agent|model)s?\s*[:：]",
    r"\b(?:must|should) (?:always|never|also|first)\b",
    "して(?:ください|下さい)|すること|しなさい|しないで|してはいけ|覚えて|無視して|記憶して",
    "(?:AI|エージェント|アシスタント)(?:への|は|の皆)",
)
_REFUSE = any_of("won'?t", "will not", "not going to", "didn'?t", "did not", "I'?m not")
_NOTICE = listed("instruction, notice, comment, request, note, banner")
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
