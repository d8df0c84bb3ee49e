"""Reading: every format gives the same triples; errors name file and line and never quote the file."""

from __future__ import annotations

import gzip
import json
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from kg_store.errors import LoadError
from kg_store.formats.files import PackedBounds, require_unpacked_within
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.parsed_triples import at_once
from kg_store.sources.raw_graph import TEXT_MARK, RawGraph, literal_of, text_of, value_term
from kg_store.sources.reader import read_sources
from kg_store.terms import ValueKind
from tests.support.stores import raw_of, written

SECRET = "Zofia Quarrel"
TRIPLES = {
    ("<http://x.test/p1>", "<http://x.test/name>", f'"{SECRET}"@en'),
    ("<http://x.test/p1>", "<http://x.test/age>", '"41"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ("<http://x.test/p1>", "<http://x.test/knows>", "<http://x.test/p2>"),
}
NT = "".join(f"{s} {p} {o} .\n" for s, p, o in sorted(TRIPLES))
TURTLE = f'@prefix : <http://x.test/> .\n:p1 :name "{SECRET}"@en ; :age 41 ; :knows :p2 .\n'
XML = f"""<?xml version="1.0"?>
<!DOCTYPE r [<!ENTITY xsd "http://www.w3.org/2001/XMLSchema#">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://x.test/">
<rdf:Description rdf:about="http://x.test/p1"><name xml:lang="en">{SECRET}</name>
<age rdf:datatype="&xsd;integer">41</age><knows rdf:resource="http://x.test/p2"/></rdf:Description></rdf:RDF>"""
JSON_LD = {
    "@context": {"@vocab": "http://x.test/", "knows": {"@type": "@id"}},
    "@id": "http://x.test/p1",
    "name": {"@value": SECRET, "@language": "en"},
    "age": 41,
    "knows": "http://x.test/p2",
}
SAME = {
    "a.ttl": TURTLE,
    "a.turtle": TURTLE,
    "a.n3": TURTLE,
    "a.nt": NT,
    "a.nq": NT.replace(" .\n", " <http://x.test/graph> .\n"),
    "a.trig": f":g {{ {TURTLE.splitlines()[1]} }}".join(["@prefix : <http://x.test/> .\n", "\n"]),
    "a.rdf": XML,
    "a.owl": XML,
    "a.jsonld": json.dumps(JSON_LD),
    "a.tsv": NT.replace(" .\n", "\n").replace("> ", ">\t"),
}


def triples(raw: RawGraph) -> set[tuple[str, str, str]]:
    columns = zip(raw.subjects, raw.predicates, raw.objects, strict=True)
    return {(raw.terms[s], raw.terms[p], raw.terms[o]) for s, p, o in columns}


def texts(raw: RawGraph) -> list[tuple[str, ...]]:
    columns = zip(raw.subjects, raw.predicates, raw.objects, strict=True)
    return [tuple(raw.text(term) for term in row) for row in columns]


CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("reading.toml").read_text("utf-8"))["file"]


def told(raw: RawGraph) -> list[str]:
    """Each triple in the last parts of its terms; blank nodes without their numbers."""
    short = ["_:" if term.startswith("_:") else text_of(term).rsplit("/", 1)[-1] for term in raw.terms]
    columns = zip(raw.subjects, raw.predicates, raw.objects, strict=True)
    return sorted(" - ".join(short[term] for term in row) for row in columns)


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_a_file_is_read_as_its_case_says(tmp_path: Path, case: dict[str, Any]) -> None:
    if "refused" not in case:
        raw = raw_of(tmp_path, case["text"], case["name"])
        assert (told(raw), list(raw.notes)) == (case["triples"], case.get("notes", []))
        return
    with pytest.raises(LoadError) as caught:
        raw_of(tmp_path, case["text"], case["name"])
    assert str(caught.value).startswith(case["refused"])
    assert not [part for part in (*SECRET.split(), str(tmp_path)) if part in str(caught.value)]


