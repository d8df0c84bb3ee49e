"""RDF lists are read as several values; broken ones stay as they are."""

from __future__ import annotations

from pathlib import Path

from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import read_sources

LISTS = """@prefix : <http://x.test/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
:ivo :speaks ( :norse "Sudorian" ) ; :likes ( ) .
:mara :speaks ( :norse ) .
:runa :reads _:a . _:a rdf:first :saga ; rdf:rest _:a .
_:b rdf:first :alone ; rdf:rest rdf:nil .
"""


def triples_of(raw: RawGraph) -> set[tuple[str, str, str]]:
    columns = (raw.subjects, raw.predicates, raw.objects)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(raw.text(s).split("/")[-1], raw.text(p).split("/")[-1], raw.text(o).split("/")[-1]) for s, p, o in rows}


def test_the_members_of_a_list_stand_in_its_place_and_a_broken_one_is_kept(tmp_path: Path) -> None:
    (tmp_path / "lists.ttl").write_text(LISTS, "utf-8")
    found = triples_of(read_sources([tmp_path / "lists.ttl"]))
    assert {("ivo", "speaks", "norse"), ("ivo", "speaks", "Sudorian"), ("mara", "speaks", "norse")} <= found
    subjects = {subject for subject, predicate, _ in found if predicate.endswith("first")}
    # A loop, and a list to which nothing leads.
    assert len(subjects) == 2
    assert ("runa", "reads") in {each[:2] for each in found}
