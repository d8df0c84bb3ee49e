"""From scored paths to an answer of the form that was asked: things, counts, extremes, filters, comparisons."""

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
from kg_store.algebra.rewriting import walked_along
from kg_store.text.plurals import singular

# An answer in hand is worth a little more than a longer way that fits equally well.
ANSWER_BONUS = 0.01
UNCOUNTED = VALUES | {YES_OR_NO}


def plan_of(asked: ParsedQuestion) -> NextAction | None:
    """The next move, or None when no path fits the form."""
    form = asked.form.form
    if asked.from_kinds and asked.kinds and (whole := answer_whole_concept(asked.form, asked.kinds[0])):
        return whole
    if form == "compare":
        return compare_values(asked)
    if form == "than":
        return REFUSAL
    if form == "extreme" and asked.voted is not None:
        # The values on offer are of what is named itself, and one thing has no extremes.
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
    """Everything of a kind, listed or counted, where the question says no more than the kind's word."""
    said = {singular(word.lower()) for word in content_words(form.rest)}
    if form.form not in ("things", "count") or said != {singular(word) for word in kind.concept.lower().split()}:
        return None
    return NextAction(SURE, (f"count({kind.name})" if form.form == "count" else kind.name,))


def plan_things(asked: ParsedQuestion) -> NextAction | None:
    """The end of the best path; a way that is not walked yet must be better than what is in hand."""
    paths = _answering(asked)
    walked = next((each for each in paths if each.path.end is not None), None)
    offered = [each for each in paths if each.path.candidate is not None]
    if walked and (asked.last_round or not offered or walked.score + ANSWER_BONUS >= offered[0].score):
        return _answer(asked, walked)
    if asked.last_round or not offered:
        return None
    return NextAction(offered[0].score, choices=numbers_of(offered, asked.width))


def _answering(asked: ParsedQuestion) -> Sequence[ScoredPath]:
    """Paths to what can be counted, where there are any and a count is asked for; else all."""
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
    """The end of `path`, within the kind that the question names where it holds other kinds as well."""
    return narrowed(asked, _without_root(path) or path.end or "", path.concept)


def _without_root(path: KnownPath) -> str | None:
    """`films of X's director, and their genres`: what goes there and back goes on from all but X. Else None."""
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
