"""A generated log of a project: what people and agents write in some months, in English and Japanese, with a fixed seed.

Each entry is made of sentences as they stand in such logs (`project_log.toml`): decisions in many wordings, facts, causes of
problems, rules, progress, talk, and repetition. The details of the decisions (names, paths, numbers, dates) are recorded as
they are filled in, so that whoever measures a summary need not recognise them.
"""

import random
import tomllib
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

BEGIN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_NUMBERS = (3, 5, 7, 14, 30, 60, 90, 120, 250, 512, 840, 1200, 4500, 8080)
_VARIABLES = ("DATABASE_URL", "QUEUE_TOKEN_FILE", "SEARCH_SHARDS")
_MIX = {"decision": 12, "mixed": 6, "fact": 12, "cause": 6, "rule": 3, "progress": 45, "talk": 6, "repetition": 10}
"""Kinds of entries, in percent. A mixed one reports progress, decides something, and says something else."""
_REPEATED = ("fact", "cause", "rule", "progress")


class WrittenEntry(NamedTuple):
    """An entry of the log."""

    at: datetime
    text: str
    kind: str
    """What it was made of: a kind of `_MIX`."""
    details: tuple[str, ...] = ()
    """Of a decision: the names, paths, numbers and dates in it."""


@cache
def _sentences() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def make_log(count: int, *, seed: int = 1, wordings: str = "known") -> list[WrittenEntry]:
    """Return so many entries of a project's log, oldest first, half of them in Japanese.

    `wordings`: a table of sentences in `project_log.toml`: known, held_out, minutes, records or unseen.
    """
    chance = random.Random(seed)
    at = BEGIN
    log: list[WrittenEntry] = []
    for _ in range(count):
        at += timedelta(minutes=chance.randint(5, 420))
        kind = chance.choices(list(_MIX), list(_MIX.values()))[0]
        language = chance.choice(("en", "ja"))
        writer = _Writer(chance, language, _sentences()[wordings][language])
        log.append(writer.entry(at, kind, [entry.text for entry in log if entry.kind in _REPEATED]))
    return log


class _Writer:
    def __init__(self, chance: random.Random, language: str, sentences: dict[str, list[str]]):
        self._chance, self._language, self._sentences = chance, language, sentences

    def entry(self, at: datetime, kind: str, earlier: list[str]) -> WrittenEntry:
        """Write an entry; `earlier` are texts that may be repeated."""
        chance = self._chance
        if kind == "repetition":
            return WrittenEntry(at, chance.choice(earlier or ["Started."]), kind)
        if kind in ("decision", "mixed"):
            parts = [self._write("decision"), *(self._write("follow_ups") for _ in range(chance.choice((0, 0, 1, 1, 2))))]
            details = tuple(detail for _, found in parts for detail in found)
            texts = [text for text, _ in parts]
            texts = [self._write("progress")[0], *texts, self._write("talk")[0]] if kind == "mixed" else texts
            return WrittenEntry(at, self._join(texts), kind, details)
        texts = [self._write(kind)[0] for _ in range(chance.choice((2, 3, 4) if kind == "progress" else (1, 1, 2)))]
        if kind == "fact" and chance.random() < 0.4:
            texts.append(self._write("progress")[0])
        return WrittenEntry(at, self._join(texts), kind)

    def _join(self, texts: list[str]) -> str:
        return (" " if self._language == "en" else "").join(texts)

    def _write(self, kind: str) -> tuple[str, tuple[str, ...]]:
        """A sentence of this kind, and its names, paths, numbers and dates."""
        template = self._chance.choice(self._sentences[kind])
        if "{reason}" in template:
            template = template.replace("{reason}", self._chance.choice(self._sentences["reasons"]))
        feature = self._chance.choice(_sentences()["names"][self._language]["features"])
        values = self._values()
        details = tuple(_bare_name(value) for name, value in values.items() if f"{{{name}}}" in template)
        return template.format(feature=feature, feature_cap=feature[0].upper() + feature[1:], **values), details

    def _values(self) -> dict[str, str]:
        chance, words = self._chance, _sentences()
        day = (BEGIN + timedelta(days=chance.randint(20, 300))).date()
        spoken = f"{day.month}月{day.day}日" if self._language == "ja" else f"{day:%B} {day.day}"
        tool, tool2 = chance.sample(words["tools"], 2)
        host, host2 = chance.sample(words["hosts"], 2)
        return {
            "person": chance.choice(words["names"][self._language]["people"]),
            "tool": tool,
            "tool2": tool2,
            "host": host,
            "host2": host2,
            "date": chance.choice((day.isoformat(), spoken)),
            "version": f"{chance.randint(1, 22)}.{chance.randint(0, 14)}{chance.choice(('', f'.{chance.randint(1, 9)}'))}",
            "n": str(chance.choice(_NUMBERS)),
            "path": chance.choice(words["paths"]),
            "env": chance.choice(_VARIABLES),
            "word": chance.choice(("check", "smoke", "bench")),
        }


def _bare_name(name: str) -> str:
    """A name without the title behind it and the department before it."""
    return name.removesuffix("さん").removesuffix("課長").removesuffix("部長").rpartition("の")[2]
