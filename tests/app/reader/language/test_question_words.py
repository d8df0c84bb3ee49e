"""A question as the words on the way from its topic outwards, and the ways to word a relation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.reader.language.question_words import content_words, reading_orders
from app.reader.language.relation_wording import hop_words, voice_of
from kg_store.text.labels import readable_step, typed_step
from kg_store.text.words import is_pseudonym


def test_neighbours_are_spans_in_reading_order_and_pseudonyms_break_them() -> None:
    texts = {span.text for span in reading_orders("the place of birth of Ez9y8x spouse Eq7f2k", "Eq7f2k")[0].spans}
    assert "place of birth" in texts
    assert not any("Ez9y8x" in text for text in texts)


@given(
    st.lists(st.sampled_from("who treats the mother of doctor 's Ez9y8x in lives".split()), max_size=9), st.booleans()
)
def test_every_span_lies_within_the_walked_words(words: list[str], named: bool) -> None:
    for walked in reading_orders(" ".join([*words, "Eq7f2k"] if named else words), "Eq7f2k"):
        assert walked.length == len(walked.is_content)
        for number, span in enumerate(walked.spans):
            assert 0 <= span.start < span.end <= walked.length
            assert (number, span) in list(walked.spans_at(span.start))


def test_content_words_leave_out_grammar_and_pseudonyms() -> None:
    assert content_words("Who is the Mother of Eq7f2k's doctor?") == ["mother", "doctor"]
    assert content_words("who is it") == []


@pytest.mark.parametrize(
    ("word", "is_one"),
    [("Eq7f2k", True), ("Sk3mmd", True), ("Vx81zp", True), ("Elapse", False), ("eq7f2k", False), ("Eq7f2kx", False)],
)
def test_pseudonyms_are_told_from_words(word: str, is_one: bool) -> None:
    assert is_pseudonym(word) is is_one


def test_a_label_is_worded_by_its_last_part_and_its_kind() -> None:
    words = hop_words("has admission|admitted to", "ward")
    assert words.relation[0] == "admitted to"
    assert words.reached == ("ward admitted to",)
    assert (words.kinds, words.inverse) == (("ward",), False)


def test_a_relation_read_backwards_says_so() -> None:
    backwards = hop_words("^treated by", "patient")
    assert backwards.inverse
    assert all("^" not in text for text in (*backwards.relation, *backwards.reached))


@pytest.mark.parametrize(
    ("relation", "verbs"),
    [
        ("directed by", {"direct"}),
        ("featured singers", {"feature", "sing"}),
        ("screenwriter", {"write"}),
        ("lives in", {"live"}),
        ("date of birth", set()),
    ],
)
def test_what_is_done_to_whom_a_relation_leads(relation: str, verbs: set[str]) -> None:
    assert verbs <= hop_words(relation, "thing").verbs
    assert hop_words(relation, "thing").verbs == hop_words(f"^{relation}", "thing").verbs
    assert bool(verbs) == bool(hop_words(relation, "thing").verbs)


@pytest.mark.parametrize(
    ("relation", "voice"),
    [("directed by", "passive"), ("lives in", "active"), ("born in", "active"), ("treats", "active"),
     ("spouse", "noun"), ("parents", "noun"), ("has genre", "noun"), ("release year", "noun")],
)  # fmt: skip
def test_what_a_relation_says_of_what_it_leaves(relation: str, voice: str) -> None:
    assert voice_of(relation) == voice


def test_everyday_words_stand_for_common_relations() -> None:
    assert "born in" in hop_words("place of birth", "city").relation
    assert "husband" in hop_words("spouse", "person").relation
    assert hop_words("frobnicates", "thing").relation == ("frobnicates",)


def test_hints_say_less_than_words_and_are_none() -> None:
    words = hop_words("salary (wage, ~envelope)", "number")
    assert (words.further, words.hints) == (("wage",), ("envelope",))
    assert not any("envelope" in text for text in words.relation)


def test_freebase_labels_are_read_by_their_last_part() -> None:
    assert readable_step("^people.person.place of birth") == "place of birth"
    assert readable_step("^people.marriage|people.spouse") == "marriage spouse"
    assert typed_step("people.person.place of birth") == "person place of birth"
    assert typed_step("^people.marriage.spouse|people.marriage.from") == "marriage spouse from"
