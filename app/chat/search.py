"""Searches the graph for an answer, trying one reading of the question after another, with a model or without.

If both answered, it decides between the model's answer and the service's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from app.chat.beside import public_facts_of
from app.chat.concluding import conclude, unknown_words
from app.chat.execution import Conclusion
from app.chat.public_terms import public_names
from app.chat.question_run import (
    AUTO,
    DEFAULT_STRATEGY,
    NOT_FOUND,
    OPEN_PROFILE_STRATEGIES,
    PUBLIC_STRATEGY,
    ChatOptions,
    QuestionReading,
    QuestionRun,
    StageTimer,
)
from app.chat.question_thread import in_one_thread, in_service_loop
from app.chat.reply import confidence_in
from app.chat.turns import invitation
from app.egress.budgets import BudgetUsedUpError
from app.egress.disclosure import BelowAnonymityThresholdError, Profile
from app.egress.guard import Guard, StaticSegments
from app.egress.guarded_reasoner import GuardedReasoner, InHouseRunner, RequestContext, pseudonyms_of_answer
from app.egress.ledger.ledger import RequestLog
from app.llm.reasoner import Reasoner, ReasonerError, ReasonerRefusedError, ReplyUnusableError
from app.strategies.base import BesideGraph, Draft, Limits, PublicName, RetrievalResult, Strategy, StrategyInput
from app.telemetry.logs import event_log
from client_sdk.protocol import Names
from kg_store.catalog import Catalog
from kg_store.graph.blind_graph import RememberedGraph
from kg_store.graph.kinds import kinds_of
from kg_store.terms import ValueKind

SURE: Final = 0.9
"""The least confidence with which the service's own answer is given without asking the model as well. Chosen by hand;
not fitted."""
MODEL_ALONE: Final = "This is how the model read the question; the service could not read it by itself."
MODEL_ELSE: Final = "The model read the question in another way:"
OWN_ELSE: Final = "The service itself read the question in another way:"
MODEL_NONE: Final = "The model gave no answer; this is the service's own."
NO_REPLY: Final = "The model's reply could not be used; this is the service's own answer."
NOT_REACHED: Final = "The model could not be reached; this is the service's own answer."
REFUSED: Final = "The model's endpoint refused the request; this is the service's own answer."
OVER_BUDGET: Final = "The budget for the model is used up; this is the service's own answer."
TOO_FEW: Final = "The model was not asked, since too few things match; this is the service's own answer."


def is_sure(run: QuestionRun) -> bool:
    """Returns True if the service's own answer is given without asking the model as well."""
    return run.ended.conclusion is not None and (confidence_in(run) or 0.0) >= SURE


def why_not(error: Exception) -> str:
    """Returns the sentence that tells the asker why the answer is not the model's."""
    if isinstance(error, BudgetUsedUpError):
        return OVER_BUDGET
    if isinstance(error, ReplyUnusableError):
        return NO_REPLY
    if isinstance(error, ReasonerRefusedError):
        return REFUSED
    assert isinstance(error, ReasonerError)
    return NOT_REACHED


def remarked(own: QuestionRun, remark: str) -> QuestionRun:
    """Returns the run that the service answered itself, with the remark added if it has an answer."""
    if own.ended.conclusion is None or own.found.said:
        return own
    return replace(own, remarks=(*own.remarks, remark))


def weighed(own: QuestionRun, asked: QuestionRun, *, is_capable: bool) -> QuestionRun:
    """Decides between the service's own run and the model's, and returns the one to show, or both in one.

    If both give the same result, the own one is shown. `is_capable`: the model is good enough that its answer comes
    first if the service has none or is unsure.
    """
    if asked.found.over_budget:
        return remarked(own, OVER_BUDGET)
    if asked.found.withheld:
        return remarked(own, TOO_FEW)
    if asked.ended.conclusion is None or not _uses_what_is_named(asked):
        return remarked(own, MODEL_NONE) if is_capable else own
    if own.ended.conclusion is None or own.found.said:
        return _with_text(asked, f"{asked.ended.sentence} {MODEL_ALONE}", {}) if is_capable else own
    mine, theirs = own.found.draft, asked.found.draft
    if mine and theirs and own.executor.are_equal(mine.expressions[0], theirs.expressions[0]):
        return own
    if is_capable and not is_sure(own):
        return _both(asked, own, OWN_ELSE)
    return _both(own, asked, MODEL_ELSE)


