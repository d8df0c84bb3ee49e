"""Does the tasks `step` and `answer` without a language model: follows paths and answers with the end of the best one,
or asks back (`Did you mean ...`) if several readings have about the same score.

Promise: the questions that are offered depend on the question, on the part of the schema that the asker may see, and
on which of its relations the named things have; no answer is computed for them. Each offered question, if it is asked,
is read with certainty as the expression from which it was made.

Limit: a reading is not offered if its relations have no plain English words, or if those words could mean something
else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from app.language.readings import AskedForm
from app.llm.confidence import is_likely
from app.llm.in_house import OfferedReading, ReadingScores
from app.llm.reasoner import Reply
from app.llm.tasks import AnswerInput, AnswerReply, PathTriple, StepInput, StepReply, Thing
from app.reader.answer_plans import plan_turned
from app.reader.language.answer_form import Quantifier, read_form, read_quantifier
from app.reader.language.question_words import content_words
from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.question.one_question import AND_HOW_MANY, AND_WHO
from app.reader.meaning.read_meaning import MIN_MARGIN, ReadMeaning, executed, read_meaning
from app.reader.meaning.reading import operands_of
from app.reader.scoring.candidate_paths import (
    REFUSAL,
    SURE,
    KnownPath,
    NextAction,
    ParsedQuestion,
    roots_of,
    score_paths,
    voted_first,
)
from app.reader.scoring.path_scoring import PathScorer, contrary_verb
from app.reader.sentences.question_text import QuestionWriter
from kg_store.algebra.expressions import walked_along
from kg_store.text.labels import plain_words

# The lead reported for a path that earlier cases settle, since it has no competitor. Chosen by hand; not fitted.
MARGIN = 0.5


def settled_expression(given: StepInput) -> str:
    """Returns the expression of the path that answered most earlier questions with the same words, or an empty string.

    The question must name exactly one thing, that thing must have the path's first step, and nothing may be counted,
    compared or excluded.
    """
    settling = [case for case in given.cases if case.settles]
    entities, _, values = roots_of(given)
    if len(settling) != 1 or len(entities) != 1 or values:
        return ""
    root, path = entities[0].name, settling[0].path
    turned = read_quantifier(given.question)
    is_plain = not (turned.turn or turned.unread) and read_form(given.question, topics=1).form == "things"
    return walked_along(root, path) if is_plain and path[0] in given.own.get(root, ()) else ""


def scores_of_settled(given: StepInput) -> ReadingScores:
    """Returns the scores of a path that earlier questions settled: certain, and ahead of any other by MARGIN.

    See `settled_expression`.
    """
    steps = next(len(case.path) for case in given.cases if case.settles)
    return ReadingScores("path", SURE, MARGIN, steps=steps)


# Greatest numbers of questions offered, and of readings tried; few, so that asking back stays short. Chosen by hand.
MAX_OFFERED: Final = 3
MAX_TRIED: Final = 4


def ask_back(given: StepInput, found: ReadMeaning | None) -> NextAction | None:
    """Returns an action that answers nothing and offers at most MAX_OFFERED questions; None if it can offer none."""
    if found is None or _is_answered(found) or given.further:
        return None
    return offered(given, [each.expression for each in _near(found)])


def offered(given: StepInput, expressions: Sequence[str]) -> NextAction | None:
    """Returns an action that answers nothing and offers a question for some of `expressions`; None if it can't.

    The conversation remembers what each question offers, so that it need not be read again.
    """
    writer, found = QuestionWriter(given, plain_words), dict[str, str]()
    for expression in expressions if not given.further else ():
        for question in writer.questions(expression)[:1]:
            found.setdefault(question, expression)
    told = tuple(OfferedReading(*each) for each in islice(found.items(), MAX_OFFERED))
    return NextAction(0.0, asks_back=told) if told else None


def _is_answered(found: ReadMeaning) -> bool:
    return found.is_sure and is_likely(found.scores)


def _near(found: ReadMeaning) -> list[Meaning]:
    """Returns the readings that explain the whole question and that the asker may have meant; at most MAX_TRIED.

    These are the readings that score within MIN_MARGIN of the best one, the likeliest first; of equal scores, the
    shorter comes first.
    """
    if not found.is_whole:
        return []
    near = [each for each in (found.meaning, *found.others) if each.score > found.meaning.score - MIN_MARGIN]
    return sorted(near, key=lambda each: (-round(each.score, 2), each.silent, len(each.expression)))[:MAX_TRIED]


# The least score of a path that may answer; chosen by the curve in docs/results.md ("When to refuse").
MIN_SCORE = 0.2


def take_step(
    scorer: PathScorer, given: StepInput, least_score: float = MIN_SCORE, answers_unsure: bool = False
) -> Reply[StepReply]:
    """Follows the best candidates until the best path has been walked, then answers with its end.

    Refuses if the best path scores below `least_score`.
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
    """Returns True if the plan is good enough to answer: by its confidence after a vote, else by its score."""
    if plan.scores is not None and plan.scores.road == "vote":
        return least_score < MIN_SCORE or is_likely(plan.scores)
    return plan.score >= least_score


