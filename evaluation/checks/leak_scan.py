"""The leak scanner: looks for every name and protected value of a graph in all bytes that reached the reasoner.

The bytes are taken apart into every text that can be read in them, however escaped. Names are read from the source
files, without the loader. The scanner shares no code and no word list with the guard, so that a blind spot of the
guard is not one of the scanner too.
"""

from __future__ import annotations

import base64
import binascii
import csv
import gzip
import html
import json
import re
import tomllib
import unicodedata
import urllib.parse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

import pyoxigraph

_COMMON_WORDS = frozenset(
    tomllib.loads(Path(__file__).with_name("common_words.toml").read_text("utf-8"))["words"].split()
)
_MAX_PHRASE_WORDS = 8
_SMALL_NUMBERS = frozenset(str(number) for number in range(100))

_Trie = dict[str, "_Trie"]
_END = ""
_BLOCK = re.compile(r"```json(.*?)```", re.DOTALL)
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\(.)", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r"}
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_HEX = re.compile(r"\b(?:[0-9a-fA-F]{2}){6,}\b")
# Scripts without spaces, or with particles attached to names: every character is a word of its own, so that a name is
# found inside a longer run. The escapes stand for Thai, Lao, Burmese and Khmer.
_UNSPACED = "぀-ヿ㐀-䶿一-鿿豈-﫿ｦ-ﾟ가-힣\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"[{_UNSPACED}]|\d+(?:\.\d+)+(?![^\W_])|(?:(?![{_UNSPACED}])[^\W_])+")
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of a scan. It holds names: for public data only.

    `leaks` counts hits by name. `public_words` counts hits on names that are words of the public texts, small numbers,
    or common English words that stand in small letters or at the start of a sentence.
    """

    payloads: int
    bytes_read: int
    leaks: Counter[str] = field(default_factory=Counter, repr=False)
    public_words: Counter[str] = field(default_factory=Counter, repr=False)


class LeakScanner:
    """Finds given names in payloads.

    Promise: every given name that stands in a payload as whole words is found, in any case, with or without accents,
    also behind JSON escapes, percent signs, entities, base64 or hexadecimal. Limit: a name that was cut, translated or
    spelt otherwise is not found, nor is a description without a name.
    """

    def __init__(self, names: Iterable[str], public_texts: Iterable[str]) -> None:
        self._names: _Trie = {}
        for name in names:
            self._learn(name)
        self._public = frozenset(public_texts)
        self._phrases = frozenset().union(*map(_phrases, self._public))
        self._known: dict[str, tuple[tuple[str, bool], ...]] = {}

    def scan(self, payloads: Iterable[bytes]) -> Findings:
        """Returns everything found in `payloads`, each read to its last byte."""
        leaks: Counter[str] = Counter()
        public: Counter[str] = Counter()
        count = size = 0
        for payload in payloads:
            count, size = count + 1, size + len(payload)
            for text in texts_in(payload):
                for name, is_public in self._hits(text):
                    (public if is_public else leaks)[name] += 1
        return Findings(count, size, leaks, public)

    def _hits(self, text: str) -> tuple[tuple[str, bool], ...]:
        """The names in `text`, each with whether it is public there. Results are cached, since texts repeat."""
        if text not in self._known:
            # Two concepts side by side ("film, industry") are not the name "Film Industry".
            is_list = all(part in self._public for part in text.split(", "))
            self._known[text] = tuple((name, is_public or is_list) for name, is_public in self._find(words_of(text)))
        return self._known[text]

    def _find(self, words: Sequence[Word]) -> Iterator[tuple[str, bool]]:
        for start in range(len(words)):
            node: _Trie | None = self._names
            for end in range(start, len(words)):
                node = node.get(words[end].folded) if node else None
                if node is None:
                    break
                if _END in node:
                    yield self._judge(words[start : end + 1])

    def _judge(self, words: Sequence[Word]) -> tuple[str, bool]:
        name = " ".join(word.folded for word in words)
        if name in self._phrases:
            return name, True
        word = words[0]
        unmarked = word.opens_sentence or word.plain == word.plain.lower()
        is_common = word.folded in _COMMON_WORDS and unmarked
        return name, len(words) == 1 and (is_common or word.folded in _SMALL_NUMBERS)

    def _learn(self, name: str) -> None:
        words = [word.folded for word in words_of(name)]
        node = self._names
        for word in words:
            node = node.setdefault(word, {})
        if words:
            node[_END] = {}


@lru_cache(maxsize=4096)
def _phrases(text: str) -> frozenset[str]:
    """Returns every run of up to eight words of a public text; cached, since most texts are always the same."""
    words = [word.folded for word in words_of(text)]
    return frozenset(
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + _MAX_PHRASE_WORDS, len(words)) + 1)
    )


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it stands (`plain`), and without case, accents and width as names are compared (`folded`)."""

    plain: str = field(repr=False)
    folded: str = field(repr=False)
    opens_sentence: bool = False


