"""Plans over values: extremes, sums, filters, and which of two has more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.llm.embedded.candidate_paths import KnownPath, ScoredPath
from app.llm.embedded.count_plans import more_of, most_of
from app.llm.embedded.language.answer_form import AskedForm, read_asked_kind
from app.llm.embedded.language.relation_wording import VALUES, readable
from app.llm.embedded.next_action import SURE, NextAction, ParsedQuestion, narrowed, numbers_of, share

_AGES = frozenset({"birth", "born", "age", "birthday", "birthdate", "dob"})
_SIZES = frozenset(
    "size area population beds capacity seats number employees length height floors inhabitants".split()
)
_AGED = {"argmin": "argmax", "argmax": "argmin", "min": "max", "max": "min"}
"""A high age is an early date of birth."""


def over_values(asked: ParsedQuestion) -> NextAction | None:
    """Paths whose last step leads to values: the function works on what that step leaves from."""
    if asked.exact and (counted := most_of(asked)) is not None:
        return counted
    fitting = [each for each in asked.paths if each.path.concept in VALUES]
    if asked.exact and asked.form.form == "extreme" and not asked.form.asks_truth:
        fitting = [each for each in fitting if _has_several(asked, each)]
    fitting = measured(fitting, asked.form)
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
    things = (
        _of_all_kinds(asked, fitting)
        or _all_named(asked, best.path)
        or narrowed(asked, before, asked.ends.get(before, ""))
    )
    chosen = _function(asked.form, things, best.path)
    return NextAction(best.score, (_whose(asked, chosen, best.path),), path=best.path)


def _whose(asked: ParsedQuestion, chosen: str, path: KnownPath) -> str:
    """ "Who was admitted in 2026?" asks for those who have the admissions."""
    if not asked.exact or not asked.from_kinds or read_asked_kind(asked.form.rest).wh != "who":
        return chosen
    if asked.form.form not in ("filter", "extreme") or asked.form.function not in ("", "argmax", "argmin"):
        return chosen
    having = [each.path.steps[0] for each in asked.paths if each.path.root == path.root and len(each.path.steps) == 1]
    joined = {step.rpartition("|")[2] for each in asked.paths for step in each.path.steps if "|" in step}
    owner = next((step for step in having if step.startswith("^has ") and step in joined), "")
    return f'reach({chosen}, "{owner}")' if owner and len(path.steps) == 1 else chosen


def _has_several(asked: ParsedQuestion, scored: ScoredPath) -> bool:
    """The greatest of one thing is no answer, nor is one of another kind than was asked for."""
    before = scored.path.before
    if before is None:
        return True
    if asked.form.function in ("min", "max"):
        return before[0] != "E" or before == scored.path.root
    return before[0] != "E" and (asked.target is None or share(asked.ends.get(before, ""), asked.target.concept))


def _all_named(asked: ParsedQuestion, path: KnownPath) -> str:
    """ "The combined population of X and Y" is that of both; else empty."""
    named = [root.name for root in asked.roots if root.name[0] == "E"]
    both = asked.exact and asked.form.form in ("sum", "average") and len(named) > 1 and path.before in named
    return f"union({', '.join(named)})" if both else ""


def _of_all_kinds(asked: ParsedQuestion, fitting: Sequence[ScoredPath]) -> str:
    """ "Who was born in 1984?" asks for everybody, whatever kinds the graph has of them; else empty."""
    best = fitting[0].path
    if not asked.from_kinds or asked.target or len(best.steps) != 1:
        return ""
    same = dict.fromkeys(each.path.root for each in fitting if each.path.steps == best.steps)
    return f"union({', '.join(same)})" if len(same) > 1 else ""


def _is_extreme(asked: ParsedQuestion, best: ScoredPath) -> NextAction | None:
    """ "Is X the smallest city?": is it the one that has the least of all of its kind?"""
    thing = next((root for root in asked.roots if root.name == best.path.root), None)
    kind = next((kind for kind in asked.kinds if thing and share(kind.concept, thing.concept)), None)
    if thing is None or kind is None or len(best.path.steps) != 1:
        return None
    chosen = _function(asked.form, kind.name, best.path)
    return NextAction(best.score, (f"exists(intersect({chosen}, {thing.name}))",), path=best.path)


def measured(fitting: list[ScoredPath], form: AskedForm) -> list[ScoredPath]:
    """Of paths to values those that tell what "oldest" and "bigger" measure; all where it is said otherwise."""
    if not form.measure:
        return fitting
    concepts = {"date", "year", "age"} if form.measure == "age" else {"number"}
    words = _AGES if form.measure == "age" else _SIZES
    possible = [each for each in fitting if each.path.concept in concepts or _has(each, _AGES & words)]
    shortest = min((len(each.path.steps) for each in possible), default=0)
    named = [each for each in possible if _has(each, words) and len(each.path.steps) == shortest]
    alone = {each.path.steps for each in possible if len(each.path.steps) == shortest}
    chosen = named or (possible if len(alone) == 1 else [])
    return [replace(each, score=max(each.score, SURE)) for each in chosen]


def _has(scored: ScoredPath, words: frozenset[str]) -> bool:
    return not words.isdisjoint(readable(scored.path.steps[-1]).lower().split())


def _function(form: AskedForm, things: str, path: KnownPath) -> str:
    relation = path.steps[-1]
    if form.form == "filter":
        kept = f'filter({things}, "{relation}", {form.operator}, {form.value})'
        if form.upper:
            kept = f'filter({kept}, "{relation}", <=, {form.upper})'
        return f"{form.function}({kept})" if form.function else kept
    function = form.function if form.form == "extreme" else form.form
    if form.measure == "age" and path.concept in ("number", "age"):
        function = _AGED.get(function, function)
    return f'{function}({things}, "{relation}")'


def compare_values(asked: ParsedQuestion) -> NextAction | None:
    values = [each for each in asked.paths if each.path.concept in VALUES and len(each.path.steps) == 1]
    values = measured(values, asked.form)
    if len(asked.roots) < 2:
        return None
    if asked.exact and (counted := more_of(asked)) is not None:
        return counted
    first, second = asked.roots[0].name, asked.roots[1].name
    if not values:
        return None
    path, function = values[0].path, asked.form.function
    if asked.form.measure == "age" and path.concept in ("number", "age"):
        function = _AGED[function]
    greater = f'compare({first}, {second}, "{path.steps[0]}")'
    least = f'argmin(union({first}, {second}), "{path.steps[0]}")'
    chosen = greater if function == "argmax" else least
    if asked.form.asks_truth:
        chosen = f"exists(intersect({chosen}, {first}))"
    return NextAction(values[0].score, (chosen,), path=path)


def than_thing(asked: ParsedQuestion) -> NextAction | None:
    """ "Wards with fewer beds than X": those whose value compares so with that of X."""
    if asked.target is None:
        return NextAction(0.0, unread=asked.form.word)
    own = [each for each in asked.paths if each.path.concept in VALUES and len(each.path.steps) == 1]
    fitting = measured(own, asked.form)
    if not fitting:
        return NextAction(0.0, unread=asked.form.word)
    path, function = fitting[0].path, asked.form.function
    if asked.form.measure == "age" and path.concept in ("number", "age"):
        function = _AGED[function]
    relation, operator = path.steps[0], ">" if function == "argmax" else "<"
    value = f'reach({path.root}, "{relation}")'
    return NextAction(
        fitting[0].score, (f'filter({asked.target.name}, "{relation}", {operator}, {value})',), path=path
    )
