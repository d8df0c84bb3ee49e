"""The verbs `step` and `answer` without a model: the best path that has been walked wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.llm.embedded.answer_plans import target_kind
from app.llm.embedded.candidate_paths import roots_of, score_paths
from app.llm.embedded.composed_plans import plan_composed
from app.llm.embedded.language.answer_form import AskedForm, read_form
from app.llm.embedded.language.quantifiers import Quantifier, read_quantifier
from app.llm.embedded.language.question_words import content_words
from app.llm.embedded.language.relation_wording import VALUES
from app.llm.embedded.next_action import NextAction, ParsedQuestion
from app.llm.embedded.quantified_plans import plan_turned
from app.llm.embedded.reading_checks import accounted
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.embedded.sentences.answer_text import reply_text
from app.llm.tasks import AnswerInput, AnswerReply, PathTriple, StepInput, StepReply, Thing

# Below this score nothing in the graph covers the question.
MIN_SCORE = 0.2
# So many paths are tried before a question is left for a word that none of them explains.
MAX_TRIED = 4


def take_step(scorer: PathScorer, given: StepInput, least_score: float = MIN_SCORE) -> StepReply:
    """Follows the best ways until the best path is one that has been walked; then answers with its end."""
    plan = plan_step(scorer, given)
    if plan is not None and plan.unread:
        return _reply(given, "The question holds what can't be executed.")
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
    plain = all(value.concept != "text" for value in unheld)
    if given.declared and plain and (composed := plan_composed(scorer, given, entities, kinds)) is not None:
        return composed
    turned = _turned(given)
    named = _named(given, entities)
    form = _form_of(turned.rest, given, len(named), unheld)
    unknown = next((thing.name for thing in unheld if thing.concept == "text"), "")
    if unread := turned.unread or unknown:
        return NextAction(0.0, unread=unread)
    # What an answer is compared with, or leaves out, is no place to start from, even where the graph holds it.
    aside = (form.value, turned.thing)
    entities, named = ([thing for thing in some if thing.name not in aside] for some in (entities, named))
    roots = entities or kinds
    asked = ParsedQuestion(
        form=form,
        paths=score_paths(scorer, form.rest, given, roots, kinds),
        roots=roots,
        kinds=kinds,
        both_named=len(named) >= 2,
        width=given.width,
        last_round=given.last_round or not given.candidates,
        ends={fact.end: fact.end_concept for fact in given.evidence} | {t.name: t.concept for t in given.things},
        values=[thing for thing in _named(given, given.things) if thing.name[0] == "V"],
        target=target_kind(form.rest, kinds) if given.declared else None,
        exact=given.declared,
    )
    return _explained(scorer, asked, turned, given) if given.declared else plan_turned(asked, turned, given)


def _explained(scorer: PathScorer, asked: ParsedQuestion, turned: Quantifier, given: StepInput) -> NextAction | None:
    """The first plan whose path explains each word of the question; else the first, with the word that it leaves."""
    first: NextAction | None = None
    for _ in range(MAX_TRIED):
        plan = plan_turned(asked, turned, given)
        if plan is None or plan.score < MIN_SCORE:
            break
        checked = accounted(scorer, asked, given, plan)
        if not checked.unread:
            return checked
        first = first or checked
        if plan.path is None:
            break
        asked = replace(asked, paths=[each for each in asked.paths if each.path.steps != plan.path.steps])
    return first or plan


def _turned(given: StepInput) -> Quantifier:
    """Where a graph does not say what its things are, "other" may well belong to a relation's words."""
    turned = read_quantifier(given.question)
    return turned if given.declared or turned.turn in ("negated", "except") else Quantifier("", given.question)


def _named(given: StepInput, things: Sequence[Thing]) -> list[Thing]:
    words = set(given.question.replace("?", " ").replace(",", " ").replace("'", " ").split())
    return [thing for thing in things if thing.name in words]


def _form_of(text: str, given: StepInput, topics: int, unheld: Sequence[Thing]) -> AskedForm:
    form = read_form(text, topics)
    if not given.declared:
        rest = f"{form.rest} date of birth" if form.measure == "age" else form.rest
        return replace(form, rest=rest, measure="", either=False)
    equal = next((value for value in unheld if value.concept in VALUES), None)
    if equal is None or form.form not in ("things", "count"):
        return form
    return replace(
        form, form="filter", operator="=", value=equal.name, function="count" if form.form == "count" else ""
    )


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
