"""Times in a question: "last week", 「先月」, 2026-02-05 or "in May" as a span to compare the times of memories with.

Only what people ask with: a date, a month, a year, and the usual words for days, weeks, months and years gone by. What is
not understood is no error: the question then has no time, and is answered by its words.
"""

import calendar
import re
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern

_DAY = timedelta(days=1)
_BLUR = 3 * _DAY  # "on 5 May" includes what was noted about it a day or two later. Chosen by judgement


class Span(NamedTuple):
    """A time from `start` to `end`, the end excluded."""

    start: datetime
    end: datetime

    def near(self, moment: datetime) -> float:
        """Return how near a moment is: 1 inside of the span, 0 from a distance of its length (at least three days) on."""
        if self.start <= moment < self.end:
            return 1.0
        away = self.start - moment if moment < self.start else moment - self.end
        return max(0.0, 1 - away / max(self.end - self.start, _BLUR))


_MONTHS = {name.lower(): place for names in (calendar.month_name, calendar.month_abbr) for place, name in enumerate(names)}
_MONTHS = {name: place for name, place in _MONTHS.items() if name} | {"sept": 9}
_WEEKDAYS = {name.lower(): place for place, name in enumerate(calendar.day_name)}
_NUMERALS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_NUMBERS = {numeral: value for value, numeral in enumerate(_NUMERALS, 1)}
_NUMBERS |= {"a": 1, "an": 1, "couple of": 2, "a couple of": 2, "few": 3, "a few": 3}
_KANJI = {numeral: value for value, numeral in enumerate("〇一二三四五六七八九十")} | {"数": 3, "半": 0.5}

_month = "|".join(sorted(_MONTHS, key=len, reverse=True))
_number = r"\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_ordinal = r"(\d{1,2})(?:st|nd|rd|th)?"
_year = r"((?:19|20)\d\d)"

