"""Everyday forms: unpaid, two or more seats, who mentors nobody, how many dogs, the beds of a clinic's wards."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import SchemaStep, StepInput
from app.reader.meaning.read_meaning import ReadMeaning, read_meaning
from app.reader.scoring.path_scoring import PathScorer
from tests.support.library import assert_read_as, assert_unsure
from tests.support.tasks import thing


@pytest.fixture(scope="module")
def scorer(embedder: Embedder) -> PathScorer:
    return PathScorer(embedder)


READ = [
    ("Which members are unblocked?", 'difference(Sm0001, having(Sm0001, "blocked"))'),
    ("unblocked members", 'difference(Sm0001, having(Sm0001, "blocked"))'),
    ("Is Em4b44 unblocked?", 'exists(difference(Em4b44, having(Em4b44, "blocked")))'),
    ("Are all members unblocked?", 'none(having(Sm0001, "blocked"))'),
    ("branches with two or more seats", 'filter(Sr0001, "number of seats", >=, 2)'),
    ("branches with five seats", 'filter(Sr0001, "number of seats", =, 5)'),
    ("Did Ea2t22 write more than two books?", 'exists(counted(Ea2t22, "^written by", >, 2))'),
    (
        "Which authors have at least two books kept at Er3h33?",
        'counted(Sa0001, "^written by", >=, 2, reach(Er3h33, "^kept at"))',
    ),
    ("Which authors mentor at least two people?", 'counted(Sa0001, "^mentored by", >=, 2)'),
    ("Which authors don't mentor anybody?", 'difference(Sa0001, having(Sa0001, "^mentored by"))'),
    ("Which authors mentor nobody?", 'difference(Sa0001, having(Sa0001, "^mentored by"))'),
    ("Which authors are not mentored by anybody?", 'difference(Sa0001, having(Sa0001, "mentored by"))'),
    ("books heavier than Vn4m44", 'filter(Sb0001, "weight g", >, Vn4m44)'),
    ("Is Eb1k11 cheaper than Vn4m44?", 'exists(filter(Eb1k11, "price", <, Vn4m44))'),
    ("Is Eb1k11 more expensive than Vn4m44?", 'exists(filter(Eb1k11, "price", >, Vn4m44))'),
    ("How many seats are there in total?", 'sum(Sr0001, "number of seats")'),
    ("Would Eb1k11 be kept at Er3h33?", 'exists(intersect(reach(Eb1k11, "kept at"), Er3h33))'),
    ("Would you say that Em4b44 is blocked?", 'holds(reach(Em4b44, "blocked"))'),
    ("Is Em4b44 a member of yours?", "exists(intersect(Em4b44, Sm0001))"),
]


@pytest.mark.parametrize(("question", "expression"), READ, ids=[question for question, _ in READ])
def test_an_everyday_form_is_read(scorer: PathScorer, question: str, expression: str) -> None:
    assert_read_as(scorer, question, expression)


@pytest.mark.parametrize(
    "question",
    [
        "Which books are unreleased?",
        "Which members are unknown?",
        "unborrowed branches",
        "branches with two",
        "Which branches have two or more?",
        "Which authors mentor two?",
        "books older than Vn4m44",
        "branches bigger than five books",
        "members heavier than Vn4m44",
        "How many seats does Ea2t22 have?",
        "How many seats are there for Em4b44?",
    ],
)
def test_what_only_looks_like_such_a_form_is_refused(scorer: PathScorer, question: str) -> None:
    assert_unsure(scorer, question)


STEPS = [
    ("animal", "species", "species"),
    ("animal", "owned by", "owner"),
    ("breed", "of species", "species"),
    ("ward", "part of", "clinic"),
    ("ward", "led by", "owner"),
    ("prescription", "prescribed by", "doctor"),
    ("prescription", "prescribed to", "owner"),
    ("prescription", "drug", "drug"),
    ("visit", "animal", "animal"),
    ("vaccination", "animal", "animal"),
]
VALUES = [("ward", "number of beds", "number"), ("animal", "neutered", "truth"), ("ward", "price", "number")]
NAMED = {"Es1d11": "species", "Eo2x22": "owner", "Ec3c33": "clinic", "Ed4d44": "doctor", "Eg5g55": "drug"}
WHOLE = {"Sa0001": "animal", "Sw0001": "ward", "Sv0001": "visit", "Sx0001": "vaccination", "Sp0001": "prescription"}


def read_of_practice(scorer: PathScorer, question: str) -> ReadMeaning | None:
    """The reading of a question over the schema of a practice."""
    both = [*STEPS, *((end, f"^{label}", kind) for kind, label, end in STEPS)]
    ends: dict[tuple[str, str], list[str]] = {}
    for kind, label, end in both:
        ends.setdefault((kind, label), []).append(end)
    steps = [SchemaStep(kind, label, label, ", ".join(found)) for (kind, label), found in ends.items()]
    steps += [SchemaStep(kind, label, label, value, value) for kind, label, value in VALUES]
    own = {name: tuple(step.label for step in steps if step.kind == kind) for name, kind in NAMED.items()}
    things = [thing(name, kind) for name, kind in NAMED.items() if name in question]
    kinds = tuple(thing(name, kind, "more") for name, kind in WHOLE.items())
    return read_meaning(
        scorer,
        StepInput(
            question=question, dialogue=[], things=things, evidence=[], candidates=[], steps=tuple(steps), kinds=kinds,
            own={name: labels for name, labels in own.items() if name in question},
        ),
    )  # fmt: skip


OF_PRACTICE = [
    ("How many Es1d11 do we have?", 'count(reach(Es1d11, "^species"))'),
    ("Are there any Es1d11?", 'exists(reach(Es1d11, "^species"))'),
    ("which Es1d11 are neutered?", 'having(reach(Es1d11, "^species"), "neutered")'),
    ("How many beds does Ec3c33 have?", 'sum(reach(Ec3c33, "^part of"), "number of beds")'),
    (
        "Has Eo2x22 neutered all her animals?",
        'none(difference(reach(Eo2x22, "^owned by"), having(reach(Eo2x22, "^owned by"), "neutered")))',
    ),
    ("Which animals have no vaccination?", 'difference(Sa0001, reach(Sx0001, "animal"))'),
    (
        "Did Ed4d44 prescribe Eg5g55 to Eo2x22?",
        'exists(intersect(intersect(reach(Ed4d44, "^prescribed by"), reach(Eg5g55, "^drug")), '
        'reach(Eo2x22, "^prescribed to")))',
    ),
]


@pytest.mark.parametrize(("question", "expression"), OF_PRACTICE, ids=[question for question, _ in OF_PRACTICE])
def test_what_belongs_together_is_read_so(scorer: PathScorer, question: str, expression: str) -> None:
    found = read_of_practice(scorer, question)
    assert found is not None
    assert (found.meaning.expression, found.is_sure) == (expression, True), found


@pytest.mark.parametrize(
    "question",
    [
        "How many beds does Eo2x22 have?",
        "Has Eo2x22 neutered all animals?",
        "How many prices does Ec3c33 have?",
        "Which Es1d11 are vaccinated by Eo2x22?",
        "What Es1d11 do we have?",
        "Did Ed4d44 prescribe Eg5g55 to Eo2x22 and Ec3c33?",
    ],
)
def test_what_belongs_to_nothing_is_refused(scorer: PathScorer, question: str) -> None:
    found = read_of_practice(scorer, question)
    assert found is None or not found.is_sure, found
