"""Records of JSON are read one by one: their number is not bounded, the size of each is."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kg_store.errors import LoadError
from kg_store.formats.json_records import MAX_LISTED_RECORD_BYTES, records_of

RECORDS = [{"id": at, "note": "x" * 1_000} for at in range(2 * MAX_LISTED_RECORD_BYTES // 1_000)]
BUNDLE = {"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "Patient", **each}} for each in RECORDS]}


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.jsonl", lambda: "".join(json.dumps(each) + "\n" for each in RECORDS)),
        ("a.json", lambda: json.dumps(RECORDS)),
        ("b.json", lambda: json.dumps({"people": RECORDS})),
        ("c.json", lambda: json.dumps(BUNDLE)),
    ],
)
def test_many_records_are_read_though_one_may_not_be_as_long(
    tmp_path: Path, name: str, write: Callable[[], str]
) -> None:
    (tmp_path / name).write_text(write())
    assert sum(1 for _ in records_of(tmp_path / name)) == len(RECORDS)


def test_a_record_that_is_too_long_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'[{"id": 1, "x": [' + b'{"":0},' * MAX_LISTED_RECORD_BYTES + b"{}]}]"))
    with pytest.raises(LoadError, match="one object of more than 4 MB"):
        list(records_of(path))
