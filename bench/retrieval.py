"""Measure how well recall finds on public data: each text is one memory, without a topic."""

import argparse
import math
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import omoide
from omoide.retrieval import constants

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CLAIMS = {
    "locomo turns": {"R@1": 0.43, "R@10": 0.8},
    "longmemeval_pool turns": {"R@1": 0.3, "R@10": 0.77},
    "longmemeval_pool sessions": {"R@5": 0.88},
    "longmemeval_s_heads": {"any@5": 0.945},
    "jsquad": {"R@1": 0.885, "R@10": 0.975},
    "jaquad": {"R@1": 0.845, "R@10": 0.98},
    "ja_caption": {"R@10": 0.67},
    "tech_nl2bash": {"R@10": 0.69},
    "tech_cosqa": {"R@10": 0.56},
    "tech_tldr_ja_en, tool named": {"R@1": 0.50},
    "tech_tldr_ja_en, Japanese only": {},
    "stsb, in both languages": {},
}
SEMANTIC = {
    "locomo turns": {"R@1": 0.44, "R@10": 0.81},
    "longmemeval_pool turns": {"R@10": 0.83},
    "longmemeval_pool sessions": {"R@5": 0.90},
    "longmemeval_s_heads": {"any@5": 0.97},
    "jsquad": {"R@1": 0.89, "R@10": 0.977},
    "jaquad": {"R@10": 0.984},
    "ja_caption": {"R@10": 0.72},
    "tech_nl2bash": {"R@10": 0.74},
    "tech_cosqa": {"R@10": 0.62},
    "tech_tldr_ja_en, tool named": {"R@1": 0.75},
    "tech_tldr_ja_en, Japanese only": {"R@10": 0.50},
    "stsb, in both languages": {"R@10": 0.88},
}
ENGLISH = {"tech_nl2bash": {"R@10": 0.03}, "tech_cosqa": {"R@10": 0.1}}
"""How much more the model for English must find than the bundled one alone."""
LOSS = 0.005
"""How much worse than words alone embeddings may be on a set, at R@1 and R@10; also the model for English than without."""
LOSSES = {"longmemeval_pool turns": 0.05}
"""Another value for sets of few questions: here .012 is one question."""
_BOTH = "bundled+english"
LEFT_OUT = {"locomo turns": {"OWN_PART": 1.0}, "longmemeval_pool turns": {"OWN_PART": 0.55}}
"""Constants that would have been chosen without a set, where they differ: for sessions there are two sets."""
MEASURES = ("R@1", "R@5", "R@10", "any@5", "MRR@10", "nDCG@10")
AGAINST_WORDS = ("R@1", "R@10")


class Question(NamedTuple):
    text: str
    scope: omoide.Scope
    relevant: frozenset[str]
    asked_at: datetime | None = None


class Task(NamedTuple):
    """A set to measure: texts with id, scope and time, and questions."""

    name: str
    texts: list[tuple[str, str, omoide.Scope, datetime | None]]
    questions: list[Question]


def read_lines(file: Path) -> list[dict[str, Any]]:
    with file.open("rb") as rows:
        return [msgspec.json.decode(row) for row in rows if row.strip()]


