"""The names that the scanner must look for are read from the files, without the loader."""

import gzip
from pathlib import Path

import pytest

from evaluation.checks.leak_scan import secret_names

TURTLE = """
@prefix : <http://x.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Person a rdfs:Class ; rdfs:label "a class" .
:worksAt rdfs:label "works at" .
:p1 a :Person ; rdfs:label "Ann Quillfeather"@en ; :born "1955" ; :salary 1200.5 ; :worksAt :Acme-Corp ;
    :mail [ :text "a@b.cd" ] .
:p2 a :Person ; :first "Bo" ; :last "Zyn" ; :worksAt :Acme-Corp .
"""
POLICY = """
composite_names = [["http://x.example/first", "http://x.example/last"]]
[relations."http://x.example/born"]
values = "clear"
"""


@pytest.mark.parametrize("zipped", [False, True])
def test_names_values_composites_and_local_parts_are_secret(tmp_path: Path, zipped: bool) -> None:
    file = tmp_path / ("g.ttl.gz" if zipped else "g.ttl")
    file.write_bytes(gzip.compress(TURTLE.encode()) if zipped else TURTLE.encode())
    names = secret_names([file], POLICY)
    assert names == {"Ann Quillfeather", "1200.5", "a@b.cd", "Bo", "Zyn", "Bo Zyn", "Acme-Corp", "p2"}
    assert "1955" in secret_names([file])


def test_no_predicate_and_no_class_is_a_name(tmp_path: Path) -> None:
    file = tmp_path / "g.ttl"
    file.write_text(TURTLE)
    assert not secret_names([file]) & {"a class", "works at", "Person", "worksAt"}


def test_tables_give_heads_and_tails_without_mediators(tmp_path: Path) -> None:
    tabs, commas, bars = tmp_path / "a.tsv", tmp_path / "b.csv", tmp_path / "c.txt"
    tabs.write_text("Ann\tspouse\tm.0x\tok\nm.0x\tspouse\tBo\tok\n")
    commas.write_text('"Zyn, Bo",works at,Acme\n')
    bars.write_text("$|directed_by|Cy\n")
    names = secret_names([tabs, commas, bars], "[mediators]\npattern = '^m\\.'\n")
    assert names == {"Ann", "Bo", "Zyn, Bo", "Acme", "$", "Cy"}
