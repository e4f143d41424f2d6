"""The analyzer: the terms of a text, made the same way for memories and for queries.

    "pnpmを使用"          pnpm · を使 使用 · 使 用
    "getUserById()"      getuserbyid · get user by id
    "src/core/loop.ts"   src/core/loop.ts · src core loop.ts loop ts

A term is never empty, holds no white space or control character, and is cut to its first 64 characters, so that a long
key is still found by pasting it. Work and number of terms grow with the length of the text, never faster.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, filterfalse
from operator import add

import Stemmer

from omoide.compiled_patterns import load_pattern
from omoide.retrieval import constants

LONGEST = 64
"""Characters in the longest term; a SHA-256 in hex just fits."""

READ = 8_000
"""Characters of a query that are read, half from each end: a pasted log must not stall a prompt."""

LISTING = 4 * LONGEST
"""Characters of the longest name that is taken apart by segments; of a longer one only the words are used."""

OPENING = 32
"""Terms at the start of a text by which near-duplicates are found; with pairs of characters, half as many more."""

CACHED = 50_000
"""Words whose terms are cached, about 15 MB when a bulk import has filled the cache."""

_KANA = "ぁ-ゖァ-ヺー-ヿゝ-ゟ"
_HAN = "一-鿿㐀-䶿々-\u3007\uf900-\ufaff\U00020000-\U0003fffd"
_HANGUL = "가-힣"
_LIKE_THAI = (  # other scripts without spaces, Thai to Khmer, and parts of Hangul that rarely stand alone
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1100-\u11ff\u1780-\u17b3\u17b6-\u17d3\u3100-\u31ff"
)
_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
_SPACED = (  # letters, digits and signs of scripts with spaces between words
    "!-~\xaa\xb5\xba\xc0-\xd6\xd8-\xf6\xf8-\u034e\u0350-\u037d\u037f-\u0386\u0388-\u0559\u0560-\u0588\u0591-\u05bd"
    "\u05bf\u05c1-\u05f2\u0610-\u061a\u0620-\u0669\u066e-\u06d3\u06d5-\u06dc\u06de-\u06ff\u0710-\u088f\u0898-\u08e1"
    "\u08e3-\u0963\u0966-\u0df3\u0e50-\u0e59\u0ed0-\u0f00\u0f18-\u0fbc\u1050-\u10fa\u10fc-\u1360\u1369-\u13ff"
    "\u1401-\u166c\u166f-\u167f\u1681-\u169a\u16a0-\u16ea\u16ee-\u177f\u17dc-\u17ff\u1810-\u1fff\u20d0-\u218f\u2c00-\u2dff"
    "\ua000-\uabff\ufb00-\ufdff\U00010000-\U000110bc\U000110be-\U000110cc\U000110ce-\U0001342f"
    "\U00013460-\U0001bc9f\U0001bca4-\U0001d172\U0001d17b-\U0001efff"
)
_INVISIBLE = (  # format characters, variation selectors, skin tones: invisible, so they separate no words
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff"
)

_USUAL = bytes([0, *range(0x30, 0xA0)])
_english = load_pattern("[A-Za-z]{2,}")
_hiragana = load_pattern("[ぁ-ゖ]+")
_PARTICLES = frozenset("はがをにでとのもへや")

_accent = load_pattern("(?<=[a-z\u03b1-\u03c9])[\u0300-\u036f]+")
_thousands = load_pattern("(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_LETTERS = "[^\\x00-/:-@[-^`{-\\x7f]+"
_name = load_pattern(rf"(?:(?<![\w./])\.(?=[A-Za-z]))?{_LETTERS}(?:(?:::|[-./:@#+]){_LETTERS})*(?:\+\+|#(?!\w))?")
_segment = load_pattern("[^/:@#+]+")
_word = load_pattern("[^-._/:@#+]+")
_hump = load_pattern("[A-Z]{2,}s(?![a-z])|[A-Z0-9]*[A-Z][A-Z0-9]*(?![a-z])|[A-Z]?[a-z0-9]+")
_numbered = load_pattern("([A-Za-z]{2,})[0-9]+")
_version = load_pattern("[vV][0-9]")

_stem = Stemmer.Stemmer("english").stemWord


def terms(text: str) -> list[str]:
    """Return the terms of a text, each as often as it occurs: words and pairs in reading order, then single characters."""
    if text.isascii():
        return index_text(text).split()
    found, alone = _read(_normalize(text))
    return [*found, *alone]


def _read(text: str) -> tuple[list[str], str]:
    """Return the words and pairs of a plain text in reading order, and the characters that are words by themselves."""
    found: list[str] = []
    runs: list[str] = []
    for run, chunk in _script_pattern().findall(text):
        if chunk:
            found += _chunk_terms(chunk).split()
        elif len(run) > 1:
            found += map(add, run, run[1:])
            runs.append(run)
        elif run:
            found.append(run)
        else:
            return _read(_invisible_pattern().sub("", text))
    return found, _never_alone().sub("", "".join(runs))  # Han and Hangul: there one character often is a word


def _terms_of_runs(runs: Iterable[tuple[str, str]]) -> list[str]:
    """Return the terms of a query that is cut into runs and chunks already, as `terms` does."""
    found: list[str] = []
    joined = ""
    for run, chunk in runs:
        if chunk:
            found += _chunk_terms(chunk).split()
        elif len(run) > 1:
            found += map(add, run, run[1:])
            joined += run
        else:
            found.append(run)
    return [*found, *_never_alone().sub("", joined)]


def index_text(text: str) -> str:
    """Return the terms of a text as one string for an index, separated by spaces."""
    return " ".join(filter(None, map(_chunk_terms, text.split())) if text.isascii() else terms(text))


def index_entry(text: str) -> tuple[str, int, list[str]]:
    """Return the terms of a text as one string, their number, and the telling terms of its beginning, in reading order.

    Telling terms leave out what may differ between texts that say the same: common words, and endings of Japanese words.
    """
    if text.isascii():
        found = list(filter(None, map(_chunk_terms, text.split())))
        entry = " ".join(found)
        length = entry.count(" ") + 1 if found else 0
        if length == len(found):
            opening = found[:OPENING]
            return entry, length, [*filterfalse(_is_dull, opening)] or opening
        opening = entry.split(" ", OPENING)[:OPENING]  # there are names, each with its parts
        return entry, length, [word for word in opening if word not in _DULL and word.isalpha()] or opening
    found, alone = _read(_normalize(text))
    opening = found[: OPENING * 3 // 2]
    found += alone
    telling = [word for word in opening if word[-1] > "ゖ" or (word[-1] < "ぁ" and word not in _DULL and word.isalpha())]
    return " ".join(found), len(found), telling or opening


def query_terms(text: str, limit: int = 64, *, runs: Sequence[tuple[str, str]] | None = None) -> dict[str, float]:
    """Return the distinct terms of a query with their weights; the most telling ones if there are more than `limit`.

    `runs`: what the function `runs` returns for the query, if that is known already.
    """
    found = terms(_both_ends(text)) if runs is None else _terms_of_runs(runs)
    weights = {term: weight for term in found if (weight := _weight(term))} or dict.fromkeys(found, 1.0)
    for term in [*weights]:
        for alias in _ALIASES.get(term, ()):
            weights.setdefault(alias, constants.ALIAS_WEIGHT)
    if len(weights) > limit:
        # Frequencies in the store are not known here: frequent and long terms of the query say most.
        often = Counter(found)
        best = sorted(weights, key=lambda term: (-weights[term] * (often[term] + min(len(term), 12)), term))
        weights = {term: weights[term] for term in best[:limit]}
    return weights


def telling_terms(text: str) -> dict[str, float]:
    """Return the terms of a message that could tell what it is about, with their weights.

    Stop words, terms in hiragana and single characters are left out: they occur in texts about everything.
    """
    return {
        term: weight
        for term, weight in query_terms(text).items()
        if _weight(term) and not _hiragana.fullmatch(term) and (len(term) > 1 or term < "\u3041")
    }


def runs(query: str) -> list[tuple[str, str]]:
    """Return the parts of a query in reading order, each as a pair of texts of which one is empty.

    The first is a run of characters without spaces between words, of which terms are pairs of characters; the second is a
    chunk that is split into words.
    """
    text = _normalize(_both_ends(query))
    if not _is_plain_script(text):
        text = _invisible_pattern().sub("", text)
    return _script_pattern().findall(text)


def _both_ends(query: str) -> str:
    """Return what is read of a query."""
    return query if len(query) <= READ else f"{query[: READ // 2]} {query[-READ // 2 :]}"


def spelling(query: str) -> dict[str, str]:
    """Return the spelling of each English word of a query by its stem, so that people are shown `changing`, not `chang`."""
    return {_term(word): word.lower() for word in _english.findall(query[:READ])}


def display_words(terms: Iterable[str], spelling: Mapping[str, str]) -> list[str]:
    """Return terms as words for people: overlapping pairs are joined, and a word inside another one is left out.

    `spelling`: what the function `spelling` returns for the query.
    """
    words: list[str] = []
    for term in terms:
        if words and len(term) == 2 and term[0] == words[-1][-1] and not term.isascii():
            words[-1] += term[1]
        else:
            words.append(spelling.get(term, term))
    return [word for word in words if not any(word != other and word in other for other in words)]


@lru_cache(4_096)
def is_literal(term: str) -> bool:
    """Return whether a term can be counted in a normalized text as it is: a pair of characters, or one that is a word.

    A pair of equal characters cannot: あああ contains two of them.
    """
    if len(term) > 2 or term.isascii() or (len(term) == 2 and term[0] == term[1]):
        return False
    run = _script_pattern().fullmatch(term)
    return run is not None and bool(run[1]) and (len(term) == 2 or not _never_alone().fullmatch(term))


def normalize_texts(texts: Iterable[str]) -> list[str]:
    """Return the texts in one line each, normalized as for `terms`, for counting literal terms.

    Pass all texts in one call: one call for each takes several times as long.
    """
    whole = "\n".join([text.replace("\n", " ") for text in texts])
    if not whole.isascii():
        whole = _normalize(whole)
        if not _is_plain_script(whole):
            whole = _invisible_pattern().sub("", whole)
    return whole.split("\n")


@lru_cache(2_048)
def _weight(term: str) -> float:
    if term in _STOP:
        return 0.0
    if term in _WEAK:
        return constants.WEAK_WORD_WEIGHT
    if len(term) == 2 and term[0] in _PARTICLES and term[1] >= "ァ":  # の設 in 認証の設計: the boundary of two words
        return 0.0
    if _hiragana.fullmatch(term):
        return constants.HIRAGANA_WEIGHT
    return constants.SINGLE_CHARACTER_WEIGHT if len(term) == 1 and term >= "\u3041" else 1.0


# These and `_script_pattern` are made when the first text needs them: a process that asks one question in English needs
# none.
@cache
def _invisible_pattern() -> re.Pattern[str]:
    return load_pattern(f"[{_INVISIBLE}]+")


@cache
def _wide_breaks() -> re.Pattern[str]:
    return load_pattern("[\u3000\uff01-\uff0a\uff0c\uff1a-\uff1f\uff3b-\uff3e\uff40\uff5b-\uff65\u2026]+")


@cache
def _never_alone() -> re.Pattern[str]:
    return load_pattern(f"[{_KANA}{_LIKE_THAI}]+")


@cache
def _contraction() -> re.Pattern[str]:
    return load_pattern("(?<=[a-z])'(?:s|t|re|ve|ll|d|m)(?![a-z])", re.IGNORECASE)


@cache
def _script_pattern() -> re.Pattern[str]:
    """Match runs to cut into pairs, chunks to split into words, and invisible characters; everything else is a break.

    Made when the first text needs it: compiling takes time for every character in a class, and here are most there are.
    """
    return load_pattern(f"([{_KANA}{_HAN}{_HANGUL}{_LIKE_THAI}]+)|([{_EMOJI}]|[{_SPACED}]+)|[{_INVISIBLE}]")


def _is_plain_script(text: str) -> bool:
    """Whether a text contains nothing but plain Japanese and Latin letters, by the first byte of each character: takes a
    third of the time of searching for invisible characters."""
    return not text.encode("utf-16-be", "surrogatepass")[::2].translate(None, _USUAL) and "\xad" not in text


def _normalize(text: str) -> str:
    """Return the text with one form for half and full width, composed and decomposed characters."""
    text = text.replace("\u2019", "'")
    if not unicodedata.is_normalized("NFKC", text):
        text = _wide_breaks().sub(" ", text)  # most Japanese text needs no more, and NFKC costs four times as much
        if not unicodedata.is_normalized("NFKC", text):
            text = unicodedata.normalize("NFKC", text)
    return text


class _ChunkTerms(dict[str, str]):
    """The terms of recent chunks: words occur again and again, so most are looked up rather than made."""

    def __missing__(self, chunk: str) -> str:
        word = chunk[:-1] if chunk[-1] in ".,;:!?" else chunk
        if word.isalpha() and word.isascii() and (word.islower() or word.istitle()):  # most chunks: a word of a sentence
            made = _term(word)
        else:
            made = " ".join(chain.from_iterable(map(_name_terms, _names(chunk))))
        if len(chunk) <= LONGEST:
            if len(self) >= CACHED:
                self.clear()
            # One object where both are equal: half of the memory.
            self[chunk] = made = chunk if made == chunk else made
        return made


_chunk_terms = _ChunkTerms().__getitem__


def _names(chunk: str) -> list[str]:
    """Return the words and identifiers in a chunk without spaces, without accents and contractions."""
    if not chunk.isascii():
        chunk = unicodedata.normalize("NFKC", _accent.sub("", unicodedata.normalize("NFD", chunk.casefold())))
    elif chunk.isalpha():
        return [chunk]
    return _name.findall(_thousands.sub("", _contraction().sub("", chunk)))


def _name_terms(name: str) -> list[str]:
    """Return a name as a whole, then its segments and words: `src/a.ts` gives src/a.ts, src, a.ts, a, ts."""
    found = [_term(name)]
    if len(name) > LISTING:
        return found + [term for word in _word.findall(name) for term in _chunk_terms(word[:LONGEST]).split()]
    if name.isalpha() and (name.islower() or name.istitle() or name.isupper()):
        return found
    if not name.strip("_"):
        return []
    for segment in _segment.findall(name):
        if segment != name:
            found.append(_term(segment))
        if _version.match(segment):
            found.append(_term(segment[1:]))
        for word in _word.findall(segment):
            if word != segment:
                found.append(_term(word))
            found += _word_parts(word)
    return found


def _word_parts(word: str) -> list[str]:
    """Return the words inside a word: `getUserById` gives get, user, by, id and `python3` gives python."""
    if len(word) > LONGEST or not word.isascii():  # a key, not a name; and camel case is an ASCII convention
        return []
    humps = _hump.findall(word)
    parts = [_term(hump) for hump in humps] if len(humps) > 1 else []
    return parts + [_term(numbered[1]) for hump in humps if (numbered := _numbered.fullmatch(hump))]


def stem(word: str) -> str:
    """Return the stem of a word."""
    return _term(word)


def _term(word: str) -> str:
    word = word[:LONGEST].lower()
    return _stem(word) if word.isalpha() else word


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(_term, words.split()))


_STOP = _stems(
    """a about also am an and any are aren as at be because been being but by can could couldn did didn do does doesn
    doing don for from had hadn has hasn have haven having he her hers herself him himself his how i into it its
    itself just ll me my myself nor of on or our ours ourselves re she should shouldn so some such than that the
    their theirs them themselves then these they this those to too very was wasn we were weren what when where which
    while who whom why will with won would wouldn you your yours yourself"""
)
_WEAK = _stems(
    """above after ago again all anyone anything around back before below best between both chat conversation currently
    different discuss down during each etc even ever few find first further gave get give go going gone good got
    help here if in is isn kind knew know last let like lot made make many may mention might more most much must
    need new no not now off once one only other out over own past per please previous previously recent recently
    recommend remind said same say see shall show someone something sort still suggest take taken talk tell thing
    think through told took total tried try two type under until up use want way well went wonder yet
    golang java javascript perl php python ruby rust typescript"""
)  # the last line: who works in one language names it in every question
_DULL = (
    _STOP
    | _WEAK
    | _stems(  # and words that are most often added to a sentence or left out
        """already always basically clearly directly easily every explicitly generally immediately instead later mostly never
    normally often perhaps quickly really simply sometimes soon today together tomorrow typically usually yesterday"""
    )
)
_is_dull = _DULL.__contains__


def _aliases() -> dict[str, list[str]]:
    """Return short forms that programmers use for whole words, in both directions."""
    pairs = """admin administrator, app application, arg argument, async asynchronous, attr attribute, auth
        authentication, bool boolean, char character, cmd command, config configuration, db database, dev
        development, dict dictionary, dir directory, doc document, env environment, err error, exec execute,
        folder directory, func function, idx index, img image, info information, init initialize, int
        integer, js javascript, k8s kubernetes, len length, lib library, max maximum, min minimum, msg
        message, num number, obj object, param parameter, perf performance, pkg package, prod production, py
        python, ref reference, regex regexp, repo repository, spec specification, stats statistics, str
        string, sync synchronize, temp temporary, tmp temporary, ts typescript, val value, var variable"""
    both: dict[str, list[str]] = {}
    for pair in pairs.split(","):
        short, long = map(_term, pair.split())
        both.setdefault(short, []).append(long)
        both.setdefault(long, []).append(short)
    return both


_ALIASES = _aliases()
