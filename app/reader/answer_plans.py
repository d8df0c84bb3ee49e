"""Turns the best path of a question into an expression that answers it: its end, a count, yes or no, a value, or an
intersection of two paths.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from app.language.readings import AskedForm
from app.llm.in_house import VotedPaths
from app.llm.tasks import Thing
from app.reader.language.answer_form import Quantifier
from app.reader.language.question_words import content_words
from app.reader.language.relation_wording import VALUES
from app.reader.scoring.candidate_paths import (
    REFUSAL,
    SURE,
    YES_OR_NO,
    KnownPath,
    NextAction,
    ParsedQuestion,
    ScoredPath,
    is_voted,
    narrowed,
    numbers_of,
    parts_of,
    share,
)
from app.reader.scoring.hop_table import is_inverse_of
from kg_store.algebra.expressions import walked_along
from kg_store.text.english import kind_words
from kg_store.text.inflection import singular

# Gain of a pair of paths, because each of the two can explain only half of the words. For each thing, at most _PAIRED
# paths are tried. Chosen by hand.
HALF_OF_WORDS = 0.3
_PAIRED = 12
# Greatest difference between the scores of two paths that are intersected after a vote. At this difference the vote
# makes a path a tenth as likely: 0.2 * ln(10), where 0.2 is the temperature of the vote (docs/performance.md).
MAX_BEHIND = 0.46


def conjunction(asked: ParsedQuestion) -> NextAction | None:
    """Intersects the end of a path from the first named thing with the end of a path from the second.

    Both paths must lead to the same concept; the pair with the highest scores is taken. Returns None if there is no
    such pair.
    """
    if asked.voted is not None:
        return _of_voted(asked, asked.voted)
    pairs = [
        (first, second)
        for first in _of_root(asked, asked.roots[0].name)
        for second in _of_root(asked, asked.roots[1].name)
        if share(first.path.concept, second.path.concept)
    ]
    if not pairs:
        return None
    best = max(pairs, key=lambda pair: (round(pair[0].score + pair[1].score, 4), -_length(pair)))
    return _shared(asked, best)


def _of_voted(asked: ParsedQuestion, voted: VotedPaths) -> NextAction | None:
    """Intersects the best path from one thing with the best path from another; both lead to the winner of the vote.

    The winner is the thing to which the likeliest paths lead (see `VotedPaths`). Returns None if only one thing has
    such a path, or if the second path scores much lower than the first.
    """
    held = [each for each in asked.paths if is_voted(each, voted)]
    sorting = next((each for each in held if (each.path.root, *each.path.steps) == voted.sorting), None)
    if sorting is not None:
        best = next((each for each in held if each.path.root != sorting.path.root), None)
        return _shared(asked, (best, sorting)) if best else None
    other = next((each for each in held if each.path.root != held[0].path.root), None)
    if other is None or held[0].score - other.score > MAX_BEHIND:
        return None
    return _shared(asked, (held[0], other))


def _shared(asked: ParsedQuestion, best: tuple[ScoredPath, ScoredPath]) -> NextAction | None:
    # Each path explains only its half of the words and is charged for the other half, so HALF_OF_WORDS is given back.
    score = max(each.score for each in best) + HALF_OF_WORDS
    open_ways = [each for each in best if each.path.end is None]
    if open_ways:
        return NextAction(score, choices=numbers_of(open_ways, asked.width)) if not asked.last_round else None
    whole = f"intersect({best[0].path.end}, {best[1].path.end})"
    return NextAction(score, (f"count({whole})" if asked.form.form == "count" else whole,))


def _of_root(asked: ParsedQuestion, root: str) -> list[ScoredPath]:
    """Returns the best paths from `root`, at most _PAIRED: single steps if there are any, else longer paths.

    Where a question names two things, longer paths score too high: words about the other thing seem to fit their
    steps.
    """
    mine = [each for each in asked.paths if each.path.root == root]
    return [each for each in mine if len(each.path.steps) == 1][:_PAIRED] or mine[:_PAIRED]


def _length(pair: tuple[ScoredPath, ScoredPath]) -> int:
    return sum(len(each.path.steps) for each in pair)


_IS_A = re.compile(r"^\s*(\w+)\s+(?:an?|the|one of the)?\s*([a-z][a-z ]*?)\s*\??\s*$")


def plan_truth(asked: ParsedQuestion) -> NextAction | None:
    """Returns the plan of a yes/no question, or None if no path fits.

    Tries these readings in order: is X of a kind; does X have this value; does a path join the two named things.
    """
    if (of_kind := _is_of_kind(asked)) is not None:
        return of_kind
    if asked.values:
        return _equals(asked, asked.values[0])
    if not asked.both_named:
        return None
    first, second = asked.roots[0], asked.roots[1]
    fitting = [
        each
        for each in asked.paths
        if each.path.root == first.name
        and share(each.path.concept, second.concept)
        and not _shares_twice(each.path.steps)
    ]
    if not fitting:
        return None
    best = fitting[0]
    ways = [best, *_turned(best, fitting)] if _are_joined(first, second, asked.form.rest) else [best]
    open_ways = [each for each in ways if each.path.end is None]
    if open_ways:
        return NextAction(best.score, choices=numbers_of(open_ways, len(ways))) if not asked.last_round else None
    reached = str(ways[0].path.end) if len(ways) == 1 else f"union({ways[0].path.end}, {ways[1].path.end})"
    return NextAction(best.score, (f"exists(intersect({reached}, {second.name}))",))


def _shares_twice(steps: Sequence[str]) -> bool:
    """Returns True for a path there and back along a relation that says "together" itself, such as played together.

    "Did X and Y play together" does not ask whether both played with a third.
    """
    back = any(is_inverse_of(then, step) for step, then in pairwise(steps))
    return back and any("together" in step.split() for step in steps)


def _are_joined(first: Thing, second: Thing, question: str) -> bool:
    """Returns True for "did X and Y play together": neither is said to be the one who does it to the other."""
    return any(f"{one.name} and {other.name}" in question for one, other in ((first, second), (second, first)))


def _turned(best: ScoredPath, paths: Sequence[ScoredPath]) -> list[ScoredPath]:
    """Returns the path along the relation of `best`, one step, in the other direction; an empty list without any."""
    if len(best.path.steps) != 1:
        return []
    others = (each for each in paths if len(each.path.steps) == 1)
    return [each for each in others if is_inverse_of(each.path.steps[0], best.path.steps[0])][:1]


def _is_of_kind(asked: ParsedQuestion) -> NextAction | None:
    """Plans "Is X a doctor?" from the concept of X; returns None if the graph has no things of that kind."""
    found = _IS_A.match(asked.form.rest)
    thing = next((root for root in asked.roots if found and root.name == found[1]), None)
    if found is None or thing is None:
        return None
    said = " ".join(map(singular, found[2].lower().split()))
    if not kind_words(said).isdisjoint(parts_of(thing.concept.lower())):
        return NextAction(SURE, (f"exists({thing.name})",))
    if any(not kind_words(said).isdisjoint(parts_of(kind.concept.lower())) for kind in asked.kinds):
        return NextAction(SURE, (f"exists(difference({thing.name}, {thing.name}))",))
    return None


def _equals(asked: ParsedQuestion, value: Thing) -> NextAction | None:
    """Plans "Was X opened in 2001?": true if a value of X equals the one in the question."""
    roots = [root for root in asked.roots if root.name != value.name]
    fitting = [
        each
        for each in asked.paths
        if roots and each.path.root == roots[0].name and _may_equal(each.path.concept, value.concept)
    ]
    if not fitting:
        return None
    path = fitting[0].path
    if path.before is None:
        shorter = [each for each in asked.paths if each.path.root == path.root and each.path.steps == path.steps[:-1]]
        open_ways = numbers_of([*shorter, fitting[0]], 1)
        return None if asked.last_round or not open_ways else NextAction(fitting[0].score, choices=open_ways)
    kept = f'filter({path.before}, "{path.steps[-1]}", {asked.form.operator or "="}, {value.name})'
    return NextAction(fitting[0].score, (f"exists({kept})",))


def _may_equal(concept: str, value: str) -> bool:
    """Returns True if values of `concept` may equal one of type `value`; a year may stand for a date or a number."""
    return concept in VALUES | {"text"} and (concept == value or {concept, value} <= {"date", "year", "number"})


def over_values(asked: ParsedQuestion) -> NextAction | None:
    """Applies the function of the form (such as argmax or sum) to the values at the end of the best path.

    Only paths whose last step leads to values count; returns None if there is none. If the steps before the last one
    have not been walked, the action follows them first.
    """
    fitting = [each for each in asked.paths if each.path.concept in VALUES]
    if not fitting:
        return None
    best = fitting[0]
    before = best.path.before
    if before is None:
        # The steps before the last one must be followed first; the path that they make is itself a candidate.
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
    """Returns the union of all kinds that have the value asked about: people and dogs for "who was born in 1984?".

    `fitting`: the paths that lead to values, best first. Empty if the question names a thing, if the best path has
    more than one step, or if only one kind has the value.
    """
    best = fitting[0].path
    if not asked.from_kinds or len(best.steps) != 1:
        return ""
    same = dict.fromkeys(each.path.root for each in fitting if each.path.steps == best.steps)
    return f"union({', '.join(same)})" if len(same) > 1 else ""


def _is_extreme(asked: ParsedQuestion, best: ScoredPath) -> NextAction | None:
    """Plans "Is X the smallest city?": true if X has the least value of its kind (for "largest", the greatest)."""
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


# A tie-break: a path that has been walked wins over one that would have to be followed and fits equally well. Chosen
# by hand; not fitted.
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
        # After a vote, the offered values belong to the named thing itself, so there is no set to choose from.
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
    """Lists or counts all things of a kind; returns None if the question says more than the word for that kind."""
    said = {singular(word.lower()) for word in content_words(form.rest)}
    if form.form not in ("things", "count") or said != {singular(word) for word in kind.concept.lower().split()}:
        return None
    return NextAction(SURE, (f"count({kind.name})" if form.form == "count" else kind.name,))


def plan_things(asked: ParsedQuestion) -> NextAction | None:
    """Returns the action that answers with the end of the best walked path, or that follows unwalked paths first.

    Unwalked paths (candidates) are followed if no path has been walked, or if the best of them scores more than
    ANSWER_BONUS higher. In the last round nothing is followed. Returns None if there is nothing to answer or follow.
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
    """Returns the paths that may answer: for a count, those that lead to countable things if there are any.

    "When" is not answered by a thing of no kind, which nothing shows to be a time.
    """
    if asked.form.rest.lower().startswith("when "):
        return [each for each in asked.paths if each.path.concept != "thing"]
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
    """Returns the end of `path`, narrowed to the kind that the question names if the end holds other kinds too."""
    return narrowed(asked, _without_root(path) or path.end or "", path.concept)


def _without_root(path: KnownPath) -> str | None:
    """Returns the end of a path that goes out and back ("films of X's director"), leaving out X on the way.

    Returns None for other paths.
    """
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


_COUNTED = "count("


def plan_turned(asked: ParsedQuestion, turned: Quantifier) -> NextAction | None:
    """Plans a question with an exclusion: plans its other words, then leaves the excluded thing out of the answer.

    Returns REFUSAL for a negation ("not"), because without declared kinds it is unknown from which set things are left
    out. Also returns REFUSAL for forms that allow no exclusion, such as a superlative.
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
