"""Small odd files of which every cell is a canary: tables with a header, tables that look like triples, and worse."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PEOPLE = (
    ("Ines Brackwede", "gastritis", "Zofstenbruck", "1961-07-23", "4841739"),
    ("Orvin Jaskworthy", "sciatica", "Quillowmere", "1974-02-11", "5183326"),
    ("Tilda Snorkelwick", "gastritis", "Zofstenbruck", "1988-12-05", "4729164"),
    ("Otto Murglewort", "sciatica", "Fenwhistle", "1953-09-30", "3981675"),
    ("Wanda Plumbrecht", "tendonitis", "Quillowmere", "1990-04-17", "6205418"),
    ("Ivo Grizzlewick", "gastritis", "Fenwhistle", "1947-01-08", "5517293"),
)
# Only last words: first names are so short that they may occur in other bytes by chance.
CANARIES = tuple(sorted({cell.split()[-1] for row in PEOPLE for cell in row}))
TABLE, TRIPLES, REFUSED = "table", "triples", "refused"


@dataclass(frozen=True, slots=True)
class OddFile:
    """A file, and how it is read: as a table, as triples, or refused."""

    name: str
    content: bytes
    read_as: str

    @property
    def plain(self) -> bytes:
        return gzip.decompress(self.content) if self.name.endswith(".gz") else self.content


def _cells(columns: Sequence[int], header: Sequence[str] = (), mark: str = ",", quotes: bool = False) -> bytes:
    out = io.StringIO()
    writer = csv.writer(
        out, delimiter=mark, lineterminator="\n", quoting=csv.QUOTE_ALL if quotes else csv.QUOTE_MINIMAL
    )
    if header:
        writer.writerow(header)
    writer.writerows([row[at] for at in columns] for row in PEOPLE)
    return out.getvalue().encode()


def _joined(rows: Iterable[Sequence[str]], mark: str = "\t") -> bytes:
    return "\n".join(mark.join(row) for row in rows).encode()


def _visits() -> list[tuple[str, str, str]]:
    """Returns rows without a header in which people occur several times, as heads of triples do."""
    return [
        (row[0], PEOPLE[(at + turn) % 6][1], PEOPLE[(at * turn) % 6][2])
        for at, row in enumerate(PEOPLE)
        for turn in range(5)
    ]


_THREE, _FOUR, _FIVE = (0, 1, 2), (0, 1, 2, 3), (0, 1, 2, 3, 4)
_NAMES, _FIVE_NAMES = ("patient", "diagnosis", "city"), ("name", "diagnosis", "city", "born", "salary")
_RECORDS = [dict(zip(("name", "diagnosis", "city"), row, strict=False)) for row in PEOPLE]
_RELATION_FIRST = [
    (relation, row[0], row[at]) for row in PEOPLE for relation, at in (("HasIllness", 1), ("LivesIn", 2))
]

ODD_FILES = {
    "three columns": OddFile("a.csv", _cells(_THREE, _NAMES), TABLE),
    "three columns, capitals": OddFile("a.csv", _cells(_THREE, ("Patient", "Diagnosis", "City")), TABLE),
    "three columns, a name first": OddFile("a.csv", _cells(_THREE, ("Name", "Diagnosis", "City")), TABLE),
    "three columns with a name": OddFile("a.csv", _cells((0, 4, 2), ("name", "salary", "city")), TABLE),
    "three columns with a key": OddFile(
        "a.csv", b"id,name,diagnosis\n7,Ines Brackwede,gastritis\n8,Otto Murglewort,sciatica\n", TABLE
    ),
    "two columns": OddFile("a.csv", _cells((0, 1), ("name", "diagnosis")), TABLE),
    "four columns": OddFile("a.csv", _cells(_FOUR, ("name", "diagnosis", "city", "born")), TABLE),
    "five columns": OddFile("a.csv", _cells(_FIVE, _FIVE_NAMES), TABLE),
    "semicolons": OddFile("a.csv", _cells(_THREE, ("name", "diagnosis", "city"), ";"), TABLE),
    "semicolons, no name": OddFile("a.csv", _cells(_THREE, _NAMES, ";"), TABLE),
    "tabs": OddFile("a.tsv", _cells(_THREE, _NAMES, "\t"), TABLE),
    "tabs, five columns": OddFile("a.tsv", _cells(_FIVE, _FIVE_NAMES, "\t"), TABLE),
    "bars": OddFile("a.txt", _cells(_THREE, _NAMES, "|"), TABLE),
    "quoted": OddFile("a.csv", _cells(_THREE, _NAMES, quotes=True), TABLE),
    "byte order mark": OddFile("a.csv", b"\xef\xbb\xbf" + _cells(_THREE, _NAMES), TABLE),
    "gzipped": OddFile("a.csv.gz", gzip.compress(_cells(_THREE, _NAMES)), TABLE),
    "other line ends": OddFile("a.csv", _cells(_THREE, _NAMES).replace(b"\n", b"\r\n"), TABLE),
    "columns that are names": OddFile(
        "a.csv", b"id,Ines Brackwede,born 1961-07-23,city\n7,Otto,x,Fenwhistle\n8,Ivo,y,Quillowmere\n", TABLE
    ),
    "a header, visits": OddFile("a.tsv", _joined([_NAMES, *_visits()]), TABLE),
    "no header": OddFile("a.csv", _cells(_THREE), REFUSED),
    "no header, tabs": OddFile("a.tsv", _cells(_THREE, mark="\t"), REFUSED),
    "no header, numbers": OddFile("a.csv", _cells((0, 4, 2)), REFUSED),
    "no header, dates": OddFile("a.tsv", _cells((0, 3, 2, 1), mark="\t"), REFUSED),
    "no header, visits": OddFile("a.tsv", _joined(_visits()), REFUSED),
    "small letters, no header": OddFile("a.csv", _cells(_THREE).lower(), REFUSED),
    "duplicated header": OddFile("a.csv", _cells(_THREE, ("name", "city", "city")), TABLE),
    "a column without a name": OddFile("a.csv", _cells(_THREE, ("name", "", "city")), REFUSED),
    "one column": OddFile("a.csv", _cells((0,), ("patient",)), REFUSED),
    "ragged": OddFile("a.csv", _cells(_THREE, _NAMES) + b"Wanda Plumbrecht,sciatica\n", REFUSED),
    "a line above": OddFile("a.csv", b"Export for Ines Brackwede,,\n" + _cells(_THREE, _NAMES), TABLE),
    "a header alone": OddFile("a.csv", b"patient,diagnosis,city\n", REFUSED),
    "an array": OddFile("a.csv", json.dumps(_RECORDS).encode(), REFUSED),
    "an array of lines": OddFile("a.csv", json.dumps(_RECORDS, indent=0).encode(), REFUSED),
    "records of a line": OddFile("a.txt", "\n".join(map(json.dumps, _RECORDS)).encode(), REFUSED),
    "a page": OddFile("a.txt", b"<table><tr><td>Ines Brackwede</td><td>gastritis</td></tr></table>\n", REFUSED),
    "other bytes": OddFile("a.csv", _cells(_THREE, _NAMES).decode().encode("utf-16"), TABLE),
    "relation first": OddFile("a.tsv", _joined(_RELATION_FIRST), REFUSED),
    "relation first, named": OddFile("a.tsv", _joined([("relation", "head", "tail"), *_RELATION_FIRST]), TRIPLES),
    "relations of names": OddFile(
        "a.ttl",
        b"@prefix : <http://ward.invalid/> .\n"
        b'@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n'
        b':p1 a :PatientsOfBrackwede ; rdfs:label "Otto Murglewort" ; :approvedByDrJaskworthy :p2 .\n'
        b":p1 :seen1961-07-23 :p2 .\n"
        b':p2 a :Patient ; rdfs:label "Wanda Plumbrecht" ; :city "Fenwhistle" ; :Fenwhistle :p1 .\n',
        TRIPLES,
    ),
}  # fmt: skip
