"""What a message has in common with each of many projects: how often they use its words, and what is nearest to it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from omoide.model import Layer, Project, Query, Scope
from omoide.retrieval import analyzer, constants, query_parts
from omoide.storage.base import Reader

if TYPE_CHECKING:  # numpy, which only a search by vectors needs
    from omoide.embeddings.vectors import QueryVector

MOST_TERMS = 160
"""Terms of a message that are looked up in the index."""
_OWN = frozenset({Layer.PROJECT, Layer.SESSION})


WordForm = tuple[float, tuple[str, ...]]
"""How well a project fits that uses a word in this form, from 0 to 1, and the terms of the form in the index."""


class MessageWord(NamedTuple):
    """A word of a message."""

    weight: float
    """How much it says."""
    forms: Sequence[WordForm]
    """How it is found: by itself, or by a word of the other language."""


class Nearness(NamedTuple):
    """How near a message is to a project by vectors."""

    memory: float
    """The cosine with the nearest of its memories; 0 if none has a vector."""
    description: float
    """The cosine with its name and description."""


class ProjectFit(NamedTuple):
    """What a message has in common with a project."""

    rates: Mapping[str, float]
    """The words of the message that the project uses, and how often: about the share of its memories that contain each."""
    nearness: Nearness | None
    """None: there are no vectors."""
    memories: int
    """How many the project has that may be read."""


class MessageMatches(NamedTuple):
    """What a message has in common with projects."""

    terms: Mapping[str, float]
    """The words of the message that could tell projects apart, and how much each says."""
    compounds: Sequence[Collection[str]]
    """The terms that belong together, as the parts of a Japanese word."""
    projects: Mapping[str, ProjectFit]
    """By path."""
    semantic: bool
    """Whether vectors were compared."""


def match_projects(
    tx: Reader,
    query: Query,
    words: Mapping[str, MessageWord],
    projects: Sequence[Project],
    at: datetime,
    vector: "QueryVector | None",
    description_cosines: Mapping[str, float],
) -> MessageMatches:
    """Compare a message with projects.

    `query`: the message, and the layers whose memories the actor may read. `words`: the words of the message. `vector`: the
    message as a vector; None: compare by words alone. `description_cosines`: the cosine of the message with the description
    of each project, by path.

    The index is read once for each term, at most `MOST_TERMS` of them; a term that very many memories contain is left out.
    """
    terms = dict.fromkeys(term for word in words.values() for _, form in word.forms for term in form)
    frequencies = _frequencies(tx, query, projects, [*terms][:MOST_TERMS], at)
    matches = {}
    for project in projects:
        own = msgspec.structs.replace(query, scope=Scope(project.path))
        count = tx.sizes(own).entries
        rates = _word_rates(words, _rates(project, count, frequencies))
        nearness = None
        if vector is not None:
            nearness = Nearness(_nearest(tx, own, at, vector), description_cosines.get(project.path, 0.0))
        matches[project.path] = ProjectFit(rates, nearness, count)
    weights = {name: word.weight for name, word in words.items()}
    return MessageMatches(weights, query_parts.query_parts(query.text).compounds, matches, vector is not None)


def describe(project: Project) -> str:
    """Return the name and the description of a project as one text."""
    return f"{project.path.replace('/', ' ')} {project.description}".strip()


def _frequencies(
    tx: Reader, query: Query, projects: Sequence[Project], terms: Collection[str], at: datetime
) -> Mapping[str, Mapping[str, int]]:
    """How many memories of each project contain each term."""
    if set(query.layers) >= _OWN:
        return tx.project_frequencies(terms, constants.MAX_COUNTED)
    # The index knows no layers, and what the actor may not read must not count.
    found: dict[str, dict[str, int]] = {term: {} for term in terms}
    for project in projects:
        own = msgspec.structs.replace(query, scope=Scope(project.path))
        numbers = tx.posting_numbers(own, terms, constants.COMMON_COUNT)
        readable = tx.ranking_facts(own, sorted(set(chain.from_iterable(numbers.values()))), at)
        for term, its in numbers.items():
            found[term][project.path] = sum(number in readable for number in its)
    return found


def _rates(project: Project, memories: int, frequencies: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """How often a project uses each term: in its memories, and in its description as often as a few of them would."""
    whole = memories + constants.FEW_MEMORIES
    found = {term: counts[project.path] / whole for term, counts in frequencies.items() if counts.get(project.path)}
    for term in frequencies.keys() & set(analyzer.terms(describe(project))):
        found[term] = found.get(term, 0.0) + constants.DESCRIBED_RATE
    return found


def _word_rates(words: Mapping[str, MessageWord], rates: Mapping[str, float]) -> dict[str, float]:
    """How often a project uses each word: in the form that fits best, all of whose terms it must use."""
    found = {}
    for name, word in words.items():
        rate = max((fit * min(rates.get(term, 0.0) for term in form) for fit, form in word.forms), default=0.0)
        if rate:
            found[name] = rate
    return found


def _nearest(tx: Reader, query: Query, at: datetime, vector: "QueryVector") -> float:
    """The cosine of the nearest memory of a project."""
    near = vector.cache.nearest(tx, vector.model, vector.row, tx.areas(query), constants.NEAREST_IN_PROJECT).numbers
    cosines = vector.cache.cosines(tx, vector.model, vector.row, [*tx.ranking_facts(query, near, at)])
    return max(cosines.values(), default=0.0)
