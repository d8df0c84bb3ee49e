"""Marks speak for a name: quotes around several words, two letters alone, the rest of a name beside it."""

from __future__ import annotations

import pytest

from app.privacy.words.lexicon import Lexicon
from app.privacy.words.unknown_words import unknown_spans
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind
from kg_store.text.english import PublicWords

NAMES = ("Brackwede Lakeside Clinic", "Saint Fields Hospital", "Charles I Duke of Burgundy", "Ma", "Clinic of Up")
PUBLIC = PublicWords.of(["clinic", "hospital", "patient", "treated by"])
LEXICON = Lexicon(
    PUBLIC,
    NameWords.of(VaultRecord(NodeKind.ENTITY, (name,)) for name in NAMES),
    frozenset(("clinic", "hospital", "patient")),
)


def gone(text: str) -> str:
    """The words of `text` that are replaced."""
    return " ".join(text[start:end] for start, end in unknown_spans(text, [], LEXICON))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("name: clinic lakeside brackwede", "clinic lakeside brackwede"),
        ("monsieur fields hospital attend", "fields hospital"),
        ("where is the clinic lakeside brackwede", "clinic lakeside brackwede"),
        ('"charles i duke of burgundy" called', "charles duke burgundy"),
        ("did (charles, duke of burgundy) call", "charles duke burgundy"),
        ("wie alt ist die patientin? sie heißt fields", "fields"),
        ("la paciente se llama fields", "fields"),
        ("gdzie mieszka (ma)", "ma"),
        ("- MA\n- gli altri\nChi è assicurato?", "MA"),
        ("chi è MA, e dove abita con gli altri", "MA"),
    ],
)
def test_marked_parts_of_names_go(text: str, names: str) -> None:
    assert set(names.split()) <= set(gone(text).split())


@pytest.mark.parametrize(
    "text",
    [
        "which patients of a clinic were treated in a hospital",
        "is the clinic larger than the hospital?",
        'what does "patient treated by" say',
        "it is up to them (or to us)",
        "the duke of the fields",
    ],
)
def test_everyday_words_and_the_schema_stay_where_nothing_speaks_for_a_name(text: str) -> None:
    assert gone(text) == ""


def test_a_conjunction_of_two_letters_stays_where_it_joins() -> None:
    assert "ma" not in gone("dove abita questo paziente, ma non con gli altri della clinica").split()
