"""Extract what is worth keeping from a conversation, by rules alone. Pure; it is read once, in bounded memory."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import msgspec

from omoide.learning.file_corrections import glob_of
from omoide.learning.guidance import Guidance, is_choice, strip_lead
from omoide.learning.message_statements import SpokenContext, find_statements, is_lost
from omoide.learning.noise import (
    has_credential,
    is_about_instruction,
    is_instruction,
    is_reported,
    is_standing_order,
    is_temporary,
)
from omoide.learning.patterns import lazy_pattern, phrases, words
from omoide.learning.repairs import RepairFinder
from omoide.learning.request_rule import Request
from omoide.learning.requests import find_requests
from omoide.learning.sentences import is_question, split_sentences
from omoide.learning.statements import StatementKind, classify, has_reason
from omoide.learning.transcript import Speaker, Turn, separate_injected, shorten
from omoide.learning.wording import Wording, content_words, is_covered, share_of, wording

_ECHO = 0.6
"""Share of a candidate's wording in what was injected or recalled from which on it is an echo of that."""
_ECHO_WORDS = 0.6
"""Share of the content words of an agent's sentence in one known text from which on it repeats that in other words."""
_ECHO_ALL_WORDS = 0.9
"""The same in all known texts together. Of a person's sentence every word: the one that is new may be a correction."""
_QUOTED = 0.8
"""Share of a candidate's wording in one output from which on the agent only repeats that output."""
_MOST_OUTPUTS = 40
"""Outputs that are kept for comparing: the last ones."""
_MOST_KNOWN = 3_000
"""Sentences that are known already, from the end."""
_MOST_CANDIDATES = 2_000
_MOST_COMPARED = 200
"""Candidates that a new one is compared with: the last ones."""
_MOST_SPOKEN = 60_000
"""Characters of the conversation that are kept for a language model: the end of it."""
_OWN_TOOL = lazy_pattern(r"(?:^|[_./:])omoide(?:[_./:]|$)", re.I)
"""`mcp__omoide__recall`, `plugin_omoide_omoide.recall`, `omoide`."""
_OWN_COMMAND = lazy_pattern(r"(?:^|[;&|(]\s*)(?:\S*/)?omoide\s", re.M)


class Candidate(msgspec.Struct, frozen=True):
    """Something that may be worth keeping."""

    text: str
    kind: str
    """request, decision, convention, environment, repair or correction."""
    confidence: float
    """0 to 1: how sure the rules are that it is worth keeping."""
    line: int
    """Of the transcript, from which it was drawn."""
    by_person: bool = False
    """Whether a person said it, or did it."""
    in_files: bool = False
    """Whether the person did it, in files."""
    globs: tuple[str, ...] = ()
    """The files that it is about."""
    evidence: str = ""
    """What shows it: a diff, or the agent's edit that the person corrected."""


class Rejection(NamedTuple):
    """A candidate that is not kept, and why."""

    text: str
    reason: str


class _Output:
    """The output of a tool, with its wording when it is needed."""

    def __init__(self, text: str):
        self._text = text

    @cached_property
    def wording(self) -> Wording:
        return wording(self._text)


class _KnownTexts:
    """Texts that are known in a conversation: their last sentences."""

    def __init__(self) -> None:
        self._sentences: deque[tuple[Wording, frozenset[str]]] = deque(maxlen=_MOST_KNOWN)
        self._together: tuple[Wording, frozenset[str]] | None = None

    def add(self, text: str) -> None:
        for sentence in split_sentences(text):
            words = content_words(sentence)
            if words:
                self._sentences.append((wording(sentence), words))
                self._together = None

    def contain(self, candidate: Candidate) -> bool:
        """Whether a candidate repeats them."""
        if not self._sentences:
            return False
        if self._together is None:
            self._together = (
                set(chain.from_iterable(each for each, _ in self._sentences)),
                frozenset(chain.from_iterable(each for _, each in self._sentences)),
            )
        together, every = self._together
        is_said = share_of(candidate.text, together) >= _ECHO
        if candidate.by_person:
            return is_said and is_covered(candidate.text, [every], 1)
        each = (words for _, words in self._sentences)
        return (
            is_said or is_covered(candidate.text, [every], _ECHO_ALL_WORDS) or is_covered(candidate.text, each, _ECHO_WORDS)
        )


