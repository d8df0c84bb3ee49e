"""A word of the schema that holds a name, a part of one, or a text value of the graph is masked until its owner shows
it: small files of every format, each read under the policy that is proposed for it."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kg_store.errors import LoadError
from kg_store.loading.wordings import PartsOfNames, TextKind
from kg_store.proposals.preview import preview
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.triple_files import words_of
from kg_store.text.inflection import singular

FILES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("names_as_schema.toml").read_text("utf-8"))[
    "files"
]
PEOPLE = ["Ottoline Vance", "Jorrit Pell", "Agnes Tarrow", "Milo Hestern", "Brandt Osei", "Lena Quillow"]
TOWNS = ["Norvik", "Ashby", "Tell"]
TOWN_ROWS = [{"id": each, "name": each} for each in TOWNS]
REMARKS = ["calm", "late", "kind words", "gone"]
LOANS = [{"amount": 5}, {"amount": 9}]
Rows = list[dict[str, Any]]


def _rows(told: Mapping[str, Any]) -> Rows:
    """Returns eight people or more, with a town, a year, and a text where the file has values of its own."""
    names = [*told.get("names", ()), *PEOPLE]
    rows: Rows = [
        {"id": f"p{at}", "name": name, "town": TOWNS[at % 3], "born": 1950 + 3 * at} for at, name in enumerate(names)
    ]
    for at, row in enumerate(rows):
        if values := told.get("values"):
            row["remark"] = values[at % len(values)]
    return rows


def _csv(path: Path, rows: Rows) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _with(rows: Rows, columns: Sequence[str], cells: Sequence[object]) -> Rows:
    return [
        {**row, **{each: cells[(at + of) % len(cells)] for of, each in enumerate(columns)}}
        for at, row in enumerate(rows)
    ]


def _sheet(path: Path, title: str, rows: Rows) -> Path:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = title
    for line in (list(rows[0]), *(list(row.values()) for row in rows)):
        sheet.append(line)
    book.save(path)
    return path


def _neo4j(path: Path, rows: Rows, label: str, kind: str) -> Path:
    lines = [f"{row['id']},{row['name']},{row['town']},{label},,,\n" for row in rows]
    lines += [f",,,,{rows[at]['id']},{rows[at - 1]['id']},{kind}\n" for at in range(len(rows))]
    path.write_text("id:ID,name,town,:LABEL,:START_ID,:END_ID,:TYPE\n" + "".join(lines))
    return path


def _graphml(path: Path, rows: Rows, label: str) -> Path:
    nodes = "".join(f'<node id="{row["id"]}"><data key="n">{row["name"]}</data></node>' for row in rows)
    edges = "".join(
        f'<edge source="{rows[at]["id"]}" target="{rows[at - 1]["id"]}"><data key="e">{label}</data></edge>'
        for at in range(len(rows))
    )
    keys = "".join(
        f'<key id="{of[0]}" for="{of}" attr.name="{name}" attr.type="string"/>'
        for of, name in (("node", "name"), ("edge", "label"))
    )
    graph = f'{keys}<graph edgedefault="directed">{nodes}{edges}</graph>'
    path.write_text(f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{graph}</graphml>')
    return path


def _turtle(path: Path, rows: Rows, kind: str, predicate: str) -> Path:
    lines = [
        f':{row["id"]} a :{kind} ; rdfs:label "{row["name"]}" ; :livesIn :{row["town"]} ; '
        f":{predicate} :{rows[at - 1]['id']} ."
        for at, row in enumerate(rows)
    ]
    head = "@prefix : <urn:own:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    path.write_text(head + "\n".join(lines))
    return path


def _json(path: Path, tree: object) -> Path:
    path.write_text(json.dumps(tree))
    return path


def _triples(path: Path, rows: Rows, relation: str) -> Path:
    path.write_text(
        "".join(
            f"{row['name']}\t{relation}\t{rows[at - 1]['name']}\n{row['name']}\tlives in\t{row['town']}\n"
            for at, row in enumerate(rows)
        )
    )
    return path


WRITE: Mapping[str, Callable[[Path, Rows, Sequence[str]], Path]] = {
    "column": lambda folder, rows, words: _csv(folder / "people.csv", _with(rows, words, [12, 30, 7, 55, 20])),
    "file": lambda folder, rows, words: _csv(folder / f"{words[0]}.csv", rows),
    "sheet": lambda folder, rows, words: _sheet(folder / "book.xlsx", words[0], rows),
    "list": lambda folder, rows, words: _json(folder / "data.json", {words[0]: rows, "towns": TOWN_ROWS}),
    "key": lambda folder, rows, words: _json(folder / "people.json", _with(rows, words, REMARKS)),
    "nested": lambda folder, rows, words: _json(folder / "people.json", [{**row, words[0]: LOANS} for row in rows]),
    "type": lambda folder, rows, words: _neo4j(folder / "graph.csv", rows, "Person", words[0]),
    "label": lambda folder, rows, words: _neo4j(folder / "graph.csv", rows, words[0], "KNOWS"),
    "edge": lambda folder, rows, words: _graphml(folder / "graph.graphml", rows, words[0]),
    "predicate": lambda folder, rows, words: _turtle(folder / "graph.ttl", rows, "Person", words[0]),
    "class": lambda folder, rows, words: _turtle(folder / "graph.ttl", rows, words[0], "knows"),
    "triples": lambda folder, rows, words: _triples(folder / "graph.tsv", rows, words[0]),
    "pivot": lambda folder, rows, words: _csv(folder / "people.csv", _with(rows, words, ["yes", "no", "no"])),
}  # fmt: skip


def shown_secrets(told: Mapping[str, Any], folder: Path) -> list[str]:
    """Returns the parts of names, and the values, that a model would see in words of the schema."""
    path = WRITE[told["form"]](folder, _rows(told), told["words"])
    raw, policy = read_and_propose([path])
    seen = preview(raw, policy, 3)
    relations = [each for each in seen.relations if each.mask is None]
    texts = [text for each in relations for text in (each.label, each.inverse_label or "", *each.words, *each.hints)]
    texts += [*seen.concepts, *(fact.relation for each in seen.sample for fact in each.facts)]
    shown = {form for text in texts for word in words_of(text) for form in (word, singular(word))}
    secrets = [*told.get("names", ()), *told.get("values", ()), *(told["words"] if told["form"] == "pivot" else ())]
    parts = {word for secret in secrets for word in words_of(secret)}
    return sorted(part for part in parts if part in shown or singular(part) in shown)


@pytest.mark.parametrize("told", FILES, ids=lambda told: f"{told['form']}: {', '.join(told['words'])}")
def test_no_part_of_a_name_or_value_is_shown_as_schema(told: Mapping[str, Any], tmp_path: Path) -> None:
    if told.get("refused"):
        with pytest.raises(LoadError):
            shown_secrets(told, tmp_path)
        return
    assert shown_secrets(told, tmp_path) == []


NOUNS = """
table chair window door floor roof wall room house street road bridge river lake sea hill tree leaf flower grass bird
horse sheep cattle bread butter cheese sugar salt water milk coffee paper book letter picture music garden kitchen
morning evening summer winter spring weather cloud rain snow wind
"""


@pytest.mark.parametrize(("people", "masked"), [(6, ["told by price", "unit price"]), (60, ["told by price"])])
def test_among_many_names_some_are_words_of_the_schema_by_chance(people: int, masked: list[str]) -> None:
    surnames = ["price", *NOUNS.split()][:people]
    found = []
    for relation, behind in (("told by price", {"price"}), ("unit price", set[str]())):
        parts = PartsOfNames({"price"})
        for node, surname in enumerate(surnames):
            parts.add(node, ["zorvik", surname], TextKind.NAME, 0, ())
        spoken_of = parts.found({"price"}, (), behind, with_single=True)
        found += [relation] if spoken_of.get("price") else []
    assert found == masked


@pytest.mark.parametrize(("each", "masked"), [(4, 8), (2, 0)])
def test_columns_are_a_pivot_only_within_one_table(each: int, masked: int, tmp_path: Path) -> None:
    columns = ["paid", "insured", "printed", "closed", "signed", "painted", "heated", "cleaned"]
    for at, name in enumerate(("people", "boats")):
        marks = columns[4 * at : 4 * at + each]
        rows = [{"id": f"{name[0]}{row}", **dict.fromkeys(marks, "yes" if row % 2 else "no")} for row in range(6)]
        _csv(tmp_path / f"{name}.csv", rows)
    raw, policy = read_and_propose(sorted(tmp_path.iterdir()))
    assert sum(term.mask is not None for term in preview(raw, policy, 3).relations) == masked


def test_a_role_is_shown_though_it_is_also_a_value_and_a_value_that_no_column_refers_by_is_not(tmp_path: Path) -> None:
    staff = [{"id": f"s{at}", "name": f"Ann Zorvik{at}", "may": may} for at, may in enumerate(("driver", "guard") * 4)]
    _csv(tmp_path / "staff.csv", staff)
    turns = [
        {
            "day": f"2025-04-{at + 1:02}",
            "driver": f"s{at}",
            "guard": "yes" if at % 2 else "no",
            "price": f"s{at}",
            "seller": seller,
        }
        for at, seller in enumerate(("Jane Price", "Zork Bolt") * 4)
    ]
    _csv(tmp_path / "turns.csv", turns)
    raw, policy = read_and_propose(sorted(tmp_path.iterdir()))
    seen = {each.label for each in preview(raw, policy, 3).relations if each.mask is None}
    assert "driver" in seen
    assert not {"guard", "price"} & seen
