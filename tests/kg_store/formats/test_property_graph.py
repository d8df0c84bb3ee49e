"""Exports of property graphs: nodes, labels, relationships and their properties, from neo4j-admin and from APOC."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kg_store.loading.load import load_graph
from kg_store.proposals.propose import propose, read_and_propose
from kg_store.terms import ValueKind
from tests.kg_store.loading.test_load import facts_of
from tests.support.stores import MID_KEY, labels_of, written

PEOPLE = """personId:ID(Person),name,born:int,languages:string[],:LABEL
z,Zofia Quarrel,1961,pl;en,Person
o,Otto Lee,1958,,Person;Boss
"""
FILMS = 'filmId:ID(Film),title,:LABEL\nz,"Heat, again",Film\n'
ROLES = ":START_ID(Person),role,:END_ID(Film),:TYPE\nz,Nun,z,ACTED_IN\no,,z,DIRECTED\n"
NODES = [
    {"type": "node", "id": "1", "labels": ["Person"], "properties": {"name": "Zofia Quarrel", "born": 1961}},
    {"type": "node", "id": "2", "labels": ["Film"], "properties": {"title": "Heat", "languages": ["pl", "en"]}},
]
EDGE = {
    "type": "relationship", "id": "9", "label": "ACTED_IN", "properties": {"role": "Nun"},
    "start": {"id": "1", "labels": ["Person"]}, "end": {"id": "2", "labels": ["Film"]},
}  # fmt: skip
APOC = """_id,_labels,name,born,_start,_end,_type,role
1,:Person,Zofia Quarrel,1961,,,,
2,:Film,Heat,,,,,
,,,,1,2,ACTED_IN,Nun
"""


def test_neo4j_admin_files_are_a_graph_and_ids_of_two_spaces_stay_apart(tmp_path: Path) -> None:
    files = [written(tmp_path, text, name) for name, text in (("p.csv", PEOPLE), ("f.csv", FILMS), ("r.csv", ROLES))]
    raw, policy = read_and_propose(files)
    loaded = load_graph(raw, policy, MID_KEY)
    facts = facts_of(loaded)
    assert {("Zofia Quarrel", "acted in", "Heat, again"), ("Otto Lee", "directed", "Heat, again")} <= facts
    assert {("Zofia Quarrel", "languages", "pl"), ("Zofia Quarrel", "languages", "en")} <= facts
    assert ("mediator", "role", "Nun") in facts
    assert {word for each in loaded.signatures for word in each.classes} == {"person", "boss", "film"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "\n".join(map(json.dumps, [*NODES, EDGE]))),
        ("a.jsonl", "\n".join(map(json.dumps, [*NODES, EDGE]))),
        ("a.json", json.dumps([*NODES, EDGE])),
        ("a.json", json.dumps({"nodes": NODES, "rels": [EDGE]})),
        ("a.json", json.dumps({"nodes": {each["id"]: each for each in NODES}, "rels": {"9": EDGE}})),
        ("a.json", json.dumps({"u": NODES[0], "p": {"length": 1, "nodes": NODES, "rels": [EDGE]}, "r": EDGE})),
        ("a.csv", APOC),
    ],
)
def test_apoc_exports_are_the_same_graph_in_every_form(tmp_path: Path, name: str, text: str) -> None:
    raw, policy = read_and_propose([written(tmp_path, text, name)])
    loaded = load_graph(raw, policy, MID_KEY)
    assert ("Zofia Quarrel", "acted in", "Heat") in facts_of(loaded)
    assert {each.value_kind for each in loaded.relations if each.label == "born"} == {ValueKind.DATE}


def test_types_and_labels_that_are_names_never_become_words_of_the_schema(tmp_path: Path) -> None:
    """Canary: cells of `:TYPE` and `:LABEL` are masked where they may be names, and nothing else shows them."""
    people = "".join(f"p{n},Person {chr(65 + n)} Brackwede,Person\n" for n in range(20))
    knows = "".join(f"p{n},p{n + 1},KNOWS\n" for n in range(19))
    files = [
        written(tmp_path, "id:ID,name,:LABEL\n" + people + "q,Ines Murglewort,Brackwede\n", "p.csv"),
        written(tmp_path, ":START_ID,:END_ID,:TYPE\n" + knows + "q,p1,APPROVED_BY_MURGLEWORT\n", "r.csv"),
    ]
    raw, policy = read_and_propose(files)
    loaded = load_graph(raw, propose(raw) if policy is None else policy, MID_KEY)
    shown = " ".join([*labels_of(loaded), *(word for each in loaded.signatures for word in each.classes)]).lower()
    assert "murglewort" not in shown
    assert "brackwede" not in shown
    assert {each.word for each in loaded.masked} >= {"approved by murglewort"}