# Each has its reader below. The first that matches and is a valid time is used, so exact ones come first.
_DATE = load_pattern(rf"(?<!\d){_year}(?:[-/.](\d{{1,2}})[-/.](\d{{1,2}})(?!\d)|年\s*(\d{{1,2}})月\s*(\d{{1,2}})日)")
_DAY_FIRST = load_pattern(rf"\b{_ordinal}\s+(?:of\s+)?({_month})\b\.?(?:,?\s+{_year}\b)?", re.IGNORECASE)
_MONTH_FIRST = load_pattern(rf"\b({_month})\b\.?\s+{_ordinal}\b(?!:)(?:,?\s+{_year}\b)?", re.IGNORECASE)
_MONTH_OF_YEAR = load_pattern(rf"\b({_month})\b\.?,?\s+(?:of\s+)?{_year}\b", re.IGNORECASE)
_NUMBERED_MONTH = load_pattern(rf"(?<!\d){_year}(?:-(\d{{1,2}})(?![-\d])|年\s*(\d{{1,2}})月)")
_JAPANESE_DAY = load_pattern(r"(?<!\d)(\d{1,2})月\s*(\d{1,2})日")
_JAPANESE_MONTH = load_pattern(r"(?<!\d)(\d{1,2})月(?!\d)")
_AGO = load_pattern(rf"\b({_number})\s+(day|week|month|year)s?\s+(?:ago|before|back|earlier)\b", re.IGNORECASE)
_JAPANESE_AGO = load_pattern(r"(\d{1,3}|[〇一二三四五六七八九十数半])\s*(日|週間|か月|ヶ月|カ月|ケ月|ヵ月|年)(?:ほど)?前")
_LAST = load_pattern(r"\b(last|past|previous|this)\s+(week|weekend|month|year)\b", re.IGNORECASE)
_LAST_SPAN = load_pattern(rf"\b(?:last|past)\s+({_number})\s+(day|week|month|year)s\b", re.IGNORECASE)
_LAST_WEEKDAY = load_pattern(rf"\b(?:last|this past)\s+({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_IN_MONTH = load_pattern(rf"\b(?:in|last|during|since|early|late|mid)[\s-]+({_month})\b", re.IGNORECASE)
_IN_YEAR = load_pattern(rf"\b(?:in|during|of)\s+{_year}\b|(?<!\d){_year}年", re.IGNORECASE)
_PLAIN_WORDS = load_pattern(
    r"\b(?:today|yesterday)\b|今日|本日|昨日|きのう|一昨日|おととい|今週|先週|先々週|今月|先月|先々月|今年|去年|昨年|一昨年",
    re.IGNORECASE,
)
# Every pattern above needs one of these: most questions have none, and need not be searched fifteen times.
_SIGNS = load_pattern(r"[\d日月年週]|きのう|おととい")
_WORDS = {"ago", "before", "back", "earlier", "last", "past", "previous", "this", "today", "yesterday", *_MONTHS}
_word = load_pattern("[a-z]+")


def mentions_time(text: str) -> bool:
    """Return whether a question may name a time: a cheap check before `span`."""
    return _SIGNS.search(text) is not None or not _WORDS.isdisjoint(_word.findall(text.lower()))


def span(text: str, at: datetime) -> Span | None:
    """Return the span that a question asks about, relative to `at`, or None if it names no time."""
    for pattern, read in _READERS:
        match = pattern.search(text)
        if match is not None:
            try:
                return read(match, at)
            except (ValueError, OverflowError):  # fallback: 2026-02-31 is a number, not a day
                continue
    return None


def _days(first: date, count: int, at: datetime) -> Span:
    start = datetime.combine(first, time(), at.tzinfo)
    return Span(start, start + count * _DAY)


def _month_span(year: int, month: int, at: datetime) -> Span:
    return _days(date(year, month, 1), calendar.monthrange(year, month)[1], at)


def _year_span(year: int, at: datetime) -> Span:
    return _days(date(year, 1, 1), 366 if calendar.isleap(year) else 365, at)


def _past(month: int, day: int, year: str | None, at: datetime) -> Span:
    """Return a day; without a year, the last such day."""
    if year:
        return _days(date(int(year), month, day), 1, at)
    this = date(at.year, month, day)
    return _days(this if this <= at.date() else date(at.year - 1, month, day), 1, at)


def _past_month(month: int, at: datetime) -> Span:
    return _month_span(at.year if month <= at.month else at.year - 1, month, at)


def _count(word: str) -> float:
    word = " ".join(word.lower().split())
    return float(word) if word.isdigit() else _NUMBERS[word]


def _ago(count: float, unit: str, at: datetime) -> Span:
    """Return the span so long ago, plus and minus half of the unit."""
    length = {"day": 1, "week": 7, "month": 30, "year": 365}[unit]
    middle = at - timedelta(days=count * length)
    if unit == "day":
        return _days(middle.date(), 1, at)
    return Span(middle - length / 2 * _DAY, middle + length / 2 * _DAY)


def _last(match: re.Match[str], at: datetime) -> Span:
    which, unit = match[1].lower(), match[2].lower()
    monday = at.date() - timedelta(days=at.weekday())
    back = 0 if which == "this" else 1
    if unit == "week":
        return _days(monday - timedelta(days=7 * back), 7, at)
    if unit == "weekend":
        saturday = monday + timedelta(days=5)
        return _days(saturday if saturday < at.date() and which == "this" else saturday - timedelta(days=7), 2, at)
    if unit == "month":
        return _months_back(back, at)
    return _year_span(at.year - back, at)


def _months_back(back: int, at: datetime) -> Span:
    year, month = divmod(at.year * 12 + at.month - 1 - back, 12)
    return _month_span(year, month + 1, at)


def _weekday(place: int, at: datetime) -> Span:
    back = (at.weekday() - place - 1) % 7 + 1
    return _days(at.date() - timedelta(days=back), 1, at)


def _plain_word(match: re.Match[str], at: datetime) -> Span:
    word = match[0].lower()
    monday = at.date() - timedelta(days=at.weekday())
    days = {"today": 0, "今日": 0, "本日": 0, "yesterday": 1, "昨日": 1, "きのう": 1, "一昨日": 2, "おととい": 2}
    weeks = {"今週": 0, "先週": 1, "先々週": 2}
    months = {"今月": 0, "先月": 1, "先々月": 2}
    if word in days:
        return _days(at.date() - timedelta(days=days[word]), 1, at)
    if word in weeks:
        return _days(monday - timedelta(days=7 * weeks[word]), 7, at)
    if word in months:
        return _months_back(months[word], at)
    return _year_span(at.year - {"今年": 0, "去年": 1, "昨年": 1, "一昨年": 2}[word], at)


_UNITS = {"日": "day", "週間": "week", "年": "year"}

_READERS = (
    (_DATE, lambda m, at: _days(date(int(m[1]), int(m[2] or m[4]), int(m[3] or m[5])), 1, at)),
    (_DAY_FIRST, lambda m, at: _past(_MONTHS[m[2].lower()], int(m[1]), m[3], at)),
    (_MONTH_FIRST, lambda m, at: _past(_MONTHS[m[1].lower()], int(m[2]), m[3], at)),
    (_MONTH_OF_YEAR, lambda m, at: _month_span(int(m[2]), _MONTHS[m[1].lower()], at)),
    (_NUMBERED_MONTH, lambda m, at: _month_span(int(m[1]), int(m[2] or m[3]), at)),
    (_JAPANESE_DAY, lambda m, at: _past(int(m[1]), int(m[2]), None, at)),
    (_AGO, lambda m, at: _ago(_count(m[1]), m[2].lower(), at)),
    (_JAPANESE_AGO, lambda m, at: _ago(float(_KANJI.get(m[1], 0) or m[1]), _UNITS.get(m[2], "month"), at)),
    (_LAST_WEEKDAY, lambda m, at: _weekday(_WEEKDAYS[m[1].lower()], at)),
    (_LAST, _last),
    (_LAST_SPAN, lambda m, at: Span(_ago(_count(m[1]), m[2].lower(), at).start, at)),
    (_IN_MONTH, lambda m, at: _past_month(_MONTHS[m[1].lower()], at)),
    (_PLAIN_WORDS, _plain_word),
    (_JAPANESE_MONTH, lambda m, at: _past_month(int(m[1]), at)),
    (_IN_YEAR, lambda m, at: _year_span(int(m[1] or m[2]), at)),
)
