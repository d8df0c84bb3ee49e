"""Proposals for tables: references by figures, names and e-mails, aliases, codes, units; and broken tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook

from kg_store.errors import LoadError
from kg_store.loading.load import load_graph
from kg_store.proposals.propose import read_and_propose
from kg_store.proposals.table_proposals import propose_tables
from kg_store.sources.policy import ColumnPolicy, TablePolicy
from kg_store.sources.reader import read_sources
from kg_store.terms import ValueKind
from tests.kg_store.loading.test_load import facts_of
from tests.support.stores import MID_KEY

CREW = """Crew No,Sailor,Goes By,Mail,Bosun,Watch (h),Joined
0101,Tjark Brookmer,Tucker,t.brookmer@fleet.example,,4,1998
0102,Maren Oltmanns,,m.oltmanns@fleet.example,Tjark Brookmer,6,2001
0103,Wiebke Harms,Wib,w.harms@fleet.example,Tjark Brookmer,6,2004
0104,Onno Janssen,,o.janssen@fleet.example,Maren Oltmanns,4,2010
"""
SHIPS = """Hull,Ship,Known As,Master,Contact,Draught (m),Built,Berth
7300000000011,Gannet of Esk,The Gannet,0101,t.brookmer@fleet.example,3.1,1988,5301
7300000000028,Petrel of Esk,,0102,m.oltmanns@fleet.example,2.7,1990,5304
7300000000035,Dunlin of Esk,,0103,w.harms@fleet.example,2.9,1991,5307
7300000000042,Curlew of Esk,,0102,t.brookmer@fleet.example,4.0,2003,5310
7300000000059,Godwit of Esk,,0103,w.harms@fleet.example,4.4,2003,5313
7300000000066,Plover of Esk,Old Plover,0101,m.oltmanns@fleet.example,4.1,2004,5301
"""
QUAYS = """Quay Number,Quay Name,Depth (m)
5301,North Mole,6
5304,South Mole,5
5307,Salt Steps,4
5310,Rope Walk,6
5313,Tar Yard,7
5316,Coal Wharf,8
"""


@pytest.fixture
def fleet(tmp_path: Path) -> list[Path]:
    for name, text in (("crew.csv", CREW), ("ships.csv", SHIPS), ("quays.csv", QUAYS)):
        (tmp_path / name).write_text(text, "utf-8")
    return sorted(tmp_path.glob("*.csv"))


def table_of(fleet: list[Path], file: str) -> TablePolicy:
    return next(table for table in propose_tables(fleet).tables if table.file == file)


def test_long_codes_of_one_length_are_keys_and_long_figures_of_one_table_refer_to_it(fleet: list[Path]) -> None:
    ships = table_of(fleet, "ships.csv")
    assert ships.key == "Hull"
    assert ships.names == ("Ship", "Known As")
    assert {name: ships.columns[name].table for name in ("Master", "Berth")} == {
        "Master": "crew.csv",
        "Berth": "quays.csv",
    }


def test_a_reference_may_hold_names_or_emails_in_place_of_keys(fleet: list[Path]) -> None:
    contact = table_of(fleet, "ships.csv").columns["Contact"]
    assert (contact.table, contact.by) == ("crew.csv", "Mail")
    quays = table_of(fleet, "quays.csv")
    assert [each.table for each in quays.columns.values()] == [None]


def test_a_name_of_the_same_table_is_a_reference_only_where_the_column_says_so(fleet: list[Path]) -> None:
    crew = fleet[0].read_text("utf-8")
    fleet[0].write_text(crew.replace("Bosun", "Boss").replace("Maren Oltmanns\n", "Wiebke Harms\n"), "utf-8")
    assert table_of(fleet, "crew.csv").columns["Boss"].table is None  # two different ones are few
    fleet[0].write_text(
        crew.replace("Bosun", "Boss") + "0105,Imke Ahlers,,i@fleet.example,Wiebke Harms,4,2011\n", "utf-8"
    )
    boss = table_of(fleet, "crew.csv").columns["Boss"]
    assert (boss.table, boss.by) == ("crew.csv", "Sailor")


def test_a_kind_is_no_reference_though_things_are_called_so(tmp_path: Path) -> None:
    rooms = "id,name\n" + "".join(f"r{at},{name}\n" for at, name in enumerate(("Botany", "Optics", "Greek", "Law")))
    pupils = "id,name,subject\n" + "".join(
        f"p{at},Pupil {at},{('Botany', 'Optics', 'Greek')[at % 3]}\n" for at in range(9)
    )
    (tmp_path / "rooms.csv").write_text(rooms, "utf-8")
    (tmp_path / "pupils.csv").write_text(pupils, "utf-8")
    files = sorted(tmp_path.glob("*.csv"))
    assert table_of(files, "pupils.csv").columns["subject"].concept == "subject"


def test_units_in_brackets_and_years_are_read(fleet: list[Path]) -> None:
    ships, crew = table_of(fleet, "ships.csv"), table_of(fleet, "crew.csv")
    assert (ships.columns["Draught (m)"].unit, crew.columns["Watch (h)"].unit) == ("m", "hours")
    assert ships.columns["Built"].kind is ValueKind.DATE
    assert crew.names == ("Sailor", "Goes By")


def test_references_by_another_column_lead_to_its_rows(fleet: list[Path]) -> None:
    raw, policy = read_and_propose(fleet)
    text = policy.to_toml()
    assert 'by = "Mail"' in text
    loaded = load_graph(raw, policy, MID_KEY)
    assert ("Curlew of Esk", "contact", "Tjark Brookmer") in facts_of(loaded)


def test_two_rows_of_one_name_are_no_reference_and_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,name\n1,Ann\n2,Ann\n3,Bo\n", "utf-8")
    (tmp_path / "b.csv").write_text("id,name,of\nx,X,Ann\ny,Y,Bo\n", "utf-8")
    tables = [
        TablePolicy(file="a.csv", key="id", names=("name",)),
        TablePolicy(file="b.csv", key="id", names=("name",), columns={"of": ColumnPolicy(table="a.csv", by="name")}),
    ]
    raw = read_sources([tmp_path / "a.csv", tmp_path / "b.csv"], tables=tables)
    assert raw.notes == ("1 references of b.csv could mean several rows and were left out (the first in line 2)",)
    tables[1] = tables[1].model_copy(update={"columns": {"of": ColumnPolicy(table="a.csv", by="nom")}})
    with pytest.raises(LoadError, match="a\\.csv, line 1: the header has no column for `by`"):
        read_sources([tmp_path / "a.csv", tmp_path / "b.csv"], tables=tables)
    with pytest.raises(ValueError, match="`by` is a column of a table"):
        ColumnPolicy(by="name")


CYRILLIC = "id,name\n1,Мурзилка\n2,Зоя\n"

BROKEN = {
    "cells.csv": (b"id,name\n1,Tern,Gull\n2,Bram\n", r"cells\.csv, line 2: this line has 3 cells, the header has 2"),
    "quotes.csv": (b'id,name\n1,"Tern\n2,Bram\n', r"quotes\.csv, line 3: the quotes of this line do not match"),
    "bytes.csv": (CYRILLIC.encode("cp1251"), r"bytes\.csv, line \d: the file is not UTF-8 text: save it anew"),
    "no_key.csv": (b"size,age\n3,4\n3,4\n", r"no_key\.csv, line 1: .* a column that tells its rows apart"),
    "book.xlsx": (b"PK\x03\x04 and then nothing", r"book\.xlsx: not a workbook that can be read"),
    "list.json": (b'[{"id": 1}, {"id":', r"list\.json: not valid JSON, or cut off"),
    "numbers.json": (b"[1, 2]", r"numbers\.json: the list holds other than objects"),
    "lines.jsonl": (b'{"id": 1, "name": "Tern"}\n{"id": 2, "na', r"lines\.jsonl, line 2: this line is no JSON object"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_table_is_told_by_what_is_wrong_with_it(tmp_path: Path, name: str) -> None:
    content, told = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LoadError, match=told):
        read_and_propose([tmp_path / name])


def test_a_key_that_is_called_a_name_is_the_name_and_its_own_cells_refer_to_it(tmp_path: Path) -> None:
    file = tmp_path / "staff.csv"
    file.write_text("name,city,boss\nAda Quill,Tarn,Bo Reed\nBo Reed,Osk,\n", "utf-8")
    (staff,) = propose_tables([file]).tables
    assert (staff.key, staff.names) == ("name", ("name",))
    assert staff.columns["boss"].table == "staff.csv"
    assert staff.columns["city"].concept == "city"


ORDERS = """order,customer,city,country,shipped,score,rhesus
1,Ada Quill,Tarn,NA,2024-01-05,4,+
2,Bo Reed,NULL,DE,NULL,-,-
3,Cy Marsh,Osk,FR,-,5,+
4,Di Ash,N/A,GB,2024-02-01,3,-
5,Ed Fen,Osk,NA,2024-03-01,?,+
"""


def test_cells_that_say_that_nothing_is_known_are_neither_things_nor_values(tmp_path: Path) -> None:
    file = tmp_path / "orders.csv"
    file.write_text(ORDERS, "utf-8")
    (orders,) = propose_tables([file]).tables
    assert orders.empty == ("?", "N/A", "NULL")
    assert {name: settings.empty for name, settings in orders.columns.items() if settings.empty} == {
        "shipped": ("-",),
        "score": ("-",),
    }
    assert orders.columns["shipped"].kind is ValueKind.DATE
    assert orders.columns["score"].kind is ValueKind.NUMBER
    raw, policy = read_and_propose([file])
    facts = facts_of(load_graph(raw, policy, MID_KEY))
    assert {tail for _, relation, tail in facts if relation == "city"} == {"Tarn", "Osk"}
    assert {tail for _, relation, tail in facts if relation == "country"} == {"NA", "DE", "FR", "GB"}
    assert any("6 cells of orders.csv say that nothing is known" in note for note in raw.notes)


def test_a_word_for_nothing_that_is_a_persons_name_stays(tmp_path: Path) -> None:
    file = tmp_path / "staff.csv"
    file.write_text("id,name\n1,Null\n2,Ada\n3,Bo\n", "utf-8")
    (staff,) = propose_tables([file]).tables
    assert staff.empty == ()


TITLED = """Staff of the mill
as of;2024-05-01

