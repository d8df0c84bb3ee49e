"""Entries of a name index, the hits and mentions found in a text, and the index's report."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kg_store.terms import ValueKind

EntryKind = Literal["name", "value"]


@dataclass(frozen=True, slots=True)
class NameEntry:
    """One spelling of one node. `linkable`: its mentions are replaced; `protected`: the guard blocks it."""

    mid: int
    text: str = field(repr=False)
    kind: EntryKind
    value_kind: ValueKind | None
    linkable: bool
    protected: bool


@dataclass(frozen=True, slots=True)
class NameHit:
    """A match between word borders: its span in the original text, all nodes with this spelling, and its normalised
    text.
    """

    start: int
    end: int
    mids: tuple[int, ...]
    kind: EntryKind
    value_kind: ValueKind | None
    public: bool
    linkable: bool
    protected: bool
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class NameReport:
    """Counts of distinct spellings, the names that equal public words, and the nodes that cannot be guarded.

    `too_short`: nodes with a spelling of punctuation only, which is not searched. `unguarded`: nodes whose every name
    is such a spelling or a public word.
    """

    names: int
    values: int
    public_words: tuple[str, ...]
    too_short: tuple[int, ...]
    unguarded: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of the original text and every node that it may mean, ascending. `value_kind` is set for values.

    `inexact`: the text is only similar to their names.
    """

    start: int
    end: int
    mids: tuple[int, ...] = field(repr=False)
    value_kind: ValueKind | None
    inexact: bool = False


def longest_mentions(found: Sequence[Mention], enclosed: Collection[tuple[int, int]]) -> list[Mention]:
    """Returns the chosen mentions among overlapping ones; for one span all of the better kind."""

    def rank(mention: Mention) -> tuple[bool, int, int, str]:
        is_whole = (mention.start, mention.end) in enclosed
        return not is_whole, mention.start - mention.end, mention.start, mention.value_kind or ""

    taken: dict[tuple[int, int], list[Mention]] = {}
    covered = bytearray(max((mention.end for mention in found), default=0))
    for mention in sorted(found, key=rank):
        span = (mention.start, mention.end)
        if span in taken and taken[span][0].value_kind == mention.value_kind:
            taken[span].append(mention)
        elif not any(covered[mention.start : mention.end]):
            covered[mention.start : mention.end] = b"\x01" * (mention.end - mention.start)
            taken[span] = [mention]
    return [mention for span in sorted(taken) for mention in taken[span]]


def merged(mentions: Sequence[Mention]) -> list[Mention]:
    """Returns one mention for each span, with everything that those of it may mean."""
    found: dict[tuple[int, int], Mention] = {}
    for mention in mentions:
        span = (mention.start, mention.end)
        mids = {*mention.mids, *(found[span].mids if span in found else ())}
        found[span] = Mention(*span, tuple(sorted(mids)), mention.value_kind)
    return list(found.values())
