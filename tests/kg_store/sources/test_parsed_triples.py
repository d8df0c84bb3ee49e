"""Plain lines of N-Triples are read as the parser would read them, and all others by the parser."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.sources import parsed_triples
from kg_store.sources.parsed_triples import LinesRead, at_once, read_lines
from kg_store.sources.term_numbers import TermNumbers, collect

NT = pyoxigraph.RdfFormat.N_TRIPLES
ANY_CHARACTER = st.characters(exclude_categories=["Cs"])
IRIS = st.sampled_from(
    "<http://x.test/a> <https://x.test:80/b%20c?d=e#f> <http://x.test> <urn:isbn:1> <urn:x:> <http:> <http://x.test/%g>"
    " <http://x.test/#a#b> <http://x.test/é> <a> <http://[x> <http://x.test:a/> <mailto:a@x.test> <> <http://x.test/\\u0041>"
    " <http://x.test/../b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>".split()
) | st.text(ANY_CHARACTER, max_size=4).map(lambda text: f"<http://x.test/{text}>")
BLANKS = st.sampled_from("_:a _:b1 _:00ab _:a.b _:ünl _:".split())
TYPES = st.sampled_from(
    ["", "@en", "@en-GB", "@EN", "@e", "@abcdefghi", "@en--ltr", "^^<http://www.w3.org/2001/XMLSchema#string>"]
) | IRIS.map(lambda iri: f"^^{iri}")
CONTENTS = st.text(ANY_CHARACTER, max_size=6) | st.sampled_from([r"\"", r"\n", "<http://x.test/a> .", "\\"])
TEXTS = st.builds('"{}"{}'.format, CONTENTS, TYPES)
TRIPLES = st.builds("{} {} {} .".format, IRIS | BLANKS, IRIS, IRIS | TEXTS | BLANKS)
OTHERS = st.sampled_from(["", "# a comment", " ", "<http://x.test/a>", "\r", "_:a <urn:x:y> _:b . # so", "\ufeff"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", ""])
LINES = st.lists(st.tuples(TRIPLES | OTHERS, ENDS).map("".join), max_size=6)


def read(data: bytes) -> Sequence[tuple[str, str, str]]:
    numbers = TermNumbers()
    raw = collect(read_lines(io.BytesIO(data), "_:0.", LinesRead(), numbers), numbers)
    triples = zip(raw.subjects.tolist(), raw.predicates.tolist(), raw.objects.tolist(), strict=True)
    return [(raw.terms[subject], raw.terms[predicate], raw.terms[tail]) for subject, predicate, tail in triples]


def parsed(data: bytes) -> Sequence[tuple[str, str, str]]:
    return at_once(list(pyoxigraph.parse(input=data, format=NT)), "_:0.")


@given(LINES)
def test_every_text_gives_what_the_parser_gives_or_is_refused_too(lines: list[str]) -> None:
    data, refused = "".join(lines).encode(), None
    try:
        expected = parsed(data)
    except SyntaxError as error:
        refused = error.lineno
    if refused is None:
        assert read(data) == expected
        return
    lines_read = LinesRead()
    with pytest.raises(SyntaxError) as ours:
        list(read_lines(io.BytesIO(data), "_:0.", lines_read, TermNumbers()))
    # The parser also counts a carriage return alone as the end of a line.
    assert b"\r" in data.replace(b"\r\n", b"") or lines_read.before + (ours.value.lineno or 0) == refused


def test_every_character_of_a_text_is_read_as_the_parser_reads_it() -> None:
    codes = [*range(0x3000), *range(0xD700, 0xD800), *range(0xE000, 0x11000), 0x1F600, 0x10FFFF]
    told = [f'<http://x.test/a> <http://x.test/p> "{chr(code)}" .\n' for code in codes if chr(code) not in '\n\r"\\']
    assert read("".join(told).encode()) == parsed("".join(told).encode())


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    plain = b'<http://x.test/a> <http://x.test/p> "b" .\n'
    lines = LinesRead()
    with pytest.raises(SyntaxError) as refused:
        list(read_lines(io.BytesIO(plain * 3 + plain.replace(b"b", b"\xff")), "_:0.", lines, TermNumbers()))
    assert lines.before + (refused.value.lineno or 0) == 4


def test_a_file_of_many_blocks_is_read_whole_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_triples, "_BLOCK_BYTES", 1 << 16)
    lines = [f'<http://x.test/{at}> <http://x.test/p> "a{"b" * (at % 70)}" .\n' for at in range(3_000)]
    lines[1_500] = '<http://x.test/odd> <http://x.test/p> "\\u0041" .\n'
    lines[-1] = "_:a <http://x.test/p> _:a ."
    data = "".join(lines).encode()
    assert read(data) == parsed(data)
    assert read(data)[1_500][2] == '"A"'


@pytest.mark.parametrize("term", ["<http://x.test/%g>", '"a"@EN'])
def test_a_term_of_another_source_is_no_plain_term_for_that(term: str) -> None:
    numbers = TermNumbers()
    numbers.of_texts([term, "<http://x.test/a>"])
    data = f"<http://x.test/a> <http://x.test/a> {term} .\n".encode()
    try:
        expected = parsed(data)
    except SyntaxError:
        with pytest.raises(SyntaxError):
            list(read_lines(io.BytesIO(data), "_:0.", LinesRead(), numbers))
    else:
        assert list(read_lines(io.BytesIO(data), "_:0.", LinesRead(), numbers)) == [expected]


def test_plain_lines_are_numbered_without_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_triples, "_of_block", None)
    lines = ["_:a <http://x.test/p> _:b1 .", '<urn:x:y> <http://x.test/p> "a <b> . _:c é"@en .']
    assert read("\n".join(lines).encode()) == [
        ("_:0.a", "<http://x.test/p>", "_:0.b1"),
        ("<urn:x:y>", "<http://x.test/p>", '"a <b> . _:c é"@en'),
    ]
