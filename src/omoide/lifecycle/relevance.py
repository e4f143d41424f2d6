"""How outcomes of runs move the relevance of memories: a Beta distribution around the value that a person gave. Pure.

The prior counts as `STRENGTH` runs. Every outcome of a run with the memory in its prompt adds to the successes or failures.
With every recorded run of the project the weight of older evidence shrinks by `DECAY`. So the sum of evidence is bounded,
the relevance never reaches 0 or 1, and without new evidence it returns towards the prior. No clock has an influence.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from omoide.model import LearnedRelevance, Outcome, OutcomeEvidence, RunResult

STRENGTH = 10.0
"""How many runs the prior counts as."""
DECAY = 0.995
"""What remains of the weight of evidence after one recorded run."""
VERDICT_WEIGHT = 3.0
"""How much more it counts where somebody says that this memory helped or harmed."""
USE_WEIGHT = 0.1
"""How much one use of an injected memory counts, as the meter recognises it."""
_MOST_USES = 0.9
"""How much all uses of a memory count together: less than one outcome."""
_DIGITS = 4
_CREDITS = {RunResult.SUCCESS: 1.0, RunResult.PARTIAL: 0.5, RunResult.FAILURE: 0.0}


def credit(outcome: Outcome, memory: int) -> tuple[float, float]:
    """Return what an outcome says about a memory in the prompt: the credit, from 0 to 1, and its weight."""
    if memory in outcome.helped:
        return 1.0, VERDICT_WEIGHT
    if memory in outcome.harmed:
        return 0.0, VERDICT_WEIGHT
    return _CREDITS[outcome.result], 1.0


def learn(known: LearnedRelevance, evidence: Iterable[OutcomeEvidence]) -> LearnedRelevance:
    """Return what is known after this evidence, which is in the order in which it was recorded."""
    successes = failures = 0.0
    project, tick = "", 0
    for one in evidence:
        # A global memory has evidence of several projects, whose ticks cannot be compared.
        kept = DECAY ** (one.tick - tick if one.project == project else 1) if tick else 1.0
        successes = successes * kept + one.weight * one.credit
        failures = failures * kept + one.weight * (1 - one.credit)
        project, tick = one.project, one.tick
    learned = replace(known, successes=successes, failures=failures, project=project, tick=tick)
    return replace(learned, value=relevance(learned, project, tick))


def relevance(known: LearnedRelevance, project: str, tick: int) -> float:
    """Return the relevance in a project whose last outcome had this tick."""
    kept = DECAY ** max(0, tick - known.tick) if project == known.project else 1.0
    successes, failures = known.successes * kept, known.failures * kept
    return round((STRENGTH * known.prior + successes) / (STRENGTH + successes + failures), _DIGITS)


def with_uses(value: float, used: int, contradicted: int) -> float:
    """Return the relevance of a memory with how agents used it where hooks injected it: weak evidence."""
    total = used + contradicted
    if not total:
        return value
    weight = min(_MOST_USES, USE_WEIGHT * total)
    return round((STRENGTH * value + weight * used / total) / (STRENGTH + weight), _DIGITS)


def unlearned(memory: int, value: float, event: int) -> LearnedRelevance:
    """Return what is known of a memory about which there is no evidence after an event: its value is the prior."""
    return LearnedRelevance(memory, value, value, event)


def is_moved(known: LearnedRelevance | None, value: float) -> bool:
    """Return whether a memory with this relevance has the one that was learned, and nobody has changed it since."""
    return known is not None and known.value == value


def present_values(known: Sequence[LearnedRelevance], project: str, tick: int) -> dict[tuple[int, float], float]:
    """Return what learned values are by now, by the number of the memory and the value that was learned.

    A memory with another value than that is not in it: a person has changed its relevance since.
    """
    return {(one.memory, one.value): relevance(one, project, tick) for one in known if not one.fixed}
