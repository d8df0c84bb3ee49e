"""The closed set algebra as text: `count(intersect(Sk3mmd, Sq2rta))` parsed to a tree. Nothing is evaluated here.

    expression = pseudonym | function "(" argument { "," argument } ")"
    argument   = expression | relation | operator | direction | period | whole number
    relation   = the words in double quotes, as the evidence shows them
                 (`^` in front: walked backwards; `a|b`: through a mediator; `a then b`: two relations in a row;
                 where a number is taken, `a minus b` and `a times b`: the difference of two values of one entity,
                 dates in days, and their product)

| expression                                     | gives                                                      |
|------------------------------------------------|------------------------------------------------------------|
| `intersect(A, B, ...)`                         | the members that all sets share                            |
| `union(A, B, ...)`                             | the members of any set                                     |
| `difference(A, B)`                             | the members of A that B has not                            |
| `exists(A)`                                    | yes or no: whether A has a member                          |
| `none(A)`                                      | yes or no: whether A has no member                         |
| `outnumbers(A, B)`                             | yes or no: whether A has more members than B               |
| `holds(A)`                                     | yes or no: whether the truth values A are true             |
| `having(A, "relation")`                        | the members of A that have it, or for which it is true     |
| `having(A, B)`                                 | those tied to B by any relation (`with_ties` names it)     |
| `kind(A)`                                      | the name of the class that the members of A are of         |
| `count(A)`                                     | how many distinct members A has                            |
| `sum(A)`, `average(A)`, `min(A)`, `max(A)`     | of the values A                                            |
| `sum(A, "relation")`, and the other three      | of the values that the entities A have                     |
| `filter(A, "relation", op, V)`                 | the entities of A with a value `op` V                      |
| `matching(A, "relation", op, "other")`         | the entities of A with a value `op` one of `other`'s       |
| `argmax(A, "relation")`, `argmin(...)`         | the entities of A with the greatest or the least value     |
| `most(A, "relation")`, `fewest(...)`           | the entities of A that it leads to most or fewest from     |
| `most(A, "relation", "measure")`, `fewest(..)` | the same by the sum of the values of what it leads to      |
| `most(A, "relation", B)`, `fewest(..)`         | the same by how many members of B it leads to              |
| `counted(A, "relation", op, n)`                | the entities of A that it leads to so many things from     |
| `counted(A, "relation", op, n, B)`             | the same by how many members of B it leads to              |
| `group(A, "relation")`                         | how many of A there are per thing that the relation gives  |
| `sums(A, "relation", "measure")`               | the sum of the values of A per thing that `relation` gives |
| `averages(A, "relation", "measure")`           | their average per thing                                    |
| `group(A, "relation", year)`, and the others   | per year, or `month`, of the dates that the relation gives |
| `minus(A, B)`                                  | A less B: numbers, or single values; dates in years        |
| `compare(A, B, "relation")`                    | those of A and B with the greater value                    |
| `sort(A, "relation", ascending or descending)` | A in order                                                 |
| `reach(A, "relation")`                         | what the relation leads to from the members of A           |
| `limit(A, n)`                                  | the first n of a sorted set or of a group                  |
| `pairs(A, "relation")`                         | as an answer: each of A with what the relation gives       |
| `pairs(A, "relation", "other")`                | the same for each thing that `relation` gives              |

`op` is one of `<`, `<=`, `>`, `>=`, `=`, `!=`. V is a value, a set, an expression that gives one, or a whole number; n
is a whole number or a value that is one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from kg_store.errors import ExpressionError
from kg_store.terms import Edges, Mids
from kg_store.text.labels import reversed_label
from kg_store.text.literals import plain_number

FUNCTIONS: dict[str, tuple[str, ...]] = {
    # s: set expression, s*: one or more of them, r: relation, o: operator, d: direction, m: number or set expression,
    # p: period, b: relation or set expression; ?: may be left out.
    "intersect": ("s", "s*"),
    "union": ("s", "s*"),
    "difference": ("s", "s"),
    "exists": ("s",),
    "none": ("s",),
    "outnumbers": ("s", "s"),
    "holds": ("s",),
    "having": ("s", "b"),
    "kind": ("s",),
    "count": ("s",),
    "sum": ("s", "r?"),
    "average": ("s", "r?"),
    "min": ("s", "r?"),
    "max": ("s", "r?"),
    "filter": ("s", "r", "o", "m"),
    "matching": ("s", "r", "o", "r"),
    "argmax": ("s", "r"),
    "argmin": ("s", "r"),
    "most": ("s", "r", "b?"),
    "fewest": ("s", "r", "b?"),
    "counted": ("s", "r", "o", "m", "b?"),
    "group": ("s", "r", "p?"),
    "sums": ("s", "r", "r", "p?"),
    "averages": ("s", "r", "r", "p?"),
    "minus": ("s", "s"),
    "reach": ("s", "r"),
    "compare": ("s", "s", "r"),
    "sort": ("s", "r", "d"),
    "limit": ("s", "m"),
    "pairs": ("s", "r", "r?"),
}
OPERATORS = ("<=", ">=", "!=", "<", ">", "=")
DIRECTIONS = ("ascending", "descending")
PERIODS = ("year", "month")
THEN, MINUS, TIMES = "then", "minus", "times"
"""Words between two relations: the second is walked from where the first leads to, or the value of the first is taken
less, or times, that of the second."""
MAX_NODES = 40

_TOKEN = re.compile(
    r'\s*(?:(?P<word>[A-Za-z][A-Za-z0-9]*)|"(?P<relation>[^"]*)"|(?P<number>[0-9]{1,9}(?![0-9]))'
    r"|(?P<operator><=|>=|!=|<|>|=)|(?P<mark>[(),]))"
)


@dataclass(frozen=True, slots=True)
class Name:
    """A pseudonym."""

    pseudonym: str


@dataclass(frozen=True, slots=True)
class Call:
    """One function of the algebra; `words` are its relation, operator, direction or number, in order."""

    function: str
    operands: tuple[Expression, ...]
    words: tuple[str, ...] = ()


Expression = Name | Call


def parse(text: str) -> Expression:
    """Returns the tree of `text`. Raises ExpressionError outside the grammar, and beyond MAX_NODES parts."""
    tokens = _tokens(text)
    if len(tokens) > MAX_NODES * 2:
        raise ExpressionError("the expression has too many parts")
    expression, rest = _expression(tokens)
    if rest:
        raise ExpressionError("something stands after the end of the expression")
    return expression


def names_in(expression: Expression) -> tuple[str, ...]:
    """Returns every pseudonym of the tree, in order of first use."""
    if isinstance(expression, Name):
        return (expression.pseudonym,)
    found = (name for operand in expression.operands for name in names_in(operand))
    return tuple(dict.fromkeys(found))


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, position, text = [], 0, text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise ExpressionError(f"unexpected character at position {position + 1}")
        tokens.append((match.lastgroup, match.group(match.lastgroup)))
        position = match.end()
    return tokens


def _expression(tokens: list[tuple[str, str]]) -> tuple[Expression, list[tuple[str, str]]]:
    if not tokens or tokens[0][0] != "word":
        raise ExpressionError("a pseudonym or a function is expected")
    word, rest = tokens[0][1], tokens[1:]
    if not rest or rest[0] != ("mark", "("):
        return Name(word), rest
    if word not in FUNCTIONS:
        raise ExpressionError("unknown function; allowed: " + ", ".join(FUNCTIONS))
    operands, words, rest = _arguments(word, rest[1:])
    return Call(word, tuple(operands), tuple(words)), rest


def _arguments(
    function: str, tokens: list[tuple[str, str]]
) -> tuple[list[Expression], list[str], list[tuple[str, str]]]:
    operands: list[Expression] = []
    words: list[str] = []
    shape = list(FUNCTIONS[function])
    while True:
        want = shape[0] if shape else ""
        is_set = want in ("s", "s*") or (want == "m" and tokens[:1] and tokens[0][0] != "number")
        if is_set or (want in ("b", "b?") and tokens[:1] and tokens[0][0] != "relation"):
            operand, tokens = _expression(tokens)
            operands.append(operand)
        else:
            words.append(_word(function, want, tokens))
            tokens = tokens[1:]
        if want != "s*":
            shape = shape[1:]
        if tokens[:1] == [("mark", ",")]:
            tokens = tokens[1:]
            continue
        if tokens[:1] == [("mark", ")")] and all(rest in ("s*", "r?", "p?", "b?") for rest in shape):
            if "s*" in FUNCTIONS[function] and len(operands) < 2:
                raise ExpressionError(f"{function} takes two sets or more")
            return operands, words, tokens[1:]
        raise ExpressionError(f"{function} has too few arguments, or a bracket is missing")


def _word(function: str, want: str, tokens: list[tuple[str, str]]) -> str:
    kind, text = tokens[0] if tokens else ("", "")
    fits = {
        "r": kind == "relation",
        "r?": kind == "relation",
        "b": kind == "relation",
        "b?": kind == "relation",
        "o": kind == "operator",
        "d": kind == "word" and text in DIRECTIONS,
        "p?": kind == "word" and text in PERIODS,
        "m": kind == "number",
    }
    if not fits.get(want, False):
        raise ExpressionError(f"{function} has an argument of the wrong kind, or one too many")
    return text


OutcomeKind = Literal["set", "number", "truth", "table", "kinds"]
Row = tuple[int | str, Decimal | int]  # The MID of a node, or the text of a year or month, with its number.


@dataclass(frozen=True, slots=True)
class Operand:
    """The meaning of a pseudonym in an expression.

    `mids`: the node, or all members of a set. `edges`: for a set of values, the (entity, value) pairs; a sum then
    counts a value once for each entity that has it. `literal`: the text of a value that the user typed, which may not
    be in the graph.
    """

    mids: Mids = field(repr=False)
    edges: Edges | None = field(default=None, repr=False)
    literal: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ExpressionResult:
    """The result of an expression.

    `ordered`: `mids` are sorted by a value. `ranked`: they are sorted by likelihood instead; no expression gives that,
    only a caller sets it. `rows` are the rows of a ResultTable, `names` the classes of a ResultKinds.
    """

    kind: OutcomeKind
    mids: tuple[int, ...] = field(default=(), repr=False)
    ordered: bool = False
    ranked: bool = False
    number: Decimal | None = field(default=None, repr=False)
    truth: bool | None = field(default=None, repr=False)
    rows: tuple[Row, ...] = field(default=(), repr=False)
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultSet:
    """An intermediate set: `mids` are distinct, in their own order if `ordered`, else ascending."""

    mids: Mids = field(repr=False)
    ordered: bool = False
    edges: Edges | None = field(default=None, repr=False)
    literal: str | None = field(default=None, repr=False)

    def keep(self, mask: npt.NDArray[np.bool_]) -> ResultSet:
        """Returns the members that `mask` keeps, in their order, with the edges that lead to them."""
        mids, edges = self.mids[mask], self.edges
        if edges is not None:
            kept = np.isin(edges.tails, mids)
            edges = Edges(edges.heads[kept], edges.tails[kept])
        return ResultSet(mids, self.ordered, edges)

    def pairs(self) -> Edges:
        """Returns the (entity, value) pairs that a sum runs over; without edges, (member, member) for each member."""
        return self.edges if self.edges is not None else Edges(self.mids, self.mids)


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Numbers for each node, the largest first; or for each year or month, in order of time."""

    rows: tuple[Row, ...] = field(repr=False)

    @property
    def things(self) -> tuple[int, ...]:
        """The MIDs of the rows; empty for a table of years or months."""
        return tuple(thing for thing, _ in self.rows if isinstance(thing, int))


