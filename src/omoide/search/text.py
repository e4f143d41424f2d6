"""Terms: what a text is found by, made the same way for writing and for asking.

    "pnpmを使用"          pnpm · を使 使用 · 使 用
    "getUserById()"      getuserbyid · get user by id
    "src/core/loop.ts"   src/core/loop.ts · src core loop.ts loop ts

A term is never empty, holds no white space or control character, and is cut to its first 64 characters, so that a long
key is still found by pasting it. Work and number of terms grow with the length of the text, never faster.
"""

import re
import unicodedata
from itertools import chain
from operator import add

import Stemmer

LONGEST = 64
"""Characters in the longest term; a SHA-256 in hex just fits."""

READ = 8_000
"""Characters of a query that are read, half from each end: a pasted log must not stall a prompt."""

# Each class starts with its most frequent range and astral characters stand apart: both make matching quicker.
_KANA = "ぁ-ゖァ-ヺー-ヿゝ-ゟㇰ-ㇿ"
_SINGLE = "一-鿿㐀-䶿々-〇가-힣豈-\ufaff"  # Han and Hangul: one character often is a word, a term beside its pairs
_ASTRAL = "\U00020000-\U0003fffd"  # Han beyond the first plane
_OTHER = "ᄀ-ᇿㄅ-ㄯ\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1780-\u17d3"  # old Hangul, Bopomofo, Thai, Lao …
_UNSPACED = _KANA + _SINGLE + _OTHER + _ASTRAL  # no space between words: cut into pairs
_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
_BREAK = (  # what ends a word outside ASCII: punctuation, signs, controls, halves of surrogate pairs
    "\x7f-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf×÷\u037e·՚-՟։־؉-؍؛-؟٪-٭۔।॥๏๚๛၊-၏។-៛\u2010-\u2027\u2030-\u205e\u20a0-\u20c0"
    "\u2190-\u25ff\u27c0-\u2aff\u2e00-\u2fff\u3000-\u3004\u3008-\u3020\u3030-\u3040\u3099-\u309c゠・\u3200-\u33ff"
    "\ud800-\uf8ff\ufe10-\ufe6f\uff00-\uffff\U000f0000-\U0010ffff"
)
_UNSEEN = (  # format characters, variation selectors, skin tones: nobody sees them, so they part no word
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff"
)

_unseen = re.compile(f"[{_UNSEEN}]+")
_wide_breaks = re.compile("[\u3000！-＊，：-？［-＾｀｛-･…]+")
_piece = re.compile(f"[{_UNSPACED}]+|[{_EMOJI}]|[^\\s{_UNSPACED}{_EMOJI}{_BREAK}]+")
_single = re.compile(f"[{_SINGLE}]|[{_ASTRAL}]")

