"""Sets without names: nothing else is touched, one name keeps one identifier, and half of the dialogues are drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.privacy.pseudonyms import is_shaped
from evaluation.dialogue.anonymised import (
    ANONYMISED,
    PLAIN,
    Anonymiser,
    DialogueVariant,
    pseudonyms,
    replacing,
    typed_identifiers,
    types_of,
)
from evaluation.dialogue.dialogue_sets import DialogueTurn

NAMES = {"Rose": "P1", "Rose Bradol": "P2", "New York": "C1", "New York Times": "O1", "Dr. No": "F1", "Year P1": "F2"}


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("Rose walks in Rosewood.", "P1 walks in Rosewood."),
        ("Rosewood, Primrose and rose", "Rosewood, Primrose and P1"),
        ("Rose Bradol and Rose", "P2 and P1"),
        ("rose\n bradol's book", "P2's book"),
        ("The New York Times of New York", "The O1 of C1"),
        ("Anne-Rose, Rose-Marie and O'Rose", "Anne-Rose, Rose-Marie and O'Rose"),
        ('a Rose-coloured (Rose) "Rose"', 'a P1-coloured (P1) "P1"'),
        ("Dr. No?", "F1?"),
        ("Rosé and Rose1 and _Rose", "Rosé and Rose1 and _Rose"),
        ("Year Rose", "Year P1"),
        ("Year P1", "F2"),
    ],
)
def test_whole_names_are_replaced_and_nothing_else(text: str, replaced: str) -> None:
    assert replacing(NAMES)(text) == replaced


def test_letters_that_only_a_pattern_takes_for_the_same_are_replaced_too() -> None:
    assert replacing({"Roſe": "P1", "\u212aing": "P2"})("rose, ROSE and king") == "P1, P1 and P2"


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.just("Q"), max_size=4), st.text(max_size=40))
def test_any_names_in_any_text_end_in_a_text(names: dict[str, str], text: str) -> None:
    replaced = replacing(names)
    assert isinstance(replaced(f"{text} {' '.join(names)} {text}"), str)
    for name in names:
        if name.strip():
            assert replaced(f"a {name} b") != f"a {name} b" or name.strip() == "Q" or not _stands(name)


def _stands(name: str) -> bool:
    """True where no character of the text around can belong to the name."""
    return name.strip().isalnum() and name.strip().isascii()


WROTE, STARS = ("Wexdol", "written by", "Rose Bradol"), ("Wexdol", "starred actors", "Narvost")


TYPED, HALF = DialogueVariant("anonymised", "typed"), DialogueVariant("half-anonymised", "typed")


def turn(name: str, dialogue: str, said: str) -> DialogueTurn:
    return DialogueTurn(name, dialogue, (("user", said),), (STARS,), "Narvost is in wexdol.", (WROTE,))


def test_kinds_come_from_relations_and_the_narrower_one_wins() -> None:
    assert types_of([WROTE, STARS]) == {"Wexdol": "Film", "Rose Bradol": "Person", "Narvost": "Person"}
    assert types_of([WROTE])["Wexdol"] == "Work"
    assert types_of([("A", "unheard of", "B")]) == {"A": "Thing", "B": "Thing"}
    assert typed_identifiers(["a", "b", "c"], {"a": "Film", "c": "Film"}) == {
        "a": "Film1",
        "b": "Thing1",
        "c": "Film2",
    }


def test_pseudonyms_look_like_those_of_the_service_and_can_be_drawn_again() -> None:
    names = [f"name {at}" for at in range(50)]
    words = pseudonyms(names, "1")
    assert all(is_shaped(word) for word in words.values())
    assert len(set(words.values())) == 50
    assert pseudonyms(names, "1") == words != pseudonyms(names, "2")


def test_typed_names_stand_in_the_history_the_triples_and_the_reply() -> None:
    (found,) = Anonymiser().variant(TYPED, [turn("1", "d", "Who of Rosewood wrote WEXDOL, Rose Bradol?")])
    assert found.history == (("user", "Who of Rosewood wrote Film1, Person2?"),)
    assert found.so_far == (("Film1", "written by", "Person2"),)
    assert (found.gold, found.reply) == ((("Film1", "starred actors", "Person1"),), "Person1 is in Film1.")
    assert not found.concepts


def test_pseudonyms_are_told_with_their_concepts_and_differ_from_dialogue_to_dialogue() -> None:
    turns = [turn("1", "d", "Wexdol"), turn("2", "d", "Wexdol"), turn("3", "e", "Wexdol")]
    found = Anonymiser().variant(ANONYMISED, turns)
    said = [each.history[0][1] for each in found]
    assert said[0] == said[1] != said[2]
    assert found[0].concepts[said[0]] == "film"
    assert len(found[0].concepts) == 3


def test_names_that_are_in_no_triple_go_too() -> None:
    anonymiser = Anonymiser(find=lambda text: ["Pellquin", "wexdol"] if "Pellquin" in text else [])
    (found,) = anonymiser.variant(TYPED, [turn("1", "d", "Is Pellquin in wexdol?")])
    assert found.history[0][1] == "Is Thing1 in Film1?"
    told = Anonymiser(anonymiser.find, {"pellquin": "Person"})
    (found,) = told.variant(TYPED, [turn("1", "d", "Is Pellquin in wexdol?")])
    assert found.history[0][1] == "Is Person3 in Film1?"


@pytest.mark.parametrize(("variant", "changed"), [(PLAIN, 0), (HALF, 5), (TYPED, 10)])
def test_the_share_of_dialogues_that_are_anonymised(variant: DialogueVariant, changed: int) -> None:
    turns = [turn(f"{dialogue}{at}", str(dialogue), "Wexdol") for dialogue in range(10) for at in range(2)]
    found = Anonymiser().variant(variant, turns)
    assert [each.id for each in found] == [each.id for each in turns]
    different = {each.dialogue for each, before in zip(found, turns, strict=True) if each != before}
    assert len(different) == changed
    assert all((each != before) == (each.dialogue in different) for each, before in zip(found, turns, strict=True))
    assert found == Anonymiser().variant(variant, turns)
