"""Threads: questions of a conversation that lean on each other, and the words that go out for pseudonyms in one.

A conversation joins all that its prompts tell of one pseudonym. So a question that can do without the turns before it
begins a thread: its prompts hold none of these turns, and other words for the same things, in another order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice
from typing import Final

from app.privacy.pseudonym_format import word_by_key
from kg_store.graph.masked_relations import mask_word

WHOLE: Final = ""
"""The thread of a conversation that is only one. Its pseudonyms go out as they are."""


def extend_thread(words: dict[str, str], order_key: bytes, thread: str, pseudonyms: Collection[str]) -> None:
    """Adds to `words` what goes out for those of `pseudonyms` (in order of issue) that it has none for yet."""
    taken = set(words.values())
    for pseudonym in islice(pseudonyms, len(words), None):
        words[pseudonym] = word_by_key(pseudonym, thread, order_key, taken)
        taken.add(words[pseudonym])


def masked_in_thread(order_key: bytes, thread: str, masks: Iterable[str]) -> dict[str, str]:
    """The word that goes out for the opaque word of each masked relation."""
    found: dict[str, str] = {}
    for mask in masks:
        found[mask] = mask_word(order_key, f"{thread}\n{mask}", found.values())
    return found
