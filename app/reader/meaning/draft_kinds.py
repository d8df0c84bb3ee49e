"""Works out the kind of result of a draft's expressions, from the facts in its prompt and from the schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.language.readings import NUMBER, TABLE, TRUTH, UNKNOWN, ResultKind
from app.llm.tasks import Candidate, Evidence, Thing
from app.reader.meaning.schema_graph import SchemaGraph, SchemaHop
from kg_store.algebra.expressions import PERIODS, THEN, Call, Expression, Name
from kg_store.text.inflection import singular

_SAME: Final = frozenset("filter matching argmax argmin most fewest having sort limit difference".split())


@dataclass(slots=True)
class _Shown:
    of: ResultKind
    starts: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


class DraftKinds:
    """Looks up the kinds of everything that one prompt shows.

    Each is found by its word in expressions: a thing by its pseudonym, candidate 3 by `way3`.
    """

    def __init__(
        self,
        graph: SchemaGraph,
        things: Iterable[Thing],
        evidence: Iterable[Evidence],
        candidates: Iterable[Candidate] = (),
        relations: Iterable[tuple[str, str]] = (),
    ) -> None:
        things, evidence = list(things), list(evidence)
        self._leads = list(relations)
        self._concepts = {each.name: each.concept for each in things} | {
            each.end: each.end_concept for each in evidence
        }
        self._hops: dict[str, list[SchemaHop]] = {}
        for hop in graph.hops:
            self._hops.setdefault(hop.label, []).append(hop)
        self._graph, self._shown = graph, dict[str, _Shown]()
        for thing in things:
            self._shown[thing.name] = _Shown(self._told(thing.name, thing.concept))
        for fact in evidence:
            self._see(fact.end, fact.start, fact.path, fact.end_concept)
        for way in candidates:
            self._see(f"way{way.number}", way.start, way.path, way.concept)
        labels = [label for each in self._shown.values() for label in each.labels]
        self.label_words = frozenset(word for label in labels for word in words_of(label))
        """The words, in the singular, of the last relation of each fact and candidate in the prompt."""

    def of(self, expression: Expression) -> ResultKind:
        """Returns the concepts or the value type of the result of `expression`; UNKNOWN if they cannot be found."""
        if isinstance(expression, Name):
            found = self._shown.get(expression.pseudonym)
            return found.of if found else UNKNOWN
        function = expression.function
        if function in ("exists", "none", "holds", "outnumbers"):
            return ResultKind(value=TRUTH)
        if function in ("count", "sum", "average", "minus"):
            return ResultKind(value=NUMBER)
        if function in ("group", "sums", "averages"):
            return ResultKind(value=TABLE)
        if function == "pairs":
            return UNKNOWN
        if function == "kind":
            return ResultKind(value="text")
        if function == "limit" and self.of(expression.operands[0]).value == TABLE:
            return self._grouped_by(expression.operands[0])
        operands = [self.of(each) for each in expression.operands]
        if function in ("min", "max"):
            along = self._by_label(expression.words[0], operands[0].kinds) if expression.words else UNKNOWN
            return ResultKind(value=along.value)
        if function == "reach":
            return self._by_label(expression.words[0], operands[0].kinds)
        if function in _SAME:
            return operands[0]
        return _shared(operands) if function == "intersect" else _joined(operands)

    def _grouped_by(self, table: Expression) -> ResultKind:
        """Returns the kind of things in a table's rows, of which the first is what has most."""
        assert isinstance(table, Call)
        if not set(PERIODS).isdisjoint(table.words):
            return ResultKind(value=TABLE)
        return self._by_label(table.words[0].rpartition(f" {THEN} ")[2], frozenset())

    def concepts_of(self, expression: Expression) -> frozenset[str]:
        """Returns what the prompt says of the kinds of a name's things, or of what `reach` leads to, rows as well."""
        if isinstance(expression, Name):
            told = [self._concepts.get(expression.pseudonym, "")]
        else:
            told = [ends for label, ends in self._leads if label == expression.words[0]]
        kinds = frozenset(kind for each in told if each for kind in each.split(", "))
        return kinds | self.of(expression).kinds

    def is_kind(self, name: str) -> bool:
        """Returns True if the prompt shows `name` as a set to which no fact leads, such as all things of a kind."""
        return name[0] == "S" and name in self._shown and not self._shown[name].starts

    def lineage(self, names: Iterable[str]) -> frozenset[str]:
        """Returns `names` and every thing from which facts of the prompt lead to one of them, in one step or more."""
        found, queue = set[str](), list(names)
        while queue:
            name = queue.pop()
            if name not in found:
                found.add(name)
                queue += self._shown[name].starts if name in self._shown else []
        return frozenset(found)

    def last_words(self, expression: Expression) -> list[frozenset[str]]:
        """Returns the words of the label of each relation that `expression` may end with, in the singular."""
        if isinstance(expression, Name):
            found = self._shown.get(expression.pseudonym)
            return [words_of(label) for label in found.labels] if found else []
        if expression.function in ("reach", "min", "max") and expression.words:
            return [words_of(expression.words[0])]
        return self.last_words(expression.operands[0])

    def _see(self, end: str, start: str, path: Sequence[str], concept: str) -> None:
        last = path[-1] if path else ""
        of = self._told(end, concept)
        if not of.is_known or of.value:
            of = self._by_label(last, frozenset()) if last else of
        seen = self._shown.setdefault(end, _Shown(of))
        seen.of = _joined([seen.of, of])
        seen.starts.append(start)
        seen.labels.append(last)

    def _told(self, name: str, concept: str) -> ResultKind:
        """Returns the kind that the prompt states for `name`, or UNKNOWN if the schema does not have that concept."""
        told = frozenset(concept.split(", "))
        if told <= self._graph.kinds.keys():
            return ResultKind(told)
        return ResultKind(value=concept) if name[0] == "V" else UNKNOWN

    def _by_label(self, label: str, kinds: frozenset[str]) -> ResultKind:
        hops = self._hops.get(label, [])
        hops = [hop for hop in hops if hop.kind in kinds] or hops
        if not hops or any(bool(hop.value) != bool(hops[0].value) for hop in hops):
            return UNKNOWN
        if hops[0].value:
            return ResultKind(value=hops[0].value)
        ends = frozenset[str]().union(*(hop.ends for hop in hops))
        return ResultKind(ends) if ends <= self._graph.kinds.keys() else UNKNOWN


def _shared(operands: Sequence[ResultKind]) -> ResultKind:
    """Returns the kind of an intersection: the concepts that all operands share. Ignores operands of unknown kind."""
    known = [each for each in operands if each.is_known]
    if not known:
        return UNKNOWN
    kinds = frozenset[str].intersection(*(each.kinds for each in known))
    return ResultKind(kinds) if kinds else max(known, key=lambda each: bool(each.value))


def _joined(operands: Sequence[ResultKind]) -> ResultKind:
    if not all(each.is_known for each in operands) or len({each.value for each in operands}) > 1:
        return UNKNOWN
    return ResultKind(frozenset[str]().union(*(each.kinds for each in operands)), operands[0].value)


def words_of(label: str) -> frozenset[str]:
    """Returns the words of the last part of a relation's label, in the singular."""
    last = label.split("|")[-1].lstrip("^")
    return frozenset(singular(word.casefold()) for word in last.split())
