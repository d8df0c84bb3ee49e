"""Which paths were considered for one question: the one that was followed, its rivals, and the gold one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.llm.tasks import AnswerInput, AnswerReply, Candidate, ChooseInput, StepInput, StepReply
from app.reader.language.answer_form import read_form
from app.reader.plans.candidate_paths import ScoredPath, roots_of, score_paths
from app.reader.scoring.path_scoring import PathScorer
from evaluation.datasets.gold_plan import GoldPlan, ShownNames, plan_paths
from evaluation.datasets.questions import QueryPlan, Question
from evaluation.datasets.topic_positions import pseudonyms_in, surfaces_of, topic_among
from evaluation.fakes.recording_reasoner import Step

_WORD = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class GoldPath:
    """One path of the gold plan, from the pseudonym `root` ("" where linking missed it), as the reasoner saw it.

    `scored` is the same path among those that the reasoner was shown; None when it never saw the whole of it.
    """

    root: str
    steps: tuple[str, ...]
    scored: ScoredPath | None


@dataclass(frozen=True, slots=True)
class PathTrail:
    """The paths of one question, all in pseudonyms; `words` says what each stands for in the question's words.

    `followed` leads to what the reply's `expressions` name; empty where it gave none. `runner_up` is
    the path with the highest score that was not followed. `offered`: whether the gold plan was walked, or a way
    on offer would have gone on with it; None where no plan is known.
    """

    expressions: tuple[str, ...]
    followed: tuple[ScoredPath, ...]
    runner_up: ScoredPath | None
    gold: tuple[GoldPath, ...]
    offered: bool | None
    words: dict[str, str]


def trail_of(question: Question, steps: Sequence[Step], scorer: PathScorer) -> PathTrail | None:
    """The trail of the last turn; None where the reasoner was asked nothing that shows paths.

    Scores are those that `scorer` gives to the paths of each step, highest first; for the embedded reasoner they
    are its own, for others what it would have thought.
    """
    seen = [(shown, step) for step in steps if (shown := _as_step(step)) is not None]
    if not seen:
        return None
    ranked = [rank_paths(scorer, shown) for shown, _ in seen]
    last, expressions = seen[-1][0], _expressions(seen[-1][1])
    named = [word for expression in expressions for word in _WORD.findall(expression)]
    followed = [path for word in dict.fromkeys(named) if (path := _to(ranked[-1], word)) is not None]
    words = _words_of(question, last)
    return PathTrail(
        expressions=expressions,
        followed=tuple(followed),
        runner_up=next((each for each in ranked[-1] if each not in followed), None),
        gold=_gold(question.plan, words, ranked),
        offered=_is_offered(question.plan, words, last, _candidates(steps)),
        words=words,
    )


def rank_paths(scorer: PathScorer, given: StepInput) -> list[ScoredPath]:
    """Every path that a step shows, best first, scored as the embedded reasoner scores them."""
    entities, kinds, _ = roots_of(given)
    asked = set(_WORD.findall(given.question))
    form = read_form(given.question, sum(thing.name in asked for thing in entities))
    roots = [thing for thing in entities if thing.name != form.value] or kinds
    return score_paths(scorer, form.rest, given, roots, kinds)


def same_steps(steps: Iterable[str], others: Iterable[str]) -> bool:
    """Plans are written by hand: case, underscores and spaces are not held against them."""
    return folded_steps(steps) == folded_steps(others)


def folded_steps(steps: Iterable[str]) -> tuple[str, ...]:
    return tuple(" ".join(step.casefold().replace("_", " ").split()) for step in steps)


def _as_step(step: Step) -> StepInput | None:
    """The step's input, or an answer's input in the form of a `step`."""
    given = step.asked
    if isinstance(given, StepInput):
        return given
    if not isinstance(given, AnswerInput):
        return None
    shared = {name: getattr(given, name) for name in AnswerInput.model_fields}
    return StepInput(**shared, candidates=[], round=1, width=1)


def _expressions(step: Step) -> tuple[str, ...]:
    return tuple(step.reply.answer) if isinstance(step.reply, StepReply | AnswerReply) else ()


def _to(ranked: Sequence[ScoredPath], pseudonym: str) -> ScoredPath | None:
    return next((each for each in ranked if each.path.end == pseudonym), None)


def _words_of(question: Question, last: StepInput) -> dict[str, str]:
    """Pseudonym -> the words that it replaced, else its concept in brackets."""
    known = {thing.name for thing in last.things}
    concepts = {thing.name: f"({thing.concept})" for thing in last.things}
    return {**concepts, **surfaces_of(question.texts[-1], last.question, known)}


def _gold(
    plan: QueryPlan | None, words: dict[str, str], ranked: Sequence[Sequence[ScoredPath]]
) -> tuple[GoldPath, ...]:
    if plan is None:
        return ()
    paths = []
    for start, steps in plan_paths(plan):
        root = _root_of(plan, start, words)
        paths.append(GoldPath(root, steps, _among(ranked, root, steps)))
    return tuple(paths)


def _among(ranked: Sequence[Sequence[ScoredPath]], root: str, steps: tuple[str, ...]) -> ScoredPath | None:
    """The path as the latest step that shows it scored it."""
    shown = (each for paths in reversed(ranked) for each in paths)
    fits = (each for each in shown if same_steps(each.path.steps, steps) and root in ("", each.path.root))
    return next(fits, None)


def _root_of(plan: QueryPlan, start: str, words: dict[str, str]) -> str:
    kind, _, rest = start.partition(":")
    if kind != "topic" or not rest.isdigit():
        return ""
    if plan.topics:
        return topic_among(words, plan.topics[int(rest)]) if int(rest) < len(plan.topics) else ""
    named = [name for name, surface in words.items() if not surface.startswith("(")]
    return named[int(rest)] if int(rest) < len(named) else ""


def _candidates(steps: Sequence[Step]) -> list[Candidate]:
    """Every way that was on offer in any round."""
    return [way for step in steps if isinstance(step.asked, StepInput | ChooseInput) for way in step.asked.candidates]


def _is_offered(
    plan: QueryPlan | None, words: dict[str, str], last: StepInput, ways: Sequence[Candidate]
) -> bool | None:
    """True where the gold plan was walked to its end, or a way on offer would have gone on with it."""
    if plan is None:
        return None
    topics = pseudonyms_in([last.question], {thing.name for thing in last.things})
    if plan.topics:
        topics = tuple(topic_among(words, topic) for topic in plan.topics)
    earlier = [turn.text for turn in last.dialogue if turn.role == "user" and turn.text != last.question]
    answers = [turn.text for turn in last.dialogue if turn.role == "assistant"]
    shown = ShownNames(
        topics=topics,
        earlier=pseudonyms_in(earlier),
        answers=pseudonyms_in(answers[-1:]),
        things=tuple(last.things),
        evidence=tuple(last.evidence),
    )
    gold = GoldPlan(plan, shown)
    return bool(gold.answer()) or bool(gold.continuing(ways, len(ways)))
