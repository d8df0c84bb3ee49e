"""vCard and iCalendar: contacts and events as nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from kg_store.errors import LoadError
from kg_store.formats.encodings import encoding_of
from kg_store.formats.files import open_bytes
from kg_store.formats.graph_elements import Node

MAX_BYTES: Final = 1 << 26
_WORDS: Final = {
    "fn": "name", "summary": "name", "tel": "phone", "org": "organisation", "bday": "birthday", "adr": "address",
    "dtstart": "start", "dtend": "end", "organizer": "organiser", "attendee": "attendee", "url": "website",
    "email": "email", "title": "title", "role": "role", "note": "note", "nickname": "nickname", "due": "due",
    "location": "location", "description": "description", "categories": "category", "status": "status",
}  # fmt: skip
"""The properties of a contact or an event that are read; the rest is for programs."""
_OF_THE_FORMAT: Final = frozenset({"version", "prodid", "uid", "n"})
_KINDS: Final = {"VCARD": "contact", "VEVENT": "event", "VTODO": "task", "VJOURNAL": "journal entry"}


def read_cards(path: Path, left: Counter[str]) -> Iterator[Node]:
    """Counts in `left` what is not read. Raises LoadError, which never quotes the file."""
    import vobject

    with open_bytes(path) as stream:
        packed = stream.read(MAX_BYTES + 1)
    if len(packed) > MAX_BYTES:
        raise LoadError(f"more than {MAX_BYTES >> 20} MB: split it into several files", path.name)
    text = packed.decode(encoding_of(path), "replace").removeprefix("\ufeff")
    try:
        read = list(vobject.readComponents(text, allowQP=True, ignoreUnreadable=True))
    except Exception:
        raise LoadError("not a vCard or iCalendar file that can be read", path.name) from None
    for number, component in enumerate(_components(read), start=1):
        values = {word: found for key, word in _WORDS.items() if (found := _values(component.contents, key))}
        if unread := len(component.contents.keys() - _WORDS.keys() - _OF_THE_FORMAT):
            left[f"properties of {path.name} are for programs, or none that is read, and were left out"] += unread
        uid = next(iter(_values(component.contents, "uid")), f"{path.name}:{number}")
        yield Node(uid, [_KINDS[component.name]], values)


def _components(read: list[Any]) -> Iterator[Any]:
    for component in read:
        if component.name in _KINDS:
            yield component
        elif component.name == "VCALENDAR":
            yield from (each for each in component.components() if each.name in _KINDS)


def _values(contents: Mapping[str, list[Any]], key: str) -> list[str]:
    return [text for each in contents.get(key, ()) if (text := _text(getattr(each, "value", "")))]


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat() if not (value.hour or value.minute) else value.isoformat(timespec="minutes")
    if isinstance(value, date):
        return value.isoformat()
    parts = value if isinstance(value, list) else [value]
    words = " ".join(" ".join(str(part).split()) for part in parts if part)
    return words.removeprefix("mailto:").removeprefix("MAILTO:").strip()
