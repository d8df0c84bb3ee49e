"""Complaints: sentences that say which field of a reply broke which rule, in our words and never the model's.

There are finitely many for each kind of reply, so that the guard knows them all as our own before any question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from app.llm.endpoint.json_schema import strict_schema

EMPTY = "It had no content. "
CUT_OFF = "It was cut off at its longest: be brief. "
BLANK = "It held white space without end. "
NO_JSON = "It was not one JSON object. "
NO_CHOICE_OFFERED = "`choices` must hold numbers of candidates that the input offers. "
NOTHING_SHOWN = "`answer` must hold stand-ins that the input shows, or functions of them. "
TEXT_UNBOUND = "In `text` {1} stands for the first expression of `answer`; no other number, no unknown stand-in. "
NO_ANSWER = "`answer` must not be empty when it is given. "
NOT_TRUTH = "The question asks for yes or no: give exists, none or holds of what it compares. "
NOT_NUMBER = "The question asks how many: give count or another number. "
NOT_THINGS = "The question asks for things or values: give the set of them, no count and no yes or no. "
OTHER_KIND = "The question asks for another kind of things: give a set of that kind, or intersect with it. "
NEGATION_LEFT = "The question leaves something out: take it out with difference, none or !=. "
NEGATION_ADDED = "The question leaves nothing out: give no difference, none or !=. "
NOT_COMPARED = "A yes or no must compare with all that the question names: exists(intersect(A, B)), filter, holds(A). "
NOT_OF_ALL = "The question asks of all of them: none(difference(A, B)) says that each of A is in B. "
ONLY_NAMED = "The answer is what the question itself names: give what is asked of it. "
_MISFIT = "It did not keep to the schema. "

MAX_REPORTED = 3  # a reply that breaks more rules gets the point from three
_OF_ANY = (EMPTY, CUT_OFF, BLANK, NO_JSON, NO_CHOICE_OFFERED, NOTHING_SHOWN, NO_ANSWER, TEXT_UNBOUND, _MISFIT)
_OF_DRAFTS = (
    NOT_TRUTH,
    NOT_NUMBER,
    NOT_THINGS,
    OTHER_KIND,
    NEGATION_LEFT,
    NEGATION_ADDED,
    NOT_COMPARED,
    NOT_OF_ALL,
    ONLY_NAMED,
)
"""About drafts that the question contradicts: strategies tell them."""
_TYPES = {
    "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "an object",
}  # fmt: skip


def complaints_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Every complaint that there can be about a reply of `model`."""
    fields = _fields_of(model)
    own = (
        sentence
        for place, words in fields.items()
        for sentence in (_missing(place), _strange(place), _wrong(place, words))
    )
    return (*_OF_ANY, *(_OF_DRAFTS if "answer" in model.model_fields else ()), *own)


def complaints_about(model: type[BaseModel], error: ValidationError) -> tuple[str, ...]:
    """The first of what is wrong with a reply, by field and rule."""
    fields = _fields_of(model)
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return tuple(dict.fromkeys(_sentence(each["type"], each["loc"], fields) for each in found))[:MAX_REPORTED]


def _sentence(rule: str, place: Sequence[str | int], fields: dict[str, str]) -> str:
    if rule == "json_invalid":
        return NO_JSON
    if rule == "extra_forbidden":
        # The last part is the model's own word.
        return _strange(_named(place[:-1])) if _named(place[:-1]) in fields else _MISFIT
    name = _named(place)
    if name not in fields:
        return _MISFIT
    return _missing(name) if rule == "missing" else _wrong(name, fields[name])


def _fields_of(model: type[BaseModel]) -> dict[str, str]:
    """The type of each field, in words, by its place, such as `path[].head`."""
    return dict(_walk(strict_schema(model), ""))


def _walk(node: dict[str, Any], place: str) -> Iterator[tuple[str, str]]:
    yield place, "one of " + ", ".join(node["enum"]) if "enum" in node else _TYPES[node["type"]]
    for name, child in node.get("properties", {}).items():
        yield from _walk(child, f"{place}.{name}".lstrip("."))
    if "items" in node:
        yield from _walk(node["items"], f"{place}[]")


def _named(place: Sequence[str | int]) -> str:
    return "".join("[]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")


def _told(place: str) -> str:
    return f"`{place}`" if place else "The reply"


def _missing(place: str) -> str:
    return f"{_told(place)} is missing. "


def _strange(place: str) -> str:
    return f"{_told(place)} has a field that the schema does not have. "


def _wrong(place: str, words: str) -> str:
    return f"{_told(place)} must be {words}. "
