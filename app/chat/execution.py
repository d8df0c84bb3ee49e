"""Executes the expressions of a grounded draft and looks up the names in its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import compress
from typing import Final

import numpy as np

from app.chat.grounding import PLACEHOLDER, Grounded
from app.privacy.pseudonyms import Meaning, PseudonymTable
from client_sdk.protocol import Item, ItemKind, Names
from kg_store.algebra.expressions import (
    Call,
    Expression,
    ExpressionResult,
    Name,
    Operand,
    Row,
    is_walk,
    names_in,
    parse,
    written,
)
from kg_store.algebra.missing_values import MissingValues
from kg_store.catalog import PrivateGraph
from kg_store.errors import ExpressionError
from kg_store.graph.kinds import only_referred_to, reference_flags
from kg_store.graph.traversal import concept_of, kind_of
from kg_store.storage.vault import VaultRecord, readable_name
from kg_store.terms import Mid, Mids, NodeKind, ValueKind, as_mids
from kg_store.text.literals import plain_number

MAX_DECIDING: Final = 3
"""The greatest number of things that are named to explain the answer "no"; more would not help. Chosen by hand."""
_SENTENCE: Final = re.compile(r"(?<=[.?!]) ")


Order = Callable[[Mids], Mids]
"""Sorts things into the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """An executed answer: its text in pseudonyms, one item for each expression in it, and the names by pseudonym."""

    text: str
    items: tuple[Item, ...]
    names: dict[str, Names] = field(repr=False)


