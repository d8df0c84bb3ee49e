"""Drafts against questions: the form, the kind, negation, and what a yes or no compares with."""

from __future__ import annotations

import pytest

from app.language.readings import NUMBER, TABLE, TRUTH, UNKNOWN, Contradiction, ResultKind
from app.reader.draft_checks import DraftChecks, denies
from app.reader.draft_kinds import DraftKinds
from app.reader.meaning.question.question_tokens import read_question
from kg_store.algebra.expressions import parse
from tests.support.drafts import GRAPH, SHOWN, THINGS
from tests.support.tasks import fact, thing


def found(question: str, *answer: str, meant: ResultKind | None = None) -> Contradiction | None:
    asked = read_question(question)
    named = frozenset(each.name for each in THINGS if each.name in question)
    persons = frozenset({"doctor", "nurse", "manager"})
    also = {"manager": frozenset({"doctor"})}
    return DraftChecks(asked, GRAPH, named, also, persons, meant).contradiction(answer, SHOWN)


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Does Ed0ct1 work at Ec1in1?", "Swork1", Contradiction.TRUTH),
        ("How many wards does Ec1in1 have?", "Sward1", Contradiction.NUMBER),
        ("Which wards are part of Ec1in1?", "count(Sward1)", Contradiction.THINGS),
        ("Which doctors work at Ec1in1?", "Sward1", Contradiction.KIND),
        ("Which doctors work at Ec1in1?", "way(3)", Contradiction.KIND),
        ("Who is the oldest doctor of Ec1in1?", "Sward1", Contradiction.KIND),
        ("When was Ec1in1 opened?", "Sward1", Contradiction.KIND),
        ("Who leads Ec1in1?", "Ec1in1", Contradiction.NAMED),
        ("Which doctors do not work at Ec1in1?", "Ss1aff", Contradiction.KIND),
        ("Which doctors do not work at Ec1in1?", "intersect(Sd0cts, Ss1aff)", Contradiction.NEGATION),
        ("Which doctors other than Ed0ct1 work at Ec1in1?", "count(Sd0cts)", Contradiction.THINGS),
        ("Who works at Ec1in1 besides Ed0ct1?", "Ed0ct1", Contradiction.NEGATION),
        ("Which doctors work at Ec1in1?", "difference(Sd0cts, Ss1aff)", Contradiction.ADDED),
        ("Does Ed0ct1 work at Ec1in1?", "none(intersect(Swork1, Ec1in1))", Contradiction.ADDED),
        ("Is Ed0ct1 a smoker?", "exists(Ssm0ke)", Contradiction.VALUE),
        ("Was Ec1in1 opened after V2001a?", "exists(way(3))", Contradiction.VALUE),
        ("Do all doctors work at Ec1in1?", "exists(difference(Sd0cts, Ss1aff))", Contradiction.ALL),
    ],
)
def test_a_draft_that_the_question_contradicts(question: str, answer: str, expected: Contradiction) -> None:
    assert found(question, answer) is expected


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Does Ed0ct1 work at Ec1in1?", "exists(intersect(Swork1, Ec1in1))"),
        ("Do you know who works at Ec1in1?", "Ss1aff"),
        ("Isn't Ed0ct1 a smoker?", "holds(Ssm0ke)"),
        ("How many wards does Ec1in1 have?", "count(Sward1)"),
        ("Which has the larger number of beds, Ec1in1 or Ed0ct1?", 'compare(Ec1in1, Ed0ct1, "number of beds")'),
        ("Which doctors work at Ec1in1?", "intersect(Ss1aff, Sd0cts)"),
        ("What is the phone number of Ed0ct1?", "Sph0ne"),
        ("What is the doctor of Ec1in1's phone number?", "Sph0ne"),
        ("Which doctors do not work at Ec1in1?", "difference(Sd0cts, Ss1aff)"),
        ("Who works at Ec1in1 besides Ed0ct1?", "difference(Ss1aff, Ed0ct1)"),
        ("Which doctors were hired no later than V2001a?", 'filter(Sd0cts, "hired", <=, V2001a)'),
        ("Do all doctors work at Ec1in1?", "none(difference(Sd0cts, Ss1aff))"),
        ("Which wards lie outside of Ec1in1?", "difference(Sward1, Sward1)"),
        ("Who is Ed0ct1?", "Ed0ct1"),
        ("Which doctors work at Ec1in1?", "way(99)"),
        ("Which doctors work at Ec1in1?", "__import__(os)"),
    ],
)
def test_a_right_draft_is_let_be(question: str, answer: str) -> None:
    assert found(question, answer) is None


def test_a_sure_reading_tells_the_kind_where_no_noun_does() -> None:
    people, places = ResultKind(frozenset({"nurse"})), ResultKind(frozenset({"ward"}))
    assert found("Who heads Ec1in1?", "Sward1", meant=people) is Contradiction.KIND
    assert found("Who heads Ec1in1?", "Sward1", meant=places) is None  # a reading that "who" contradicts is no guide
    number = ResultKind(value="number")
    assert found("What is the size of Ec1in1?", "count(Sward1)", meant=number) is Contradiction.THINGS


def test_a_not_may_be_of_the_question_or_of_the_answer() -> None:
    assert denies(read_question("Which doctors do not work at Ec1in1?"), ["Ss1aff"])
    assert denies(read_question("Do all doctors work at Ec1in1?"), ["none(Ss1aff)"])
    assert not denies(read_question("Who works at Ec1in1?"), ["Ss1aff"])


def of(*kinds: str) -> ResultKind:
    return ResultKind(frozenset(kinds))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("Ss1aff", of("doctor", "nurse")),
        ("intersect(Ss1aff, Sd0cts)", of("doctor")),
        ("union(Sd0cts, Sward1)", of("doctor", "ward")),
        ('argmax(Sward1, "number of beds")', of("ward")),
        ('reach(Sd0cts, "works at")', of("clinic")),
        ('reach(Sd0cts, "adores")', UNKNOWN),
        ('max(Sward1, "number of beds")', ResultKind(value="number")),
        ("max(Sbeds1)", UNKNOWN),
        ("Ssm0ke", ResultKind(value="truth")),
        ("count(Ss1aff)", ResultKind(value=NUMBER)),
        ("none(Ss1aff)", ResultKind(value=TRUTH)),
        ('group(Sd0cts, "works at")', ResultKind(value=TABLE)),
        ("Sz9y8x", UNKNOWN),
    ],
)
def test_what_an_expression_gives(expression: str, expected: ResultKind) -> None:
    assert SHOWN.of(parse(expression)) == expected


def test_where_a_set_comes_from() -> None:
    assert SHOWN.lineage(["Sbeds1"]) == {"Sbeds1", "Sward1", "Ec1in1"}


def test_the_words_of_a_model_for_a_kind_tell_nothing() -> None:
    named = DraftKinds(GRAPH, [thing("Ec1in1", "clinic")], [fact("Ec1in1", "^works at", end="Ss1aff", to="physician")])
    assert named.of(parse("Ss1aff")) == of("doctor", "nurse")