@dataclass(frozen=True, slots=True)
class ResultKinds:
    """Names of classes, which are words of the schema and not nodes."""

    names: tuple[str, ...]


Result = ResultSet | ResultTable | ResultKinds | Decimal | bool


def as_set(result: Result) -> ResultSet:
    """Returns `result` if it is a set; for a table, the nodes of its rows, in order.

    Raises ExpressionError for a number, a truth value or names.
    """
    if isinstance(result, ResultSet):
        return result
    if isinstance(result, ResultTable) and len(result.things) == len(result.rows):
        return ResultSet(np.array(result.things, dtype=np.int64), ordered=True)
    raise ExpressionError("a set is expected where a number, or yes or no, stands")


def outcome_of(result: Result) -> ExpressionResult:
    """Returns the result in the form that callers get; numbers have no trailing zeros."""
    if isinstance(result, ResultSet):
        return ExpressionResult("set", tuple(result.mids.tolist()), ordered=result.ordered)
    if isinstance(result, ResultTable):
        return ExpressionResult("table", result.things, ordered=True, rows=result.rows)
    if isinstance(result, ResultKinds):
        return ExpressionResult("kinds", names=result.names)
    if isinstance(result, bool):
        return ExpressionResult("truth", truth=result)
    return ExpressionResult("number", number=Decimal(plain_number(result)))