class AnswerExecutor:
    """Executes expressions over the pseudonyms of one conversation.

    `most_names`: the greatest number of names restored for one set. `language`: the language of names that is
    preferred where things have names in several.
    """

    def __init__(self, graph: PrivateGraph, table: PseudonymTable, most_names: int, language: str = "") -> None:
        self._graph, self._table, self._most, self._language = graph, table, most_names, language

    def conclude(self, grounded: Grounded, topics: Mids, order: Order | None = None) -> Conclusion | None:
        """Executes a grounded draft; returns None if every part is empty, so the graph does not hold the answer.

        `topics`: the things that the question names; they are removed from a set that has other members, because
        nobody asks for what they have just named. `order` sorts sets that have no order. Raises ExpressionError.
        """
        outcomes = [(each, _ranked(self._outcome(each, topics), order)) for each in grounded.expressions]
        held = [(each, outcome) for each, outcome in outcomes if not _is_empty(outcome)]
        if outcomes and not held:
            return None
        text = grounded.text
        if outcomes and outcomes[0][1].kind == "truth":
            decides = [self._decides(*outcomes[0], *beside) for beside in outcomes[1:]]
            text, outcomes = _without_parts(text, decides), [outcomes[0], *compress(outcomes[1:], decides)]
        shown = [self._shown(each, outcome) for each, outcome in outcomes]
        items = tuple(item for item, _ in shown)
        return Conclusion(_filled(text, items), items, {item.pseudonym: names for item, names in shown})

    def _decides(self, asked: Expression, truth: ExpressionResult, told: Expression, beside: ExpressionResult) -> bool:
        """Returns True if a further result is worth mentioning after a yes or no.

        `asked` and `truth` are the question's expression and its yes or no, `told` and `beside` the other expression
        and its result. A set that is part of `asked` is mentioned only if it has at most MAX_DECIDING members, and
        after a yes only if these are values. Any other result is mentioned unless it is empty.
        """
        if _is_empty(beside):
            return False
        if beside.kind != "set" or written(told) not in written(asked):
            return True
        is_value = kind_of(self._graph.blind, as_mids(beside.mids)) is NodeKind.VALUE
        return len(beside.mids) <= MAX_DECIDING and (is_value or not truth.truth)

    def missing_values(self, expressions: Iterable[Expression]) -> list[MissingValues]:
        """Returns, for the executed `expressions`, which members lack the values that they compare or count."""
        found = (each for expression in expressions for each in self._missing(expression))
        return list({(each.relation, each.of): each for each in found}.values())

    def _missing(self, expression: Expression) -> Sequence[MissingValues]:
        try:
            return self._graph.algebra.missing_values(expression, self._operand)
        except ExpressionError:
            return ()

    def years_met(self, expressions: Iterable[Expression]) -> set[int]:
        """Returns the years of the dates that equal a date without a year in the executed `expressions`."""
        meanings = ((each, map(self._table.meaning, names_in(each))) for each in expressions)
        yearly = [each for each, known in meanings if any(meaning and meaning.is_yearly for meaning in known)]
        return set().union(*(self._graph.algebra.years_met(each, self._operand) for each in yearly))

    def counted_by_reference(self, expression: Expression) -> tuple[int, int]:
        """Returns how many of the things that `expression` counts are only referred to, and how many it counts."""
        if not (isinstance(expression, Call) and expression.function == "count"):
            return 0, 0
        if not reference_flags(self._graph.blind.schema).any():
            return 0, 0
        counted = self.result_of(written(expression.operands[0]))
        mids = as_mids(counted.mids if counted is not None and counted.kind == "set" else ())
        return len(only_referred_to(self._graph.blind, mids)), len(mids)

    def set_behind(self, expression: str) -> str:
        """Returns the pseudonym of the things that a number or truth was worked out from, such as those counted.

        Empty if `expression` gives things itself, or was worked out from none.
        """
        asked = parse(expression)
        while isinstance(asked, Call) and asked.operands:
            asked = asked.operands[0]
            found = self._evaluated(written(asked))
            if found is not None and found.kind == "set":
                return self._pseudonym_of_set(asked, as_mids(found.mids)) if found.mids else ""
        return ""

    def of_number(self, number: int, told: str) -> tuple[str, Names]:
        """Returns a pseudonym for a number, and the number as its name; `told` says what the number counts."""
        return self._table.of_outcome(told), Names(names=[str(number)], total=1)

    def truth_of(self, expression: str) -> bool | None:
        """Returns the yes (True) or no that `expression` gives; None if it gives neither or cannot be executed."""
        outcome = self._evaluated(expression)
        return outcome.truth if outcome is not None else None

    def result_of(self, expression: str) -> ExpressionResult | None:
        """Returns the result of `expression`; None if it is empty or cannot be executed."""
        outcome = self._evaluated(expression)
        return None if outcome is None or _is_empty(outcome) else outcome

    def _evaluated(self, expression: str) -> ExpressionResult | None:
        try:
            return self._graph.algebra.evaluate(parse(expression), self._operand)
        except ExpressionError:
            return None

    def are_equal(self, expression: str, other: str) -> bool:
        """Returns True if both expressions give the same result; False if one of them cannot be executed."""
        given, wanted = self._evaluated(expression), self._evaluated(other)
        if given is None or wanted is None:
            return False
        if given.kind == wanted.kind == "set":
            return set(given.mids) == set(wanted.mids)
        return given == wanted

    def names_of(self, pseudonyms: Iterable[str]) -> dict[str, Names]:
        """Returns the names behind each of `pseudonyms`; words that stand for nothing with a name are left out."""
        meanings = {word: meaning for word in pseudonyms if (meaning := self._table.meaning(word)) is not None}
        meant = {word: self._table.resolve(word, self._graph.blind)[0].tolist() for word in meanings}
        records = self._graph.vault.records([mid for mids in meant.values() for mid in mids[: self._most]])
        named: dict[str, Names] = {}
        for word, mids in meant.items():
            literal, is_number = meanings[word].literal, meanings[word].value_kind is ValueKind.NUMBER
            if mids and not (literal and is_number):
                named[word] = self._names(mids, records)
            elif literal:
                named[word] = Names(names=[literal], total=1)
        return named

    def worked_out(self, pseudonyms: Iterable[str]) -> dict[str, Names]:
        """Returns what those of `pseudonyms` stand for that are numbers, truths or tables of earlier answers."""
        meanings = ((word, self._table.meaning(word)) for word in pseudonyms)
        told = {word: meaning.expression for word, meaning in meanings if meaning is not None and meaning.expression}
        results = {word: (text, self.result_of(text)) for word, text in told.items()}
        shown = ((word, text, found) for word, (text, found) in results.items() if found and found.kind != "set")
        return {word: self._shown(parse(text), found)[1] for word, text, found in shown}

    def listed(self, pseudonym: str) -> list[str]:
        """Returns the pseudonym of each member of a set that has a name, in the order in which its names are shown.

        Empty if `pseudonym` does not stand for a set.
        """
        meaning = self._table.meaning(pseudonym)
        if meaning is None or meaning.kind not in ("set", "kind", "outcome"):
            return []
        mids = self._in_shown_order(pseudonym, meaning)
        named = self._graph.vault.records(mids[: self._most])
        return [self._pseudonym_of_one(mid) for mid in mids[: self._most] if mid in named]

    def rest_of(self, pseudonym: str) -> str:
        """Returns the pseudonym of those members of a set that an answer did not show; empty if it showed all."""
        meaning = self._table.meaning(pseudonym)
        rest = self._in_shown_order(pseudonym, meaning)[self._most :] if meaning is not None else []
        return self._table.of_ranked(f"rest({pseudonym})", rest) if rest else ""

    def in_ranked_order(self, pseudonym: str) -> Order:
        """Returns the order of the members of the ranked set `pseudonym`."""
        meaning = self._table.meaning(pseudonym)
        assert meaning is not None
        return lambda mids: meaning.mids[np.isin(meaning.mids, mids)]

    def _in_shown_order(self, pseudonym: str, meaning: Meaning) -> list[int]:
        outcome = self._evaluated(meaning.expression) if meaning.expression and not meaning.is_ranked else None
        if outcome is not None and outcome.ordered and outcome.mids:
            return list(outcome.mids)
        if meaning.is_ranked:
            return [int(mid) for mid in meaning.mids]
        return [int(mid) for mid in self._table.resolve(pseudonym, self._graph.blind)[0]]

    def _pseudonym_of_one(self, mid: int) -> str:
        is_value = kind_of(self._graph.blind, as_mids([mid])) is NodeKind.VALUE
        return self._table.of_value(Mid(mid)) if is_value else self._table.of_entity(Mid(mid))

    def _outcome(self, expression: Expression, topics: Mids) -> ExpressionResult:
        outcome = self._graph.algebra.evaluate(expression, self._operand)
        if is_walk(expression) and outcome.kind == "set" and len(outcome.mids) > 1:
            others = tuple(mid for mid in outcome.mids if mid not in topics)
            if 0 < len(others) < len(outcome.mids):
                return ExpressionResult(kind="set", mids=others, ordered=outcome.ordered)
        return outcome

    def _operand(self, pseudonym: str) -> Operand:
        mids, edges = self._table.resolve(pseudonym, self._graph.blind)
        meaning = self._table.meaning(pseudonym)
        return Operand(mids, edges, meaning.literal if meaning is not None else None)

    def _shown(self, expression: Expression, outcome: ExpressionResult) -> tuple[Item, Names]:
        if outcome.kind == "set":
            return self._shown_set(expression, outcome)
        if outcome.kind == "kinds":
            names = Names(names=list(outcome.names), total=len(outcome.names))
            word = self._table.of_outcome(written(expression))
            return Item(pseudonym=word, kind="value", concept="kind", size=names.total, ordered=False), names
        if outcome.kind == "table":
            names = self._rows(outcome.rows)
        elif outcome.kind == "truth":
            names = Names(names=["yes" if outcome.truth else "no"], total=1)
        else:
            names = Names(names=[plain_number(outcome.number or Decimal(0))], total=1)
        kind: ItemKind = outcome.kind
        pseudonym = self._table.of_outcome(written(expression))
        ordered = kind == "table"
        return Item(pseudonym=pseudonym, kind=kind, concept=kind, size=names.total, ordered=ordered), names

    def _shown_set(self, expression: Expression, outcome: ExpressionResult) -> tuple[Item, Names]:
        members = as_mids(outcome.mids)
        if outcome.ranked:
            pseudonym = self._table.of_ranked(written(expression), outcome.mids)
        else:
            pseudonym = self._pseudonym_of_set(expression, members)
        kind: ItemKind = "set"
        if len(members) == 1:
            kind = "value" if kind_of(self._graph.blind, members) is NodeKind.VALUE else "entity"
        concept = concept_of(self._graph.blind, members) if len(members) else "thing"
        item = Item(pseudonym=pseudonym, kind=kind, concept=concept, size=len(outcome.mids), ordered=outcome.ordered)
        return item, self._names(outcome.mids, self._graph.vault.records(outcome.mids[: self._most]))

    def _pseudonym_of_set(self, expression: Expression, members: Mids) -> str:
        """Returns the pseudonym of an expression's result `members`.

        An expression that is only a pseudonym keeps it, unless topics were removed from its set.
        """
        if is_walk(expression) and not isinstance(expression, Name):
            found = self._evaluated(written(expression))
            if found is not None and not np.array_equal(as_mids(found.mids), members):
                return self._table.of_outcome(f"others({written(expression)})", members)
        if isinstance(expression, Name):
            whole = self._table.resolve(expression.pseudonym, self._graph.blind)[0]
            if np.array_equal(np.unique(whole), members):
                return expression.pseudonym
            return self._table.of_outcome(f"others({expression.pseudonym})", members)
        return self._table.of_outcome(written(expression), members)

    def _names(self, mids: Sequence[int], records: Mapping[int, VaultRecord]) -> Names:
        names = [readable_name(records[mid], self._language) for mid in mids[: self._most] if mid in records]
        return Names(names=names, total=len(mids))

    def _rows(self, rows: Sequence[Row]) -> Names:
        """Returns the rows of a table as texts `name: number`; the key of a row is a thing, or a year or month."""
        most = rows[: self._most]
        records = self._graph.vault.records([key for key, _ in most if isinstance(key, int)])
        named = [
            (key if isinstance(key, str) else readable_name(records[key], self._language), number)
            for key, number in most
            if isinstance(key, str) or key in records
        ]
        lines = [f"{name}: {plain_number(Decimal(number))}" for name, number in named]
        return Names(names=lines, total=len(rows))