@pytest.mark.parametrize("name", SAME)
def test_every_format_gives_the_same_triples(tmp_path: Path, name: str) -> None:
    assert triples(raw_of(tmp_path, SAME[name], name)) == TRIPLES


@pytest.mark.parametrize("name", SAME)
def test_a_byte_order_mark_is_read_over(tmp_path: Path, name: str) -> None:
    path, zipped = tmp_path / name, tmp_path / f"{name}.gz"
    path.write_text(SAME[name], "utf-8-sig")
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert triples(read_sources([path])) == triples(read_sources([zipped])) == TRIPLES


def test_an_rdflib_graph_is_a_source() -> None:
    graph = rdflib.Graph()
    graph.parse(data=TURTLE, format="turtle")
    assert triples(read_sources(graph)) == TRIPLES


def test_terms_that_no_plain_triple_has_are_refused_from_rdflib() -> None:
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("http://x.test/a"), rdflib.URIRef("http://x.test/b"), rdflib.Literal("x", lang="en")))
    graph.add((rdflib.BNode("one"), rdflib.URIRef("http://x.test/b"), rdflib.Variable("v")))
    with pytest.raises(LoadError, match="plain triples"):
        read_sources(graph)


@pytest.mark.filterwarnings("ignore")
def test_an_iri_that_is_none_is_a_load_error_from_rdflib() -> None:
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef(f"no scheme {SECRET}"), rdflib.URIRef("http://x.test/b"), rdflib.Literal("x")))
    with pytest.raises(LoadError) as caught:
        read_sources(graph)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.csv", "a.ttl", "a.nt"])
def test_bytes_that_are_not_utf8_are_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    good = b"<http://x.test/a> <http://x.test/b> <http://x.test/c> .\n"
    line = good if name in ("a.ttl", "a.nt") else b"a,b,c\n" if name == "a.csv" else b"a\tb\tc\n"
    path.write_bytes(line * 3000 + line.replace(b"b", b"\xff"))
    with pytest.raises(LoadError) as caught:
        read_sources([path])
    assert caught.value.file == name


@pytest.mark.parametrize(("name", "text"), [("a.ttl", TURTLE), ("a.nt", NT)])
def test_utf16_of_rdf_is_refused(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-16"))
    with pytest.raises(LoadError, match="UTF-8"):
        read_sources([path])


def test_gzip_that_unpacks_to_too_much_is_refused_and_the_files_count_together(tmp_path: Path) -> None:
    paths = [tmp_path / "a.nt.gz", tmp_path / "b.nt.gz", tmp_path / "c.nt"]
    for path in paths[:2]:
        path.write_bytes(gzip.compress(NT.encode()))
    paths[2].write_text(NT * 2)
    size = len(NT.encode())
    require_unpacked_within(paths, PackedBounds(2 * size, 0))
    with pytest.raises(LoadError, match=r"b\.nt\.gz: the gzip data unpacks to more than") as caught:
        require_unpacked_within(paths, PackedBounds(2 * size - 1, 0))
    assert caught.value.file == "b.nt.gz"


@pytest.mark.parametrize(
    ("name", "text", "facts"),
    [
        ("a.csv.gz", "id,a,b,c\n" + "k1,1,,canary\n" * 50_000, 100_000),
        ("a.tsv.gz", "id\ta\tb\n" + "k1\t1\tcanary\n" * 50_000, 100_000),
        (
            "a.json.gz",
            '[{"id": 1, "of": {"a": "canary"}}' + ', {"id": 1, "of": [ {"a":"b"} ]}' * 49_999 + "]",
            100_000,
        ),
    ],
)
def test_facts_packed_beyond_measure_are_refused_before_they_are_read(
    tmp_path: Path, name: str, text: str, facts: int
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()))
    size = path.stat().st_size
    require_unpacked_within([path], PackedBounds(1 << 30, facts + 10))
    with pytest.raises(LoadError, match="unpack or split") as caught:
        require_unpacked_within([path], PackedBounds(1 << 30, facts - size - 10))
    assert (caught.value.file, "canary" in str(caught.value)) == (name, False)
    (tmp_path / "plain.csv").write_text(text)
    require_unpacked_within([tmp_path / "plain.csv"], PackedBounds(1, 1))


