"""The input of the extractor's network: words with the vectors of their pieces, and marks by the known end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from app.extractor.features import SpanFeatureMaker, Words, marks_of, mentions_of, relation_words, words_of
from app.llm.embeddings.embedder import Embedder


@dataclass(frozen=True, slots=True)
class Asked:
    context: str
    known: str
    relation: str
    unknown_is_head: bool


def words(text: str) -> Words:
    """Each letter is a piece, but for blanks."""
    places = [(at, at + 1) for at, letter in enumerate(text) if letter != " "]
    spans = np.array([(0, 0), *places, (0, 0)])
    return words_of(text, np.ones((len(spans), 2), np.float32), spans)


@pytest.mark.parametrize(
    ("relation", "read"),
    [
        ("film.film.directed_by", "directed by"),
        ("~Directed-By", "directed by"),
        ("place of birth", "place of birth"),
        ("", ""),
    ],
)
def test_a_relation_is_read_by_its_words_however_it_is_written(relation: str, read: str) -> None:
    assert relation_words(relation) == read


def test_a_word_has_the_mean_of_its_pieces_and_what_was_cut_off_is_left_out() -> None:
    places = np.array([(0, 0), (0, 2), (2, 4), (5, 6), (0, 0)])
    found = words_of("Eq7f is far", np.array([[9], [1], [3], [5], [9]], np.float32), places)
    assert found.texts == ("Eq7f", "is")
    assert found.spans == ((0, 4), (5, 7))
    assert found.vectors[:, 0].tolist() == [2, 5]
    assert found.whole.tolist() == [9]


def test_the_known_end_is_found_in_whole_else_in_part() -> None:
    text = "Tom Hanks met Hanks and hanks."
    assert list(mentions_of(words(text), text, "tom hanks")) == [(0, 2, True)]
    text = "Hanks met Rose of Rosewood."
    assert list(mentions_of(words(text), text, "Tom Hanks")) == [(0, 1, False)]
    assert list(mentions_of(words(text), text, "Wood")) == []


def test_marks_tell_the_known_end_its_sentence_and_the_words_of_the_relation() -> None:
    text = "It rains. Titanic was directed by Eq7f2k."
    found = words(text)
    marks = marks_of(found, text, "Titanic", "director")
    texts = found.texts
    assert [texts[at] for at in np.flatnonzero(marks[:, 0])] == ["Titanic"]
    assert [texts[at] for at in np.flatnonzero(marks[:, 7])] == ["directed"]
    assert [texts[at] for at in np.flatnonzero(marks[:, 6])] == ["Eq7f2k"]
    assert [texts[at] for at in np.flatnonzero(marks[:, 9])] == ["Titanic", "was", "directed", "by", "Eq7f2k", "."]
    near = marks[:, 12]
    assert near[texts.index("Titanic")] == 1 > near[texts.index("was")] > near[texts.index("by")] > near[0] == 0


def test_questions_of_one_text_share_its_words(embedder: Embedder) -> None:
    text = "Titanic was directed by Eq7f2k."
    maker = SpanFeatureMaker(embedder)
    first, second = maker.make([Asked(text, "Titanic", "directed by", False), Asked(text, "Eq7f2k", "x.y_z", True)])
    assert first.context is second.context
    assert first.context.texts == ("Titanic", "was", "directed", "by", "Eq7f2k", ".")
    assert len(first.relation) == 2
    assert second.unknown_is_head
    assert not np.array_equal(first.known, second.known)
