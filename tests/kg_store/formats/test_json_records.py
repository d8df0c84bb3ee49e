"""JSON and JSON Lines: nested objects are columns, lists of objects are tables, all else is refused by its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kg_store.errors import LoadError
from kg_store.formats.files import MAX_LITERAL_BYTES
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.table_files import sheets_of
from tests.kg_store.sources.test_table_files import rows
from tests.support.stores import written

ORDERS = [
    {
        "order_id": f"O{number}",
        "customer": {"name": "Zofia Quarrel", "city": "Leeds"},
        "paid": True,
        "lines": [{"product": "lamp", "count": number}, {"product": "chair", "count": 2}],
    }
    for number in range(1, 9)
]
NESTED = "[" * 40 + "]" * 40


@pytest.mark.parametrize("name", ["orders.json", "orders.jsonl", "lines.json"])
def test_records_are_rows_and_their_lists_are_tables(tmp_path: Path, name: str) -> None:
    lines = "\n".join(map(json.dumps, ORDERS))
    path = written(tmp_path, json.dumps(ORDERS) if name == "orders.json" else lines, name)
    found = {sheet.name: sheet.header() for sheet in sheets_of(path)}
    assert found == {
        name: ["order_id", "customer name", "customer city", "paid"],
        f"{name}/lines": ["parent", "product", "count"],
    }
    raw, policy = read_and_propose([path])
    assert [table.key for table in policy.tables] == ["order_id", None]
    assert ("O1", "paid", "true") in rows(raw)


def test_lists_of_an_object_are_tables_by_their_keys(tmp_path: Path) -> None:
    people = {"people": [{"id": 1, "name": "Zofia"}], "cars": [{"id": 7, "owner_id": 1}]}
    path = written(tmp_path, json.dumps(people), "all.json")
    assert [sheet.name for sheet in sheets_of(path)] == ["all.json/people", "all.json/cars"]


def test_an_object_of_records_by_their_keys_is_a_table(tmp_path: Path) -> None:
    soups = {f"s{at}": {"title": f"Soup {at}", "servings": at, "tags": ["warm"]} for at in range(1, 8)}
    path = written(tmp_path, json.dumps(soups), "soups.json")
    assert [(sheet.name, sheet.header()) for sheet in sheets_of(path)] == [
        ("soups.json", ["key", "title", "servings", "tags"])
    ]
    with_ids = {key: {"id": key} | soup for key, soup in soups.items()}
    (sheet,) = sheets_of(written(tmp_path, json.dumps(with_ids), "own.json"))
    assert sheet.header() == ["id", "title", "servings", "tags"]


def test_an_object_of_other_objects_is_one_record(tmp_path: Path) -> None:
    house = {room: {f"{room} {at}": at for at in range(3)} for room in ("hall", "loft", "shed", "yard", "den")}
    (sheet,) = sheets_of(written(tmp_path, json.dumps(house), "house.json"))
    assert len(sheet.header()) == 15


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no record|not valid"),
        ("[]", "no record"),
        ('"Zofia"', "no record"),
        ('["Zofia"]', "other than objects"),
        ('{"people": ["Zofia"], "towns": ["Ulm"]}', "other than objects"),
        ('{"@context": {}, "@graph": []}', ".jsonld"),
        ('[{"Zofia": 1', "not valid JSON"),
        (f'[{{"a": {NESTED}}}]', "deep"),
        ('[{"a": "' + "Z" * (MAX_LITERAL_BYTES + 100_000) + '"}]', "a text of more than 1 MB"),
    ],
)
def test_what_is_no_table_is_refused_and_not_quoted(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(LoadError, match=reason) as caught:
        sheets_of(written(tmp_path, text, "a.json"))
    assert "Zofia" not in str(caught.value)


def test_objects_whose_keys_are_data_are_lists(tmp_path: Path) -> None:
    """By how many keys there are in all, or by being alike; an address is neither."""
    lands = [
        {
            "code": f"L{at}",
            "money": {f"M{at}": {"name": f"Mark {at}"}},
            "talk": {f"t{at}": f"Tongue {at % 7}"},
            "address": {"city": "Tarn", "street": "Ash"},
            "called": {word: {"long": f"{word} {at}", "short": word} for word in ("deu", "fra", "ita", "spa", "por")},
        }
        for at in range(20)
    ]
    tables = {sheet.name: sheet for sheet in sheets_of(written(tmp_path, json.dumps(lands), "lands.json"))}
    assert {name: tables[name].header() for name in tables} == {
        "lands.json": ["code", "talk", "talk key", "address city", "address street"],
        "lands.json/money": ["parent", "key", "name"],
        "lands.json/called": ["parent", "key", "long", "short"],
    }
    policy = read_and_propose([tmp_path / "lands.json"])[1]
    keys = {table.file: table.key for table in policy.tables}
    assert keys["lands.json"] == "code"
    assert all(table.columns["parent"].table == "lands.json" for table in policy.tables if "/" in table.file)


def test_a_list_of_signs_refers_to_the_rows_that_they_tell_apart(tmp_path: Path) -> None:
    lands = [
        {
            "id": f"l{at}",
            "name common": f"Land {at}",
            "sign": "ABCDEF"[at] * 3,
            "borders": [s * 3 for s in "ABCDEF" if s != "ABCDEF"[at]],
        }
        for at in range(6)
    ]
    (table,) = read_and_propose([written(tmp_path, json.dumps(lands), "lands.json")])[1].tables
    assert table.names == ("name common",)
    assert (table.columns["borders"].table, table.columns["borders"].by) == ("lands.json", "sign")


def test_lists_of_lists_are_rows_of_the_file_and_texts_of_a_record(tmp_path: Path) -> None:
    series = [{"name": name, "points": [[1, 2.5], [2, None]]} for name in ("North", "South")]
    path = written(tmp_path, json.dumps({"series": series, "rows": [["Ann", 3], ["Bob", 4]]}), "all.json")
    raw, _ = read_and_propose([path])
    assert {("North", "points", "[[1, 2.5], [2, null]]"), ("3", "label", "Ann"), ("3", "column%202", "3")} <= rows(raw)
    assert raw.notes == (
        "2 lists of lists of all.json are kept as a text each, as the file writes them",
        "1 list of rows of all.json has no names of columns: they are called by their numbers",
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"columns": ["name", "age", "town"], "index": [0, 1], "data": [["Ann", 31, "Ulm"], ["Bob", 45, "Bonn"]]}',
        '{"source": "x", "columns": ["name", "age", "town"], "data": [["Ann", 31, "Ulm"], ["Bob", 45, "Bonn"]]}',
        '[["name", "age", "town"], ["Ann", "31", "Ulm"], ["Bob", "45", "Bonn"]]',
        '["name", "age", "town"]\n["Ann", 31, "Ulm"]\n["Bob", 45, "Bonn"]',
    ],
)
def test_rows_have_the_names_that_a_list_beside_them_or_their_first_one_gives(tmp_path: Path, text: str) -> None:
    raw, _ = read_and_propose([written(tmp_path, text, "people.jsonl" if "\n" in text else "people.json")])
    assert {("Ann", "age", "31 years"), ("Bob", "age", "45 years"), ("Bob", "town", "Bonn")} <= rows(raw)
    assert "town" not in {subject for subject, *_ in rows(raw)}


def test_a_list_of_objects_and_other_values_is_read_whole(tmp_path: Path) -> None:
    people = [{"id": 1, "name": "Ann", "likes": ["tea", {"name": "chess"}]}, {"id": 2, "name": "Bob", "likes": ["go"]}]
    raw, _ = read_and_propose([written(tmp_path, json.dumps([*people, "Zofia"]), "people.json")])
    assert any(triple[1:] == ("value", "tea") for triple in rows(raw))
    assert any(note.startswith("1 lists of people.json hold objects and other values") for note in raw.notes)


def test_features_of_a_map_are_rows_with_their_properties(tmp_path: Path) -> None:
    """They stand in one record, on one line, and each is a row of its own."""
    features = [
        {
            "type": "Feature",
            "properties": {"name": name, "area_ha": area},
            "geometry": {"type": "Polygon", "coordinates": [[[7.1, 50], [7.2, 50]]]},
        }
        for name, area in (("Elm Park", 12), ("Oak Park", 3), ("Oak Park", 4))
    ]
    path = written(tmp_path, json.dumps({"type": "FeatureCollection", "features": features}), "parks.geojson")
    raw, policy = read_and_propose([path])
    assert policy.tables[-1].key is None
    assert {("1", "area%20ha", "12"), ("1.3", "area%20ha", "4"), ("1.3", "label", "Oak Park")} <= rows(raw)
    assert ("1.2", "geometry%20coordinates", "[[[7.1, 50], [7.2, 50]]]") in rows(raw)


def test_the_records_of_an_answer_of_a_service_are_called_as_the_file(tmp_path: Path) -> None:
    answer = {"meta": {"page": 1, "total": 2}, "data": [{"id": "c1", "name": "Mill"}, {"id": "c2", "name": "Quay"}]}
    policy = read_and_propose([written(tmp_path, json.dumps(answer), "cafes.json")])[1]
    assert {table.file: table.concept for table in policy.tables} == {"cafes.json": "file", "cafes.json/data": "cafe"}


@pytest.mark.parametrize("text", ['{"people": %s}', '[{"name": "Ada", "n": %s}]', '{"people": [{"n": %s}]}'])
def test_a_number_that_would_end_the_parser_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "people.json"
    file.write_text(text % ("9" * 5000))
    with pytest.raises(LoadError, match="digits"):
        sheets_of(file)
