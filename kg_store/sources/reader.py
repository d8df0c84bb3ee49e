"""Reads files and rdflib graphs of every accepted format as a stream of triples, never using the network."""

from __future__ import annotations

import codecs
import gzip
import io
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar, cast
from urllib.parse import quote

import numpy as np
import pyoxigraph

from kg_store.errors import LoadError
from kg_store.formats.files import (
    BoundedRuns,
    encoding_of,
    local_json,
    tame_xml,
    too_many_facts,
    translate_io_errors,
    with_few_brackets,
)
from kg_store.formats.neo4j_exports import Node, Relationship, Values
from kg_store.formats.property_graph import GRAPH_ENDINGS, is_property_graph, read_property_graph
from kg_store.sources.parsed_triples import LinesRead, NotPlainError, at_once, one_by_one, read_lines
from kg_store.sources.policy import Policy, TriplesPolicy
from kg_store.sources.public_part import join_public, policy_of_part
from kg_store.sources.raw_graph import MAX_PREDICATE_CHARS, RawGraph, Term, TermIds, plain_term, value_term
from kg_store.sources.table_files import TABLE_ENDINGS, TEXT_ENDINGS, bare_name
from kg_store.sources.table_policy import TablePolicy
from kg_store.sources.table_triples import Tables
from kg_store.sources.term_numbers import TermNumbers, collect
from kg_store.sources.triple_files import TOO_LONG, read_cells
from kg_store.terms import ValueKind
from kg_store.text.literals import fits
from kg_store.text.normalise import TOO_MANY_MARKS, has_too_many_marks

if TYPE_CHECKING:
    import rdflib

    from kg_store.sources.policy import Policy


_ItemT = TypeVar("_ItemT")
Fraction = Callable[[float], None]
Triples = Iterator[tuple[Term, Term, Term]]
Batches = Iterator[Sequence[tuple[Term, Term, Term]] | TermIds]

_RDF = {
    **dict.fromkeys((".ttl", ".turtle", ".ttls"), ("Turtle", pyoxigraph.RdfFormat.TURTLE)),
    ".nt": ("N-Triples", pyoxigraph.RdfFormat.N_TRIPLES),
    ".nq": ("N-Quads", pyoxigraph.RdfFormat.N_QUADS),
    ".trig": ("TriG", pyoxigraph.RdfFormat.TRIG),
    ".n3": ("N3", pyoxigraph.RdfFormat.N3),
    **dict.fromkeys((".rdf", ".owl", ".xml"), ("RDF/XML", pyoxigraph.RdfFormat.RDF_XML)),
    ".jsonld": ("JSON-LD", pyoxigraph.RdfFormat.JSON_LD),
}
FORMATS = (*_RDF, *TABLE_ENDINGS, *GRAPH_ENDINGS)
"""The file endings that a load accepts; each may be followed by `.gz`."""

_NESTED = ("Turtle", "TriG", "N3")
# The base for relative IRIs is a name that can't be looked up (RFC 2606).
_BASE = "http://file.invalid/"
_REPORT_BYTES = 1 << 18
_UNMAPPED = (
    "its tables have no key and refer to no other file, so they were not read: give each row an id of its own, or "
    "say in the policy how, with [[tables]]"
)
# The parser's messages may quote the file, so only these parts of them are recognised and replaced by our own words.
_REASONS = (
    ("end of file", "the file ends in the middle of a statement"),
    ("Line jumps", "a line break inside a quoted string"),
    ("prefix", "a prefix that is not declared, or a broken prefixed name"),
    ("IRI", "an IRI that is not valid"),
    ("language", "a language tag that is not valid"),
    ("UTF-8", "bytes that are not UTF-8"),
)
NOTHING_TO_BRIDGE = "all files are public, so there is nothing to bridge: leave `[public.bridges]` out"
NO_PUBLIC_FILE = "{count} of the public files that the policy lists (`[public] files`) were not given"
_NOT_READABLE = "a statement that can't be read"