def walked_along(start: str, steps: Sequence[str]) -> str:
    """Returns the expression for what `start` leads to along the labels `steps`."""
    for step in steps:
        start = f'reach({start}, "{step}")'
    return start


def is_walk(expression: Expression) -> bool:
    """Returns True for a pseudonym, and for what relations lead to from one, without counting or comparing."""
    return isinstance(expression, Name) or (expression.function == "reach" and is_walk(expression.operands[0]))


def written(expression: Expression) -> str:
    """Returns the expression as text; `parse` turns the text into the same tree. Equal expressions give equal text."""
    if isinstance(expression, Name):
        return expression.pseudonym
    operands, words = [written(each) for each in expression.operands], list(expression.words)
    parts: list[str] = []
    for shape in FUNCTIONS[expression.function]:
        if shape in ("s", "s*") or (shape in ("m", "b", "b?") and not words):
            taken = operands[: None if shape == "s*" else 1]
            parts, operands = parts + taken, operands[len(taken) :]
        elif words:
            word = words.pop(0)
            parts.append(f'"{word}"' if shape[0] in "rb" else word)
    return f"{expression.function}({', '.join(parts)})"


def with_relations(expression: Expression, further: Mapping[str, Sequence[str]]) -> Expression:
    """Returns `expression` with each `reach(A, label)` widened to a union over more relations.

    `further` maps a label to these relations: with {"r": ["s"]}, `reach(A, "r")` becomes `union(reach(A, "r"),
    reach(A, "s"))`.
    """
    if isinstance(expression, Name):
        return expression
    operands = tuple(with_relations(each, further) for each in expression.operands)
    whole = Call(expression.function, operands, expression.words)
    labels = further.get(expression.words[0], ()) if expression.function == "reach" else ()
    if not labels:
        return whole
    return Call("union", (whole, *(Call("reach", operands, (label,)) for label in labels)))


