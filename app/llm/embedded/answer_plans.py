"""From scored paths to an answer of the form that was asked: things, counts, extremes, filters, comparisons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.llm.embedded.candidate_paths import KnownPath, ScoredPath
from app.llm.embedded.language.answer_form import AskedForm
from app.llm.embedded.language.answer_type import read_asked_kind
from app.llm.embedded.language.question_words import content_words, singular
from app.llm.embedded.language.relation_wording import VALUES, readable
from app.llm.embedded.language.synonyms import kind_words
from app.llm.embedded.scoring.alignment import is_inverse_of
from app.llm.tasks import Thing

# An answer in hand is worth a little more than a longer way that fits equally well.
ANSWER_BONUS = 0.01
# The score of what can mean nothing else.
SURE = 1.0
HALF_OF_WORDS = 0.3
_PAIRED = 12
# What nobody counts: "how many people smoke" is not about the two answers to it.
YES_OR_NO = "yes or no"
_UNCOUNTED = VALUES | {YES_OR_NO}
# "How many beds has the ward?": a number of beds that the graph holds is told, where no count fits better.
TOLD_BONUS = 0.0


@dataclass(frozen=True, slots=True)
class NextAction:
    """The next action: answer with `expressions`, or follow `choices` first. `score` is the path's.

    `path` is the one that was chosen. `unread`: a word of the question for which there is no answer.
    """

    score: float
    expressions: tuple[str, ...] = ()
    choices: tuple[int, ...] = ()
    path: KnownPath | None = None
    unread: str = ""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """All that a form needs: the paths from every root, best first, and what the question names.

    `target` is everything of the kind that it asks for, where it says one that the graph has: "which doctors".
    """

    form: AskedForm
    paths: Sequence[ScoredPath]
    roots: Sequence[Thing]
    kinds: Sequence[Thing]
    both_named: bool
    width: int
    last_round: bool
    ends: dict[str, str] = field(default_factory=dict)
    values: Sequence[Thing] = ()
    target: Thing | None = None

    @property
    def from_kinds(self) -> bool:
        """True where the question names no thing, so that paths set out from whole kinds."""
        return all(root in self.kinds for root in self.roots)


def plan_of(asked: ParsedQuestion) -> NextAction | None:
    """The next move, or None when no path fits the form."""
    form = asked.form.form
    if asked.from_kinds and asked.kinds and (whole := answer_whole_concept(asked.form, asked.kinds[0])):
        return whole
    if form == "compare":
        return _compare(asked)
    if form in ("extreme", "average", "sum", "filter"):
        return _over_values(asked) or _things(asked)
    if form == "per_group":
        return _per_group(asked)
    if form == "truth":
        return _truth(asked)
    if asked.both_named and asked.form.either:
        return _of_either(asked)
    if asked.both_named:
        return _conjunction(asked) or _things(asked)
    return _things(asked)


def target_kind(question: str, kinds: Sequence[Thing]) -> Thing | None:
    """Of `kinds` the one that the question asks for."""
    nouns = [" ".join(map(singular, noun.split())) for noun in read_asked_kind(question).nouns]
    return next((kind for kind in kinds if any(_begins(noun, kind.concept.lower()) for noun in nouns)), None)


def _begins(noun: str, concept: str) -> bool:
    """ "doctors work" begins with a kind, and "work" is no noun there."""
    said = " ".join(map(singular, concept.split()))
    return any(f"{noun} ".startswith(f"{word} ") for word in kind_words(said))


def answer_whole_concept(form: AskedForm, kind: Thing) -> NextAction | None:
    """Everything of a kind, listed or counted, where the question says no more than the kind's word."""
    said = {singular(word.lower()) for word in content_words(form.rest)}
    if form.form not in ("things", "count") or said != {singular(word) for word in kind.concept.lower().split()}:
        return None
    return NextAction(1.0, (f"count({kind.name})" if form.form == "count" else kind.name,))


