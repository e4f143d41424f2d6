"""Judge whether an agent used, ignored or contradicted a memory that was in its prompt. Pure.

A memory is used where the agent's words, commands or changes hold something of it that the person's message did not hold: a
path, a name, a number, a run of words. It is contradicted where the agent does what the memory rules out, or has another
value of the same thing. This is weak evidence: an agent may follow a memory without repeating a word of it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.learning.wording import wording
from omoide.lifecycle import use_evidence
from omoide.lifecycle.agent_work import NAME_WEIGHT, AgentWork, TextTerms, code_spans, has_word, sentences_of, word_pairs
from omoide.lifecycle.clauses import split_terms
from omoide.lifecycle.exclusions import MemorySentence
from omoide.lifecycle.memory_contradiction import find_contradictions, has_conventional_message, is_conventional
from omoide.lifecycle.use_evidence import MemoryTraces
from omoide.model import MemoryUse

_MOST_READ = 4_000
"""Characters of a memory that it is judged by."""
_ENOUGH_WITH_NAME, _ENOUGH = 0.25, 0.4
"""The share of a memory's own terms that makes it used: with a name among them, or by words alone."""
_ENOUGH_WORDING = 0.3
"""The share of its runs of three words."""
_STRONG = load_pattern(r"\d{3,}|.*[a-z].*[./_].*[a-z].*|.*/.*|#.{3,}")
"""A name that hardly occurs by chance: a long number, a path, a channel, an identifier of several parts."""
_DIRECTORY = load_pattern(r"(?<![\w./])(?:[\w.-]+/)+(?:[\w-]+(?![\w.*]))?", re.ASCII)
_TEMPLATE = load_pattern(r"[\w./-]*<[a-z_ -]+>[\w./<>-]*", re.I | re.ASCII)
"""A name with places to fill: `acme-<env>-<purpose>`."""


class UseJudgement(NamedTuple):
    """How an agent treated a memory, and the evidence for that."""

    use: MemoryUse
    why: str = ""
    is_clear: bool = True
    """Whether the evidence is so clear that such judgements are hardly ever wrong."""


def judge_use(memory: str, work: AgentWork) -> UseJudgement:
    """Return how an agent treated a memory."""
    memory = memory[:_MOST_READ]
    traces = find_traces(memory, read_sentences(memory), work)
    clear = judge_clear(traces)
    if clear is not None:
        return UseJudgement(clear, _explain(clear, traces))
    odds = use_evidence.probabilities(use_evidence.measure(memory, work, traces))
    use = max(odds, key=odds.__getitem__)
    return UseJudgement(use, _explain(use, traces), is_clear=odds[use] >= use_evidence.CLEAR)


def judge_clear(traces: MemoryTraces) -> MemoryUse | None:
    """Return how an agent treated a memory if a single sign decides that; None: all evidence must be weighed."""
    found = traces.contradictions
    if found.clear:
        return MemoryUse.CONTRADICTED
    return (
        MemoryUse.USED if traces.followed and not (found.ruled_out or found.other_value or traces.has_denied_name) else None
    )


def _explain(use: MemoryUse, traces: MemoryTraces) -> str:
    if use is MemoryUse.USED:
        return traces.followed or traces.repeated or "the agent's work is about the same"
    if use is MemoryUse.CONTRADICTED:
        found = traces.contradictions
        return found.clear or found.ruled_out or found.other_value or "the agent's work has what it warns of"
    return ""


def read_sentences(memory: str) -> list[MemorySentence]:
    """Return the sentences of a memory."""
    return [MemorySentence(sentence) for sentence in sentences_of(memory)]


def find_traces(memory: str, sentences: Sequence[MemorySentence], work: AgentWork) -> MemoryTraces:
    """Return what of a memory, which has these sentences, can be seen in the work of an agent."""
    ruled_out = list(dict.fromkeys(bad for sentence in sentences for _, bad, _ in sentence.exclusions))
    clauses = split_terms([sentence.text for sentence in sentences], ruled_out)
    excluded = dict.fromkeys([*ruled_out, *clauses.denied])  # having that is no use of it
    terms = TextTerms(memory)
    own = {term: weight for term, weight in terms.telling.items() if term not in work.asked_terms and term not in excluded}
    found = {term: weight for term, weight in own.items() if term in work.done_terms}
    return MemoryTraces(
        followed=_find_followed(memory, sentences, work, excluded) or _names_used(found, work),
        repeated=_terms_used(own, found) or _words_used(memory, work),
        contradictions=find_contradictions(memory, sentences, work),
        forbids_practice=any(sentence.practices for sentence in sentences),
        has_denied_name=any(
            weight == NAME_WEIGHT and term in work.written_terms and term not in work.asked_terms
            for term, weight in clauses.denied.items()
        ),
        excluded=excluded,
        clauses=clauses,
        terms=terms,
    )


