"""The evaluation set of `python -m bench.secrets`: size, balance, reproducibility, and no key in its source."""

import ast
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from bench import secrets, secrets_corpus
from bench.secrets_corpus import Item, corpus

ITEMS = corpus()
SECRETS = [item for item in ITEMS if item.secret is not None]
LOOKALIKES = [item for item in ITEMS if item.secret is None]
SOURCES = sorted(Path(secrets_corpus.__file__).parent.glob("*.py"))
JAPANESE = re.compile("[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]")

# Beginnings that hosting services look for, each followed by enough characters to be a key.
KEYS = re.compile(
    r"AKIA[0-9A-Z]{16}|gh[posu]_\w{30}|github_pat_\w{30}|glpat-[\w-]{20}|xox[bp]-[\w-]{20}|[sr]k_(?:live|test)_\w{20}"
    r"|AIza[\w-]{30}|sk-[\w-]{30}|eyJ[\w-]{15,}\.eyJ|-----BEGIN [A-Z ]*PRIVATE KEY-----\\?n?[\w+/]{16}"
    r"|hooks\.slack\.com/services/T\w{8}"
)


def test_there_are_at_least_200_secrets_and_200_lookalikes() -> None:
    assert len(SECRETS) >= 200
    assert len(LOOKALIKES) >= 200


@pytest.mark.parametrize("items", [SECRETS, LOOKALIKES], ids=["secrets", "lookalikes"])
def test_half_of_the_texts_are_japanese(items: list[Item]) -> None:
    counts = Counter(item.language for item in items)
    assert set(counts) == {"en", "ja"}
    assert counts["en"] == counts["ja"]


def test_only_texts_labelled_japanese_hold_japanese() -> None:
    wrong = [item for item in ITEMS if bool(JAPANESE.search(item.text)) != (item.language == "ja")]
    assert wrong == []


def test_every_kind_is_there_in_both_languages() -> None:
    kinds = Counter((item.kind, item.language) for item in ITEMS)
    assert {kind for kind, _ in kinds} == {kind for kind, language in kinds if language == "en"}
    assert {kind for kind, _ in kinds} == {kind for kind, language in kinds if language == "ja"}
    assert {item.kind for item in SECRETS}.isdisjoint(item.kind for item in LOOKALIKES)


def test_provider_keys_are_of_at_least_40_services() -> None:
    assert len({item.service for item in SECRETS if item.service}) >= 40


def test_texts_and_secrets_are_unique() -> None:
    assert len({item.text for item in ITEMS}) == len(ITEMS)
    assert len({item.secret for item in SECRETS}) == len(SECRETS)


def test_the_secret_is_a_part_of_its_text() -> None:
    assert [item for item in SECRETS if not item.secret or item.secret not in item.text] == []


def test_no_random_part_of_a_text_is_left_unfilled() -> None:
    assert [item for item in ITEMS if re.search("«|»|{}|{token}|{name}", item.text)] == []


def test_a_seed_gives_the_same_texts_and_another_seed_other_secrets() -> None:
    assert corpus(7) == corpus(7)
    one, other = ({item.secret for item in corpus(seed) if item.secret} for seed in (7, 8))
    assert len(one & other) < len(one) / 20


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_source_holds_nothing_that_looks_like_a_key(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert KEYS.findall(source) == []
    literals = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    runs = [run for text in literals if isinstance(text, str) for run in re.findall(r"[A-Za-z0-9+/=_-]{20,}", text)]
    assert [run for run in runs if _looks_random(run)] == []


def _looks_random(run: str) -> bool:
    """Three digits or more inside words (`_401` is none), or letters whose case changes more often than in names.

    Hexadecimal bytes of a file format (`bytes.fromhex`) are no key either: they have no letter beyond f and many zeros.
    """
    if re.fullmatch("[0-9a-f]+", run):
        return run.count("0") < len(run) / 4
    words = [word for word in re.split("[-_/+=]", run) if not word.isdigit()]
    digits = sum(char.isdigit() for word in words for char in word)
    changes = sum(one.islower() and other.isupper() for one, other in pairwise(run))
    return digits >= 3 or changes >= 5


@pytest.mark.parametrize(
    ("run", "random"),
    [
        ("gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJ3lM", True),
        ("wJalrXUtnFEMIKMDENGbPxRfiCY", True),
        ("test_password_is_rejected_when_too_short", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", False),
    ],
)
def test_keys_are_distinguished_from_names(run: str, random: bool) -> None:
    assert _looks_random(run) is random


def test_scores_count_hits_misses_and_false_alarms() -> None:
    held, free = Item("a", "sentence", "en", secret="a"), Item("b", "hash", "en")
    named, nothing = frozenset({"password"}), frozenset[str]()
    results = [
        secrets.Result(held, named, removed=True),
        secrets.Result(held, named, removed=False),
        secrets.Result(held, named, removed=True),
        secrets.Result(held, nothing, removed=False),
        secrets.Result(free, named, removed=False),
        secrets.Result(free, nothing, removed=False),
    ]
    assert secrets.recall(results) == 0.75
    assert secrets.precision(results) == 0.75
    assert secrets.precision([]) == 1.0


def test_a_masked_secret_shows_its_shape_only() -> None:
    assert secrets.mask("Tr0ub4dor&3") == "Aa9aa9aaa&9"


def test_the_list_of_misses_shows_no_secret_and_the_exit_code_follows_the_claims(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["bench.secrets", "--misses"])
    monkeypatch.setattr(secrets, "RECALL", 1.1)
    assert secrets.main() == 1
    shown = capsys.readouterr().out
    assert "| both |" in shown
    assert shown.rstrip().endswith("✗ |")
    long_ones = [item.secret for item in SECRETS if item.secret and len(item.secret) > 6]  # four digits can be anywhere
    assert [secret for secret in long_ones if secret in shown] == []
    monkeypatch.setattr(secrets, "RECALL", 0.0)
    monkeypatch.setattr(secrets, "PRECISION", 0.0)
    assert secrets.main() == 0
