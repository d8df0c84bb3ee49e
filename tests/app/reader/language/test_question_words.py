"""A question as the words on the way from its topic outwards, and the ways to word a relation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.reader.language.question_words import has_words, reading_orders, words_in
from app.reader.language.relation_wording import hop_words
from app.reader.meaning.question import one_question as question
from app.reader.meaning.question.one_question import one_question


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


def test_a_label_is_worded_by_its_last_part_and_its_kind() -> None:
    words = hop_words("has admission|admitted to", "ward")
    assert words.relation[0] == "admitted to"
    assert words.reached == ("ward admitted to",)
    assert (words.kinds, words.inverse) == (("ward",), False)


def test_a_relation_read_backwards_says_so() -> None:
    backwards = hop_words("^treated by", "patient")
    assert backwards.inverse
    assert all("^" not in text for text in (*backwards.relation, *backwards.reached))


def test_everyday_words_stand_for_common_relations() -> None:
    assert "born in" in hop_words("place of birth", "city").relation
    assert "husband" in hop_words("spouse", "person").relation
    assert hop_words("frobnicates", "thing").relation == ("frobnicates",)


def test_hints_say_less_than_words_and_are_none() -> None:
    words = hop_words("salary (wage, ~envelope)", "number")
    assert (words.further, words.hints) == (("wage",), ("envelope",))
    assert not any("envelope" in text for text in words.relation)


@pytest.mark.parametrize("text", ["", "?! 12 _", "’s", "it’s", "Eq7f2k", "éa 1", "’"])
def test_a_word_is_found_where_words_are(text: str) -> None:
    assert has_words(text) == bool(words_in(text))


def test_a_thousand_greetings_are_not_read_as_words_once_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()
    monkeypatch.setattr(question, "words_in", lambda text: read.append(text) or words_in(text))
    assert one_question("so " * 1_000 + "where is Bo?") == "where is Bo?"
    assert len(read) < 10
