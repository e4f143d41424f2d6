"""Find what is worth keeping in a message of a conversation: sentence by sentence, by the rules and a score. Pure.

Sentences that belong together are kept together: a statement with the reason that follows it, and with the sentence before
it if it cannot be understood without that.
"""

from collections.abc import Sequence
from typing import NamedTuple

from omoide.learning import guidance_patterns as patterns
from omoide.learning.guidance import Guidance, after_task, ban_at, classify_at, decide_answer, is_statement, strip_lead
from omoide.learning.noise import has_credential
from omoide.learning.patterns import lazy_pattern
from omoide.learning.sentence_features import SpokenSentence
from omoide.learning.sentence_score import CLEAR_THRESHOLD, OPENING_THRESHOLD, THRESHOLD, score
from omoide.learning.sentences import is_question, split_sentences
from omoide.learning.statements import decides
from omoide.learning.wording import Wording, content_words, share_of

_LEAST_WORDS = 2
_ENOUGH_WORDS = 4
_COVERED = 0.5
"""Share of the wording of a sentence in what is kept as a request from which on it is that request."""
_CONSEQUENCE = ("so ", "then ", "so, ", "なので", "だから", "よって")
_LONGEST = 400
"""Characters of the sentences that are kept together."""
_MOST_TOGETHER = 3
_BEFORE_QUESTION = lazy_pattern("(?<=けど)、|(?<=だが)、|(?<=ですが)、")
_LEAST_CLAUSE = 12
"""Characters of a clause that says something by itself."""
_NEVER_KEPT = (patterns.RETRACTS, patterns.UNSETTLED, patterns.OWN_PLAN)
"""What takes back what it says, is not decided, or is over soon."""
_DIRECTING = (patterns.FORBIDS, patterns.ORDERS, patterns.DIRECTS, patterns.ADVERB, patterns.GENERAL)


class SpokenContext(NamedTuple):
    """What came before a message."""

    is_first: bool = False
    """Whether it opens the conversation, and describes a task."""
    is_answer: bool = False
    """Whether the agent had asked or proposed something."""
    follows_failure: bool = False
    """Whether the last command before it failed."""


class ReadSentence(NamedTuple):
    """A sentence of a message, and what the rules make of it."""

    spoken: SpokenSentence
    guidance: Guidance | None

    @property
    def is_candidate(self) -> bool:
        """Whether it says enough by itself, and for longer than the moment."""
        text = self.spoken.text
        if any(pattern.search(text) for pattern in _NEVER_KEPT) or has_credential(text):
            return False
        return self.guidance is not None or is_statement(text, least=_LEAST_WORDS)


def split_message(message: str) -> list[str]:
    """Return the sentences of a message; a question after a statement (「…なんだけど、…？」) is one of its own."""
    found: list[str] = []
    for sentence in split_sentences(message):
        parts = _BEFORE_QUESTION.split(sentence, maxsplit=1) if is_question(sentence) else [sentence]
        found += parts if len(parts) > 1 and len(parts[0]) >= _LEAST_CLAUSE else [sentence]
    return found


def read_sentences(sentences: Sequence[str], context: SpokenContext) -> list[ReadSentence]:
    """Return the sentences of a message with what stands around them."""
    found: list[ReadSentence] = []
    refused = False
    for place, sentence in enumerate(sentences):
        corrected, text = strip_lead(sentence)
        corrected, refused = corrected or refused, corrected and not text
        spoken = SpokenSentence(
            text,
            lead=sentence.removesuffix(text),
            refuses=corrected,
            before=sentences[place - 1] if place else "",
            after=sentences[place + 1] if place + 1 < len(sentences) else "",
            is_first=context.is_first,
            is_answer=context.is_answer,
            follows_failure=context.follows_failure,
        )
        guidance = classify_at(sentences, place, corrected=corrected, is_first=context.is_first)
        found.append(ReadSentence(spoken, guidance))
    return found


