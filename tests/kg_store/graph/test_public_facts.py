"""A public graph is found by the words of a text, in any of their forms."""

from __future__ import annotations

from kg_store.graph.public_facts import PublicFacts

FACTS = PublicFacts.of(
    [
        ("vase", "AtLocation", "table"),
        ("flower", "AtLocation", "vase"),
        ("play tennis", "IsA", "game"),
        ("the", "IsA", "word"),
        ("vase", "AtLocation", "table"),
    ]
)


def said(text: str) -> list[str]:
    return [FACTS.phrases[term] for term in FACTS.terms_in(text)]


def test_a_fact_that_is_given_twice_is_one() -> None:
    assert len(FACTS) == 4


def test_relations_are_put_in_words() -> None:
    assert FACTS.fact(1) == ("flower", "at location", "vase")
    assert FACTS.fact(1).text == "flower at location vase"


def test_terms_are_found_in_every_form_of_their_words() -> None:
    assert said("They played tennis beside two Vases.") == ["play tennis", "vase"]


def test_the_most_frequent_words_are_no_terms() -> None:
    assert said("the 7 a") == []


def test_the_facts_at_a_term_are_those_of_both_ends() -> None:
    vase = FACTS.terms_of("vases")
    assert FACTS.facts_at(vase).tolist() == [0, 1]
    assert FACTS.facts_at([]).tolist() == []
    assert FACTS.terms_of("teapot") == ()
