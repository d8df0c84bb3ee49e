"""Makes the JSON schemas of replies, closed for each request so that a model can only name what the request shows.

A schema is text in parts: static parts, which are the same for all requests and known to the guard, and `Hole`s, which
each request fills with what it offers: numbers, pseudonyms, candidates, relation words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, get_args

from app.llm.endpoint.answer_words import HINT, MAX_WORDS, NONE, WORDS
from app.llm.tasks import (
    LEADS_TO,
    AnswerInput,
    Candidate,
    ChooseInput,
    Manner,
    NameInput,
    ReplyForm,
    ReplyInput,
    StepInput,
    TaskModel,
    TaskName,
)

MAX_CHOICES: Final = 9
"""The greatest number of candidates on a list to choose from, beside the service's own reading. Chosen by hand."""
_MARK = "\x04"
_HOLE = re.compile(r',"\\u0004(\w+)"')

Values = Mapping[str, Sequence[str | int]]


@dataclass(frozen=True, slots=True)
class Hole:
    """A place in a schema's enum, behind its constant entries, where each request inserts what it offers.

    `name`: the key of these entries in the `Values` of a request.
    """

    name: str

    def filled(self, values: Values) -> str:
        """Returns the JSON text to insert after the first entries of a list; empty if the request offers nothing."""
        return "".join(f",{json.dumps(each)}" for each in values.get(self.name, ()))


SchemaPart = str | Hole


def parts_of(text: str) -> Iterator[SchemaPart]:
    """Yields the parts of a marked schema's JSON text: its static parts, and a Hole for each mark."""
    at = 0
    for found in _HOLE.finditer(text):
        yield text[at : found.start()]
        yield Hole(found[1])
        at = found.end()
    yield text[at:]


@cache
def marked_schema(task: TaskName, form: ReplyForm) -> dict[str, Any]:
    """Returns the JSON schema of the replies to `task`, with a mark in place of what each request offers."""
    if task == "step" and form == "choice":
        return _object(answer={"type": "string", "enum": [NONE, f"{_MARK}choices"]})
    if task == "step":
        return _object(answer=_words())
    if task == "answer":
        return _object(thought=_text(300), sufficient={"type": "boolean"}, answer=_words())
    if task == "choose_relations":
        return _object(choices=_list(_number_of("numbers"), 10))
    if task == "name_concepts":
        return _object(concepts=_list(_object(number=_number_of("numbers"), concepts=_list(_text(40), 3)), 30))
    if task == "structure":
        triple = _object(head=_text(40), relation=_text(60), tail=_text(40))
        return _object(thought=_text(300), path=_list(triple, 6), guess=_text(80))
    if task == "worded_reply":
        return _object(sentences=_list(_object(text=_text(300), facts=_list(_number_of("numbers"), 4)), 5))
    if task == "demands":
        listed = _object(thought=_text(120), terms=_list(_text(30), 5))
        return _object(explicit=listed, implicit=listed, maintained=listed, extended=listed)
    manner = {"type": "string", "enum": list(get_args(Manner))}
    return _object(facts=_list(_number_of("numbers"), 5), manner=manner)


def open_schema(task: TaskName, form: ReplyForm) -> dict[str, Any]:
    """Returns the JSON schema of the replies to `task` without the lists of what a request offers.

    It is the same for all requests, for endpoints that get the schema as part of the instructions.
    """
    found: dict[str, Any] = _without_holes(marked_schema(task, form))
    return found


def values_of(given: TaskModel) -> dict[str, list[str | int]]:
    """Returns the words or numbers that `given` offers, by the name of the hole that they fill."""
    if isinstance(given, StepInput):
        return {"words": list(words_offered(given)), "choices": list(choices_of(given))}
    if isinstance(given, AnswerInput):
        return {"words": list(words_offered(given))}
    if isinstance(given, ChooseInput):
        return {"numbers": [each.number for each in given.candidates]}
    if isinstance(given, NameInput):
        return {"numbers": [each.number for each in given.clusters]}
    if isinstance(given, ReplyInput):
        return {"numbers": list(range(1, len(given.evidence) + 1))}
    return {}


def words_offered(given: StepInput | AnswerInput) -> list[str]:
    """Returns the words that an answer may use only in this request: candidates, pseudonyms, relations and the hint.

    An `AnswerInput` has no candidates, so functions may use its relations in both directions.
    """
    ways: Sequence[Candidate] = given.candidates if isinstance(given, StepInput) and not given.graph else ()
    hint = given.hint if isinstance(given, StepInput) else ""
    names = [
        *(thing.name for thing in given.things),
        *(term.name for term in (given.public_terms if isinstance(given, StepInput) else ())),
        *(fact.end for fact in given.evidence),
        *(fact.start for fact in given.evidence),
    ]
    paths = [way.path for way in ways] + [fact.path for fact in given.evidence]
    steps = [step for path in paths for step in path]
    said = re.findall(r'"([^"]*)"', hint)
    if isinstance(given, StepInput):
        steps += labels_in(given.graph)
    numbered = [f"way({way.number})" for way in ways]
    turned = [f"^{label}" for label in given.relations if label[:1] != "^"] if isinstance(given, AnswerInput) else []
    hints = [HINT] if hint else []
    return list(dict.fromkeys([*hints, *numbered, *names, *steps, *given.relations, *turned, *said]))


def labels_in(graph: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns the labels of the relations in `StepInput.graph`."""
    return [line.rpartition(LEADS_TO)[0] for lines in graph.values() for line in lines]


def choices_of(given: StepInput) -> dict[str, str]:
    """Returns a list to choose from: an expression for each number; number 0 is the service's own reading."""
    numbers = given.nearest or tuple(way.number for way in given.candidates)
    ways = [f"way({number})" for number in numbers if f"way({number})" != given.hint][:MAX_CHOICES]
    first = {"0": given.hint} if given.hint else {}
    return first | {str(place): way for place, way in enumerate(ways, start=1)}


def list_of_choices(given: StepInput) -> list[str]:
    """Returns the lines of the list to choose from, such as `2. the patients that Eo55ac treats`."""
    said = dict(zip((way.number for way in given.candidates), given.phrases, strict=False))
    plain = {
        way.number: said.get(way.number) or f"{way.start}: {', '.join(way.path)} ({way.concept})"
        for way in given.candidates
    }

    def worded(expression: str) -> str:
        return re.sub(r"way\((\d+)\)", lambda found: plain[int(found[1])], expression)

    return [f"{number}. {worded(expression)}" for number, expression in choices_of(given).items()]


def _path_text(way: Candidate) -> str:
    return f"{way.start}: {', '.join(way.path)} ({way.concept})"


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _list(items: Any, most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}


def _text(most: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": most}


def _number_of(hole: str) -> dict[str, Any]:
    """Returns the schema of a number: one that the request offers, or 0, which means none of them.

    The 0 also keeps the enum from being empty, if a request offers no number.
    """
    return {"type": "integer", "enum": [0, f"{_MARK}{hole}"]}


def _words() -> dict[str, Any]:
    """Returns the schema of an answer as a list of words."""
    return {"type": "array", "items": {"type": "string", "enum": [*WORDS, f"{_MARK}words"]}, "maxItems": MAX_WORDS}


def _without_holes(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_holes(each) for each in node]
    if not isinstance(node, dict):
        return node
    if any(str(each).startswith(_MARK) for each in node.get("enum", ())):
        return {"type": node["type"]}
    return {key: _without_holes(each) for key, each in node.items()}