class Extractor:
    """Reads a conversation turn by turn, and extracts candidates from it."""

    def __init__(self, known: Iterable[str] = ()):
        """`known` are the texts that were injected into the conversation: what repeats them is an echo."""
        self.candidates: list[Candidate] = []
        """What is worth keeping, in the order of the conversation; complete after `finish`."""
        self.rejections: list[Rejection] = []
        self._repairs = RepairFinder()
        self._wordings: deque[Wording] = deque(maxlen=_MOST_COMPARED)
        self._known = _KnownTexts()
        self._outputs: deque[_Output] = deque(maxlen=_MOST_OUTPUTS)
        self._spoken: deque[str] = deque()
        self._spoken_size = 0
        self._last_agent = ""
        self._edited: deque[str] = deque(maxlen=4)
        self._last_edit = ""
        self._heard = False
        self._failed = False
        for text in known:
            self._known.add(text)

    def feed(self, turn: Turn) -> None:
        """Read the next turn."""
        match turn.speaker:
            case Speaker.PERSON:
                self._note_spoken(turn)
                for candidate in self._of_person(turn):
                    self.consider(candidate)
                self._heard = True
                self._last_edit = ""
            case Speaker.AGENT:
                self._note_spoken(turn)
                for candidate in _of_agent(turn):
                    self.consider(candidate)
                self._last_agent = turn.text
            case Speaker.CONTEXT:
                self._known.add(turn.text)
            case Speaker.COMMAND:
                if turn.tool and _EDIT_TOOL.search(turn.tool):
                    self._edited += _PATCHED.findall(turn.text) or [turn.text.partition("\n")[0]]
                    self._last_edit = turn.text
            case Speaker.OUTPUT:
                if _OWN_TOOL.search(turn.tool) or _OWN_COMMAND.search(turn.command):
                    self._known.add(turn.text)
                self._outputs.append(_Output(turn.text))
                self._failed = turn.failed
        self._repairs.feed(turn)

    def finish(self) -> None:
        """Extract what only the whole conversation shows. Call after the last turn."""
        for repair in self._repairs.finish():
            self._drop_parts(repair.text)
            self.consider(Candidate(repair.text, "repair", 0.8 if repair.explained else 0.7, repair.line))
        self.candidates.sort(key=lambda candidate: candidate.line)

    def _drop_parts(self, text: str) -> None:
        """Drop what the agent said that is a part of a text: the text says it with what it is about."""
        kept = [one for one in self.candidates if one.by_person or one.kind == "repair" or one.text not in text]
        if len(kept) < len(self.candidates):
            self.candidates = kept
            self._wordings = deque((wording(one.text) for one in kept), maxlen=_MOST_COMPARED)

    @property
    def conversation(self) -> str:
        """What was said, without commands and outputs: the end of it, for a language model."""
        return "\n\n".join(self._spoken)

    def consider(self, candidate: Candidate) -> None:
        """Add a candidate, unless there is a reason against it."""
        reason = self._reason_against(candidate)
        if reason:
            self.rejections.append(Rejection(candidate.text, reason))
        elif len(self.candidates) < _MOST_CANDIDATES:
            self.candidates.append(candidate)
            self._wordings.append(wording(candidate.text))

    def _reason_against(self, candidate: Candidate) -> str:
        if self._known.contain(candidate):
            return "it repeats what was injected or recalled"
        if has_credential(candidate.text):
            return "it contains a secret"
        if not candidate.by_person and is_about_instruction(candidate.text):
            return "it is about an instruction from the output of a tool"
        if not candidate.by_person and is_instruction(candidate.text) and self._is_quoted(candidate.text):
            return "it is an instruction from the output of a tool"
        if not candidate.by_person and candidate.kind != "repair" and is_standing_order(candidate.text):
            return "it is an order that no person gave"
        own = wording(candidate.text)
        if any(len(own & other) >= _QUOTED * min(len(own), len(other)) for other in self._wordings):
            return "the conversation says it twice"
        return ""

    def _is_quoted(self, text: str) -> bool:
        return any(share_of(text, output.wording) >= _QUOTED for output in self._outputs)

    def _note_spoken(self, turn: Turn) -> None:
        text = f"{turn.speaker.value}: {shorten(turn.text, _MOST_SPOKEN // 4)}"
        self._spoken.append(text)
        self._spoken_size += len(text)
        while self._spoken_size > _MOST_SPOKEN and len(self._spoken) > 1:
            self._spoken_size -= len(self._spoken.popleft())

    def _of_person(self, turn: Turn) -> Iterator[Candidate]:
        requests = find_requests(turn.text)
        for request in requests:
            text, sentence = _complete(request, turn.text)
            if request.kind == "rule" and (is_temporary(sentence) or is_lost(text)):
                continue
            kind = "decision" if request.kind == "decision" else "request"
            yield Candidate(text, kind, 0.9, turn.line, by_person=True)
        covered = set(chain.from_iterable(wording(request.content) for request in requests))
        asked = ends_with_question(self._last_agent)
        context = SpokenContext(is_first=not self._heard, is_answer=asked, follows_failure=self._failed)
        for guidance in find_statements(turn.text, context, covered):
            yield self._of_guidance(guidance, turn)

    def _of_guidance(self, guidance: Guidance, turn: Turn) -> Candidate:
        if guidance.kind == "decision" and is_choice(guidance.text.partition(". ")[0].partition("。")[0]):
            question = next((one for one in reversed(split_sentences(self._last_agent[-2_000:])) if is_question(one)), "")
            guidance = guidance._replace(text=f"{question[:200]} → {guidance.text}" if question else guidance.text)
        if guidance.kind != "correction":
            certain = guidance.kind == "convention" or (guidance.kind == "decision" and guidance.is_general)
            certain = certain and guidance.by_rule and not is_reported(guidance.text)
            return Candidate(guidance.text, guidance.kind, 0.8 if certain else 0.7, turn.line, by_person=True)
        globs = tuple(dict.fromkeys(glob for path in self._edited if (glob := _relative_glob(path))))[-1:]
        evidence = "\n".join(line for line in self._last_edit.splitlines() if not has_credential(line))
        return Candidate(
            *(guidance.text, "correction", 0.85 if guidance.is_general else 0.7, turn.line),
            by_person=True,
            globs=globs,
            evidence=shorten(evidence, 600),
        )


