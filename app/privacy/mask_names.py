"""What callers read where a masked relation is cited: its own words, sealed like any name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.privacy.conclude import Opened
from app.privacy.pseudonym_words import words_in
from client_sdk.protocol import Names
from kg_store.masking import masks_of
from kg_store.vault import readable_name


def names_of_masks(graph: Opened, texts: Iterable[str], words: Mapping[str, str] | None = None) -> dict[str, Names]:
    """The own words of every masked relation whose opaque word stands in `texts`.

    `words` leads from the graph's opaque words to those that were sent, where the texts hold the latter.
    """
    masks = masks_of(graph.blind.schema)
    if not masks:
        return {}
    mid_of = {(words or {}).get(word, word): mid for mid, word in masks.items()}
    said = {found.word for text in texts for found in words_in(text)} & mid_of.keys()
    records = graph.vault.records([mid_of[word] for word in said])
    held = {word: records[mid_of[word]] for word in sorted(said) if mid_of[word] in records}
    return {word: Names(names=[readable_name(record)], total=1) for word, record in held.items()}
