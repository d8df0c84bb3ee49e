"""Names that several things share: lists what each may mean, for the asker to choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import Topic
from client_sdk.protocol import Ambiguity
from kg_store.terms import Mid, Mids

MAX_CHOICES: Final = 20


def ambiguities_of(topics: Sequence[Topic], table: PseudonymTable) -> tuple[tuple[Ambiguity, ...], tuple[str, ...]]:
    """Returns the shared names of the question, or of the turns before if it names nothing itself, and notes."""
    asked = [topic for topic in topics if topic.newest] or topics
    found: list[Ambiguity] = []
    notes: list[str] = []
    for topic in asked:
        meaning = table.meaning(topic.pseudonym)
        if meaning is None or meaning.kind != "group":
            continue
        choices = choices_among(meaning.mids, table)
        found.append(Ambiguity(pseudonym=topic.pseudonym, choices=choices))
        if len(choices) < len(meaning.mids):
            notes.append(f"{topic.pseudonym} may mean {len(meaning.mids)} things; {len(choices)} of them are offered")
    return tuple(found), tuple(notes)


def choices_among(mids: Mids, table: PseudonymTable) -> list[str]:
    """Returns the things that a shared name may mean: first those named in the dialogue, then in the conversation's
    order.
    """
    named = table.settled_among(mids.tolist())
    return sorted(in_own_order(mids, table), key=lambda word: table.entity(word) not in named)[:MAX_CHOICES]


def in_own_order(mids: Mids, table: PseudonymTable) -> list[str]:
    """Returns one pseudonym for each thing, in the conversation's own order."""
    return [table.of_entity(Mid(int(mids[at]))) for at in table.in_order([str(mid) for mid in mids.tolist()])]
