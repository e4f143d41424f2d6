"""What reindex would merge: precision and recall on labelled pairs, and how many contradictions slip through."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.retrieval import DATA, lines
from omoide.embeddings.base import make_embedder
from omoide.lifecycle.deduplication import Judgement, Verdict, extract_features, judge

SETS = ("pairs_stsb_en", "pairs_stsb_ja", "pairs_jsts", "pairs_nl2bash")
PRECISION = 0.95
SLIPPED = 0.02


def verdicts(pairs: Sequence[dict[str, Any]]) -> list[Judgement]:
    model = make_embedder("bundled")
    assert model is not None
    ones, others = (model.vectors([pair[side] for pair in pairs]) for side in "ab")
    return [
        judge(extract_features(pair["a"]), extract_features(pair["b"]), float(one @ other))
        for pair, one, other in zip(pairs, ones, others, strict=True)
    ]


def main() -> int:
    kept = True
    print("| set | pairs | merged | precision | recall | told as contradictions | claim | |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    for name in SETS if DATA.is_dir() else ():
        pairs = lines(DATA / name / "pairs.jsonl")
        found = verdicts(pairs)
        merged = [pair["label"] for pair, its in zip(pairs, found, strict=True) if its.verdict is Verdict.SAME]
        told = sum(its.verdict is Verdict.CONTRADICTS for its in found)
        precision = sum(merged) / max(1, len(merged))
        recall = sum(merged) / sum(pair["label"] for pair in pairs)
        fine = precision >= PRECISION
        kept = kept and fine
        print(
            f"| {name} | {len(pairs)} | {len(merged)} | {precision:.3f} | {recall:.3f} | {told} |"
            f" precision ≥ {PRECISION} | {'✓' if fine else '✗'} |"
        )
        if name == "pairs_nl2bash":
            unlike = [its for pair, its in zip(pairs, found, strict=True) if not pair["label"]]
            kept = _slipped("nl2bash look-alikes", unlike) and kept
    pairs = lines(Path(__file__).with_name("contradictions.jsonl"))
    found = verdicts(pairs)
    for language, name in (("en", "contradictions, English"), ("ja", "contradictions, Japanese")):
        kept = _slipped(name, [its for pair, its in zip(pairs, found, strict=True) if pair["language"] == language]) and kept
    return 0 if kept else 1


def _slipped(name: str, found: Sequence[Judgement]) -> bool:
    merged = sum(its.verdict is Verdict.SAME for its in found)
    told = sum(its.verdict is Verdict.CONTRADICTS for its in found)
    fine = merged <= SLIPPED * len(found)
    print(f"| {name} | {len(found)} | {merged} | | | {told} | merged ≤ {SLIPPED:.0%} | {'✓' if fine else '✗'} |")
    return fine


if __name__ == "__main__":
    sys.exit(main())
