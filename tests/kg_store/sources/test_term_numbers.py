"""Terms are numbered with arrays as a dictionary would number them, however long and however many they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.errors import LoadError
from kg_store.sources.term_numbers import TermNumbers, collect

LENGTHS = st.integers(1, 40) | st.sampled_from([255, 256, 257, 600])
TERMS = st.builds(lambda letter, length: letter * length, st.sampled_from("abé\ud800"), LENGTHS) | st.text(min_size=1)


def numbered(batches: list[list[str]]) -> tuple[list[int], list[str]]:
    """Returns the numbers that a dictionary gives to the terms of all batches, and the terms by number."""
    index: dict[str, int] = {}
    return [index.setdefault(term, len(index)) for batch in batches for term in batch], list(index)


@given(st.lists(st.lists(TERMS, max_size=12), max_size=4))
def test_terms_get_the_numbers_that_a_dictionary_gives(batches: list[list[str]]) -> None:
    numbers = TermNumbers()
    found = [number for batch in batches for number in numbers.of_texts(batch).tolist()]
    assert (found, numbers.terms) == numbered(batches)


def test_more_terms_than_the_first_table_has_slots_keep_their_numbers() -> None:
    numbers, terms = TermNumbers(), [f"<http://x.test/{at}>" for at in range(100_000)]
    for start in range(0, len(terms), 10_000):
        numbers.of_texts(terms[start : start + 10_000])
    assert numbers.terms == terms
    assert np.array_equal(numbers.of_texts(terms), np.arange(len(terms)))


@pytest.mark.parametrize("others", [["<a>", "<b>"], ["<a>", "<a >"], ["a" * 300, "b" * 300]])
def test_two_terms_of_one_hash_are_refused(others: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TermNumbers, "_hashed", lambda _self, places: np.zeros(len(places.order), dtype=np.uint64))
    numbers = TermNumbers()
    numbers.of_texts(others[:1] * 2)
    with pytest.raises(LoadError, match="same hash"):
        numbers.of_texts(others)


def test_two_loads_hash_a_term_in_different_ways() -> None:
    hashes = []
    for numbers in (TermNumbers(), TermNumbers()):
        numbers.of_texts(["<a>", "a" * 300])
        hashes.append(numbers._hashes[:2].tolist())
    assert not set(hashes[0]) & set(hashes[1])


def test_no_half_of_a_hash_is_alike_for_terms_that_differ_in_one_bit() -> None:
    numbers = TermNumbers()
    numbers.of_texts([f"{chr(1 << bit)}{'x' * at}" for bit in range(7) for at in range(200)])
    hashes = numbers._hashes[: len(numbers.terms)]
    assert len(np.unique(hashes)) == len(hashes)
    assert min(len(np.unique(hashes >> 32)), len(np.unique(hashes & 0xFFFF_FFFF))) >= len(hashes) - 2


def test_triples_of_terms_and_of_numbers_become_one_graph() -> None:
    numbers = TermNumbers()
    done = numbers.of_texts(["<a>", "<b>", "<c>"]).reshape(1, 3)
    raw = collect([done, [("<c>", "<b>", "<d>")]], numbers)
    assert (raw.terms, raw.subjects.tolist(), raw.objects.tolist()) == (["<a>", "<b>", "<c>", "<d>"], [0, 2], [2, 3])
