"""Turns and statements that people labelled who had not seen the code, and how many the service reads rightly.

The classifier of turns, a logistic regression, is trained here on a separate set of labelled turns.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from app.chat.concluding import stays
from app.chat.question_run import ReadBack
from app.chat.turn_forms import KINDS, LENGTHS, VECTOR_SCALE, lengths, word_groups, words_row
from app.demo import POLICY_FILE
from app.graphs.markdown_table import markdown_table
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import weights_digest_of
from app.privacy.pseudonyms import is_shaped, words_in
from app.strategies.base import FoundFact
from client_sdk.protocol import ChatOptions, ChatRequest, Message
from evaluation.bench.bench import CALLER, Bench
from evaluation.datasets.questions import QuestionsError
from evaluation.natural.run import CLINIC, GRAPHS
from evaluation.tables.measures import Measure, at_most
from kg_store.terms import ALPHABET, TAIL_LENGTH
from kg_store.text.literals import find_literals, read_literal
from kg_store.text.number_expressions import find_number_expressions

SETS: Final = Path(__file__).parent / "sets"
TRAINING: Final = SETS / "turns_training.jsonl"
FORMS_TRAINING: Final = SETS / "forms_training.jsonl"
FURTHER: Final = {
    "films": str(GRAPHS["wikidata"]),
    "hospital": "rdf/hospital.ttl",
    "c360": "rdf/c360.ttl",
    "opendialkg": "opendialkg/triples.tsv",
}
MIN_RIGHT: Final = 0.93
MIN_SEEN: Final = 2
"""The fewest turns that must hold a word group for it to be a feature."""
_STRENGTH: Final = 0.001
"""The strength of the L2 penalty, per turn."""


class LabelledTurn(NamedTuple):
    """A turn with names taken out, and its kind."""

    text: str
    kind: str


class ReadTurn(NamedTuple):
    """The label of a turn, and the kind that the service read it as."""

    label: str
    read_as: str


def read_labelled(file: Path, kinds: Sequence[str] = KINDS) -> list[LabelledTurn]:
    """Reads turns from a file with one JSON object (`text`, `kind`) per line. Raises ValueError, with the line."""
    found = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            turn = LabelledTurn(row["text"], row["kind"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"line {number} is no object with text and kind") from None
        if turn.kind not in kinds:
            raise ValueError(f"line {number} has another kind than {', '.join(kinds)}")
        found.append(turn)
    return found


def train_turns(
    turns: Sequence[LabelledTurn], embedder: Embedder, model: str, of_kinds: Sequence[str] = KINDS
) -> bytes:
    """Returns the bytes of a file of weights; the same turns give the same bytes.

    `model` is the name of the sentence model. `of_kinds`: the kinds, in the order of columns.
    """
    counts = Counter(group for turn in turns for group in word_groups(turn.text))
    groups = {group: at for at, group in enumerate(sorted(each for each, seen in counts.items() if seen >= MIN_SEEN))}
    words = np.stack([words_row(groups, turn.text) for turn in turns])
    length = np.array([lengths(turn.text) for turn in turns], np.float32)
    vectors = VECTOR_SCALE * embedder.sentences([turn.text for turn in turns])
    kinds = [of_kinds.index(turn.kind) for turn in turns]
    alone = _fitted(np.hstack([length, words]), kinds)
    both = _fitted(np.hstack([length, words, vectors]), kinds)
    count = LENGTHS + len(groups)
    arrays: dict[str, Any] = {
        "groups": np.array(list(groups)),
        "model": np.array(weights_digest_of(model)),
        "alone_lengths": alone[:LENGTHS],
        "alone_words": alone[LENGTHS:],
        "with_vector_lengths": both[:LENGTHS],
        "with_vector_words": both[LENGTHS:count],
        "with_vector_vector": both[count:],
    }
    file = BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _fitted(features: npt.NDArray[np.float32], kinds: Sequence[int]) -> npt.NDArray[np.float16]:
    """Fits the logistic regression and returns its weights, shape (features, kinds)."""
    from sklearn.linear_model import LogisticRegression

    strength = 1 / (_STRENGTH * len(kinds))
    fit = LogisticRegression(C=strength, fit_intercept=False, max_iter=2_000, tol=1e-5)
    fitted: npt.NDArray[np.float16] = fit.fit(features.astype(np.float64), kinds).coef_.T.astype(np.float16)
    return fitted


async def read_turns(data: Path, half: Literal["seen", "shut"]) -> list[ReadTurn]:
    """Returns each labelled turn with the kind that the service reads it as when it gets its history too.

    Raises QuestionsError if a graph file is missing.
    """
    shut = SETS / "turns_shut.jsonl.gz"
    text = gzip.decompress(shut.read_bytes()).decode() if half == "shut" else (SETS / "turns_seen.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    files = {**GRAPHS, **{name: data / path for name, path in FURTHER.items()}}
    graphs = sorted({row["graph"] for row in rows})
    if missing := [graph for graph in graphs if not files[graph].is_file()]:
        raise QuestionsError(f"these graphs are not in the folder of public sets: {', '.join(missing)}")
    found: list[ReadTurn] = []
    async with Bench() as bench:
        for graph in graphs:
            policy = POLICY_FILE.read_text("utf-8") if graph == CLINIC else None
            loaded = bench.load(graph, [files[graph]], policy, masks=graph != "opendialkg")
            for row in (row for row in rows if row["graph"] == graph):
                said = [*row["history"], ("user", row["turn"])]
                request = ChatRequest(
                    graph=loaded.graph,
                    messages=[Message(role=role, content=text) for role, text in said],
                    options=ChatOptions(suggestions=0),
                )
                answer = await bench.services.chat.answer(CALLER, request)
                found.append(ReadTurn(row["kind"], answer.turn))
    return found


def right(turns: Sequence[ReadTurn]) -> float:
    return sum(turn.label == turn.read_as for turn in turns) / len(turns)


def turns_table(turns: Sequence[ReadTurn]) -> str:
    """Returns the confusion matrix in Markdown: labels by row, kinds as read by column."""
    counts = Counter((turn.label, turn.read_as) for turn in turns)
    rows = []
    for label in KINDS:
        row = [counts[label, kind] for kind in KINDS]
        rows.append((label, *row, f"{counts[label, label] / sum(row):.3f}" if any(row) else "-"))
    rows.append(("all", *[""] * len(KINDS), f"{right(turns):.3f}"))
    return markdown_table(("label", *KINDS, "right"), rows)


Truth = Literal["true", "contradicted", "unsupported", "none"]
MAX_FALSE: Final = 0.03
KEPT: Final = (SETS / "statements_seen.jsonl", SETS / "statements_shut.jsonl.gz")
"""Files of 300 statements over twelve kinds of graphs, by somebody who has not seen the code. Nobody looks at the shut
half."""
_NAMING: Final = frozenset({"full name", "name", "label", "alt label"})
_TEXTS: Final = frozenset(
    "phone,email,ssn,office phone,telephone,phone number,email address,insurance number,address,licence plate,"
    "diagnosis,logo,first name,last name,shipment status,academic rank,gender,thesis level,fuel type,weekday".split(
        ","
    )
)
"""Relations whose tails are text values, not entities."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DATE = re.compile(r"(-?\d{4})(-\d\d)?(-\d\d)?(?:T[\d:.]*Z?)?")


