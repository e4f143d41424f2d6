"""How a message is phrased: as work that goes on, a question of general knowledge, a private matter, or a greeting. Pure.

Words tell what a message is about only where a project uses them. Its phrasing shows whether it is about a project
at all. The phrases are of common English and Japanese, not of any trade.
"""

import re
import unicodedata
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.routing.private_words import find_private_words
from omoide.routing.topic import changes_topic

_READ = 2_000
"""Characters of a message in which phrases are looked for: more are pasted."""
_BEGIN = r"(?:^|[.!?\n]\s*|[,;:] )"
"""Where a sentence or a clause begins."""
_CODE_VERB = (
    "run|rerun|fix|test|commit|push|merge|rename|refactor|deploy|debug|rebase|squash|build|ship|lint|bump|patch|revert|"
    "migrate|add|remove|delete|drop|replace|move|convert|update|change|adjust|extend|shorten|shrink|simplify|split|clean|"
    "check|implement|release|publish|upgrade|downgrade|install|configure|disable|enable|hide|roll back|look (?:at|into)|"
    "draft|tidy|swap|set up|hunt|investigate|triage|backfill|undo|redo"
)
_REFERENCE = (
    "(?:the|that|this) (?:same|other|first|second|third|fourth|last|latest|next|previous|old|new) (?:one|thing|step|change|"
    "version|option|approach|idea|file|function|method|error|test|way|part|attempt)"
)
_ASK = "please|pls|then|and|just|to|now|ok|okay|yes|yep|(?:can|could) (?:you|we)|should we"
_WORK_ENGLISH = (
    rf"{_BEGIN}(?:again|still)\b",
    r"\bagain(?: with(?:out)?\b|[.!?:)\s]*$)",
    r"\bstill (?:fail|broken|red|see|there|happen|not|get|the same)",
    rf"\b(?:{_REFERENCE}|same (?:error|thing|problem|issue|result)|as before)\b",
    r"\b(?:go (?:ahead|on)|keep going|carry on|proceed|continue|resume|undo|redo|revert|retry)\b",
    r"\b(?:do (?:it|that|this)|try (?:it|that|this|again|once))\b",
    rf"(?:{_BEGIN}|\b(?:{_ASK}) )(?:{_CODE_VERB})\b",
    r"\b(?:we|our|us|let'?s)\b",
    r"\b(?:pull request|diff|branch|commit|staging|production|repo(?:sitory)?|readme|changelog)\b",
    r"\b(?:regression|stack ?trace|backtrace)\b",
)
_WORK_JAPANESE = (
    "さっき|先ほど|先程|続き|続け|進め[てまよ]|もう一[度回]|もっかい|やり直|やっぱり?|番目|つ目の|元に戻|戻し(?:て|と)|直[しっ]",
    "同じ(?:エラー|やつ|問題|こと)|うん[、。]|それで(?:お願い|いい|進|。|$)|いい感じ|バグ|不具合",
    "(?:実行|追加|削除|変更|修正|実装|反映|対応|調査|確認|移動|更新|統一|変換|整理)(?:して|しと|を?お願い)",
    "止めて|やめて|見直し|見[てせ](?:て|$|く|。|ほし|もら)|書き(?:直|換|足)|足し(?:て|と)|調べて|探して|消して|短くして|走らせ",
    "テスト(?:して|を|は|が|通)|コミット|プッシュ|マージ|デプロイ|リリース|リファクタ|ビルド",
    "差分|ブランチ|プルリク|本番|ステージング|進捗|片方|そっち|こっち",
)
_CODE = (
    r"`[^`\n]+`|\b\w+::\w|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+|\w\(\)|(?<![\w-])--[a-z][\w-]+",
    r"(?:^|\s)[~.]?/[\w.-]+|\b[\w.-]+/[\w.-]+/[\w./-]+|\b\w+(?:Error|Exception)\b",
)
_THANKS = (
    rf"{_BEGIN}(?:thanks|thank you|thx|ty|perfect|great|awesome|excellent|looks good|lgtm)\b",
    rf"{_BEGIN}(?:nice (?:work|job)|good job|well done)\b",
    "ありがと|助かり|助かる|完璧|了解|承知|さすが|すごい|いいですね|なるほど",
)
_LEAD = r"(?:(?:ok|hey|hi|so|and|btw|quick question|quick one|unrelated|also|please|sorry)\W+)*"
_QUESTION = "what|what'?s|who|which|when|where|why|how|is|are|do|does|did|should|would|will|can|could|has|have"
_ABOUT_WORK = r"(?!.{0,12}\b(?:you|we|our|us|this|that|these|those)\b)"
_GENERAL_ENGLISH = (
    rf"{_BEGIN}{_LEAD}(?:{_QUESTION})\b{_ABOUT_WORK}",
    rf"{_BEGIN}{_LEAD}(?:what (?:would|do) you|how (?:do|would) you|can you (?:recommend|suggest)|give me an? )",
    rf"{_BEGIN}{_LEAD}(?:need (?:an?|some) |(?:i'?m )?(?:looking for|planning|learning|studying|thinking (?:of|about)) )",
    rf"{_BEGIN}{_LEAD}(?:(?:i )?want to (?:build|make|put|learn|start|try)|any (?:idea how|good) |help me |tell me about )",
    r"\b(?:difference between|recommend(?:ations?)?|suggestions?|advice on|some (?:advice|tips|ideas))\b",
    r"\b(?:tips (?:for|on)|ideas for|translate|explain|brainstorm|reword|proofread|allowed to)\b",
    r"\b(?:(?:polite|nice|good) way to|worth (?:it|getting|buying|learning)|in (?:plain|simple|general) (?:words|terms))\b",
    r"\b(?:new idea|have an idea|i'?d like to (?:start|learn)|where would you start|would you structure)\b",
    r"\b(?:arguments for|from scratch|beginner)\b|\bideas\?|\blike i'?m (?:\d|five|ten|twelve)",
)
_GENERAL_JAPANESE = (
    "って(?:何|なに|なん|どう|いつ|どこ|どれ|どの|誰|だれ|いくら|要|難し)|とは(?:何|なん|どう)",
    "は誰|は何(?:です|でしょう|と|年)|何年|何と(?:いう|呼)|いくら[?で]|ど[れの]くらい|(?:でした|だ)っけ",
    "の違い|違いは|どう違|(?:くらい|ぐらい|何が)違|使い分け|どっちが|どちらが|どの言語",
    "(?:仕組み|意味|方法|対処法|コツ|(?:読み|書き|使い|作り|覚え|やり)方)(?:って|を(?:教|知|覚)|は[?]|が(?:わか|分か)|あり|これで|教え)",
    "どうやる|どうすれば|価値(?:ある|あり)|お(?:すす|勧)め|オススメ|もの(?:ですか|でしょうか|[?])|何にしよ|[いで]いのかな|[たる](?:ほう|方)がいい|するには[?]",
    "(?:作って|やって|始めて|学んで)みたい|何から始め|(?:作ろ|始めよ|買お|やろ)う(?:と思|か)",
    "勉強中|勉強し|入門|独学|初心者|語で(?:は|って|「)?.{0,12}(?:何|なん|どう)|(?:得|正しい|失礼)(?:ですか|でしょう)",
    "(?:案|テーマ|アイデア|候補|やつ|場所)を?.{0,4}[0-9一二三四五]つ",
)
_GREETING_ENGLISH = (
    r"\b(?:hi|hello|hey|heya|yo|howdy|good ?(?:morning|afternoon|evening|night|day)|bye|goodbye)\b",
    r"(?<!the )(?<!this )\bmorning\b",
    r"\b(?:see (?:you|ya)|talk (?:tomorrow|later|soon)|have a (?:nice|good|great|lovely)|enjoy your|take care)\b",
    r"\b(?:i'?m (?:off|out|back|tired|exhausted|sleepy|hungry|bored)|back from|calling it a day)\b",
    r"\b(?:how are you|how'?s it going|what'?s up|are you (?:there|up|awake)|nice to meet|long time no see)\b",
    r"\b(?:happy (?:new year|birthday|friday|holidays)|merry christmas|signing off|heading (?:home|out))\b",
)
_GREETING_JAPANESE = (
    "おはよ|こんにち[はわ]|こんばん[はわ]|おやすみ|お疲れ|おつかれ|お先に|ただいま|[行い]ってき|また(?:明日|来週|ね)",
    "さよう?なら|バイバイ|やっほ|はじめまして|初めまして|[久ひ]しぶり|ご無沙汰|元気[?で]|あけまして",
    "[良よ]い(?:週末|お年|一日)|(?:帰り|寝|上がり)ます|(?:帰|寝|上が)るね|眠い|疲れた|つらい|だるい|腹減った|お腹すいた",
)