def answer_from_evidence(scorer: PathScorer, given: AnswerInput) -> Reply[AnswerReply]:
    """Answers from the evidence alone; the reply is "insufficient" if the best path does not cover the question."""
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
    """Returns the question as one triple: the first thing it names, its content words as the relation, and "thing".

    Returns an empty list if the question has no content words.
    """
    words = content_words(question)
    head = things[0].name if things else "thing"
    return [PathTriple(head=head, relation=" ".join(words), tail="thing")] if words else []


def plan_step(scorer: PathScorer, given: StepInput, answers_unsure: bool = False) -> NextAction | None:
    """Returns the next action with its score, however low; None if no path fits the question."""
    if given.steps:
        return _plan_over_kinds(scorer, given, answers_unsure)
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
    if asked.paths and _is_contrary(asked.paths[0].path, form.rest):
        return REFUSAL
    plan = plan_turned(asked, turned)
    if plan is None or not (plan.expressions or given.voted):
        return plan
    return replace(plan, scores=_scores_of(plan.score, asked))


def _plan_over_kinds(scorer: PathScorer, given: StepInput, answers_unsure: bool) -> NextAction | None:
    """Returns the next action over a graph that says what its things are; None if no reading fits the question."""
    if settled := settled_expression(given):
        return _plan_expression(settled, given, scores_of_settled(given))
    if given.meant is not None:
        return _plan_expression(given.meant.expression, given, given.meant.scores)
    found = read_meaning(scorer, given)
    if given.likely and (action := offered(given, given.likely)):
        return action
    if given.is_doubted:
        return None
    if found is not None and not answers_unsure and not is_likely(found.scores):
        return ask_back(given, found)
    return _plan_meaning(scorer, found, given, answers_unsure) or ask_back(given, found)


def _is_contrary(path: KnownPath, question: str) -> bool:
    """Returns True if the question's verb says the path's only step in the other direction: who influenced X.

    The right direction then leads nowhere, or it would be ahead.
    """
    return len(path.steps) == 1 and bool(contrary_verb(question, path.root, path.steps[0], path.concept))


def _plan_meaning(
    scorer: PathScorer, found: ReadMeaning | None, given: StepInput, answers_unsure: bool
) -> NextAction | None:
    """Returns the action that executes the meaning `found`, or None if the meaning is uncertain.

    With `answers_unsure`, a meaning that explains the whole question is enough, or else the one most like it.
    """
    if found is not None and answers_unsure and found.nearest and not found.is_whole:
        found = found.by_nearest(found.nearest)
    if found is None or not (found.is_sure or (answers_unsure and found.is_whole)):
        return None
    return _plan_expression(executed(scorer, given, found.meaning.expression), given, found.scores)


def _plan_expression(text: str, given: StepInput, scores: ReadingScores) -> NextAction:
    """Follows the candidates that lie on the paths of `text`, the longest first; if none is left, answers `text`."""
    for fact in sorted(given.evidence, key=lambda each: -len(each.path)):
        text = text.replace(walked_along(fact.start, fact.path), fact.end)
    ways = [way for way in given.candidates if walked_along(way.start, way.path) in text]
    if ways and not given.last_round:
        longest = sorted(ways, key=lambda way: -len(way.path))
        return NextAction(SURE, choices=tuple(way.number for way in longest[: given.width]))
    return NextAction(SURE, (text, *_told_beside(text, given.question)), scores=scores)


def _told_beside(text: str, question: str) -> list[str]:
    """Returns the expressions that are answered beside `text`.

    These are: the members of a counted set, if the question ends with "and who?"; the number of members, if it ends
    with "and how many?".
    """
    if text.startswith("count(") and AND_WHO.search(question):
        return operands_of(text)
    if not AND_HOW_MANY.search(question):
        return []
    if text.startswith(("most(", "fewest(")):
        return [f"count(reach({text}, {operands_of(text)[1]}))"]
    return [f"count({text})"] if text.startswith(("reach(", "intersect(", "filter(", "having(", "S")) else []


def _scores_of(score: float, asked: ParsedQuestion) -> ReadingScores:
    """Returns the scores of the best path, with its lead over the next path that has other steps."""
    paths = asked.paths
    if asked.voted is not None:
        return ReadingScores("vote", score, asked.voted.margin, steps=1, share=asked.voted.share)
    best = paths[0] if paths else None
    other = next((each for each in paths if best and each.path.steps != best.path.steps), None)
    margin = best.score - other.score if best and other else 1.0
    return ReadingScores("path", score, margin, steps=len(best.path.steps) if best else 0)


def _turned(question: str) -> Quantifier:
    """Returns the negation or exclusion of a question.

    The word "other" is ignored, because on a graph without declared kinds it may belong to a relation label.
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
    """Returns the reply of a plan.

    Without a plan, the reply says that the graph does not cover the question, or that a word of it cannot be executed.
    """
    return StepReply(
        path=given.path or words_as_path(given.question, given.things),
        action="not_in_graph" if plan is None else "answer" if plan.expressions else "follow",
        choices=list(plan.choices) if plan else [],
        answer=list(plan.expressions) if plan else [],
    )