def read_sources(
    sources: Sequence[Path] | rdflib.Graph,
    progress: Fraction = lambda _done: None,
    tables: Sequence[TablePolicy] = (),
    triples: Sequence[TriplesPolicy] = (),
    skip: Collection[str] = (),
) -> RawGraph:
    """Returns all triples of all sources.

    `progress` gets the share of bytes read, 0 to 1. `tables` describe files of rows, `triples` say which text files
    are lists of triples, and `skip` names files that are left out. Raises LoadError with file and line; its text never
    quotes the file.
    """
    skipped: Counter[str] = Counter()
    if isinstance(sources, Sequence) and skip:
        kept = [path for path in sources if bare_name(path) not in skip]
        if len(kept) < len(sources):
            skipped["files are not read, as the policy says (`skip`)"] = len(sources) - len(kept)
        sources = kept
    texts = TextFiles(sources, tables, triples) if isinstance(sources, Sequence) else None
    numbers = TermNumbers()
    raw = without_lists(
        collect(
            _few(_all_files(sources, progress, texts, skipped, numbers), sources)
            if isinstance(sources, Sequence) and texts is not None
            else _in_batches(_rdflib_triples(sources)),
            numbers,
        )
    )
    if not len(raw.subjects):
        raise LoadError("no source holds a triple")
    # A term has two characters more than its predicate: the angle brackets.
    if any(len(raw.terms[term]) > MAX_PREDICATE_CHARS + 2 for term in set(raw.predicates.tolist())):
        raise LoadError(TOO_LONG, sources[0].name if isinstance(sources, Sequence) and len(sources) == 1 else "")
    if any(map(has_too_many_marks, raw.terms)):
        raise LoadError(TOO_MANY_MARKS)
    raw.notes = tuple(f"{count} {reason}" for reason, count in skipped.items())
    raw.joins = texts.joins() if texts is not None else ()
    return raw


def read_by_policy(
    sources: Sequence[Path] | rdflib.Graph, policy: Policy, progress: Fraction = lambda _done: None
) -> RawGraph:
    """Returns all triples of the sources, read as the policy says. Raises a LoadError that lists all broken files."""
    beside = set(policy.public.files)
    if beside and isinstance(sources, Sequence):
        if missing := beside.difference(map(bare_name, sources)):
            raise LoadError(NO_PUBLIC_FILE.format(count=len(missing)))
        if beside.issuperset(map(bare_name, sources)):
            return _all_public(sources, policy, progress)
        private, public = (
            read_by_policy(
                [path for path in sources if (bare_name(path) in beside) is is_public],
                policy_of_part(policy, is_public=is_public),
                progress,
            )
            for is_public in (False, True)
        )
        return join_public(private, public, policy)
    try:
        return read_sources(sources, progress, policy.tables, policy.triples, policy.skip)
    except LoadError as error:
        if not isinstance(sources, Sequence) or len(sources) < 2:
            raise
        kept = [path for path in sources if bare_name(path) not in policy.skip]
        raise all_of([*errors_of(kept, policy.tables, policy.triples).values()] or [error]) from None


def _all_public(sources: Sequence[Path], policy: Policy, progress: Fraction) -> RawGraph:
    """Returns the triples of files that are all public. Raises LoadError, also if the policy bridges anything."""
    if policy.public.bridges:
        raise LoadError(NOTHING_TO_BRIDGE)
    raw = read_by_policy(sources, policy_of_part(policy, is_public=True), progress)
    raw.is_public = True
    return raw


def errors_of(
    paths: Sequence[Path], tables: Sequence[TablePolicy], triples: Sequence[TriplesPolicy]
) -> dict[Path, LoadError]:
    """Returns the first error of each file that cannot be read; empty if all can be.

    Raises LoadError for an error that concerns no single file.
    """
    found = dict[Path, LoadError]()
    try:
        texts = TextFiles(paths, tables, triples)
    except LoadError as error:
        # Keys of tables are read first, so this error concerns a table; find its file.
        found = {path: error for path in paths if bare_name(path) == error.file.partition("/")[0]}
        if not found:
            raise
        return found
    for path in paths:
        try:
            for _ in _file(path, 0, lambda _read: None, texts, Counter(), TermNumbers()):
                pass
        except LoadError as error:
            found[path] = error
    return found


def all_of(errors: Sequence[LoadError]) -> LoadError:
    """Returns one LoadError that lists all of `errors`, one on each line."""
    if len(errors) == 1:
        return errors[0]
    return LoadError("\n".join([f"{len(errors)} files can't be read:", *(f"- {error}" for error in errors)]))