def _uses_what_is_named(run: QuestionRun) -> bool:
    """Returns False if the answer uses none of the things that the question names, so it answers another question.

    Words that the graph does not hold ("contraindicated") name nothing.
    """
    held = (each for each in run.read.dialogue.topics if len(each.mids) or each.value_kind is not ValueKind.TEXT)
    topics = {topic.pseudonym for topic in held if topic.newest and not topic.doubtful}
    named = {topic for topic in topics if topic in run.read.dialogue.question}
    if not named or run.found.draft is None:
        return True
    text = " ".join(run.found.draft.expressions)
    ends = {fact.end: fact.start for fact in run.found.evidence}
    used = set(run.conversation.table.known(text))
    for _ in ends:
        used |= {ends[word] for word in used if word in ends}
    return not named.isdisjoint(used) or _has_row_of(run, named)


def _has_row_of(run: QuestionRun, named: Iterable[str]) -> bool:
    """Returns True if the answer is a table with a row for a thing of `named`: takings by cash, card and cheque."""
    assert run.found.draft is not None
    found = run.executor.result_of(run.found.draft.expressions[0])
    keys = {key for key, _ in found.rows} if found else set()
    return any(
        not keys.isdisjoint(run.conversation.table.resolve(each, run.graph.blind)[0].tolist()) for each in named
    )


def _both(first: QuestionRun, second: QuestionRun, between: str) -> QuestionRun:
    """Returns `first` with the sentence and evidence of `second` added, so that the asker sees both answers."""
    other = second.ended.conclusion
    assert other is not None
    told = _with_text(first, f"{first.ended.sentence} {between} {second.ended.sentence}", other.names)
    facts = tuple(dict.fromkeys((*first.found.evidence, *second.found.evidence)))
    things = tuple(dict.fromkeys((*first.found.things, *second.found.things)))
    return replace(told, found=replace(told.found, evidence=facts, things=things))


def goes_on_from(second: QuestionRun, first: QuestionRun) -> bool:
    """Returns True if the answer of `second` uses a thing that it names, or that `first` names or answered with.

    False if both have the same result, as for "which has the fewest?" behind "which ward has the most beds", and if
    the second tells all things of a kind. False also if it is more than one step from what `first` answered with: in
    "which fork does X have and which charger does it use?" the charger is of X, and not of all that have the fork.
    """
    mine, theirs = second.found.draft, first.found.draft
    if mine is None or theirs is None or second.executor.are_equal(mine.expressions[0], theirs.expressions[0]):
        return False
    used = " ".join([*mine.expressions, *(fact.start for fact in second.found.evidence)])
    said = " ".join([first.read.dialogue.question, second.read.dialogue.question, first.ended.sentence])
    known = second.conversation.table.known
    answered = set(known(first.ended.sentence)) - set(known(first.read.dialogue.question))
    steps = [fact for fact in second.found.evidence if fact.start in answered]
    ends = {fact.end for fact in steps}
    is_far = any(len(fact.path) > 1 for fact in steps) or any(fact.start in ends for fact in second.found.evidence)
    return not is_far and not set(known(used)).isdisjoint(known(said))


def joined(run: QuestionRun, parts: Sequence[QuestionRun]) -> QuestionRun:
    """Returns `run` with the answers of its parts in one: their sentences, items, names, facts and expressions.

    Its confidence is that of the least certain part.
    """
    conclusions = [part.ended.conclusion for part in parts if part.ended.conclusion is not None]
    drafts = [part.found.draft for part in parts if part.found.draft is not None]
    text = " ".join(each.text for each in conclusions)
    items = tuple(item for each in conclusions for item in each.items)
    names = {name: names for each in conclusions for name, names in each.names.items()}
    draft = Draft(tuple(each for draft in drafts for each in draft.expressions), text)
    least = min(parts, key=lambda part: confidence_in(part) or 0.0).found
    facts = tuple(dict.fromkeys(fact for part in parts for fact in part.found.evidence))
    things = tuple(dict.fromkeys(thing for part in parts for thing in part.found.things))
    found = replace(least, draft=draft, evidence=facts, things=things)
    ended = replace(parts[0].ended, conclusion=Conclusion(text, items, names), sentence=text)
    return replace(run, found=found, ended=ended)


def _with_text(run: QuestionRun, text: str, more: Mapping[str, Names]) -> QuestionRun:
    conclusion = run.ended.conclusion
    assert conclusion is not None
    told = Conclusion(text, conclusion.items, {**more, **conclusion.names})
    return replace(run, ended=replace(run.ended, conclusion=told, sentence=text))


