"""Replies with planted falsehoods: read from a file, and written in pseudonyms as a model would write them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from app.privacy.pseudonym_format import is_shaped
from app.strategies.base import FoundFact
from evaluation.datasets.questions import QuestionsError
from kg_store.terms import ALPHABET, TAIL_LENGTH
from kg_store.text.literals import find_literals, read_literal
from kg_store.text.numbers.number_words import find_number_expressions

Truth = Literal["true", "contradicted", "unsupported", "none"]
_SETS: Final = Path(__file__).parent / "sets"
KEPT: Final = (_SETS / "seen.jsonl", _SETS / "shut.jsonl.gz")
"""300 statements by somebody who has not seen the code, over twelve kinds of graphs; of the shut half nobody looks at
one."""
_NAMING: Final = frozenset({"full name", "name", "label", "alt label"})
_TEXTS: Final = frozenset(
    "phone,email,ssn,office phone,telephone,phone number,email address,insurance number,address,licence plate,"
    "diagnosis,logo,first name,last name,shipment status,academic rank,gender,thesis level,fuel type,weekday".split(
        ","
    )
)
"""Relations whose tails are texts and no things."""
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DATE: Final = re.compile(r"(-?\d{4})(-\d\d)?(-\d\d)?(?:T[\d:.]*Z?)?")


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of a reply, and if it is so; without texts of names."""

    text: str = field(repr=False)
    truth: Truth


@dataclass(frozen=True, slots=True)
class LabelledReply:
    """One reply over pseudonyms, its statements, and the facts that it was written from."""

    graph: str
    sentences: tuple[str, ...]
    facts: tuple[FoundFact, ...]
    clauses: tuple[Clause, ...]


def read_replies(file: Path) -> list[LabelledReply]:
    """Raises QuestionsError."""
    try:
        text = gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text("utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        return [_reply(row) for row in rows]
    except (OSError, KeyError, TypeError, ValueError):
        raise QuestionsError(
            f"{file.name} can't be read: a line has graph, facts, history, clauses and reply, and names where it is "
            "written in pseudonyms"
        ) from None


def _reply(row: Mapping[str, Any]) -> LabelledReply:
    triples = [(head, _label(relation), tail) for head, relation, tail in row["facts"]]
    masker = _Masker(triples)
    facts = tuple(
        FoundFact(masker.of[head], "", (label,), masker.of[tail], "", "1")
        for head, label, tail in triples
        if masker.of[head] != masker.of[tail]
    )
    # A writer who saw pseudonyms alone, as a model does, writes in them; the same facts give the same ones.
    masked = masker.masked if masker.names != row.get("names") else str
    clauses = tuple(Clause(masked(each["text"]), _truth(each["truth"])) for each in row["clauses"])
    sentences = tuple(sentences_of(masked(row["reply"])))
    return LabelledReply(row["graph"], sentences, facts, clauses)


def _truth(value: object) -> Truth:
    return "true" if value in (True, "true") else value  # type: ignore[return-value]


def _label(relation: str) -> str:
    words = _CAMEL.sub(" ", relation.replace("_", " ")).lower()
    return " ".join(words.split())


def sentences_of(text: str) -> Iterator[str]:
    """Sentences end in a mark with a blank behind it; titles don't end one."""
    parts = re.split(r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<=[.!?])\s+", text.strip())
    yield from filter(None, parts)


class _Masker:
    """Gives each name and value of the facts a pseudonym, and puts them into texts."""

    def __init__(self, triples: Sequence[tuple[str, str, str]]) -> None:
        self.of: dict[str, str] = {}
        self.names: dict[str, str] = {}
        heads = {head for head, _, _ in triples}
        for head, label, tail in triples:
            self._issue(head, "E")
            if label in _NAMING and tail not in heads:
                self.of[tail] = self.of[head]
        for _, label, tail in triples:
            is_value = tail not in heads and (label in _TEXTS or read_literal(tail) or tail in ("true", "false"))
            self._issue(tail, "V" if is_value else "E")
        self._names = sorted(self.of, key=len, reverse=True)

    def _issue(self, name: str, letter: str) -> None:
        if name in self.of:
            return
        number = len(self.of) + 1
        while True:
            digits, rest = "", number * 7919
            for _ in range(TAIL_LENGTH):
                rest, at = divmod(rest, len(ALPHABET))
                digits += ALPHABET[at]
            word = letter + digits
            if is_shaped(word) and word not in self.names:
                break
            number += 1000
        self.of[name] = word
        self.names[word] = name

    def masked(self, text: str) -> str:
        for exact in (True, False):
            for name in self._names:
                if name in ("true", "false"):
                    continue
                text = self._replaced(text, name, exact=exact)
        return self._values(text)

    def _replaced(self, text: str, name: str, *, exact: bool) -> str:
        bare = name if exact else name.rstrip(".")
        pattern = rf"(?<![\w]){re.escape(bare)}(?![\w])"
        flags = 0 if exact or bare[:1].isdigit() else re.IGNORECASE
        return re.sub(pattern, lambda _: self.of[name], text, flags=flags)

    def _values(self, text: str) -> str:
        """Dates and numbers that are written otherwise than in the graph, or in part."""
        spans = [*find_number_expressions(text), *find_literals(text)]
        taken: list[tuple[int, int, str]] = []
        for span in sorted(spans, key=lambda each: each.start - each.end):
            word = self._value(span.lexical or text[span.start : span.end])
            if word and not any(start < span.end and span.start < end for start, end, _ in taken):
                taken.append((span.start, span.end, word))
        for start, end, word in sorted(taken, reverse=True):
            text = f"{text[:start]}{word}{text[end:]}"
        return text

    def _value(self, lexical: str) -> str:
        if len(lexical) < 2 and not lexical.isdigit():
            return ""
        said = read_literal(lexical)
        for name in self._names:
            known = _DATE.fullmatch(name)
            if known and _DATE.fullmatch(lexical) and name.startswith(lexical):
                return self.of[name]
            value = read_literal(name)
            if value is not None and said is not None and value[1] == said[1]:
                return self.of[name]
        return ""
