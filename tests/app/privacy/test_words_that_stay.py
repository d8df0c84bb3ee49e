"""Common words that are a part of somebody's name: where they name nobody, and where they do."""

from __future__ import annotations

import json

import pytest

from app.egress.guard import Guard, StaticSegments
from app.privacy.anonymiser import Anonymiser
from app.privacy.pseudonyms import PseudonymTable, shaped_in
from app.privacy.safe_text import Egress, Segment
from app.privacy.words.lexicon import Lexicon
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind
from kg_store.text.english import PublicWords
from tests.support.clinic import dialogue, members

CITY = "Zorbograd"
PARTS = ("Good Zorbon", "Once Zorbon", "Anyone Zorbon", "Sir Zorbon", "Father Zorbon", "Zorbon Died", "Heard Zorbon")
PUBLIC = PublicWords.of(["time zone", "place of birth", "person"])
NAMES = NameIndex.build(
    NameEntry(mid, name, "name", None, True, True) for mid, name in enumerate((CITY, *PARTS), start=1)
).with_public(PUBLIC)
LEXICON = Lexicon(PUBLIC, NameWords.of(VaultRecord(NodeKind.ENTITY, (name,)) for name in PARTS))
ANONYMISER = Anonymiser(EntityLinker(NAMES), NAMES, LEXICON)
GUARD = Guard(NAMES, StaticSegments(), LEXICON)


def safe(text: str) -> str:
    table = PseudonymTable.new()
    left = ANONYMISER.anonymise(dialogue(text), table, lambda word: members(table, word)).dialogue.question
    GUARD.clear(
        Egress((Segment(json.dumps({"question": left}).encode()),)), frozenset(w.word for w in shaped_in(left))
    )
    return left


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("was she in zorbograd once", "once"),
        ("does she know anyone in zorbograd", "anyone"),
        ("that sounds good in zorbograd", "good"),
        ("where was sir zorbograd born", "sir"),
        ("when was father zorbograd born", "father"),
        ("where did zorbograd died", "died"),
        ("she heard of zorbograd", "heard"),
    ],
)
def test_a_word_stays_where_it_names_nobody(text: str, word: str) -> None:
    assert word in safe(text).split()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("was it treated by Once in zorbograd", "Once"),
        ('does she know "anyone" in zorbograd', "anyone"),
        ("does good live in zorbograd", "good"),
        ("who treats good", "good"),
        ("was she treated by father", "father"),
        ("who treats Heard in zorbograd", "Heard"),
    ],
)
def test_the_same_word_goes_where_it_names_somebody(text: str, word: str) -> None:
    assert word not in safe(text).replace('"', " ").split()
