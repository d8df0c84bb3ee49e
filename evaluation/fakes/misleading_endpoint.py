"""MisleadingEndpoint: finds the right answer by the gold plan, then spoils it on purpose in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from app.llm.endpoint.request_body import read_step
from app.llm.tasks import AnswerInput, AnswerReply, StepInput, StepReply, TaskModel, TaskName
from evaluation.datasets.questions import QueryPlan
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from kg_store.algebra.expressions import Call, Expression, Name, parse, written

Way = Literal["wrong type", "yes for no", "negation dropped"]
WAYS: Final[tuple[Way, ...]] = ("wrong type", "yes for no", "negation dropped")
YES: Final = "Yes, that is so."
NO: Final = "No, that is not so."


@dataclass(frozen=True, slots=True)
class Corruption:
    """One way to spoil an answer; `at` counts the forms of it. `said`: the text that is told in place of the right."""

    way: Way
    at: int
    said: str = ""

    def of(self, answer: str, asked: TaskModel) -> str | None:
        """The spoilt expression; None where there is none of this form."""
        if self.said:
            return answer
        found = self.forms(self.way, answer, asked)
        return found[self.at] if self.at < len(found) else None

    @staticmethod
    def forms(way: Way, answer: str, asked: TaskModel) -> list[str]:
        """All that `answer` can be spoilt to in one way."""
        return list(dict.fromkeys(_FORMS[way](parse(answer), asked)))


class MisleadingEndpoint(ScriptedEndpoint):
    """Each question takes the next of `corruptions`; None leaves the answer right."""

    corruptions: Iterator[Corruption | None] = iter(())

    _corruption: Corruption | None = None

    def expect(self, plan: QueryPlan | None, typed: str = "") -> None:
        super().expect(plan, typed)
        self._corruption = next(self.corruptions, None)

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        reply = super().reply_to(task, block)
        if self._corruption is None or not isinstance(reply, StepReply | AnswerReply) or not reply.answer:
            return reply
        shown = read_step(block) if task == "step" else AnswerInput.model_validate_json(block)
        spoilt = self._corruption.of(reply.answer[0], shown)
        return reply if spoilt is None else reply.model_copy(update={"answer": [spoilt]})


def _wrong_types(right: Expression, asked: TaskModel) -> Iterator[str]:
    """Things for a number or a yes, a number for things, things of another kind, and all kinds for one."""
    if isinstance(right, Call) and right.function in ("count", "exists", "holds", "none", "average"):
        yield written(right.operands[0])
    else:
        yield f"count({written(right)})"
    inner = right.operands[0] if isinstance(right, Call) and right.function == "count" else right
    for other in _of_other_kinds(inner, asked):
        yield f"count({other})" if inner is not right else other
    if isinstance(inner, Call) and inner.function == "intersect":
        kept = written(inner.operands[0])
        yield f"count({kept})" if inner is not right else kept


def _of_other_kinds(right: Expression, asked: TaskModel) -> list[str]:
    """Things, sets and ways of the prompt that are of other kinds than the right answer."""
    if not isinstance(asked, StepInput | AnswerInput) or _gives_truth(right):
        return []
    ends = {fact.end: fact.end_concept for fact in asked.evidence} | {each.name: each.concept for each in asked.things}
    own = set(ends.get(_first_name(right), "").split(", "))
    others = [end for end, concept in ends.items() if own.isdisjoint(concept.split(", ")) and end[0] != "V"]
    candidates = asked.candidates if isinstance(asked, StepInput) else []
    ways = [way for way in candidates if own.isdisjoint(way.concept.split(", "))]
    return [*others[:1], *(f"way({way.number})" for way in ways[:2])]


def _gives_truth(right: Expression) -> bool:
    return isinstance(right, Call) and right.function in ("exists", "holds", "none", "average")


def _yeses(right: Expression, _asked: TaskModel) -> Iterator[str]:
    """A yes that compares less than was asked, and one turned round."""
    if not _gives_truth(right) or not isinstance(right, Call) or right.function == "average":
        return
    inner = right.operands[0]
    if right.function == "holds":
        yield f"exists({written(inner)})"
        return
    if isinstance(inner, Call):
        yield f"exists({written(inner.operands[0])})"
    turned = "exists" if right.function == "none" else "none"
    yield f"{turned}({written(inner)})"


def _undenied(right: Expression, _asked: TaskModel) -> Iterator[str]:
    """Without what is taken out, what is taken out itself, and those of the one that are of the other."""
    choices: tuple[Callable[[Call], Expression], ...] = (
        lambda call: call.operands[0],
        lambda call: call.operands[1],
        lambda call: replace(call, function="intersect"),
    )
    for choose in choices:
        changed = _without_difference(right, choose)
        if changed != right:
            yield written(changed)


def _without_difference(expression: Expression, choose: Callable[[Call], Expression]) -> Expression:
    if not isinstance(expression, Call):
        return expression
    if expression.function == "difference":
        return choose(expression)
    return replace(expression, operands=tuple(_without_difference(each, choose) for each in expression.operands))


_FORMS: Final[dict[Way, Callable[[Expression, TaskModel], Iterator[str]]]] = {
    "wrong type": _wrong_types,
    "yes for no": _yeses,
    "negation dropped": _undenied,
}


def _first_name(expression: Expression) -> str:
    return expression.pseudonym if isinstance(expression, Name) else _first_name(expression.operands[0])
