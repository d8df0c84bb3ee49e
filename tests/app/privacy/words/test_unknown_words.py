from __future__ import annotations

import pytest

from app.privacy.words.grammar import Stand
from app.privacy.words.lexicon import Lexicon
from app.privacy.words.unknown_words import is_public_word, unknown_spans
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind
from kg_store.text.english import PublicWords

MUST = [
    ("Tell me about Zorbon.", ["Zorbon"]),
    ("tell me about Zorbon's wife", ["Zorbon"]),
    ("about Zorbon’s wife", ["Zorbon"]),
    ("Zorbon is a doctor", ["Zorbon"]),
    ("who is Zed Quux?", ["Zed Quux"]),
    ("who is Ludwig van Zorb?", ["Ludwig van Zorb"]),
    ("who is J. R. Zorb?", ["J. R. Zorb"]),
    ("who is Dr. Hope Grant?", ["Dr. Hope Grant"]),
    ("who is Jean-Luc Zorb?", ["Jean-Luc Zorb"]),
    ("who is O'Zorban?", ["O'Zorban"]),
    ("who is McZorb?", ["McZorb"]),
    ("my iZorb is old", ["iZorb"]),
    ("is Mary Hope in?", ["Mary Hope"]),
    ("is Mark Bush in?", ["Mark Bush"]),
    ("the University of Zorbia treats", ["University of Zorbia"]),
    ("Zed and Quux", ["Zed", "Quux"]),
    ("Zed's Quux", ["Zed", "Quux"]),
    ("Zed, Quux", ["Zed", "Quux"]),
    ("who is Иван Петров?", ["Иван Петров"]),
    ("who is Ζορμπάς?", ["Ζορμπάς"]),
    ("who is Zo\u0308rbon?", ["Zo\u0308rbon"]),
    ("who is \uff3aorbon?", ["\uff3aorbon"]),
    ('the "Zorbon" drug', ["Zorbon"]),
    ("(Zorbon)", ["Zorbon"]),
    ("WHO TREATED ZORBON WITH THIS", ["ZORBON"]),
    ("Which Patients Were Treated With Zorbon", ["Zorbon"]),
    ("He met me.\nZorbon came", ["Zorbon"]),
    ("List: Zorbon", ["Zorbon"]),
    ("we met Zedd. Hope is public", ["Zedd"]),
    ("we asked Prof. Hope Grant", ["Prof. Hope Grant"]),
    ("on Monday that patient", ["Monday"]),
    ("hello zorbon", ["zorbon"]),
    ("mr smith and müller's ward", ["smith", "müller"]),
    ("öztürk'ün ward, dell'inverarity", ["öztürk'ün", "dell'inverarity"]),
    ("is xu in? b12 is", ["xu", "b12"]),
]
MUST_NOT = [
    "Which patients were treated in the ward?",
    "I know. The ward was open! Who is it? What's that: Whose is this",
    "I think I'm in the ward and I've seen it",
    "WHICH PATIENTS WERE BORN",
    "Which Patients Were Born By That",
    "Date of Birth",
    "the Date of Birth of the patient",
    "Compare the two",
    "Treated patients, citing the ward",
    "- List the patients\n- Name the ward",
    "Don't they? Didn't they? Couldn't they? They're in",
    "",
    "?!",
    "A patient's ward",
]


@pytest.mark.parametrize(("text", "names"), MUST)
def test_is_taken_for_a_name(text: str, names: list[str], public: PublicWords) -> None:
    assert [text[start:end] for start, end in unknown_spans(text, [], Lexicon(public, NameWords()))] == names


@pytest.mark.parametrize("text", MUST_NOT)
def test_is_no_name(text: str, public: PublicWords) -> None:
    assert unknown_spans(text, [], Lexicon(public, NameWords())) == []


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("who is Hope Zorbon Grant here", ["Grant"]),
        ("who is Will Zorbon", ["Will"]),
        ("who is Zorbon-Field", ["Field"]),
        ("who is President Zorbon", []),
        ("who is with Zorbon. Will he come", []),
        ("who is Zorbon and Field", []),
    ],
)
def test_a_public_word_right_beside_a_name_goes_where_it_may_be_one(
    text: str, gone: list[str], public: PublicWords
) -> None:
    at = text.index("Zorbon")
    assert [
        text[start:end] for start, end in unknown_spans(text, [(at, at + 6, Stand.NAME)], Lexicon(public, NameWords()))
    ] == gone


NAMES = (
    "Jane Banks",
    "Hope Field",
    "Will Rose",
    "Ines White",
    "Bill Price",
    "Love",
    "Star",
    "Cross",
    "Don Didn",
    "Great Right",
)
SPOKEN_FOR = [
    ("does field live here", ["field"]),
    ("is banks in?", ["banks"]),
    ("where does price work", ["price"]),
    ("who treats cross?", ["cross"]),
    ("a diagnosis of cross, please", ["cross"]),
    ("mr field has left", ["field"]),
    ("Dr. Cross called", ["Cross"]),
    ("Field works where?", ["Field"]),
    ("Banks has a dog", ["Banks"]),
    ("this is it:\n- field\n- ward", ["field"]),
    ("(field) was in", ["field"]),
    ("field's ward", ["field"]),
    ("does zorbon field live here", ["zorbon", "field"]),
    ("where was will born", ["will"]),
    ("tell me about will", ["will"]),
    ("compare zorbon and field", ["zorbon", "field"]),
    ("hope field is in", ["hope field"]),
    ("which Star is it", ["Star"]),
]
PLAIN = [
    "what is the price of the field?",
    "I hope that prices fell",
    "list all patients with a star or a cross",
    "is the field large?",
    "Fields with a cross are large",
    "Compare the white patients",
    "White patients with a long bill",
    "when will the patient see a doctor who may help",
    "what music did they love",
    "I don't know, they didn't say",
    "Great , which ward is it, right?",
]


@pytest.mark.parametrize(("text", "gone"), SPOKEN_FOR)
def test_a_common_word_that_is_a_part_of_a_name_goes_where_the_sentence_speaks_for_a_name(
    text: str, gone: list[str], public: PublicWords
) -> None:
    assert [text[start:end] for start, end in unknown_spans(text, [], lexicon_of(public))] == gone


@pytest.mark.parametrize("text", PLAIN)
def test_such_a_word_stays_where_a_common_noun_stands(text: str, public: PublicWords) -> None:
    assert unknown_spans(text, [], lexicon_of(public)) == []


def lexicon_of(public: PublicWords) -> Lexicon:
    return Lexicon(public, NameWords.of(VaultRecord(NodeKind.ENTITY, (name,)) for name in NAMES))


@pytest.mark.parametrize("word", ["rоse", "zоrbon", "ᴢᴏʀʙᴏɴ", "αnna"])
def test_a_word_of_letters_that_only_look_alike_goes(word: str, public: PublicWords) -> None:
    text = f"who is {word} here"
    assert [text[start:end] for start, end in unknown_spans(text, [], Lexicon(public, NameWords()))] == [word]


@pytest.mark.parametrize("word", ["patient", "patients", "treated", "stopped", "ladies", "moved", "moving", "who's"])
def test_forms_of_public_words_are_public(word: str, public: PublicWords) -> None:
    assert is_public_word(word, public)


@pytest.mark.parametrize("word", ["Zorbons", "Zed", "O'Neill", "its", "Ing"])
def test_other_words_are_public_only_when_listed(word: str, public: PublicWords) -> None:
    assert is_public_word(word, public) == (word == "its")