def parse_time(text: str) -> datetime:
    """Parse a time such as `2023/02/20 (Mon) 12:15`."""
    return datetime.strptime(re.sub(r" \(\w+\)", "", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def question_set(name: str, *, label: str = "", field: str = "text") -> Task:
    scope = omoide.Scope.project("bench")
    texts = [(row["id"], row["text"], scope, None) for row in read_lines(DATA / name / "corpus.jsonl")]
    questions = [
        Question(row[field], scope, frozenset(row["relevant"]))
        for row in read_lines(DATA / name / "queries.jsonl")
        if row.get(field)
    ]
    return Task(label or name, texts, questions)


def locomo() -> Task:
    texts, questions = [], []
    for directory in sorted((DATA / "locomo").iterdir()):
        scope = omoide.Scope.project(directory.name)
        texts += [
            (
                f"{directory.name}/{row['id']}",
                row["text"],
                omoide.Scope.session(directory.name, row["session"]),
                datetime.fromisoformat(row["date"]).replace(tzinfo=UTC),
            )
            for row in read_lines(directory / "corpus.jsonl")
        ]
        questions += [
            Question(row["text"], scope, frozenset(f"{directory.name}/{id}" for id in row["relevant"]))
            for row in read_lines(directory / "queries.jsonl")
            if row["category"] != "adversarial" and not row.get("unscored")
        ]
    return Task("locomo turns", texts, questions)


def longmemeval_pool() -> Task:
    scope = omoide.Scope.project("bench")
    sessions: dict[str, list[str]] = defaultdict(list)
    dates: dict[str, datetime] = {}
    for row in read_lines(DATA / "longmemeval_pool" / "corpus.jsonl"):
        if row["role"] == "user":
            sessions[row["session"]].append(row["text"])
            dates[row["session"]] = parse_time(row["date"])
    texts = [(session, "\n".join(turns), scope, dates[session]) for session, turns in sessions.items()]
    questions = [
        Question(row["text"], scope, frozenset(row["relevant_sessions"]), parse_time(row["question_date"]))
        for row in read_lines(DATA / "longmemeval_pool" / "queries.jsonl")
        if not row.get("abstention")
    ]
    return Task("longmemeval_pool sessions", texts, questions)


def longmemeval_turns() -> Task:
    """What the user said, turn by turn, in its sessions; questions with at least one such turn that answers them."""
    texts, questions = [], []
    for row in read_lines(DATA / "longmemeval_pool" / "corpus.jsonl"):
        if row["role"] == "user":
            session = omoide.Scope.session("bench", row["session"])
            texts.append((row["id"], row["text"], session, parse_time(row["date"])))
    known = {id for id, *_ in texts}
    for row in read_lines(DATA / "longmemeval_pool" / "queries.jsonl"):
        relevant = known.intersection(row["relevant"])
        if relevant and not row.get("abstention"):
            scope = omoide.Scope.project("bench")
            questions.append(Question(row["text"], scope, frozenset(relevant), parse_time(row["question_date"])))
    return Task("longmemeval_pool turns", texts, questions)


def longmemeval_heads() -> Task:
    place = {}
    texts = []
    for row in read_lines(DATA / "longmemeval_s_heads" / "corpus.jsonl"):
        scope = place.setdefault(row["scope"], omoide.Scope.project(row["scope"]))
        texts.append((row["id"], f"{row['date']} {row['text']}", scope, parse_time(row["date"])))
    questions = [
        Question(row["text"], place[row["scope"]], frozenset(row["relevant"]), parse_time(row["question_date"]))
        for row in read_lines(DATA / "longmemeval_s_heads" / "queries.jsonl")
    ]
    return Task("longmemeval_s_heads", texts, questions)


def both_languages() -> Task:
    """Each sentence stored in English and in Japanese; a question in one of them should find both."""
    scope = omoide.Scope.project("bench")
    texts, questions = [], []
    for language in ("en", "ja"):
        for row in read_lines(DATA / f"pairs_stsb_{language}" / "pairs.jsonl"):
            texts.append((f"{language} {row['id']}", row["b"], scope, None))
            if row["score"] >= 4:
                questions.append(Question(row["a"], scope, frozenset({f"en {row['id']}", f"ja {row['id']}"})))
    return Task("stsb, in both languages", texts, questions)


def tasks() -> Iterator[Task]:
    yield locomo()
    yield longmemeval_turns()
    yield longmemeval_pool()
    yield longmemeval_heads()
    for name in ("jsquad", "jaquad", "ja_caption", "tech_nl2bash", "tech_cosqa"):
        yield question_set(name)
    yield question_set("tech_tldr_ja_en", label="tech_tldr_ja_en, tool named")
    yield question_set("tech_tldr_ja_en", label="tech_tldr_ja_en, Japanese only", field="text_bare")
    yield both_languages()


def store_texts(task: Task, file: Path, *, embedder: str) -> dict[int, set[str]]:
    """Store the texts of a set, with vectors if there is an embedder. Return the ids of the texts by memory number."""
    with omoide.open(file, secrets="redact", retire="manual", embedder=embedder) as memory:
        done = memory.remember_many(
            omoide.Draft(text, scope, source=id, created_at=at) for id, text, scope, at in task.texts
        )
        memory.embed_pending()
    # The same text twice is one memory: finding it finds both.
    ids: dict[int, set[str]] = defaultdict(set)
    for result, (id, *_) in zip(done, task.texts, strict=True):
        ids[result.memory.number].add(id)
    return ids


def measure(task: Task, file: Path, ids: Mapping[int, set[str]], *, embedder: str) -> dict[str, float]:
    """Ask the questions of a set. Return each measure, averaged over the questions."""
    asked_at: list[datetime] = []

    def clock() -> datetime:
        """Return the time at which the question was asked, if it has one."""
        return asked_at[-1] if asked_at else datetime.now(UTC)

    sums: dict[str, float] = defaultdict(float)
    with omoide.open(file, secrets="redact", retire="manual", embedder=embedder, clock=clock) as memory:
        for question in task.questions:
            asked_at[:] = [question.asked_at] if question.asked_at else []
            hits = memory.recall(question.text, scope=question.scope, limit=10, min_score=0).hits
            for name, value in scores([ids[hit.memory.number] for hit in hits], question.relevant).items():
                sums[name] += value
    return {name: sums[name] / len(task.questions) for name in MEASURES}


def scores(found: Sequence[set[str]], relevant: frozenset[str]) -> dict[str, float]:
    gains = [bool(ids & relevant) for ids in found]
    first = next((place for place, gain in enumerate(gains, 1) if gain), 0)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(relevant), 10) + 1))

    def recall(most: int) -> float:
        return len(relevant.intersection(*[set().union(*found[:most])])) / len(relevant)

    return {
        "R@1": recall(1),
        "R@5": recall(5),
        "R@10": recall(10),
        "any@5": float(any(gains[:5])),
        "MRR@10": 1 / first if first else 0.0,
        "nDCG@10": sum(1 / math.log2(place + 1) for place, gain in enumerate(gains, 1) if gain) / ideal,
    }


