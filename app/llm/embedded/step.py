"""The verbs `step` and `answer` without a model: the best path that has been walked wins."""

from __future__ import annotations

from collections.abc import Sequence

from app.llm.embedded.answer_plans import NextAction, ParsedQuestion, answer_whole_concept, plan_of
from app.llm.embedded.candidate_paths import roots_of, score_paths
from app.llm.embedded.language.answer_form import read_form
from app.llm.embedded.language.question_words import content_words
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.embedded.sentences.answer_text import reply_text
from app.llm.tasks import AnswerInput, AnswerReply, PathTriple, StepInput, StepReply, Thing

# Below this score nothing in the graph covers the question.
MIN_SCORE = 0.2


def take_step(scorer: PathScorer, given: StepInput, least_score: float = MIN_SCORE) -> StepReply:
    """Follows the best ways until the best path is one that has been walked; then answers with its end."""
    plan = plan_step(scorer, given)
    if plan is None or plan.score < least_score:
        return _reply(given, "No path of the graph covers the question.")
    if plan.expressions:
        return _reply(given, "A walked path covers the question.", plan)
    return _reply(given, "These ways lie nearest to the question.", plan)


def answer_from_evidence(scorer: PathScorer, given: AnswerInput) -> AnswerReply:
    """The same over evidence alone; insufficient while the best path does not cover the question."""
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
        return AnswerReply(thought="The evidence does not cover the question.", sufficient=False, answer=[], text="")
    return AnswerReply(
        thought="The evidence covers the question.",
        sufficient=True,
        answer=list(plan.expressions),
        text=reply_text(plan.expressions[0], step),
    )


def words_as_path(question: str, things: Sequence[Thing]) -> list[PathTriple]:
    """The content words of the question, as one triple from what it names to what it asks for."""
    words = content_words(question)
    head = things[0].name if things else "thing"
    return [PathTriple(head=head, relation=" ".join(words), tail="thing")] if words else []


def plan_step(scorer: PathScorer, given: StepInput) -> NextAction | None:
    """The next move with its score, whatever the score is; None when no path fits what is asked."""
    entities, kinds, unheld = roots_of(given)
    asked_words = set(given.question.replace("?", " ").replace(",", " ").replace("'", " ").split())
    form = read_form(given.question, sum(thing.name in asked_words for thing in entities))
    # What a filter compares with is no place to start from, even where the graph holds that value.
    entities = [thing for thing in entities if thing.name != form.value]
    named = [thing for thing in entities if thing.name in asked_words]
    if any(thing.concept == "text" for thing in unheld):
        return None  # The question is about somebody or something that the graph does not hold.
    if not entities and kinds and (whole := answer_whole_concept(form, kinds[0])):
        return whole
    roots = entities or kinds
    ends = {fact.end: fact.end_concept for fact in given.evidence} | {t.name: t.concept for t in given.things}
    asked = ParsedQuestion(
        form=form,
        paths=score_paths(scorer, form.rest, given, roots, kinds),
        roots=roots,
        kinds=kinds,
        both_named=len(named) >= 2,
        width=given.width,
        last_round=given.last_round or not given.candidates,
        ends=ends,
    )
    return plan_of(asked)


def _reply(given: StepInput, thought: str, plan: NextAction | None = None) -> StepReply:
    path = given.path or words_as_path(given.question, given.things)
    action = "not_in_graph" if plan is None else "answer" if plan.expressions else "follow"
    if plan is not None and not plan.expressions and not plan.choices:
        action = "not_in_graph"
    return StepReply(
        thought=thought,
        path=path,
        action=action,
        choices=list(plan.choices) if plan else [],
        answer=list(plan.expressions) if plan else [],
        text=reply_text(plan.expressions[0], given) if plan and plan.expressions else "",
    )
