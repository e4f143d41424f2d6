"""Rules of learning that are compiled when a text needs them: no text that one matches is turned away before."""

import gc
import importlib
import pkgutil
import re

import pytest

import omoide.learning
from omoide.learning.needed_words import NEEDED_WORDS
from omoide.learning.patterns import LazyPattern, lazy_pattern, pattern_key
from pure import test_guidance, test_requests


def rules() -> list[LazyPattern]:
    for module in pkgutil.iter_modules(omoide.learning.__path__, "omoide.learning."):
        importlib.import_module(module.name)
    gc.unfreeze()  # what a program that ran in this process has frozen is not among the objects
    return [one for one in gc.get_objects() if isinstance(one, LazyPattern)]


def texts(value: object) -> list[str]:
    """All texts in the examples of a module, however they are nested."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in texts(one)]
    if isinstance(value, (list, tuple, set)):
        return [text for one in value for text in texts(one)]
    return []


def test_no_rule_misses_a_text_for_want_of_its_words() -> None:
    examples = [text for module in (test_guidance, test_requests) for text in texts(list(vars(module).values()))]
    short = [text for text in examples if len(text) < 600]
    short += [text.upper() for text in short[::10]]
    matched = 0
    for one in rules():
        compiled = re.compile(one.pattern, one.flags)
        fresh = lazy_pattern(one.pattern, one.flags)
        for text in short:
            found = compiled.search(text)
            matched += found is not None
            assert bool(fresh.search(text)) is (found is not None), (one.pattern[:80], text)
    assert matched > 1_000


def test_most_rules_name_their_words() -> None:
    """Otherwise run scripts/needed_words.py: a rule without words is compiled for every text."""
    found = rules()
    named = [one for one in found if pattern_key(one.pattern, one.flags) in NEEDED_WORDS]
    assert len(named) > len(found) / 2


@pytest.mark.parametrize("text", ["ALWAYS", "always", "Alway\u017f"])
def test_the_case_of_a_needed_word_does_not_matter(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NEEDED_WORDS, pattern_key(r"\balways\b", re.I), "always")
    pattern = lazy_pattern(r"\balways\b", re.I)
    assert pattern.search("never") is None
    assert pattern.search(text)
    assert pattern.match("never") is None