def texts_in(payload: bytes) -> Iterator[str]:
    """Yields every string, key and number of a JSON payload, at any depth and with all usual escapes undone.

    Fields are kept apart, so that the end of one and the start of the next don't form a name. A payload that is not
    JSON is one text.
    """
    for text in _json_texts(payload.decode("utf-8", errors="replace")):
        yield from _readings(text)


def words_of(text: str) -> list[Word]:
    """Returns the words of `text` in order."""
    words: list[Word] = []
    end = 0
    for match in _WORD.finditer(text):
        opens = not words or any(mark in ".!?:\n" for mark in text[end : match.start()])
        words.append(Word(match[0], folded(match[0]), opens))
        end = match.end()
    return words


@lru_cache(maxsize=200_000)
def folded(word: str) -> str:
    """Returns `word` in the form in which names are compared: "Fröbe", "FROBE" and "frobe" are the same."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark)).casefold()


def _json_texts(text: str) -> Iterator[str]:
    """Yields the texts of `text` if it is JSON; else `text` itself and the texts of its fenced JSON blocks."""
    try:
        tree = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        rest = _BLOCK.sub("\n", text)
        yield rest
        for block in _BLOCK.findall(text):
            # A block that is not JSON has no fence left, so that the recursion ends.
            yield from _json_texts(block)
        return
    yield from _leaves(tree)


def _leaves(tree: object) -> Iterator[str]:
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending += [*node.keys(), *node.values()]
        elif isinstance(node, list):
            pending += node
        elif isinstance(node, str):
            yield from _json_texts(node) if _BLOCK.search(node) or node[:1] in ("{", "[") else (node,)
        elif node is not None:
            yield str(node)


def _readings(text: str) -> Iterator[str]:
    """Yields `text` and what it reads once escapes, percent signs, entities, base64 and hexadecimal are undone."""
    seen = {text}
    pending = [text]
    for _ in range(_ROUNDS):
        undone = {reading for known in pending for reading in _undone(known)} - seen
        seen |= undone
        pending = list(undone)
    yield from seen


def _undone(text: str) -> Iterator[str]:
    if "\\" in text:
        yield _ESCAPE.sub(_character, text)
    if "%" in text:
        yield urllib.parse.unquote(text)
    if "&" in text:
        yield html.unescape(text)
    for run in _BASE64.findall(text):
        yield from _decoded(run)
    for run in _HEX.findall(text):
        yield from _readable(bytes.fromhex(run))


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _SIGNS.get(match[3], match[3])


def _decoded(run: str) -> Iterator[str]:
    padded = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        yield from _readable(base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True))
    except (binascii.Error, ValueError):
        return


def _readable(data: bytes) -> Iterator[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if text.isprintable():
        yield text


_TABLES = {".tsv": "\t", ".txt": "|", ".csv": ","}
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_SCHEMA_CLASS = re.compile(r"(22-rdf-syntax-ns#Property|rdf-schema#Class|/owl#\w*(Class|Property|Ontology))$")
_SHOWN = ("clear", "year", "decade", "bucket")
_LABEL = re.compile(r"(label|name|title)$", re.IGNORECASE)
_IRI = pyoxigraph.NamedNode


def secret_names(sources: Sequence[Path], policy: str = "") -> set[str]:
    """Returns every name, alias and protected value in `sources`; `policy` is the TOML text of the policy, if any.

    Left out are predicates, classes and their descriptions, nodes that the policy calls mediators, and values that it
    shows in clear or coarsened.
    """
    told, names = tomllib.loads(policy), set[str]()
    for source in sources:
        ending = [suffix for suffix in source.suffixes if suffix != ".gz"][-1:]
        separator = _TABLES.get(ending[0] if ending else "")
        names |= _of_table(source, separator, told) if separator else _of_rdf(source, told)
    return {name for name in names if name.strip()}


def _of_table(source: Path, separator: str, policy: Mapping[str, Any]) -> set[str]:
    with _opened(source) as stream:
        lines = (line.decode("utf-8").rstrip("\r\n") for line in stream)
        rows = csv.reader(lines) if separator == "," else (line.split(separator) for line in lines)
        cells = {cell for row in rows if len(row) >= 3 for cell in (row[0], row[2])}
    mediators = policy.get("mediators", {}).get("pattern")
    return {cell for cell in cells if not (mediators and re.search(mediators, cell))}


def _of_rdf(source: Path, policy: Mapping[str, Any]) -> set[str]:
    literals: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    linked: set[str] = set()
    schema: set[str] = set()
    for subject, predicate, tail in _triples(source):
        schema.add(predicate)
        if predicate == _RDF + "type":
            schema.add(str(tail))
            if _SCHEMA_CLASS.search(str(tail)):
                schema.add(subject)
        elif predicate == _RDFS + "subClassOf":
            schema |= {subject, str(tail)}
        elif isinstance(tail, pyoxigraph.Literal):
            literals[subject][predicate].append(tail.value)
        else:
            linked |= {subject, str(tail)}
    subjects = (literals.keys() | linked) - schema
    return {name for subject in subjects for name in _names_of(subject, literals.get(subject, {}), policy)}


def _names_of(subject: str, literals: Mapping[str, list[str]], policy: Mapping[str, Any]) -> Iterator[str]:
    for predicate, texts in literals.items():
        if policy.get("relations", {}).get(predicate, {}).get("values") not in _SHOWN:
            yield from texts
    for parts in policy.get("composite_names", ()):
        first = [literals.get(part, [""])[0] for part in parts]
        if all(first):
            yield " ".join(first)
    has_label = any(_LABEL.search(predicate) for predicate in literals)
    if not subject.startswith("_:") and policy.get("local_part_names", True) and not has_label:
        yield re.split(r"[#/:]", subject.rstrip("#/"))[-1]


def _triples(source: Path) -> Iterator[tuple[str, str, object]]:
    """Yields the triples of a file with IRIs as strings and literals as pyoxigraph objects."""
    ending = [suffix for suffix in source.suffixes if suffix != ".gz"][-1]
    form = pyoxigraph.RdfFormat.from_extension("rdf" if ending in (".owl", ".xml") else ending[1:])
    with _opened(source) as stream:
        for quad in pyoxigraph.parse(stream, format=form, base_iri="http://file.invalid/"):
            subject, predicate, tail = quad.subject, quad.predicate, quad.object
            yield (
                subject.value if isinstance(subject, _IRI) else str(subject),
                predicate.value,
                tail if isinstance(tail, pyoxigraph.Literal) else tail.value if isinstance(tail, _IRI) else str(tail),
            )


def _opened(source: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(source)) if source.suffix == ".gz" else source.open("rb")
