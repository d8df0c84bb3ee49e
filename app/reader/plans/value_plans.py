"""Plans answers over values: extremes, sums, filters, and which of two has more."""

from __future__ import annotations

from collections.abc import Sequence

from app.language.readings import AskedForm
from app.reader.language.relation_wording import VALUES
from app.reader.plans.candidate_paths import KnownPath, ScoredPath
from app.reader.plans.next_action import NextAction, ParsedQuestion, narrowed, numbers_of, share


def over_values(asked: ParsedQuestion) -> NextAction | None:
    """Applies the form's function to the best path whose last hop leads to values."""
    fitting = [each for each in asked.paths if each.path.concept in VALUES]
    if not fitting:
        return None
    best = fitting[0]
    before = best.path.before
    if before is None:
        # The step before it must be walked first: as a path of its own it is among the candidates.
        shorter = [
            each
            for each in asked.paths
            if each.path.steps == best.path.steps[:-1] and each.path.candidate and each.path.root == best.path.root
        ]
        return NextAction(best.score, choices=numbers_of(shorter, 1)) if shorter and not asked.last_round else None
    if asked.form.asks_truth:
        return _is_extreme(asked, best)
    things = _of_all_kinds(asked, fitting) or narrowed(asked, before, asked.ends.get(before, ""))
    return NextAction(best.score, (_function(asked.form, things, best.path),))


def _of_all_kinds(asked: ParsedQuestion, fitting: Sequence[ScoredPath]) -> str:
    """The union of all kinds with this value, for "who was born in 1984?"; empty if the question names a thing."""
    best = fitting[0].path
    if not asked.from_kinds or len(best.steps) != 1:
        return ""
    same = dict.fromkeys(each.path.root for each in fitting if each.path.steps == best.steps)
    return f"union({', '.join(same)})" if len(same) > 1 else ""


def _is_extreme(asked: ParsedQuestion, best: ScoredPath) -> NextAction | None:
    """ "Is X the smallest city?": true if X is the least of its kind."""
    thing = next((root for root in asked.roots if root.name == best.path.root), None)
    kind = next((kind for kind in asked.kinds if thing and share(kind.concept, thing.concept)), None)
    if thing is None or kind is None or len(best.path.steps) != 1:
        return None
    chosen = _function(asked.form, kind.name, best.path)
    return NextAction(best.score, (f"exists(intersect({chosen}, {thing.name}))",))


def _function(form: AskedForm, things: str, path: KnownPath) -> str:
    relation = path.steps[-1]
    if form.form == "filter":
        kept = f'filter({things}, "{relation}", {form.operator}, {form.value})'
        if form.upper:
            kept = f'filter({kept}, "{relation}", <=, {form.upper})'
        return f"{form.function}({kept})" if form.function else kept
    function = form.function if form.form == "extreme" else form.form
    return f'{function}({things}, "{relation}")'


def compare_values(asked: ParsedQuestion) -> NextAction | None:
    values = [each for each in asked.paths if each.path.concept in VALUES and len(each.path.steps) == 1]
    if len(asked.roots) < 2 or not values:
        return None
    first, second, step = asked.roots[0].name, asked.roots[1].name, values[0].path.steps[0]
    greater = f'compare({first}, {second}, "{step}")'
    least = f'argmin(union({first}, {second}), "{step}")'
    chosen = greater if asked.form.function == "argmax" else least
    if asked.form.asks_truth:
        chosen = f"exists(intersect({chosen}, {first}))"
    return NextAction(values[0].score, (chosen,))
