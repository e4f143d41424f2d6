"""The search for secrets: the rules of providers, structures and sentences applied to a text."""

import functools
from collections.abc import Iterator

from omoide.guard.secrets import sentences, values
from omoide.guard.secrets.patterns import compile_pattern
from omoide.guard.secrets.providers import PROVIDERS, Provider
from omoide.guard.secrets.structures import STRUCTURES, Structure

Place = tuple[str, int, int]
"""The kind of a secret, where it begins and where it ends."""
_SIGNS = ":=_-/.@+~%$"
_SEEDS = ("seed", "mnemonic", "phrase", "シード", "ニーモニック", "フレーズ")
"""What needs no sign at all: a phrase of words."""


def search(text: str, lowered: str, *, is_long: bool, is_named: bool) -> Iterator[Place]:
    """Every secret, by kind. `is_long`: a word is as long as a token; `is_named`: something is called as secrets are."""
    if is_long:
        for provider in dict.fromkeys(provider for mark, provider in _marks(_signs(text)) if mark in text):
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


def _signs(text: str) -> str:
    return "".join([sign for sign in _SIGNS if sign in text])


@functools.cache
def _marks(signs: str) -> list[tuple[str, Provider]]:
    """What to look for in a text that holds these signs and none of the others."""
    missing = set(_SIGNS) - set(signs)
    return [(mark, provider) for provider in PROVIDERS for mark in provider.marks if missing.isdisjoint(mark)]
