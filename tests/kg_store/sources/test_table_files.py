"""CSV tables with a mapping in the policy: one row an entity, references by key, and an error for whatever is odd."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kg_store.errors import LoadError, PolicyError
from kg_store.proposals.propose import propose_policy, read_and_propose
from kg_store.proposals.table_proposals import propose_tables
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import RawGraph, literal_of, text_of
from kg_store.sources.reader import read_sources
from kg_store.sources.table_policy import TablePolicy
from kg_store.terms import ValueKind
from tests.support.stores import written

PATIENTS = """patient_id,first_name,last_name,alias,born,weight,doctor_id,notes
P1,Zofia,Quarrel,Zosia,1961-02-11,71.5,7,private
P2,Aurelio,Vantongeren,,1958-09-30,80,8;7,
"""
DOCTORS = "id;name;Works In\n7;Ottoline Brackwater;Kestrel Wing\n8;Ptolemy Ashgrove;Gyrfalcon Wing\n"
POLICY = """
[[tables]]
file = "patients.csv"
key = "patient_id"
concept = "patient"
names = [["first_name", "last_name"], "alias"]

[tables.columns.born]
relation = "date of birth"
kind = "date"

[tables.columns.weight]
kind = "number"

[tables.columns.doctor_id]
relation = "treated by"
table = "doctors.csv"
separator = ";"

[[tables]]
file = "doctors.csv"
key = "id"
concept = "doctor"
names = ["name"]

