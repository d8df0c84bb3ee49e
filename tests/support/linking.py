"""An index and a linker of a few names as the store holds them, and mentions by their text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.terms import ValueKind
from kg_store.text.english import PublicWords


def named(mid: int, text: str) -> NameEntry:
    return NameEntry(mid, text, "name", None, linkable=True, protected=True)


def valued(mid: int, text: str, kind: ValueKind = ValueKind.TEXT) -> NameEntry:
    return NameEntry(mid, text, "value", kind, linkable=True, protected=True)


def index_of(
    names: Iterable[str], public: Iterable[str] | None = (), texts: Mapping[int, str] | None = None
) -> NameIndex:
    """Returns an index of names, with MIDs from 1 on, and text values by MID.

    If `public` is None, the index has no public words set.
    """
    entries = [named(mid, name) for mid, name in enumerate(names, start=1)]
    index = NameIndex.build([*entries, *(valued(mid, text) for mid, text in (texts or {}).items())])
    return index if public is None else index.with_public(PublicWords.of(public))


def linker_of(
    names: Iterable[str], public: Iterable[str] | None = (), texts: Mapping[int, str] | None = None
) -> EntityLinker:
    return EntityLinker(index_of(names, public, texts))


def linked(linker: EntityLinker, text: str) -> dict[str, tuple[int, ...]]:
    """Map the parts of `text` that are mentions to the MIDs that they name."""
    return {text[each.start : each.end]: each.mids for each in linker.find_mentions(text)}
