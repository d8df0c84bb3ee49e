"""Plans the answer along a path that answered most questions with the same words, on graphs that declare kinds.

On other graphs such a path only gains score; here a reading of the words would ignore that gain.
"""

from __future__ import annotations

from app.llm.in_house import ReadingScores
from app.llm.tasks import StepInput
from app.reader.language.answer_form import read_form
from app.reader.language.quantifiers import read_quantifier
from app.reader.plans.candidate_paths import roots_of
from app.reader.plans.next_action import SURE
from kg_store.algebra.expressions import walked_along

# The lead that is reported for a settled path, which has no competitor. Chosen by hand; not fitted.
MARGIN = 0.5


def settled_expression(given: StepInput) -> str:
    """Returns the expression of the path that earlier cases settle; empty if none does.

    The question must name exactly one thing, that thing must have the path's first hop, and nothing may be counted,
    compared or excluded.
    """
    settling = [case for case in given.cases if case.settles]
    entities, _, values = roots_of(given)
    if len(settling) != 1 or len(entities) != 1 or values:
        return ""
    root, path = entities[0].name, settling[0].path
    turned = read_quantifier(given.question)
    is_plain = not (turned.turn or turned.unread) and read_form(given.question, topics=1).form == "things"
    return walked_along(root, path) if is_plain and path[0] in given.own.get(root, ()) else ""


def scores_of_settled(given: StepInput) -> ReadingScores:
    """The scores of a settled path: certain, and far ahead of any other."""
    steps = next(len(case.path) for case in given.cases if case.settles)
    return ReadingScores("path", SURE, MARGIN, steps=steps)
