"""Describe a sentence of a person by features: word classes, endings, what it says, where it stands. Pure.

`sentence_score` adds up their weights. Classes of words and endings are looked up in sets, without a regular expression:
a conversation has many sentences, and each of them is described.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.learning import guidance_patterns as patterns
from omoide.learning.guidance import is_explained
from omoide.learning.noise import is_temporary
from omoide.learning.patterns import lazy_pattern
from omoide.learning.sentences import is_question
from omoide.learning.statements import decides, has_reason, is_concrete
from omoide.learning.wording import content_words


class SpokenSentence(NamedTuple):
    """A sentence of a person, and what stands around it."""

    text: str
    """Without the words at its beginning that say nothing."""
    lead: str = ""
    """Those words."""
    refuses: bool = False
    """Whether they refuse something."""
    before: str = ""
    """The sentence before it in the message."""
    after: str = ""
    """The sentence after it."""
    is_first: bool = False
    """Whether it stands in the message that opens the conversation."""
    is_answer: bool = False
    """Whether the agent had asked or proposed something."""
    follows_failure: bool = False
    """Whether the last command before the message failed."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = load_pattern(r"[a-z]+(?:['’][a-z]+)?")
_CLASSES = {
    "we": _set("we our us ours we're we've we'll we'd"),
    "i": _set("i my me mine i'm i've i'd i'll"),
    "you": _set("you your you're you'd you'll"),
    "is": _set("is are isn't aren't it's that's"),
    "does": _set(
        "has needs wants gets takes runs lives goes uses comes belongs expects reads writes accepts rejects drops sends"
        " picks holds keeps owns covers means stays sits ends starts counts handles signs prints ships requires supports"
    ),
    "modal": _set("must should shall may can't cannot mustn't shouldn't"),
    "all": _set("every each all any everything anything nothing nobody none whoever whenever wherever throughout both"),
    "only": _set("only alone exactly unless until except max instead"),
    "if": _set("if when unless otherwise because since whenever"),
    "seems": _set("look looks seem seems feels think thought guess wonder hope sure know maybe probably sounds"),
    "now": _set("today now tonight once first then next already just still again meanwhile yesterday finally"),
    "was": _set("was were did had got went came saw said told been wrote noticed"),
    "retracts": _set("forget nevermind scratch nah anyway someday eventually"),
    "secret": _set("password token login credentials passphrase"),
    "odd": _set("weird odd strange annoying ugly suddenly somehow broke broken wrong complain complaining dies slow"),
}
_NO_PLAIN = frozenset(
    {"i", "was", "past tense", "seems", "now", "odd", "retracts", "starts with a verb", "starts with a pronoun"}
)
"""Features of an English sentence that is no plain statement in the present."""
_PLAIN_ENDS_JA = frozenset(
    {
        "ja ends with だ",
        "ja ends with a noun",
        "ja ends with a verb",
        "ja ends with ない",
        "ja ends with ている",
        "ja ends with ます",
    }
)
_NO_PLAIN_JA = frozenset({"ja retracts", "ja now", "ja seems", "ja odd", "ja asks", "ja though"})
_FIRST_WORDS = {
    "starts with a pronoun": _set("it this that these those they he she which there it's that's there's"),
    "starts with all": _set("the our all every each any no anything everything nothing both"),
    "starts with a case": _set("when if before after once for in on whenever with until unless"),
    "starts with a verb": _set(
        "use keep leave put take prefer stick call name write run drop skip go pass pin wrap return log store check ask test"
        " treat add set make fix look find show try revert commit push open read merge install bump do continue start rerun"
        " apply tell give send clean rename move remove delete update create implement split extract replace explain build"
    ),
}
_ASIDES = _set("btw also oh fyi note way thing generally actually ちなみに なお あと それと そういえば ところで 一応 補足")
_CONTAINS_JA = {
    "ja retracts": ("忘れて", "やっぱ", "なかったこと"),
    "ja now": ("今日", "今回", "さっき", "いま", "まず", "もう一度", "まだ", "とりあえず", "一回", "今夜", "昨日"),
    "ja seems": ("みたい", "っぽい", "気がする", "思う", "思って", "かも"),
    "ja odd": ("おかしい", "変な", "なぜか", "急に", "たまに", "変だ", "うまく"),
    "ja reason": ("から", "ので", "ため", "んで", "せいで", "理由"),
    "ja case": ("たら、", "れば、", "なら、", "と、", "場合", "とき", "時は", "たら", "際は"),
    "ja limit": ("だけ", "のみ", "まで", "以内", "以上", "以下", "しか", "ごと", "毎"),
    "ja all": ("うち", "弊社", "社内", "現場", "本番", "全部", "全て", "すべて", "共通", "必ず", "絶対"),
    "ja owner": ("担当", "窓口", "管理", "責任", "承認", "許可", "レビュ", "さんが", "さんに", "さんの", "班が", "部が"),
    "ja asks": ("ください", "お願い", "頼む", "頼みます", "ほしい", "欲しい", "もらえ", "くれ"),
    "ja though": ("けど、", "ますが、", "ですが、", "だが、"),
    "ja secret": ("パスワード", "トークン", "キーは", "鍵は"),
}
_PARTICLES_JA = "。！!ねよな　 "
_LOOSE_ENDS_JA = ("から", "ので", "けど", "んです", "んだ", "のです", "です", "ですが")
_ENDINGS_JA: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "ja ends asking",
        ("ください", "下さい", "くれ", "ほしい", "欲しい", "お願い", "お願いします", "頼む", "おいて", "といて"),
    ),
    ("ja ends wanting", ("たい", "よう", "ましょう")),
    ("ja ends with て", ("て", "で")),
    ("ja ends with ない", ("ない", "ません", "ず")),
    ("ja ends with ている", ("ている", "てる", "ています", "てます", "てある", "てあります")),
    (
        "ja ends with た",
        ("った", "いた", "した", "きた", "ちた", "りた", "えた", "けた", "せた", "てた", "めた", "れた", "ました"),
    ),
    ("ja ends with ます", ("ます",)),
    ("ja ends with こと", ("こと", "ように")),
    ("ja ends with a verb", tuple("うくぐすつぬぶむる")),
)
"""The first that holds counts."""
_HIRAGANA = load_pattern("[ぁ-ん]")
_NAMED = lazy_pattern(r"`|\w\.[a-z]{2,8}\b|/[\w.-]+/|\w_\w|[a-z][A-Z]")
_LONG_NUMBER = lazy_pattern(r"\d{2,}|\d\.\d")
_PLACE = lazy_pattern(
    r"\b(?:in|on|under|at|from|to|via|behind|below|into|inside) (?:the |our )?[`/~]?[\w.-]*[/._:\d][\w./:*<>-]*", re.I
)
_PATTERNS = (
    *("ADVERB", "BUG", "CONTRAST", "DEICTIC", "DIRECTS", "ENDS_OPEN_JA", "FORBIDS", "GENERAL", "GENERIC", "HOUSE_SHAPE"),
    *("HOUSE_SUBJECT", "HOUSE_TOPIC", "ORDERS", "OWN_PLAN", "SPECIFIES", "STATES", "TASK", "UNSETTLED", "VAGUE", "LOCATES"),
)
_MOST_WORDS = 20
_LONGEST_TOPIC = 25
"""Characters before the particle of a topic that a Japanese sentence starts with."""


