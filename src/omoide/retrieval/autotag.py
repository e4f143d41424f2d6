"""Suggested tags of a text: those of similar memories, and the names that it mentions. Offline, also for Japanese."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence

from omoide.compiled_patterns import load_pattern
from omoide.retrieval import analyzer as texts, lexical

MOST = 4
READ = 1_000
"""Characters that are read: a text says near its beginning what it is about."""
_AGREED = 0.34
"""Share of the similarity of all neighbours that must have a tag. The numbers here are chosen by judgement."""
_WORD = 2.0  # weight of a word, or of the subject of a sentence, against 1.0 for a pair of characters
_SHARED = 1.2  # least weight that a neighbour shares: more than the rarest pair has,
_SHARE = 0.06  # and more than this share of the weight of so many terms of the text
_SAID = 20
_ELSEWHERE = 50  # memories that are added to the count: among three, a word in two of them would seem common

_code = load_pattern(r"`([A-Za-z][\w.+#/-]{1,29})`")
_tool = load_pattern(
    r"(?<![\w./@-])(?:[A-Za-z]+[a-z][A-Z]\w*|[A-Z]{2,6}\d{0,2}|[A-Za-z]{2,}\d[\w.]*|[a-z]+(?:-[a-z]+)*\.js)(?![\w/-])"
)
_name = load_pattern(r"(?<=[a-z,;] )[A-Z][a-z]{2,}(?: ?[A-Z][a-z]+)?\b")
_foreign = load_pattern(r"[A-Za-z][A-Za-z0-9.+#-]{1,29}")
_katakana = load_pattern("[ァ-ヺー]{4,}")
_subject = load_pattern("(?:^|[。、\n])([一-鿿々ァ-ヺー]{2,8})(?:は|を|が|の)")
_about = load_pattern("(?:^|[。、\n])([一-鿿々]{2,8})[はをがのにで]")
_japanese = load_pattern("[ぁ-ゖァ-ヺ一-鿿]")
_COMMON = """
    the this that with from use uses using when where should must never always note todo fixme http https www com org ok api
    url id ui it is in on at to of and or for a an i we you he she they monday tuesday wednesday thursday friday saturday
    sunday january february march april may june july august september october november december
    こと もの ため よう それ これ 場合 必要 今日 昨日 明日 今回 次回 全部 一部 以下 以上 自分 我々 皆
"""


_VERBS = """
    add allow ask avoid call change check create do enable ensure handle happen include keep move open prefer put require run
    send set show start stop update wait work
"""


def telling_terms(text: str) -> dict[str, float]:
    """Return the terms that tell what a text is about, with weights: no stop words, common verbs, numbers or endings."""
    text = unicodedata.normalize("NFKC", text[:READ])
    subjects = {term for subject in _about.findall(text) for term in texts.terms(subject)}
    verbs = frozenset(map(texts.stem, _VERBS.split()))
    return {
        term: _WORD if term.isascii() or term in subjects else 1.0
        for term, weight in texts.query_terms(text).items()
        if weight == 1.0 and term not in verbs and not (term[0].isdigit() or "ぁ" <= term[-1] <= "ゖ")
    }


def shared_tags(
    telling: Mapping[str, float],
    frequencies: Mapping[str, int],
    entries: int,
    neighbours: Iterable[tuple[Sequence[str], str]],
) -> set[str]:
    """Return the tags of those neighbours that share enough telling terms with a text: more than a verb at its end.

    `telling`: what `telling_terms` returns for the text. `frequencies`: how many memories contain each term, of `entries`.
    `neighbours`: the tags and the text of each similar memory.
    """
    entries += _ELSEWHERE
    weights = lexical.term_weights(telling, frequencies, entries)
    enough = max(_SHARED * lexical.idf(1, entries), _SHARE * sum(sorted(weights.values())[-_SAID:]))
    return {
        tag
        for tags, text in neighbours
        if tags and sum(weights[term] for term in weights.keys() & set(texts.terms(text))) >= enough
        for tag in tags
    }


def suggest(
    text: str,
    neighbours: Iterable[tuple[Sequence[str], float]],
    most: int = MOST,
    shared: Collection[str] | None = None,
) -> list[str]:
    """Return tags for a text, the most certain first.

    `neighbours`: the tags of similar memories, with the similarity of each. `most`: how many tags to return at most.
    `shared`: those of their tags that need not occur in the text; None: all of them.
    """
    return list(dict.fromkeys([*_neighbour_tags(text, neighbours, shared), *_names(text)]))[:most]


def _neighbour_tags(
    text: str, neighbours: Iterable[tuple[Sequence[str], float]], shared: Collection[str] | None
) -> list[str]:
    """Return the tags that most neighbours have, and those of one neighbour that occur in the text."""
    folded = unicodedata.normalize("NFKC", text[:READ]).casefold()
    shares: dict[str, float] = {}
    carriers: dict[str, int] = {}
    whole = 0.0
    for tags, likeness in neighbours:
        whole += likeness
        for tag in tags:
            shares[tag] = shares.get(tag, 0.0) + likeness
            carriers[tag] = carriers.get(tag, 0) + 1
    written = {tag for tag in shares if re.search(_as_word(tag), folded)}
    agreed = {tag for tag, share in shares.items() if share >= _AGREED * whole and carriers[tag] > 1}
    if shared is not None:
        agreed.intersection_update(shared)
    return sorted(written | agreed, key=lambda tag: (tag not in written, -shares[tag], tag))


def _as_word(tag: str) -> str:
    tag = re.escape(unicodedata.normalize("NFKC", tag).casefold())
    return tag if _japanese.search(tag) else rf"(?<![a-z0-9]){tag}(?![a-z0-9])"


def _names(text: str) -> list[str]:
    """Return names in the text: code, tools, products; in Japanese also words in other scripts and subjects of sentences."""
    text = unicodedata.normalize("NFKC", text[:READ])
    found = [*_code.findall(text), *_tool.findall(text)]
    if _japanese.search(text):
        found += [*_subject.findall(text), *_foreign.findall(text), *_katakana.findall(text)]
    else:
        found += _name.findall(text)
    common = frozenset(_COMMON.split())
    return [tag for name in found if (tag := name.strip(".-").lower()) and tag not in common and len(tag) > 1]
