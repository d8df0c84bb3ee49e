"""Makes the JSON schemas of replies, closed for each request so that a model can only name what the request shows.

A schema is text in parts: static parts, which are the same for all requests and known to the guard, and `Hole`s, which
each request fills with what it offers: numbers, pseudonyms, candidates, relation words.

An answer is a list of words (here called a tree): a model writes `["count", "reach", "Eq7f2k", "lives in"]` for
`count(reach(Eq7f2k, "lives in"))`, so that a schema can list every word that it may use. The words are in Polish
notation: a function, then its arguments in the order of `kg_store.algebra.expressions.FUNCTIONS`, without brackets.
Nested lists are accepted too.

    tree  = word | function tree ... | "follow" way ... | "both" tree tree
    word  = pseudonym | "way(2)" | "hint" | "none" | "more"
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, get_args

from app.llm.tasks import (
    AnswerInput,
    Candidate,
    ChooseInput,
    Manner,
    NameInput,
    ReplyForm,
    ReplyInput,
    StepInput,
    StepReply,
    TaskModel,
    TaskName,
)
from kg_store.algebra.expressions import (
    DIRECTIONS,
    FUNCTIONS,
    MAX_NODES,
    OPERATORS,
    PERIODS,
    Call,
    Expression,
    Name,
    parse,
)
from kg_store.errors import ExpressionError
from kg_store.terms import ALMOST_PSEUDONYM

Tree = list[str]

NONE: Final = "none"
"""As the whole reply: nothing shown answers the question. It is also the name of a function."""
MORE: Final = "more"
"""As the whole reply: no candidate fits, so the next ones should be shown."""
HINT: Final = "hint"
LEADS_TO: Final = ": "
"""Stands between a relation and what it leads to, in a line of `StepInput.graph`."""
FOLLOW: Final = "follow"
BOTH: Final = "both"
MAX_WORDS: Final = 24
MAX_NUMBER: Final = 5
WORDS: Final = (
    NONE,
    MORE,
    FOLLOW,
    BOTH,
    *(name for name in FUNCTIONS if name != NONE),
    *OPERATORS,
    *DIRECTIONS,
    *PERIODS,
    *map(str, range(1, MAX_NUMBER + 1)),
)
"""The words that an answer may use for every question."""

_WAY = re.compile(r"way\((\d{1,4})\)")
# While an expression is parsed, `way(2)` is written `WAY2`, a name that no pseudonym has.
_AS_NAME = re.compile(r"\bway\(\s*(\d{1,4})\s*\)")
_STAND_IN = re.compile(r"\bWAY(\d{1,4})\b")


class TreeError(ValueError):
    """The words of a reply do not form an answer; the error's text quotes none of them."""


def flat(value: Any) -> Tree:
    """Returns the words of nested lists in order.

    Raises TreeError if `value` holds anything but text and lists, or more than MAX_WORDS words.
    """
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise TreeError("a list of words is expected")
    words = [word for each in value for word in flat(each)]
    if len(words) > MAX_WORDS:
        raise TreeError("an answer has fewer words")
    return words


def step_reply_of(tree: Sequence[str], hint: str = "") -> StepReply:
    """Returns the reply that the words `tree` mean; `hint`: the expression that the word "hint" stands for.

    Raises TreeError.
    """
    match list(tree):
        case ["none"]:
            return StepReply(action="not_in_graph")
        case ["more"]:
            return StepReply(action="follow")
        case ["follow", *ways] if ways:
            return StepReply(action="follow", choices=[_number(way) for way in ways])
        case ["both", *rest]:
            return StepReply(action="answer", answer=list(_whole(_several(rest, 2, hint))))
        case words:
            return StepReply(action="answer", answer=[expression_of(words, hint)])


def expression_of(tree: Sequence[str], hint: str = "") -> str:
    """Returns the expression that the words `tree` mean; `way(2)` in it stays as it is. Raises TreeError."""
    found: str = _whole(_expressions(tree, hint))
    return found


def tree_of(expression: str) -> Tree:
    """Returns the words that a model would write for an expression, which may use `way(2)`.

    Raises ExpressionError.
    """
    return list(_words_of(parse(_AS_NAME.sub(r"WAY\1", expression))))


