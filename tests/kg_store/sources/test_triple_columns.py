"""Lists of triples are told from tables by what their columns hold; nothing is read as triples by its form alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kg_store.errors import LoadError
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.policy import TriplesPolicy
from kg_store.sources.reader import read_sources
from kg_store.sources.triple_files import places_in_header, require_triples
from tests.support.stores import real_data, written

PEOPLE = [(f"ann_{number}", f"bo_{number}", ("ulm", "cork", "galway")[number % 3]) for number in range(40)]
GOOD = [
    triple
    for head, other, home in PEOPLE
    for triple in (
        (head, "born_in", home),
        (head, "knows", other),
        (other, "gender", "female"),
        (other, "knows", head),
    )
]
"""Heads that come again, few relations that join two things, ends that go with them."""
DIAGNOSES = ("asthma", "gastritis", "sciatica", "diabetes")
ONE_A_LINE = [(head, DIAGNOSES[number % 4], home) for number, (head, _, home) in enumerate(PEOPLE)]


def test_triples_are_triples() -> None:
    require_triples(GOOD, "a.tsv")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (ONE_A_LINE, "holds no words that join two things"),
        ([(head, f"has {word}", home) for head, word, home in ONE_A_LINE], "nearly every line is about another thing"),
        ([(head, tail, relation) for head, relation, tail in GOOD], "too many different cells"),
        ([(head, f"{30 + n % 9}", tail) for n, (head, _, tail) in enumerate(GOOD)], "numbers or dates"),
        ([(head, f"Dr. {'BMQ'[n % 3]}rackwede", tail) for n, (head, _, tail) in enumerate(GOOD)], "other than common"),
        ([("patient", "diagnosis", "city"), *ONE_A_LINE], "the first line looks like the names of columns"),
        ([(h, ("in_ward", "was_seen")[n // 4 % 2], t) for n, (h, _, t) in enumerate(GOOD)], "does not go with"),
    ],
)  # fmt: skip
def test_what_is_no_list_of_triples_is_refused_with_the_reason(lines: Sequence[Sequence[str]], reason: str) -> None:
    with pytest.raises(LoadError) as caught:
        require_triples(lines, "a.tsv")
    assert reason in str(caught.value)
    assert "[[triples]]" in str(caught.value)
    assert "[[tables]]" in str(caught.value)
    assert not {cell for line in lines for cell in line if cell in str(caught.value).split()} - {"city", "link", "was"}


@pytest.mark.parametrize(("order", "told"), [((1, 0, 2), "[2, 1, 3]"), ((0, 2, 1), "[1, 3, 2]")])
def test_a_relation_in_another_column_is_told_and_can_be_given(
    tmp_path: Path, order: tuple[int, int, int], told: str
) -> None:
    lines = [[triple[at] for at in order] for triple in GOOD]
    path = written(tmp_path, "\n".join(map("\t".join, lines)), "a.tsv")
    with pytest.raises(LoadError) as caught:
        read_sources([path])
    assert f"columns = {told}" in str(caught.value)
    places = tuple(order.index(at) + 1 for at in range(3))
    raw = read_sources([path], triples=[TriplesPolicy(file="a.tsv", columns=places)])  # type: ignore[arg-type]
    assert {raw.text(at) for at in raw.predicates.tolist()} == {"born_in", "knows", "gender"}


@pytest.mark.parametrize(
    ("header", "places"),
    [
        (["head", "relation", "tail"], (0, 1, 2)),
        (["Relation", "Subject", "Object"], (1, 0, 2)),
        (["s", "o", "p"], (0, 2, 1)),
        (["head", "relation", "relation"], None),
        (["patient", "relation", "city"], None),
    ],
)
def test_a_header_that_names_head_relation_and_tail_says_where_they_are(
    header: list[str], places: tuple[int, int, int] | None
) -> None:
    assert places_in_header(header) == places


def test_a_header_is_read_over_where_the_policy_says_that_there_is_one(tmp_path: Path) -> None:
    path = written(tmp_path, "from,link,to\nann,knows,bo\n", "a.csv")
    assert len(read_sources([path], triples=[TriplesPolicy(header=True)]).subjects) == 1
    assert len(read_sources([path], triples=[TriplesPolicy()]).subjects) == 2


@pytest.mark.parametrize("name", ["pathquestion/PQ-2H.kb.tsv", "pathquestion/PQ-3H.kb.tsv"])
def test_public_lists_of_triples_load_without_being_told(name: str) -> None:
    """The large ones: `tests/kg_store/proposals/test_propose.py`."""
    raw, policy = read_and_propose([real_data(name)])
    assert len(set(raw.predicates.tolist())) == 13
    assert policy.tables == ()


@pytest.mark.slow
def test_a_list_with_its_relation_first_is_refused_and_its_column_told() -> None:
    with pytest.raises(LoadError, match=r"columns = \[2, 1, 3\]"):
        read_and_propose([real_data("conceptnet/train.txt")])
