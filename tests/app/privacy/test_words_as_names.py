"""Everyday words that are replaced because names have them, read for a model as the things that are called so."""

from __future__ import annotations

import pytest

from app.privacy.anonymised import Anonymised
from app.privacy.anonymiser import Anonymiser
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.words.lexicon import Lexicon
from client_sdk.protocol import Message
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind, as_mids
from kg_store.text.english import PublicWords
from tests.app.privacy.test_kinds_reading import counts

PUBLIC = PublicWords.of(["paid by"])
NAMES = {1: "Card", 2: "Ovar", 3: "Bear", 4: "Bear"}
INDEX = NameIndex.build([NameEntry(mid, name, "name", None, True, True) for mid, name in NAMES.items()])
WORDS = NameWords.of(VaultRecord(NodeKind.ENTITY, (name,)) for name in NAMES.values())


def read(text: str, *, hidden: int = 0, kinds: tuple[str, ...] = (), reads_kinds: bool = False) -> Anonymised:
    index = INDEX.with_public(PUBLIC)
    anonymiser = Anonymiser(
        EntityLinker(index, counts), index, Lexicon(PUBLIC, WORDS), kinds=kinds,
        holds=lambda mids: tuple(mid for mid in mids if mid != hidden),
        is_concept=(lambda _noun: True) if reads_kinds else None,
    )  # fmt: skip
    table = PseudonymTable.new()
    return anonymiser.anonymise(
        [Message(role="user", content=text)],
        table,
        lambda word: as_mids(table.meaning(word).mids),  # type: ignore[union-attr]
    )


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
def test_it_is_none_where_two_are_called_so_or_it_is_hidden_or_a_kind(text: str, options: dict[str, object]) -> None:
    found = read(text, **options)  # type: ignore[arg-type]
    assert found.words == {}
    assert found.with_words() is found
