"""From scored paths to an answer of the form that was asked: things, counts, extremes, filters, comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.llm.embedded.candidate_paths import KnownPath, ScoredPath
from app.llm.embedded.language.answer_form import AskedForm
from app.llm.embedded.language.question_words import content_words, singular
from app.llm.embedded.language.relation_wording import VALUES
from app.llm.embedded.scoring.alignment import is_inverse_of
from app.llm.tasks import Thing

# An answer in hand is worth a little more than a longer way that fits equally well.
ANSWER_BONUS = 0.01
HALF_OF_WORDS = 0.3
_PAIRED = 12
# What nobody counts: "how many people smoke" is not about the two answers to it.
_UNCOUNTED = VALUES | {"yes or no"}


@dataclass(frozen=True, slots=True)
class NextAction:
    """The next action: answer with `expressions`, or follow `choices` first. `score` is the path's."""

    score: float
    expressions: tuple[str, ...] = ()
    choices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """All that a form needs: the paths from every root, best first, and what the question names."""

    form: AskedForm
    paths: Sequence[ScoredPath]
    roots: Sequence[Thing]
    kinds: Sequence[Thing]
    both_named: bool
    width: int
    last_round: bool
    ends: dict[str, str] = field(default_factory=dict)


def plan_of(asked: ParsedQuestion) -> NextAction | None:
    """The next move, or None when no path fits the form."""
    form = asked.form.form
    if form == "compare":
        return _compare(asked)
    if form in ("extreme", "average", "sum", "filter"):
        return _over_values(asked) or _things(asked)
    if form == "per_group":
        return _per_group(asked)
    if form == "truth":
        return _truth(asked)
    if asked.both_named:
        return _conjunction(asked) or _things(asked)
    return _things(asked)


def answer_whole_concept(form: AskedForm, kind: Thing) -> NextAction | None:
    """Everything of a kind, listed or counted, where the question says no more than the kind's word."""
    said = {singular(word.lower()) for word in content_words(form.rest)}
    if form.form not in ("things", "count") or said != {singular(word) for word in kind.concept.lower().split()}:
        return None
    return NextAction(1.0, (f"count({kind.name})" if form.form == "count" else kind.name,))


def _things(asked: ParsedQuestion) -> NextAction | None:
    """The end of the best path; a way that is not walked yet must be better than what is in hand."""
    paths = asked.paths
    if asked.form.form == "count":
        paths = [each for each in paths if each.path.concept not in _UNCOUNTED] or paths
    walked = next((each for each in paths if each.path.end is not None), None)
    offered = [each for each in paths if each.path.candidate is not None]
    if walked and (asked.last_round or not offered or walked.score + ANSWER_BONUS >= offered[0].score):
        return _answer(asked, walked)
    if asked.last_round or not offered:
        return None
    return NextAction(offered[0].score, choices=_numbers(offered, asked.width))


def _answer(asked: ParsedQuestion, scored: ScoredPath) -> NextAction:
    things = _of_kind(asked, scored.path)
    if asked.form.form == "count":
        return NextAction(scored.score, (f"count({things})",))
    if asked.form.form == "truth":
        return NextAction(scored.score, (f"exists({things})",))
    return NextAction(scored.score, (things,))


def _of_kind(asked: ParsedQuestion, path: KnownPath) -> str:
    """The end of `path`, within the kind that the question names where it holds other kinds as well."""
    return _narrowed(asked, _without_root(path) or path.end or "", path.concept)


def _without_root(path: KnownPath) -> str | None:
    """`films of X's director, and their genres`: what goes there and back goes on from all but X. Else None."""
    if path.root[0] != "E" or len(path.steps) < 3 or not is_inverse_of(path.steps[1], path.steps[0]):
        return None
    done, name = max(waypoint for waypoint in path.waypoints if waypoint[0] <= 2)
    there_and_back = _reached(name, path.steps[done:2])
    return _reached(f"difference({there_and_back}, {path.root})", path.steps[2:])


def _reached(start: str, steps: Sequence[str]) -> str:
    for step in steps:
        start = f'reach({start}, "{step}")'
    return start


def _over_values(asked: ParsedQuestion) -> NextAction | None:
    """Paths whose last step leads to values: the function works on what that step leaves from."""
    fitting = [each for each in asked.paths if each.path.concept in VALUES]
    if not fitting:
        return None
    best = fitting[0]
    relation = best.path.steps[-1]
    before = best.path.before
    if before is None:
        # The step before it must be walked first: as a path of its own it is among the candidates.
        shorter = [
            each
            for each in asked.paths
            if each.path.steps == best.path.steps[:-1] and each.path.candidate and each.path.root == best.path.root
        ]
        return NextAction(best.score, choices=_numbers(shorter, 1)) if shorter and not asked.last_round else None
    things = _narrowed(asked, before, asked.ends.get(before, ""))
    return NextAction(best.score, (_function(asked.form, things, relation),))


