"""How likely it is that a message is about each project, by what they have in common. Pure.

The projects, and no project at all, are alternatives: each has a strength, and the probability of each is its share of the
sum of their exponentials. Fitted on the messages of `bench/routing_messages/` that may be tuned on (`python -m bench.routing
--fit`), each of one of twelve projects or of none; what was tried instead is in docs/decisions/0031.
"""

from collections.abc import Collection, Mapping, Sequence
from math import exp, log, log1p, log2
from typing import NamedTuple

from omoide.retrieval import analyzer
from omoide.retrieval.project_search import MessageMatches, Nearness
from omoide.routing.cues import MessageCues
from omoide.routing.unrelated_words import find_unrelated_words

WORDS_BASE, WORDS_SHARED, WORDS_NAMED, WORDS_STAY = -4.6, 8.4, 2.5, 5.0
"""By words: a constant, the logarithm of what the shared terms say, that the message names the project, and that the
conversation is in it."""
HYBRID_BASE, HYBRID_SHARED, HYBRID_NAMED, HYBRID_STAY = -6.5, 6.0, 1.8, 5.2
HYBRID_MEMORY, HYBRID_DESCRIPTION = 12.6, 6.6
"""The same with vectors, and the cosines with the nearest memory and with the description. The constant is higher than
fitted (-6.9): most errors were messages of a project that were given to none."""
STAY_CUES = (2.0, 2.4, -3.2)
"""For the current project: that a message is phrased as work, that it looks as if it merely goes on, and that it says that
it changes the topic. Fitted: 1.7 to 2.5, 1.3 to 2.3 and -3.6."""
NONE_CUES = (2.2, 2.2, 4.5, 1.5, -4.0)
"""For no project: words of private life that no project uses, a question of general knowledge, a greeting; and in a
conversation the logarithm of what unrelated words say, and that the current project has too few memories to say what belongs
to it. Fitted: 3.4, 2.4, 2.5 to 3.0 and .2 to .3; the last is by judgement. Unrelated words count for
much more than fitted, because few of the messages are of no project within a
conversation and without any other sign."""
SHORT = 2.0
"""How much the unrelated words of a message say together at most that is a greeting and nothing else."""
UNRELATED = 2.0
"""How much the unrelated words of a message say together from which on it does not look as if it merely went on."""
MOST_PRIVATE = 3
"""Words of private life that count; more say no more."""
KNOWN_FROM = 10
"""Memories of a project from which on a message that has nothing in common with them seems to be about something else."""
FEW_PROJECTS = 12
"""Projects of the smallest store whose numbers are used as they are: among fewer, every word would seem to be everywhere."""
COMPOUND_SUM = 0.3
"""Of what a compound's terms say beyond the one that says most, the part that counts. .2 to .5 do as well."""

NO_PROJECT = ""
"""The alternative that a message is about no project, in place of a path."""


class MessageContext(NamedTuple):
    """What is known of a message beside its words."""

    named: Collection[str] = ()
    """The projects that it names."""
    current: str | None = None
    """The project that the conversation is in."""
    cues: MessageCues = MessageCues()
    """How it is phrased."""


class NoProjectEvidence(NamedTuple):
    """Evidence for no project, by how a message is phrased."""

    private: Sequence[str] = ()
    """Its words of private life that no project uses."""
    asks_general: bool = False
    only_greets: bool = False


def score(matches: MessageMatches, context: MessageContext) -> dict[str, float]:
    """Return the probability of each project, and of `NO_PROJECT`, the likeliest first."""
    if find_no_project_evidence(matches, context.cues).only_greets:
        matches = _without_vectors(matches)  # some memory is always the nearest to a greeting
    shared = shared_terms(matches)
    strengths = {
        path: _strength(sum(shared[path].values()), found.nearness, named=path in context.named)
        for path, found in matches.projects.items()
    }
    if context.current in strengths:
        stay = HYBRID_STAY if matches.semantic else WORDS_STAY
        strengths[context.current] += stay + _weigh(STAY_CUES, stay_cues(matches, context.cues))
    strengths[NO_PROJECT] = _weigh(NONE_CUES, none_cues(matches, context))
    highest = max(strengths.values())
    shares = {path: exp(strength - highest) for path, strength in strengths.items()}
    whole = sum(shares.values())
    return {path: share / whole for path, share in sorted(shares.items(), key=lambda item: -item[1])}


def _without_vectors(matches: MessageMatches) -> MessageMatches:
    projects = {path: found._replace(nearness=None) for path, found in matches.projects.items()}
    return matches._replace(projects=projects, semantic=False)


