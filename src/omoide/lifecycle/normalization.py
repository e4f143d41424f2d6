"""How a text is worded: everything it says, in its order, without the dress that says nothing.

Two texts of one wording say the same. What is dress is a short list, and everything else counts: order ("A calls B"), case
inside a sentence (-p and -P), tense, pronouns, particles, signs. Whatever is not on the list keeps two memories apart.
"""

import re
import unicodedata

_KANA, _KATAKANA, _KANJI = "ぁ-ゖ", "ァ-ヺー", "一-鿿々〇"
_JAPANESE = _KANA + _KATAKANA + _KANJI
# A word reaches from its first letter or digit to its last before a space or Japanese: src/a.ts, 1.10, don't, db-1.internal.
_token = re.compile(
    rf"(?P<kana>[{_KANA}]+)|(?P<katakana>[{_KATAKANA}]+)|(?P<kanji>[{_KANJI}]+)"
    rf"|(?P<word>[^\W{_JAPANESE}](?:[^\s{_JAPANESE}]*[^\W{_JAPANESE}])?)|(?P<sign>\S)"
)
_EMPTY = frozenset(["a", "an", "the", "is", "are", "please"])
_BEING = ("is", "are")
_DOING = "\x1f"
"""Stands for the end of a verb after these."""
_SUBJECT = ("は", "が")
_ORDERS = {"make": "create", "display": "show", "remove": "delete"}
"""What is one when a sentence begins with it, and else may be a name: `make`."""
_SPELT = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_DRESSED = {"which": "that"} | {name: str(number) for number, name in enumerate(_SPELT)}
_STOPS = ".,;:!…、。・"  # not the question mark: who asks does not say
_QUOTES = "`“”‘’«»「」『』"  # not those of a shell, where it matters which
_ENDS = ".!?。"
_CLOSING = _ENDS + "\n」』)"
_BULLETS = "-*•–—"
_counted = re.compile("[〇一二三四五六七八九十百千万]+(?=[人個つ件回度本台枚匹頭階年月日時分秒週倍番位名歳冊杯軒])")
_DIGITS = {numeral: value for value, numeral in enumerate("〇一二三四五六七八九")}
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_CONTRACTED = {"can't": ["can", "not"], "cannot": ["can", "not"], "won't": ["will", "not"]}
# The last sound of a verb before ます, and as it stands in a dictionary. Where there are two (書きます, 起きます) the other
# one stays apart.
_POLITE = dict(zip("いきぎしちにびみり", "うくぐすつぬぶむる", strict=True))


def normalize(text: str) -> str:
    """The text in its usual letters and figures: full width, and 十二人 as they are counted."""
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    return _counted.sub(lambda match: str(_parse_numerals(match[0])), text)


def tokens(text: str) -> tuple[str, ...]:
    """What a plain text says, token by token."""
    said: list[str] = []
    begins, being = True, False  # a sentence; after is or are
    for match in _token.finditer(text):
        token, kind = match[0], match.lastgroup
        before = text[match.start() - 1] if match.start() else "\n"
        after = text[match.end()] if match.end() < len(text) else "\n"
        begins = begins or before == "\n"
        if kind == "sign":
            if not _is_decoration(token, before, after):
                said.append(token)
            begins = token in _ENDS or (begins and token in _BULLETS + _QUOTES)
            continue
        if kind == "word":
            if begins:
                token = token.lower() if token[1:].islower() or len(token) == 1 else token
                token = _ORDERS.get(token, token)
            if being and token.endswith("ing"):
                token = token.removesuffix("ing") + _DOING
            said += [_DRESSED.get(one, one) for one in _split_contraction(token) if one not in _EMPTY]
            being = token in _BEING
        elif kind == "kana":
            said.append(_plain_ending(token) if after in _CLOSING else token)
        else:
            said.append(token.rstrip("ー") if kind == "katakana" and len(token) > 3 else token)
        begins = False
    subjects = [place for place, token in enumerate(said) if token in _SUBJECT]
    if len(subjects) == 1:  # with two of them it matters which is which: 猫は犬が好き
        said[subjects[0]] = _SUBJECT[0]
    return tuple(token for token in said if token)


def is_same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two wordings are one, but for "is playing" and "plays"."""
    return len(one) == len(other) and all(
        a == b or _is_inflection(a, b) or _is_inflection(b, a) for a, b in zip(one, other, strict=True)
    )


def _is_inflection(doing: str, does: str) -> bool:
    if not doing.endswith(_DOING):
        return False
    stem = doing.removesuffix(_DOING)
    if len(stem) > 3 and stem[-1] == stem[-2]:  # running, but not calling
        return does in (stem[:-1], stem[:-1] + "s", stem, stem + "s")
    return does in (stem, stem + "s", stem + "e", stem + "es")


def _is_decoration(sign: str, before: str, after: str) -> bool:
    """Whether a sign says nothing: the stops after a word, quotes around one, the bullet of a line."""
    if sign in _STOPS:
        return not before.isspace() and before not in "([{"
    if sign in _QUOTES:
        return not (before.isspace() and after.isspace())
    return sign in _BULLETS and before == "\n" and after.isspace()


def _split_contraction(word: str) -> list[str]:
    """A word without its contraction."""
    return _CONTRACTED.get(word) or ([word[:-3], "not"] if word.endswith("n't") else [word])


def _plain_ending(ending: str) -> str:
    """The end of a sentence without politeness: 好みます is 好む, 採用します is 採用する, 有効です is 有効."""
    for polite in ("である", "です", "だ"):
        if ending.endswith(polite):
            return ending.removesuffix(polite)
    if ending.endswith("います") and len(ending) > 3:
        return ending.removesuffix("ます") + "る"  # しています, and 犬がいます; but 買います
    if ending.endswith("ます"):
        stem = ending.removesuffix("ます")
        return stem[:-1] + _POLITE[stem[-1]] if stem and stem[-1] in _POLITE else stem + "る"
    return ending.removesuffix("る") if ending.endswith("する") else ending


def _parse_numerals(numerals: str) -> int:
    whole = part = digit = 0
    for numeral in numerals:
        if numeral in _DIGITS:
            digit = 10 * digit + _DIGITS[numeral]
        elif numeral in _UNITS:
            part, digit = part + (digit or 1) * _UNITS[numeral], 0
        else:
            whole, part, digit = (whole + (part + digit or 1)) * 10_000, 0, 0
    return whole + part + digit
