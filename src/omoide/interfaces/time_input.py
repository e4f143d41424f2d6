"""Moments as people write them: a date, an ISO time, or so long from now (or ago)."""

import re
from datetime import UTC, datetime, timedelta

from omoide.errors import InvalidInput

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_time(text: str, what: str, *, future: bool) -> datetime:
    """`7d` is seven days from now where a moment in the future is meant, seven days ago otherwise."""
    span = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if span:
        distance = timedelta(**{_UNITS[span[2]]: int(span[1])})
        now = datetime.now(UTC)
        return now + distance if future else now - distance
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f"{what} is {text!r}: write 2026-12-31, 2026-12-31T18:00Z, or a span like 90d, 12h") from None
    return parsed.astimezone() if parsed.tzinfo is None else parsed
