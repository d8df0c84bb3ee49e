"""Replies with planted falsehoods, written in pseudonyms as a model would write them, and read back as
`AROG_REPLY_WORDS=model` does: what stays and what goes."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

from app.chat.question_run import ReadBack
from app.chat.replies import stays
from app.privacy.pseudonym_format import is_shaped, words_in
from app.strategies.base import FoundFact
from evaluation.datasets.questions import QuestionsError
from evaluation.tables.measures import Measure, at_most
from kg_store.terms import ALPHABET, TAIL_LENGTH
from kg_store.text.literals import find_literals, read_literal
from kg_store.text.numbers.number_words import find_number_expressions

Truth = Literal["true", "contradicted", "unsupported", "none"]
MAX_FALSE: Final = 0.03
_SETS: Final = Path(__file__).parent / "sets"
KEPT: Final = (_SETS / "statements_seen.jsonl", _SETS / "statements_shut.jsonl.gz")
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
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DATE = re.compile(r"(-?\d{4})(-\d\d)?(-\d\d)?(?:T[\d:.]*Z?)?")


@dataclass(frozen=True, slots=True)
class LabelledReply:
    """The pieces of one reply over pseudonyms, each with its truth, and the facts that it was written from."""

    facts: tuple[FoundFact, ...]
    clauses: tuple[tuple[str, Truth], ...]


def read_replies(file: Path) -> list[LabelledReply]:
    """Raises QuestionsError."""
    try:
        text = gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text("utf-8")
        return [_reply(json.loads(line)) for line in text.splitlines() if line.strip()]
    except (OSError, KeyError, TypeError, ValueError):
        raise QuestionsError(
            f"{file.name} can't be read: a line has graph, facts, history, clauses and reply, and names where it is "
            "written in pseudonyms"
        ) from None


def _reply(row: Mapping[str, Any]) -> LabelledReply:
    triples = [
        (head, " ".join(_CAMEL.sub(" ", relation.replace("_", " ")).lower().split()), tail)
        for head, relation, tail in row["facts"]
    ]
    masker = _Masker(triples)
    facts = tuple(
        FoundFact(masker.of[head], "", (label,), masker.of[tail], "", "1")
        for head, label, tail in triples
        if masker.of[head] != masker.of[tail]
    )
    # A writer who saw pseudonyms alone, as a model does, writes in them; the same facts give the same ones.
    masked = masker.masked if masker.names != row.get("names") else str
    truths: list[Truth] = ["true" if each["truth"] is True else each["truth"] for each in row["clauses"]]
    return LabelledReply(facts, tuple(zip((masked(each["text"]) for each in row["clauses"]), truths, strict=True)))


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

    def masked(self, text: str) -> str:
        for is_exact in (True, False):
            for name in self._names:
                bare = name if is_exact else name.rstrip(".")
                flags = 0 if is_exact or bare[:1].isdigit() else re.IGNORECASE
                if name not in ("true", "false"):
                    text = re.sub(rf"(?<!\w){re.escape(bare)}(?!\w)", self.of[name], text, flags=flags)
        return self._with_values(text)

    def _issue(self, name: str, letter: str) -> None:
        if name in self.of:
            return
        for number in count(len(self.of) + 1, 1000):
            rest, digits = number * 7919, ""
            for _ in range(TAIL_LENGTH):
                rest, at = divmod(rest, len(ALPHABET))
                digits += ALPHABET[at]
            word = letter + digits
            if is_shaped(word) and word not in self.names:
                self.of[name], self.names[word] = word, name
                return

    def _with_values(self, text: str) -> str:
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
        said, is_date = read_literal(lexical), _DATE.fullmatch(lexical)
        for name in self._names:
            value = read_literal(name)
            is_same = value is not None and said is not None and value[1] == said[1]
            if is_same or (is_date and _DATE.fullmatch(name) and name.startswith(lexical)):
                return self.of[name]
        return ""


@dataclass(slots=True)
class StatementFigures:
    """`amiss`: statements that stay and are false, or are not told and true, by kind. `restated`: true ones that do
    not read back, but whose facts the service tells in its own words."""

    clauses: Counter[str] = field(default_factory=Counter)
    amiss: Counter[str] = field(default_factory=Counter)
    restated: int = 0


def measure(replies: Sequence[LabelledReply], read_back: ReadBack) -> StatementFigures:
    """Each statement cites the facts whose two ends it names, as a model would that means well."""
    figures = StatementFigures()
    for reply in replies:
        for text, truth in reply.clauses:
            named = {word.word for word in words_in(text)}
            cited = [fact for fact in reply.facts if {fact.start, fact.end} <= named]
            is_there = bool(cited) and stays(text, cited, read_back)
            figures.clauses[truth] += 1
            if truth == "true":
                figures.restated += not is_there and bool(cited)
                figures.amiss["true"] += not cited
            elif truth != "none":
                figures.amiss[truth] += is_there
    return figures


def statement_measures(figures: StatementFigures) -> list[Measure]:
    asked, amiss = figures.clauses, figures.amiss
    of_false = asked["contradicted"] + asked["unsupported"]
    share = (amiss["contradicted"] + amiss["unsupported"]) / max(of_false, 1)
    counts = [
        ("contradicted statements that stay", amiss["contradicted"], asked["contradicted"]),
        ("unsupported statements that stay", amiss["unsupported"], asked["unsupported"]),
        ("true statements that are not told", amiss["true"], asked["true"]),
        ("true statements in the service's own words", figures.restated, asked["true"]),
    ]
    lines = [Measure(name=name, questions=of, reached=f"{at} ({at / max(1, of):.3f})") for name, at, of in counts]
    false = at_most("false statements that stay", of_false, share, MAX_FALSE)
    return [*lines[:3], false.model_copy(update={"reached": f"{share:.3f}"}), lines[3]]