def _things(asked: ParsedQuestion) -> NextAction | None:
    """The end of the best path; a way that is not walked yet must be better than what is in hand."""
    paths = _unsaid(asked, _answering(asked))
    walked = next((each for each in paths if each.path.end is not None), None)
    offered = [each for each in paths if each.path.candidate is not None]
    if walked and (asked.last_round or not offered or walked.score + ANSWER_BONUS >= offered[0].score):
        return _answer(asked, walked)
    if asked.last_round or not offered:
        return None
    return NextAction(offered[0].score, choices=_numbers(offered, asked.width))


def _unsaid(asked: ParsedQuestion, paths: Sequence[ScoredPath]) -> Sequence[ScoredPath]:
    """ "Who has measles?" names no relation: the one step that leads from it to such a thing is meant, if it is one."""
    if False: print("   U", asked.form, [(round(p.score,2), p.path.steps, p.path.concept, p.path.end) for p in asked.paths[:9]], asked.target, asked.from_kinds, content_words(asked.form.rest))
    kinds = {singular(word) for kind in asked.kinds for word in kind.concept.lower().split()}
    if asked.from_kinds or any(singular(word) not in kinds for word in content_words(asked.form.rest)):
        return paths
    single = [each for each in paths if len(each.path.steps) == 1 and each.path.concept not in VALUES]
    direct = [each for each in single if "|" not in each.path.steps[0]] or single
    meant = [each for each in direct if each.path.concept == single[0].path.concept]
    if not meant or len({each.path.steps for each in meant}) > 1:
        return paths
    return [replace(each, score=SURE) if each in meant else each for each in paths]


def _answering(asked: ParsedQuestion) -> Sequence[ScoredPath]:
    """Paths to things of the kind that is asked for; a number that the graph holds is as good as a count."""
    paths = asked.paths
    if asked.form.form == "count":
        kind = asked.target.name if asked.target else ""
        counted = [each for each in paths if each.path.concept not in _UNCOUNTED or each.path.root == kind]
        told = [each for each in paths if each.path.concept == "number"]
        if told and (not counted or told[0].score > counted[0].score + TOLD_BONUS):
            return told
        paths = counted or paths
    if asked.target is None or asked.form.form not in ("things", "count"):
        return paths
    target = asked.target
    return [each for each in paths if _share(each.path.concept, target.concept) or each.path.root == target.name]


def _answer(asked: ParsedQuestion, scored: ScoredPath) -> NextAction:
    path, form = scored.path, asked.form.form
    if asked.target and path.root == asked.target.name and len(path.steps) == 1 and form in ("things", "count"):
        things = f'having({path.root}, "{path.steps[0]}")'  # "which patients have children" asks for the patients.
    else:
        things = _of_kind(asked, path)
    if form == "count" and path.concept != "number":
        things = f"count({things})"
    if form == "truth":
        things = f"holds({things})" if path.concept == YES_OR_NO else f"exists({things})"
    return NextAction(scored.score, (things,), path=path)


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
    fitting = _measured([each for each in asked.paths if each.path.concept in VALUES], asked.form)
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
        return NextAction(best.score, choices=_numbers(shorter, 1)) if shorter and not asked.last_round else None
    if asked.form.asks_truth:
        return _is_extreme(asked, best)
    things = _of_all_kinds(asked, fitting) or _narrowed(asked, before, asked.ends.get(before, ""))
    return NextAction(best.score, (_function(asked.form, things, best.path),), path=best.path)


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
    kind = next((kind for kind in asked.kinds if thing and _share(kind.concept, thing.concept)), None)
    if thing is None or kind is None or len(best.path.steps) != 1:
        return None
    chosen = _function(asked.form, kind.name, best.path)
    return NextAction(best.score, (f"exists(intersect({chosen}, {thing.name}))",), path=best.path)


_AGES = frozenset({"birth", "born", "age", "birthday", "birthdate", "dob"})
_SIZES = frozenset(
    "size area population beds capacity seats number employees length height floors inhabitants".split()
)


def _measured(fitting: list[ScoredPath], form: AskedForm) -> list[ScoredPath]:
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


_AGED = {"argmin": "argmax", "argmax": "argmin", "min": "max", "max": "min"}
"""A high age is an early date of birth."""


