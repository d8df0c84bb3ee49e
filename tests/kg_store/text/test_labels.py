"""Words for predicates and classes: local names, inverse wording, labels that no two relations share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kg_store.text.labels import (
    class_word,
    clean,
    distinct_labels,
    plain_words,
)


@given(st.lists(st.tuples(st.sampled_from(["a", "A", "b", "a 2", "n a"]), st.sampled_from(["http://n/x", "a", "a_"]))))
def test_labels_are_always_distinct(pairs: list[tuple[str, str]]) -> None:
    labels = distinct_labels([label for label, _ in pairs], [predicate for _, predicate in pairs])
    assert len({label.casefold() for label in labels}) == len(pairs)


@given(st.text())
def test_a_clean_label_holds_nothing_that_expressions_use(text: str) -> None:
    label = clean(text)
    assert not set('"()|^\n') & set(label)
    assert len(label) <= 80


def test_a_label_holds_no_symbol_that_the_guard_would_stop() -> None:
    assert clean("survives down to °C") == "survives down to C"


def test_the_unit_of_a_label_goes_with_its_preposition() -> None:
    labels = ("dose in mg", "rent cap in eur per sqm", "launched in")
    assert [*map(plain_words, labels)] == ["dose", "rent cap", "launched in"]


def test_a_class_is_its_short_label_or_its_local_name() -> None:
    labels = {
        "http://x.test/Ward": "Ward",
        "http://x.test/Icu": "The ward where people are watched",
        "http://x.test/M": "MRI scan",
    }
    words = [class_word(iri, labels) for iri in (*labels, "http://x.test/BankAccount")]
    assert words == ["ward", "icu", "MRI scan", "bank account"]
