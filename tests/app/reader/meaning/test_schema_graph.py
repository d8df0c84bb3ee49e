"""Questions over schemas of a practice, repairs, films, leases and places: what belongs together is read so."""

from __future__ import annotations

import pytest

from app.llm.tasks import SchemaStep, StepInput
from app.reader.meaning.read_meaning import ReadMeaning, read_meaning
from app.reader.meaning.reading import is_chain_of_places, joins_records, within_parts
from app.reader.meaning.schema_graph import SchemaGraph
from app.reader.scoring.path_scoring import PathScorer
from tests.support.tasks import thing

PRACTICE = [
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
PRACTICE_VALUES = [("ward", "number of beds", "number"), ("animal", "neutered", "truth"), ("ward", "price", "number")]
PRACTICE_NAMED = {"Es1d11": "species", "Eo2x22": "owner", "Ec3c33": "clinic", "Ed4d44": "doctor", "Eg5g55": "drug"}
PRACTICE_WHOLE = {
    "Sa0001": "animal",
    "Sw0001": "ward",
    "Sv0001": "visit",
    "Sx0001": "vaccination",
    "Sp0001": "prescription",
}


def read_of_practice(scorer: PathScorer, question: str) -> ReadMeaning | None:
    """The reading of a question over the schema of a practice."""
    both = [*PRACTICE, *((end, f"^{label}", kind) for kind, label, end in PRACTICE)]
    ends: dict[tuple[str, str], list[str]] = {}
    for kind, label, end in both:
        ends.setdefault((kind, label), []).append(end)
    steps = [SchemaStep(kind, label, label, ", ".join(found)) for (kind, label), found in ends.items()]
    steps += [SchemaStep(kind, label, label, value, value) for kind, label, value in PRACTICE_VALUES]
    own = {name: tuple(step.label for step in steps if step.kind == kind) for name, kind in PRACTICE_NAMED.items()}
    things = [thing(name, kind) for name, kind in PRACTICE_NAMED.items() if name in question]
    kinds = tuple(thing(name, kind, "more") for name, kind in PRACTICE_WHOLE.items())
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


FILMS = (
    SchemaStep("film", "direct cast member", "direct cast member", "human"),
    SchemaStep("film", "prop cast member|character role", "prop cast member|character role", "text", "text"),
    SchemaStep("film", "prop cast member|statement cast member", "prop cast member|statement cast member", "human"),
    SchemaStep("statement", "statement cast member", "statement cast member", "human"),
    SchemaStep("statement", "character role", "character role", "text", "text"),
)


def test_facts_that_are_written_twice_are_one_step_and_nobody_asks_of_the_nodes_they_are_written_as() -> None:
    kinds = tuple(thing(name, kind, "more") for name, kind in (("Sf1lm1", "film"), ("St1st1", "statement")))
    hops = SchemaGraph(FILMS, kinds, {}).hops
    assert [hop.label for hop in hops] == ["direct cast member", "prop cast member|character role"]


@pytest.mark.parametrize(
    ("expression", "is_wrong"),
    [
        ('reach(filter(Sf1lm1, "prop cast member|character role", =, Vx1yz2), "direct cast member")', True),
        ('reach(filter(Sf1lm1, "prop cast member|character role", =, Vx1yz2), "direct genre")', False),
        ('filter(Sf1lm1, "prop cast member|character role", =, Vx1yz2)', False),
    ],
)
def test_the_cast_of_a_film_in_which_somebody_played_a_part_did_not_all_play_it(
    expression: str, is_wrong: bool
) -> None:
    assert joins_records(expression) == is_wrong


LEASES = (
    SchemaStep("lease", "tenant", "tenant", "person"),
    SchemaStep("person", "^tenant", "^tenant", "lease"),
    SchemaStep("lease", "of flat", "of flat", "flat"),
    SchemaStep("flat", "^of flat", "^of flat", "lease"),
    SchemaStep("lease", "end date", "end date", "date", "date"),
    SchemaStep("flat", "^of flat|tenant", "^of flat|tenant", "person"),
    SchemaStep("flat", "owned by", "owned by", "person"),
)


@pytest.mark.parametrize(
    ("labels", "may_be_over"),
    [
        (["^of flat", "tenant"], True),
        (["^of flat|tenant"], True),
        (["owned by"], False),
        (["^of flat", "end date"], False),
        ([], False),
    ],
)
def test_what_goes_through_things_that_end_may_be_over(labels: list[str], may_be_over: bool) -> None:
    assert SchemaGraph(LEASES, (), {}).may_be_over(labels) is may_be_over


@pytest.mark.parametrize(("first", "second"), [("Ea1aaa", "Ez9zzz"), ("Ez9zzz", "Ea1aaa")])
def test_the_order_of_what_is_shared_does_not_depend_on_pseudonyms(first: str, second: str) -> None:
    graph = SchemaGraph(FILMS, (), {}, (thing(first, "film"), thing(second, "film")))
    texts = [f'reach({name}, "direct cast member")' for name in (second, first)]
    assert graph.shared(*texts, frozenset({"human"})) == f"intersect({texts[1]}, {texts[0]})"


PLACES = [
    SchemaStep("place", "^located in", "^located in", "firm", ""),
    SchemaStep("place", "^rules", "^rules", "person", ""),
    SchemaStep("place", "^part of", "^part of", "place", ""),
    SchemaStep("firm", "located in", "located in", "place", ""),
]
OF_PARTS = (
    'reach(union(Ea1b2c, reach(Ea1b2c, "^part of"), reach(reach(Ea1b2c, "^part of"), "^part of")), "^located in")'
)


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ('count(reach(Ea1b2c, "^located in"))', f"count({OF_PARTS})"),
        # Who rules a country rules no town of it, and its own parts are asked for by one step.
        ('reach(Ea1b2c, "^rules")', 'reach(Ea1b2c, "^rules")'),
        ('reach(Ea1b2c, "^part of")', 'reach(Ea1b2c, "^part of")'),
        ('reach(Ed4e5f, "^located in")', 'reach(Ed4e5f, "^located in")'),
    ],
)
def test_what_is_located_in_a_part_is_located_in_the_whole(read: str, meant: str) -> None:
    assert within_parts(read, PLACES, {"Ea1b2c": "place"}) == meant


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ('reach(reach(Ea1b2c, "^country"), "^city")', True),
        ('count(intersect(reach(reach(Ea1b2c, "^country"), "^address city"), Sa1b2c))', True),
        ('reach(reach(Ea1b2c, "^country"), "^owned")', False),
        ('reach(reach(Ea1b2c, "^country"), "^born in")', False),
        ('reach(reach(Ea1b2c, "country"), "city")', False),
        ('reach(Ea1b2c, "^city")', False),
    ],
)
def test_a_chain_of_places_is_said_as_one_step(text: str, is_one: bool) -> None:
    assert is_chain_of_places(text) == is_one
