"""A file of three columns is a table where its first line would hardly be one of its rows, else triples or refused."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from kg_store.errors import LoadError
from kg_store.proposals.propose import read_and_propose
from tests.support.stores import written

PERSONS = [f"{first} {last}" for first in ("Ann", "Bo", "Carla", "Dan", "Eve") for last in ("Okafor", "Brown", "Khan")]
TOWNS, ILLS = ("Leeds", "York", "Hull"), ("asthma", "gastritis", "sciatica", "stroke")
TRACKS, DRIVERS = ("Monza", "Spa", "Imola"), ("Vettel", "Massa", "Hill", "Senna")
SONGS = ("Love Night", "Blue Rain", "Dance Fire", "Moon River", "Heart Day", "First Light", "Red House", "Cold Moon")
PLACES = ("1", "2", "3", "4", "DNF")


def _lines(*columns: Sequence[str], count: int = 15) -> list[list[str]]:
    """Returns rows with the first column's cells in order, and any of the others'."""
    chance = random.Random(1)
    return [[columns[0][at % len(columns[0])], *map(chance.choice, columns[1:])] for at in range(count)]


HEADED = {
    "Track,Place,Driver": _lines(TRACKS, PLACES, DRIVERS),
    "patient name,city,ward": _lines(PERSONS, TOWNS, ("ICU", "Surgery", "Ward 3")),
    "patient name,town,ward": _lines(PERSONS, TOWNS, ("ICU", "Surgery", "Ward 3"), count=3),
    "patient,diagnosis,city": _lines(PERSONS, ILLS, TOWNS),
    "Song,Artist,Album": _lines(SONGS, ("The Foxes", "Nova"), ("Echoes", "Home", "First Light")),
    "Emp,Dept,Loc": _lines(PERSONS, ("Sales", "IT", "HR"), TOWNS),
    "Plant,Bed,Planted by": _lines(("Rose", "Leek", "Mint"), ("A1", "A2", "B1"), ("Ann", "Eve")),
    "member_name,home_city,sport_played": _lines(PERSONS, TOWNS, ("tennis", "golf", "chess")),
}


@pytest.mark.parametrize("header", HEADED)
def test_a_header_of_common_words_that_come_nowhere_below_is_one(tmp_path: Path, header: str) -> None:
    rows = [",".join(cells) for cells in HEADED[header]]
    _, policy = read_and_propose([written(tmp_path, "\n".join([header, *rows]), "a.csv")])
    columns = {*policy.tables[0].columns, policy.tables[0].key, *policy.tables[0].names} - {None}
    assert columns == {*header.split(",")}
    # The same rows alone have no header: none of their cells becomes a word of the schema.
    with pytest.raises(LoadError, match="`header_row = 0` where none does"):
        read_and_propose([written(tmp_path, "\n".join(rows), "b.csv")])


@pytest.mark.parametrize("first", [("rose white", "stroke", "bath"), ("table", "wood", "brown")])
def test_a_first_row_whose_cells_come_once_is_no_header_if_one_may_be_a_name(
    tmp_path: Path, first: tuple[str, ...]
) -> None:
    lines = [first, *_lines([person.lower() for person in PERSONS], ("gastritis", "asthma"), ("leeds", "hull"))]
    with pytest.raises(LoadError, match="`header_row = 1` where the first line names them"):
        read_and_propose([written(tmp_path, "\n".join(map(",".join, lines)), "a.csv")])


def test_triples_whose_first_relation_comes_once_stay_triples(tmp_path: Path) -> None:
    kin = [f"{one},parent of,{other}\n{one},lives in,{TOWNS[len(other) % 3]}" for one, other in pairwise(PERSONS)]
    raw, policy = read_and_propose([written(tmp_path, "\n".join(["table,used for,eating", *kin]), "a.csv")])
    assert policy.tables == ()
    assert {raw.text(at) for at in raw.predicates.tolist()} == {"used for", "parent of", "lives in"}
