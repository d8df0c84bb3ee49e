"""Holds the prompts of the `sets` strategy, the probe questions for a model, and a question's form in fixed words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from app.llm.endpoint.capability_probe import Puzzle
from app.llm.tasks import Candidate, PathTriple, StepInput, StepReply, Task, TaskKind, Thing
from app.privacy.safe_text import SafeText
from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath, Ways
from kg_store.graph.traversal import tail_concept
from kg_store.terms import Schema

# Every word of a prompt costs tokens in every call. docs/decisions/0006 says which words were left out and why.
_STEP_WORDS = SafeText(
    """Answer from a private graph. Words like Eq7f2k are stand-ins: E for a thing, V for a value, S for a set. In \
paths, ^ means backwards, a|b through a nameless node.
`answer`: words in order, a function before what it takes: way(n) is all that candidate n leads to, hint may be the \
meaning. count A; also exists none sum average min max. intersect A B; union difference. reach A relation; argmax \
argmin group. filter A relation < V. compare A B relation. limit sort A relation descending 3.
follow way(n) ... shows where up to 3 lead; more: none fits; none: not in the graph"""
)

_GRAPH_WORDS = SafeText(
    """Answer from a private graph. `graph` lists its kinds with their relations and what each leads to; ^ means \
backwards. Some kinds are rows or events without names: count and filter them like things, and reach from them what \
is asked. `things` are stand-ins: E for a thing (of one of the kinds behind it), V for a value, S for all things of a \
kind (of two S for one kind, that of the question is for those of one name). One in the question that stands nowhere \
else, and a V of text, may be for words that the graph does not know; an E may be for an ordinary word that is a name \
too. R is a relation or kind whose name is withheld: use one only where no other fits and its end does.
`public_terms` are public things and values by name, for each kind; a large kind may be shown in part. Use one where \
the question means it. Things are answered by their names, which may be numbers or dates.
`answer`: the words of one expression, each function before what it takes, without brackets. A and B are sets (a \
stand-in or another expression), r is a relation of the things of A, or r then r then r; for a number, r times r is \
the product, r minus r the difference, of dates in days:
reach A r: what r leads to from A. intersect A B, union A B, difference A B.
filter A r < V: those of A whose r is so; also <= > >= = !=. V may be E or a number; a V that is a year or a month \
equals every date in it.
matching A r < m: those of A whose r compares so with their m, two relations of the same thing; = for one in common.
having A r: those that have an r, or for which it is true. filter A r = V finds the cells of a truth too (n, yes).
having A E, having A V: those of A that it belongs to, where its kind or r is not clear.
argmax A r, argmin A r: those with the greatest or latest, least or earliest r. compare A B r: the one with the \
greater r. sort A r descending. limit A 3: the first of a sort or group.
most A r, fewest A r, counted A r >= 2: by how many r leads to; with B behind, by how many of B. most A r m, fewest \
A r m: by the sum of m of what r leads to.
count A. sum A r, average A r, min A r, max A r. minus A B.
Yes or no: exists A, none A, outnumbers A B, holds A (of truth values); is the r of A over that of B: \
exists filter A r > reach B r.
group A r: how many of A for each r; group A r month or year, of a date r. sums A r m, averages A r m: of m for each \
r; sums A r m month. limit group A r 1: the r of most.
both A B: two answers. pairs A r, pairs A r r: which goes with which.
Example, how many of S1a2b3 does E4c5d6 not own: count difference S1a2b3 reach E4c5d6 owns
Reply none alone if the graph can't answer the question exactly as it is asked."""
)

_BRIEF_WORDS = SafeText(
    """Which entry of `choices` answers the question? Words like Eq7f2k stand for names. Entry 0, if there is one, is \
a first reading and mostly right: take it, unless another entry fits the question better. Reply with its number in \
`answer`, or none."""
)

STEP = TaskKind("step", _STEP_WORDS, StepReply, brief=_BRIEF_WORDS, max_tokens=256)
STEP_IN_GRAPH = TaskKind("step", _GRAPH_WORDS, StepReply, brief=_BRIEF_WORDS, max_tokens=256)
"""The same step where the prompt shows the schema, whole or in part, so that mostly one call answers."""