MAX_TRIPLES: Final = 2_000_000
"""The most triples that files may have beyond one for each of their bytes: a packed kilobyte can hold a million."""


_BATCH: Final = 4_000
"""The triples that are handled at once."""


def _in_batches(triples: Iterable[_ItemT]) -> Iterator[list[_ItemT]]:
    """Yields `triples` as lists of up to _BATCH; what was read before an error is yielded before it is raised."""
    left, batch = iter(triples), list[_ItemT]()
    while True:
        try:
            batch.extend(islice(left, _BATCH))
        except Exception:
            yield batch
            raise
        if not batch:
            return
        yield batch
        batch = []


def _few(batches: Batches, paths: Sequence[Path]) -> Batches:
    most = left = MAX_TRIPLES + sum(path.stat().st_size for path in paths)
    for batch in batches:
        left -= len(batch)
        if left < 0:
            raise LoadError(too_many_facts(most), paths[0].name if len(paths) == 1 else "")
        yield batch


class TextFiles:
    """Reads each text file, workbook or JSON file of a load as rows of a table, as a graph export, or as triples."""

    def __init__(self, paths: Sequence[Path], tables: Sequence[TablePolicy], triples: Sequence[TriplesPolicy]) -> None:
        """Reads the keys of all tables. Raises LoadError if a file is missing, or a table has no file that fits it."""
        missing = next((path for path in paths if not path.is_file()), None)
        if missing is not None:
            raise LoadError("the file can't be read", missing.name)
        self._tables = Tables(paths, tables)
        self._triples = {each.file: each for each in triples}

    def joins(self) -> tuple[str, ...]:
        """Returns the references between tables, with the share of cells that lead to a row."""
        return self._tables.joins()

    def read(self, path: Path, ending: str, stream: IO[bytes], skipped: Counter[str]) -> Triples:
        if self._tables.has(path):
            return self._tables.triples(path, skipped)
        if is_property_graph(path):
            return property_triples(path, skipped)
        if ending not in TEXT_ENDINGS:
            raise LoadError(_UNMAPPED, path.name)
        policy = self._triples.get(path.name.removesuffix(".gz"), self._triples.get(None))
        return read_cells(stream, path.name, ending == ".csv", skipped, policy, encoding_of(path))


def _all_files(
    paths: Sequence[Path], progress: Fraction, texts: TextFiles, skipped: Counter[str], numbers: TermNumbers
) -> Batches:
    total, done = max(1, sum(path.stat().st_size for path in paths)), 0

    def on_bytes(read: int) -> None:
        progress(min(1.0, (done + read) / total))

    for number, path in enumerate(paths):
        yield from _file(path, number, on_bytes, texts, skipped, numbers)
        done += path.stat().st_size
        on_bytes(0)


def _file(
    path: Path,
    number: int,
    on_bytes: Callable[[int], None],
    texts: TextFiles,
    skipped: Counter[str],
    numbers: TermNumbers,
) -> Batches:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = suffixes[-1:] == [".gz"]
    ending = (suffixes[-2:-1] if zipped else suffixes[-1:]) or [""]
    if ending[0] not in FORMATS:
        raise LoadError("unknown file ending; allowed: " + ", ".join(FORMATS) + ", each also with .gz", path.name)
    with translate_io_errors(path), path.open("rb") as opened:
        counted = io.BufferedReader(_Counted(opened, on_bytes), _REPORT_BYTES)
        stream = cast(IO[bytes], gzip.GzipFile(fileobj=counted) if zipped else counted)
        if ending[0] in GRAPH_ENDINGS:
            yield from _in_batches(property_triples(path, skipped))
        elif ending[0] in TABLE_ENDINGS:
            yield from _in_batches(texts.read(path, ending[0], stream, skipped))
        else:
            yield from _rdf(stream, ending[0], number, path.name, skipped, numbers)


class _Counted(io.RawIOBase):
    """A raw stream that reports how many bytes have been read from it."""

    def __init__(self, inner: IO[bytes], on_bytes: Callable[[int], None]) -> None:
        self._inner, self._on_bytes, self._read = inner, on_bytes, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._inner.read(len(buffer))
        buffer[: len(data)] = data
        self._read += len(data)
        self._on_bytes(self._read)
        return len(data)


