"""Times as people write them: a date, an ISO time, or a span from now."""

import re
from datetime import UTC, datetime, timedelta

from omoide.errors import InvalidInput

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_time(text: str, what: str, *, future: bool) -> datetime:
    """Parse a date, an ISO time or a span: `7d` is seven days from now if `future`, else seven days ago.

    `what` names the value in the message of InvalidInput.
    """
    span = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if span:
        distance = timedelta(**{_UNITS[span[2]]: int(span[1])})
        now = datetime.now(UTC)
        return now + distance if future else now - distance
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(
            f"{what} must be a time such as 2026-12-31, 2026-12-31T18:00Z, 90d or 12h, got {text!r}"
        ) from None
    return parsed.astimezone() if parsed.tzinfo is None else parsed


def parse_expiry(text: str, what: str) -> datetime:
    """Parse when a new memory expires, as `parse_time` does. Raises InvalidInput for a time that is over already."""
    at = parse_time(text, what, future=True)
    if at <= datetime.now(UTC):
        raise InvalidInput(f"{what} must be in the future, got {text!r}: the memory would never be found")
    return at