def test_a_packed_line_without_end_is_refused_before_all_of_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"canary" * 4_000_000) + b"what follows is not unpacked")
    with pytest.raises(LoadError, match="a line of more than 4 million") as caught:
        require_unpacked_within([path], PackedBounds(1 << 30, 1_000))
    assert "canary" not in str(caught.value)


def test_a_cell_with_thousands_of_accents_is_refused_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,name\n" + "".join(f"p{at},Ann {at}\n" for at in range(9)) + f"p9,canary{chr(0x301) * 500}\n")
    asked = list[int]()
    whole = unicodedata.normalize
    monkeypatch.setattr(unicodedata, "normalize", lambda form, text: asked.append(len(text)) or whole(form, text))
    with pytest.raises(LoadError, match="accents") as caught:
        read_and_propose([path])
    assert (caught.value.file, caught.value.line, "canary" in str(caught.value)) == ("a.csv", 11, False)
    assert max(asked, default=0) < 500


@pytest.mark.parametrize("cut", [3, 40])
def test_broken_gzip_is_a_load_error(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.nt.gz"
    path.write_bytes(gzip.compress(NT.encode())[:cut] if cut > 3 else b"not gzip at all")
    with pytest.raises(LoadError, match="gzip"):
        read_sources([path])


def test_an_unknown_ending_and_a_missing_file_are_load_errors(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"allowed: \.ttl"):
        raw_of(tmp_path, NT, "a.docx")
    with pytest.raises(LoadError, match=r"absent\.nt"):
        read_sources([tmp_path / "absent.nt"])


@pytest.mark.parametrize(
    "context",
    [
        "http://127.0.0.1:9/context",
        ["http://127.0.0.1:9/context", {"name": "http://x.test/name"}],
        {"@import": "http://127.0.0.1:9/context"},
        {"knows": {"@id": "http://x.test/knows", "@context": "http://127.0.0.1:9/context"}},
    ],
)
def test_a_remote_context_is_refused_before_anything_is_fetched(tmp_path: Path, context: object) -> None:
    with pytest.raises(LoadError, match="remote"):
        raw_of(tmp_path, json.dumps({"@context": context, "name": SECRET}), "a.jsonld")


def test_xml_entities_of_the_file_system_are_not_followed(tmp_path: Path) -> None:
    path = written(tmp_path, "outside", "outside.txt")
    text = XML.replace("<!ENTITY xsd", f'<!ENTITY out SYSTEM "file://{path}"><!ENTITY xsd').replace(SECRET, "&out;")
    try:
        read = texts(raw_of(tmp_path, text, "a.rdf"))
    except LoadError:
        return
    assert not any("outside" in cell for row in read for cell in row)


RDF_XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://x.test/"'


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (f'<!DOCTYPE r [<!ENTITY a "{"A" * 2000}">]>', "entity of more than"),
        ("<!DOCTYPE r [" + "<!-- x -->" * 120_000 + '<!ENTITY a "b">]>', "does not end"),
        ("<!-- x -->" * 120_000 + '<!DOCTYPE r [<!ENTITY a "b">]>', "before the first"),
    ],
)
def test_a_prolog_that_could_hide_something_is_refused(tmp_path: Path, head: str, reason: str) -> None:
    with pytest.raises(LoadError, match=reason):
        raw_of(tmp_path, f"{head}{RDF_XML}/>", "a.rdf")


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.tsv", f"a\tknows\tb\na\t{'x' * 2001}\tb\n", "a.tsv, line 2: "),
        ("a.csv", f'a,knows,b\na,"{"x" * 2001}",b\n', "a.csv, line 2: "),
        ("a.nt", f"<http://x.test/a> <http://x.test/{'x' * 2000}> <http://x.test/b> .\n", "a.nt: "),
    ],
)
def test_a_relation_longer_than_a_policy_holds_is_told(tmp_path: Path, name: str, text: str, place: str) -> None:
    with pytest.raises(LoadError, match=f"^{place}a relation of more than 2000 characters$"):
        raw_of(tmp_path, text, name)