@dataclass(frozen=True, slots=True)
class LabelledReply:
    """The clauses of one reply in pseudonyms, each with its truth, and the facts that it was written from."""

    facts: tuple[FoundFact, ...]
    clauses: tuple[tuple[str, Truth], ...]


def read_replies(file: Path) -> list[LabelledReply]:
    """Reads labelled replies from a file with one JSON object per line, gzipped or not. Raises QuestionsError."""
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
    # Replies written from pseudonyms already hold them; the same facts give the same pseudonyms again.
    masked = masker.masked if masker.names != row.get("names") else str
    truths: list[Truth] = ["true" if each["truth"] is True else each["truth"] for each in row["clauses"]]
    return LabelledReply(facts, tuple(zip((masked(each["text"]) for each in row["clauses"]), truths, strict=True)))


class _Masker:
    """Gives each name and value of the facts a pseudonym, and replaces names and values in texts by them."""

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
        """Replaces dates and numbers that the text writes in another way than the graph ("3 May" for 1990-05-03)."""
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
    """Counts of statements.

    `clauses`: all, by their truth. `amiss`: false statements that the service would show, by their truth, and under
    "true" the true statements that name no whole fact, which can't be told. `restated`: true statements that are not
    recognised, so that the service tells their facts in its own words.
    """

    clauses: Counter[str] = field(default_factory=Counter)
    amiss: Counter[str] = field(default_factory=Counter)
    restated: int = 0


def measure(replies: Sequence[LabelledReply], read_back: ReadBack) -> StatementFigures:
    """Counts how the service treats each statement, given the facts that the statement would cite if it were honest.

    These are all facts both of whose ends it names. `read_back` reads sentences.
    """
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
