"""How likely it is that a message is about each project, by what they have in common. Pure."""

from collections.abc import Iterable, Mapping

from omoide.retrieval import confidence
from omoide.retrieval.confidence import MatchEvidence
from omoide.retrieval.project_search import MessageMatches, TextMatch


def project_scores(matches: MessageMatches) -> dict[str, float]:
    """Return the probability that a message is about each project, the likeliest first."""
    scores = {path: _probability(matches, [found.description, *found.memories]) for path, found in matches.projects.items()}
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def _probability(matches: MessageMatches, texts: Iterable[TextMatch]) -> float:
    fit = max((_fit(matches.evidence, text) for text in texts), default=0.0)
    return confidence.probability(MatchEvidence(fit, len(matches.evidence), matches.entries, matches.semantic))


def _fit(evidence: Mapping[str, float], text: TextMatch) -> float:
    whole = sum(evidence.values()) or 1.0
    return sum(evidence.get(term, 0.0) for term in text.terms) / whole + max(text.cosine or 0.0, 0.0)
