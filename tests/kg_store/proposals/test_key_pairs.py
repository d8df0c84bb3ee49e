"""Keys of two columns: they are proposed only if they join tables, and lead each row to the right one."""

from __future__ import annotations

from pathlib import Path

from kg_store.proposals.propose import read_and_propose
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import read_by_policy
from tests.kg_store.sources.test_table_files import rows
from tests.support.stores import written

YEARS = range(2001, 2005)
CLUBS = {"BOS": "Boston Red Sox", "NYA": "New York Yankees", "CHN": "Chicago Cubs"}
TEAMS = [
    "yearID,lgID,teamID,W,name",
    *(f"{y},AL,{code},{y % 7},{name}" for y in YEARS for code, name in CLUBS.items()),
]
BATTING = [
    "playerID,yearID,teamID,HR",
    *(f"p{at % 3},{y},{code},{at}" for y in YEARS for at, code in enumerate(CLUBS)),
]
PEOPLE = ["playerID,name", "p0,Ada Holm", "p1,Bo Lind", "p2,Cy Park"]


def proposed(folder: Path, **files: list[str]) -> tuple[RawGraph, Policy]:
    return read_and_propose([written(folder, "\n".join(lines), f"{name}.csv") for name, lines in files.items()])


def test_two_columns_lead_to_the_row_that_they_tell_apart(tmp_path: Path) -> None:
    raw, policy = proposed(tmp_path, Teams=TEAMS, Batting=BATTING, People=PEOPLE)
    tables = {table.file: table for table in policy.tables}
    assert (tables["Teams.csv"].key, tables["Teams.csv"].key_beside) == ("teamID", ("yearID",))
    assert tables["Teams.csv"].names == ("name",)
    assert tables["Batting.csv"].columns["teamID"].beside == ("yearID",)
    assert "Batting.csv teamID + yearID -> Teams.csv teamID + yearID, 12 of 12" in raw.joins
    assert ("BOS%20%2F%202003", "label", "Boston Red Sox") in rows(raw)
    assert len({tail for _, relation, tail in rows(raw) if relation == "team"}) == 12
    assert Policy.from_toml(policy.to_toml()) == policy


def test_columns_that_are_unique_together_by_chance_are_no_key(tmp_path: Path) -> None:
    people = ["name,town,born", "Ada Holm,Ulm,1960", "Ben Lind,Kiel,1971", "Cyd Park,Ulm,1982", "Ada Holm,Bonn,1993"]
    weather = ["town,born,rain", "Ulm,1960,3", "Kiel,1971,4", "Ulm,1982,5", "Bonn,1993,6", "Ulm,1960,7"]
    _, policy = proposed(tmp_path, people=people, weather=weather)
    assert not any(table.key_beside for table in policy.tables)


def test_a_pair_of_which_a_part_is_missing_leads_nowhere_and_is_counted(tmp_path: Path) -> None:
    batting = [*BATTING, *(f"p0,1999,{code},1" for code in list(CLUBS)[:1])]
    _, policy = proposed(tmp_path, Teams=TEAMS, Batting=BATTING, People=PEOPLE)
    written(tmp_path, "\n".join(batting), "Batting.csv")
    raw = read_by_policy([tmp_path / f"{name}.csv" for name in ("Teams", "Batting", "People")], policy)
    assert "1 references of Batting.csv lead to no row and were kept as text (the first in line 14)" in raw.notes
    assert "Batting.csv teamID + yearID -> Teams.csv teamID + yearID, 12 of 13" in raw.joins


def test_a_declared_key_of_two_columns_joins_those_that_refer_to_it(tmp_path: Path) -> None:
    dump = """CREATE TABLE rooms (house text, no int, label text, PRIMARY KEY (house, no));
    INSERT INTO rooms VALUES ('A', 1, 'Blue room'), ('B', 1, 'Red room'), ('A', 2, 'Green room');
    CREATE TABLE stays (id int PRIMARY KEY, in_house text, room_no int,
      FOREIGN KEY (in_house, room_no) REFERENCES rooms (house, no));
    INSERT INTO stays VALUES (901, 'A', 2), (902, 'B', 1), (903, 'A', 1), (904, 'A', 2);"""
    raw, _ = read_and_propose([written(tmp_path, dump, "inn.sql")])
    assert raw.joins == ("inn.sql/stays room_no + in_house -> inn.sql/rooms no + house, 4 of 4",)
