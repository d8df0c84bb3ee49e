"""Describes a question without a word of its text: the form of answer, and the path most like it.

Both are found inside the service. A model that sees only this chooses among candidates, and cannot notice a path that
was misread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.language.readings import AskedForm
from app.llm.tasks import PathTriple
from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath, Ways
from kg_store.graph.traversal import tail_concept
from kg_store.terms import Schema

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
    """Returns the form in fixed words, with the operator and the value's pseudonym if the question compares."""
    named = sum(topic.newest for topic in inquiry.dialogue.topics)
    form = inquiry.language.read_form(inquiry.dialogue.question, named)
    return f"{PATH}: {ASKED[form.form]}{_rest(form)}?"


def nearest_paths(inquiry: StrategyInput, ways: Ways) -> list[PathTriple]:
    """Returns the first of `ways` from each place as a concept path, in the schema's words."""
    first = {way.start.pseudonym: way for way in reversed(ways)}
    return [triple for way in reversed(first.values()) for triple in _triples(inquiry.graph.schema, way)]


def _triples(schema: Schema, way: CandidatePath) -> Iterator[PathTriple]:
    here = way.start.pseudonym
    for step in way.path:
        there = tail_concept(schema, step)
        yield PathTriple(head=here, relation=schema.label_step(step), tail=there)
        here = there


def _rest(form: AskedForm) -> str:
    if form.form == "filter":
        return f" {form.operator} {form.value}"
    return f" {FUNCTIONS[form.function]}" if form.form in ("extreme", "compare") and form.function in FUNCTIONS else ""
