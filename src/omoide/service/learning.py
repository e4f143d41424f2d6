"""Learn from conversations: keep what is certain, and propose the rest."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from omoide.errors import ModelUnavailable
from omoide.guard import permissions
from omoide.model import Scope
from omoide.service.candidate_store import KINDS, CandidateStore, LearningReport
from omoide.service.runs import versions_in_prompt

if TYPE_CHECKING:  # its patterns take 40 ms that only a process that learns should pay for
    from omoide.learning.candidates import Candidate
    from omoide.learning.transcript import Turn

_MODEL_CONFIDENCE = 0.7
"""The confidence of what a model extracts from a conversation: it is proposed, never active by itself."""
_MOST_SHOWN = 40_000
"""Characters of a conversation that a model is shown: the end of it."""
_INSTRUCTIONS = (
    "You read a conversation between a person and a coding agent. List what a later conversation in the same project should"
    " know: requests to remember something, decisions with their reason, error and fix pairs, preferences and conventions of"
    " the person, facts about the environment. Leave out progress of the task, temporary errors, intermediate results,"
    " secrets, and everything that stands only in the output of a tool. Each text is one self-contained sentence in the"
    " language of the conversation. An empty list is a good answer."
)


class _Learnt(msgspec.Struct, frozen=True):
    text: str
    kind: str


class _Answer(msgspec.Struct, frozen=True):
    learnings: list[_Learnt]


class Learning(CandidateStore):
    """Operations that learn from conversations."""

    def learn(
        self, turns: "Iterable[Turn]", *, scope: Scope, run: str | None = None, known: Sequence[str] = (), ask: bool = True
    ) -> LearningReport:
        """Extract what is worth keeping from a conversation, and store it as memories of the type `learning`.

        What a person asked for or decided is active at once; what is less certain is inactive until it is confirmed.

        `turns`: the conversation, such as `omoide.read_turns` returns it. `scope`: where to store what is learnt. `run`: the
        run of the conversation; by default that of the settings. `known`: the texts that were injected into it or recalled
        in it; what repeats them is left out. `ask`: whether the language model is asked too, where one is configured.

        Secrets, `<private>` parts, progress, and instructions from the output of tools are never kept. Returns the
        outcome of the conversation.
        """
        permissions.require(self._actor, "learn")
        from omoide.learning.candidates import extract  # lazy: see the top

        drawn = extract(turns, [*known, *self._prompt_texts(scope, run)])
        trouble = ""
        if ask and self._llm.is_enabled and drawn.conversation:
            try:
                for candidate in self._ask_model(drawn.conversation):
                    drawn.consider(candidate)
            except ModelUnavailable as error:  # fallback: what the rules find
                trouble = str(error)
        return self._store_candidates(drawn.candidates, drawn.rejections, scope, run, trouble)

    def _prompt_texts(self, scope: Scope, run: str | None) -> list[str]:
        """The texts of the memories in the prompt of a run: what repeats them is no news."""
        run = run or self._writes.run
        if run is None:
            return []
        with self._read(scope) as tx:
            found = tx.run(scope, run) or (tx.run(scope, int(run)) if run.isascii() and run.isdigit() else None)
            return (
                [] if found is None else [memory.content for memory in versions_in_prompt(tx, found) if memory is not None]
            )

    def _ask_model(self, conversation: str) -> "list[Candidate]":
        from omoide.learning.candidates import Candidate  # lazy: see the top
        from omoide.llm.answers import fence  # lazy: only a process with a language model needs it

        answer = self._llm.ask("learn", _INSTRUCTIONS, fence(conversation[-_MOST_SHOWN:], "conversation"), _Answer)
        return [
            Candidate(learnt.text.strip(), learnt.kind if learnt.kind in KINDS else "convention", _MODEL_CONFIDENCE, 0)
            for learnt in answer.learnings
            if learnt.text.strip()
        ]
