"""Summarise the log of a project by its own sentences: what is decided, required or stated exactly stays, word for word;
progress, talk and repetition are left out. Pure.

A sentence is kept if it decides something, sets a rule, gives a cause, or has a detail (`details`). If that is more than
half of the text, facts with few details are left out; if it is less, remarks are added as long as the summary stays short.
What an entry says is left out as repetition only if it says nothing beyond another one, and has no detail of its own.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import NamedTuple

from omoide.learning.sentences import split_sentences
from omoide.learning.statements import has_reason
from omoide.lifecycle import summary_text
from omoide.lifecycle.details import find_details, find_names, is_date
from omoide.lifecycle.summary_points import PointKind, classify_point, is_diary, without_lead
from omoide.lifecycle.summary_text import Point, render_point, render_points

PART_BYTES = 6_000
"""About how long one summary gets: a longer one would be found for every question, and fill every prompt."""
_SHARE = 0.35
"""Of the bytes of the entries: up to this size of the summary, remarks are added to what must stay."""
_MOST_SHARE = 0.475
"""The same: above this size, facts with few details are left out. The originals stay in the archive."""
_SHORT_LOG = 4_000
"""Bytes of entries whose facts all stay: little is gained there."""
_HEAVY = 3
"""Details in one sentence from which on the rest of its entry belongs to it, as to a decision."""
_BULLET_BYTES = 15
"""Bytes of a point beside its text: dash, day and line end."""
_SERIES = 4
"""Statements that differ in their numbers alone, from which on only the first and the last stay."""
_MOST_CODE = 300
"""Characters of a block of code that stays."""
_MOST_COMPARED = 100
"""Earlier statements with the same three words that one is compared with: the newest."""
_OVERHEAD = 60
"""Bytes of an entry in a file beside its text: time and id."""
_GAIN = 0.8
"""Share of the size of its entries that a summary may have at most."""
_FENCED = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)^\1[^\n]*$", re.M | re.S)
_NUMBER = re.compile(r"(?<![\w-])\d+(?:[.,:]\d+)*(?![\w-])", re.ASCII)
_KEPT = (PointKind.DECISION, PointKind.RULE, PointKind.CAUSE, PointKind.FACT)
_ORDER = tuple(PointKind)


class LogEntry(NamedTuple):
    """An entry of a log that is summarised."""

    number: int
    at: datetime
    text: str
    topic: str = ""
    """Its title, if somebody gave it one."""
    points: tuple[Point, ...] = ()
    """What an earlier summary says: all of it stays."""

    @property
    def day(self) -> date:
        """The day of the entry, in UTC as in the files."""
        return self.at.astimezone(UTC).date()


class EntryPoints(NamedTuple):
    """Entries, and what a summary says of them."""

    entries: Sequence[LogEntry]
    points: Sequence[Point]


class SummaryPart(NamedTuple):
    """A summary of entries that follow each other."""

    entries: Sequence[LogEntry]
    points: Sequence[Point]
    japanese: bool

    @property
    def topic(self) -> str:
        """Its title: the days that it covers."""
        days = [day for entry in self.entries for day in ([point.day for point in entry.points] or [entry.day])]
        return summary_text.title(min(days), max(days), japanese=self.japanese)

    @property
    def text(self) -> str:
        """What it says."""
        return render_points(self.points, len(self.entries), japanese=self.japanese)


class _Statement:
    """What an entry says, or one of its remarks, and what becomes of it."""

    def __init__(self, place: int, day: date, text: str, kind: PointKind, details: frozenset[str]):
        self.place = place
        """Of its entry."""
        self.day = day
        self.text = text
        self.kind = kind
        self.details = details
        self.weight = len(details) + any(map(is_date, details)) - 2 * is_diary(text)
        """How much it says at once: the details of its fullest sentence, more with a day, less in a diary."""
        self.kept = kind in _KEPT
        self.count = 1
        self.last = day


def summarize_log(entries: Iterable[LogEntry]) -> list[SummaryPart]:
    """Return summaries of the entries, in the order of their times; none of entries that would not get shorter."""
    return pack(extract(entries))


def extract(entries: Iterable[LogEntry]) -> list[EntryPoints]:
    """Return what a summary must say of each entry, in the order of their times."""
    ordered = sorted(entries, key=lambda entry: (entry.at, entry.number))
    names = find_names(entry.text for entry in ordered)
    statements = [statement for place, entry in enumerate(ordered) for statement in _statements(place, entry, names)]
    _drop_repetition(statements)
    _drop_series(statements)
    size = sum(len(entry.text.encode()) for entry in ordered)
    known = sum(len(point.text.encode()) for entry in ordered for point in entry.points)
    fresh = [statement for statement in statements if not ordered[statement.place].points]
    _drop_minor_facts(fresh, sum(len(entry.text.encode()) for entry in ordered if not entry.points))
    _add_remarks(statements, known, size)
    by_entry: dict[int, list[_Statement]] = defaultdict(list)
    for statement in statements:
        if statement.kept:
            by_entry[statement.place].append(statement)
    return [
        EntryPoints([entry], entry.points or [*_points(entry, by_entry.get(place, []))])
        for place, entry in enumerate(ordered)
    ]


def pack(blocks: Sequence[EntryPoints]) -> list[SummaryPart]:
    """Join blocks that follow each other to summaries of limited size; to none, if that would hardly be shorter."""
    groups: list[list[EntryPoints]] = []
    size = 0
    for block in blocks:
        added = sum(len(render_point(point, japanese=False).encode()) for point in block.points)
        if not groups or size + added > PART_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(block)
        size += added
    if len(groups) > 1 and _bytes_of(groups[-1]) < PART_BYTES // 4:  # rather one that is a bit longer than a very short one
        last = groups.pop()
        groups[-1] += last
    parts = [_part(group) for group in groups]
    return parts if is_shorter(parts) else []


def _bytes_of(blocks: Iterable[EntryPoints]) -> int:
    return sum(len(point.text.encode()) for block in blocks for point in block.points)


def _part(blocks: Sequence[EntryPoints]) -> SummaryPart:
    entries = [entry for block in blocks for entry in block.entries]
    points = [point for block in blocks for point in block.points]
    japanese = summary_text.is_japanese([point.text for point in points] or [entry.text for entry in entries])
    return SummaryPart(entries, points, japanese)


def is_shorter(parts: Sequence[SummaryPart]) -> bool:
    """Return whether summaries are much shorter than their entries."""
    before = sum(len(entry.text.encode()) + _OVERHEAD for part in parts for entry in part.entries)
    after = sum(len(part.text.encode()) + 3 * _OVERHEAD for part in parts)
    return after <= before * _GAIN


# Sentences


def _statements(place: int, entry: LogEntry, names: frozenset[str]) -> list[_Statement]:
    """What must stay of an entry, as one statement: apart from it, its details would say nothing. Then its remarks."""
    if entry.points:
        return [_Statement(place, point.day, point.text, point.kind, find_details(point.text)) for point in entry.points]
    units = dict.fromkeys(_units(entry.text))  # a sentence that it repeats, once
    found = [_statement(place, entry, text, find_details(text, names), is_code=is_code) for text, is_code in units]
    kind = min((one.kind for one in found if one.kept), key=_ORDER.index, default=PointKind.REMARK)
    if kind is PointKind.DECISION or max((one.weight for one in found), default=0) >= _HEAVY:
        for one in found:
            one.kept = one.kept or _belongs_to_decision(one)
    kept, others = [one for one in found if one.kept], [one for one in found if not one.kept]
    return [_join_statements(kept, kind), *others] if kept else others


def _statement(place: int, entry: LogEntry, text: str, details: frozenset[str], *, is_code: bool) -> _Statement:
    """A sentence or a block of code of an entry."""
    if is_code:
        return _Statement(place, entry.day, text, PointKind.FACT, details)
    kind = classify_point(text, is_specific=bool(details))
    return _Statement(place, entry.day, without_lead(text), kind, details)


def _belongs_to_decision(statement: _Statement) -> bool:
    """Whether a statement beside a decision says what was done about it, or why."""
    return statement.kind is not PointKind.TALK and bool(statement.details or has_reason(statement.text))


def _join_statements(statements: Sequence[_Statement], kind: PointKind) -> _Statement:
    """What stays of an entry, as one statement of this kind."""
    first = statements[0]
    details = frozenset(detail for one in statements for detail in one.details)
    joined = _Statement(first.place, first.day, _join([one.text for one in statements]), kind, details)
    joined.weight = max(one.weight for one in statements)
    return joined


def _units(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences and blocks of code of a text, and which of the two each is."""
    place = 0
    for match in _FENCED.finditer(text):
        yield from ((sentence, False) for sentence in split_sentences(text[place : match.start()]))
        code = match[2].strip("\n")
        if code.strip():
            yield (match[0] if len(code) <= _MOST_CODE else f"(… {code.count(chr(10)) + 1} lines of code …)"), True
        place = match.end()
    yield from ((sentence, False) for sentence in split_sentences(text[place:]))