_AUTHOR, _OTHER, _BOOK = "Ea1b2c", "Ed3f4g", "Eh5j6k"
_WAYS: Final = {
    _AUTHOR: [(["^written by"], "book"), (["born in"], "city"), (["^written by", "translated by"], "person")],
    _OTHER: [(["^translated by"], "book"), (["lives in"], "city")],
    _BOOK: [(["written by"], "person"), (["published on"], "date"), (["translated by"], "person")],
}


def _puzzle(question: str, named: Sequence[str], *right: str) -> Puzzle:
    things = [Thing(name=name, concept="book" if name == _BOOK else "person") for name in named]
    ways = [(name, path, concept) for name in named for path, concept in _WAYS.get(name, ())]
    candidates = [
        Candidate(number=number, start=start, path=path, concept=concept)
        for number, (start, path, concept) in enumerate(ways, start=1)
    ]
    return Puzzle(Task(STEP, StepInput(question=question, things=things, evidence=[], candidates=candidates)), right)


PUZZLES: Final = (
    _puzzle(f"Who translated {_BOOK}?", [_BOOK], "way(3)", f'reach({_BOOK}, "translated by")'),
    _puzzle(f"How many books did {_AUTHOR} write?", [_AUTHOR], "count(way(1))"),
    _puzzle(
        f"Was {_BOOK} written by {_AUTHOR}?",
        [_BOOK, _AUTHOR],
        f"exists(intersect(way(1), {_AUTHOR}))",
        f"exists(intersect({_AUTHOR}, way(1)))",
        f"exists(intersect({_BOOK}, way(4)))",
        f"exists(intersect(way(4), {_BOOK}))",
    ),
    _puzzle(
        f"Which books by {_AUTHOR} were translated by {_OTHER}?",
        [_AUTHOR, _OTHER],
        "intersect(way(1), way(4))",
        "intersect(way(4), way(1))",
    ),
    _puzzle(
        f"Which books by {_AUTHOR} were not translated by {_OTHER}?", [_AUTHOR, _OTHER], "difference(way(1), way(4))"
    ),
)


ASKED: Final = {
    "things": "what does it lead to",
    "count": "how many does it lead to",
    "truth": "does it lead to anything",
    "average": "what is the average of the numbers that it leads to",
    "sum": "what is the sum of the numbers that it leads to",
    "per_group": "how many of each does it lead to",
    "filter": "which of those before its last step have a value there that is",
    "extreme": "of those before its last step, take",
    "compare": "of those that it sets out from, take",
}
FUNCTIONS: Final = {
    "argmax": "the one with the greatest value there",
    "argmin": "the one with the least value there",
    "max": "the greatest value there",
    "min": "the least value there",
}
PATH: Final = "Along this path"


def question_in_form(inquiry: StrategyInput) -> str:
    """Returns the form of the question (count, filter, extreme, ...) as a sentence of fixed words.

    The strict profile shows it in place of the question. A filter adds its operator and the value's pseudonym.
    """
    named = sum(topic.newest for topic in inquiry.dialogue.topics)
    form = inquiry.language.read_form(inquiry.dialogue.question, named)
    rest = f" {form.operator} {form.value}" if form.form == "filter" else ""
    if form.form in ("extreme", "compare") and form.function in FUNCTIONS:
        rest = f" {FUNCTIONS[form.function]}"
    return f"{PATH}: {ASKED[form.form]}{rest}?"


def nearest_paths(inquiry: StrategyInput, ways: Ways) -> list[PathTriple]:
    """Returns the first candidate path from each starting set, as triples of concepts and relation labels."""
    first = {way.start.pseudonym: way for way in reversed(ways)}
    return [triple for way in reversed(first.values()) for triple in _triples(inquiry.graph.schema, way)]


def _triples(schema: Schema, way: CandidatePath) -> Iterator[PathTriple]:
    here = way.start.pseudonym
    for step in way.path:
        there = tail_concept(schema, step)
        yield PathTriple(head=here, relation=schema.label_step(step), tail=there)
        here = there
