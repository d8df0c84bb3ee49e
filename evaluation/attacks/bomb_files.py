"""Hostile uploads, policies and questions: small to send, but costly in memory or time for whoever reads them.

Each is made by a generator when it is needed; packed, none has more than a few megabytes.
"""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from random import Random
from typing import Final

MB: Final = 1 << 20
Chunks = Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Bomb:
    """One hostile input: a file, a policy sent with a small table, or a question.

    `make` returns its bytes; `file` is the name that the file is sent under. `may_pass` tells that the input is no
    more than odd, so that it may be read in full.
    """

    name: str
    make: Callable[[], bytes]
    file: str = ""
    is_policy: bool = False
    may_pass: bool = False


PLAIN_TABLE: Final = b"id,name,ward\np1,Ines Vale,Heron\np2,Otto Gray,Kestrel\np3,Ada Finch,Heron\n"

_SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{}</worksheet>'
_OPEN, _CLOSE = (part.encode() for part in _SHEET.split("{}"))
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_MAIN}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_MAIN}.worksheet+xml"/>'
    f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_MAIN}.sharedStrings+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_MAIN}.styles+xml"/></Types>'
)
_ROOT_RELATIONS = (
    f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
)
_BOOK_RELATIONS = (
    f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" Type="{_RELATIONS}/worksheet" '
    f'Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="{_RELATIONS}/sharedStrings" '
    f'Target="sharedStrings.xml"/><Relationship Id="rId3" Type="{_RELATIONS}/styles" Target="styles.xml"/>'
    "</Relationships>"
)
_BOOK = f'<workbook xmlns="{_SHEET.split(chr(34))[1]}" xmlns:r="{_RELATIONS}">{{}}<sheets>{{}}</sheets></workbook>'
_ONE_SHEET = '<sheet name="Sheet1" sheetId="1" r:id="rId1"/>'
_ROW = b'<row><c t="inlineStr"><is><t>%b</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row>'
_SMALL = _OPEN + b"<sheetData>" + _ROW % b"id" + _ROW % b"x" * 3 + b"</sheetData>" + _CLOSE


