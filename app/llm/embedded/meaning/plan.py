"""The next action for a question whose meaning is known: the ways that it speaks of are followed, then it answers."""

from __future__ import annotations

from app.llm.embedded.meaning.read_meaning import ReadMeaning
from app.llm.embedded.meaning.reading import operands_of
from app.llm.embedded.plans.next_action import SURE, NextAction, walked_along
from app.llm.tasks import StepInput


def plan_meaning(found: ReadMeaning | None, given: StepInput, answers_unsure: bool = False) -> NextAction | None:
    """None where no meaning is sure; with `answers_unsure` one that leaves nothing over is enough."""
    if found is None or not (found.is_sure or (answers_unsure and found.is_whole)):
        return None
    text = found.meaning.expression
    for fact in sorted(given.evidence, key=lambda each: -len(each.path)):
        text = text.replace(walked_along(fact.start, fact.path), fact.end)
    ways = [way for way in given.candidates if walked_along(way.start, way.path) in text]
    if ways and not given.last_round:
        longest = sorted(ways, key=lambda way: -len(way.path))
        return NextAction(SURE, choices=tuple(way.number for way in longest[: given.width]))
    # Which of two sets has more members is told with their numbers.
    numbers = [f"count({each})" for each in operands_of(text)] if text.startswith("outnumbers(") else []
    return NextAction(SURE, (text, *numbers), scores=found.scores)
