"""Plans of questions that turn an answer round: all of a kind but those, the others, or no answer at all."""

from __future__ import annotations

from dataclasses import replace

from app.llm.embedded.answer_plans import plan_of
from app.llm.embedded.language.quantifiers import Quantifier
from app.llm.embedded.next_action import NextAction, ParsedQuestion
from app.llm.tasks import StepInput, Thing

_COUNTED = "count("


def plan_turned(asked: ParsedQuestion, turned: Quantifier, given: StepInput) -> NextAction | None:
    """The plan of the question without its quantifier, turned round; `unread` where that can't be done."""
    if not turned.turn:
        return plan_of(asked)
    if asked.form.form not in ("things", "count", "filter"):
        return NextAction(0.0, unread=turned.word)
    if turned.turn == "negated" and asked.target is None:
        return NextAction(0.0, unread=turned.word)
    plan = plan_of(asked)
    if plan is None or not plan.expressions:
        return plan
    left = _left_out(plan, turned, given)
    if not left and turned.turn != "negated":
        return plan
    return replace(plan, expressions=tuple(_turned(each, asked, turned, left) for each in plan.expressions))


def _turned(expression: str, asked: ParsedQuestion, turned: Quantifier, left: str) -> str:
    things = expression.removeprefix(_COUNTED).removesuffix(")") if expression.startswith(_COUNTED) else expression
    if turned.turn == "negated" and asked.target is not None:
        things = f"difference({asked.target.name}, {things})"
    else:
        things = f"difference({things}, {left})"
    return f"count({things})" if expression.startswith(_COUNTED) else things


def _left_out(plan: NextAction, turned: Quantifier, given: StepInput) -> str:
    """Things that are left out: the one that is named, or those that were spoken of."""
    if turned.turn == "except":
        return turned.thing
    root = plan.path.root if plan.path else ""
    spoken = [thing.name for thing in given.things if _is_one(thing) and thing.name != root]
    return spoken[0] if len(spoken) == 1 else f"union({', '.join(spoken)})" if spoken else ""


def _is_one(thing: Thing) -> bool:
    return thing.name[0] == "E"
