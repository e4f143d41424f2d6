"""What a message has in common with each of many projects: how often they use its words, and what is nearest to it."""

from collections import Counter
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

_OWN = frozenset({Layer.PROJECT, Layer.SESSION})


class Nearness(NamedTuple):
    """How near a message is to a project by vectors."""

    memory: float
    """The cosine with the nearest of its memories; 0 if none has a vector."""
    description: float
    """The cosine with its name and description."""


class ProjectFit(NamedTuple):
    """What a message has in common with a project."""

    rates: Mapping[str, float]
    """The terms of the message that the project uses, and how often: about the share of its memories that contain each."""
    nearness: Nearness | None
    """None: there are no vectors."""


class MessageMatches(NamedTuple):
    """What a message has in common with projects."""

    terms: Mapping[str, float]
    """The terms of the message that could tell projects apart, and how much each says."""
    compounds: Sequence[Collection[str]]
    """The terms that belong together, as the parts of a Japanese word."""
    projects: Mapping[str, ProjectFit]
    """By path."""
    semantic: bool
    """Whether vectors were compared."""


def match_projects(
    tx: Reader,
    query: Query,
    projects: Sequence[Project],
    at: datetime,
    vector: "QueryVector | None",
    described: Mapping[str, float],
) -> MessageMatches:
    """Compare a message with projects.

    query: the message, and the layers whose memories the actor may read
    described: the cosines of the message with the descriptions of projects, by path

    The time that it takes grows with the number of projects times that of terms, of which there are at most 64, and hardly
    with the number of memories.
    """
    terms = analyzer.telling_terms(query.text)
    matches = {}
    for project in projects:
        own = msgspec.structs.replace(query, scope=Scope(project.path), projects=())
        rates = _rates(tx, own, project, terms, at) if terms else {}
        nearness = None
        if vector is not None:
            nearness = Nearness(_nearest(tx, own, at, vector), described.get(project.path, 0.0))
        matches[project.path] = ProjectFit(rates, nearness)
    return MessageMatches(terms, query_parts.query_parts(query.text).compounds, matches, vector is not None)


def describe(project: Project) -> str:
    """Return the name and the description of a project as one text."""
    return f"{project.path.replace('/', ' ')} {project.description}".strip()


def _rates(tx: Reader, query: Query, project: Project, terms: Collection[str], at: datetime) -> dict[str, float]:
    """How often a project uses each term: in its memories, and in its description as often as a few of them would."""
    whole = tx.sizes(query).entries + constants.FEW_MEMORIES
    found = {term: count / whole for term, count in _frequencies(tx, query, terms, at).items() if count}
    for term in set(analyzer.terms(describe(project))).intersection(terms):
        found[term] = found.get(term, 0.0) + constants.DESCRIBED_RATE
    return found


def _frequencies(tx: Reader, query: Query, terms: Collection[str], at: datetime) -> Mapping[str, int]:
    """How many memories of a project contain each term."""
    if set(query.layers) >= _OWN:
        sets = tx.posting_sets(query, dict.fromkeys(terms, constants.MAX_COUNTED), 0)
        if sets is not None:
            return {term: postings.frequency for term, postings in sets.items()}
        return tx.frequencies(query, terms, constants.MAX_COUNTED)
    # The index knows no layers: what the actor may not read must not count.
    numbers = tx.posting_numbers(query, terms, constants.COMMON_COUNT)
    readable = tx.ranking_facts(query, sorted(set(chain.from_iterable(numbers.values()))), at)
    return Counter(term for term, its in numbers.items() for number in its if number in readable)


def _nearest(tx: Reader, query: Query, at: datetime, vector: "QueryVector") -> float:
    """The cosine of the nearest memory of a project."""
    near = vector.cache.nearest(tx, vector.model, vector.row, tx.areas(query), constants.NEAREST_IN_PROJECT).numbers
    cosines = vector.cache.cosines(tx, vector.model, vector.row, [*tx.ranking_facts(query, near, at)])
    return max(cosines.values(), default=0.0)
