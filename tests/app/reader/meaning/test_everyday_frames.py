"""Light verbs, "un-" before participles, "all of their" and "the longest time", in questions over a library."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import SchemaStep, StepInput
from app.reader.meaning.question.measures import measure_at
from app.reader.meaning.read_meaning import ReadMeaning, read_meaning
from app.reader.meaning.schema_graph import SchemaGraph
from app.reader.scoring.path_scoring import PathScorer
from tests.support.library import assert_read_as, assert_unsure
from tests.support.tasks import thing


@pytest.fixture(scope="module")
def scorer(embedder: Embedder) -> PathScorer:
    return PathScorer(embedder)


PUBLISHED = 'having(Sb0001, "published on")'
READ = [
    ("Which branches offer Vn4m44 or more seats?", 'filter(Sr0001, "number of seats", >=, Vn4m44)'),
    (
        "Which branches provide more seats than Er3h33?",
        'filter(Sr0001, "number of seats", >, reach(Er3h33, "number of seats"))',
    ),
    ("How many seats does Er3h33 offer?", 'reach(Er3h33, "number of seats")'),
    ("Which books are unpublished?", f"difference(Sb0001, {PUBLISHED})"),
    ("unblocked members", 'difference(Sm0001, having(Sm0001, "blocked"))'),
    ("How many members are unmarried?", 'count(difference(Sm0001, having(Sm0001, "married to")))'),
    (
        "Which authors have had all of their books published?",
        f'difference(reach({PUBLISHED}, "written by"), reach(difference(Sb0001, {PUBLISHED}), "written by"))',
    ),
    (
        "Which authors have published every one of their books?",
        f'difference(reach({PUBLISHED}, "written by"), reach(difference(Sb0001, {PUBLISHED}), "written by"))',
    ),
    (
        "authors with all of their books published",
        f'difference(reach({PUBLISHED}, "written by"), reach(difference(Sb0001, {PUBLISHED}), "written by"))',
    ),
    ("How many seats do branches have on average?", 'average(Sr0001, "number of seats")'),
    ("members who gave us no email", 'difference(Sm0001, having(Sm0001, "email"))'),
    ("How much money does Eb1k11 cost?", 'reach(Eb1k11, "price")'),
]
UNSURE = [
    # A light verb that is the only word for a relation says it, or nothing does.
    "Who takes Eb1k11?",
    "Which member asks for Eb1k11?",
    "Which branches take members?",
    # Money is no weight, and no number of seats.
    "How much money does Eb1k11 weigh?",
    "How much money are the seats of Er3h33?",
    # No relation speaks of it.
    "Which books are unfinished?",
    # Some of them are not all of them.
    "Which members have all of their loans in Er3h33 and Er9h99?",
    "Which members borrowed Eb1k11 for all of their authors?",
    # It began when they came there, and no relation says when.
    "Who has been in Er3h33 the longest?",
]


@pytest.mark.parametrize(("question", "expression"), READ)
def test_what_is_said_in_everyday_frames_is_read(scorer: PathScorer, question: str, expression: str) -> None:
    assert_read_as(scorer, question, expression)


@pytest.mark.parametrize("question", UNSURE)
def test_a_word_that_says_a_relation_is_never_dropped(scorer: PathScorer, question: str) -> None:
    assert_unsure(scorer, question)


@pytest.mark.parametrize(
    ("question", "number", "date"),
    [
        ("who has been here the longest", 0, -1),
        ("which driver is the longest serving", 0, -1),
        ("who has been a member for longer Em4b44 or Em5b55", 0, -1),
        ("which film is the longest", 1, 0),
        ("which patient has been admitted the longest", 1, 0),
        ("who has been in Er3h33 the longest", 1, 0),
    ],
)
def test_the_longest_time_is_the_earliest_beginning(question: str, number: int, date: int) -> None:
    words = question.split()
    at = next(at for at, word in enumerate(words) if word.startswith("long"))
    measure = measure_at(words, at)
    assert (measure.number, measure.date) == (number, date)


REPAIRS = (
    SchemaStep("repair", "defect", "defect", "text", "text"),
    SchemaStep("repair", "reported on", "reported on", "date", "date"),
    SchemaStep("repair", "completed on", "completed on", "date", "date"),
    SchemaStep("repair", "carried out by", "carried out by", "contractor"),
    SchemaStep("contractor", "^carried out by", "^carried out by", "repair"),
    SchemaStep("contractor", "contract since", "contract since", "date", "date"),
    SchemaStep("contractor", "works weekends", "works weekends", "truth", "truth"),
    SchemaStep("contractor", "works in", "works in", "district"),
    SchemaStep("district", "^works in", "^works in", "contractor"),
)
LOST = 'filter(Sr2r22, "defect", =, Vt5t55)'


def read_of_repairs(scorer: PathScorer, question: str) -> ReadMeaning | None:
    values = [thing(name, kind) for name, kind in (("Vt5t55", "text"), ("Vd4t33", "date")) if name in question]
    things = values + ([thing("Ec3c33", "contractor")] if "Ec3c33" in question else [])
    kinds = (
        thing("Sr2r22", "repair", "more"),
        thing("Sc2c22", "contractor", "more"),
        thing("Sd2d22", "district", "more"),
    )
    own = {"Vt5t55": ("^defect",), "Ec3c33": ("contract since", "^carried out by")}
    given = StepInput(
        question=question, dialogue=[], things=things, evidence=[], candidates=[], steps=REPAIRS, kinds=kinds, own=own
    )
    return read_meaning(scorer, given)


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("How often was Vt5t55 reported?", f"count({LOST})"),
        ("How often did people report Vt5t55 in Vd4t33?", f'count(filter({LOST}, "reported on", =, Vd4t33))'),
        ("Which contractors do not work at weekends?", 'difference(Sc2c22, having(Sc2c22, "works weekends"))'),
        ("Which contractor has been with us the longest?", 'argmin(Sc2c22, "contract since")'),
    ],
)
def test_records_that_a_text_tells_apart_and_what_is_denied(
    scorer: PathScorer, question: str, expression: str
) -> None:
    found = read_of_repairs(scorer, question)
    assert found is not None
    assert (found.meaning.expression, found.is_sure) == (expression, True), found


@pytest.mark.parametrize("question", ["How often was Ec3c33 called?", "How often did Ec3c33 report Vt5t55?"])
def test_other_things_are_no_occurrences(scorer: PathScorer, question: str) -> None:
    found = read_of_repairs(scorer, question)
    assert found is None or not found.is_sure, found


def test_the_kind_that_is_something_since_a_day_is_called_so() -> None:
    steps = [
        SchemaStep("pet owner", "client since", "client since", "date", "date"),
        SchemaStep("vet", "licensed since", "licensed since", "date", "date"),
        SchemaStep("vet", "member since", "member since", "date", "date"),
        SchemaStep("insurer", "member since", "member since", "date", "date"),
    ]
    kinds = [thing("So2o22", "pet owner", "more"), thing("Sv2v22", "vet", "more"), thing("Si2i22", "insurer", "more")]
    graph = SchemaGraph(steps, kinds)
    assert graph.kinds_said(("clients",)) == {"pet owner"}
    assert not graph.kinds_said(("members",))
    assert not graph.kinds_said(("licensed",))


def test_what_took_longest_is_no_distance() -> None:
    measure = measure_at("which trip took the longest".split(), 4)
    assert frozenset({"distance"}) not in measure.hinted
    assert not measure.may_be_of({"distance"})
