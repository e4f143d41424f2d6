"""The details of a text that a summary must not lose: numbers, dates, versions, paths, identifiers and names. Pure."""

import re
import unicodedata
from collections.abc import Iterable

_JAPANESE = "ぁ-ゖァ-ヺー一-鿿々〇"
_EXTENSIONS = (
    "py|tsx?|jsx?|go|rs|rb|java|kt|swift|c|h|cpp|cs|php|toml|ya?ml|json|jsonl|md|sh|sql|cfg|ini|env|lock|csv|txt|html|css"
)
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    "|dec(?:ember)?"
)
_DATE = rf"""
      \d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}
      | \d{{4}}年(?:\d{{1,2}}月(?:\d{{1,2}}日)?)? | \d{{1,2}}月\d{{1,2}}日
      | \b(?i:{_MONTHS})\.?\ \d{{1,2}}(?:st|nd|rd|th)?(?:,?\ \d{{4}})?\b | \b\d{{1,2}}\ (?i:{_MONTHS})\b(?:\ \d{{4}})?
"""
_DAY = re.compile(_DATE, re.X)
_DETAIL = re.compile(
    rf"""
    (?P<code>`[^`\n]+`)
  | (?P<url>\bhttps?://[^\s{_JAPANESE}、。）)」]+)
  | (?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
  | (?P<date>{_DATE})
  | (?P<path>(?<![\w/])(?:~|\.{{1,2}})?/?(?:[A-Za-z0-9_.*-]+/)+[A-Za-z0-9_.*-]* | (?<!\w)/[A-Za-z0-9_.-]+)
  | (?P<file>(?<![\w/.])[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(?:{_EXTENSIONS})(?![A-Za-z0-9_]))
  | (?P<identifier>(?<![A-Za-z0-9_])(?:
        [A-Za-z0-9]+(?:[-_.:][A-Za-z0-9]+)*[-_.:][A-Za-z0-9]*\d[A-Za-z0-9]*
      | [A-Za-z0-9]+(?:_[A-Za-z0-9]+)+ | [A-Z][A-Z0-9]+-\d+ | [a-z]+[A-Z]\w* | [A-Z][a-z0-9]+[A-Z]\w* | [A-Za-z]+\d[\w.]*))
  | (?P<number>(?<![A-Za-z0-9_.])[#v]?\d+(?:[.,:]\d+)*%?)
  | (?P<person>[{_JAPANESE}]{{1,8}}?(?=さん|氏|様|課長|部長|先生))
  | (?P<name>(?<![A-Za-z0-9_'’])[A-Z][A-Za-z]+(?:\+\+|\#)?)
    """,
    re.X,
)
_WORDS = """
    api ci pr prs ok ui ux db url todo wip fyi note today yesterday tomorrow monday tuesday wednesday thursday friday
    saturday sunday the a an this that these those it its we i he she they you our my his her their there here and but or so
    if when while after before because since as at by for from in into of on to with without not no yes all also any both
    each every everything nothing now then next first last again still just only please thanks thank hello hi great good done
"""
_COMMON = frozenset(_WORDS.split())
"""Words that are capitalised without being the name of anything, and abbreviations that stand everywhere."""
_END = re.compile(r"[.!?:。！？：]\s*$")


def find_details(text: str, names: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the details of a text, each as it is compared: in NFKC, in lower case, without quotes around it.

    `names`: words that are known to be names (`find_names`), so that they are found at the beginning of a sentence, too.
    """
    text = unicodedata.normalize("NFKC", text)
    found: set[str] = set()
    for match in _DETAIL.finditer(text):
        value = match[0].strip("`").rstrip(".,:;/").lower()
        if match.lastgroup == "name" and value not in names and not _is_name(text, match):
            continue
        if value:
            found.add(value)
    return frozenset(found)


def find_names(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that stand in these texts as names, with a capital letter within a sentence; in lower case."""
    normal = (unicodedata.normalize("NFKC", text) for text in texts)
    return frozenset(
        match[0].lower()
        for text in normal
        for match in _DETAIL.finditer(text)
        if match.lastgroup == "name" and _is_name(text, match)
    )


def _is_name(text: str, match: re.Match[str]) -> bool:
    return not _begins_sentence(text, match.start()) and match[0].lower() not in _COMMON


def is_date(detail: str) -> bool:
    """Return whether a detail is a day or a month."""
    return _DAY.fullmatch(detail) is not None


def _begins_sentence(text: str, place: int) -> bool:
    """Whether a capital letter at this place is no sign of a name: the first word of a sentence has one anyway."""
    before = text[:place].rstrip(" \"'(「『*-•")
    return not before or before[-1] == "\n" or bool(_END.search(before))
