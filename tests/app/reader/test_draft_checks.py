"""Drafts against questions: the form, the kind, negation, and what a yes or no compares with."""

from __future__ import annotations

from app.language.readings import Contradiction, ResultKind
from app.reader.draft_checks import DraftChecks, denies
from app.reader.meaning.draft_kinds import DraftKinds
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


def test_a_sure_reading_tells_the_kind_where_no_noun_does() -> None:
    people, places = ResultKind(frozenset({"nurse"})), ResultKind(frozenset({"ward"}))
    assert found("Who heads Ec1in1?", "Sward1", meant=people) is Contradiction.KIND
    assert found("Who heads Ec1in1?", "Sward1", meant=places) is None  # a reading that "who" contradicts is no guide
    number = ResultKind(value="number")
    assert found("What is the size of Ec1in1?", "count(Sward1)", meant=number) is Contradiction.THINGS


def test_the_sort_of_a_kind_is_no_thing_of_it() -> None:
    assert found("Which doctor works at Ec1in1?", "Sward1") is Contradiction.KIND
    assert found("Which kind of doctor works at Ec1in1?", "Sward1") is None


def test_a_not_may_be_of_the_question_or_of_the_answer() -> None:
    assert denies(read_question("Which doctors do not work at Ec1in1?"), ["Ss1aff"])
    assert denies(read_question("Do all doctors work at Ec1in1?"), ["none(Ss1aff)"])
    assert not denies(read_question("Who works at Ec1in1?"), ["Ss1aff"])


def of(*kinds: str) -> ResultKind:
    return ResultKind(frozenset(kinds))


def test_where_a_set_comes_from() -> None:
    assert SHOWN.lineage(["Sbeds1"]) == {"Sbeds1", "Sward1", "Ec1in1"}


def test_the_words_of_a_model_for_a_kind_tell_nothing() -> None:
    named = DraftKinds(GRAPH, [thing("Ec1in1", "clinic")], [fact("Ec1in1", "^works at", end="Ss1aff", to="physician")])
    assert named.of(parse("Ss1aff")) == of("doctor", "nurse")
