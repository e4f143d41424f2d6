"""Recognise sentences that are worth keeping: decisions with their reason, preferences and conventions, facts. Pure."""

import re
from enum import StrEnum

from omoide.compiled_patterns import load_pattern
from omoide.learning.noise import is_about_instruction, is_progress, is_temporary
from omoide.learning.patterns import lazy_pattern, phrases, words
from omoide.learning.sentences import is_question


class StatementKind(StrEnum):
    """What a sentence says."""

    DECISION = "decision"
    CONVENTION = "convention"
    """A preference or a convention: how things are to be done here."""
    FACT = "environment"
    """A fact about the environment: where things are, what they need."""


_SHORTEST, _LONGEST = 12, 400
_REASON = phrases(
    r"\bbecause\b",
    r"\bsince\b",
    r"\bso that\b",
    r"\bdue to\b",
    r"\bas (?:it|they|we|this|the) \w+",
    r"\bso (?:we|they|nobody|people|users|it|the|[A-Z]\w+)\b",
    r"\b(?:otherwise|or else|in case|that'?s why|or (?:it|they|the \w+) (?:will|would|breaks?|fails?))\b",
    r"[,;:—-] ?(?:they(?:'ve|'re| have| are)?|it(?:'s| is|'ll)|support|customers?|users?|ops|finance|legal) \w+",
    r"\b(?:the )?reason (?:is|was|being)\b",
    r"\bin order to\b",
    r"\bto (?:avoid|keep|prevent|reduce|allow|make)\b",
    r"\bwhich (?:avoids|keeps|prevents|means|lets|allows)\b",
    "ため",
    "ので",
    "(?:から|んで)(?=(?:な[あぁ]?|ね|さ)?(?:[、。！]|$))",
    "(?<=[るいだたすん])から(?=[^ぁ-ん])",
    "(?:ないと|って(?:し)?まう|せいで|おかげで|てしまうん)",
    "理由",
    "なぜなら",
)
_DECISION = phrases(
    r"\b(?:we|i|they|the team)(?:'ve| have|'re| are)?(?: \w+)? (?:decided|chose|chosen|agreed|settled)\b",
    r"\b(?:we|i|they)(?:'ve| have)? (?:opted|picked|switched)\b",
    r"\b(?:we|i|they)(?:'re| are| have|'ve)? (?:go|going|went|gone) with\b",
    r"\bdecision\s*[:：]",
    r"\b(?:was|were|has been|have been) (?:decided|chosen|rejected)\b",
    r"\bwe(?:'ll| will) (?:use|go with|stick with|keep|drop)\b",
    "(?:こと|方針)(?:に|で)(?:した|しました|決め|決ま|決定|なった|なりました)",
    "(?:に|と|で)(?:決め(?:た|ました)|決ま(?:った|りました)|決定(?:した|しました))",
    "を(?:採用|選択|選定|選び|廃止|却下)(?:し(?:た|ました|ます)|する|ました)",
    "決定(?:事項)?[:：]",
)
_INSTEAD = lazy_pattern(r"\binstead of\b", re.I)
_CONVENTION = phrases(
    r"^\W*(?:please )?(?:always|never)\b",
    r"\bI (?:always |really |strongly )?(?:prefer|like|want|hate|dislike|don'?t (?:like|want))\b",
    r"\b(?:we|our \w+(?: \w+)?|everyone|the team|this (?:repo|repository|project|codebase|team)) "
    r"(?:always|never|only|don'?t|do not|usually|prefers?|uses?|follows?|keeps?|writes?|names?|puts?)\b",
    r"\b(?:our|the (?:team'?s?|house|project'?s?)|my) (?:convention|style|rule|policy|preference|standard)s? (?:is|are)\b",
    r"\b(?:convention|rule|policy|house style|guideline)s?\s*[:：]",
    r"\bby (?:default|convention)\b",
    r"\b(?:use|prefer) .+ (?:instead of|rather than|over|, not)\b",
    r"\bshould (?:always|never)\b",
    r"\bmust (?:always|never|not)\b",
    "(?:うち|このプロジェクト|このリポジトリ|チーム|弊社|我々|私たち|ここ)では",
    "(?:基本的に|原則(?:として)?|いつも|常に|必ず|絶対に?|毎回)",
    "(?:の)?(?:ほう|方)が(?:好き|いい|良い|好み|望ましい)",
    "(?:好き|嫌い|好み|苦手)(?:です|だ|ではない|じゃない)",
    "(?:規約|ルール|慣習|決まり|スタイル)(?:は|として|で|に)",
    "(?:ではなく|じゃなくて|よりも?).+(?:を使|にして|で(?:お願い|書))",
    "(?:しないで|やめて|使わないで|避けて|禁止)",
)
_FACT = phrases(
    r"\b(?:runs?|listens?|is running|is served|is exposed) (?:on|at|in|under|with)\b",
    r"\b(?:requires?|needs?|depends? on|expects?|only works? (?:with|on|if)|(?:must|has to|have to) be \w+)\b",
    r"\b(?:lives?|(?:is|are) (?:located|stored|kept|defined|configured)|can be found) (?:in|at|under|by)\b",
    r"\b(?:is deployed|are deployed|deploys?|is hosted|is built|are built|builds?) (?:to|on|from|by|with|via)\b",
    r"\b(?:times? out|is limited to|is capped at|allows? (?:at most|up to|only)|takes? (?:about|around|up to)?\s*\d)\b",
    r"\b(?:uses?|using) `[^`]+`",
    r"\bis (?:read[- ]only|generated|auto-?generated|mounted|symlinked|case[- ]sensitive)\b",
    r"\bturns out\b|\bunless\b|\b(?:refuses?|rejects?)\b.*\b(?:without|unless|with|for|that)\b",
    "ないと[^。、]{2,40}(?:ない|ません|落ち|失敗)",
    "(?:が必要|を必要と|に依存|で動(?:い|作|く)|で稼働|に(?:あり|置|配置|保存|格納|設定|デプロイ)|を使用して(?:い|お)|しか(?:動|使え|対応)|でのみ|ポート|タイムアウト|自動生成|読み取り専用)",
)
_KNOWN_TOOLS = words("""
    postgres(?:ql)?, redis, docker, kubernetes, node, python, pnpm, npm, yarn, terraform, kafka, mysql, sqlite, nginx, aws
    gcp, azure, vault, github actions, ci, prod(?:uction)?, staging, utc
""")
_NOT_LATIN = r"[\u3040-\u30ff\u3400-\u9fff]"
_CONCRETE = phrases(
    r"`[^`]+`",
    r"[\w.-]+/[\w./*<>-]+",
    r"\w\.(?:py|tsx?|jsx?|go|rs|rb|java|kt|swift|dart|c|h|cpp|cs|toml|ya?ml|json|md|sh|sql|cfg|ini|env|lock|xml|html|css|tf)\b",
    r"(?-i:(?<![A-Za-z])[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*(?![a-z]))",
    r"(?-i:(?<![A-Za-z])[A-Z]?[a-z]+[A-Z]\w*)",
    r"(?-i:(?<=[a-z,;:] )[A-Z][a-z]{2,})",
    r"v?\d+(?:\.\d+)+",
    r"(?<!\d)\d{2,}|\d ?(?:[回秒分時日件行人個円%％V]|文字|[mkg]b\b|ms\b|px\b)",
    r"[a-z0-9]_[a-z0-9]",
    r"(?<!\w)--?[a-z][\w-]+",
    rf"{_NOT_LATIN} ?[a-z][\w.-]+|[a-z][\w.-]+ ?{_NOT_LATIN}",
    _KNOWN_TOOLS,
)
"""A path, a name, a number, a version, a well-known tool: what makes a fact checkable."""
_OF_CODE = lazy_pattern(
    r"^(?:note that |so )?(?:the|this|that|both|each|all|these)?\s*(?:\w+ |`[^`]+` )?"
    + words("""
        functions?, methods?, class(?:es)?, handlers?, components?, hooks?, variables?, endpoints?, migrations?, helpers?
        modules?, files?, test cases?, quer(?:y|ies), routes?, selectors?, callers?, fields?, columns?, constants?, props?
    """)
    + "|^(?:この|その|各)?(?:関数|メソッド|クラス|コンポーネント|変数|ファイル|カラム|引数)",
    re.I,
)
"""What an agent says about code can be read there."""
_PAST = load_pattern("(?:でした|ました|だった|かった)[。！]?$")
_VAGUE = phrases(
    r"^\W*(?:it|this|that|these|those|they|he|she|which)\b(?!\s+(?:repo|repository|project|codebase|team|service|package|module))",
    r"\b(?:maybe|perhaps|might|probably|I think|I guess|not sure|seems?|could be)\b",
    "^(?:これ|それ|あれ|この辺|その辺)(?:は|が|を|も)",
    "(?:かもしれ|と思い|気がし|たぶん|多分|おそらく|っぽい)",
)