def features(sentence: SpokenSentence) -> dict[str, float]:
    """Return the features of a sentence that are not 0, by name."""
    found = dict.fromkeys(_of_wording(sentence), 1.0) | dict.fromkeys(_of_place(sentence), 1.0)
    words = len(content_words(sentence.text))
    found["content words"] = min(words, _MOST_WORDS) / 10
    found |= {f"{name} content words": 1.0 for name, holds in _sizes(words) if holds}
    return found


def _sizes(words: int) -> tuple[tuple[str, bool], ...]:
    return ("0 or 1", words < 2), ("up to 3", words < 4), ("8 or more", words >= 8)


def _of_wording(sentence: SpokenSentence) -> Iterator[str]:
    text = sentence.text
    for name in _PATTERNS:
        if getattr(patterns, name).search(text):
            yield name
    said = (
        ("reason", has_reason(text)),
        ("decides", decides(text)),
        ("concrete", is_concrete(text)),
        ("temporary", is_temporary(text)),
        ("question", is_question(text)),
        ("colon", ":" in text or "：" in text),
        ("comma", "," in text or "、" in text),
        ("parenthesis", "(" in text or "（" in text),
        ("name of code", bool(_NAMED.search(text))),
        ("long number", bool(_LONG_NUMBER.search(text))),
        ("place", bool(_PLACE.search(text))),
    )
    yield from (name for name, holds in said if holds)
    yield from _of_japanese(text) if _HIRAGANA.search(text) else _of_english(text)


