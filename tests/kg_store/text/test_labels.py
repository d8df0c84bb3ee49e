"""Words for predicates and classes: local names, inverse wording, labels that no two relations share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.text.labels import (
    class_word,
    clean,
    distinct_labels,
    inverse_of,
    local_name,
    readable,
    readable_relation,
)


@pytest.mark.parametrize(
    ("iri", "local"),
    [
        ("http://x.test/vocab#takesCareOf", "takesCareOf"),
        ("http://x.test/a%20b/", "a b"),
        ("tag:stardog:demo:aml:Tx-1", "Tx-1"),
        ("urn:uuid:5ca80b84", "5ca80b84"),
        ("mailto:dean@w3.test", "dean@w3.test"),
        ("http://www.w3.test/", "www.w3.test"),
    ],
)
def test_the_local_name_is_the_last_part(iri: str, local: str) -> None:
    assert local_name(iri) == local


@pytest.mark.parametrize(
    ("predicate", "is_iri", "words"),
    [
        ("https://example.org/vocabulary/takesCareOf", True, "takes care of"),
        ("http://x.test/hasURL", True, "has url"),
        ("people.person.place_of_birth", False, "people.person.place of birth"),
        ("spouse (or domestic partner)", False, "spouse or domestic partner"),
        ('a "b" | c', False, "a b c"),
        # An abbreviation and its plural stay one word.
        ("http://x.test/hasISSNs", True, "has issns"),
        ("http://x.test/OrderIDs", True, "order ids"),
        ("http://x.test/parseHTMLText", True, "parse html text"),
    ],
)
def test_a_relation_without_a_label_is_made_readable(predicate: str, is_iri: bool, words: str) -> None:
    assert readable_relation(predicate, is_iri) == words


@pytest.mark.parametrize(
    ("label", "inverse"),
    [
        ("directed by", "directs"),
        ("spouse", "spouse of"),
        ("takes care of", "taken care of by"),
        ("part of", "has part"),
        ("employs", "employed by"),
        ("lives at", "home of"),
        ("supervised by", "supervises"),
        ("married to", "married to"),
        ("plays in", "played in by"),
        ("related to", "related to"),
        ("a.b.", "a.b. inverse"),
        ("people.person.place of birth", "people.person.place of birth of"),
        ("film.film.directed by", "film.film.directs"),
        ("children", "children of"),
    ],
)
def test_a_label_has_inverse_words(label: str, inverse: str) -> None:
    assert inverse_of(label) == inverse


@pytest.mark.parametrize(
    ("predicates", "expected"),
    [
        (
            ["http://purl.org/dc/elements/1.1/title", "http://xmlns.com/foaf/0.1/title"],
            ["elements title", "foaf title"],
        ),
        (["starred_actors", "starred actors"], ["starred_actors", "starred actors"]),
        (["http://a.test/v1/x", "http://b.test/v2/x"], ["a.test x", "b.test x"]),
        (["http://a.test/x", "http://a.test/y#x"], ["a.test x", "y x"]),
    ],
)
def test_relations_that_share_a_label_are_told_apart(predicates: list[str], expected: list[str]) -> None:
    same = [readable(local_name(each)) if "/" in each else "starred actors" for each in predicates]
    assert distinct_labels(same, predicates) == expected


@given(st.lists(st.tuples(st.sampled_from(["a", "A", "b", "a 2", "n a"]), st.sampled_from(["http://n/x", "a", "a_"]))))
def test_labels_are_always_distinct(pairs: list[tuple[str, str]]) -> None:
    labels = distinct_labels([label for label, _ in pairs], [predicate for _, predicate in pairs])
    assert len({label.casefold() for label in labels}) == len(pairs)


@given(st.text())
def test_a_clean_label_holds_nothing_that_expressions_use(text: str) -> None:
    label = clean(text)
    assert not set('"()|^\n') & set(label)
    assert len(label) <= 80


def test_a_class_is_its_short_label_or_its_local_name() -> None:
    labels = {
        "http://x.test/Ward": "Ward",
        "http://x.test/Icu": "The ward where people are watched",
        "http://x.test/M": "MRI scan",
    }
    words = [class_word(iri, labels) for iri in (*labels, "http://x.test/BankAccount")]
    assert words == ["ward", "icu", "MRI scan", "bank account"]