def with_joined_steps(expression: Expression, labels: Collection[str]) -> Expression:
    """Returns `expression` with two steps, onto nameless nodes and on from them, as the one step that they make.

    `labels` holds all such steps (`a|b`). Unlike two steps, it does not lead back to where it started: nobody is their
    own spouse by their own wedding.
    """
    if isinstance(expression, Name):
        return expression
    call = Call(
        expression.function,
        tuple(with_joined_steps(each, labels) for each in expression.operands),
        expression.words,
    )
    match call:
        case Call("reach", (Call("reach", inner, (first,)),), (second,)) if f"{first}|{second}" in labels:
            return Call("reach", inner, (f"{first}|{second}",))
    return call


def of_one_row(text: str) -> str:
    """Returns `text` with conditions on one record changed so that a single record must fulfil all of them.

    A record is a mediator. For example, "has rank 1 in a committee" must not match somebody who is in the committee
    and has rank 1 in another one. So the conditions (`member|rank`, `member|since`) first select records. The result
    then leads back from these records to the people. What a condition and a function read of one record (the fees of
    the loans in May: `loan|fee`, `loan|date`) is read of the same records.
    """
    return written(_by_rows(parse(text))) if "|" in text else text


_CHOOSING: Final = frozenset({"argmax", "argmin"})
_READING_ROWS: Final = frozenset({"reach", "sum", "average", "min", "max"}) | _CHOOSING