def _ranked(outcome: ExpressionResult, order: Order | None) -> ExpressionResult:
    """Returns `outcome`, sorted by `order` if it is a set of several things that has no order yet."""
    if order is None or outcome.kind != "set" or outcome.ordered or len(outcome.mids) < 2:
        return outcome
    return replace(outcome, mids=tuple(order(as_mids(outcome.mids)).tolist()), ordered=True, ranked=True)


def _is_empty(outcome: ExpressionResult) -> bool:
    found = {"set": outcome.mids, "table": outcome.rows, "kinds": outcome.names}
    return not found.get(outcome.kind, (outcome.kind,))


def _filled(text: str, items: Sequence[Item]) -> str:
    """Returns `text` with each `{n}` replaced by the pseudonym of part n; parts that it lacks are added at its end."""

    def part(found: re.Match[str]) -> str:
        # `{1:is|are}` becomes the word that agrees with the size of the part, which the answer shows in clear anyway.
        item = items[int(found[1]) - 1]
        return item.pseudonym if found[2] is None else found[2] if item.size == 1 else found[3]

    filled = PLACEHOLDER.sub(part, text)
    missing = [item.pseudonym for item in items if item.pseudonym not in filled]
    if not missing:
        return filled
    listed = ", ".join(missing)
    return f"{filled.rstrip('. :')}: {listed}." if filled.strip() else f"{listed}."


def _without_parts(text: str, kept: Sequence[bool]) -> str:
    """Returns `text` without the sentences about parts that are dropped, and with the other parts renumbered.

    `kept`: for each part after the first, True if it is kept.
    """
    numbers = {1: 1}
    for number, is_kept in enumerate(kept, start=2):
        if is_kept:
            numbers[number] = len(numbers) + 1
    told = [
        each for each in _SENTENCE.split(text) if {int(found[1]) for found in PLACEHOLDER.finditer(each)} <= {*numbers}
    ]
    return PLACEHOLDER.sub(lambda found: found[0].replace(found[1], str(numbers[int(found[1])]), 1), " ".join(told))