def zipped(parts: Mapping[str, Chunks]) -> bytes:
    """Returns a zip archive; its parts are packed piece by piece, so that no part is in memory whole."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, chunks in parts.items():
            with archive.open(name, "w", force_zip64=True) as part:
                for chunk in chunks:
                    part.write(chunk)
    return packed.getvalue()


def gzipped(*chunks: Chunks) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream:
        for chunk in chain(*chunks):
            stream.write(chunk)
    return packed.getvalue()


def many(piece: bytes, total: int) -> Iterator[bytes]:
    """Yields `piece` again and again, in chunks of about a megabyte, `total` bytes in all."""
    chunk = piece * max(1, MB // len(piece))
    return repeat(chunk, max(1, total // len(chunk)))


def workbook(**parts: Chunks) -> bytes:
    """Returns a workbook of one small sheet; `parts` (sheet, shared, styles, book, more) stand in place of its own."""
    return zipped(
        {
            "[Content_Types].xml": [_TYPES.encode()],
            "_rels/.rels": [_ROOT_RELATIONS.encode()],
            "xl/workbook.xml": parts.get("book", [_BOOK.format("", _ONE_SHEET).encode()]),
            "xl/_rels/workbook.xml.rels": parts.get("relations", [_BOOK_RELATIONS.encode()]),
            "xl/worksheets/sheet1.xml": parts.get("sheet", [_SMALL]),
            "xl/sharedStrings.xml": parts.get("shared", [b'<sst xmlns="' + _OPEN.split(b'"')[1] + b'"/>']),
            "xl/styles.xml": parts.get("styles", [b'<styleSheet xmlns="' + _OPEN.split(b'"')[1] + b'"/>']),
        }
    )


def _in_sheet(*middle: Chunks, before: bytes = b"", after: Chunks = ()) -> Chunks:
    return chain([_OPEN, before, b"<sheetData>"], *middle, [b"</sheetData>"], after, [_CLOSE])


def _long_cell(total: int) -> bytes:
    head = _ROW.partition(b"%b")
    return workbook(sheet=_in_sheet([_ROW % b"id", head[0]], many(b"a", total), [head[2]]))


def _in_space(tag: bytes, inside: Chunks) -> Chunks:
    return chain([b"<", tag, b' xmlns="', _OPEN.split(b'"')[1], b'">'], inside, [b"</", tag, b">"])


def _wide_sheet() -> bytes:
    row = b"<row>" + b"<c><v>1</v></c>" * 16_384 + b"</row>"
    return workbook(sheet=_in_sheet(repeat(row, 1_000)))


def _corner() -> bytes:
    last = b'<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>end</t></is></c></row>'
    return workbook(sheet=_in_sheet([_ROW % b"id", _ROW % b"x", last], before=b'<dimension ref="A1:XFD1048576"/>'))


def _sparse_rows() -> bytes:
    """Claims a last cell in each of a thousand rows."""
    rows = (
        b'<row r="%d"><c r="A%d"><v>1</v></c><c r="XFD%d"><v>1</v></c></row>' % (at, at, at)
        for at in range(1_000, 1_048_576, 1_000)
    )
    return workbook(sheet=_in_sheet(rows))


def _many_sheets() -> bytes:
    sheets = "".join(f'<sheet name="S{at}" sheetId="{at}" r:id="rId1"/>' for at in range(1, 50_001))
    return workbook(book=[_BOOK.format("", sheets).encode()])


def _defined_names() -> bytes:
    names = b'<definedName name="n%d">Sheet1!$A$1</definedName>'
    head, tail = _BOOK.format("<definedNames>|</definedNames>", _ONE_SHEET).encode().split(b"|")
    return workbook(book=chain([head], (names % at for at in range(900_000)), [tail]))


def _merged_cells() -> bytes:
    cells = (b'<mergeCell ref="A%d:B%d"/>' % (at, at) for at in range(1, 1_000_000))
    return workbook(
        sheet=_in_sheet([_ROW % b"id", _ROW % b"x"], after=chain([b"<mergeCells>"], cells, [b"</mergeCells>"]))
    )


def _laughs(levels: int) -> bytes:
    entities = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, levels))
    return f'<!DOCTYPE r [<!ENTITY l0 "ha">{entities}]>'.encode()


def _laughing_sheet() -> bytes:
    sheet = _in_sheet([_ROW % b"id", _ROW % b"&l9;"])
    return workbook(sheet=chain([_laughs(10)], sheet))


def _lying_sizes() -> bytes:
    """Returns a workbook whose directory says that a sheet of 300 MB has 100 bytes."""
    packed = bytearray(_long_cell(300 * MB))
    at = packed.rfind(b"PK\x01\x02")
    while packed[at + 46 : at + 46 + 24] != b"xl/worksheets/sheet1.xml":
        at = packed.rfind(b"PK\x01\x02", 0, at)
    struct.pack_into("<I", packed, at + 24, 100)
    return bytes(packed)


_ODS_HEAD = (
    b'<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    b'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    b'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    b'<table:table table:name="Sheet1">'
)
_ODS_TAIL = b"</table:table></office:spreadsheet></office:body></office:document-content>"


def _open_document(*rows: Chunks) -> bytes:
    kind = b"application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        b'<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry '
        b'manifest:full-path="/" manifest:media-type="' + kind + b'"/></manifest:manifest>'
    )
    parts = {"mimetype": [kind], "META-INF/manifest.xml": [manifest]}
    return zipped({**parts, "content.xml": chain([_ODS_HEAD], *rows, [_ODS_TAIL])})


_ODS_CELL = b'<table:table-cell office:value-type="string"%b><text:p>%b</text:p></table:table-cell>'


def _repeated_cells() -> bytes:
    cell = _ODS_CELL % (b' table:number-columns-repeated="16384"', b"x")
    row = b'<table:table-row table:number-rows-repeated="1048576">' + cell + b"</table:table-row>"
    return _open_document([row])


def _open_document_of_a_long_cell() -> bytes:
    head, _, tail = (_ODS_CELL % (b"", b"|")).partition(b"|")
    return _open_document([b"<table:table-row>", head], many(b"a", 500 * MB), [tail, b"</table:table-row>"])


def _old_workbook() -> bytes:
    """Returns an .xls whose sheet claims all rows and columns, and whose records claim wrong lengths."""
    bof = struct.pack("<HHHHHHII", 0x809, 16, 0x600, 0x10, 0, 0, 0, 0)
    size = struct.pack("<HHIIHHH", 0x200, 14, 0, 0x7FFFFFFF, 0, 0xFFFF, 0)
    cells = b"".join(struct.pack("<HHHHHd", 0x203, 14, at & 0xFFFF, 0xFFFF, 0, 1.0) for at in range(0, 65_536, 7))
    return bof + size + cells + struct.pack("<HH", 0xFC, 0xFFFF) + b"\xff" * 100


def _nested_zip() -> bytes:
    inner = zipped({"a": many(b"\0", 100 * MB)})
    for _ in range(4):
        inner = zipped({f"{at}.zip": [inner] for at in range(10)})
    return inner


def _links_out() -> bytes:
    """Returns an archive of absolute paths, paths that lead upwards, and a symbolic link."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("/etc/arog-bomb", "x")
        archive.writestr("../../arog-bomb", "x")
        link = zipfile.ZipInfo("xl/workbook.xml")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return packed.getvalue()


