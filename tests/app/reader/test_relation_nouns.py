"""Nouns of relations: the words that name what is there, and none where no word does."""

from __future__ import annotations

import pytest

from app.reader.relation_nouns import kind_of, object_noun, subject_noun


@pytest.mark.parametrize(
    ("label", "noun"),
    [
        ("plays in club", "club"),
        ("has_person", "person"),
        ("release year", "year"),
        ("shirt number", "shirt number"),
        ("cvg.cvg platform.games on this platform", "game"),
        ("location.location.people born here", "person"),
        ("managed by", "manager"),
        ("sold to", "buyer"),
        ("takes care of", "patient"),
        ("buyer's solicitor", "solicitor"),
        ("part of series", "series"),
        ("mbox", "mailbox"),
        ("film executive produced", "film"),
    ],
)
def test_a_relation_names_what_it_leads_to(label: str, noun: str) -> None:
    found = object_noun(label)
    assert found is not None
    assert found.word == noun


@pytest.mark.parametrize("label", ["", "is aged", "on loan from", "part of", "viewing of", "see also", "adjoins"])
def test_a_relation_without_a_noun_names_nothing(label: str) -> None:
    assert object_noun(label) is None


@pytest.mark.parametrize(
    ("label", "noun"),
    [
        ("people.person.spouse s", "person"),
        ("book.book subject.works", "subject"),
        ("leader of", "leader"),
        ("first name", "person"),
        ("has attendance", "event"),
    ],
)
def test_a_relation_names_what_has_it(label: str, noun: str) -> None:
    found = subject_noun(label)
    assert found is not None
    assert found.word == noun


@pytest.mark.parametrize("label", ["common.topic.image", "blood type", "takes care of", "part of", "name"])
def test_a_relation_that_anything_may_have_names_nothing(label: str) -> None:
    assert subject_noun(label) is None


def test_who_does_something_may_be_a_group_unless_only_people_do_it() -> None:
    assert [kind_of(word) for word in ("owner", "brewer", "singer", "computer", "phone number", "zorblat")] == [
        "agent", "agent", "person", "computer", "phone number", "zorblat",
    ]  # fmt: skip
