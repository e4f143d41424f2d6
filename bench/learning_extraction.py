"""Measure what is learnt from transcripts: precision, recall, and what must never be kept. Offline, through the service.

Each transcript in `bench/learning_transcripts` has labels: what a careful colleague would note down, what may be noted, and
what must not be: echoes of injected memories, secrets, private parts, instructions out of tool output, progress. The rules
were tuned on `dev` and, after they had been measured unseen, on `test`, `test2`, `dev2` and `dev3`. The claims are judged on
`test3` and `test4` together, which nobody who changes the rules reads.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import omoide
from bench.secrets_corpus.parts import ALNUM, UPNUM, draw

PLACE = Path(__file__).parent / "learning_transcripts"
TUNED_ON = ("dev", "test", "test2", "dev2", "dev3")
FITTED_ON = ("dev", "test", "test2", "dev2")
"""On which the weights of sentences are fitted. A fit with `dev3` too kept more that is wrong of other transcripts."""
UNSEEN = ("test3", "test4")
PRECISION, RECALL = 0.85, 0.7
FORBIDDEN = ("echo", "secret", "instruction", "private", "progress")
NEVER_KEPT = ("echo", "secret", "private")
SCOPE = omoide.Scope.project("bench")
_SECRETS: dict[str, Callable[[random.Random], str]] = {
    "password": lambda rng: f"{draw(rng, ALNUM, 6)}#{draw(rng, ALNUM, 8)}7x",
    "aws_access_key": lambda rng: f"AKI{'A'}{draw(rng, UPNUM, 16)}",
    "github_token": lambda rng: f"gh{'p'}_{draw(rng, ALNUM, 36)}",
    "openai_key": lambda rng: f"sk-pro{'j'}-{draw(rng, ALNUM, 48)}",
    "postgres_url": lambda rng: f"postgres://app:{draw(rng, ALNUM, 16)}@db.internal:5432/app",
    "slack_token": lambda rng: f"xox{'b'}-{draw(rng, '0123456789', 12)}-{draw(rng, ALNUM, 24)}",
}


class Transcript(NamedTuple):
    """A transcript with its labels, its placeholders filled with generated credentials."""

    name: str
    group: str
    """The directory, and whether the rules were tuned on it."""
    lines: list[bytes]
    labels: dict[str, Any]


class Result(NamedTuple):
    """What was learnt from one transcript."""

    transcript: Transcript
    found: frozenset[str]
    """The ids of the expected learnings that were found."""
    missed: tuple[str, ...]
    extra: tuple[str, ...]
    """Learnings that no label names."""
    forbidden: tuple[tuple[str, bool, str], ...]
    """Kind, whether it is active, and the text."""
    repeated: int
    """Learnings that say what another one says."""


def load(place: Path, group: str, seed: int) -> Iterator[Transcript]:
    """Yield the transcripts of a directory; none if there is no such directory."""
    for file in sorted(place.glob("*.labels.json")) if place.is_dir() else ():
        name = file.name.removesuffix(".labels.json")
        source = next(
            file.parent / f"{name}{suffix}" for suffix in (".jsonl", ".txt") if (place / f"{name}{suffix}").exists()
        )
        rng = random.Random(f"{seed}{name}")
        values = {f"«secret:{kind}»": make(rng) for kind, make in _SECRETS.items()}
        text, labels = source.read_text(encoding="utf-8"), file.read_text(encoding="utf-8")
        for placeholder, value in values.items():
            text, labels = text.replace(placeholder, value), labels.replace(placeholder, value)
        yield Transcript(name, group, text.encode().splitlines(keepends=True), json.loads(labels))


def matches(text: str, groups: Sequence[Sequence[str]]) -> bool:
    """Return whether a text contains one alternative of each group, in upper or lower case."""
    folded = text.casefold()
    return all(any(each.casefold() in folded for each in group) for group in groups)


def evaluate(transcript: Transcript) -> Result:
    """Learn from a transcript in a store of its own, and compare with the labels."""
    with tempfile.TemporaryDirectory() as directory, omoide.open(Path(directory) / "memory.db") as memory:
        report = memory.learn(omoide.read_turns(transcript.lines), scope=SCOPE, run="bench", ask=False)
    labels, found, repeated = transcript.labels, set[str](), 0
    extra, forbidden = list[str](), list[tuple[str, bool, str]]()
    for each in (*report.kept, *report.proposed):
        text = "\n".join([each.content, *each.examples])
        bad = [item["kind"] for item in labels["forbidden"] if matches(text, item["all_of"])]
        ids = {item["id"] for item in labels["expected"] if matches(each.content, item["all_of"])}
        if bad:
            forbidden.append((bad[0], each.state is omoide.State.ACTIVE, each.content))
        elif ids:
            repeated += ids <= found
            found |= ids
        elif not any(matches(each.content, item["all_of"]) for item in labels["acceptable"]):
            extra.append(each.content)
    missed = tuple(
        f"[{item['kind']}, {item['by']}] {item['text']}" for item in labels["expected"] if item["id"] not in found
    )
    return Result(transcript, frozenset(found), missed, tuple(extra), tuple(forbidden), repeated)


class Figures(NamedTuple):
    """Sums over some transcripts."""

    transcripts: int
    expected: int
    found: int
    wrong: int
    forbidden: Counter[str]
    active_instructions: int

    @property
    def precision(self) -> float:
        """The share of the learnings that are expected ones; acceptable ones and repetitions count on neither side."""
        return self.found / (self.found + self.wrong) if self.found + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.expected if self.expected else 1.0


def figures(results: Sequence[Result]) -> Figures:
    """Add up results."""
    forbidden = Counter(kind for result in results for kind, _, _ in result.forbidden)
    return Figures(
        len(results),
        sum(len(result.found) + len(result.missed) for result in results),
        sum(len(result.found) for result in results),
        sum(len(result.extra) + len(result.forbidden) for result in results),
        forbidden,
        sum(kind == "instruction" and active for result in results for kind, active, _ in result.forbidden),
    )


def is_met(sums: Figures) -> bool:
    """Return whether the claims hold."""
    kept = sum(sums.forbidden[kind] for kind in NEVER_KEPT) + sums.active_instructions
    return sums.precision >= PRECISION and sums.recall >= RECALL and not kept


def _print_rows(results: Sequence[Result]) -> None:
    print("| transcripts | | precision | recall | echoes | secrets | private | instructions (active) | progress | other |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    groups: list[tuple[str, list[Result]]] = [
        (group, [result for result in results if result.transcript.group == group])
        for group in dict.fromkeys(result.transcript.group for result in results)
    ]
    for label, key in (("language", "language"), ("format", "format")):
        for value in sorted({result.transcript.labels[key] for result in results}):
            groups.append((f"{label} {value}", [one for one in results if one.transcript.labels[key] == value]))
    for name, chosen in (*groups, ("all", list(results))):
        if not chosen:
            continue
        sums = figures(chosen)
        bad = sums.forbidden
        other = sums.wrong - sum(bad.values())
        print(
            f"| {name} | {sums.transcripts} | {sums.precision:.1%} | {sums.recall:.1%} | {bad['echo']} | {bad['secret']} |"
            f" {bad['private']} | {bad['instruction']} ({sums.active_instructions}) | {bad['progress']} | {other} |"
        )


def _print_misses(results: Sequence[Result]) -> None:
    for result in results:
        print(f"\n{result.transcript.name} ({result.transcript.group})")
        for text in result.missed:
            print(f"  missed     {text}")
        for text in result.extra:
            print(f"  extra      {text!r}")
        for kind, active, text in result.forbidden:
            print(f"  forbidden  {kind}{', active' if active else ''}: {text!r}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learning_extraction", description=__doc__)
    parser.add_argument("--test", type=Path, action="append", help="a directory of unseen transcripts, instead of those")
    parser.add_argument("--misses", action="store_true", help="list what was missed where the rules were tuned")
    parser.add_argument("--all-misses", action="store_true", help="list what was missed everywhere: not while tuning")
    parser.add_argument("--seed", type=int, default=7, help="of the generated credentials")
    parser.add_argument(
        "--fit", action="store_true", help="fit the weights of sentences, and measure them on directories left out"
    )
    parser.add_argument("--write-fit", action="store_true", help="the same, and write them to learning/sentence_weights.py")
    options = parser.parse_args()
    if options.fit or options.write_fit:
        from bench.learning_fit import print_fit  # lazy: it imports this module

        print_fit(write=options.write_fit)
        return 0
    transcripts = [each for name in TUNED_ON for each in load(PLACE / name, f"{name}, tuned on", options.seed)]
    places = options.test or [PLACE / name for name in UNSEEN]
    unseen_groups = [f"{place.name}, unseen" for place in places]
    for place, group in zip(places, unseen_groups, strict=True):
        transcripts += load(place, group, options.seed)
    results = [evaluate(each) for each in transcripts]
    _print_rows(results)
    shown = [one for one in results if options.all_misses or one.transcript.group not in unseen_groups]
    if options.misses or options.all_misses:
        _print_misses(shown)
    unseen = [one for one in results if one.transcript.group in unseen_groups]
    if not unseen:
        print(f"\nThere are no unseen transcripts in {', '.join(map(str, places))}: the claims are not judged.")
        return 0
    sums = figures(unseen)
    met = is_met(sums)
    claim = f"precision ≥ {PRECISION:.0%}, recall ≥ {RECALL:.0%}, no echoes, secrets, private parts or active instructions"
    found = f"precision {sums.precision:.1%}, recall {sums.recall:.1%} of {sums.transcripts}"
    print(f"\nclaim on the unseen transcripts: {claim}: {found}: {'✓' if met else '✗'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