_accent = re.compile("(?<=[a-zα-ω])[\u0300-\u036f]+")
_contraction = re.compile("(?<=[a-z])['’](?:s|t|re|ve|ll|d|m)(?![a-z])", re.IGNORECASE)
_thousands = re.compile("(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_LETTERS = "[\\w\x80-\U0010ffff]+"
_name = re.compile(rf"(?:(?<![\w./])\.(?=[A-Za-z]))?{_LETTERS}(?:(?:::|[-./:@#+]){_LETTERS})*(?:\+\+|#(?!\w))?")
_segment = re.compile("[^/:@#+]+")
_word = re.compile("[^-._/:@#+]+")
_hump = re.compile("[A-Z]{2,}s(?![a-z])|[A-Z0-9]+(?![a-z])|[A-Z]?[a-z0-9]+")
_numbered = re.compile("([A-Za-z]{2,})[0-9]+")

_stem = Stemmer.Stemmer("english").stemWord

HIRA = 0.5
SINGLE = 0.0      # han single within longer han run
LONE = 0.5        # isolated han
PART = 1.0
STOPPAIRS = frozenset()


def terms(text: str) -> list[str]:
    """The terms of a text in reading order, each as often as it occurs."""
    if text.isascii():
        return list(chain.from_iterable(map(_known, text.split())))
    found: list[str] = []
    for piece in _piece.findall(_plain(text)):
        if piece[0] < "\u0e00":
            found += _known(piece)
        else:
            found += _run_terms(piece)
    return found


def _plain(text: str) -> str:
    """Half and full width, composed and decomposed meet; what nobody sees is gone."""
    if not unicodedata.is_normalized("NFKC", text):
        text = _wide_breaks.sub(" ", text)  # most Japanese text needs no more, and NFKC is three times the price
        if not unicodedata.is_normalized("NFKC", text):
            text = unicodedata.normalize("NFKC", text)
    if _unseen.search(text):
        text = unicodedata.normalize("NFKC", _unseen.sub("", text))
    return text


def _run_terms(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [*map(add, run, run[1:]), *_single.findall(run)]


class _Known(dict[str, tuple[str, ...]]):
    """The terms of chunks met lately; words come again and again, so most are looked up, not made."""

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        made = tuple(chain.from_iterable(map(_name_terms, _names(chunk))))
        if len(chunk) <= LONGEST:
            if len(self) >= 10_000:
                self.clear()
            self[chunk] = made
        return made


_known = _Known().__getitem__


def _names(chunk: str) -> list[str]:
    """The words and identifiers of a piece of text without spaces, as they stand but for the folding of accents."""
    if not chunk.isascii():
        chunk = unicodedata.normalize("NFC", _accent.sub("", unicodedata.normalize("NFKD", chunk.casefold())))
    elif chunk.isalpha():
        return [chunk]
    return _name.findall(_thousands.sub("", _contraction.sub("", chunk)))


def _name_terms(name: str) -> list[str]:
    """A name as a whole first, then its segments and words: `src/a.ts` gives src/a.ts, src, a.ts, a, ts."""
    if name.isalpha() and (name.islower() or name.istitle() or name.isupper()):
        return [_term(name)]
    found = [_term(name)]
    some = False
    for segment in _segment.findall(name):
        if segment != name:
            found.append(_term(segment))
        if segment[0] in "vV" and segment[1:2].isdigit():
            found.append(_term(segment[1:]))
        for word in _word.findall(segment):
            some = True
            if word != segment:
                found.append(_term(word))
            humps = _hump.findall(word) if word.isascii() and len(word) <= LONGEST else [word]
            for hump in humps:
                if hump != word:
                    found.append(_term(hump))
                if numbered := _numbered.fullmatch(hump):
                    found.append(_term(numbered[1]))
    return found if some else []


def _term(word: str) -> str:
    word = word[:LONGEST].lower()
    return _stem(word) if word.isalpha() else word


_STOP = """a about above after again all also am an and any are aren as at be because been before being below between both but by can could
couldn did didn do does doesn doing don down during each few for from further had hadn has hasn have haven having he her here
hers herself him himself his how i if in into is isn it its itself just ll me more most my myself no nor not now of off on
once only or other our ours ourselves out over own re same she should shouldn so some such than that the their theirs them
themselves then there these they this those through to too under until up very was wasn we were weren what when where which
while who whom why will with won would wouldn you your yours yourself"""
_stop = frozenset(_term(w) for w in _STOP.split())

WEAKW=0.4
_weak = frozenset(_term(w) for w in """many much lot way thing things something anything someone anyone get gets got getting go goes going went
gone make makes made making take takes took taken want wants wanted need needs needed like know knows knew
think let lets please tell told say says said see give gave given help try tried ago past recent recently
previous previously good best kind sort currently mention mentioned remind suggest recommend
wonder wondering talk talked chat conversation discuss discussed may might must shall ever yet still even well around
different""".split())
_hira = re.compile("[ぁ-ゖ]{2}")

def asked(text: str, limit: int = 64) -> dict[str, float]:
    weights: dict[str, float] = {}
    if len(text) > READ:
        text = text[: READ // 2] + " " + text[-READ // 2 :]
    for piece in _piece.findall(_plain(text)):
        if piece[0] < "\u0e00":
            for name in _names(piece):
                for i, term in enumerate(_name_terms(name)):
                    w = PART if i else 1.0
                    if term in _weak: w*=WEAKW
                    if weights.get(term, 0) < w:
                        weights[term] = w
        elif len(piece) == 1:
            weights[piece] = max(weights.get(piece, 0), LONE1 if _single.match(piece) else LONE2)
        else:
            for pair in map(add, piece, piece[1:]):
                weights[pair] = HIRA if _hira.match(pair) else 1.0
            for m in re.finditer(f"[{_SINGLE}]+", piece):
                if len(m[0]) == 1:
                    if LONE: weights[m[0]] = max(weights.get(m[0], 0), LONE)
                elif SINGLE:
                    for c in m[0]:
                        weights[c] = max(weights.get(c, 0), SINGLE)
    for p in STOPPAIRS: weights.pop(p, None)
    kept = {t: w for t, w in weights.items() if t not in _stop and w > 0} or weights
    return dict(list(kept.items())[:limit])
LONE1=0.7
LONE2=0.3
