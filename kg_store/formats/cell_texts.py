"""The text of a workbook's cell, whatever program wrote it."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta


def text_of(value: object) -> str:
    """Days without a time of day as ISO dates, whole numbers without a point, spans in seconds."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(timespec="seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g} seconds"
    return str(value).strip()