def _of_english(text: str) -> frozenset[str]:
    words = [word.replace("’", "'") for word in _WORD.findall(text.lower())]
    every = frozenset(words)
    found = {name for name, members in _CLASSES.items() if not every.isdisjoint(members)}
    found |= {name for name, members in _FIRST_WORDS.items() if words and words[0] in members}
    if any(len(word) > 4 and word.endswith("ed") for word in words):
        found.add("past tense")
    if not found.isdisjoint({"is", "does"}) and found.isdisjoint(_NO_PLAIN):
        found.add("plain statement")
    return frozenset(found)


def _of_japanese(text: str) -> frozenset[str]:
    found = {"ja", *(name for name, parts in _CONTAINS_JA.items() if any(part in text for part in parts))}
    topic = text.find("は")
    if topic >= 0:
        found.add("ja topic")
        if 0 < topic <= _LONGEST_TOPIC and "、" not in text[:topic]:
            found.add("ja starts with its topic")
    found |= _endings(text.rstrip(_PARTICLES_JA))
    if "ja topic" in found and not found.isdisjoint(_PLAIN_ENDS_JA) and found.isdisjoint(_NO_PLAIN_JA):
        found.add("plain statement")
    return frozenset(found)


def _endings(text: str) -> set[str]:
    found = {"ja ends with だ"} if text.endswith(("だ", "です", "んだ")) else set()
    for loose in _LOOSE_ENDS_JA:
        text = text.removesuffix(loose)
    ending = next((name for name, endings in _ENDINGS_JA if text.endswith(endings)), "")
    if ending:
        found.add(ending)
    elif text and not _HIRAGANA.match(text[-1]):
        found.add("ja ends with a noun")
    return found


def _of_place(sentence: SpokenSentence) -> Iterator[str]:
    depends = bool(patterns.DEPENDENT.search(sentence.text))
    said = (
        ("always", True),
        ("first message", sentence.is_first),
        ("first message, task", sentence.is_first and bool(patterns.TASK.search(sentence.text))),
        ("first message, not its opening", sentence.is_first and bool(sentence.before)),
        ("answer", sentence.is_answer),
        ("follows a failure", sentence.follows_failure),
        ("refuses", sentence.refuses),
        ("aside", not _ASIDES.isdisjoint(_WORD.findall(sentence.lead.lower()) + sentence.lead.split("、"))),
        ("opens the message", not sentence.before),
        ("ends the message", not sentence.after),
        ("alone", not sentence.before and not sentence.after),
        ("follows a task", bool(sentence.before) and bool(patterns.TASK.search(sentence.before))),
        ("depends on the one before", depends and bool(sentence.before)),
        ("explained", is_explained(sentence.text) or _explains(sentence.after)),
    )
    yield from (name for name, holds in said if holds)


def _explains(following: str) -> bool:
    return bool(following) and bool(patterns.DEPENDENT.search(following)) and is_explained(following)
