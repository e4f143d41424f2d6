"""Measure how well secrets are detected: recall on texts with a secret, precision against look-alikes without one.

The texts are an evaluation set (`bench/secrets_corpus`): do not tune the guard's rules on them, and do not look at
`--misses` while writing rules. A text is flagged when the guard finds anything in it. `removed` is the share of texts with a
secret from which redaction removes all of it.
"""
# ruff: noqa: A005 - the module is bench.secrets, which hides nothing; the standard one is not used here

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bench.secrets_corpus import SEED, Item, corpus
from omoide.guard import secrets

RECALL = 0.95
PRECISION = 0.97
_LANGUAGES = {"en": "English", "ja": "Japanese"}
_SHOWN = 160  # characters of a text in the list of misses


class Result(NamedTuple):
    item: Item
    names: frozenset[str]  # the kinds of secrets that the guard reports
    removed: bool

    @property
    def hit(self) -> bool:
        return self.item.secret is not None and bool(self.names)

    @property
    def miss(self) -> bool:
        return self.item.secret is not None and not self.names

    @property
    def false_alarm(self) -> bool:
        return self.item.secret is None and bool(self.names)


def evaluate(item: Item) -> Result:
    names = frozenset(secret.kind for secret in secrets.find(item.text))
    removed = item.secret is not None and item.secret not in secrets.redact(item.text)
    return Result(item, names, removed)


def recall(results: Sequence[Result]) -> float:
    hits = sum(result.hit for result in results)
    return hits / max(1, hits + sum(result.miss for result in results))


def precision(results: Sequence[Result]) -> float:
    """Return the share of flagged texts that contain a secret; 1 if nothing is flagged."""
    hits, alarms = sum(result.hit for result in results), sum(result.false_alarm for result in results)
    return hits / (hits + alarms) if hits + alarms else 1.0


def mask(secret: str) -> str:
    """Return only the shape of a secret: letters and digits become A, a and 9."""
    classes: tuple[tuple[Callable[[str], bool], str], ...] = ((str.isupper, "A"), (str.islower, "a"), (str.isdigit, "9"))
    return "".join(next((sign for belongs, sign in classes if belongs(char)), char) for char in secret)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.secrets", description=__doc__)
    parser.add_argument(
        "--seed", type=int, default=SEED, help="draw other keys and passwords and pair them with other contexts"
    )
    parser.add_argument(
        "--misses", action="store_true", help="list what was missed and what was flagged wrongly, with the secrets masked"
    )
    options = parser.parse_args()
    results = [evaluate(item) for item in corpus(options.seed)]
    _print_secrets([result for result in results if result.item.secret is not None])
    _print_lookalikes([result for result in results if result.item.secret is None])
    _print_names(results)
    if options.misses:
        _print_misses(results)
    return 0 if _print_totals(results) else 1


def _by_kind(results: Sequence[Result]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.item.kind, []).append(result)
    return groups


def _print_secrets(results: Sequence[Result]) -> None:
    print("\n### Texts with a secret\n")
    print("| kind | texts | found | recall | English | Japanese | removed |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind, group in _by_kind(results).items():
        split = [recall([result for result in group if result.item.language == language]) for language in _LANGUAGES]
        removed = sum(result.removed for result in group) / len(group)
        found = sum(result.hit for result in group)
        cells = " | ".join(f"{share:.3f}" for share in (recall(group), *split, removed))
        print(f"| {kind} | {len(group)} | {found} | {cells} |")


def _print_lookalikes(results: Sequence[Result]) -> None:
    print("\n### Look-alikes\n")
    print("| kind | texts | false alarms | English | Japanese |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for kind, group in _by_kind(results).items():
        alarms = Counter(result.item.language for result in group if result.false_alarm)
        print(f"| {kind} | {len(group)} | {alarms.total()} | {alarms['en']} | {alarms['ja']} |")


def _print_names(results: Sequence[Result]) -> None:
    print("\n### Precision by the kind that the guard reports\n")
    print("| kind | texts flagged | with a secret | precision |")
    print("| --- | ---: | ---: | ---: |")
    for name in sorted({name for result in results for name in result.names}):
        flagged = [result for result in results if name in result.names]
        print(f"| {name} | {len(flagged)} | {sum(result.hit for result in flagged)} | {precision(flagged):.3f} |")


def _print_totals(results: Sequence[Result]) -> bool:
    """Print recall and precision by language and in total. Return False if a claim about the total is not met."""
    print("\n### In total\n")
    print("| language | secrets | look-alikes | recall | precision | removed | claim | |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    for language, name in _LANGUAGES.items():
        print(f"| {name} | {_totals([result for result in results if result.item.language == language])} | | |")
    met = recall(results) >= RECALL and precision(results) >= PRECISION
    claim = f"recall ≥ {RECALL}, precision ≥ {PRECISION}"
    print(f"| both | {_totals(results)} | {claim} | {'✓' if met else '✗'} |")
    return met


def _totals(results: Sequence[Result]) -> str:
    with_secret = sum(result.item.secret is not None for result in results)
    removed = sum(result.removed for result in results) / max(1, with_secret)
    return f"{with_secret} | {len(results) - with_secret} | {recall(results):.3f} | {precision(results):.3f} | {removed:.3f}"


def _print_misses(results: Sequence[Result]) -> None:
    for title, chosen in (
        ("Missed", [result for result in results if result.miss]),
        ("Found, but not removed completely", [result for result in results if result.hit and not result.removed]),
        ("False alarms", [result for result in results if result.false_alarm]),
    ):
        print(f"\n### {title}\n")
        for result in chosen:
            secret = result.item.secret
            text = result.item.text if secret is None else result.item.text.replace(secret, mask(secret))
            names = f" ({', '.join(sorted(result.names))})" if result.names else ""
            print(f"- {result.item.kind}, {result.item.language}{names}: {text[:_SHOWN]!r}")


if __name__ == "__main__":
    sys.exit(main())
