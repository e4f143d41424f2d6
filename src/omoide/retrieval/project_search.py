"""What a message has in common with each of many projects: one search over all of them, and their descriptions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from omoide.embeddings import chunking
from omoide.model import Memory, Project, Query
from omoide.retrieval import analyzer, confidence, constants, lexical, pipeline
from omoide.retrieval.pipeline import Question
from omoide.storage.base import Reader

if TYPE_CHECKING:  # numpy, which only a search by vectors needs
    from omoide.embeddings.vectors import QueryVector


class TextMatch(NamedTuple):
    """What a message has in common with a text of a project."""

    terms: frozenset[str]
    """The terms of the message that the text contains."""
    cosine: float | None
    """None: one of them has no vector."""
    same_script: bool
    """Whether both are in a script like Japanese, or neither is: otherwise they share few words."""


class ProjectMatches(NamedTuple):
    """What a message has in common with a project."""

    description: TextMatch
    """With its name and its description."""
    memories: Sequence[TextMatch]
    """With those of its memories that a search over all projects finds, the best first."""


class MessageMatches(NamedTuple):
    """What a message has in common with projects."""

    evidence: Mapping[str, float]
    """The terms of the message, and what each counts for."""
    entries: int
    """How many memories the projects have."""
    semantic: bool
    """Whether vectors were compared."""
    projects: Mapping[str, ProjectMatches]
    """By path."""
    found: Sequence[Memory]
    """The memories that were found, the best first."""


def search_projects(
    tx: Reader,
    query: Query,
    projects: Sequence[Project],
    at: datetime,
    vector: "QueryVector | None",
    described: Mapping[str, float],
) -> MessageMatches:
    """Search all projects for what a message has in common with them.

    query: the message, and the projects whose memories the actor may read
    described: the cosines of the message with the descriptions of projects, by path
    """
    question = pipeline.analyse(query.text, at, semantic=vector is not None)
    found = pipeline.find_candidates(tx, query, question, at, vector)
    features = pipeline.read_features(tx, query, question, found, at)
    scores = pipeline.score(features).scores
    memories = tx.memories(sorted(scores, key=scores.__getitem__, reverse=True))
    evidence = features.evidence if features.entries else _evidence_of_words(question)
    cosines = {} if features.semantic is None else features.semantic.cosines
    terms: dict[int, set[str]] = defaultdict(set)
    for term, postings in features.postings.items():
        for number in postings.numbers:
            terms[number].add(term)
    is_dense = chunking.is_dense(query.text)
    matches: dict[str, list[TextMatch]] = defaultdict(list)
    for memory in memories:
        same_script = chunking.is_dense(memory.content) == is_dense
        match = TextMatch(frozenset(terms[memory.number]), cosines.get(memory.number), same_script)
        matches[memory.scope.path].append(match)
    return MessageMatches(
        evidence,
        features.entries,
        features.semantic is not None,
        {
            project.path: ProjectMatches(
                _match_description(project, evidence, described.get(project.path), is_dense=is_dense),
                matches[project.path],
            )
            for project in projects
        },
        memories,
    )


def _match_description(
    project: Project, evidence: Mapping[str, float], cosine: float | None, *, is_dense: bool
) -> TextMatch:
    text = describe(project)
    return TextMatch(frozenset(evidence.keys() & set(analyzer.terms(text))), cosine, chunking.is_dense(text) == is_dense)


def describe(project: Project) -> str:
    """Return the name and the description of a project as one text."""
    return f"{project.path.replace('/', ' ')} {project.description}".strip()


def _evidence_of_words(question: Question) -> Mapping[str, float]:
    """What each term counts for where there is no memory at all."""
    weights = lexical.term_weights(question.terms, {}, constants.SMALL_STORE)
    return confidence.term_evidence(question.terms, weights, {}, question.parts, 0, alone=True)
