"""Does the tasks `step` and `answer` without a language model: follows paths and answers with the end
of the best one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.language.readings import AskedForm
from app.llm.confidence import is_likely
from app.llm.in_house import ReadingScores
from app.llm.reasoner import Reply
from app.llm.tasks import AnswerInput, AnswerReply, PathTriple, StepInput, StepReply, Thing
from app.reader.asking_back import ask_back
from app.reader.language.answer_form import read_form
from app.reader.language.quantifiers import Quantifier, read_quantifier
from app.reader.language.question_words import content_words
from app.reader.meaning.read_meaning import ReadMeaning, executed, read_meaning
from app.reader.meaning.reading import operands_of
from app.reader.plans.candidate_paths import roots_of, score_paths, voted_first
from app.reader.plans.case_plans import scores_of_settled, settled_expression
from app.reader.plans.next_action import REFUSAL, SURE, NextAction, ParsedQuestion
from app.reader.plans.quantified_plans import plan_turned
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import walked_along

# A path that scores less does not answer the question; chosen by the curve in docs/results.md ("When to refuse").
MIN_SCORE = 0.2


def take_step(
    scorer: PathScorer, given: StepInput, least_score: float = MIN_SCORE, answers_unsure: bool = False
) -> Reply[StepReply]:
    """Follows the best candidates until the best path has been walked, then answers with its end; refuses below
    `least_score`.
    """
    plan = plan_step(scorer, given, answers_unsure)
    if plan is None:
        return Reply(_reply_of(plan, given, least_score))
    return Reply(_reply_of(plan, given, least_score), scores=plan.scores, asks_back=plan.asks_back)


def _reply_of(plan: NextAction | None, given: StepInput, least_score: float) -> StepReply:
    if plan is None or plan == REFUSAL or plan.asks_back or not _is_enough(plan, least_score):
        return _reply(given)
    return _reply(given, plan)


def _is_enough(plan: NextAction, least_score: float) -> bool:
    """True if the question is covered well enough: by the confidence of a vote's winner, else by the path's score."""
    if plan.scores is not None and plan.scores.road == "vote":
        return least_score < MIN_SCORE or is_likely(plan.scores)
    return plan.score >= least_score


def answer_from_evidence(scorer: PathScorer, given: AnswerInput) -> Reply[AnswerReply]:
    """Answers from evidence alone; the reply is "insufficient" if the best path does not cover the question."""
    step = StepInput(
        question=given.question,
        dialogue=given.dialogue,
        path=given.path,
        things=given.things,
        evidence=given.evidence,
        candidates=[],
        masked_relations=given.masked_relations,
        round=1,
        last_round=given.last_round,
        width=1,
    )
    plan = plan_step(scorer, step)
    enough = plan is not None and bool(plan.expressions) and plan.score >= MIN_SCORE
    if plan is None or not enough:
        return Reply(AnswerReply(thought="The evidence does not cover it.", sufficient=False, answer=[]))
    covered = AnswerReply(
        thought="The evidence covers the question.",
        sufficient=True,
        answer=list(plan.expressions),
    )
    return Reply(covered, scores=plan.scores)


def words_as_path(question: str, things: Sequence[Thing]) -> list[PathTriple]:
    """Returns the content words of the question as one triple, from what it names to what it asks for."""
    words = content_words(question)
    head = things[0].name if things else "thing"
    return [PathTriple(head=head, relation=" ".join(words), tail="thing")] if words else []


def plan_step(scorer: PathScorer, given: StepInput, answers_unsure: bool = False) -> NextAction | None:
    """Returns the next action with its score, however low; None if no path fits the question."""
    if given.steps:
        if settled := settled_expression(given):
            return _plan_expression(settled, given, scores_of_settled(given))
        found = read_meaning(scorer, given)
        if found is not None and not answers_unsure and not is_likely(found.scores):
            return ask_back(scorer, given, found)
        return _plan_meaning(scorer, found, given, answers_unsure) or ask_back(scorer, given, found)
    entities, kinds, unheld = roots_of(given)
    turned = _turned(given.question)
    named = _named(given, entities)
    form = _form_of(turned.rest, len(named))
    if given.meant is not None and is_likely(given.meant.scores):
        return _plan_expression(given.meant.expression, given, given.meant.scores)
    if turned.unread or any(thing.concept == "text" for thing in unheld):
        return REFUSAL
    # A value or thing that is compared or excluded is not a start, even if the graph holds it.
    entities, named = (_without(some, (form.value, turned.thing)) for some in (entities, named))
    roots = entities or kinds
    asked = ParsedQuestion(
        form=form,
        paths=voted_first(score_paths(scorer, form.rest, given, roots, kinds), given.voted),
        roots=roots,
        kinds=kinds,
        both_named=len(named) >= 2,
        width=given.width,
        last_round=given.last_round or not given.candidates,
        ends={fact.end: fact.end_concept for fact in given.evidence} | {t.name: t.concept for t in given.things},
        values=[thing for thing in _named(given, given.things) if thing.name[0] == "V"],
        voted=given.voted,
    )
    plan = plan_turned(asked, turned)
    if plan is None or not (plan.expressions or given.voted):
        return plan
    return replace(plan, scores=_scores_of(plan.score, asked))


def _plan_meaning(
    scorer: PathScorer, found: ReadMeaning | None, given: StepInput, answers_unsure: bool
) -> NextAction | None:
    """The action of a meaning; None if it is uncertain. With `answers_unsure`, a complete meaning is enough, or else
    the one nearest to the whole question.
    """
    if found is not None and answers_unsure and found.nearest and not found.is_whole:
        found = found.by_nearest(found.nearest)
    if found is None or not (found.is_sure or (answers_unsure and found.is_whole)):
        return None
    return _plan_expression(executed(scorer, given, found.meaning.expression), given, found.scores)


def _plan_expression(text: str, given: StepInput, scores: ReadingScores) -> NextAction:
    """Follows the candidates on the paths of `text`, the longest first; answers with `text` if there are none left."""
    for fact in sorted(given.evidence, key=lambda each: -len(each.path)):
        text = text.replace(walked_along(fact.start, fact.path), fact.end)
    ways = [way for way in given.candidates if walked_along(way.start, way.path) in text]
    if ways and not given.last_round:
        longest = sorted(ways, key=lambda way: -len(way.path))
        return NextAction(SURE, choices=tuple(way.number for way in longest[: given.width]))
    # The larger of two sets is reported with both numbers.
    numbers = [f"count({each})" for each in operands_of(text)] if text.startswith("outnumbers(") else []
    return NextAction(SURE, (text, *numbers), scores=scores)


def _scores_of(score: float, asked: ParsedQuestion) -> ReadingScores:
    """The scores of the best path, with its lead over the next one that takes other steps."""
    paths = asked.paths
    if asked.voted is not None:
        return ReadingScores("vote", score, asked.voted.margin, steps=1, share=asked.voted.share)
    best = paths[0] if paths else None
    other = next((each for each in paths if best and each.path.steps != best.path.steps), None)
    margin = best.score - other.score if best and other else 1.0
    return ReadingScores("path", score, margin, steps=len(best.path.steps) if best else 0)


def _turned(question: str) -> Quantifier:
    """The negation or exclusion of a question. On a graph without declared kinds "other" is ignored: it may belong to
    a label.
    """
    turned = read_quantifier(question)
    return turned if turned.turn in ("negated", "except") else Quantifier("", question)


def _without(things: Sequence[Thing], names: Sequence[str]) -> list[Thing]:
    return [thing for thing in things if thing.name not in names]


def _named(given: StepInput, things: Sequence[Thing]) -> list[Thing]:
    words = set(given.question.replace("?", " ").replace(",", " ").replace("'", " ").split())
    return [thing for thing in things if thing.name in words]


def _form_of(text: str, topics: int) -> AskedForm:
    form = read_form(text, topics)
    return replace(form, rest=f"{form.rest} date of birth") if form.by_age else form


def _reply(given: StepInput, plan: NextAction | None = None) -> StepReply:
    """The reply of a plan; without a plan, that the graph does not cover the question or a word of it cannot be
    executed.
    """
    return StepReply(
        path=given.path or words_as_path(given.question, given.things),
        action="not_in_graph" if plan is None else "answer" if plan.expressions else "follow",
        choices=list(plan.choices) if plan else [],
        answer=list(plan.expressions) if plan else [],
    )