[tables.columns."Works In"]
"""
SECRETS = ("Zofia", "Quarrel", "Vantongeren", "1961", "71.5", "Brackwater", "private")


def tables_of(policy: str = POLICY) -> tuple[TablePolicy, ...]:
    return Policy.from_toml(policy).tables


def both(folder: Path, patients: str = PATIENTS, doctors: str = DOCTORS) -> list[Path]:
    return [written(folder, patients, "patients.csv"), written(folder, doctors, "doctors.csv")]


def rows(raw: RawGraph) -> set[tuple[str, str, str]]:
    """Last parts of IRIs, and lexical forms."""
    columns = zip(raw.subjects, raw.predicates, raw.objects, strict=True)
    short = [text_of(term).rsplit(":", 1)[-1].rsplit("#", 1)[-1] for term in raw.terms]
    return {(short[s], short[p], short[o]) for s, p, o in columns}


def test_a_row_is_an_entity_with_names_values_and_references(tmp_path: Path) -> None:
    raw = read_sources(both(tmp_path), tables=tables_of())
    assert rows(raw) == {
        ("P1", "type", "patient"), ("P1", "label", "Zofia Quarrel"), ("P1", "label", "Zosia"),
        ("P1", "date%20of%20birth", "1961-02-11"), ("P1", "weight", "71.5"), ("P1", "treated%20by", "7"),
        ("P2", "type", "patient"), ("P2", "label", "Aurelio Vantongeren"),
        ("P2", "date%20of%20birth", "1958-09-30"), ("P2", "weight", "80"),
        ("P2", "treated%20by", "8"), ("P2", "treated%20by", "7"),
        ("7", "type", "doctor"), ("7", "label", "Ottoline Brackwater"), ("7", "works%20in", "Kestrel Wing"),
        ("8", "type", "doctor"), ("8", "label", "Ptolemy Ashgrove"), ("8", "works%20in", "Gyrfalcon Wing"),
    }  # fmt: skip
    kinds = {literal_of(term).lexical: literal_of(term).kind for term in raw.terms if term[0] == '"'}
    assert (kinds["1961-02-11"], kinds["71.5"], kinds["Zosia"]) == (ValueKind.DATE, ValueKind.NUMBER, ValueKind.TEXT)
    assert raw.notes == ("1 columns of patients.csv are not mapped by the policy, and were not read",)


def test_files_without_their_names_are_told_by_their_columns(tmp_path: Path) -> None:
    """An upload keeps no file names."""
    files = [written(tmp_path, PATIENTS, "file-1.csv"), written(tmp_path, DOCTORS, "file-2.csv")]
    named = tmp_path / "named"
    named.mkdir()
    assert rows(read_sources(files, tables=tables_of())) == rows(read_sources(both(named), tables=tables_of()))


def test_gzip_and_line_ends_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "doctors.csv.gz"
    path.write_bytes(gzip.compress(b'id,name\r\n1,"Brackwater, ""Otti""\nOttoline"\r\n\r\n2,B\r\n'))
    table = TablePolicy(file="doctors.csv", key="id", names=("name",))
    assert ("1", "label", 'Brackwater, "Otti"\nOttoline') in rows(read_sources([path], tables=[table]))


@pytest.mark.parametrize(
    ("patients", "doctors", "reason", "file", "line"),
    [
        (PATIENTS.replace("Aurelio,", "Aurelio,,"), DOCTORS, "9 cells, the header has 8", "patients.csv", 3),
        (PATIENTS[: PATIENTS.index(",Vantongeren")] + "\n", DOCTORS, "2 cells, the header has 8", "patients.csv", 3),
        (PATIENTS + PATIENTS.splitlines()[1] + "\n", DOCTORS, "stands in line 2 too", "patients.csv", 4),
        (PATIENTS.replace("P2,", ","), DOCTORS, "no key", "patients.csv", 3),
        (PATIENTS.replace("born", "geboren"), DOCTORS, "no column for column 1", "patients.csv", 1),
        (PATIENTS.replace("notes", " "), DOCTORS, "a cell in a column without a name", "patients.csv", 2),
        (PATIENTS, "", "a name for every column", "doctors.csv", 1),
        (PATIENTS, DOCTORS + '9;"Otto"x;Kestrel Wing\n', "quotes", "doctors.csv", 4),
    ],
)
def test_an_odd_table_is_an_error_with_its_line(
    tmp_path: Path, patients: str, doctors: str, reason: str, file: str, line: int
) -> None:
    with pytest.raises(LoadError, match=reason) as caught:
        read_sources(both(tmp_path, patients, doctors), tables=tables_of())
    assert (caught.value.file, caught.value.line) == (file, line)
    assert not [secret for secret in SECRETS if secret in str(caught.value)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_files_are_read_in_the_encodings_that_people_save_in_named_or_not(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "doctors.csv"
    path.write_bytes("id,name\n1,Ada Quill\n2,Zoë Marsh\n".encode(encoding))
    for named in ({}, {"encoding": encoding.removesuffix("-sig")}):
        table = TablePolicy.model_validate({"file": "doctors.csv", "key": "id", "names": ("name",), **named})
        assert ("2", "label", "Zoë Marsh") in rows(read_sources([path], tables=[table]))


def test_a_text_that_may_be_of_several_code_pages_is_an_error_until_the_policy_says_which(tmp_path: Path) -> None:
    path = tmp_path / "doctors.csv"
    path.write_bytes("id,name\n1,Ада\n2,Зоя\n".encode("cp1251"))
    table = TablePolicy(file="doctors.csv", key="id", names=("name",))
    with pytest.raises(LoadError, match="not UTF-8"):
        read_sources([path], tables=[table])
    told = TablePolicy(file="doctors.csv", key="id", names=("name",), encoding="cp1251")
    assert any(term.startswith('"Зоя"') for term in read_sources([path], tables=[told]).terms)


def test_a_line_that_ends_early_is_filled_up_and_counted(tmp_path: Path) -> None:
    raw = read_sources(both(tmp_path, PATIENTS.replace(",80,8;7,", ",80")), tables=tables_of())
    assert "1 lines of patients.csv end before the header does: the cells that they lack are empty" in raw.notes


def test_references_to_no_row_and_cells_of_another_kind_are_noted_with_their_first_line(tmp_path: Path) -> None:
    odd = PATIENTS.replace("80,8;7", "heavy,99;7") + "P3,Bertil,Oxenhame,,soon,70,98,\n"
    notes = read_sources(both(tmp_path, odd), tables=tables_of()).notes
    assert set(notes) == {
        "1 columns of patients.csv are not mapped by the policy, and were not read",
        "2 references of patients.csv lead to no row and were kept as text (the first in line 3)",
        "1 cells of patients.csv are no number and were kept as text (the first in line 3)",
        "1 cells of patients.csv are no date and were kept as text (the first in line 4)",
    }


def test_cells_of_a_concept_that_differ_in_blanks_alone_are_one_thing_and_are_noted(tmp_path: Path) -> None:
    books = written(tmp_path, "no,press\n1,Mole Press\n2,Mole  Press\n3,Tarn\n", "books.csv")
    column = {"press": {"relation": "press", "concept": "press"}}
    raw = read_sources(
        [books], tables=[TablePolicy.model_validate({"file": "books.csv", "key": "no", "columns": column})]
    )
    assert {tail for _, relation, tail in rows(raw) if relation == "press"} == {"Mole%20Press", "Tarn"}
    assert "1 cells of books.csv mean the same as without their further blanks (the first in line 3)" in raw.notes


STAFF = "init,name,may\nTH,Tess Hale,driver\nJO,Jo Orr,guard\nPW,Pia Wynn,guard\n"
TURNS = "day,driver,guard,late\n2025-04-05,TH,JO,2\n2025-04-05,th,Jo,0\n2025-04-06,TH,PW,5\n2025-04-07,XX,PW,1\n"


def read_turns(folder: Path, staff: str, turns: str, *own: str) -> RawGraph:
    """Reads staff and rows without a key that refer to them; `own`: the columns of the rows that refer to nothing."""
    columns = {name: {"table": "staff.csv"} for name in ("driver", "guard")} | {name: {} for name in own}
    tables = [
        TablePolicy(file="staff.csv", key="init"),
        TablePolicy.model_validate({"file": "turns.csv", "concept": "turn", "columns": columns}),
    ]
    return read_sources([written(folder, staff, "staff.csv"), written(folder, turns, "turns.csv")], tables=tables)


def test_references_in_other_capitals_lead_to_the_only_row_that_is_called_so(tmp_path: Path) -> None:
    staff = STAFF + "jo,Joan Orr,guard\n"  # "Jo" may be either.
    raw = read_turns(tmp_path, staff, TURNS, "day")
    assert sorted(note for note in raw.notes if "references" in note) == [
        "1 references of turns.csv could mean several rows and were kept as text (the first in line 3)",
        "1 references of turns.csv lead to a row that is written in other capitals (the first in line 3)",
        "1 references of turns.csv lead to no row and were kept as text (the first in line 5)",
    ]


def test_a_table_without_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="table 2 of the policy matches none"):
        read_sources([written(tmp_path, PATIENTS, "patients.csv")], tables=tables_of())
    no_doctors = tables_of()[:1]
    with pytest.raises(LoadError, match="column 3 of this table refers to a table that is not loaded"):
        read_sources([written(tmp_path, PATIENTS, "patients.csv")], tables=no_doctors)


def test_a_file_that_fits_two_tables_is_an_error(tmp_path: Path) -> None:
    tables = [TablePolicy(file=f"{name}.csv", key="id") for name in ("a", "b")]
    with pytest.raises(LoadError, match="matches several tables"):
        read_sources([written(tmp_path, "id,name\n1,A\n", "file-1.csv")], tables=tables)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('[[tables]]\nkey = "id"\n', "tables.?.file"),
        ('[[tables]]\nfile = "a.csv"\nkey = "id"\nclass = "x"\n', "tables.?"),
        ('[[tables]]\nfile = "a.csv"\nkey = "id"\n[tables.columns.secret]\nkind = "colour"\n', "columns.?.kind"),
        ('[[tables]]\nfile = "a.csv"\nkey = "id"\n[[tables]]\nfile = "a.csv"\nkey = "id"\n', "same file"),
        ('names = ["http://x.test/n"]\n[[tables]]\nfile = "a.csv"\nkey = "id"\n', "label"),
    ],
)
def test_a_mapping_that_is_not_valid_is_told_by_its_field(text: str, where: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(text)
    assert where in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_mapping_is_proposed_for_tables(tmp_path: Path) -> None:
    policy = propose_policy(both(tmp_path, PATIENTS.replace("8;7", "8")))
    patients, doctors = policy.tables
    assert (patients.key, patients.concept, patients.names) == (
        "patient_id", "patient", (("first_name", "last_name"), "alias"),
    )  # fmt: skip
    assert {name: (each.relation, each.kind, each.table) for name, each in patients.columns.items()} == {
        "born": ("born", ValueKind.DATE, None), "weight": ("weight", ValueKind.NUMBER, None),
        "doctor_id": ("doctor", ValueKind.TEXT, "doctors.csv"), "notes": ("notes", ValueKind.TEXT, None),
    }  # fmt: skip
    assert (doctors.key, doctors.concept, doctors.names) == ("id", "doctor", ("name",))
    assert Policy.from_toml(policy.to_toml()) == policy


def test_tables_of_few_columns_and_references_into_their_own_are_proposed(tmp_path: Path) -> None:
    staff = written(
        tmp_path, "id;first;last;boss;team\n1;Orla;Quill;;t1\n2;Sean;Brock;1;t1\n3;Mia;Hart;1;t2\n", "staff.csv"
    )
    teams = written(tmp_path, "team;name;office\nt1;Field Works;Galway\nt2;Night Desk;Cork\n", "teams.csv")
    of_staff, of_teams = propose_policy([staff, teams]).tables
    assert (of_teams.key, of_teams.concept, of_teams.names) == ("team", "team", ("name",))
    assert of_staff.names == (("first", "last"),)
    assert {name: each.table for name, each in of_staff.columns.items()} == {"boss": "staff.csv", "team": "teams.csv"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "head,relation,tail\nA,knows,B\nB,knows,C\n"),
        ("a.csv", "A,knows,B\nB,knows,C\n"),
        ("a.tsv", "A\tknows\tB\tok\nB\tknows\tC\tok\n"),
        ("a.tsv", "A\tknows\tB\nA\tlikes\tB\n"),
        ("a.txt", "Kismet|directed_by|William D.\nThe Best|directed_by|Tatia R.\n"),
    ],
)
def test_triples_stay_triples(tmp_path: Path, name: str, text: str) -> None:
    assert propose_tables([written(tmp_path, text, name)]).tables == ()


def test_a_column_with_a_name_longer_than_a_policy_holds_makes_no_table(tmp_path: Path) -> None:
    path = written(tmp_path, f"id,name,born,{'x' * 201}\n1,Zofia,1961,a\n", "people.csv")
    with pytest.raises(LoadError, match=r"people\.csv, line 1: a line needs three cells"):
        read_and_propose([path])


def test_a_key_of_many_words_gives_a_concept_that_a_policy_holds(tmp_path: Path) -> None:
    path = written(tmp_path, f"{'long ' * 30}id,name\n1,Zofia\n2,Aurelio\n", "file-1.csv")
    (table,) = propose_policy([path]).tables
    assert table.concept == ("long " * 16).strip()


def test_rows_that_have_no_name_are_loaded_all_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, "id,code,legal name,name\n1,a7,Kestrel,\n2,b8,Heron,\n", "wards.csv")
    policy = propose_policy([path])
    assert "http://www.w3.org/2000/01/rdf-schema#label" in policy.names
    assert Policy.from_toml(policy.to_toml()) == policy
