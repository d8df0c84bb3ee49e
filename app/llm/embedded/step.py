"""The verbs `step` and `answer` without a model: the best path that has been walked wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.llm.embedded.answer_plans import NextAction, ParsedQuestion, target_kind
from app.llm.embedded.candidate_paths import roots_of, score_paths
from app.llm.embedded.language.answer_form import read_form
from app.llm.embedded.language.masked_words import with_descriptions
from app.llm.embedded.language.quantifiers import read_quantifier
from app.llm.embedded.language.question_words import content_words
from app.llm.embedded.language.relation_wording import VALUES
from app.llm.embedded.quantified_plans import plan_turned
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.embedded.sentences.answer_text import reply_text
from app.llm.tasks import AnswerInput, AnswerReply, PathTriple, StepInput, StepReply, Thing

# Below this score nothing in the graph covers the question.
MIN_SCORE = 0.2


def take_step(scorer: PathScorer, given: StepInput, least_score: float = MIN_SCORE) -> StepReply:
    """Follows the best ways until the best path is one that has been walked; then answers with its end."""
    plan = plan_step(scorer, given)
    if plan is not None and plan.unread:
        return _reply(given, "The question holds what can't be executed.", unread=plan.unread)
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
    turned = read_quantifier(given.question)
    entities, kinds, unheld = roots_of(given)
    asked_words = set(given.question.replace("?", " ").replace(",", " ").replace("'", " ").split())
    form = read_form(turned.rest, sum(thing.name in asked_words for thing in entities))
    # What an answer is compared with, or leaves out, is no place to start from, even where the graph holds it.
    entities = [thing for thing in entities if thing.name not in (form.value, turned.thing)]
    named = [thing for thing in entities if thing.name in asked_words]
    if form.form in ("things", "count") and (equal := next((v for v in unheld if v.concept in VALUES), None)):
        counts = "count" if form.form == "count" else ""
        form = replace(form, form="filter", operator="=", value=equal.name, function=counts)
    unknown = next((thing.name for thing in unheld if thing.concept == "text"), "")
    if unread := turned.unread or unknown:
        return NextAction(0.0, unread=unread)
    ends = {fact.end: fact.end_concept for fact in given.evidence} | {t.name: t.concept for t in given.things}
    roots = entities or kinds
    asked = ParsedQuestion(
        form=form,
        paths=score_paths(scorer, form.rest, given, roots, kinds),
        roots=roots,
        kinds=kinds,
        both_named=len(named) >= 2,
        width=given.width,
        last_round=given.last_round or not given.candidates,
        ends=ends,
        values=[thing for thing in given.things if thing.name[0] == "V" and thing.name in asked_words],
        target=target_kind(form.rest, kinds),
    )
    plan = plan_turned(asked, turned, given)
    return plan if plan is None else _accounted(scorer, asked, given, plan)


def _accounted(scorer: PathScorer, asked: ParsedQuestion, given: StepInput, plan: NextAction) -> NextAction:
    """`plan`, or the word of the question that its path leaves unexplained."""
    if not plan.expressions or plan.path is None:
        return plan
    path = plan.path
    # A thing that is named and plays no part was not understood.
    ignored = [root.name for root in asked.roots if root not in asked.kinds and root.name != path.root]
    if asked.both_named and (name := next((name for name in ignored if name not in " ".join(plan.expressions)), "")):
        if not (plan.expressions[0].startswith("union")):
            return replace(plan, unread=name)
    hops = tuple(zip(with_descriptions(path.steps, given.masked_relations), path.concepts, strict=True))
    concepts = [thing.concept for thing in (*asked.roots, *asked.kinds)]
    told = scorer.coverage(asked.form.rest, hops, concepts)
    if DEBUG:
        print("   cov", {k: round(v, 2) for k, v in told.items()}, path.steps)
    word = min(told, key=lambda word: told[word], default="")
    least = LEAST_OF_TRUTH if asked.form.form == "truth" else LEAST_EXPLAINED
    return replace(plan, unread=word) if word and told[word] < least else plan


import os

DEBUG = os.environ.get("COV")
LEAST_OF_TRUTH = float(os.environ.get("TAUT", "0.8"))
LEAST_EXPLAINED = float(os.environ.get("TAU", "0.35"))


def _reply(given: StepInput, thought: str, plan: NextAction | None = None, unread: str = "") -> StepReply:
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
        unread=unread,
    )
