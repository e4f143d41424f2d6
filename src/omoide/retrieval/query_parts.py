"""Which terms of a question belong together: the parts of its Japanese compounds, and the names among Japanese words. Pure.

    "zq7 携帯アプリはどう"   parts 携帯 帯ア アプ プリ リは 携 帯 | はど どう   names zq7

One compound is many terms, a name is one: counted term by term, the compound would decide alone.
"""

from collections.abc import Collection, Mapping, Sequence
from operator import add

import msgspec

from omoide.compiled_patterns import load_pattern
from omoide.retrieval import analyzer, constants

_hiragana = load_pattern("([ぁ-ゖ]+)")
_identifier = load_pattern(r"[0-9._/:@#+-]")


class QueryParts(msgspec.Struct, frozen=True):
    """How the terms of a question belong together."""

    compounds: Sequence[Collection[str]] = ()
    """The terms of each stretch of hiragana, and of each stretch of other characters that are cut into pairs."""
    names: Collection[str] = frozenset()
    """The terms of words with spaces around them, in a question that has compounds."""


NO_PARTS = QueryParts()


def query_parts(text: str, runs: Sequence[tuple[str, str]] | None = None) -> QueryParts:
    """Return how the terms of a query's text belong together; `NO_PARTS` for a text without compounds.

    `runs`: what `analyzer.runs` returns for the text, if that is known already.
    """
    if text.isascii():
        return NO_PARTS
    compounds: list[Collection[str]] = []
    names: set[str] = set()
    for run, chunk in analyzer.runs(text) if runs is None else runs:
        if chunk:
            names.update(analyzer.terms(chunk))
        else:
            compounds += _compounds(run)
    return QueryParts(compounds, names) if compounds else NO_PARTS


def _compounds(run: str) -> list[list[str]]:
    """Return the terms of each stretch; the pair at a border belongs to the stretch that is not hiragana."""
    found = []
    start = 0
    for stretch in filter(None, _hiragana.split(run)):
        end = start + len(stretch)
        is_hiragana = "ぁ" <= stretch[0] <= "ゖ"
        text = stretch if is_hiragana else run[max(0, start - 1) : end + 1]
        found.append([*map(add, text, text[1:]), *stretch])
        start = end
    return found


def weigh(weights: Mapping[str, float], parts: QueryParts, *, words_only: bool) -> dict[str, float]:
    """Return the weights of terms with those of names raised, and those of a compound lowered evenly in a search by words.

    `words_only`: False where vectors add candidates: compounds keep their weights then, and names are raised more.
    """
    weighed = dict(weights)
    boost = constants.NAME_BOOST if words_only else constants.SEMANTIC_NAME_BOOST
    for term in parts.names:
        if term in weighed:
            weighed[term] *= boost
    if words_only:
        left = dict(weights)  # a term belongs to the first compound that has it
        for compound in parts.compounds:
            terms = {term: left.pop(term) for term in compound if term in left}
            total = sum(terms.values())
            if total:
                most = max(terms.values())
                factor = (most + constants.COMPOUND_SUM * (total - most)) / total
                for term, weight in terms.items():
                    weighed[term] = weight * factor
    return weighed


def key_terms(asked: Mapping[str, float], frequencies: Mapping[str, int], parts: QueryParts, entries: int) -> list[str]:
    """Return the terms that name one thing: identifiers, and names among Japanese words, that very few memories contain.

    `asked`: the terms of the query, and how much each says. `frequencies`: how many memories contain each term, of
    `entries`.
    """
    most = max(constants.KEY_COUNT, constants.KEY_SHARE * entries)
    rare = (term for term, weight in asked.items() if weight >= 1.0 and 1 <= frequencies.get(term, 0) <= most)
    if parts.compounds:
        return [term for term in rare if term in parts.names]
    return [term for term in rare if _identifier.search(term)]
