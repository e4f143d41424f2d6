"""Fit the weights by which `learning/sentence_score.py` judges sentences, and check them on directories left out.

Each sentence of a person in the transcripts that may be tuned on is an example: it is worth keeping if it matches an
expected learning, alone or together with a neighbour; one that matches only acceptable ones says nothing. So are the single
messages of `bench/learning_sentences.py`. The weights are those of a logistic regression with a penalty. Each directory is
also measured with weights fitted on the others: see the rows "left out".
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import omoide
from bench.learning_extraction import FITTED_ON, PLACE, Transcript, evaluate, figures, load, matches
from bench.learning_sentences import FAULTS_AND_PLANS, GUIDANCE, OTHER
from omoide.learning import sentence_weights
from omoide.learning.candidates import ends_with_question
from omoide.learning.message_statements import SpokenContext, read_sentences, split_message
from omoide.learning.requests import find_requests
from omoide.learning.sentence_features import features
from omoide.learning.sentence_score import rule_features
from omoide.learning.transcript import Speaker
from omoide.learning.wording import share_of, wording

PENALTY = 4.0
STEPS = 40
SEED = 7
LEAST_WEIGHT = 0.05
"""Of a weight that is written down."""


class Example(NamedTuple):
    """A sentence by its features, and whether it is worth keeping."""

    features: dict[str, float]
    is_kept: bool


def read_examples(transcript: Transcript) -> Iterator[Example]:
    """Yield the sentences of a transcript that are judged, except those that are neither right nor wrong to keep."""
    is_first, last, failed = True, "", False
    for turn in omoide.read_turns(transcript.lines):
        if turn.speaker is Speaker.PERSON:
            context = SpokenContext(is_first, ends_with_question(last), failed)
            yield from _of_message(turn.text, transcript, context)
            is_first = False
        elif turn.speaker is Speaker.AGENT:
            last = turn.text
        elif turn.speaker is Speaker.OUTPUT:
            failed = turn.failed


def _of_message(message: str, transcript: Transcript, context: SpokenContext) -> Iterator[Example]:
    sentences = split_message(message)
    yield from _of_sentences(message, context, [_label(sentences, place, transcript) for place in range(len(sentences))])


def _of_sentences(message: str, context: SpokenContext, labels: Sequence[bool | None]) -> Iterator[Example]:
    covered = set(chain.from_iterable(wording(request.content) for request in find_requests(message)))
    for sentence, is_kept in zip(read_sentences(split_message(message), context), labels, strict=True):
        is_request = bool(covered) and share_of(sentence.spoken.text, covered) > 0.5
        if sentence.is_candidate and not is_request and is_kept is not None:
            rule = rule_features(sentence.spoken) if sentence.guidance is not None else {}
            yield Example(features(sentence.spoken) | rule, is_kept)


def _label(sentences: Sequence[str], place: int, transcript: Transcript) -> bool | None:
    """Whether a sentence is worth keeping; None if it may be kept or not."""

    def is_one_of(text: str, kind: str) -> bool:
        return any(matches(text, item["all_of"]) for item in transcript.labels[kind])

    text = sentences[place]
    if is_one_of(text, "forbidden"):
        return False
    if is_one_of(text, "expected"):
        return True
    for pair in (sentences[max(0, place - 1) : place + 1], sentences[place : place + 2]):
        if is_one_of(" ".join(pair), "expected") and not any(is_one_of(one, "expected") for one in pair):
            return True
    return None if is_one_of(text, "acceptable") else False


def read_single_messages() -> Iterator[Example]:
    """Yield the messages of one sentence that stand alone."""
    for messages, is_kept in ((GUIDANCE, True), (OTHER, False), (FAULTS_AND_PLANS, False)):
        for message in messages:
            sentences = split_message(message)
            if len(sentences) == 1:
                yield from _of_sentences(message, SpokenContext(), [is_kept])


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weights of a logistic regression, by Newton's method."""
    names = sorted({name for example in examples for name in example.features})
    rows: NDArray[np.float64] = np.array([[example.features.get(name, 0.0) for name in names] for example in examples])
    target = np.array([float(example.is_kept) for example in examples])
    penalty = np.array([0.01 if name == "always" else PENALTY for name in names])
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        shares = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (shares - target) + penalty * weights
        curve = (rows.T * (shares * (1 - shares))) @ rows + np.diag(penalty)
        weights -= np.linalg.solve(curve, slope)
    return {
        name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True) if abs(weight) >= LEAST_WEIGHT
    }


def _measure(transcripts: Sequence[Transcript], weights: dict[str, float]) -> str:
    before = dict(sentence_weights.WEIGHTS)
    sentence_weights.WEIGHTS.clear()
    sentence_weights.WEIGHTS.update(weights)
    try:
        sums = figures([evaluate(each) for each in transcripts])
    finally:
        sentence_weights.WEIGHTS.clear()
        sentence_weights.WEIGHTS.update(before)
    wrong = f"{sums.wrong} wrong of {sums.found + sums.wrong}"
    return f"precision {sums.precision:.1%} ({wrong}), recall {sums.recall:.1%} ({sums.found} of {sums.expected})"


def write_weights(weights: dict[str, float], sets: dict[str, list[Transcript]], count: int) -> None:
    """Write the table that `sentence_score` reads."""
    fitted_on = ", ".join(f"`{name}` ({len(transcripts)})" for name, transcripts in sets.items())
    rows = "\n".join(f"    {name!r}: {weight}," for name, weight in sorted(weights.items(), key=lambda item: -item[1]))
    text = f'''"""The weights of the features of a sentence: what speaks for keeping it, and against.

Written by `python -m bench.learning_extraction --write-fit`. Fitted on {count} sentences: of `bench/learning_sentences.py`
and of the transcripts in `bench/learning_transcripts`: {fitted_on}.
"""

WEIGHTS: dict[str, float] = {{
{rows.replace("'", '"')}
}}
'''
    Path(sentence_weights.__file__).write_text(text, encoding="utf-8")


def print_fit(*, write: bool) -> None:
    """Print how well the weights do where they were fitted and on directories left out; write them if asked."""
    sets = {name: list(load(PLACE / name, name, SEED)) for name in FITTED_ON}
    examples = {name: [one for each in transcripts for one in read_examples(each)] for name, transcripts in sets.items()}
    single = list(read_single_messages())
    for name, transcripts in sets.items():
        others = single + [example for other, found in examples.items() if other != name for example in found]
        print(f"{name}, left out: {_measure(transcripts, fit(others))}")
    every = [*single, *chain.from_iterable(examples.values())]
    weights = fit(every)
    for name, transcripts in sets.items():
        print(f"{name}, fitted on: {_measure(transcripts, weights)}")
    if write:
        write_weights(weights, sets, len(every))
