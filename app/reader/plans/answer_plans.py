"""Turns scored paths into an answer of the form that was asked: things, counts, extremes, filters, comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from app.language.readings import AskedForm
from app.llm.tasks import Thing
from app.reader.language.question_words import content_words
from app.reader.language.relation_wording import VALUES
from app.reader.plans.candidate_paths import KnownPath, ScoredPath
from app.reader.plans.next_action import (
    REFUSAL,
    SURE,
    YES_OR_NO,
    NextAction,
    ParsedQuestion,
    narrowed,
    numbers_of,
)
from app.reader.plans.pair_plans import conjunction
from app.reader.plans.truth_plans import plan_truth
from app.reader.plans.value_plans import compare_values, over_values
from app.reader.scoring.alignment import is_inverse_of
from kg_store.algebra.expressions import walked_along
from kg_store.text.inflection import singular

# An answer in hand beats a longer path that fits equally well: a tie-break, chosen by hand; not fitted.
ANSWER_BONUS = 0.01
UNCOUNTED = VALUES | {YES_OR_NO}


def plan_of(asked: ParsedQuestion) -> NextAction | None:
    """Returns the next action, or None if no path fits the form of the question."""
    form = asked.form.form
    if asked.from_kinds and asked.kinds and (whole := answer_whole_concept(asked.form, asked.kinds[0])):
        return whole
    if form == "compare":
        return compare_values(asked)
    if form == "than":
        return REFUSAL
    if form == "extreme" and asked.voted is not None:
        # The offered values belong to the named thing itself, and one thing has no extremes.
        return plan_things(asked)
    if form in ("extreme", "average", "sum", "filter"):
        return over_values(asked) or plan_things(asked)
    if form == "per_group":
        return _per_group(asked)
    if form == "truth":
        return plan_truth(asked) or (None if asked.both_named or asked.values else plan_things(asked))
    if asked.both_named:
        return conjunction(asked) or plan_things(asked)
    return plan_things(asked)


def answer_whole_concept(form: AskedForm, kind: Thing) -> NextAction | None:
    """Lists or counts everything of a kind, if the question says no more than the kind's word; else None."""
    said = {singular(word.lower()) for word in content_words(form.rest)}
    if form.form not in ("things", "count") or said != {singular(word) for word in kind.concept.lower().split()}:
        return None
    return NextAction(SURE, (f"count({kind.name})" if form.form == "count" else kind.name,))


def plan_things(asked: ParsedQuestion) -> NextAction | None:
    """Answers with the end of the best path; a path not walked yet is followed first if it scores
    ANSWER_BONUS more.
    """
    paths = _answering(asked)
    walked = next((each for each in paths if each.path.end is not None), None)
    offered = [each for each in paths if each.path.candidate is not None]
    if walked and (asked.last_round or not offered or walked.score + ANSWER_BONUS >= offered[0].score):
        return _answer(asked, walked)
    if asked.last_round or not offered:
        return None
    return NextAction(offered[0].score, choices=numbers_of(offered, asked.width))


def _answering(asked: ParsedQuestion) -> Sequence[ScoredPath]:
    """For a count, the paths to things that can be counted, if there are any; otherwise all paths."""
    if asked.form.form != "count":
        return asked.paths
    return [each for each in asked.paths if each.path.concept not in UNCOUNTED] or asked.paths


def _answer(asked: ParsedQuestion, scored: ScoredPath) -> NextAction:
    path, form = scored.path, asked.form.form
    things = _of_kind(asked, path)
    if form == "count" and path.concept != "number":
        things = f"count({things})"
    if form == "truth":
        things = f"holds({things})" if path.concept == YES_OR_NO else f"exists({things})"
    return NextAction(scored.score, (things,))


def _of_kind(asked: ParsedQuestion, path: KnownPath) -> str:
    """The end of `path`, narrowed to the kind that the question names if the end holds other kinds too."""
    return narrowed(asked, _without_root(path) or path.end or "", path.concept)


def _without_root(path: KnownPath) -> str | None:
    """The end of a path that goes out and back ("films of X's director"), without X itself; None for other paths."""
    if path.root[0] != "E" or len(path.steps) < 3 or not is_inverse_of(path.steps[1], path.steps[0]):
        return None
    done, name = max(waypoint for waypoint in path.waypoints if waypoint[0] <= 2)
    there_and_back = walked_along(name, path.steps[done:2])
    return walked_along(f"difference({there_and_back}, {path.root})", path.steps[2:])


def _per_group(asked: ParsedQuestion) -> NextAction | None:
    concepts = {kind.concept for kind in asked.kinds}
    single = [each for each in asked.paths if len(each.path.steps) == 1]
    fitting = [each for each in single if each.path.concept in concepts] or single
    if not fitting:
        return None
    best = fitting[0]
    return NextAction(best.score, (f'group({best.path.root}, "{best.path.steps[0]}")',))
