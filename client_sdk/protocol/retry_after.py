"""The header Retry-After, as the service and model endpoints send it."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def seconds_of(text: str | None) -> float | None:
    """The seconds that a header asks to wait; None where it is none of a number from 0 up."""
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def retry_after_s(text: str | None, now: datetime) -> float | None:
    """Retry-After in seconds from `now`: it comes as a number or as an HTTP date."""
    seconds = seconds_of(text)
    if seconds is not None or text is None:
        return seconds
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds())