Name;City;Salary;Boss
Ada Quill;Tarn;4100;Bo Reed
Bo Reed;Osk;5200;
Cy Marsh;Tarn;3900;Bo Reed
"""


def test_titles_above_a_header_are_skipped_and_its_line_is_told(tmp_path: Path) -> None:
    file = tmp_path / "staff.csv"
    file.write_text(TITLED, "utf-8")
    (staff,) = propose_tables([file]).tables
    assert (staff.header_row, staff.key, list(staff.columns)) == (4, "Name", ["City", "Salary", "Boss"])
    raw, policy = read_and_propose([file])
    facts = facts_of(load_graph(raw, policy, MID_KEY))
    assert ("Ada Quill", "boss", "Bo Reed") in facts
    assert not any("mill" in name for fact in facts for name in fact)


def test_a_workbook_as_people_export_it_is_read(tmp_path: Path) -> None:
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet["B1"], sheet["B3"], sheet["C3"] = "Staff of the mill", "as of", "2024-05-01"
    sheet.merge_cells("B1:E1")
    rows = [("Name", "City", "Boss"), ("Ada Quill", "Tarn", "Bo Reed"), ("Bo Reed", "Osk", None)]
    for line, row in enumerate(rows, start=5):
        for column, value in zip("BCD", row, strict=True):
            sheet[f"{column}{line}"] = value
    file = tmp_path / "staff.xlsx"
    workbook.save(file)
    (staff,) = propose_tables([file]).tables
    assert (staff.header_row, staff.key, list(staff.columns)) == (5, "Name", ["City", "Boss"])
    facts = facts_of(load_graph(*read_and_propose([file]), MID_KEY))
    assert ("Ada Quill", "city", "Tarn") in facts


def test_a_header_without_a_name_for_its_first_column_is_no_title(tmp_path: Path) -> None:
    file = tmp_path / "staff.csv"
    file.write_text(",city\nAda Quill,Tarn\nBo Reed,Osk\n", "utf-8")
    with pytest.raises(LoadError):
        read_and_propose([file])


def test_a_line_above_the_header_may_be_named_by_the_policy(tmp_path: Path) -> None:
    file = tmp_path / "staff.csv"
    file.write_text("List,of,staff\nName,City,Boss\nAda Quill,Tarn,\n", "utf-8")
    columns = {"City": ColumnPolicy(concept="city")}
    policy = TablePolicy(file="staff.csv", key="Name", names=("Name",), header_row=2, columns=columns)
    raw = read_sources([file], tables=[policy])
    assert len(raw.subjects) > 0


def test_titles_that_fill_several_cells_are_skipped_and_a_delimiter_behind_each_line_is_no_column(
    tmp_path: Path,
) -> None:
    file = tmp_path / "people.csv"
    lines = (
        "Lots of people,,,",
        "simply,,can not,",
        "Name,Trade,Town,Boss",
        "Ada Quill,fuller,Tarn,Bo Reed",
        "Bo Reed,tanner,Osk,",
    )
    file.write_text("\n".join(lines) + "\n", "utf-8")
    (people,) = propose_tables([file]).tables
    assert (people.header_row, people.key) == (3, "Name")
    file.write_text("id,name,town\n1,Ada Quill,Tarn,\n2,Bo Reed,Osk,\n", "utf-8")
    (people,) = propose_tables([file]).tables
    assert (people.key, people.names) == ("id", ("name",))


@pytest.mark.parametrize(
    "text",
    [
        "notes\nAda Quill, likes tea\nBo Reed, likes rain\n",
        "town,notes\nTarn,Ada Quill,tea,dogs,rain\nOsk,Bo Reed,sun,cats,hail\n",
        "Export of today,,,\nAda Quill,fuller,Tarn,red\nBo Reed,tanner,Osk,blue\n",
    ],
)
def test_a_row_below_a_short_line_never_becomes_the_header(tmp_path: Path, text: str) -> None:
    file = tmp_path / "people.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(LoadError):
        read_and_propose([file])


def test_a_sheet_with_a_title_and_no_certain_header_asks_for_its_line(tmp_path: Path) -> None:
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in (["Our people"], ["Ada Quill", "fuller", "Tarn"], ["Bo Reed", "tanner", "Osk"]):
        sheet.append(row)
    file = tmp_path / "people.xlsx"
    workbook.save(file)
    with pytest.raises(LoadError, match="say its line as `header_row`"):
        read_and_propose([file])


ARTICLES = """Title,Authors,Subjects,States,Abstract,Issue
On tidal mills,Ivo Lund|Mara Quist,mills|tides,"HB,HH","Mills; and tides; of the Esk",12
On salt,Mara Quist,salt|trade,HH,"Salt; a history",13
On ropes,Ivo Lund,ropes|trade,"HB,NI,HH","Ropes; and how they are laid",14
On tar,Tove Birk|Ivo Lund,tar|trade,NI,"Tar; its uses",15
"""


def test_cells_that_hold_several_values_are_lists_by_the_mark_between_them(tmp_path: Path) -> None:
    (tmp_path / "articles.csv").write_text(ARTICLES, "utf-8")
    columns = table_of([tmp_path / "articles.csv"], "articles.csv").columns
    assert (columns["Authors"].separator, columns["Authors"].concept) == ("|", "author")
    assert (columns["Subjects"].separator, columns["Subjects"].concept) == ("|", "subject")
    assert (columns["States"].separator, columns["States"].concept) == (",", "state")
    # Prose has semicolons too.
    assert columns["Abstract"].separator is None


def test_commas_of_names_and_sentences_part_nothing(tmp_path: Path) -> None:
    rows = "\n".join(f'{at},"Lund, Ivo {at}","1,{at}00","Esk, a town"' for at in range(9))
    (tmp_path / "people.csv").write_text(f"id,person,amount,place\n{rows}\n", "utf-8")
    columns = table_of([tmp_path / "people.csv"], "people.csv").columns
    assert {column.separator for column in columns.values()} == {None}
