"""Common words of questions are counted, names and rare words are not, and what was replaced is listed."""

from __future__ import annotations

from collections import Counter

from evaluation.attacks.common_words import Kept, common_words, markdown


def test_names_rare_words_and_capitals_inside_are_left_out() -> None:
    text = "What films did Quillmore star in, say porphyria"
    assert common_words(text, ["dark star"]) == ["what", "films", "did", "in", "say"]


def test_small_words_inside_a_title_belong_to_it() -> None:
    assert common_words("I like The Old Man and the Sea and the story", []) == ["i", "like", "and", "the", "story"]
    assert common_words("by the way could he", []) == ["by", "the", "way", "could", "he"]


def test_more_than_two_in_a_hundred_words_miss_the_bound_and_stand_in_the_list() -> None:
    kept, lost = (Kept("MetaQA", 10, 100, Counter(found)) for found in ({"film": 2}, {"film": 2, "star": 1}))
    assert kept.passed
    assert not lost.passed
    assert not Kept("MetaQA", 0, 0, Counter()).passed
    assert "film 2, star 1" in markdown([lost])
