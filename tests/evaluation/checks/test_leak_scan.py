"""The scanner finds a planted name however it was written, and tells public words apart; names are read from the
files, without the loader."""

from __future__ import annotations

import base64
import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.checks.canaries import canaries_in
from evaluation.checks.leak_scan import LeakScanner, folded, secret_names, texts_in, words_of

NAMES = [
    "Gert Fröbe",
    "O'Hara-Smith",
    "The Town",
    "Family",
    "Zoltan",
    "786-509-8335",
    "1955-03-12",
    "东京",
    "7",
    "Doctor",
]
INSTRUCTIONS = "You answer questions. The doctor of a patient is found by has doctor."


def scanner() -> LeakScanner:
    return LeakScanner(NAMES, [INSTRUCTIONS, "has doctor"])


def request(content: str) -> bytes:
    """A body as it goes over the wire: a json block in a message in JSON."""
    block = json.dumps({"question": content, "candidates": [{"number": 7, "path": ["has doctor"]}]})
    return json.dumps({"messages": [{"role": "user", "content": f"{INSTRUCTIONS}\n```json\n{block}\n```"}]}).encode()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("who married Gert Fröbe?", "gert frobe"),
        ("who married GERT FROBE", "gert frobe"),
        ("gert_fröbe's wife", "gert frobe"),
        (r"Gert Fr\u00f6be", "gert frobe"),
        (r"Gert Fr\\u00f6be", "gert frobe"),
        ("Gert%20Fr%C3%B6be", "gert frobe"),
        ("Gert Fr&ouml;be", "gert frobe"),
        (base64.b64encode("Gert Fröbe".encode()).decode(), "gert frobe"),
        (base64.urlsafe_b64encode("to Gert Fröbe".encode()).decode().rstrip("="), "gert frobe"),
        ("Gert Fröbe".encode().hex(), "gert frobe"),
        ("(O’Hara‐Smith)", "o hara smith"),
        ("the town", "the town"),
        ("call 786-509-8335 now", "786 509 8335"),
        ("born 1955-03-12.", "1955 03 12"),
        ("我住在东京都", "东 京"),
        ("does zoltan smoke", "zoltan"),
        ("in his Family", "family"),
    ],
)
def test_a_planted_name_is_found(text: str, name: str) -> None:
    found = scanner().scan([request(text)])
    assert name in found.leaks
    assert scanner().scan([text.encode()]).leaks.keys() == found.leaks.keys()


@pytest.mark.parametrize("text", ["Gertrude Fröbel", "zoltanic", "1786-509-83355", "The big Town", "Gert and Fröbe"])
def test_what_only_resembles_a_name_is_not(text: str) -> None:
    assert not scanner().scan([request(text)]).leaks


def test_public_words_are_counted_apart_with_their_words() -> None:
    found = scanner().scan([request("his family is large"), request("Family matters. Family")])
    assert not found.leaks
    assert found.public_words["family"] == 3
    assert found.public_words["7"] == 2
    assert found.public_words["doctor"] >= 4


def test_concepts_side_by_side_make_no_name() -> None:
    found = LeakScanner(["Film Industry"], ["film", "industry"])
    read = found.scan([b'{"concept": "film, industry"}', b'{"question": "the film, industry and all"}'])
    assert read.public_words == {"film industry": 1}
    assert read.leaks == {"film industry": 1}


def test_fields_that_touch_make_no_name() -> None:
    assert not scanner().scan([json.dumps({"a": ["Gert", "Fröbe"], "the": "town"}).encode()]).leaks


def test_keys_numbers_and_texts_outside_the_block_are_read_too() -> None:
    assert scanner().scan([json.dumps({"Zoltan": 1}).encode()]).leaks
    assert LeakScanner(["18650"], []).scan([b'{"salary": 18650}']).leaks
    assert scanner().scan([b'{"content": "for Zoltan ```json\\n{}\\n``` "}']).leaks
    assert scanner().scan([b"X-Caller: Zoltan"]).leaks


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_name_between_any_two_texts_is_found(before: str, after: str) -> None:
    payload = request(f"{before} Gert Fröbe {after}")
    assert "gert frobe" in scanner().scan([payload]).leaks


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(payload: bytes) -> None:
    assert scanner().scan([payload]).bytes_read == len(payload)
    assert list(texts_in(payload))


def test_words_are_folded_once_and_for_all() -> None:
    for text in ("Straße", "İstanbul", "Ｆull", "é"):
        assert folded(folded(text)) == folded(text)
    assert [word.folded for word in words_of("Fröbe's 36.6 °C")] == ["frobe", "s", "36.6", "c"]


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


DICE = random.Random(7)


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("after", range(4))
def test_a_name_is_found_in_base64_wherever_it_stands(before: int, after: int) -> None:
    coded = base64.b64encode(DICE.randbytes(before) + b"Orvindel" + DICE.randbytes(after))
    assert canaries_in(coded, ["Orvindel"]) == ["Orvindel"]


def test_sealed_bytes_hold_none_by_chance() -> None:
    assert canaries_in(base64.b64encode(DICE.randbytes(1_000_000)), ["Orvindel", "Vexquilda"]) == []
