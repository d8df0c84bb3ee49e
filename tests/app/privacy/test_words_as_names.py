"""Everyday words that are replaced because names have them, read for a model as the things that are called so."""

from __future__ import annotations

from typing import Any

import pytest

from app.privacy.anonymised import Anonymised
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind
from tests.app.privacy.test_kinds_reading import PUBLIC
from tests.app.privacy.test_kinds_reading import read as read_kinds

NAMES = {1: "Card", 2: "Ovar", 3: "Bear", 4: "Bear"}
INDEX = NameIndex.build([NameEntry(mid, name, "name", None, True, True) for mid, name in NAMES.items()]).with_public(
    PUBLIC
)
WORDS = NameWords.of(VaultRecord(NodeKind.ENTITY, (name,)) for name in NAMES.values())


def read(text: str, **options: Any) -> Anonymised:
    return read_kinds(text, index=INDEX, words=WORDS, **{"reads_kinds": False, **options})


def test_it_is_a_further_topic_in_the_place_of_the_word() -> None:
    found = read("how much has Ovar paid us by card")
    assert [topic.mids.tolist() for topic in found.dialogue.topics] == [[2]]
    told = found.with_words().dialogue
    assert [topic.mids.tolist() for topic in told.topics] == [[1], [2]]
    assert str(told.question).endswith(f"paid us by {told.topics[0].pseudonym}")
    assert told.topics[0].doubtful
    # The reader in the house still reads the word as it was typed.
    assert list(found.typed.values()) == ["card"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("how much has Ovar paid us by bear", {}),
        ("how much has Ovar paid us by card", {"hidden": 1}),
        ("how much has Ovar paid us by card", {"kinds": ("card",)}),
        ("how much has Ovar paid us by card", {"reads_kinds": True}),
    ],
)
def test_it_is_none_where_two_are_called_so_or_it_is_hidden_or_a_kind(text: str, options: dict[str, Any]) -> None:
    found = read(text, **options)
    assert found.words == {}
    assert found.with_words() is found