def _rdf(
    stream: IO[bytes], ending: str, number: int, file: str, skipped: Counter[str], numbers: TermNumbers
) -> Batches:
    label, form = _RDF[ending]
    source: IO[bytes] | bytes = stream
    if label == "JSON-LD":
        source = local_json(cast(IO[bytes], BoundedRuns(stream, file, b'"')), file, skipped)
    elif label == "RDF/XML":
        source = tame_xml(cast(IO[bytes], BoundedRuns(stream, file, b"<")), file)
    else:
        _skip_mark(stream, file)
        if label in _NESTED:
            source = with_few_brackets(stream, file)
    blank, lines = f"_:{number}.", LinesRead()
    try:
        if label == "N-Triples":
            yield from read_lines(stream, blank, lines, numbers)
            return
        for quads in _in_batches(pyoxigraph.parse(input=source, format=form, base_iri=_BASE)):
            # In N3 a graph named by a blank node is a formula, whose triples are quoted and not asserted.
            if label == "N3" and any(type(quad.graph_name) is pyoxigraph.BlankNode for quad in quads):
                raise NotPlainError
            yield list(one_by_one(quads, blank)) if label == "N3" else at_once(quads, blank)
    except SyntaxError as error:
        hint = "; rules, formulas and variables can't be loaded" if label == "N3" else ""
        reason = next((ours for theirs, ours in _REASONS if theirs in str(error.args[0])), _NOT_READABLE)
        line = error.lineno + lines.before if error.lineno else None
        raise LoadError(f"not valid {label}: {reason}{hint}", file, line) from None
    except MemoryError:
        # The parser's own limit for one term, which it checks before it allocates more.
        raise LoadError("a text of more than 16 MB: leave it out, or put it into a file of its own", file) from None
    except NotPlainError:
        raise LoadError(
            "only plain triples can be loaded: no triple about a triple about a triple, formula or variable", file
        ) from None


def _skip_mark(stream: IO[bytes], file: str) -> None:
    """Skips the byte order mark before UTF-8, which parsers do not accept. Raises LoadError for UTF-16."""
    first: bytes = stream.peek(len(codecs.BOM_UTF8))  # type: ignore[attr-defined]
    if first.startswith(codecs.BOM_UTF8):
        stream.read(len(codecs.BOM_UTF8))
    elif first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise LoadError("the file is not UTF-8 text", file, 1)


def _rdflib_triples(graph: rdflib.Graph) -> Triples:
    import rdflib as known

    def term_of(term: object) -> Term:
        if isinstance(term, known.URIRef):
            return str(pyoxigraph.NamedNode(str(term)))
        if isinstance(term, known.BNode):
            return f"_:0.{term}"
        if isinstance(term, known.Literal) and term.language:
            return str(pyoxigraph.Literal(str(term), language=term.language))
        if isinstance(term, known.Literal) and term.datatype:
            return str(pyoxigraph.Literal(str(term), datatype=pyoxigraph.NamedNode(str(term.datatype))))
        if isinstance(term, known.Literal):
            return str(pyoxigraph.Literal(str(term)))
        raise LoadError("only plain triples can be loaded: no quoted triple, formula or variable", "rdflib graph")

    try:
        for triple in graph.triples((None, None, None)):
            subject, predicate, tail = (term_of(term) for term in triple)
            yield subject, predicate, tail
    except ValueError:
        raise LoadError("an IRI or a language tag is not valid", "rdflib graph") from None


NODE, RELATIONSHIP, LABEL = "urn:graph:node:", "urn:graph:relation:", "urn:graph:label:"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def property_triples(path: Path, left: Counter[str]) -> Triples:
    """Yields the triples of a graph file; counts in `left` what is left out.

    Raises LoadError with the line number, which never quotes the line.
    """
    read = read_property_graph(path, left)
    count = 0
    for count, each in enumerate(read, start=1):
        yield from _of_node(each) if isinstance(each, Node) else _of_relationship(each, f"{path.name}.{count}")
    if not count:
        raise LoadError(
            "this export has a header and no row below it: where the header lies in a file of its own, put it in "
            "front of its rows", path.name,
        )  # fmt: skip


