"""Workbooks of older programs, GraphML, family trees, address books and statements about facts become graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.errors import LoadError
from kg_store.loading.load import load_graph
from kg_store.proposals.propose import read_and_propose
from tests.fuzz.corpus import BIBTEX, GEDCOM, GRAPHML, ICALENDAR, STATEMENTS, VCARD, files
from tests.kg_store.loading.test_load import facts_of, told_classes

MID_KEY = b"k" * 32


def facts_in(folder: Path, name: str, data: bytes) -> set[tuple[str, str, str]]:
    """Every fact that a load of the file holds, in names and labels."""
    path = folder / name
    path.write_bytes(data)
    raw, policy = read_and_propose([path])
    return facts_of(load_graph(raw, policy.model_copy(update={"show_relations": "all"}), MID_KEY))


def test_a_family_tree_is_persons_and_what_ties_them(tmp_path: Path) -> None:
    found = facts_in(tmp_path, "tree.ged", GEDCOM.encode())
    assert {
        ("Zofia Quarrel", "date of birth", "1961-02-11"),
        ("Zofia Quarrel", "place of birth", "Kestrel Wing"),
        ("Otto Brackwater", "date of death", "ABOUT 1999"),
        ("Otto Brackwater", "married to", "Zofia Quarrel"),
        ("Barnaby Brackwater", "father", "Otto Brackwater"),
        ("Barnaby Brackwater", "mother", "Zofia Quarrel"),
    } <= found


def test_two_family_trees_share_no_person_by_their_numbers(tmp_path: Path) -> None:
    other = GEDCOM.replace("Zofia", "Ines").replace("Otto", "Bertil").replace("Barnaby", "Aurelio")
    paths = [tmp_path / "one.ged", tmp_path / "two.ged"]
    for path, text in zip(paths, (GEDCOM, other), strict=True):
        path.write_text(text)
    raw, policy = read_and_propose(paths)
    found = facts_of(load_graph(raw, policy.model_copy(update={"show_relations": "all"}), MID_KEY))
    fathers = {(child, parent) for child, relation, parent in found if relation == "father"}
    assert fathers == {("Barnaby Brackwater", "Otto Brackwater"), ("Aurelio Brackwater", "Bertil Brackwater")}


def test_contacts_and_events_are_things_with_what_people_wrote(tmp_path: Path) -> None:
    contact = {("Zofia Quarrel", "organisation", "Kestrel Wing"), ("Zofia Quarrel", "birthday", "1961-02-11")}
    assert contact <= facts_in(tmp_path, "cards.vcf", VCARD.encode())
    event = {
        ("Round on Kestrel Wing", "start", "2023-10-11"),
        ("Round on Kestrel Wing", "end", "2023-10-12T09:30+00:00"),
    }
    assert event <= facts_in(tmp_path, "dates.ics", ICALENDAR.encode())


def test_a_bibliography_is_entries_with_their_fields_and_persons(tmp_path: Path) -> None:
    title, of = "On Tidal Mills & Naïve Naâves", "Notes of the Wing"
    found = facts_in(tmp_path, "list.bib", BIBTEX.encode())
    assert {tail for _, relation, tail in found if relation == "author"} == {
        *("Zofia Quarrel", "Otto van der Berg", "Kestrel and Sons"),
    }
    assert {
        (title, "year", "1999"),
        (title, "month", "January"),
        (title, "url", "https://heron.example/a_b~c%20d"),
        *((title, "keywords", word) for word in ("mills", "tides", "salt")),
        (title, "crossref", of),
        (of, "editor", "Barnaby Thrupp"),
        (of, "publisher", "Heron Press"),
    } <= found
    raw, policy = read_and_propose([tmp_path / "list.bib"])
    loaded = load_graph(raw, policy.model_copy(update={"show_classes": "all"}), MID_KEY)
    assert {"article: " + title, "proceedings: " + of, "person: Barnaby Thrupp"} <= {
        f"{kind}: {name}" for name, _, kind in (each.partition(": ") for each in told_classes(loaded))
    }


def test_latex_that_cannot_be_read_stays_as_it_is(tmp_path: Path) -> None:
    deep = "@misc{a, title = {" + "{" * 5_000 + "Deep" + "}" * 5_000 + "}, author = {" + "Ann and " * 5_000 + "Bo}}"
    found = facts_in(tmp_path, "a.bib", deep.encode())
    assert {("Deep", "author", "Ann"), ("Deep", "author", "Bo")} <= found


def test_a_graph_in_graphml_keeps_kinds_relations_and_their_data(tmp_path: Path) -> None:
    found = facts_in(tmp_path, "graph.graphml", GRAPHML.encode())
    assert ("Zofia Quarrel", "leads", "Kestrel Wing") in found
    assert {(relation, end) for _, relation, end in found} >= {("leads details of", "Kestrel Wing"), ("since", "1993")}


def test_a_statement_about_a_fact_is_a_node_between_its_ends(tmp_path: Path) -> None:
    found = {(relation, end) for _, relation, end in facts_in(tmp_path, "a.ttls", STATEMENTS.encode())}
    assert {("leads", "Kestrel Wing"), ("leads details of", "Kestrel Wing"), ("since", "1993")} <= found


@pytest.mark.process
@pytest.mark.parametrize("name", ["table.ods", "table.xls"])
def test_an_older_workbook_is_read_like_todays(tmp_path: Path, name: str) -> None:
    assert facts_in(tmp_path, name, files()[name]) == facts_in(tmp_path, "table.xlsx", files()["table.xlsx"])


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.vcf", VCARD), ("a.ged", GEDCOM.replace("1 BIRT", "1 NOTE Odd\n1 BIRT")), ("a.bib", BIBTEX)],
)
def test_what_is_not_read_of_a_contact_or_a_person_is_counted(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    (note,) = (note for note in read_and_propose([path])[0].notes if "left out" in note)
    count = 2 if name == "a.bib" else 1  # One is cut off, one repeats a key.
    assert note.startswith(f"{count} {'properties' if name == 'a.vcf' else 'entries'} of {name}")


@pytest.mark.process
@pytest.mark.parametrize("name", ["a.ged", "a.vcf", "a.bib", "a.graphml", "a.xls", "a.ods", "a.xlsb"])
def test_what_is_none_of_these_is_refused_and_not_quoted(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"BEGIN:VCARD\n\x00Zofia <!ENTITY Quarrel>\n0 INDI")
    with pytest.raises(LoadError) as caught:
        read_and_propose([path])
    assert caught.value.file == name
    assert "Zofia" not in str(caught.value)


def test_an_entity_made_of_entities_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.graphml"
    path.write_text('<!DOCTYPE g [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>')
    with pytest.raises(LoadError, match="entity"):
        read_and_propose([path])
