"""Encodings of files: the usual ones are found, over pieces of a file too; none is guessed where several may be."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kg_store.formats.files import encoding_of

NAMES = "id,name\n1,Zoë Müller\n2,Ada Quill\n"


@pytest.mark.parametrize(
    ("text", "encoding", "found"),
    [
        (NAMES, "utf-8", "utf-8"),
        (NAMES, "utf-8-sig", "utf-8"),
        (NAMES, "utf-16", "utf-16"),
        (NAMES, "cp1252", "cp1252"),
        (NAMES + "3,“quoted” – 5 €\n", "cp1252", "cp1252"),
        ("id,name\n1,Ada\n", "ascii", "utf-8"),
        ("id,name\n1,Мурзилка\n2,Зоя\n", "cp1251", "utf-8"),
        ("", "utf-8", "utf-8"),
    ],
)
def test_an_encoding_is_found_by_the_bytes(tmp_path: Path, text: str, encoding: str, found: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    assert encoding_of(path) == found
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(text.encode(encoding)))
    assert encoding_of(packed) == found


def test_a_letter_may_lie_across_two_pieces_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * ((1 << 20) - 1) + "ü".encode() + b"\n")
    assert encoding_of(path) == "utf-8"


def test_a_file_that_changes_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(NAMES, "utf-8")
    assert encoding_of(path) == "utf-8"
    path.write_bytes((NAMES + "3,Zoë\n").encode("cp1252"))
    assert encoding_of(path) == "cp1252"
