"""The search for secrets: the rules of providers, structures and sentences applied to a text."""

import functools
from collections.abc import Iterator, Sequence

from omoide.guard.secrets import sentences, values
from omoide.guard.secrets.patterns import compile_pattern
from omoide.guard.secrets.providers import PROVIDERS, Provider
from omoide.guard.secrets.structures import STRUCTURES, Structure

Place = tuple[str, int, int]
"""The kind of a secret, where it begins and where it ends."""
_START = r"(?<![A-Za-z0-9])(?=([A-Za-z0-9_].))"
"""A token begins where a word does: these are the first two characters of its mark."""
_SEEDS = ("seed", "mnemonic", "phrase", "シード", "ニーモニック", "フレーズ")
"""What needs no sign at all: a phrase of words."""


def search(text: str, lowered: str, runs: Sequence[str], *, is_named: bool) -> Iterator[Place]:
    """Every secret, by kind. `runs`: the parts that can hold a token; `is_named`: something is called as secrets are."""
    for provider in possible_providers(runs) if runs else ():
        yield from _of_provider(text, provider)
    if not is_named or not (values.has_candidate(text) or any(map(lowered.__contains__, _SEEDS))):
        return
    for structure in STRUCTURES:
        if _is_possible(structure, lowered):
            for match in compile_pattern(structure.pattern).finditer(text):
                if structure.is_real(match):
                    group = "value" if "value" in match.re.groupindex and match["value"] is not None else 0
                    yield structure.kind, match.start(group), match.end(group)
    yield from sentences.find(text, lowered)


def _is_possible(structure: Structure, lowered: str) -> bool:
    for sign in structure.needs:
        if sign in lowered:
            return any(map(lowered.__contains__, structure.marks))
    return False


def _of_provider(text: str, provider: Provider) -> Iterator[Place]:
    if provider.inside:
        for match in compile_pattern(provider.pattern).finditer(text):
            if _is_real(provider, match[0]):
                yield provider.kind, *match.span()
        return
    for mark in provider.marks:
        at = text.find(mark)
        while at >= 0:
            after = at + len(mark)
            if not _is_within_word(text, at, "" if provider.strict else "_-"):
                token = compile_pattern(provider.pattern).match(text, after)
                if token is not None and _is_real(provider, token[0]):
                    yield provider.kind, at, token.end()
                    after = token.end()
            at = text.find(mark, after)


def _is_within_word(text: str, at: int, joints: str) -> bool:
    if at == 0:
        return False
    before = text[at - 1]
    if not (before.isascii() and (before.isalnum() or before in joints)):
        return False
    return not (before in "nrt" and at > 1 and text[at - 2] == "\\")  # an escaped line end


def _is_real(provider: Provider, body: str) -> bool:
    return not values.is_filler(body) and (provider.strict or values.is_random(body, 10) or values.is_mixed(body))


def possible_providers(runs: Sequence[str]) -> list[Provider]:
    """The providers whose tokens can be in these parts of a text, in their order."""
    text, longest = " ".join(runs), max(map(len, runs))
    by_start = _marks_by_start()
    starts = by_start.keys() & set(compile_pattern(_START).findall(text))
    marks = [mark for start in starts for mark in by_start[start]]
    places = {place for mark, place in (*marks, *_marks_inside()) if mark in text}
    return [PROVIDERS[place] for place in sorted(places) if PROVIDERS[place].least <= longest]


@functools.cache
def _marks_by_start() -> dict[str, list[tuple[str, int]]]:
    """The marks that tokens begin with, by their first two characters, each with the place of its provider."""
    found: dict[str, list[tuple[str, int]]] = {}
    for place, provider in enumerate(PROVIDERS):
        for mark in () if provider.inside else provider.marks:
            found.setdefault(mark[:2], []).append((mark, place))
    return found


@functools.cache
def _marks_inside() -> tuple[tuple[str, int], ...]:
    """The marks that are inside of tokens, each with the place of its provider."""
    return tuple((mark, place) for place, provider in enumerate(PROVIDERS) if provider.inside for mark in provider.marks)
