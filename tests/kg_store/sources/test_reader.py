"""Reading: every format gives the same triples; errors name file and line and never quote the file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from kg_store.errors import LoadError
from kg_store.formats.files import require_unpacked_within
from kg_store.sources.raw_graph import TEXT_MARK, RawGraph, literal_of, value_term
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


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.ttl", TURTLE + f':p3 :name "{SECRET}\n', 3),
        ("a.ttl", f"@prefix : <http://x.test/> .\n:p1 {SECRET} :p2 .\n", 2),
        ("a.ttl", f':Zofia :name "{SECRET}" .\n', 1),
        ("a.nt", NT + f"{SECRET}\n", 4),
        ("a.n3", TURTLE + f"{{ :a :b :c }} => {{ :a :b '{SECRET}' }}", None),
        ("a.ttl", "@prefix : <http://x.test/> .\n:a :b <<( :c :d :e )>> .\n", None),
        ("a.rdf", f"<rdf:RDF><name>{SECRET}</rdf:RDF>", None),
        ("a.jsonld", '{\n"name": "' + SECRET, 2),
        ("a.tsv", f"a\tb\tc\n{SECRET}\tb\n", 2),
        ("a.csv", f'a,b,c\na,b,"{SECRET}"x\n', 2),
        ("a.csv", f"a,b,c\nQuarrel, {SECRET},b,c\n", 2),
        ("a.tsv", SECRET, 1),
        ("a.tsv", "head\trelation\ttail\n", None),
        ("a.nt", "# nothing\n", None),
    ],
)
def test_an_error_names_file_and_line_and_quotes_nothing(
    tmp_path: Path, name: str, text: str, line: int | None
) -> None:
    with pytest.raises(LoadError) as caught:
        raw_of(tmp_path, text, name)
    if line is not None:
        assert (caught.value.file, caught.value.line) == (name, line)
    for part in SECRET.split():
        assert part not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


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
    require_unpacked_within(paths, 2 * size)
    with pytest.raises(LoadError, match=r"b\.nt\.gz: the gzip data unpacks to more than") as caught:
        require_unpacked_within(paths, 2 * size - 1)
    assert caught.value.file == "b.nt.gz"


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


def test_a_context_hidden_behind_a_second_key_is_not_fetched(tmp_path: Path) -> None:
    contexts = '"@context": "http://127.0.0.1:9/x", "@context": {"@vocab": "http://x.test/"}'
    text = f'{{{contexts}, "@id": "http://x.test/a", "n": 1}}'
    assert len(triples(raw_of(tmp_path, text, "a.jsonld"))) == 1


@pytest.mark.parametrize(
    "doctype",
    [
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">',
        "<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>",
        '<!ENTITY % p "x">',
    ],
)
def test_xml_entities_made_of_entities_are_refused(tmp_path: Path, doctype: str) -> None:
    text = XML.replace('<!ENTITY xsd "http://www.w3.org/2001/XMLSchema#">', doctype)
    with pytest.raises(LoadError, match="entit"):
        raw_of(tmp_path, text, "a.rdf")


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
    ("body", "rows"),
    [
        # xml:base resolves relative names, rdf:ID among them.
        (' xml:base="http://b.test/d/"><rdf:Description rdf:about="p1"><knows rdf:resource="../q"/></rdf:Description>',
         [("http://b.test/d/p1", "http://x.test/knows", "http://b.test/q")]),
        (' xml:base="http://b.test/d"><rdf:Description rdf:ID="p1"><n>1</n></rdf:Description>',
         [("http://b.test/d#p1", "http://x.test/n", "1")]),
        ('><rdf:Description rdf:about="http://x.test/p"><n rdf:parseType="Literal">a &amp; b</n></rdf:Description>',
         [("http://x.test/p", "http://x.test/n", "a &amp; b")]),
    ],
)  # fmt: skip
def test_rdf_xml_in_its_other_forms(tmp_path: Path, body: str, rows: list[tuple[str, ...]]) -> None:
    assert texts(raw_of(tmp_path, f"{RDF_XML}{body}</rdf:RDF>", "a.rdf")) == rows


def test_a_resource_and_a_collection_are_blank_nodes(tmp_path: Path) -> None:
    nested = '<p rdf:parseType="Resource"><city>Z</city></p>'
    several = '<q rdf:parseType="Collection"><rdf:Description rdf:about="http://x.test/k1"/></q>'
    text = f'{RDF_XML}><rdf:Description rdf:about="http://x.test/p1">{nested}{several}</rdf:Description></rdf:RDF>'
    raw = raw_of(tmp_path, text, "a.rdf")
    assert sum(term.startswith("_:") for term in raw.terms) == 2
    assert ("<http://x.test/city>", '"Z"') in {(p, o) for _, p, o in triples(raw)}
    assert "<http://x.test/k1>" in {o for _, _, o in triples(raw)}


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


def test_a_document_type_elsewhere_is_not_fetched(tmp_path: Path) -> None:
    text = XML.replace("<!DOCTYPE r [", '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/r.dtd" [')
    assert triples(raw_of(tmp_path, text, "a.rdf")) == TRIPLES


@pytest.mark.parametrize(
    ("tree", "rows"),
    [
        ([{"@id": "http://x.test/a", "http://x.test/p": [{"@value": "v"}]}], {("a", "p", "v")}),
        ({"@context": {"p": {"@reverse": "http://x.test/q"}}, "@id": "http://x.test/a", "p": {"@id": "http://x.test/b"}},
         {("b", "q", "a")}),
        ({"@context": {"x": "http://x.test/", "p": {"@id": "x:p", "@container": "@language"}}, "@id": "x:a",
          "p": {"en": "A", "de": "B"}}, {("a", "p", "A"), ("a", "p", "B")}),
        ({"@context": {"@vocab": "http://x.test/"}, "@graph": [{"@id": "http://x.test/a", "p": "v"}]},
         {("a", "p", "v")}),
    ],
)  # fmt: skip
def test_json_ld_with_its_context_inline(tmp_path: Path, tree: object, rows: set[tuple[str, ...]]) -> None:
    raw = raw_of(tmp_path, json.dumps(tree), "a.jsonld")
    assert {tuple(text.rsplit("/", 1)[-1] for text in row) for row in texts(raw)} == rows
    assert raw.notes == ()


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


def test_a_cell_of_nothing_but_nul_is_empty(tmp_path: Path) -> None:
    raw = raw_of(tmp_path, "a\tknows\tb\na\t\x00\tb\n", "a.tsv")
    assert len(raw.subjects) == 1
    assert raw.notes == ("1 lines with an empty cell were skipped",)


@pytest.mark.parametrize("text", ["9" * 5000, '{"a":' * 20_000, "[" * 100_000, "\xff"])
def test_json_that_python_will_not_hold_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.jsonld"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(LoadError, match=r"^a\.jsonld: not valid JSON, or nested too deep, or a number too long$"):
        read_sources([path])


def test_keys_that_mean_nothing_are_noted(tmp_path: Path) -> None:
    tree = {"@context": {"p": "http://x.test/p"}, "@id": "http://x.test/a", "p": "v", "age": 3, "kids": [{"age": 4}]}
    assert raw_of(tmp_path, json.dumps(tree), "a.jsonld").notes == (
        "2 keys of a.jsonld have no meaning in its @context, and were not read",
    )


@pytest.mark.parametrize(
    "statement", ["{ ?x :b ?y } => { ?y :d ?x } .", ":a :says { :b :c :d } .", ":a :b ?x .", "@forAll :x ."]
)
def test_rules_formulas_and_variables_of_n3_are_refused(tmp_path: Path, statement: str) -> None:
    with pytest.raises(LoadError, match="formula"):
        raw_of(tmp_path, f"@prefix : <http://x.test/> .\n:a :b :c .\n{statement}\n", "a.n3")


def test_what_n3_writes_shorter_is_read(tmp_path: Path) -> None:
    text = "@prefix : <http://x.test/> .\n:a = :b . :c is :parent of :d . :e :q [ :r 1 ] .\n"
    short = {tuple(part.rsplit("/", 1)[-1] for part in row) for row in texts(raw_of(tmp_path, text, "a.n3"))}
    assert {("a", "owl#sameAs", "b"), ("d", "parent", "c")} <= short
    assert len(short) == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", "Zofia Q\tknows\tA|b, c\nA|b, c\tknows\tZofia Q\n"),
        ("a.csv", 'Zofia Q,knows,"A|b, c"\n"A|b, c",knows,Zofia Q\n'),
        ("a.txt", "\ufeffhead\trelation\ttail\r\nZofia Q\tknows\tA|b, c\r\n\r\nA|b, c\tknows\tZofia Q"),
        ("a.tsv", "Subject\tPredicate\tObject\nZofia Q\tknows\tA|b, c\nA|b, c\tknows\t Zofia Q \n"),
    ],
)
def test_text_triples_are_told_by_their_delimiter(tmp_path: Path, name: str, text: str) -> None:
    assert texts(raw_of(tmp_path, text, name)) == [("Zofia Q", "knows", "A|b, c"), ("A|b, c", "knows", "Zofia Q")]


def test_further_columns_and_empty_cells_are_noted(tmp_path: Path) -> None:
    raw = raw_of(tmp_path, "a\tb\tc\tok\na\tb\t\tok\nd\tb\tc\tinferred\n", "a.tsv")
    assert len(raw.subjects) == 2
    assert raw.notes == (
        "3 cells beyond head, relation and tail (a direction column and the like) were not read",
        "1 lines with an empty cell were skipped",
    )


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


LISTS = """@prefix : <http://x.test/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
:ivo :speaks ( :norse "Sudorian" ) ; :likes ( ) .
:mara :speaks ( :norse ) .
:runa :reads _:a . _:a rdf:first :saga ; rdf:rest _:a .
_:b rdf:first :alone ; rdf:rest rdf:nil .
"""


def test_the_members_of_a_list_stand_in_its_place_and_a_broken_one_is_kept(tmp_path: Path) -> None:
    found = {tuple(text.split("/")[-1] for text in row) for row in texts(raw_of(tmp_path, LISTS, "lists.ttl"))}
    assert {("ivo", "speaks", "norse"), ("ivo", "speaks", "Sudorian"), ("mara", "speaks", "norse")} <= found
    # A loop, and a list to which nothing leads.
    assert len({row[0] for row in found if row[1].endswith("first")}) == 2
    assert ("runa", "reads") in {row[:2] for row in found}