def measure_left_out(task: Task, file: Path, ids: Mapping[int, set[str]], *, embedder: str) -> list[str]:
    """Measure a set with the constants that would have been chosen without it. Return cells for R@1 and R@10."""
    chosen = LEFT_OUT.get(task.name)
    if chosen is None:
        return ["" for _ in AGAINST_WORDS]
    tuned = {name: getattr(constants, name) for name in chosen}
    try:
        for name, value in chosen.items():
            setattr(constants, name, value)
        values = measure(task, file, ids, embedder=embedder)
    finally:
        for name, value in tuned.items():
            setattr(constants, name, value)
    return [f"{values[name]:.3f}" for name in AGAINST_WORDS]


@contextmanager
def filled_store(task: Task, embedder: str, keep: Path | None) -> Iterator[tuple[Path, dict[int, set[str]]]]:
    """Yield a store with the texts of a set and the ids by memory number; from `keep` if it is there already."""
    with tempfile.TemporaryDirectory() as directory:
        name = re.sub(r"\W+", "_", "tech_tldr" if "tldr" in task.name else task.name)
        file = (keep or Path(directory)) / f"{name}-{embedder}.db"
        known = file.with_suffix(".json")
        if known.exists():
            ids = msgspec.json.decode(known.read_bytes(), type=dict[int, set[str]])
        else:
            ids = store_texts(task, file, embedder=embedder)
            known.write_bytes(msgspec.json.encode(ids))
        yield file, ids


