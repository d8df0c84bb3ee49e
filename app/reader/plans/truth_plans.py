"""Plans yes/no questions: is it of a kind, has it a value, does a path join two things, is there anything."""

from __future__ import annotations

import re

from app.llm.tasks import Thing
from app.reader.language.relation_wording import VALUES
from app.reader.plans.next_action import SURE, NextAction, ParsedQuestion, numbers_of, parts_of, share
from kg_store.text.english import kind_words
from kg_store.text.inflection import singular

_IS_A = re.compile(r"^\s*(\w+)\s+(?:an?|the|one of the)?\s*([a-z][a-z ]*?)\s*\??\s*$")


def plan_truth(asked: ParsedQuestion) -> NextAction | None:
    """Returns the plan of a yes/no question, or None if no path fits.

    Tries, in this order: is X of a kind; has X this value; does a path join the two named things; is the end of the
    best path non-empty or true.
    """
    if (of_kind := _is_of_kind(asked)) is not None:
        return of_kind
    if asked.values:
        return _equals(asked, asked.values[0])
    if not asked.both_named:
        return None
    first, second = asked.roots[0], asked.roots[1]
    fitting = [
        each for each in asked.paths if each.path.root == first.name and share(each.path.concept, second.concept)
    ]
    if not fitting:
        return None
    best = fitting[0]
    if best.path.end is not None:
        return NextAction(best.score, (f"exists(intersect({best.path.end}, {second.name}))",))
    return NextAction(best.score, choices=numbers_of([best], 1)) if not asked.last_round else None


def _is_of_kind(asked: ParsedQuestion) -> NextAction | None:
    """ "Is X a doctor?" by X's concept, if the graph has things of the kind; else None."""
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
    """ "Was X opened in 2001?": true if X's value equals the one in the question."""
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
    """True if values of `concept` may equal one of type `value`; a year may be given for a date or a number."""
    return concept in VALUES | {"text"} and (concept == value or {concept, value} <= {"date", "year", "number"})
