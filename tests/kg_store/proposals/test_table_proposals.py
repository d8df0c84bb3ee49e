"""Proposals for tables that are broken: what is wrong with them is told, and not that they have no key."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.errors import LoadError
from kg_store.proposals.propose import read_and_propose

BROKEN = {
    "cells.csv": (b"id,name\n1,Tern,Gull\n2,Bram\n", r"cells\.csv, line 2: this line has 3 cells, the header has 2"),
    "quotes.csv": (b'id,name\n1,"Tern\n2,Bram\n', r"quotes\.csv, line 3: the quotes of this line do not match"),
    "bytes.csv": (b"id,name\n1,Tern\n2,\xe9t\xe9\n", r"bytes\.csv, line \d: the file is not UTF-8 text: save it anew"),
    "twice.csv": (b"id,id\n1,2\n3,4\n", r"twice\.csv, line 1: .* a table needs a header of names that differ"),
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