def _compare(asked: ParsedQuestion) -> NextAction | None:
    values = [each for each in asked.paths if each.path.concept in VALUES and len(each.path.steps) == 1]
    values = _measured(values, asked.form)
    if not values or len(asked.roots) < 2:
        return None
    first, second = asked.roots[0].name, asked.roots[1].name
    path, function = values[0].path, asked.form.function
    if asked.form.measure == "age" and path.concept in ("number", "age"):
        function = _AGED[function]
    greater = f'compare({first}, {second}, "{path.steps[0]}")'
    least = f'argmin(union({first}, {second}), "{path.steps[0]}")'
    chosen = greater if function == "argmax" else least
    if asked.form.asks_truth:
        chosen = f"exists(intersect({chosen}, {first}))"
    return NextAction(values[0].score, (chosen,), path=path)


def _per_group(asked: ParsedQuestion) -> NextAction | None:
    concepts = {kind.concept for kind in asked.kinds}
    single = [each for each in asked.paths if len(each.path.steps) == 1]
    fitting = [each for each in single if each.path.concept in concepts] or single
    if not fitting:
        return None
    best = fitting[0]
    return NextAction(best.score, (f'group({best.path.root}, "{best.path.steps[0]}")',))


def _truth(asked: ParsedQuestion) -> NextAction | None:
    """Of a kind? Of that value? With two things named: does a path lead from one to the other? Else: is anything
    there at all, or does what is there hold?"""
    if (of_kind := _is_of_kind(asked)) is not None:
        return of_kind
    if asked.values:
        return _equals(asked, asked.values[0])
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
        return NextAction(best.score, (f"exists(intersect({best.path.end}, {second.name}))",), path=best.path)
    return NextAction(best.score, choices=_numbers([best], 1)) if not asked.last_round else None


_IS_A = re.compile(r"^\s*(\w+)\s+(?:an?|the)?\s*([a-z][a-z ]*?)\s*\??\s*$")


def _is_of_kind(asked: ParsedQuestion) -> NextAction | None:
    """ "Is X a doctor?" by X's concept, where the graph has things of the kind that is said."""
    found = _IS_A.match(asked.form.rest)
    thing = next((root for root in asked.roots if found and root.name == found[1]), None)
    if found is None or thing is None:
        return None
    said = " ".join(map(singular, found[2].lower().split()))
    if not kind_words(said).isdisjoint(_parts(thing.concept.lower())):
        return NextAction(1.0, (f"exists({thing.name})",))
    if any(not kind_words(said).isdisjoint(_parts(kind.concept.lower())) for kind in asked.kinds):
        return NextAction(1.0, (f"exists(difference({thing.name}, {thing.name}))",))
    return None


def _equals(asked: ParsedQuestion, value: Thing) -> NextAction | None:
    """ "Was X opened in 2001?": is the value there that one?"""
    roots = [root for root in asked.roots if root.name != value.name]
    fitting = [
        each
        for each in asked.paths
        if roots and each.path.root == roots[0].name and _may_equal(each.path.concept, value.concept)
    ]
    if not fitting:
        return None
    best = fitting[0]
    operator = asked.form.operator or "="
    return (
        NextAction(
            best.score,
            (
                f'exists(filter({best.path.before or best.path.root}, "{best.path.steps[-1]}", '
                f"{operator}, {value.name}))",
            ),
            path=best.path,
        )
        if best.path.before
        else None
    )


def _may_equal(concept: str, value: str) -> bool:
    """A year may be typed for a date, and is read as a number where nothing tells more."""
    return concept in VALUES and (concept == value or {concept, value} <= {"date", "year", "number"})


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


def _of_either(asked: ParsedQuestion) -> NextAction | None:
    """ "Gout or asthma": what one path reaches from the one or from the other."""
    first, second = (_of_root(asked, root.name) for root in asked.roots[:2])
    same = [(one, other) for one in first for other in second if one.path.steps == other.path.steps]
    if not same:
        return None
    both = max(same, key=lambda pair: pair[0].score)
    if any(each.path.end is None for each in both):
        return NextAction(both[0].score, choices=_numbers(both, asked.width)) if not asked.last_round else None
    whole = f"union({both[0].path.end}, {both[1].path.end})"
    counted = f"count({whole})" if asked.form.form == "count" else whole
    return NextAction(max(both[0].score, both[1].score), (counted,), path=both[0].path)


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
