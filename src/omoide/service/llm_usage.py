"""What the language model was asked for, and what it took."""

from collections.abc import Iterable
from datetime import date, timedelta

import msgspec

from omoide.guard import permissions, validation
from omoide.llm.client import start_of_day
from omoide.model import CallState, LlmCall
from omoide.service.core import Core


class UsageRow(msgspec.Struct, frozen=True):
    """The calls of one day with one purpose and one model."""

    day: date
    purpose: str
    model: str
    calls: int
    unusable: int
    """How many of these gave no usable answer."""
    input_tokens: int
    output_tokens: int
    cost: float | None
    """In US dollars; None if the price of no call is known."""


class UsageReport(msgspec.Struct, frozen=True):
    """How much of the language model was used."""

    model: str
    """The setting `llm`."""
    rows: list[UsageRow]
    """The newest day first."""
    tokens_today: int
    daily_tokens: int
    """The budget of a day; 0: no limit."""


class LlmUsage(Core):
    """The use of the language model."""

    def llm_usage(self, *, days: int = 30) -> UsageReport:
        """Count the calls of the language model by day, purpose and model, with their tokens and costs.

        `days`: how many days to report, the last of them today. Raises InvalidInput, and NotAllowed for a role that may not
        see all projects.
        """
        permissions.require(self._actor, "llm_usage", "see the use of the language model")
        days = validation.check_limit(days, self._settings)
        today = start_of_day(self._clock())
        with self._store.read() as tx:
            calls = tx.llm_calls(start_of_day(today - timedelta(days=days - 1, hours=-12)))
            tokens = tx.llm_tokens(today)
        grouped: dict[tuple[date, str, str], list[LlmCall]] = {}
        for call in calls:
            grouped.setdefault((call.at.astimezone().date(), call.purpose, call.model), []).append(call)
        rows = [_row(day, purpose, model, group) for (day, purpose, model), group in grouped.items()]
        rows.sort(key=lambda row: (-row.day.toordinal(), row.purpose, row.model))
        return UsageReport(self._settings.llm, rows, tokens, self._settings.llm_daily_tokens)


def _row(day: date, purpose: str, model: str, calls: Iterable[LlmCall]) -> UsageRow:
    calls = list(calls)
    costs = [call.cost for call in calls if call.cost is not None]
    return UsageRow(
        day=day,
        purpose=purpose,
        model=model,
        calls=len(calls),
        unusable=sum(call.state is not CallState.ANSWERED for call in calls),
        input_tokens=sum(call.input_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
        cost=sum(costs) if costs else None,
    )