def _by_rows(expression: Expression) -> Expression:
    if isinstance(expression, Name):
        return expression
    if expression.function in _READING_ROWS and (rows := _rows_read(expression)):
        words = expression.words[0].rpartition("|")[2], *expression.words[1:]
        found = Call(expression.function, (rows,), words)
        back = reversed_label(_record_of(expression))
        return Call("reach", (found,), (back,)) if expression.function in _CHOOSING else found
    if expression.function == "intersect" and len(expression.operands) == 2:
        for of_values, other in (expression.operands, expression.operands[::-1]):
            tests, _ = _tests_of(of_values)
            led = _ends_of(other)
            if tests and led and reversed_label(led[2]) == _record_of(tests[0]):
                return _narrowed(_by_rows(led[0]), led[1], tests, led[2])
    tests, base = _tests_of(expression)
    led = _ends_of(base)
    if tests and led and reversed_label(led[2]) == _record_of(tests[0]):
        return _narrowed(_by_rows(led[0]), led[1], tests, led[2])
    if len(set(tests)) > 1:
        record = _record_of(tests[0])
        return _narrowed(_by_rows(base), record, tests, reversed_label(record))
    return Call(expression.function, tuple(map(_by_rows, expression.operands)), expression.words)


def _rows_read(expression: Call) -> Expression | None:
    """Returns the records of which a function reads `record|end`, if its set is chosen by what the same records say.

    That is by conditions on them, or by what else they lead to: of "who took money for firewood" the money that is
    asked for is that for firewood. None otherwise.
    """
    record, chosen = _record_of(expression), expression.operands[0]
    if not record or "|" in record:
        return None
    tests, base = _tests_of(chosen)
    if tests and record == _record_of(tests[0]):
        return _rows(_by_rows(base), record, tests)
    pair = chosen.operands if isinstance(chosen, Call) and chosen.function == "intersect" else ()
    for first, second in (pair, pair[::-1]) if len(pair) == 2 else ():
        led = _ends_of(second)
        if led and reversed_label(led[2]) == record:
            ways = Call("reach", (_by_rows(first),), (record,)), Call("reach", (_by_rows(led[0]),), (led[1],))
            return Call("intersect", ways)
    return None


def _tests_of(expression: Expression) -> tuple[list[Call], Expression]:
    """Returns (filters, rest): the filters around `expression` that test one record, and the set that they filter.

    The outermost filter comes first. A record is a mediator, as in `filter(A, "member|rank", =, V)`. Without such
    filters the list is empty.
    """
    tests: list[Call] = []
    while isinstance(expression, Call) and expression.function in ("filter", "having"):
        if _record_of(expression).count("|") or (tests and _record_of(expression) != _record_of(tests[0])):
            break
        tests.append(expression)
        expression = expression.operands[0]
    return (tests, expression) if tests and all("|" in each.words[0] for each in tests) else ([], expression)


def _record_of(test: Call) -> str:
    """Returns a filter's relation up to its last bar: `member` of `member|rank`; empty if there is no bar."""
    return test.words[0].rpartition("|")[0]


def _ends_of(expression: Expression) -> tuple[Expression, str, str] | None:
    """Returns (A, record, end) of an expression `reach(A, "record|end")`; None for any other."""
    if not (isinstance(expression, Call) and expression.function == "reach" and expression.words[0].count("|") == 1):
        return None
    record, _, end = expression.words[0].partition("|")
    return expression.operands[0], record, end


def _narrowed(base: Expression, record: str, tests: Sequence[Call], back: str) -> Expression:
    return Call("reach", (_rows(base, record, tests),), (back,))


def _rows(base: Expression, record: str, tests: Sequence[Call]) -> Expression:
    """Returns the records that `base` leads to by `record` and that pass all `tests`."""
    rows: Expression = Call("reach", (base,), (record,))
    for test in dict.fromkeys(reversed(tests)):
        label, *rest = test.words
        rows = Call(test.function, (rows, *test.operands[1:]), (label.rpartition("|")[2], *rest))
    return rows