def _of_node(node: Node) -> Triples:
    subject = _iri(NODE, node.id)
    for label in node.labels:
        yield subject, _TYPE, _iri(LABEL, label)
    # Exports often repeat the label as a property `type`; it is left out, because it is no value of the node.
    said = {label.casefold() for label in node.labels}
    properties = node.properties.items()
    kept = {key: [each for each in values if str(each).casefold() not in said] for key, values in properties}
    yield from _properties(subject, kept, node.kinds)


def _of_relationship(each: Relationship, number: str) -> Triples:
    start, relation, end = _iri(NODE, each.start), _iri(RELATIONSHIP, each.type.lower()), _iri(NODE, each.end)
    yield start, relation, end
    if not any(each.properties.values()):
        return
    joint = "_:p" + quote(number, safe="").replace("%", ".").replace("-", ".")
    yield start, _iri(RELATIONSHIP, f"{each.type.lower()} details"), joint
    yield joint, _iri(RELATIONSHIP, f"{each.type.lower()} details of"), end
    yield from _properties(joint, each.properties, each.kinds)


def _properties(subject: Term, properties: Values, kinds: Mapping[str, ValueKind]) -> Triples:
    """Yields one triple for each value of each property. Only truth values get a kind here.

    Numbers and dates get theirs later, from all texts of a property, because many exports write years as numbers.
    """
    for key, values in properties.items():
        for value in values:
            text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value).strip()
            is_truth = isinstance(value, bool) or (kinds.get(key) is ValueKind.TRUTH and fits(text, ValueKind.TRUTH))
            if text:
                term = value_term(text, ValueKind.TRUTH) if is_truth else plain_term(text)
                yield subject, _iri(RELATIONSHIP, key), term


def _iri(space: str, text: str) -> Term:
    return f"<{space}{quote(text, safe='')}>"


_LISTS: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FIRST, REST, NIL = f"{_LISTS}first>", f"{_LISTS}rest>", f"{_LISTS}nil>"


def without_lists(raw: RawGraph) -> RawGraph:
    """Returns `raw` with each RDF list replaced by its members, wherever a triple leads to the list.

    A broken list (a loop, two firsts, no end), and one to which no triple leads, stays as it is.
    """
    places = {term: at for at, term in enumerate(raw.terms) if term in (FIRST, REST, NIL)}
    if FIRST not in places or REST not in places:
        return raw
    first, rest = (_by_subject(raw, places[predicate]) for predicate in (FIRST, REST))
    own = np.isin(raw.predicates, [places[FIRST], places[REST]])
    leading = ~own & np.isin(raw.objects, list(first))
    members: dict[int, list[int]] = {}
    nodes: set[int] = set()
    for head in set(raw.objects[leading].tolist()):
        walked = _walk(head, rest, places.get(NIL, -1))
        if walked and all(node in first for node in walked):
            members[head] = [first[node] for node in walked]
            nodes.update(walked)
    if not members:
        return raw
    flat = leading & np.isin(raw.objects, list(members))
    # Triples about the nodes of a list only describe the list.
    kept = ~flat & ~np.isin(raw.subjects, list(nodes))
    triples = np.stack((raw.subjects, raw.predicates, raw.objects))
    rows = [
        (subject, predicate, each)
        for subject, predicate, head in triples[:, flat].T.tolist()
        for each in members[head]
    ]
    subjects, predicates, objects = np.concatenate((triples[:, kept], np.array(rows, dtype=np.int32).T), axis=1)
    return replace(raw, subjects=subjects, predicates=predicates, objects=objects)


def _by_subject(raw: RawGraph, predicate: int) -> dict[int, int]:
    """Returns the only object that each subject has by `predicate`; subjects with several are left out."""
    rows = np.flatnonzero(raw.predicates == predicate)
    pairs = set(zip(raw.subjects[rows].tolist(), raw.objects[rows].tolist(), strict=True))
    counts = Counter(subject for subject, _ in pairs)
    return {subject: tail for subject, tail in pairs if counts[subject] == 1}


def _walk(head: int, rest: dict[int, int], nil: int) -> list[int]:
    """Returns the nodes of a list in order; empty if it has no end."""
    found: dict[int, None] = {}
    while head != nil:
        if head in found or head not in rest:
            return []
        found[head] = None
        head = rest[head]
    return list(found)