def _narrowed(asked: ParsedQuestion, name: str, concept: str) -> str:
    """Things of no known kind may well be of the one that was asked for: they do not narrow anything.

    A set that is called by one concept may hold a few things of others, which would be counted as well.
    """
    concepts = _parts(concept)
    mixed = len(concepts - {"thing"}) > 1 or (asked.form.form == "count" and "thing" not in concepts)
    for kind in asked.kinds:
        if kind.name != name and kind.concept in concepts and mixed:
            return f"intersect({name}, {kind.name})"
    return name


def _function(form: AskedForm, things: str, relation: str) -> str:
    if form.form == "filter":
        kept = f'filter({things}, "{relation}", {form.operator}, {form.value})'
        return f"count({kept})" if form.function == "count" else kept
    function = form.function if form.form == "extreme" else form.form
    return f'{function}({things}, "{relation}")'


def _compare(asked: ParsedQuestion) -> NextAction | None:
    values = [each for each in asked.paths if each.path.concept in VALUES and len(each.path.steps) == 1]
    if not values or len(asked.roots) < 2:
        return None
    first, second = asked.roots[0].name, asked.roots[1].name
    relation = values[0].path.steps[0]
    if asked.form.function == "argmax":
        return NextAction(values[0].score, (f'compare({first}, {second}, "{relation}")',))
    return NextAction(values[0].score, (f'argmin(union({first}, {second}), "{relation}")',))


def _per_group(asked: ParsedQuestion) -> NextAction | None:
    concepts = {kind.concept for kind in asked.kinds}
    single = [each for each in asked.paths if len(each.path.steps) == 1]
    fitting = [each for each in single if each.path.concept in concepts] or single
    if not fitting:
        return None
    best = fitting[0]
    return NextAction(best.score, (f'group({best.path.root}, "{best.path.steps[0]}")',))


def _truth(asked: ParsedQuestion) -> NextAction | None:
    """With two things named: does a path from one lead to the other? With one: is there anything at all?"""
    if not asked.both_named:
        return _things(asked)
    first, second = asked.roots[0], asked.roots[1]
    fitting = [
        each for each in asked.paths if each.path.root == first.name and _share(each.path.concept, second.concept)
    ]
    if not fitting:
        return None
    best = fitting[0]
    if best.path.end is not None:
        return NextAction(best.score, (f"exists(intersect({best.path.end}, {second.name}))",))
    return NextAction(best.score, choices=_numbers([best], 1)) if not asked.last_round else None


def _conjunction(asked: ParsedQuestion) -> NextAction | None:
    """Paths from the first two things that are named, to ends of one kind; the answer is what they share."""
    pairs = [
        (first, second)
        for first in _of_root(asked, asked.roots[0].name)
        for second in _of_root(asked, asked.roots[1].name)
        if _share(first.path.concept, second.path.concept)
    ]
    if not pairs:
        return None
    best = max(pairs, key=lambda pair: (round(pair[0].score + pair[1].score, 4), -_length(pair)))
    # Each path can say only its half of the words, and is charged for the other half.
    score = max(each.score for each in best) + HALF_OF_WORDS
    open_ways = [each for each in best if each.path.end is None]
    if open_ways:
        return NextAction(score, choices=_numbers(open_ways, asked.width)) if not asked.last_round else None
    whole = f"intersect({best[0].path.end}, {best[1].path.end})"
    return NextAction(score, (f"count({whole})" if asked.form.form == "count" else whole,))


def _of_root(asked: ParsedQuestion, root: str) -> list[ScoredPath]:
    """Its best paths. Words about the other thing would only lengthen a path: single steps come first."""
    mine = [each for each in asked.paths if each.path.root == root]
    return [each for each in mine if len(each.path.steps) == 1][:_PAIRED] or mine[:_PAIRED]


def _length(pair: tuple[ScoredPath, ScoredPath]) -> int:
    return sum(len(each.path.steps) for each in pair)


def _share(concept: str, other: str) -> bool:
    """True where something may be of both concepts; `thing` says nothing of what it is."""
    ours, theirs = _parts(concept), _parts(other)
    return not ours.isdisjoint(theirs) or "thing" in ours | theirs


def _parts(concept: str) -> set[str]:
    return {part.strip() for part in concept.split(",")}


def _numbers(scored: Sequence[ScoredPath], width: int) -> tuple[int, ...]:
    numbers = dict.fromkeys(each.path.candidate for each in scored if each.path.candidate is not None)
    return tuple(numbers)[:width]
