"""The input of the extractor's network: words with the vectors of their pieces, and marks by the known end."""

from __future__ import annotations

import numpy as np
import pytest

from app.extractor.features import Words, marks_of, mentions_of, relation_words, words_of


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
