"""Puts meanings into plain words, with kinds in place of pseudonyms, so that the sentence model can compare them.

These words are for comparison only; what people read is worded by answer_text.py and question_text.py, which skip what
makes no good English.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from app.reader.language.relation_wording import voice_of
from kg_store.algebra.expressions import Call, Expression, Name, parse
from kg_store.text.inflection import plural
from kg_store.text.labels import readable_step
from kg_store.text.words import is_pseudonym

_COMPARED = {">": "above", ">=": "at least", "<": "below", "<=": "at most", "=": "", "!=": "other than"}
_GREATEST = {
    "argmax": ("highest", "latest"), "argmin": ("lowest", "earliest"), "compare": ("higher", "later"),
    "most": ("most", "most"), "fewest": ("fewest", "fewest"),
}  # fmt: skip
_TOTALS = {"count": "number of", "sum": "total", "average": "average", "min": "least", "max": "greatest"}


class Hop(Protocol):
    """A hop as it is shown, with the kinds of things or the type of values at its end."""

    @property
    def label(self) -> str: ...
    @property
    def shown(self) -> str: ...
    @property
    def ends(self) -> frozenset[str]: ...
    @property
    def value(self) -> str: ...


class MeaningWords:
    """Words for expressions over the hops of one schema.

    `things`: the kind of each pseudonym in the question; `whole`: for each kind, the pseudonym of all its things.
    """

    def __init__(self, hops: Iterable[Hop], things: Mapping[str, str], whole: Mapping[str, str]) -> None:
        self._kinds = dict(things) | {name: plural(kind) for kind, name in whole.items()}
        self._hops = {hop.label: hop for hop in hops}

    def question(self, words: tuple[str, ...]) -> str:
        """The question with each pseudonym replaced by its kind."""
        return " ".join(self._name(word) if is_pseudonym(word) else word for word in words)

    def of(self, text: str) -> str:
        """Returns the words of the expression `text`."""
        return self._said(parse(text))

    def _name(self, name: str) -> str:
        kind = self._kinds.get(name, "thing").split(", ")[0]
        return f"the {kind}" if name[0] == "E" else kind

    def _said(self, expression: Expression) -> str:
        if isinstance(expression, Name):
            return self._name(expression.pseudonym)
        first = self._said(expression.operands[0])
        match expression:
            case Call(function="reach", words=(label,)):
                return self._reached(first, label)
            case Call(function="filter", operands=(_, *value), words=(label, operator, *number)):
                said = number[0] if number else self._said(value[0])
                return f"{first} {self._relation(label)} {_COMPARED[operator]} {said}"
            case Call(function="having", words=(label,)):
                return f"{first} with {self._relation(label)}"
            case Call(function="argmax" | "argmin" | "compare" | "most" | "fewest" as function, words=(label,)):
                is_date = self._value(label) == "date"
                return f"{first} with the {_GREATEST[function][is_date]} {self._relation(label)}"
            case Call(function="intersect", operands=(_, other)):
                return f"{first} that are {self._said(other)}"
            case Call(function="difference", operands=(_, other)):
                return f"{first} that are not {self._said(other)}"
            case Call(function="group", words=(label,)):
                return f"number of {first} by {self._relation(label)}"
            case Call(function="count" | "sum" | "average" | "min" | "max" as function, words=words):
                return " ".join((_TOTALS[function], *map(self._relation, words), first))
            case _:
                return first

    def _value(self, label: str) -> str:
        return self._hops[label].value if label in self._hops else ""

    def _relation(self, label: str) -> str:
        return readable_step(self._hops[label].shown if label in self._hops else label).lower()

    def _reached(self, start: str, label: str) -> str:
        relation, voice = self._relation(label), voice_of(self._relation(label))
        noun = relation.removeprefix("has ")
        kind = min(self._hops[label].ends, default="thing").lower() if label in self._hops else "thing"
        if label.split("|")[-1].startswith("^"):
            said = f"whose {noun} is" if voice == "noun" else relation
            return f"{plural(kind)} {said} {start}"
        if voice == "noun" or self._value(label):
            return f"{noun} of {start}"
        return f"{kind} that {start} is {relation}" if voice == "passive" else f"{kind} {start} {relation}"