def _with_invitation(found: RetrievalResult, run: QuestionRun) -> RetrievalResult:
    """Returns `found` with a sentence that says what can be asked, if the turn was no question and got no reply.

    Any other result is returned as it is.
    """
    if run.or_else and found.draft is None:
        return replace(NOT_FOUND, said=run.or_else)
    is_lost = found.draft is None and not (found.said or found.over_budget or found.contradicted or found.asks_back)
    if not is_lost or run.turn not in ("talk", "neither") or run.request.strategy != AUTO:
        return found
    return replace(found, contradicted=f"{NOTHING_TO_SAY} {invitation(kinds_of(run.graph.blind.schema))}")


def in_order(readings: Sequence[QuestionReading], *, is_model: bool) -> list[QuestionReading]:
    """Returns the readings in the order in which they are tried: those with common nouns as names first.

    A model gets none of these, because together with the plain question they would show which noun a pseudonym
    stands for. It gets words that were replaced anyway as the things that are called so.
    """
    plain = [each for each in readings if not each.by_kinds]
    if is_model:
        return [replace(each, read=each.read.with_words()) for each in plain]
    return [*(each for each in readings if each.by_kinds), *plain]


log = event_log("search")
NOTHING_TO_SAY: Final = "I can only talk about what this graph holds."
ODD_COUNTS: Final = "The model's endpoint reported counts of tokens that can not be right, so they were counted here."


Strategies = Mapping[str, Strategy]
"""The strategies of a service by their names, such as "sets"."""


