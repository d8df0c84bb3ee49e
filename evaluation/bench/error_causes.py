"""Why an answer is wrong, as far as its paths and the gold plan tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from app.reader.plans.candidate_paths import ScoredPath
from client_sdk.answers.answer import Answer
from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.path_trail import PathTrail, folded_steps
from evaluation.datasets.questions import Question

Cause = Literal[
    "no answer came",
    "answered though unanswerable",
    "linking missed",
    "linking ambiguous",
    "right path not offered",
    "refused though answerable",
    "refused though the gold path came first",
    "wrong form",
    "one hop too many",
    "one hop too few",
    "wrong direction",
    "started elsewhere",
    "a leg missing or added",
    "wrong kind of answer",
    "wrong relation",
    "right path, went on from the topic itself",
    "right path, gold differs from the graph",
    "no gold path is known",
    "other",
]

_FUNCTION = re.compile(r"^\s*(\w+)\(")
_QUOTED = re.compile(r'"([^"]*)"')
_SETS: Final = frozenset({"intersect", "union", "difference", "reach"})
_EXTREMES: Final = frozenset({"argmax", "argmin", "max", "min", "compare"})

Steps = tuple[str, ...]


def cause_of(question: Question, outcome: QuestionOutcome, answer: Answer | None, trail: PathTrail | None) -> Cause:
    """The first of the causes that fits, from linking over paths to what was done with their ends."""
    if answer is None:
        return "no answer came"
    if not question.is_answerable:
        return "answered though unanswerable"
    if outcome.missed_topics:
        return "linking missed"
    if trail is None:
        return "refused though answerable"
    if trail.offered is False:
        return "right path not offered"
    if not trail.expressions:
        return "refused though the gold path came first" if _is_first(trail) else "refused though answerable"
    if not question.plan:
        return "no gold path is known"
    return _of_paths(question, trail) or _of_right_path(question, answer)


def _is_first(trail: PathTrail) -> bool:
    return any(each.scored is not None and each.scored == trail.runner_up for each in trail.gold)


def _of_paths(question: Question, trail: PathTrail) -> Cause | None:
    """None when the gold paths were followed, in the form that the gold plan has."""
    assert question.plan is not None
    followed = {folded_steps(each.path.steps) for each in trail.followed}
    gold = {folded_steps(each.steps) for each in trail.gold}
    if _form(trail.expressions) != _form(question.plan.answer):
        return "wrong form"
    if followed == gold:
        if _starts_elsewhere(trail):
            return "started elsewhere"
        same_words = _relations(trail.expressions) == _relations(question.plan.answer)
        return None if same_words else "wrong relation"
    if len(followed) != 1 or len(gold) != 1:
        return "a leg missing or added" if len(followed) != len(gold) else "wrong relation"
    return _of_one_path(followed.pop(), gold.pop(), trail)


def _of_one_path(followed: Steps, gold: Steps, trail: PathTrail) -> Cause:
    if len(followed) > len(gold) and _is_within(gold, followed):
        return "one hop too many"
    if len(followed) < len(gold) and _is_within(followed, gold):
        return "one hop too few"
    if _undirected(followed) == _undirected(gold):
        return "wrong direction"
    if _starts_elsewhere(trail):
        return "started elsewhere"
    known = next((each.scored for each in trail.gold if each.scored), None)
    if known and _kinds(known).isdisjoint(_kinds(trail.followed[0])):
        return "wrong kind of answer"
    return "wrong relation"


def _of_right_path(question: Question, answer: Answer) -> Cause:
    if answer.ambiguous:
        return "linking ambiguous"
    starts = [planned.start for planned in question.plan.sets.values()] if question.plan else []
    if any(start.startswith("kind:") for start in starts):
        return "wrong kind of answer"
    # The gold plan takes the topic out on the way: "films by the director of X" are others than X.
    if any(start.startswith("difference(") for start in starts):
        return "right path, went on from the topic itself"
    return "other" if question.reproduced else "right path, gold differs from the graph"


def _starts_elsewhere(trail: PathTrail) -> bool:
    roots = {each.root for each in trail.gold if each.root}
    return bool(roots) and roots.isdisjoint(each.path.root for each in trail.followed)


def _form(expressions: Sequence[str]) -> str:
    """count, exists, filter and so on; everything that only combines sets is one form, and so are extremes."""
    match = _FUNCTION.match(expressions[0]) if expressions else None
    name = match[1] if match else ""
    return "set" if not name or name in _SETS else "extreme" if name in _EXTREMES else name


def _relations(expressions: Iterable[str]) -> set[str]:
    return set(folded_steps(word for expression in expressions for word in _QUOTED.findall(expression)))


def _is_within(short: Steps, long: Steps) -> bool:
    """True where `long` is `short` with hops inserted or added."""
    rest = iter(long)
    return all(step in rest for step in short)


def _undirected(steps: Steps) -> list[str]:
    return ["|".join(sorted(hop.removeprefix("^") for hop in step.split("|"))) for step in steps]


def _kinds(scored: ScoredPath) -> set[str]:
    return {part.strip() for part in scored.path.concept.split(",")}
