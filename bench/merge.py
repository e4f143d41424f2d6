"""Measure what reindex merges: precision and recall on labelled pairs, and contradictions merged by mistake."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.retrieval import DATA, read_lines
from omoide.embeddings.base import make_embedder
from omoide.lifecycle.comparison import Judgement, Verdict, extract_features, judge

SETS = ("pairs_stsb_en", "pairs_stsb_ja", "pairs_jsts", "pairs_nl2bash")
PRECISION = 0.95
MISMERGED = 0.02
REPORTED = 0.8
"""Of the pairs reported as contradictions, the share that people did not rate as saying the same, and of those that somebody
labelled who had not seen the rules, the share that is a contradiction."""


def verdicts(pairs: Sequence[dict[str, Any]]) -> list[Judgement]:
    model = make_embedder("bundled")
    assert model is not None
    ones, others = (model.vectors([pair[side] for pair in pairs]) for side in "ab")
    return [
        judge(extract_features(pair["a"]), extract_features(pair["b"]), float(one @ other))
        for pair, one, other in zip(pairs, ones, others, strict=True)
    ]


def main() -> int:
    met = True
    heads = (
        "set",
        "pairs",
        "merged",
        "precision",
        "recall",
        "proposed",
        "of these the same",
        "contradictions",
        "not the same",
    )
    print(f"| {' | '.join(heads)} | claim | |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    labels_of_reported: list[int] = []
    for name in SETS if DATA.is_dir() else ():
        pairs = read_lines(DATA / name / "pairs.jsonl")
        judgements = verdicts(pairs)
        merged = [
            pair["label"] for pair, judgement in zip(pairs, judgements, strict=True) if judgement.verdict is Verdict.SAME
        ]
        labels = {
            verdict: [pair["label"] for pair, its in zip(pairs, judgements, strict=True) if its.verdict is verdict]
            for verdict in (Verdict.SIMILAR, Verdict.CONTRADICTS)
        }
        proposed, reported = labels[Verdict.SIMILAR], labels[Verdict.CONTRADICTS]
        labels_of_reported += reported
        precision = sum(merged) / max(1, len(merged))
        recall = sum(merged) / sum(pair["label"] for pair in pairs)
        is_met = precision >= PRECISION
        met = met and is_met
        print(
            f"| {name} | {len(pairs)} | {len(merged)} | {precision:.3f} | {recall:.3f} | {len(proposed)} |"
            f" {_share(proposed):.2f} | {len(reported)} | {1 - _share(reported):.2f} |"
            f" precision ≥ {PRECISION} | {'✓' if is_met else '✗'} |"
        )
        if name == "pairs_nl2bash":
            different = [judgement for pair, judgement in zip(pairs, judgements, strict=True) if not pair["label"]]
            met = _print_contradictions("nl2bash look-alikes", different) and met
    if labels_of_reported:
        precise = 1 - _share(labels_of_reported)
        met = met and precise >= REPORTED
        print(
            f"| contradictions, all sets | | | | | | | {len(labels_of_reported)} | {precise:.2f} |"
            f" not the same ≥ {REPORTED} | {'✓' if precise >= REPORTED else '✗'} |"
        )
        met = _print_labelled() and met
    pairs = read_lines(Path(__file__).with_name("contradictions.jsonl"))
    judgements = verdicts(pairs)
    for language, name in (("en", "contradictions, English"), ("ja", "contradictions, Japanese")):
        met = (
            _print_contradictions(
                name, [judgement for pair, judgement in zip(pairs, judgements, strict=True) if pair["language"] == language]
            )
            and met
        )
    return 0 if met else 1


def labelled_pairs() -> list[dict[str, Any]]:
    """Return the pairs that were labelled by somebody who had not seen the rules, with their texts from the sets."""
    texts = {
        f"{name}/{pair['id']}/{side}": pair[side]
        for name in SETS
        for pair in read_lines(DATA / name / "pairs.jsonl")
        for side in "ab"
    }
    labels = read_lines(Path(__file__).with_name("contradiction_labels.jsonl"))
    return [{**label, "a": texts[label["a"]], "b": texts[label["b"]]} for label in labels]


def _print_labelled() -> bool:
    """Print how many of the reported pairs are contradictions; the rules were improved on the half that is `seen`."""
    pairs = labelled_pairs()
    met = True
    for half, name in (("seen", "labelled, half for improving the rules"), ("unseen", "labelled, the other half")):
        its = [pair for pair in pairs if pair["half"] == half]
        judgements = verdicts(its)
        labels = [
            pair["label"]
            for pair, judgement in zip(its, judgements, strict=True)
            if judgement.verdict is Verdict.CONTRADICTS
        ]
        precision = labels.count("contradiction") / max(1, len(labels))
        is_met = half == "seen" or precision >= REPORTED
        met = met and is_met
        claim = f"contradictions ≥ {REPORTED}" if half == "unseen" else ""
        print(f"| {name} | {len(its)} | | | | | | {len(labels)} | {precision:.2f} | {claim} | {'✓' if is_met else '✗'} |")
    return met


def _share(labels: Sequence[int]) -> float:
    return sum(labels) / max(1, len(labels))


def _print_contradictions(name: str, judgements: Sequence[Judgement]) -> bool:
    merged = sum(judgement.verdict is Verdict.SAME for judgement in judgements)
    reported = sum(judgement.verdict is Verdict.CONTRADICTS for judgement in judgements)
    proposed = sum(judgement.verdict is Verdict.SIMILAR for judgement in judgements)
    is_met = merged <= MISMERGED * len(judgements)
    print(
        f"| {name} | {len(judgements)} | {merged} | | | {proposed} | | {reported} | |"
        f" merged ≤ {MISMERGED:.0%} | {'✓' if is_met else '✗'} |"
    )
    return is_met


if __name__ == "__main__":
    sys.exit(main())
