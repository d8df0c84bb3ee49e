"""Names as sources write them: escapes undone, and the bare name within titles, years and numbers found."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.loading.node_names import inner_names, undone, with_spellings
from kg_store.names.index import NameIndex
from kg_store.text.english import PublicWords
from tests.support.stores import PREFIXES, loaded_of


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("M&uuml;ller", "Müller"),
        ("M&#xFC;ller", "Müller"),
        ("M&amp;uuml;ller", "Müller"),
        ("Brackwede%20Ines", "Brackwede Ines"),
        ("AT&T", "AT&T"),
        ("%FF%FE", "%FF%FE"),
        ("two  spaces", "two  spaces"),
    ],
)
def test_escapes_are_undone_and_nothing_else(written: str, plain: str) -> None:
    assert undone(written) == plain


@pytest.mark.parametrize(
    ("written", "inner"),
    [
        ("Dr. Ines Brackwede (1961) geb. Tarn, #4711", ["Ines Brackwede", "Ines Tarn"]),
        ("Prof. Dr. med. Hans-Peter Tarn", ["Hans-Peter Tarn"]),
        ("Müller, Anna, née Schmidt", ["Müller, Anna", "Anna Schmidt"]),
        ("Brackwede Ines (*1961)", ["Brackwede Ines"]),
        ("Ines Brackwede [MRN 4711]", ["Ines Brackwede"]),
        ("Anna Quill, PhD", ["Anna Quill"]),
        ("Dr. Brackwede", []),
        ("A Star Is Born", []),
        ("Evil Dead II", []),
        ("Election, 1912", []),
    ],
)
def test_the_name_within_a_written_one_is_found(written: str, inner: list[str]) -> None:
    assert list(inner_names(written)) == inner


def test_what_another_thing_is_called_is_no_second_name() -> None:
    named = {1: ("Anna Quill (1961)",), 2: ("anna quill",), 3: ("Bo Marlin (1961)",), 4: ("Bo Marlin (1983)",)}
    found = with_spellings(named)
    assert found[1] == ("Anna Quill (1961)",)
    assert "Bo Marlin" in found[3]
    assert "Bo Marlin" in found[4]


LABELS = (
    PREFIXES
    + """
:a a :Doctor ; rdfs:label "Dr. Ines Brackwede (1961) geb. Tarn, #4711" .
:b a :Doctor ; rdfs:label "Ottmar M&uuml;llerklein" ; :note "seen by R&uuml;digerson" .
<http://clinic.test/Quarrelsom%2520Zofia> a :Patient ; :weight 71 .
"""
)


@pytest.mark.parametrize(
    "typed",
    [
        "Ines Brackwede",
        "Ines Tarn",
        "Dr. Ines Brackwede (1961) geb. Tarn, #4711",
        "Ottmar Müllerklein",
        "Ottmar M&uuml;llerklein",
        "Quarrelsom Zofia",
        "seen by Rüdigerson",
        "seen by R&uuml;digerson",
    ],
)
def test_every_spelling_of_a_dirty_label_is_guarded(tmp_path: Path, typed: str) -> None:
    entries = (entry for node in loaded_of(tmp_path, LABELS).nodes() for entry in node.entries())
    index = NameIndex.build(entries).with_public(PublicWords.of(()))
    assert any(hit.end - hit.start == len(typed) for hit in index.find_secret(typed)), typed


def test_a_label_is_shown_without_its_escapes(tmp_path: Path) -> None:
    names = [node.record.names[:1] for node in loaded_of(tmp_path, LABELS).nodes()]
    assert ("Ottmar Müllerklein",) in names
    assert ("Dr. Ines Brackwede (1961) geb. Tarn, #4711",) in names


def test_short_forms_in_names_are_also_written_out_if_one_thing_alone_is_called_so() -> None:
    named = {1: ("Mtg House",), 2: ("Cat Stevens",), 3: ("Sales Mgmt.",), 4: ("Sales Management",), 5: ("qtr Mtg.",)}
    assert with_spellings(named) == {**named, 1: ("Mtg House", "Meeting House"), 5: ("qtr Mtg.", "quarter Meeting")}