def _columns() -> bytes:
    return gzipped([b",".join(b"c%d" % at for at in range(1_000_000)), b"\n"], repeat(b"1," * 999_999 + b"1\n", 20))


def _cells() -> bytes:
    """Returns 200,000 lines of 40 short cells: eight million facts in a megabyte."""
    head = b",".join([b"id", *(b"c%d" % at for at in range(40))]) + b"\n"
    row = b",".join(b"%d" % at for at in range(40))
    return gzipped([head], (b"k%d," % at + row + b"\n" for at in range(200_000)))


def _marks(count: int) -> str:
    """Returns a letter with combining marks in the worst order for a sort, which normal forms need."""
    return "a" + "\u0301\u0316" * (count // 2)


def _deep_json(count: int, opened: bytes, closed: bytes) -> bytes:
    return b'[{"id": 1, "name": "a", "x": ' + opened * count + b"1" + closed * count + b"}]"


def _card() -> bytes:
    return gzipped([b"BEGIN:VCARD\nVERSION:3.0\nFN:Ada Finch\n"], many(b"NOTE:x\n", 300 * MB), [b"END:VCARD\n"])


def _family_file() -> bytes:
    lines = (b"%d NOTE x\n" % min(at, 99) for at in range(1, 1_000))
    text = b"0 HEAD\n1 CHAR UTF-8\n0 @I1@ INDI\n1 NAME Ada /Finch/\n" + b"".join(lines)
    return text + b"1 NOTE " + b"x" * (40 * MB) + b"\n0 TRLR\n"


_GRAPHML: Final = b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">'


def _graph_nodes() -> bytes:
    nodes = (b'<node id="n%d"/>' % at for at in range(3_000_000))
    return gzipped([_GRAPHML], nodes, [b"</graph></graphml>"])


def _bundle() -> bytes:
    entry = b'{"resource":{"resourceType":"Patient","id":"p","name":[{"family":"Finch","given":["Ada"]}]}},'
    return gzipped([b'{"resourceType":"Bundle","entry":['], many(entry, 60 * MB), [entry[:-1] + b"]}"])


def _xml_depth() -> bytes:
    head = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="urn:x:">'
    return gzipped([head], many(b"<x:a><x:b>", 100 * MB))


_PREFIX: Final = b"@prefix : <urn:x:> .\n"


def _tables_policy() -> bytes:
    """Returns a policy of 15,000 tables, each with a pattern that takes exponential time where it does not fit."""
    return "".join(f'[[tables]]\nfile = "{"*a" * 30}{at}"\nkey = "id"\n' for at in range(10_000)).encode()


def _long_lists() -> bytes:
    return (
        b'names = ["http://www.w3.org/2000/01/rdf-schema#label", '
        + b", ".join(b'"urn:%d"' % at for at in range(60_000))
        + b"]"
    )


UPLOADS: Final = (
    Bomb("a workbook of one cell of 600 MB", lambda: _long_cell(600 * MB), "a.xlsx"),
    Bomb("a workbook of one cell of 60 MB", lambda: _long_cell(60 * MB), "a.xlsx"),
    Bomb("a workbook with a cell at the far corner", _corner, "a.xlsx", may_pass=True),
    Bomb("a workbook of a thousand rows, each to the last column", _sparse_rows, "a.xlsx"),
    Bomb("a sheet of 16,384 columns", _wide_sheet, "a.xlsx"),
    Bomb("a workbook of 50,000 sheets", _many_sheets, "a.xlsx"),
    Bomb("a workbook of 900,000 named areas", _defined_names, "a.xlsx"),
    Bomb("a workbook of a million merged cells", _merged_cells, "a.xlsx", may_pass=True),
    Bomb(
        "four million shared texts",
        lambda: workbook(shared=_in_space(b"sst", many(b"<si><t>a</t></si>", 62 * MB))),
        "a.xlsx",
        may_pass=True,
    ),
    Bomb(
        "millions of cell styles",
        lambda: workbook(
            styles=_in_space(b"styleSheet", chain([b"<cellXfs>"], many(b"<xf/>", 62 * MB), [b"</cellXfs>"]))
        ),
        "a.xlsx",
    ),
    Bomb("a sheet with entities within entities", _laughing_sheet, "a.xlsx"),
    Bomb("a workbook whose directory lies about sizes", _lying_sizes, "a.xlsx"),
    Bomb("archives within archives", _nested_zip, "a.xlsx"),
    Bomb("an archive of absolute paths and links", _links_out, "a.xlsx"),
    Bomb("a sheet with one cell repeated 17 billion times", _repeated_cells, "a.ods"),
    Bomb("an OpenDocument sheet with a cell of 500 MB", _open_document_of_a_long_cell, "a.ods"),
    Bomb("an old workbook with wrong sizes", _old_workbook, "a.xls"),
    Bomb("one line of 400 MB", lambda: gzipped(many(b"a,b,", 400 * MB)), "a.csv.gz"),
    Bomb("three gigabytes of zeros", lambda: gzipped(many(b"\0", 3_000 * MB)), "a.csv.gz"),
    Bomb("a million columns", _columns, "a.csv.gz"),
    Bomb("eight million facts in a megabyte", _cells, "a.csv.gz", may_pass=True),
    Bomb("a quote that never ends", lambda: gzipped([b'id,name\n1,"'], many(b"abc,def\n", 200 * MB)), "a.csv.gz"),
    Bomb("NUL bytes in a table", lambda: PLAIN_TABLE + b"p4,A\0B,\0\n" * 200_000, "a.csv", may_pass=True),
    Bomb(
        "combining marks in a cell",
        lambda: PLAIN_TABLE + f"p4,{_marks(100_000)},Heron\n".encode(),
        "a.csv",
        may_pass=True,
    ),
    Bomb("a million nested brackets", lambda: _deep_json(1_000_000, b"[", b"]"), "a.json"),
    Bomb("objects within objects", lambda: _deep_json(200_000, b'{"a":', b"}"), "a.json"),
    Bomb(
        "a record of forty million objects",
        lambda: gzipped([b'[{"id": 1, "x": ['], many(b'{"":0},', 300 * MB), [b"{}]}]"]),
        "a.json.gz",
    ),
    Bomb("a bundle of 600,000 patients", _bundle, "a.json.gz", may_pass=True),
    Bomb(
        "JSON-LD of 300 MB",
        lambda: gzipped(
            [b'{"@context":{"@vocab":"urn:x:"},"@graph":['], many(b'{"a":"b"},', 300 * MB), [b'{"a":"b"}]}']
        ),
        "a.jsonld.gz",
    ),
    Bomb("XML entities within entities", lambda: _laughs(12) + b"<r>&l11;</r>", "a.rdf"),
    Bomb("XML elements within elements", _xml_depth, "a.rdf.gz"),
    Bomb("a GraphML of three million nodes", _graph_nodes, "a.graphml.gz"),
    Bomb(
        "a GraphML text of 300 MB",
        lambda: gzipped([_GRAPHML, b'<node id="a"><data key="k">'], many(b"a", 300 * MB)),
        "a.graphml.gz",
    ),
    Bomb("a family file of notes within notes", _family_file, "a.ged"),
    Bomb("an address card of 300 MB", _card, "a.vcf.gz"),
    Bomb("two million address cards", lambda: gzipped(many(b"BEGIN:VCARD\nFN:A\nEND:VCARD\n", 60 * MB)), "a.vcf.gz"),
    Bomb("open braces of N3", lambda: b"{ " * 3_000_000, "a.n3"),
    Bomb(
        "a literal of 300 MB",
        lambda: gzipped([_PREFIX, b':a :b """'], many(b"a", 300 * MB), [b'""" .']),
        "a.ttl.gz",
    ),
    Bomb("blank nodes within blank nodes", lambda: _PREFIX + b":a :b " + b"[ :c " * 2_000_000, "a.ttl"),
    Bomb(
        "a list of five million members",
        lambda: gzipped([_PREFIX, b":a :b ("], many(b" :c", 15 * MB), [b") ."]),
        "a.ttl.gz",
        may_pass=True,
    ),
)
"""Files, each with the ending that decides who reads it."""

POLICIES: Final = (
    Bomb("a policy with a key of 100,000 parts", lambda: b"a." * 100_000 + b"a = 1", is_policy=True),
    Bomb("a policy with lists within lists", lambda: b"names = " + b"[" * 400_000, is_policy=True),
    Bomb("a policy of 10,000 tables with slow patterns", _tables_policy, is_policy=True),
    Bomb("a policy of 60,000 names", _long_lists, is_policy=True, may_pass=True),
    Bomb(
        "a pattern of a million repeats",
        lambda: b'[mediators]\npattern = "((((a{30}){30}){30}){30}){30}"',
        is_policy=True,
    ),
)
"""Policies, each sent with a small table."""

_WORDS: Final = "ward doctor patient of and or not in the with 12 1980-01-01 Ada Finch, ; ( ) ? more than".split()


def _salad(count: int) -> str:
    return " ".join(Random(3).choices(_WORDS, k=count))  # noqa: S311  # nosec B311


QUESTIONS: Final = (
    Bomb("a question of 100,000 words", lambda: _salad(100_000).encode()),
    Bomb("a question of 1,500 common words", lambda: _salad(1_500).encode()),
    Bomb("a question of combining marks", lambda: ("Where is " + _marks(7_900) + "?").encode()),
    Bomb("a question of full stops", lambda: b"Where is " + b"." * 7_900 + b"?"),
    Bomb("a question of blank lines", lambda: b"Where is " + b"\n" * 7_900 + b"x?"),
    Bomb("a question of 7,900 digits", lambda: b"Who is " + b"9" * 7_900 + b"?"),
    Bomb("a question of open brackets and quotes", lambda: b'Who is "(["' * 700),
    Bomb("a question of 2,000 commas", lambda: b"Where do " + b"a, " * 2_500 + b"and b live?"),
    Bomb("a question of one word of 7,900 letters", lambda: b"Who is " + b"a" * 7_900 + b"?"),
    Bomb("a question of one word made of 1,900 words", lambda: b"Who is in " + b"ward" * 1_900 + b"?"),
    Bomb("a question of dates", lambda: b"Who was born on " + b"1/1/1 " * 1_250 + b"?"),
)
