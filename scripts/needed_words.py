"""Write src/omoide/learning/needed_words.py: for each rule of learning, words of which every text that it matches has one.

A process that learns from a few messages need not compile a rule for a text that has none of its words. Run it after a
change of the rules; a rule that is not in the file is only slower.

python scripts/needed_words.py
"""

import gc
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from re import (
    _constants as ops,  # type: ignore[attr-defined]
    _parser as parser,  # type: ignore[attr-defined]
)
from typing import Any

import omoide.learning
from omoide.learning.patterns import LazyPattern, pattern_key

TARGET = Path(omoide.learning.__file__).with_name("needed_words.py")
MOST_WORDS = 60
"""Looking for more of them takes as long as the pattern itself."""
REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)


def needed_words(pattern: str, flags: int) -> frozenset[str]:
    """Return words in lower case of which every text has one that a pattern matches; none if there are no such words."""
    return _of_sequence(parser.parse(pattern, flags)) or frozenset()


def _of_sequence(items: Any) -> frozenset[str] | None:
    """The best of what the parts of a sequence need: all of them must be there."""
    found: list[frozenset[str]] = []
    run = ""
    for kind, value in [*items, (None, None)]:
        if kind is ops.LITERAL:
            run += chr(value).lower()
            continue
        if run:
            found.append(frozenset([run]))
        run = ""
        part = _of_part(kind, value)
        if part is not None:
            found.append(part)
    usable = [words for words in found if len(words) <= MOST_WORDS and all(_is_telling(word) for word in words)]
    return max(usable, key=lambda words: (min(_weight(word) for word in words), -len(words)), default=None)


def _of_part(kind: Any, value: Any) -> frozenset[str] | None:
    if kind is ops.SUBPATTERN:
        return _of_sequence(value[3])
    if kind is ops.ATOMIC_GROUP:
        return _of_sequence(value)
    if kind in REPEATS and value[0] >= 1:
        return _of_sequence(value[2])
    if kind is ops.BRANCH:
        branches = [_of_sequence(branch) for branch in value[1]]
        return None if None in branches else frozenset().union(*branches)  # type: ignore[arg-type] # none is None here
    return None  # a class of characters, an assertion, a reference: no word is certain


def _is_telling(word: str) -> bool:
    return _weight(word) >= 3


def _weight(word: str) -> int:
    """How telling a word is, up to six letters; a Japanese character is worth two."""
    return min(6, sum(1 if character.isascii() else 2 for character in word.strip()))


def render() -> str:
    """Return the text of the module."""
    for module in pkgutil.iter_modules(omoide.learning.__path__, "omoide.learning."):
        importlib.import_module(module.name)
    importlib.import_module("omoide.lifecycle.summary_points")
    patterns = {(one.pattern, one.flags) for one in gc.get_objects() if isinstance(one, LazyPattern)}
    rows = {pattern_key(pattern, flags): needed_words(pattern, flags) for pattern, flags in patterns}
    lines = [f"    {key!r}: {'|'.join(sorted(words))!r}," for key, words in sorted(rows.items()) if words]
    text = "\n".join(lines)
    return (
        '"""Words that each rule of learning needs, by its key. Written by scripts/needed_words.py; do not edit it."""\n\n'
        f"# ruff: noqa: E501 - one rule per line\nNEEDED_WORDS = {{\n{text}\n}}\n"
    )


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
    subprocess.run([str(Path(sys.executable).with_name("ruff")), "format", "-q", str(TARGET)], check=True)
    print(f"{TARGET}: {len(re.findall('^    ', TARGET.read_text(encoding='utf-8'), re.M))} rules")
