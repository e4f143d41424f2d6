"""Judge whether a sentence of a person is worth keeping, by the weights of its features. Pure.

Most of what is worth keeping is said in passing, in words of which no list is complete. The rules of `guidance` recognise
what people say in so many words; a sum of weights over many weak signs finds the rest, and refuses what the rules take by
mistake. The weights are those of a logistic regression (`python -m bench.learning_extraction --fit`).
"""

from omoide.learning.sentence_features import SpokenSentence, features
from omoide.learning.sentence_weights import WEIGHTS

THRESHOLD = 0.25
"""The score from which on a sentence is kept: 0 would keep a few more, of which half are wrong."""
CLEAR_THRESHOLD = -0.5
"""The same of a sentence that says in so many words that it holds in general, or that it corrects something."""
OPENING_THRESHOLD = -2.0
"""The same in the message that opens a conversation, of which the score expects tasks only."""
BY_RULE = "rule"
"""The feature of a sentence that a rule of `guidance` recognises."""


def score(sentence: SpokenSentence, *, by_rule: bool) -> float:
    """Return how much speaks for keeping a sentence: 0 is as much as speaks against it.

    `by_rule`: whether a rule recognises it.
    """
    found = features(sentence)
    if by_rule:
        found |= rule_features(sentence)
    return sum(WEIGHTS.get(name, 0.0) * value for name, value in found.items())


def rule_features(sentence: SpokenSentence) -> dict[str, float]:
    """Return the features of a sentence that a rule recognises."""
    return {BY_RULE: 1.0} | ({f"{BY_RULE}, first message": 1.0} if sentence.is_first else {})
