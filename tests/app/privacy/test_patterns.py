from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.privacy.patterns import PatternKind, find_patterns

K = PatternKind


def test_a_national_number_of_another_region_is_a_phone_where_the_region_is_asked_for() -> None:
    assert [span.kind for span in find_patterns("044 668 18 00", ["CH"])] == [K.PHONE]
    assert K.PHONE not in [span.kind for span in find_patterns("044 668 18 00", [])]


@given(st.text(alphabet="aA1b2.-/ :@+()\n%x", max_size=200))
def test_spans_lie_in_the_text_in_order_and_apart(text: str) -> None:
    spans = find_patterns(text)
    edges = [edge for span in spans for edge in (span.start, span.end)]
    assert edges == sorted(edges)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("piece", ["a", "1-", ":", ".", "a.", "@", "a@", "+1", "a:b", "AB12 ", "(1", "1 ", "a'"])
def test_long_texts_of_one_piece_are_read_to_their_end(piece: str) -> None:
    # Patterns without look-behind or bounds would need minutes here.
    find_patterns(piece * (8_000 // len(piece)))