def is_decision(sentence: str) -> bool:
    """Whether a sentence says that something was decided, or is done instead of something else."""
    return decides(sentence) or (bool(_INSTEAD.search(sentence)) and not is_question(sentence))


def decides(sentence: str) -> bool:
    """Whether a sentence says in so many words that something was decided."""
    return bool(_DECISION.search(sentence)) and not is_question(sentence)


def is_concrete(sentence: str) -> bool:
    """Whether a sentence names something that can be checked: a path, a number, a version, a name of code."""
    return bool(_CONCRETE.search(sentence))


def has_reason(sentence: str) -> bool:
    """Whether a sentence gives a reason."""
    return bool(_REASON.search(sentence))


def classify(sentence: str, *, by_person: bool) -> StatementKind | None:
    """Return what a sentence says that is worth keeping; None if it says nothing of the kind.

    `by_person`: a person's word is enough for a decision or a convention; an agent's decision must give its reason, and an
    agent states no conventions. See `guidance` for what a person tells an agent in a conversation.
    """
    if not len(sentence.encode()) >= _SHORTEST or len(sentence) > _LONGEST or is_question(sentence):
        return None
    if is_progress(sentence) or is_temporary(sentence) or is_about_instruction(sentence) or _VAGUE.search(sentence):
        return None
    if is_decision(sentence) and (by_person or has_reason(sentence)):
        return StatementKind.DECISION
    if by_person and _CONVENTION.search(sentence):
        return StatementKind.CONVENTION
    if _FACT.search(sentence) and is_concrete(sentence) and (by_person or not _is_report(sentence)):
        return StatementKind.FACT
    return None


def _is_report(sentence: str) -> bool:
    """Whether an agent's sentence is about code, which can be read there, or tells what was so a moment ago."""
    return bool(_OF_CODE.search(sentence) or _PAST.search(sentence))