def _drop_repetition(statements: Sequence[_Statement]) -> None:
    """Leave out each statement whose every run of words is in another one too, and count it there.

    Not what is merely similar: of two long sentences that differ in one word, that word may be what matters.
    """
    runs: dict[int, _Runs] = {}
    containing: dict[tuple[str, ...], list[_Statement]] = defaultdict(list)
    """By each of their runs."""
    beginning: dict[tuple[str, ...], list[_Statement]] = defaultdict(list)
    """By their first run."""
    for statement in statements:
        own = _runs(statement.text)
        if not own or not (statement.kept or statement.kind is PointKind.REMARK):
            continue
        rarest = min(own, key=lambda run: len(containing[run]))
        for other in containing[rarest][-_MOST_COMPARED:]:
            if own <= runs[id(other)] and statement.details <= other.details and _absorb(other, statement):
                break
        else:
            for other in [other for run in own for other in beginning[run]]:
                if runs[id(other)] <= own and other.details <= statement.details:
                    _absorb(statement, other)
            runs[id(statement)] = own
            beginning[min(own)].append(statement)
            for run in own:
                containing[run].append(statement)


_Runs = frozenset[tuple[str, ...]]
"""The runs of three words of a text; a sign is a word, and so is a character of Japanese."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s.,!?。、！？]")


def _runs(text: str) -> _Runs:
    words = _WORD.findall(text.lower())
    return frozenset(tuple(words[place : place + 3]) for place in range(max(1, len(words) - 2))) if words else frozenset()


def _absorb(stays: _Statement, goes: _Statement) -> bool:
    """Count a statement as a repetition of another. A decision is never counted as a repetition of something else."""
    if not stays.kept and goes.kept:
        return False
    if goes.kind is PointKind.DECISION and stays.kind is not PointKind.DECISION:
        return False
    if stays.kind is PointKind.PROGRESS or goes.kind is PointKind.PROGRESS:
        return False
    stays.count += goes.count
    stays.last = max(stays.last, goes.last)
    if stays.kind is goes.kind:
        stays.day = min(stays.day, goes.day)
    goes.kept = False
    goes.kind = PointKind.PROGRESS  # not to come back as a remark
    return True


def _drop_series(statements: Sequence[_Statement]) -> None:
    """Of facts that differ in their numbers alone, such as the times of a nightly job, keep the first and the last."""
    series: dict[str, list[_Statement]] = defaultdict(list)
    for statement in statements:
        if statement.kept and statement.kind is PointKind.FACT:
            series[_NUMBER.sub("0", statement.text.lower())].append(statement)
    for group in series.values():
        if len(group) >= _SERIES:
            for statement in group[1:-1]:
                statement.kept = False
            group[-1].count = len(group)


def _drop_minor_facts(statements: Sequence[_Statement], total: int) -> None:
    """Leave out facts of a long log, those with the fewest details first, until the summary is half as long.

    A decision in words that are not recognised is a fact with many details in one sentence: who, what and when.
    """
    if total < _SHORT_LOG:
        return
    kept = [statement for statement in statements if statement.kept]
    facts = [statement for statement in kept if statement.kind is PointKind.FACT]
    room = _MOST_SHARE * total - sum(map(_size, kept))
    for statement in sorted(facts, key=lambda one: (one.weight, len(one.details), one.count, one.place)):
        if room >= 0:
            return
        statement.kept = False
        statement.kind = PointKind.PROGRESS  # not to come back as a remark
        room += _size(statement)


def _size(statement: _Statement) -> int:
    return len(statement.text.encode()) + _BULLET_BYTES


def _add_remarks(statements: Sequence[_Statement], known: int, total: int) -> None:
    """Keep remarks, those that say most first, as long as the summary stays short."""
    room = _SHARE * total - known - sum(len(one.text.encode()) for one in statements if one.kept)
    remarks = [statement for statement in statements if statement.kind is PointKind.REMARK and not statement.kept]
    for statement in sorted(remarks, key=lambda one: (-_weight(one), -one.place)):
        size = len(statement.text.encode())
        if size <= room:
            statement.kept = True
            room -= size


def _weight(statement: _Statement) -> int:
    """How much a remark says: a reason, and being said more than once, count."""
    return 2 * has_reason(statement.text) + (statement.count > 1) + (len(statement.text.encode()) > 40)


# Points


def _points(entry: LogEntry, statements: Sequence[_Statement]) -> Iterator[Point]:
    """One point for an entry: what stays of it, below the most important kind."""
    if not statements:
        return
    kind = min(
        (statement.kind for statement in statements if statement.kind in _KEPT), key=_ORDER.index, default=PointKind.REMARK
    )
    text = _join([statement.text for statement in statements])
    if entry.topic and entry.topic.lower() not in text.lower():
        text = f"{entry.topic}: {text}"
    single = statements[0] if len(statements) == 1 else None
    if single is not None and single.count > 1:
        yield Point(min(single.day, entry.day), kind, text, single.count, single.last)
    else:
        yield Point(entry.day, kind, text)


def _join(texts: Sequence[str]) -> str:
    """Join sentences as they stood: blocks of code on lines of their own, no spaces between Japanese sentences."""
    joined = texts[0]
    for before, after in pairwise(texts):
        on_line = before.startswith(("```", "~~~")) or after.startswith(("```", "~~~"))
        joined += f"\n{after}" if on_line else after if before.endswith(("。", "！", "？", "」")) else f" {after}"
    return joined
