"""From scored paths to an answer of the form that was asked: things, counts, extremes, filters, comparisons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.llm.embedded.candidate_paths import KnownPath, ScoredPath
from app.llm.embedded.language.answer_form import AskedForm, read_asked_kind
from app.llm.embedded.language.question_words import content_words, singular
from app.llm.embedded.language.relation_wording import VALUES, readable
from app.llm.embedded.language.synonyms import kind_words
from app.llm.embedded.next_action import (
    SURE,
    YES_OR_NO,
    NextAction,
    ParsedQuestion,
    narrowed,
    numbers_of,
    only_joins,
    share,
    walked_along,
)
from app.llm.embedded.pair_plans import conjunction, of_either
from app.llm.embedded.scoring.alignment import is_inverse_of
from app.llm.embedded.truth_plans import plan_truth
from app.llm.embedded.value_plans import compare_values, over_values, than_thing
from app.llm.tasks import Thing

# An answer in hand is worth a little more than a longer way that fits equally well.
ANSWER_BONUS = 0.01
UNCOUNTED = VALUES | {YES_OR_NO}
_HOW_MUCH = re.compile(r"^\s*how (?:much|big|large|tall|expensive)\b", re.IGNORECASE)


def plan_of(asked: ParsedQuestion) -> NextAction | None:
    """The next move, or None when no path fits the form."""
    form = asked.form.form
    if asked.from_kinds and asked.kinds and (whole := answer_whole_concept(asked.form, asked.kinds[0])):
        return whole
    if form == "compare":
        return compare_values(asked)
    if form == "than":
        return than_thing(asked)
    if form in ("extreme", "average", "sum", "filter"):
        return over_values(asked) or _unmeasured(asked)
    if form == "per_group":
        return _per_group(asked)
    if form == "truth":
        return plan_truth(asked) or (None if asked.both_named or _compares(asked) else plan_things(asked))
    if asked.both_named and asked.form.either:
        return of_either(asked)
    if asked.both_named:
        return conjunction(asked) or plan_things(asked)
    return plan_things(asked)


def _compares(asked: ParsedQuestion) -> bool:
    return bool(asked.values)


def _unmeasured(asked: ParsedQuestion) -> NextAction | None:
    """A superlative that nothing measures must not list all that there is."""
    if asked.exact and asked.form.form == "extreme":
        return NextAction(0.0, unread=asked.form.word)
    return plan_things(asked)


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


def plan_things(asked: ParsedQuestion) -> NextAction | None:
    """The end of the best path; a way that is not walked yet must be better than what is in hand."""
    paths = _unsaid(asked, _answering(asked))
    walked = next((each for each in paths if each.path.end is not None), None)
    offered = [each for each in paths if each.path.candidate is not None]
    if walked and (asked.last_round or not offered or walked.score + ANSWER_BONUS >= offered[0].score):
        return _answer(asked, walked)
    if asked.last_round or not offered:
        return None
    return NextAction(offered[0].score, choices=numbers_of(offered, asked.width))


def _unsaid(asked: ParsedQuestion, paths: Sequence[ScoredPath]) -> Sequence[ScoredPath]:
    """ "Who has measles?" names no relation: the one step from it to such a thing is meant, if there is but one."""
    if not asked.exact:
        return paths
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
    if asked.exact:
        paths = [each for each in _named_ends(asked) if _may_be_who(asked, each)]
    if asked.form.form == "count":
        kind = asked.target.name if asked.target else ""
        counted = [each for each in paths if each.path.concept not in UNCOUNTED or each.path.root == kind]
        told = [each for each in paths if asked.exact and each.path.concept == "number"]
        if told and (not counted or told[0].score > counted[0].score):
            return told
        paths = counted or paths
    if asked.target is None or asked.form.form not in ("things", "count"):
        return paths
    target = asked.target
    return [each for each in paths if _is_of(each.path, target)]


def _is_of(path: KnownPath, target: Thing) -> bool:
    """Of what sets out from the kind itself only what its things have: "which patients have children"."""
    return len(path.steps) == 1 if path.root == target.name else share(path.concept, target.concept)


def _named_ends(asked: ParsedQuestion) -> Sequence[ScoredPath]:
    """Paths to what has a name, or to what is asked for by its kind."""
    steps = {step for each in asked.paths for step in each.path.steps}
    kinds = {kind.concept for kind in asked.kinds}
    return [
        each
        for each in asked.paths
        if each.path.concept in kinds or not each.path.steps or not only_joins(each.path.steps[-1], steps)
    ]


def _may_be_who(asked: ParsedQuestion, scored: ScoredPath) -> bool:
    """No date is so much. A number or a date is nobody; a text may be a name, where its relation was said."""
    concept = scored.path.concept
    if _HOW_MUCH.match(asked.form.rest):
        return concept not in ("date", "year")
    if read_asked_kind(asked.form.rest).wh != "who" or asked.form.form != "things":
        return True
    if concept == "text":
        said = set(content_words(asked.form.rest))
        return not said.isdisjoint(readable(scored.path.steps[-1]).lower().split())
    return concept not in UNCOUNTED


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