@pytest.mark.parametrize("text", ["9" * 5000, '{"a":' * 20_000, "[" * 100_000, "\xff"])
def test_json_that_python_will_not_hold_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.jsonld"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(LoadError, match=r"^a\.jsonld: not valid JSON, or nested too deep, or a number too long$"):
        read_sources([path])


def test_a_text_can_not_pose_as_an_iri_and_an_iri_is_one(tmp_path: Path) -> None:
    raw = raw_of(tmp_path, '"p"\tb\t_:x\nhttp://x.test/a\tb\t<not an iri>\n', "a.tsv")
    marks = [raw.terms[term][0] for term in (*raw.subjects.tolist(), *raw.objects.tolist())]
    assert marks == [TEXT_MARK, "<", TEXT_MARK, TEXT_MARK]


def test_blank_nodes_of_two_files_stay_apart(tmp_path: Path) -> None:
    paths = [written(tmp_path, "_:a <http://x.test/p> <http://x.test/b> .\n", name) for name in ("1.nt", "2.nt")]
    assert len(set(read_sources(paths).subjects.tolist())) == 2


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.sampled_from(ValueKind))
def test_a_value_term_gives_its_text_and_kind_back(text: str, kind: ValueKind) -> None:
    literal = literal_of(value_term(text, kind))
    assert (literal.lexical, literal.kind) == (text, kind)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_literal_of_any_text_is_read_back(text: str) -> None:
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("http://x.test/a"), rdflib.URIRef("http://x.test/b"), rdflib.Literal(text, lang="de")))
    raw = read_sources(graph)
    literal = raw.literal(raw.objects[0])
    assert (literal.lexical, literal.language) == (text, "de")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), min_size=1, max_size=4))
def test_texts_are_read_as_they_were_written_whatever_they_hold(texts: list[str]) -> None:
    """Triples are cut out of one text, so nothing in a literal may look like its end."""
    quads = [pyoxigraph.Quad(_iri(at), _iri("p"), pyoxigraph.Literal(text)) for at, text in enumerate(texts)]
    told = [*quads, pyoxigraph.Quad(pyoxigraph.BlankNode("x"), _iri("p"), _iri("y"))]
    read = {(head, tail) for head, _, tail in at_once(told, "_:0.")}
    assert read == {*((str(each.subject), str(each.object)) for each in quads), ("_:0.x", "<http://x.test/y>")}


def _iri(name: object) -> pyoxigraph.NamedNode:
    return pyoxigraph.NamedNode(f"http://x.test/{name}")


def test_triples_about_triples_are_read_beside_texts_that_hold_their_brackets(tmp_path: Path) -> None:
    quoted = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <http://x.test/a> <http://x.test/p> _:b )>> .\n"
    raw = raw_of(tmp_path, f'<http://x.test/r> {quoted}<http://x.test/a> <http://x.test/said> "a << b" .\n', "a.nt")
    assert len(raw.subjects) == 3
    assert '"a << b"' in raw.terms


def test_of_two_errors_the_first_is_told_also_where_many_triples_are_read_at_once(tmp_path: Path) -> None:
    rule = "{ <http://x.test/a> <http://x.test/p> <http://x.test/b> } <http://x.test/p> <http://x.test/c> .\nbroken"
    with pytest.raises(LoadError, match="only plain triples"):
        raw_of(tmp_path, rule, "a.n3")


def test_more_triples_than_are_read_at_once_are_all_read(tmp_path: Path) -> None:
    lines = [f"<http://x.test/{at}> <http://x.test/p> _:b{at % 7} .\n" for at in range(2_500)]
    raw = raw_of(tmp_path, "".join(lines), "a.nt")
    assert len(raw.subjects) == 2_500
    assert len(raw.terms) == 2_500 + 1 + 7