def find_statements(message: str, context: SpokenContext, covered: Wording | None = None) -> list[Guidance]:
    """Return what a person's message says that is worth keeping, in order.

    `covered`: the wording of what is kept of it anyhow, as a request. What only explains that is left out.
    """
    covered = covered or set()
    sentences = split_message(message)
    read = read_sentences(sentences, context)
    kept = [None if _is_covered(one, covered) else _judge(one) for one in read]
    found: list[Guidance] = []
    place = 0
    while place < len(read):
        guidance = kept[place]
        if _is_covered(read[place], covered):
            place = _end_of_reasons(read, place)
        elif guidance is None:
            guidance = after_task(sentences[place], is_first=context.is_first) or ban_at(sentences, place)
            found += [guidance] if guidance is not None else []
            place += 1
        else:
            end = _end_of_group(read, kept, place)
            start = place - 1 if place and kept[place - 1] is None and _has_context(read, place) else place
            if end - start > 1 or not (is_lost(read[place].spoken.text) or _only_explains(read, place)):
                found.append(guidance._replace(text=" ".join(one.spoken.text for one in read[start:end])))
            place = end
    return found or (list(decide_answer(sentences)) if context.is_answer and not covered else [])


def _is_covered(sentence: ReadSentence, covered: Wording) -> bool:
    return bool(covered) and share_of(sentence.spoken.text, covered) > _COVERED


def _judge(sentence: ReadSentence) -> Guidance | None:
    """What is kept of a sentence."""
    spoken, guidance = sentence
    is_clear = guidance is not None and (guidance.is_general or guidance.kind == "correction")
    least = THRESHOLD
    if is_clear:
        least = OPENING_THRESHOLD if spoken.is_first else CLEAR_THRESHOLD
    if not sentence.is_candidate or score(spoken, by_rule=guidance is not None) < least:
        return None
    kind = "correction" if spoken.refuses else _kind(spoken.text)
    return guidance or Guidance(spoken.text, kind, is_general=False, by_rule=False)


def _kind(text: str) -> str:
    if decides(text):
        return "decision"
    return "convention" if any(pattern.search(text) for pattern in _DIRECTING) else "environment"


def _end_of_group(read: Sequence[ReadSentence], kept: Sequence[Guidance | None], start: int) -> int:
    """The place after the last sentence that belongs to the one at the start."""
    end, size = start + 1, len(read[start].spoken.text)
    while end < min(len(read), start + _MOST_TOGETHER):
        size += len(read[end].spoken.text) + 1
        if size > _LONGEST or not _belongs(read[end], read[end - 1], is_kept=kept[end] is not None):
            break
        end += 1
    return end


def _belongs(sentence: ReadSentence, previous: ReadSentence, *, is_kept: bool) -> bool:
    """Whether a sentence explains or completes the one before it."""
    text, before = sentence.spoken.text, previous.spoken.text
    if has_credential(text) or patterns.RETRACTS.search(text) or not is_statement(text, least=1):
        return False
    if patterns.OPEN_REASON.search(before) and patterns.DIRECTS.search(text):
        return True
    refers = _refers(text) or bool(patterns.TELLS.search(text))
    if is_kept:
        return refers or _refers(before) or not content_words(text).isdisjoint(content_words(before))
    return refers and not patterns.TASK.search(text)


def _refers(text: str) -> bool:
    return bool(patterns.DEPENDENT.search(text) or patterns.REFERS.search(text))


def _end_of_reasons(read: Sequence[ReadSentence], start: int) -> int:
    """The place after the sentences that only explain the one at the start."""
    end = start + 1
    while end < len(read) and (_refers(read[end].spoken.text) or patterns.TELLS.search(read[end].spoken.text)):
        end += 1
    return end


def _has_context(read: Sequence[ReadSentence], place: int) -> bool:
    """Whether a sentence is about something that only the one before it names, follows from it, or is a reason for it."""
    text, lead = read[place].spoken.text, read[place].spoken.lead.lower()
    before = read[place - 1].spoken.text
    needs = patterns.REFERS.search(text) or patterns.OPEN_REASON.search(text) or lead.startswith(_CONSEQUENCE)
    return (
        bool(needs)
        and is_statement(before, least=_LEAST_WORDS)
        and not patterns.TASK.search(before)
        and not patterns.RETRACTS.search(before)
        and not has_credential(before)
    )


def _only_explains(read: Sequence[ReadSentence], place: int) -> bool:
    """Whether a sentence is only the reason for the one before it, which is not kept with it."""
    text = read[place].spoken.text
    return place > 0 and bool(patterns.OPEN_REASON.search(text)) and len(content_words(text)) < _ENOUGH_WORDS


def is_lost(text: str) -> bool:
    """Whether a sentence cannot be understood without the messages before it."""
    return bool(patterns.POINTS.match(text)) and len(content_words(text)) < _ENOUGH_WORDS