def _any_of(*phrases: str) -> re.Pattern[str]:
    return load_pattern("|".join(phrases), re.I | re.M)


_WORK_PATTERN = _any_of(*_WORK_ENGLISH, *_WORK_JAPANESE)
_CODE_PATTERN = load_pattern("|".join(_CODE), re.M)
_THANKS_PATTERN = _any_of(*_THANKS)
_GENERAL_PATTERN = _any_of(*_GENERAL_ENGLISH, *_GENERAL_JAPANESE)
_GREETING_PATTERN = _any_of(*_GREETING_ENGLISH, *_GREETING_JAPANESE)


class MessageCues(NamedTuple):
    """How a message is phrased."""

    changes_topic: bool = False
    """It begins by saying that it is about something else than before."""
    is_work: bool = False
    """It refers to what was done before, asks for what is done to code, contains code, or thanks for work."""
    asks_general: bool = False
    """It asks for knowledge or advice that has nothing to do with a project, or begins something new."""
    greets: bool = False
    """It greets, takes leave, or says how its author feels."""
    private: tuple[str, ...] = ()
    """Its words of private life."""


def find_cues(message: str) -> MessageCues:
    """Return how a message is phrased."""
    text = unicodedata.normalize("NFKC", message[:_READ])
    greets = _GREETING_PATTERN.search(text) is not None
    patterns = [_WORK_PATTERN, _CODE_PATTERN]
    if not greets:  # "thanks, see you tomorrow" takes leave
        patterns.append(_THANKS_PATTERN)
    return MessageCues(
        changes_topic(message),
        any(pattern.search(text) for pattern in patterns),
        _GENERAL_PATTERN.search(text) is not None,
        greets,
        find_private_words(text),
    )
