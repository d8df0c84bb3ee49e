"""Whatever a model invents in a concept path is dropped before it can travel again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.llm.tasks import PathTriple
from app.strategies.concept_path import MAX_TRIPLES, Vocabulary, parse_path
from tests.support.asking import SECRETS, Asked

KNOWN = Vocabulary({"Eq7f2k", "Sk3mmd"}, frozenset("treated by date of birth patient".split()))


def triple(head: str, relation: str, tail: str) -> PathTriple:
    return PathTriple(head=head, relation=relation, tail=tail)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Eq7f2k", "Eq7f2k"),
        ("treated by Dr. Brackwater", "treated by"),
        ("the PATIENT's birth", "PATIENT birth"),
        ("Ez9y8x", ""),
        ("eq7f2k", ""),
        ("Zofia-Quarrel", ""),
        ("date_of_birth: 1961-02-11", "date of birth"),
        ("", ""),
    ],
)
def test_only_known_words_and_pseudonyms_stay(text: str, kept: str) -> None:
    assert KNOWN.keep(text) == kept


@given(st.text(max_size=80))
def test_no_other_word_ever_stays(text: str) -> None:
    allowed = {"eq7f2k", "sk3mmd", "treated", "by", "date", "of", "birth", "patient"}
    assert {word.casefold() for word in KNOWN.keep(text).split()} <= allowed


def test_what_is_left_of_a_triple_is_a_thing_and_one_without_relation_goes() -> None:
    path = [triple("Eq7f2k", "treated by", "Zofia"), triple("Eq7f2k", "adores", "Patient")]
    assert parse_path(path, KNOWN) == [triple("Eq7f2k", "treated by", "thing")]


def test_a_path_has_an_end() -> None:
    assert len(parse_path([triple("Eq7f2k", "treated by", "patient")] * 50, KNOWN)) == MAX_TRIPLES


def test_a_graphs_vocabulary_is_its_schema_and_general_nouns_and_holds_no_name(asked: Asked) -> None:
    words = Vocabulary.of(asked.graph.blind.schema, ["Eq7f2k"])
    for text in ("treated by", "date of birth", "ward", "person", "Eq7f2k", "has admission"):
        assert words.keep(text) == text
    assert words.keep(" ".join(SECRETS)) == ""
