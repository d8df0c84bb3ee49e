"""GEDCOM: persons, and the families that tie them, as nodes and relationships."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kg_store.errors import LoadError
from kg_store.formats.graph_elements import Node, Relationship

_EVENTS: Final = {"BIRT": "birth", "DEAT": "death", "BURI": "burial", "CHR": "christening"}
_FACTS: Final = {"SEX": "sex", "OCCU": "occupation", "EDUC": "education", "RELI": "religion", "TITL": "title"}
_OF_PERSONS: Final = frozenset({"NAME", "FAMS", "FAMC", *_EVENTS, *_FACTS})
_OF_FAMILIES: Final = frozenset({"HUSB", "WIFE", "CHIL", "MARR"})
_MONTHS: Final = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
# What this library logs quotes the file.
logging.getLogger("ged4py").setLevel(logging.CRITICAL + 1)


def read_gedcom(path: Path, left: Counter[str]) -> Iterator[Node | Relationship]:
    """Counts in `left` what is not read. Raises LoadError, which never quotes the file."""
    from ged4py.parser import GedcomReader

    try:
        with GedcomReader(str(path)) as reader:
            for person in reader.records0("INDI"):
                _count(person, _OF_PERSONS, path.name, left)
                yield _person(person)
            for family in reader.records0("FAM"):
                _count(family, _OF_FAMILIES, path.name, left)
                yield from _ties(family)
    except LoadError:
        raise
    except Exception:
        raise LoadError("not a GEDCOM file that can be read", path.name) from None


def _count(record: Any, known: frozenset[str], file: str, left: Counter[str]) -> None:
    unread = sum(each.tag not in known for each in record.sub_records)
    if unread:
        left[f"entries of {file}, such as notes and sources, are not read, and were left out"] += unread


def _person(record: Any) -> Node:
    found = {"name": [" ".join(record.name.format().split())]}
    found |= {word: [record.sub_tag_value(tag)] for tag, word in _FACTS.items()}
    for tag, word in _EVENTS.items():
        found[f"date of {word}"] = [_day(record.sub_tag_value(f"{tag}/DATE"))]
        found[f"place of {word}"] = [record.sub_tag_value(f"{tag}/PLAC")]
    filled = {word: [str(value) for value in values if value] for word, values in found.items()}
    return Node(record.xref_id, ["person"], {word: values for word, values in filled.items() if values})


def _ties(family: Any) -> Iterator[Relationship]:
    husband, wife = family.sub_tag("HUSB"), family.sub_tag("WIFE")
    if husband is not None and wife is not None:
        told = {"date": _day(family.sub_tag_value("MARR/DATE")), "place": family.sub_tag_value("MARR/PLAC")}
        facts = {word: [str(value)] for word, value in told.items() if value}
        yield Relationship("married to", husband.xref_id, wife.xref_id, facts)
    for child in family.sub_tags("CHIL"):
        for word, parent in (("father", husband), ("mother", wife)):
            if parent is not None:
                yield Relationship(word, child.xref_id, parent.xref_id, {})


def _day(told: Any) -> str:
    """A day or a year as it is written here; any other date as the file has it."""
    date = told.date if told is not None and getattr(told.kind, "name", "") == "SIMPLE" else None
    if date is None:
        return "" if told is None else str(told)
    month = _MONTHS.index(date.month.upper()) + 1 if str(date.month).upper() in _MONTHS else 0
    return f"{date.year:04}-{month:02}-{date.day:02}" if month and date.day else str(told if month else date.year)