class GraphSearch:
    """Searches a graph with the requested strategy.

    For each question it makes one GuardedReasoner, which every call of a model passes.
    """

    def __init__(
        self,
        catalog: Catalog,
        reasoner: Reasoner,
        strategies: Strategies,
        statics: StaticSegments,
        ledger: RequestLog,
        options: ChatOptions,
    ) -> None:
        self._reasoner, self._strategies, self._statics = reasoner, strategies, statics
        self._catalog, self._ledger, self._options = catalog, ledger, options

    async def search(self, run: QuestionRun, timer: StageTimer) -> QuestionRun:
        """Returns the run with `found` and `ended` set.

        Raises BlockedError, LedgerUnavailableError, BudgetUsedUpError (nothing more was sent), ReasonerError.
        """
        is_model = self._reasoner.longest_reply > 0 and run.known is None and run.strategy == DEFAULT_STRATEGY
        has_second = is_model and self._options.in_house is not None and self._options.endpoint_use != "alone"
        own = await self.own_answer(run, timer) if has_second else None
        if own is not None and self._options.endpoint_use == "unsure" and is_sure(own):
            return own
        async with self._guarded(run) as reasoner:
            told = await self._asked(run, own, reasoner, timer)
        odd = (ODD_COUNTS,) if reasoner.spent.odd_counts else ()
        shown = reasoner.disclosure
        found = replace(told.found, notes=(*told.found.notes, *shown.notes, *odd))
        return replace(told, found=found, spent=reasoner.spent, anonymity=shown.fewest, withheld=shown.kept)

    @property
    def is_in_house(self) -> bool:
        """True if the embedded reasoner answers, so that nothing leaves the service."""
        return self._reasoner.longest_reply == 0

    async def _asked(
        self, run: QuestionRun, own: QuestionRun | None, reasoner: GuardedReasoner, timer: StageTimer
    ) -> QuestionRun:
        try:
            if own is None:
                return await self._read_in_turn(run, reasoner, timer)
            readings = [own.reading] if own.is_settled and not own.reading.by_kinds else list(run.readings)
            first = replace(run, readings=tuple(in_order(readings, is_model=True)[:1]))
            asked = await self._read_in_turn(first, reasoner, timer)
            return weighed(own, asked, is_capable=reasoner.is_capable)
        except (ReasonerError, BudgetUsedUpError) as error:
            if not (reasoner.is_model and self._options.falls_back and self._options.in_house):
                raise
            log.warning("fell_back", code=type(error).__name__, status=getattr(error, "status", None))
            return remarked(own or await self.own_answer(run, timer), why_not(error))

    @property
    def _embedded(self) -> Reasoner | None:
        return self._reasoner if self.is_in_house else self._options.in_house

    @property
    def reads_in_house(self) -> bool:
        """True if the service can read questions without a model."""
        return self._embedded is not None

    async def own_answer(self, run: QuestionRun, timer: StageTimer) -> QuestionRun:
        """Returns the run with the service's own answer; nothing is sent. Condition: `reads_in_house`."""
        assert self._embedded is not None
        strategy = DEFAULT_STRATEGY if run.strategy in OPEN_PROFILE_STRATEGIES else run.strategy
        run, runner = replace(run, strategy=strategy), InHouseRunner(self._embedded)
        return await in_one_thread(partial(self._read_in_turn, run, runner, timer))

    async def _read_in_turn(
        self, run: QuestionRun, runner: InHouseRunner | GuardedReasoner, timer: StageTimer
    ) -> QuestionRun:
        """Tries one reading after another until one gives an answer or ends the search; returns its run.

        If none does, returns the first that asks back, else the last.
        """
        asks_back: QuestionRun | None = None
        last = run
        for reading in in_order(run.readings, is_model=runner.is_model):
            run = await self._with_cases(replace(run, reading=reading))
            with timer.stage("finding"):
                run = replace(run, found=run.known or await self._found(run, runner, timer))
            run = await timer.in_thread("concluding", conclude, run, self._options.read_back)
            if run.is_settled:
                return run
            asks_back = asks_back or (run if run.ended.asks_back and not reading.by_kinds else None)
            last = last if reading.by_values else run
        return asks_back or last

    async def _with_cases(self, run: QuestionRun) -> QuestionRun:
        cases = self._options.cases
        if cases is None or run.known is not None:
            return run
        labels = frozenset(relation.label for relation in run.graph.blind.schema.relations)
        person, question = run.request.options.person, run.read.dialogue.question
        asked = run.tenant, run.request.graph, run.conversation.key_id, person, labels, question
        return replace(run, near_cases=await asyncio.to_thread(cases.near, *asked))

    async def _found(
        self, run: QuestionRun, runner: InHouseRunner | GuardedReasoner, timer: StageTimer
    ) -> RetrievalResult:
        asked = run.request.options
        # Prompts for the embedded reasoner never leave the service, so they may show everything.
        guarded = runner if isinstance(runner, GuardedReasoner) else None
        inquiry = StrategyInput(
            dialogue=run.read.dialogue,
            graph=RememberedGraph(run.graph.blind, None if runner.is_model else run.graph.in_house),
            pseudonyms=run.conversation.table,
            reasoner=runner,
            limits=Limits(asked.width, asked.depth, asked.relations_per_concept),
            needs_context=run.reading.needs_context,
            language=run.reader,
            on_round=timer.begin_round,
            profile=self._options.profile if guarded else Profile.OPEN,
            wider=guarded.disclosure.wider if guarded else {},
            truth_of=run.executor.truth_of,
            result_of=run.executor.result_of,
            turn=run.turn,
            may_leave=guarded.may_leave if guarded else lambda texts: (True,) * len(texts),
            today=lambda: run.conversation.table.of_literal(str(self._options.today()), ValueKind.DATE),
            cases=run.near_cases.gains,
            typed=_typed(run),
            public_names=_public_names(run, guarded),
            chosen=run.conversation.chosen(run.read.dialogue.question),
            looked_for=None if asked.looked_for is None else tuple(asked.looked_for),
            beside=await asyncio.to_thread(self._beside, run) if run.strategy == PUBLIC_STRATEGY else (),
        )
        try:
            found = await self._strategies[run.strategy].find(inquiry)
        except BelowAnonymityThresholdError:
            return replace(NOT_FOUND, withheld=True)
        return _with_invitation(found, run)

    def _beside(self, run: QuestionRun) -> tuple[BesideGraph, ...]:
        return public_facts_of(self._catalog, run.tenant, run.beside)

    def _guarded(self, run: QuestionRun) -> GuardedReasoner:
        conversation, budgets, tenant = run.conversation, self._options.budgets, run.tenant
        reveals = budgets.reveals.of(tenant, conversation.revealed) if budgets.reveals else None
        return GuardedReasoner(
            inner=self._reasoner,
            sends=in_service_loop,
            guard=Guard(run.graph.names, self._statics, run.lexicon, run.graph.private_names),
            ledger=self._ledger,
            errand=RequestContext(tenant, conversation.key_id, run.answer_id, conversation.id),
            pseudonyms=pseudonyms_of_answer(conversation.table, run.graph.blind.schema, run.answer_id),
            disclosure=self._options.disclosure.of_question(run.graph.blind, self._options.profile, reveals),
            most_tokens=budgets.question,
            account=budgets.tenants.account(tenant) if budgets.tenants else None,
        )


def _public_names(run: QuestionRun, guarded: GuardedReasoner | None) -> Callable[[], Sequence[PublicName]]:
    if guarded is None or not run.graph.public_nodes:
        return lambda: ()
    return partial(public_names, run.graph, run.lexicon.names, guarded.guard.is_public_term)


def _typed(run: QuestionRun) -> Mapping[str, str]:
    """Returns the typed words that the embedded reasoner reads: all unknown ones of a question read by meaning alone.

    A word of another language is often in no lexicon, and its capital may be that of a noun.
    """
    is_other = run.reader.other_language(run.request.messages[-1].content)
    return {**run.read.typed, **unknown_words(run)} if is_other else run.read.typed
