"""Plans questions with an exclusion: all members but the one that is named."""

from __future__ import annotations

from dataclasses import replace

from app.reader.language.quantifiers import Quantifier
from app.reader.plans.answer_plans import plan_of
from app.reader.plans.next_action import REFUSAL, NextAction, ParsedQuestion

_COUNTED = "count("


def plan_turned(asked: ParsedQuestion, turned: Quantifier) -> NextAction | None:
    """Plans the question without its quantifier and applies that afterwards; returns REFUSAL if this cannot be done.

    A negation is refused: without declared kinds it is unknown what it leaves over.
    """
    if not turned.turn:
        return plan_of(asked)
    if turned.turn == "negated" or asked.form.form not in ("things", "count", "filter"):
        return REFUSAL
    plan = plan_of(asked)
    if plan is None or not plan.expressions:
        return plan
    return replace(plan, expressions=tuple(_without(each, turned.thing) for each in plan.expressions))


def _without(expression: str, thing: str) -> str:
    things = expression.removeprefix(_COUNTED).removesuffix(")") if expression.startswith(_COUNTED) else expression
    left = f"difference({things}, {thing})"
    return f"count({left})" if expression.startswith(_COUNTED) else left