def by_words(task: Task, keep: Path | None) -> tuple[str, bool]:
    """Measure a set by words alone. Return its row and whether its claims are met."""
    with filled_store(task, "off", keep) as (file, ids):
        values = measure(task, file, ids, embedder="off")
        left_out = measure_left_out(task, file, ids, embedder="off")
    claims = CLAIMS[task.name]
    is_met = all(values[name] >= least for name, least in claims.items())
    return line(task, [*(f"{values[name]:.3f}" for name in MEASURES), *left_out], claims, is_met=is_met), is_met


def by_meaning(task: Task, keep: Path | None) -> tuple[str, bool]:
    """Measure a set with embeddings. Return its row, and whether its claims are met and it is not worse than words alone."""
    with filled_store(task, "bundled", keep) as (file, ids):
        values = measure(task, file, ids, embedder="bundled")
        words = measure(task, file, ids, embedder="off")
        left_out = measure_left_out(task, file, ids, embedder="bundled")
    claims = SEMANTIC[task.name]
    shown, is_not_worse = compare(values, words, LOSSES.get(task.name, LOSS))
    is_met = is_not_worse and all(values[name] >= least for name, least in claims.items())
    return line(task, [*shown, *left_out], claims, is_met=is_met), is_met


def by_english(task: Task, keep: Path | None) -> tuple[str, bool]:
    """Measure a set with both models. Return its row, and whether it gains what is claimed and loses nothing else."""
    with filled_store(task, _BOTH, keep) as (file, ids):
        values = measure(task, file, ids, embedder=_BOTH)
        bundled = measure(task, file, ids, embedder="bundled")
    claims = ENGLISH.get(task.name, {})
    shown, is_not_worse = compare(values, bundled, LOSS)
    is_met = is_not_worse and all(round(values[name] - bundled[name], 4) >= least for name, least in claims.items())
    return line(task, shown, claims, is_met=is_met, more="+"), is_met


def compare(values: Mapping[str, float], others: Mapping[str, float], loss: float) -> tuple[list[str], bool]:
    """Return cells with the measures, and whether none of those that are compared is worse by more than `loss`."""
    shown, is_met = [], True
    for name in AGAINST_WORDS:
        more = round(values[name] - others[name], 4)
        is_met = is_met and more >= -loss
        shown += [f"{values[name]:.3f}", f"{others[name]:.3f}", f"{more:+.3f}"]
    return [*shown, *(f"{values[name]:.3f}" for name in MEASURES if name not in AGAINST_WORDS)], is_met


def line(task: Task, shown: Sequence[str], claims: Mapping[str, float], *, is_met: bool, more: str = "") -> str:
    wanted = ", ".join(f"{name} ≥ {more}{least:g}" for name, least in claims.items())
    return f"| {task.name} | {len(task.questions)} | {' | '.join(shown)} | {wanted} | {'✓' if is_met else '✗'} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--semantic", action="store_true", help="search by words and embeddings, not by words alone")
    parser.add_argument("--english", action="store_true", help="with the model for English, against the bundled one alone")
    parser.add_argument("--only", default="", help="only sets whose name contains this")
    parser.add_argument("--keep", type=Path, help="keep the stores in this directory, and use those that are there")
    options = parser.parse_args()
    if not DATA.is_dir():
        print("nothing to measure: the evaluation data is not in ../shared/data beside this checkout")
        return 0
    columns = list(MEASURES)
    if options.semantic or options.english:
        other = "bundled" if options.english else "words"
        compared = [column for name in AGAINST_WORDS for column in (name, other, "±")]
        columns = [*compared, *(name for name in MEASURES if name not in AGAINST_WORDS)]
    if not options.english:
        columns += [f"{name}, left out" for name in AGAINST_WORDS]
    print("| set | questions | " + " | ".join(columns) + " | claims | |")
    print("| --- | ---: |" + " ---: |" * len(columns) + " --- | --- |")
    all_met = True
    for task in tasks():
        if options.only not in task.name:
            continue
        measured = by_english if options.english else by_meaning if options.semantic else by_words
        shown, is_met = measured(task, options.keep)
        all_met = all_met and is_met
        print(shown, flush=True)
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main())
