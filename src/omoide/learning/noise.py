"""Texts that must not be learnt from: progress reports, what holds for now only, instructions of tools. Pure."""

import re

from omoide.learning.patterns import any_of, phrases

_PAST = any_of("updated", "added", "fixed", "changed", "implemented", "created", "removed", "run", "refactored", "moved")
_PROGRESS = re.compile(
    r"^(?:(?:ok(?:ay)?|great|perfect|alright|good|now|next|first|then|finally|so)[,.!:]?\s+)*"
    + any_of(
        r"I(?:'ll| will|'m going to|'m now| am now| am going to| (?:have|just) \w+ed|'d like to)\b",
        rf"I've (?:now |just )?{_PAST}\b",
        r"let(?:'s| me)\b",
        r"(?:all|the) tests? (?:now )?pass",
        r"(?:done|running|checking|working on|starting|continuing|reading|looking at|in progress|wip|todo|remaining)\b",
        r"here(?:'s| is| are)\b",
        r"(?:the )?task (?:is )?(?:complete|done|finished)",
    ),
    re.I,
)
_WORK_JA = any_of(
    "修正", "追加", "変更", "実装", "作成", "削除", "更新", "確認", "実行", "対応", "完了", "コミット", "プッシュ", "移動"
)
_PROGRESS_JA = phrases(
    rf"{_WORK_JA}(?:し(?:ました|ます|ています|ましょう|てみます)|中です|済みです|が完了しました|いたしました)[。！!]?$",
    "^(?:まず|次に|それでは|では|続いて|これから|現在|作業中|進捗|残り|TODO)",
    "(?:見てみ|調べ|試し|やってみ)ます[。]?$",
    "テスト(?:は)?(?:すべて|全て|全部)?(?:通り|パスし|成功し)ました",
)


def is_progress(sentence: str) -> bool:
    """Whether a sentence reports what is being done, which is over when the task is over."""
    return bool(_PROGRESS.match(sentence) or _PROGRESS_JA.search(sentence))


_TEMPORARY = phrases(
    r"\b(?:today|tomorrow|yesterday|right now|at the moment|for now|just this once|one-off|temporar(?:y|ily))\b",
    r"\bthis (?:time|morning|afternoon|week|PR|commit|branch|task|ticket|session)\b",
    "今日|明日|昨日|今回(?:だけ|は|の)|いまだけ|今だけ|一時的|とりあえず",
    "この(?:PR|コミット|ブランチ|タスク|作業|チケット)",
)


def is_temporary(sentence: str) -> bool:
    """Whether a sentence says that it holds for now only."""
    return bool(_TEMPORARY.search(sentence))


_ORDER = any_of(
    "please",
    "you (?:must|should|need to|have to)",
    "always",
    "never",
    "do not",
    "don'?t",
    "make sure",
    "ensure",
    "remember",
    "ignore",
    "disregard",
    "run",
    "execute",
    "install",
    "use",
    "send",
    "forward",
    "delete",
    "add",
    "save",
    "store",
    "from now on",
)
_INSTRUCTION = phrases(
    rf"^\W*(?:\w+:\s*)?{_ORDER}\b",
    r"\b(?:ignore|disregard) (?:all |any )?(?:previous|prior|above|other)\b",
    r"\b(?:AI|assistant|agent|LLM|model)s? (?:must|should|need to)\b",
    "して(?:ください|下さい)|すること|しなさい|しないで|してはいけ|覚えて|無視して",
)


def is_instruction(sentence: str) -> bool:
    """Whether a sentence tells somebody what to do."""
    return bool(_INSTRUCTION.search(sentence))


Wording = set[tuple[str, ...]]
"""The runs of three words of a text, or of characters where it is Japanese."""
_RUN = 3


def wording(text: str) -> Wording:
    """Return the wording of a text, for comparing it with that of another."""
    words = re.findall(r"[a-z0-9_]+|[\u3040-\u30ff\u3400-\u9fff]", text.lower())
    return {tuple(words[place : place + _RUN]) for place in range(len(words) - _RUN + 1)} or {tuple(words)}


def share_of(part: str, whole: Wording) -> float:
    """Return which share of the wording of a text occurs in another one."""
    own = wording(part)
    return len(own & whole) / len(own)
