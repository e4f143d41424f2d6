"""Ask a language model: within the daily budget, recorded, with one more attempt after an answer that cannot be used."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec

from omoide.errors import BudgetSpent, InvalidInput, ModelUnavailable
from omoide.model import CallState, LlmCall, new_id
from omoide.settings import Settings
from omoide.storage.base import Store

if TYPE_CHECKING:  # every process has a client, and few ask a model
    from omoide.llm.base import LanguageModel

Answer = TypeVar("Answer")
_BYTES_PER_TOKEN = 3
"""For the estimate that stands until the model reports what it read: rather too many tokens than too few."""


class ModelClient:
    """The language model of the settings, for one store. No transaction is open while the model is asked."""

    def __init__(
        self, store: Store, settings: Settings, clock: Callable[[], datetime], model: "LanguageModel | None" = None
    ):
        """`model`: another one than that of the settings, for tests and embedding applications."""
        self._store, self._settings, self._clock = store, settings, clock
        self._model = model

    @property
    def is_enabled(self) -> bool:
        """Whether a language model is configured. If not, nothing is ever asked."""
        return self._model is not None or self._settings.llm != "off"

    def ask(self, purpose: str, instructions: str, question: str, answer: type[Answer]) -> Answer:
        """Ask for a value of this type, and return it.

        `purpose` is recorded with the call. Texts of memories in the question stand in a fence (`answers.fence`). An answer
        that cannot be used is shown to the model once more, with what is wrong. Raises ModelUnavailable, also if no model is
        configured; BudgetSpent if the tokens of the day are spent.
        """
        from omoide.llm.answers import describe_answer, fence  # lazy: see the top

        instructions = f"{instructions}\n\n{describe_answer(answer)}"
        text = self._call(purpose, instructions, question, answer)
        if isinstance(text, _Rejected):
            shown = fence(text.text, "your answer")
            again = f"{question}\n\nYour answer was:\n{shown}\n\n{text.reason}. Answer again, with the JSON value alone."
            text = self._call(purpose, instructions, again, answer)
        if isinstance(text, _Rejected):
            raise ModelUnavailable(f"{self._settings.llm} gave no usable answer twice: {text.reason}")
        return text

    def _call(self, purpose: str, instructions: str, question: str, answer: type[Answer]) -> "Answer | _Rejected":
        from omoide.llm.answers import parse_answer  # lazy: see the top

        model = self._open_model()
        estimate = len(f"{instructions}{question}".encode()) // _BYTES_PER_TOKEN
        at = self._clock()
        call = LlmCall(new_id(at), at, purpose, model.name, CallState.RUNNING, estimate)
        self._reserve(call)
        began = time.monotonic()
        try:
            completion = model.complete(instructions, question, seconds=self._settings.llm_timeout)
        except ModelUnavailable as error:
            read = 0 if error.is_free else estimate
            seconds = time.monotonic() - began
            self._record(msgspec.structs.replace(call, state=CallState.FAILED, input_tokens=read, seconds=seconds))
            raise
        result: Answer | _Rejected
        try:
            result = parse_answer(completion.text, answer)
        except InvalidInput as error:  # fallback: `ask` shows it to the model
            result = _Rejected(completion.text[:2_000], str(error))
        read = completion.input_tokens or estimate
        written = completion.output_tokens or len(completion.text.encode()) // _BYTES_PER_TOKEN
        self._record(
            msgspec.structs.replace(
                call,
                state=CallState.REJECTED if isinstance(result, _Rejected) else CallState.ANSWERED,
                input_tokens=read,
                output_tokens=written,
                cost=self._price(read, written) if completion.cost is None else completion.cost,
                seconds=time.monotonic() - began,
            )
        )
        return result

    def _open_model(self) -> "LanguageModel":
        if self._model is None:
            from omoide.llm.base import make_model  # lazy: see the top

            self._model = make_model(self._settings.llm, self._settings.llm_key)
        if self._model is None:
            raise ModelUnavailable("no language model is configured: see the setting `llm`")
        return self._model

    def _reserve(self, call: LlmCall) -> None:
        """Record a call before it is made, if the budget of the day allows it: in one transaction, so that processes that
        ask at the same time see each other. Raises BudgetSpent."""
        budget = self._settings.llm_daily_tokens
        with self._store.write() as tx:
            spent = tx.llm_tokens(start_of_day(call.at)) if budget else 0
            if budget and spent >= budget:
                raise BudgetSpent(
                    f"{spent:,} of {budget:,} tokens of today are used: no model is asked before tomorrow,"
                    " unless the setting `llm_daily_tokens` is raised"
                )
            tx.put_llm_call(call)

    def _price(self, read: int, written: int) -> float | None:
        if self._settings.llm_price is None:
            return None
        per_read, per_written = self._settings.llm_price
        return (read * per_read + written * per_written) / 1_000_000

    def _record(self, call: LlmCall) -> None:
        with self._store.write() as tx:
            tx.put_llm_call(call)


class _Rejected(msgspec.Struct, frozen=True):
    """An answer that cannot be used, and why."""

    text: str
    reason: str


def start_of_day(moment: datetime) -> datetime:
    """Return when the local day of this moment began."""
    return moment.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
