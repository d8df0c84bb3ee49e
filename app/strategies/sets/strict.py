"""A question told without a word of its text: the form of answer that it asks for, and the path that lies nearest.

Both are found here. A model that is told no more chooses among ways on, and can't tell a path that was read wrongly.
"""

from __future__ import annotations

from typing import Final

from app.llm.answer_form import AskedForm, read_form
from app.llm.reasoner import PathTriple
from app.strategies.base import Inquiry
from app.strategies.fitting import Ways
from kg_store.walking import tail_concept

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
PATH: Final = "The path from"


def question_in_form(inquiry: Inquiry) -> str:
    """Words of ours, pseudonyms that the question names, an operator."""
    named = [topic.pseudonym for topic in inquiry.dialogue.topics if topic.newest]
    form = read_form(inquiry.dialogue.question, len(named))
    starts = [name for name in named if name != form.value]
    return f"{PATH} {', '.join(starts)}: {ASKED[form.form]}{_rest(form)}?"


def nearest_path(inquiry: Inquiry, ways: Ways) -> list[PathTriple]:
    """The first of `ways` as a concept path, in the schema's words."""
    if not ways:
        return []
    schema, here = inquiry.graph.schema, ways[0].start.pseudonym
    path = []
    for step in ways[0].path:
        there = tail_concept(schema, step)
        path.append(PathTriple(head=here, relation=schema.label_step(step), tail=there))
        here = there
    return path


def _rest(form: AskedForm) -> str:
    if form.form == "filter":
        return f" {form.operator} {form.value}"
    return f" {FUNCTIONS[form.function]}" if form.form in ("extreme", "compare") and form.function in FUNCTIONS else ""