_EDIT_TOOL = lazy_pattern(r"edit|write|apply_patch|patch|notebook|replace|create", re.I)
_PATCHED = lazy_pattern(r"^\*\*\* (?:Update|Add) File: (.+)$", re.M)


def extract(turns: Iterable[Turn], known: Iterable[str] = ()) -> Extractor:
    """Read a whole conversation, and return what was drawn from it."""
    extractor = Extractor(known)
    for turn in turns:
        for part in separate_injected(turn):  # as `read_turns` does: turns may come from elsewhere
            extractor.feed(part)
    extractor.finish()
    return extractor


def _of_agent(turn: Turn) -> Iterator[Candidate]:
    for sentence in split_sentences(turn.text):
        kind = classify(sentence, by_person=False)
        if kind is not None:
            confidence = 0.7 if kind is StatementKind.DECISION or has_reason(sentence) else 0.6
            yield Candidate(sentence, kind.value, confidence, turn.line)


_PROPOSAL = phrases(
    words("i(?:'d| would)? (?:suggest|propose|recommend|go with), options?, alternatively, either, (?:we|i) could, my plan"),
    "案|提案|選択肢|どちら|考えています|しようと思|おすすめ",
)


def ends_with_question(text: str) -> bool:
    """Whether a message of an agent ends by asking or proposing something."""
    sentences = split_sentences(text[-2_000:])
    return any(is_question(sentence) or _PROPOSAL.search(sentence) for sentence in sentences[-3:])


_FRAGMENT = lazy_pattern(
    r"(?:always|never|only|not|no) (?:together|in|on|with|for|at|by|before|after|without|from|to|as|via|through)\b", re.I
)
"""The beginning of a rule whose subject stands before it."""
_LEAST_WORDS = 2
"""Content words of a rule that says something without the rest of its sentence."""
_NEGATIVE = lazy_pattern(r"(?:never|not|no)\b", re.I)
"""After a comma: the beginning of what a rule puts something else in the place of, which stands before it."""
_CUT = lazy_pattern("[\u3400-\u9fff\u30a0-\u30ff)）」]$")
_REST = lazy_pattern("[^、。，,;；！!？?\n]*")


def _complete(request: Request, message: str) -> tuple[str, str]:
    """What a request says, with the words of its sentence without which it says nothing; and that sentence."""
    text = request.content
    sentence = next((one for one in split_sentences(message) if text in one), "")
    if not sentence or request.kind != "rule":
        return text, sentence
    follows_clause = sentence[: sentence.index(text)].rstrip().endswith(",") and _NEGATIVE.match(text)
    if _FRAGMENT.match(text) or follows_clause or len(content_words(text)) < _LEAST_WORDS:
        return strip_lead(sentence)[1], sentence
    if _CUT.search(text):  # a Japanese sentence has its verb at the end
        rest = _REST.match(sentence, sentence.index(text) + len(text))
        text += "" if rest is None else rest[0]
    return text, sentence


def _relative_glob(path: str) -> str:
    """The glob of an edited file. Of an absolute path the last directories: where the work tree begins is not known."""
    path = path.strip()
    if not re.fullmatch(r"[\w./@+-]+", path):
        return ""
    if not path.startswith("/"):
        return glob_of(path.removeprefix("./"))
    parts = path.strip("/").split("/")
    return f"**/{glob_of('/'.join(parts[-2:])).removeprefix('/')}"