def _find_followed(memory: str, sentences: Sequence[MemorySentence], work: AgentWork, excluded: Collection[str]) -> str:
    """Describe which way, directory, pattern or telling name of a memory is in the work of the agent; empty: none."""
    ways = (good for sentence in sentences for good in sentence.requests)
    way = next((good for good in ways if not has_word(work.prompt, good) and has_word(work.done, good)), "")
    if way:
        return f"the agent uses {way}"
    # Using what the memory rules out is no use of it.
    denials = [statement.text for statement in work.statements if statement.is_denied] if excluded else []
    avoided = next((bad for bad in excluded if any(has_word(text, bad) for text in denials)), "")
    if avoided:
        return f"the agent avoids {avoided}"
    return _directory_used(memory, work) or _pattern_used(memory, work, excluded)


def _directory_used(memory: str, work: AgentWork) -> str:
    """Describe in which directory that a memory names the agent changed a file; empty: in none."""
    for directory in _DIRECTORY.findall(memory):
        inside = re.compile(rf"(?:^|/){re.escape(directory.strip('/'))}/")
        if directory not in work.prompt and any(inside.search(path) for path in work.files):
            return f"the agent changed a file in {directory}"
    return ""


def _pattern_used(memory: str, work: AgentWork, excluded: Collection[str]) -> str:
    """Describe which code, filled template or form of a message from a memory the agent used; empty: none."""
    for code in code_spans(memory):
        start = code.removesuffix("...").removesuffix("…").strip()
        if len(start) > 2 and start.lower() not in excluded and start in work.done and start not in work.prompt:
            return f"the agent's work has {start}"
    for template in _TEMPLATE.findall(memory):
        filled = re.compile("[\\w.-]+".join(map(re.escape, re.split("<[^<>]*>", template))), re.ASCII)
        found = filled.search(work.done)
        if found and len(re.sub("<[^<>]*>", "", template)) > 2 and not filled.search(work.prompt):
            return f"the agent's work has {found[0]}"
    if is_conventional(memory) and any(map(has_conventional_message, (work.commands, work.answer))):
        return "the agent writes such messages"
    return ""


def _names_used(found: Mapping[str, float], work: AgentWork) -> str:
    """Describe which name that hardly occurs by chance is among the terms of a memory that were found; empty: none."""
    names = (term for term, weight in found.items() if weight == NAME_WEIGHT and _STRONG.fullmatch(term))
    strong = next(names, "") or next((term for term in found if term in work.programs), "")
    return f"the agent's work has {strong}" if strong else ""


def _terms_used(own: Mapping[str, float], found: Mapping[str, float]) -> str:
    """Describe which of its own terms were found; empty: not enough of them."""
    if not found:
        return ""
    has_name = any(weight == NAME_WEIGHT for weight in found.values())
    if sum(found.values()) / sum(own.values()) >= (_ENOUGH_WITH_NAME if has_name else _ENOUGH):
        named = sorted(found, key=lambda term: (-found[term], -len(term), term))[:3]
        return f"the agent's work has {', '.join(named)}"
    return ""


def _words_used(memory: str, work: AgentWork) -> str:
    """Describe which words of a memory the agent repeats one after another; empty: too few."""
    runs = wording(memory) - work.asked_wording
    repeated = runs & work.done_wording
    if len(repeated) > 1 and len(repeated) / len(runs) >= _ENOUGH_WORDING:
        return "the agent repeats its words"
    pair = next(iter(sorted(word_pairs(memory) & work.done_pairs - work.asked_pairs)), None)
    return "" if pair is None else f"the agent's work has {' '.join(pair)}"
