"""Small files of every format that a load takes, made of the demo graph, and the policies of those that are tables."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable
from functools import cache
from itertools import islice
from pathlib import Path

import openpyxl
import pyoxigraph
import xlwt
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P
from pyoxigraph import RdfFormat

from app.demo import GRAPH_FILE
from kg_store.sources.reader import FORMATS

_PART = (380, 450)
_FORMATS = {
    ".ttl": RdfFormat.TURTLE, ".turtle": RdfFormat.TURTLE, ".nt": RdfFormat.N_TRIPLES, ".nq": RdfFormat.N_QUADS,
    ".trig": RdfFormat.TRIG, ".n3": RdfFormat.N3, ".rdf": RdfFormat.RDF_XML, ".owl": RdfFormat.RDF_XML,
    ".xml": RdfFormat.RDF_XML,
}  # fmt: skip
_PREFIXES = {"rdfs": "http://www.w3.org/2000/01/rdf-schema#", "xsd": "http://www.w3.org/2001/XMLSchema#"}
_DOCTYPE = b'<!DOCTYPE r [<!ENTITY xsd "http://www.w3.org/2001/XMLSchema#">]>\n<rdf:RDF'
_QUADS = {".nq", ".trig", ".n3"}
TABLE = """id,name,born,ward,weight,allergies
p1,Zofia Quarrel,1961-02-11,Kestrel Wing,71.5,nuts; milk
p2,"Vantongeren, Aurelio",1958,Kestrel Wing,80,
p3,Ottoline Brackwater,12 March 1970,"Heron
Wing",,pollen
"""
NEO4J = """id:ID,name,born:int,tags:string[],:LABEL,:START_ID,:END_ID,:TYPE
a,Zofia Quarrel,1961,red;blue,Person,,,
b,Otto Brackwater,1958,,Person;Boss,,,
c,Kestrel Wing,,,Ward,,,
,,,,,a,b,KNOWS
,,,,,b,c,LEADS
"""
APOC = [
    {"type": "node", "id": "1", "labels": ["Person"], "properties": {"name": "Zofia Quarrel", "born": 1961, "x": [1]}},
    {"type": "node", "id": "2", "labels": ["Person"], "properties": {"name": "Otto Brackwater", "at": {"x": 1.5}}},
    {"type": "node", "id": "3", "labels": ["Ward"], "properties": {"name": "Kestrel Wing", "beds": 9}},
    {"type": "relationship", "id": "4", "label": "KNOWS", "start": {"id": "1"}, "end": {"id": "2"}, "properties": {}},
    {"type": "relationship", "id": "5", "label": "LEADS", "start": {"id": "2"}, "end": {"id": "3"},
     "properties": {"since": "2001-01-01"}},
]  # fmt: skip


GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="name" for="node" attr.name="name" attr.type="string"/>
<key id="kind" for="node" attr.name="label" attr.type="string"/>
<key id="since" for="edge" attr.name="since" attr.type="int"/>
<key id="type" for="edge" attr.name="type" attr.type="string"/>
<graph edgedefault="directed">
<node id="1"><data key="kind">:Person</data><data key="name">Zofia Quarrel</data></node>
<node id="2"><data key="kind">:Ward</data><data key="name">Kestrel Wing</data></node>
<node id="3"><data key="kind">:Person</data><data key="name">Otto Brackwater</data></node>
<node id="4"><data key="kind">:Person</data><data key="name">Barnaby Thrupp</data></node>
<edge source="1" target="2"><data key="type">leads</data><data key="since">1993</data></edge>
<edge source="3" target="2"><data key="type">leads</data><data key="since">1999</data></edge>
<edge source="4" target="1"><data key="type">knows</data></edge>
</graph></graphml>
"""
GEDCOM = """0 HEAD
1 CHAR UTF-8
0 @I1@ INDI
1 NAME Zofia /Quarrel/
1 BIRT
2 DATE 11 FEB 1961
2 PLAC Kestrel Wing
0 @I2@ INDI
1 NAME Otto /Brackwater/
1 DEAT
2 DATE ABT 1999
0 @I3@ INDI
1 NAME Barnaby /Brackwater/
0 @F1@ FAM
1 HUSB @I2@
1 WIFE @I1@
1 CHIL @I3@
1 MARR
2 DATE 1985
0 TRLR
"""
VCARD = """BEGIN:VCARD
VERSION:3.0
FN:Zofia Quarrel
N:Quarrel;Zofia;;;
ORG:Kestrel Wing
BDAY:1961-02-11
TEL;TYPE=HOME:905-666-1234
X-SPOUSE:Otto
END:VCARD
BEGIN:VCARD
VERSION:3.0
FN:Otto Brackwater
N:Brackwater;Otto;;;
ORG:Kestrel Wing;Heron Wing
TITLE:Warden
NOTE:Rings on Mondays
EMAIL:otto@kestrel.test
BDAY:1958-03-02
TEL:905-666-1235
END:VCARD
"""
ICALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//x//EN
BEGIN:VEVENT
UID:e1
SUMMARY:Round on Kestrel Wing
DTSTART;VALUE=DATE:20231011
DTEND:20231012T093000Z
LOCATION:Kestrel Wing
END:VEVENT
BEGIN:VEVENT
UID:e2
SUMMARY:Supper of Zofia Quarrel
DTSTART:20231113T180000Z
DTEND:20231113T193000Z
LOCATION:Heron Wing
DESCRIPTION:For Otto Brackwater
STATUS:CONFIRMED
END:VEVENT
END:VCALENDAR
"""
STATEMENTS = """@prefix : <http://x.test/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:p1 rdfs:label "Zofia Quarrel" ; :leads :w1 . :w1 rdfs:label "Kestrel Wing" ; :beds 9 ; :opened 1961 .
:p2 rdfs:label "Otto Brackwater" ; :leads :w1 ; :born 1958 . :p1 :born 1963 .
<< :p2 :leads :w1 >> :since 1999 .
<< :p1 :leads :w1 >> :since 1993 .
"""

BIBTEX = r"""@string{press = "Heron Press"}
@comment{Zofia's list}
@article{tide, author = {Quarrel, Zofia and Otto van der Berg and {Kestrel and Sons} and others},
  title = {On {Tidal} Mills \& Na{\"\i}ve Na\^aves}, journal = "Heron", year = 1999, month = jan,
  keywords = {mills, tides; salt}, url = {https://heron.example/a_b~c%20d}, crossref = {notes}}
@Proceedings(notes, Editor = "Thrupp, Barnaby", title = "Notes of the Wing", publisher = press, year = {1998})
@book{notes, title = {Twice}}
@misc{cut, title = {Cut
"""


@cache
def files() -> dict[str, bytes]:
    """File name to bytes; the names tell the formats, and every one of them loads as it is."""
    text = GRAPH_FILE.read_bytes()
    triples = list(islice(pyoxigraph.parse(text, format=RdfFormat.TURTLE), *_PART))
    found = {f"a{ending}": _serialised(triples, ending) for ending in _FORMATS}
    found["entity.rdf"] = found["a.rdf"].replace(b"<rdf:RDF", _DOCTYPE, 1)
    found["a.jsonld"] = _json_ld(triples)
    lines = [f"{_cell(each.subject)}\t{_cell(each.predicate)}\t{_cell(each.object)}" for each in triples]
    found["a.tsv"] = "\n".join(["head\trelation\ttail", *lines]).encode()
    found["a.txt"] = "\n".join(line.replace("|", "/").replace("\t", "|") for line in lines).encode()
    found["a.csv"] = _quoted(line.split("\t") for line in lines)
    found["table.csv"] = TABLE.encode()
    found["table.tsv"] = TABLE.replace("Heron\n", "Heron ").replace(",", "\t").encode()
    found["a.ttl.gz"] = gzip.compress(found["a.ttl"], mtime=0)
    found["table.csv.gz"] = gzip.compress(found["table.csv"], mtime=0)
    records = list(csv.DictReader(io.StringIO(TABLE)))
    found["table.xlsx"] = _workbook(records)
    found["table.json"] = json.dumps([{**each, "kin": [{"id": "k", "of": "p1"}]} for each in records]).encode()
    features = [{"type": "Feature", "properties": each, "geometry": {"coordinates": [[[7, 50]]]}} for each in records]
    found["map.geojson"] = json.dumps({"type": "FeatureCollection", "features": features}).encode()
    found["lists.json"] = json.dumps({"people": records, "wards": [{"id": "w1", "name": "Kestrel Wing"}]}).encode()
    found["table.jsonl"] = found["table.ndjson"] = "\n".join(map(json.dumps, records)).encode()
    found["neo4j.csv"] = NEO4J.encode()
    found["apoc.jsonl"] = "\n".join(map(json.dumps, APOC)).encode()
    found["graph.graphml"], found["tree.ged"] = GRAPHML.encode(), GEDCOM.encode()
    found["cards.vcf"], found["dates.ics"] = VCARD.encode(), ICALENDAR.encode()
    found["list.bib"] = BIBTEX.encode()
    found["statements.ttls"] = STATEMENTS.encode()
    found["dump.sql"] = _dump(records)
    found["table.ods"] = _open_document(records)
    found["table.xls"] = _old_workbook(records)
    missing = set(FORMATS) - {".xlsb"} - {Path(name.removesuffix(".gz")).suffix for name in found}
    assert not missing, missing
    return found


def _dump(records: list[dict[str, str]]) -> bytes:
    columns = ", ".join(f'"{name}" text' for name in records[0])
    quoted = [", ".join("'" + cell.replace("'", "''") + "'" for cell in each.values()) for each in records]
    inserted = "".join(f"INSERT INTO people VALUES ({cells});\n" for cells in quoted)
    return f"CREATE TABLE people ({columns});\n{inserted}".encode()


def _workbook(records: list[dict[str, str]]) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "People"
    for row in (list(records[0]), *(list(each.values()) for each in records)):
        sheet.append(row)
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def _open_document(records: list[dict[str, str]]) -> bytes:
    book, sheet = OpenDocumentSpreadsheet(), Table(name="People")
    for row in (list(records[0]), *(list(each.values()) for each in records)):
        line = TableRow()
        for text in row:
            cell = TableCell(valuetype="string")
            cell.addElement(P(text=text))
            line.addElement(cell)
        sheet.addElement(line)
    book.spreadsheet.addElement(sheet)
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def _old_workbook(records: list[dict[str, str]]) -> bytes:
    book = xlwt.Workbook()
    sheet = book.add_sheet("People")
    for at, row in enumerate((list(records[0]), *(list(each.values()) for each in records))):
        for place, text in enumerate(row):
            sheet.write(at, place, text)
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def _serialised(triples: list[pyoxigraph.Quad], ending: str) -> bytes:
    graph = pyoxigraph.NamedNode("http://x.test/g") if ending in (".nq", ".trig") else pyoxigraph.DefaultGraph()
    quads = [pyoxigraph.Quad(each.subject, each.predicate, each.object, graph) for each in triples]
    statements = quads if ending in _QUADS else [each.triple for each in quads]
    written = pyoxigraph.serialize(statements, format=_FORMATS[ending], prefixes=_PREFIXES)
    assert written is not None
    return written


def _quoted(rows: Iterable[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue().encode()


def _json_ld(triples: list[pyoxigraph.Quad]) -> bytes:
    nodes: dict[str, dict[str, object]] = {}
    for each in triples:
        node = nodes.setdefault(_cell(each.subject), {"@id": _cell(each.subject)})
        tail: object = {"@id": _cell(each.object)}
        if isinstance(each.object, pyoxigraph.Literal):
            tail = {"@value": each.object.value, "@type": each.object.datatype.value}
            if each.object.language:
                tail = {"@value": each.object.value, "@language": each.object.language}
        relations = node.setdefault(each.predicate.value, [])
        assert isinstance(relations, list)
        relations.append(tail)
    context = {"@vocab": "http://x.test/", "knows": {"@type": "@id"}}
    return json.dumps({"@context": context, "@graph": list(nodes.values())}, indent=1).encode()


def _cell(term: object) -> str:
    return term.value  # type: ignore[attr-defined, no-any-return]
