from __future__ import annotations

import re

import pytest

from kg_store.text.normalise import MARKS, is_letters


@pytest.mark.parametrize("word", ["Rose", "खन्ना", "แก้วมณี", "x\u0308y", "עַל"])
def test_marks_belong_to_letters(word: str) -> None:
    assert is_letters(word)
    assert re.fullmatch(rf"[^\W\d_][\w{MARKS}]*", word)


@pytest.mark.parametrize("word", ["", "a1", "a b", "\u0308x", "a-b", "7"])
def test_other_characters_are_no_letters(word: str) -> None:
    assert not is_letters(word)
