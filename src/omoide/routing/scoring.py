"""How likely it is that a message is about each project, by what they have in common. Pure.

The projects, and no project at all, are alternatives: each has a strength, and the probability of each is its share of the
sum of their exponentials. Fitted on the messages of `bench/routing_messages/` that may be tuned on (`python -m bench.routing
--fit`), each of one of twelve projects or of none; what was tried instead is in docs/decisions/0031.
"""

from collections.abc import Collection, Mapping, Sequence
from math import exp, log, log1p
from typing import NamedTuple

from omoide.retrieval.project_search import MessageMatches, Nearness

WORDS_BASE, WORDS_SHARED, WORDS_NAMED, WORDS_STAY = -4.6, 8.4, 2.5, 5.8
"""By words: a constant, the logarithm of what the shared terms say, that the message names the project, and that the
conversation is in it. The last is lower than fitted (6.2 and 5.2): the messages rarely leave a project without saying so."""
HYBRID_BASE, HYBRID_SHARED, HYBRID_NAMED, HYBRID_STAY = -6.5, 6.0, 1.8, 4.9
HYBRID_MEMORY, HYBRID_DESCRIPTION = 12.6, 6.6
"""The same with vectors, and the cosines with the nearest memory and with the description. The constant is higher than
fitted (-6.9): most errors were messages of a project that were given to none."""
CHANGED_TOPIC = 0.2
"""What is left of the pull of the current project where a message says that it changes the topic. 0 to .5 do as well."""
ONLY_CONTINUES = 2.0
"""How many times as much the current project pulls where no word tells what a message is about. Chosen by judgement."""
TELLING = 0.5
"""What a word says at least that tells what a message is about: more than one of everyday talk."""
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
    """The project that the conversation is in: the message is about that one, or about another, but not about none."""
    changes_topic: bool = False


def score(matches: MessageMatches, context: MessageContext) -> dict[str, float]:
    """Return the probability of each project, and of `NO_PROJECT`, the likeliest first."""
    shared = shared_terms(matches)
    stay = (HYBRID_STAY if matches.semantic else WORDS_STAY) * pull(matches, changes_topic=context.changes_topic)
    strengths = {
        path: _strength(sum(shared[path].values()), found.nearness, named=path in context.named)
        + (stay if path == context.current else 0.0)
        for path, found in matches.projects.items()
    }
    if context.current not in strengths:
        strengths[NO_PROJECT] = 0.0
    highest = max(strengths.values())
    shares = {path: exp(strength - highest) for path, strength in strengths.items()}
    whole = sum(shares.values())
    return {path: share / whole for path, share in sorted(shares.items(), key=lambda item: -item[1])}


def pull(matches: MessageMatches, *, changes_topic: bool) -> float:
    """Return how much the current project pulls, of how much it pulls in general."""
    if changes_topic:
        return CHANGED_TOPIC
    return ONLY_CONTINUES if all(weight < TELLING for weight in matches.terms.values()) else 1.0


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
