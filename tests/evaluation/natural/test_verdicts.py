"""An answer to a natural question is judged strictly, and fairly where several readings or forms are right."""

from __future__ import annotations

import pytest

from app.chat.concluding import NO_PATH, NOT_IN_GRAPH
from client_sdk.answers.answer import Answer
from client_sdk.answers.evidence import Entity
from client_sdk.protocol import ItemKind, Usage
from evaluation.natural.verdicts import Gold, NaturalQuestion, Verdict, judge


def asked(gold: dict[str, object], *also: dict[str, object]) -> NaturalQuestion:
    golds = [Gold.model_validate(each) for each in (gold, *also)]
    return NaturalQuestion(id="1", graph="clinic", kind="lookup", question="?", gold=golds[0], also=tuple(golds[1:]))


def answered(*names: str, kind: ItemKind = "set", text: str = "", refused: bool = False) -> Answer:
    entities = (Entity(names, "thing", kind, "Ez9y8x", len(names), False),) if names else ()
    return Answer("a", "c", text, text, not refused, True, entities, (), {}, (), Usage())


def entities(*items: str) -> dict[str, object]:
    return {"type": "entities", "items": items}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("Ann Vale", "Bo Lund"), "right"),
        (("bo lund", "ANN VALE", "Ann Vale"), "right"),
        (("Ann Vale",), "partly"),
        (("Ann Vale", "Bo Lund", "Cy Roe"), "partly"),
        (("Cy Roe",), "wrong"),
    ],
)
def test_names_are_right_as_a_set(names: tuple[str, ...], expected: Verdict) -> None:
    assert judge(asked(entities("Ann Vale", "Bo Lund")), answered(*names)) == expected


@pytest.mark.parametrize(
    ("gold", "given", "expected"),
    [
        ("1988-06-01", "1988-06-01 00:00:00Z", "right"),
        ("1988-06-01", "1988-06-01T00:00:00", "right"),
        ("1988-06-01", "1 June 1988", "right"),
        ("1988-06-01", "1988-06-02", "wrong"),
        ("3025.50", "3,025.5", "right"),
        ("3496.3333", "3496.33", "right"),
        ("3496.3333", "3497", "wrong"),
        ("1841.30 EUR", "1841.3", "right"),
        ("1841.30 EUR", "1841.30 EUR", "right"),
        ("1841.30 EUR", "1841.30 USD", "wrong"),
        ("688-426-9373", "688-426-9373", "right"),
        ("true", "yes", "right"),
    ],
)
def test_values_compare_by_what_they_mean(gold: str, given: str, expected: Verdict) -> None:
    assert judge(asked({"type": "values", "items": [gold]}), answered(given, kind="value")) == expected


def test_a_count_is_its_number_and_no_list_and_a_truth_is_said_or_begins_the_sentence() -> None:
    two, no = asked({"type": "number", "items": [2]}), asked({"type": "boolean", "items": [False]})
    assert judge(two, answered("2", kind="number")) == "right"
    assert judge(two, answered("Ann Vale", "Bo Lund")) == "wrong"
    assert judge(no, answered("no", kind="truth")) == "right"
    assert judge(no, answered("yes", kind="truth")) == "wrong"
    assert judge(no, answered("Ann Vale", text="No: Ann Vale is a nurse.")) == "right"
    assert judge(no, answered("Ann Vale", text="Ann Vale is a nurse.")) == "wrong"


def test_rows_of_a_table_need_both_cells() -> None:
    gold = asked({"type": "table", "items": [["Fund: A", "76"], ["B", "6"]]})
    assert judge(gold, answered("Fund: A: 76", "B: 6.0", kind="table")) == "right"
    assert judge(gold, answered("Fund: A: 76", "B: 7", kind="table")) == "partly"
    assert judge(gold, answered("Fund: A", "B")) == "wrong"
    one = asked({"type": "table", "items": [["The Foxes", "Marlowe Bay"]]}, entities("Marlowe Bay"))
    assert judge(one, answered("The Foxes", "Marlowe Bay")) == "right"
    assert judge(one, answered("Marlowe Bay")) == "right", "another fair reading"


def test_nobody_is_right_where_a_search_found_none_and_not_where_none_was_made() -> None:
    nobody = asked(entities())
    assert judge(nobody, answered(text=NOT_IN_GRAPH, refused=True)) == "right"
    assert judge(nobody, answered(text=NO_PATH, refused=True)) == "refused"
    assert judge(nobody, answered("no", kind="truth")) == "right"
    assert judge(nobody, answered("Ann Vale")) == "wrong"


def test_the_unanswerable_is_refused_and_a_fair_question_back_is_right() -> None:
    impossible = asked({"type": "unanswerable", "reason": "no such relation"})
    assert judge(impossible, answered(refused=True)) == "right"
    assert judge(impossible, answered("Ann Vale")) == "wrong"
    vague = asked(entities("Ann Vale"), {"type": "unanswerable"})
    assert judge(vague, answered(refused=True)) == "right"
    assert judge(vague, answered("Bo Lund")) == "wrong"
    assert judge(asked(entities("Ann Vale")), answered(refused=True)) == "refused"


def test_small_talk_is_replied_to_without_things_and_an_error_is_never_right() -> None:
    hello = asked({"type": "smalltalk"})
    assert judge(hello, answered(text="Hello.")) == "right"
    assert judge(hello, answered("Ann Vale")) == "wrong"
    assert judge(hello, answered(refused=True)) == "refused"
    assert judge(asked({"type": "unanswerable"}), None) == "refused"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Alder Clinic is a clinic. It opened on 1 April 1987.", "right"),
        ("Alder Clinic is a clinic, with 1,250 beds.", "right"),
        ("Alder Clinic is a clinic; the ward Heron belongs to it.", "right"),
        ("Alder Clinic is a clinic where somebody was treated for gout.", "right"),
        ("It opened on 1987-04-01.", "partly"),
        ("Alder Clinic is a clinic.", "wrong"),
        ("Alder Clinic is a clinic, with 12501 beds.", "wrong"),
    ],
)
def test_a_description_names_the_thing_and_what_it_is_and_tells_a_fact(text: str, expected: Verdict) -> None:
    facts = [
        "Alder Clinic | is a | Clinic",
        "Alder Clinic | label | Alder Clinic",
        "Alder Clinic | openedOn | 1987-04-01",
        "Alder Clinic | beds | 1250",
        "Heron | partOf | Alder Clinic",
        "Ann Vale hasStay: [at: Alder Clinic; treated for: gout]",
    ]
    gold = {"type": "describe", "concept": ["Alder Clinic", "Clinic"], "at_least": 1, "items": facts}
    assert judge(asked(gold), answered(text=text)) == expected
