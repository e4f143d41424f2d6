"""The share of a question that a memory covers by words and vectors together. Pure.

A memory's words give it a share of the question, from 0 to 1: in part how well it matches the terms, in part which of them
it contains at all. Its cosine adds to that share. Not rank fusion: a weak ranking must not have half the say.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from omoide.retrieval import constants
from omoide.retrieval.lexical import LexicalScores


class SemanticFeatures(NamedTuple):
    """How near candidates are to a question."""

    cosines: Mapping[int, float]
    deviations: Mapping[int, float]
    """By how many standard deviations each cosine is above the mean of the scope."""
    unembedded: Collection[int] = ()
    """Candidates by words that have no vector yet."""
    english: Mapping[int, float] = MappingProxyType({})
    """The cosines of those that are compared by the model for English too."""

    def mean_cosines(self) -> Mapping[int, float]:
        """Return the cosine of each candidate as evidence: where both models compare it, the mean of both cosines."""
        if not self.english:
            return self.cosines
        both = {number: (its + self.cosines.get(number, its)) / 2 for number, its in self.english.items()}
        return {**self.cosines, **both}


class CosinePrior(NamedTuple):
    """The usual mean and standard deviation of a model's cosines."""

    mean: float
    deviation: float


PRIOR = CosinePrior(constants.USUAL_MEAN, constants.USUAL_DEVIATION)
ENGLISH_PRIOR = CosinePrior(constants.USUAL_ENGLISH_MEAN, constants.USUAL_ENGLISH_DEVIATION)


def deviations(
    cosines: Mapping[int, float], mean: float, deviation: float, count: int, prior: CosinePrior = PRIOR
) -> dict[int, float]:
    """Return by how many standard deviations each cosine is above the mean of the scope.

    `mean`, `deviation`: of the cosines of the `count` memories of the scope. `prior`: the usual values, which count as
    `PRIOR_COUNT` more memories.
    """
    weight = constants.PRIOR_COUNT
    mean = (mean * count + prior.mean * weight) / (count + weight)
    deviation = (deviation * count + prior.deviation * weight) / (count + weight)
    return {number: (cosine - mean) / deviation for number, cosine in cosines.items()}


def joined_deviations(general: Mapping[int, float], english: Mapping[int, float]) -> dict[int, float]:
    """Return the deviations of the model for English and the general one, joined to one number for each memory.

    Where only one model has compared a memory, its deviation counts.
    """
    part = constants.ENGLISH_PART
    joined = {number: part * its + (1 - part) * general.get(number, its) for number, its in english.items()}
    return {number: constants.ENGLISH_WEIGHT * its for number, its in {**general, **joined}.items()}


def key_shares(postings: Sequence[Collection[int]]) -> dict[int, float]:
    """Return the share of the key terms that each memory contains, by number.

    `postings`: the numbers of the memories that contain each key term.
    """
    counts = Counter(number for numbers in postings for number in numbers)
    return {number: count / len(postings) for number, count in counts.items()}


def combined_shares(
    words: LexicalScores, whole: float, keyed: Mapping[int, float], features: SemanticFeatures, average: float
) -> dict[int, float]:
    """Return the share of the question that each memory covers by its words and its cosine.

    `words`: the scores by words. `whole`: the weight of all terms of the question. `keyed`: what `key_shares` returns.
    `average`: the average length of a memory, in terms.
    """
    weight = constants.SEMANTIC_WEIGHT * min(1.0, constants.CLEAR_LENGTH / max(average, 1.0)) ** constants.BLUR_POWER
    most_covered = max(words.covered.values(), default=0.0) or 1.0
    general = weight * (1 - constants.NAMED_PART)
    named = weight * constants.NAMED_PART / most_covered
    covered_part = constants.COVERED_PART
    deviations = {**features.deviations, **_assumed_deviations(words.covered, features)}
    shares = {}
    for number, matched in words.scores.items():
        share = 0.0
        if matched > 0 or _stands_out(features, number):
            covered = words.covered[number]
            cosine = deviations.get(number, 0.0) * (general + named * covered)
            matched_share = matched / whole + constants.KEY_PART * keyed.get(number, 0.0)
            share = max((1 - covered_part) * matched_share + covered_part * covered + cosine, 0.0)
        shares[number] = share
    return shares


def _assumed_deviations(covered: Mapping[int, float], features: SemanticFeatures) -> dict[int, float]:
    """Return the deviations to assume of memories without a vector: a missing vector is no evidence against a memory.

    Each is assumed to be as near as the nearest of those that contain as much of the question as it does, or less.
    """
    known = [(covered[number], deviation) for number, deviation in features.deviations.items() if covered.get(number)]
    return {
        number: max((deviation for share, deviation in known if share <= covered[number]), default=0.0)
        for number in features.unembedded
    }


def _stands_out(features: SemanticFeatures, number: int) -> bool:
    """Whether a memory is found by its cosine alone."""
    cosine = max(features.cosines.get(number, 0.0), features.english.get(number, 0.0))
    return features.deviations.get(number, 0.0) >= constants.MIN_DEVIATIONS and cosine >= constants.MIN_COSINE


def reasons(features: SemanticFeatures, number: int) -> list[str]:
    """Return why a memory was found beside its words, as texts: its cosine, if that alone would have found it."""
    if not _stands_out(features, number):
        return []
    return [f"meaning: {max(features.cosines.get(number, 0.0), features.english.get(number, 0.0)):.2f}"]