def stay_cues(matches: MessageMatches, cues: MessageCues) -> Sequence[float]:
    """Return the evidence for the current project besides common words, in the order of `STAY_CUES`."""
    return (cues.is_work and not cues.changes_topic, _goes_on(matches, cues), cues.changes_topic)


def _goes_on(matches: MessageMatches, cues: MessageCues) -> float:
    """How much a message looks as if it merely goes on, from 0 to 1: hardly an unrelated word, and it asks nothing else."""
    unrelated = weigh_unrelated_words(matches)
    is_else = any(find_no_project_evidence(matches, cues))
    return float(unrelated == 0) if is_else else max(0.0, 1 - unrelated / UNRELATED)


def find_no_project_evidence(matches: MessageMatches, cues: MessageCues) -> NoProjectEvidence:
    """Return the evidence for no project by how the message is phrased."""
    unrelated = weigh_unrelated_words(matches)
    return NoProjectEvidence(
        [word for word in cues.private if not _is_used(word, matches)],
        cues.asks_general and unrelated > 0,  # "what does this do?" is about the work
        cues.greets and not cues.is_work and unrelated <= SHORT,
    )


def none_cues(matches: MessageMatches, context: MessageContext) -> Sequence[float]:
    """Return the evidence for no project, in the order of `NONE_CUES`."""
    evidence = find_no_project_evidence(matches, context.cues)
    unrelated, newness = 0.0, 0.0
    current = matches.projects.get(context.current or NO_PROJECT)
    if current is not None and not context.cues.changes_topic:
        # A greeting, a private matter and a general question are that in a new project as well.
        newness = 0.0 if any(evidence) else max(0.0, 1 - current.memories / KNOWN_FROM)
        unrelated = log1p(weigh_unrelated_words(matches)) * (1 - newness)
    private = log2(1 + min(len(evidence.private), MOST_PRIVATE))
    return (private, evidence.asks_general, evidence.only_greets, unrelated, newness)


def _weigh(weights: Sequence[float], evidence: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, evidence, strict=True))


def weigh_unrelated_words(matches: MessageMatches) -> float:
    """Return how much the words of a message say together that are unrelated to all projects."""
    unrelated = find_unrelated_words(matches)
    return sum((unrelated | _weigh_compounds(unrelated, matches.compounds)).values())


def _is_used(word: str, matches: MessageMatches) -> bool:
    """Whether a project uses a word of the message."""
    terms = [term for term in (word, *analyzer.terms(word)) if term in matches.terms]
    return any(term in found.rates for term in terms for found in matches.projects.values())


def _strength(shared: float, nearness: Nearness | None, *, named: bool) -> float:
    if nearness is None:
        return WORDS_BASE + WORDS_SHARED * log1p(shared) + WORDS_NAMED * named
    near = HYBRID_MEMORY * nearness.memory + HYBRID_DESCRIPTION * nearness.description
    return HYBRID_BASE + HYBRID_SHARED * log1p(shared) + HYBRID_NAMED * named + near


def shared_terms(matches: MessageMatches) -> dict[str, dict[str, float]]:
    """Return the terms of a message that each project uses, and what each says for the project.

    A term says more the fewer projects use it, and says most for the one that uses it most often.
    """
    weights: dict[str, float] = {}
    relative: dict[str, dict[str, float]] = {}
    count = max(len(matches.projects), FEW_PROJECTS)
    for term, weight in matches.terms.items():
        rates = {path: found.rates[term] for path, found in matches.projects.items() if term in found.rates}
        if rates:
            highest = max(rates.values())
            relative[term] = {path: rate / highest for path, rate in rates.items()}
            weights[term] = weight * _rarity(sum(relative[term].values()), count)
    weights |= _weigh_compounds(weights, matches.compounds)
    return {
        path: {term: weights[term] * users[path] for term, users in relative.items() if path in users}
        for path in matches.projects
    }


def _rarity(users: float, projects: int) -> float:
    """How much a term says that so many projects use, from 0 to 1."""
    return log(1 + max(projects - users, 0.0) / (users + 0.5)) / log(1 + projects / 0.5)


def _weigh_compounds(weights: Mapping[str, float], compounds: Sequence[Collection[str]]) -> dict[str, float]:
    """Return lower weights for the terms of each compound: one word is many terms in Japanese, and one in English."""
    weighed: dict[str, float] = {}
    for compound in compounds:
        terms = {term for term in compound if term in weights and term not in weighed}
        whole = sum(weights[term] for term in terms)
        if whole:
            most = max(weights[term] for term in terms)
            factor = (most + COMPOUND_SUM * (whole - most)) / whole
            weighed |= {term: weights[term] * factor for term in terms}
    return weighed
