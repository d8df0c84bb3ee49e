"""Questions of several clauses: what they ask for, and what each clause says."""

from __future__ import annotations

import pytest

from app.llm.embedded.language.clauses import Clause, split_clauses

X, Y = "Eq7f2k", "Ez9y8x"


def said(question: str, kind: str = "patient") -> list[tuple[str, bool, bool]]:
    narrowed = split_clauses(question, {X, Y}, [kind])
    assert narrowed is not None
    return [(clause.text, clause.negated, clause.is_choice) for clause in narrowed.clauses]


@pytest.mark.parametrize(
    ("question", "clauses"),
    [
        (f"Which patients with {X} live in {Y}?", [(f"with {X}", False, False), (f"live in {Y}", False, False)]),
        (f"patients who do not live in {X}", [(f"do live in {X}", True, False)]),
        (f"patients at {X} or {Y}", [(f"at {X}", False, False), (f"at {Y}", False, True)]),
        (f"patients with both {X} and {Y}", [(f"with {X}", False, False), (f"with {Y}", False, False)]),
        (
            f"patients without children who live in {X}",
            [("with children", True, False), (f"live in {X}", False, False)],
        ),
        (f"non-smoking patients in {X}", [("smoking", True, False), (f"in {X}", False, False)]),
        (
            f"Who speaks {X} but doesn't live in {Y}?",
            [(f"speaks {X}", False, False), (f"does live in {Y}", True, False)],
        ),
    ],
)
def test_each_clause_stands_for_itself(question: str, clauses: list[tuple[str, bool, bool]]) -> None:
    assert said(question) == clauses


@pytest.mark.parametrize(
    "question",
    [
        f"Who is {X} married to?",
        f"Which patient is {X}?",
        f"Which patients of {X} have only one doctor?",
        f"Which patients of {X} live in the same city as {Y}?",
        f"What is the city of {X}?",
    ],
)
def test_what_no_clause_can_say_is_left_to_others(question: str) -> None:
    assert split_clauses(question, {X, Y}, ["patient"]) is None


def test_the_form_is_told_from_the_beginning() -> None:
    asked = split_clauses(f"Do all patients of {X} live in {Y}?", {X, Y}, ["patient"])
    assert asked is not None
    assert asked.shape == "all"
    assert asked.head == "patients"
    counted = split_clauses(f"How many patients of {X} live in {Y}?", {X, Y}, ["patient"])
    assert counted is not None
    assert counted.shape == "count"


def test_another_word_for_a_kind_is_its_noun() -> None:
    narrowed = split_clauses(f"Which medicines are not made by {X}?", {X}, ["drug"])
    assert narrowed is not None
    assert narrowed.clauses == (Clause(f"are made by {X}", X, negated=True),)