def tree_of_reply(reply: StepReply) -> Tree:
    """Returns the words that a model would write for `reply`. Raises ExpressionError."""
    if reply.action == "not_in_graph":
        return [NONE]
    if reply.action == "follow":
        return [FOLLOW, *(f"way({number})" for number in reply.choices)] if reply.choices else [MORE]
    trees = [tree_of(each) for each in reply.answer]
    return trees[0] if len(trees) == 1 else [BOTH, *(word for tree in trees for word in tree)]


def _whole(parses: Iterator[tuple[Any, Sequence[str]]]) -> Any:
    """Returns the first parse that uses all words and is valid in the grammar. Raises TreeError if there is none."""
    for found, rest in parses:
        if not rest and all(map(_is_known, [found] if isinstance(found, str) else found)):
            return found
    raise TreeError("the words are no expression")


def _expressions(words: Sequence[str], hint: str, depth: int = 0) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields every expression that `words` may begin with, each with the words after it."""
    if not words or depth > MAX_NODES:
        return
    word, rest = words[0], words[1:]
    if word == HINT and hint:
        yield hint, rest
    elif _is_set(word):
        yield word, rest
    if word in FUNCTIONS:
        shape = tuple(want.removesuffix("*") for want in FUNCTIONS[word])
        for given, left in _arguments(shape, rest, hint, depth):
            yield f"{word}({', '.join(given)})", left


def _arguments(
    shape: Sequence[str], words: Sequence[str], hint: str, depth: int
) -> Iterator[tuple[tuple[str, ...], Sequence[str]]]:
    """Yields every way to read a function's arguments from `words`, each with the words after them.

    `shape`: the kinds of arguments as in FUNCTIONS. Readings with optional arguments come before those without.
    """
    if not shape:
        yield (), words
        return
    want, *later = shape
    for given, left in _argument(want, words, hint, depth):
        for more, end in _arguments(later, left, hint, depth):
            yield (given, *more), end
    if want.endswith("?"):
        yield from _arguments(later, words, hint, depth)


def _argument(want: str, words: Sequence[str], hint: str, depth: int) -> Iterator[tuple[str, Sequence[str]]]:
    word, rest = (words[0], words[1:]) if words else ("", ())
    if want in ("r", "r?", "b", "b?") and word and not _is_set(word) and word not in OPERATORS and '"' not in word:
        yield f'"{word}"', rest
    closed = {"o": OPERATORS, "d": DIRECTIONS, "p?": PERIODS}
    if word in closed.get(want, ()) or (want == "m" and word.isdecimal()):
        yield word, rest
    if want in ("s", "m", "b", "b?"):
        yield from _expressions(words, hint, depth + 1)


def _several(words: Sequence[str], least: int, hint: str) -> Iterator[tuple[list[str], Sequence[str]]]:
    """Yields every way to read all of `words` as at least `least` expressions in a row."""
    if not words and least <= 0:
        yield [], words
        return
    for found, rest in _expressions(words, hint):
        for more, end in _several(rest, least - 1, hint):
            yield [found, *more], end


def _is_set(word: str) -> bool:
    return bool(_WAY.fullmatch(word) or ALMOST_PSEUDONYM.fullmatch(word))


def _is_known(expression: str) -> bool:
    """Returns True if the expression is valid in the grammar; `way(2)` counts as a pseudonym."""
    try:
        parse(_AS_NAME.sub(r"WAY\1", expression))
    except ExpressionError:
        return False
    return True


def _number(way: str) -> int:
    found = _WAY.fullmatch(way)
    if found is None:
        raise TreeError("only ways are followed")
    return int(found[1])


def _words_of(expression: Expression) -> Iterator[str]:
    """Yields the words of an expression, a function before its arguments; more than two sets are nested in pairs."""
    if isinstance(expression, Name):
        yield _STAND_IN.sub(r"way(\1)", expression.pseudonym)
        return
    if len(expression.operands) > 2 and "s*" in FUNCTIONS[expression.function]:
        first, *others = expression.operands
        rest = Call(expression.function, tuple(others))
        expression = Call(expression.function, (first, rest))
    yield expression.function
    operands, words = list(expression.operands), list(expression.words)
    for want in FUNCTIONS[expression.function]:
        if want in ("s", "s*") or (want in ("m", "b", "b?") and operands and not words):
            yield from _words_of(operands.pop(0))
        elif words:
            yield words.pop(0)


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
