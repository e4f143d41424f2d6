"""The wording of a text: its tokens in their order, without those that have no meaning.

Two texts with the same tokens say the same. The tokens without a meaning are a short list (articles, punctuation,
politeness), and everything else counts: order ("A calls B"), case inside a sentence (-p and -P), tense, pronouns, particles,
signs. Whatever is not on the list keeps two memories apart.
"""

import unicodedata

from omoide.compiled_patterns import load_pattern

_KANA, _KATAKANA, _KANJI = "ぁ-ゖ", "ァ-ヺー", "一-鿿々〇"
_JAPANESE = _KANA + _KATAKANA + _KANJI
# A word reaches from its first letter or digit to its last before a space or Japanese: src/a.ts, 1.10, don't, db-1.internal.
_token = load_pattern(
    rf"(?P<kana>[{_KANA}]+)|(?P<katakana>[{_KATAKANA}]+)|(?P<kanji>[{_KANJI}]+)"
    rf"|(?P<word>[^\W{_JAPANESE}](?:[^\s{_JAPANESE}]*[^\W{_JAPANESE}])?)|(?P<sign>\S)"
)
_EMPTY = frozenset(["a", "an", "the", "is", "are", "please"])
_BEING = ("is", "are")
_DOING = "\x1f"
"""Stands for the ending of a verb after is or are."""
_SUBJECT = ("は", "が")
_ORDERS = {"make": "create", "display": "show", "remove": "delete"}
"""Verbs that are the same at the start of a sentence. Elsewhere they may be names: `make`."""
_SPELT = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_SYNONYMS = {"which": "that"} | {name: str(number) for number, name in enumerate(_SPELT)}
_STOPS = ".,;:!…、。・"  # not the question mark: a question is no statement
_QUOTES = "`“”‘’«»「」『』"  # not those of a shell, where it matters which
_ENDS = ".!?。"
_CLOSING = _ENDS + "\n」』)"
_BULLETS = "-*•–—"
_counted = load_pattern("[〇一二三四五六七八九十百千万]+(?=[人個つ件回度本台枚匹頭階年月日時分秒週倍番位名歳冊杯軒])")
_DIGITS = {numeral: value for value, numeral in enumerate("〇一二三四五六七八九")}
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_CONTRACTED = {"can't": ["can", "not"], "cannot": ["can", "not"], "won't": ["will", "not"]}
# The last sound of a verb before ます, and in its dictionary form. Where there are two (書きます, 起きます) the other one is
# not recognised.
_POLITE = dict(zip("いきぎしちにびみり", "うくぐすつぬぶむる", strict=True))


def normalize(text: str) -> str:
    """Return the text in its usual letters and digits: no full width, and 十二人 as 12人."""
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    return _counted.sub(lambda match: str(_parse_numerals(match[0])), text)


def tokens(text: str) -> tuple[str, ...]:
    """Return what a normalized text says, token by token."""
    scan = _Scan()
    for match in _token.finditer(text):
        before = text[match.start() - 1] if match.start() else "\n"
        after = text[match.end()] if match.end() < len(text) else "\n"
        scan.read(match[0], match.lastgroup or "", before, after)
    subjects = [place for place, token in enumerate(scan.tokens) if token in _SUBJECT]
    if len(subjects) == 1:  # with two of them it matters which is which: 猫は犬が好き
        scan.tokens[subjects[0]] = _SUBJECT[0]
    return tuple(filter(None, scan.tokens))


class _Scan:
    """The tokens of a text so far, and what matters of them for the next one."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self._begins_sentence = True
        self._follows_being = False  # after is or are

    def read(self, token: str, kind: str, before: str, after: str) -> None:
        """Add a token of this kind, between these two characters."""
        self._begins_sentence = self._begins_sentence or before == "\n"
        if kind == "sign":
            self._read_sign(token, before, after)
            return
        if kind == "word":
            self._read_word(token)
        elif kind == "kana":
            self.tokens.append(_plain_ending(token) if after in _CLOSING else token)
        else:
            self.tokens.append(token.rstrip("ー") if kind == "katakana" and len(token) > 3 else token)
        self._begins_sentence = False

    def _read_sign(self, sign: str, before: str, after: str) -> None:
        if not _is_decoration(sign, before, after):
            self.tokens.append(sign)
        self._begins_sentence = sign in _ENDS or (self._begins_sentence and sign in _BULLETS + _QUOTES)

    def _read_word(self, word: str) -> None:
        if self._begins_sentence:
            word = word.lower() if word[1:].islower() or len(word) == 1 else word
            word = _ORDERS.get(word, word)
        if self._follows_being and word.endswith("ing"):
            word = word.removesuffix("ing") + _DOING
        self.tokens += [_SYNONYMS.get(part, part) for part in _split_contraction(word) if part not in _EMPTY]
        self._follows_being = word in _BEING


def is_same(tokens: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether two texts have the same tokens, except for "is playing" and "plays"."""
    return len(tokens) == len(others) and all(
        a == b or _is_inflection(a, b) or _is_inflection(b, a) for a, b in zip(tokens, others, strict=True)
    )


def _is_inflection(doing: str, does: str) -> bool:
    """Whether the first is the end of "is doing", and the second "does"."""
    if not doing.endswith(_DOING):
        return False
    stem = doing.removesuffix(_DOING)
    if len(stem) > 3 and stem[-1] == stem[-2]:  # running, but not calling
        return does in (stem[:-1], stem[:-1] + "s", stem, stem + "s")
    return does in (stem, stem + "s", stem + "e", stem + "es")


def _is_decoration(sign: str, before: str, after: str) -> bool:
    """Whether a sign says nothing: punctuation after a word, quotes around one, the bullet of a line."""
    if sign in _STOPS:
        return not before.isspace() and before not in "([{"
    if sign in _QUOTES:
        return not (before.isspace() and after.isspace())
    return sign in _BULLETS and before == "\n" and after.isspace()


def _split_contraction(word: str) -> list[str]:
    """Return the words that a contraction stands for."""
    return _CONTRACTED.get(word) or ([word[:-3], "not"] if word.endswith("n't") else [word])


def _plain_ending(ending: str) -> str:
    """Return the ending of a sentence without politeness: 好みます is 好む, 採用します is 採用する, 有効です is 有効."""
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
