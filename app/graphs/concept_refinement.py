"""Refining: a model names the concepts that many entities share, once, so that no question pays for it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from app.accounts.quotas import Budgets
from app.egress.guard import BlockedError, Guard, StaticSegments
from app.egress.guarded_reasoner import GuardedReasoner, RequestContext, UsageTotals
from app.egress.ledger.ledger import Ledger
from app.egress.wire_pseudonyms import NoPseudonyms
from app.graphs.jobs import JobResult, Progress, Work
from app.graphs.refinement_tasks import RefinementPlan, askable, input_about, plain_concept
from app.graphs.summaries import summary_of
from app.llm.endpoint.request_body import Price
from app.llm.reasoner import Reasoner
from app.llm.tasks import NameReply, Task, TaskKind
from app.privacy.safe_text import Egress, Segment
from app.privacy.words.lexicon import Lexicon
from client_sdk.protocol import RefineEstimate
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.terms import SignatureId

T = TypeVar("T")
Await = Callable[[Coroutine[Any, Any, T]], T]
"""Runs a coroutine on the loop where the endpoint's connections live, and waits for it in a thread."""


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """The price of the first endpoint, where prices are set."""

    price: Price | None = None
    currency: str = ""


@dataclass(slots=True)
class _Named:
    """The model's reply: the concept of each signature that got one, and why others were refused."""

    concepts: dict[SignatureId, str] = field(default_factory=dict)
    not_ordinary: int = 0
    names: int = 0


class ConceptRefiner:
    """Promise: what is sent are relations of signatures that at least `least` entities share, through the guard and
    the ledger; no name of the graph becomes a concept, and no name a public word by it. Limit: a concept is of
    words of the schema or of the English dictionary, and such a word may be a part of a name, too.
    """

    def __init__(
        self,
        catalog: Catalog,
        ledger: Ledger,
        reasoner: Reasoner,
        kind: TaskKind[NameReply],
        statics: StaticSegments,
        budgets: Budgets,
        tariff: TokenPrice,
    ) -> None:
        self._catalog, self._ledger, self._reasoner, self._kind = catalog, ledger, reasoner, kind
        self._statics, self._budgets, self._tariff = statics, budgets, tariff

    def estimate(self, tenant: str, name: str, least: int) -> RefineEstimate:
        """The calls of a refinement, and their cost at most. Raises UnknownGraphError. Nothing is sent."""
        schema = self._catalog.open(tenant, name).blind.schema
        chosen = askable(schema, least)
        tasks = [Task(self._kind, input_about(schema, batch)) for batch in chosen.batches()]
        prompts = sum(self._reasoner.tokens_in(self._reasoner.egress_of(task)) for task in tasks)
        replies = len(tasks) * self._reasoner.longest_reply
        price = self._tariff.price
        return RefineEstimate(
            concepts=len(chosen.signatures),
            entities=chosen.entities,
            too_rare=chosen.too_rare,
            classed=chosen.classed,
            calls=len(tasks),
            prompt_tokens=prompts,
            most_reply_tokens=replies,
            most_cost=None if price is None else price.of(prompts, replies),
            currency="" if price is None else self._tariff.currency,
        )

    def refining(self, tenant: str, caller: str, name: str, least: int, wait_for: Await[_Named]) -> Work:
        """The work of one refinement, to be run in a thread. Raises UnknownGraphError at once."""
        graph = self._catalog.open(tenant, name)

        def refine(progress: Progress) -> JobResult:
            chosen = askable(graph.blind.schema, least)
            reasoner = self._guarded(graph, tenant, caller)
            named = wait_for(self._ask(graph, chosen, reasoner, progress))
            before = graph.blind.schema.concepts
            concepts = [named.concepts.get(SignatureId(at), concept) for at, concept in enumerate(before)]
            changed = sum(new != old for new, old in zip(concepts, before, strict=True))
            told = (_told(chosen, named, changed, least), _cost(reasoner.spent, self._tariff.currency))
            if not changed:
                info = next(each for each in self._catalog.graphs(tenant) if each.name == name)
                return JobResult(summary_of(info), None, told)
            info = self._catalog.rename_concepts(
                graph, concepts, lambda step, done: progress(step, 60.0 + 40.0 * done)
            )
            return JobResult(summary_of(info), None, told)

        return refine

    async def _ask(
        self, graph: PrivateGraph, chosen: RefinementPlan, reasoner: GuardedReasoner, progress: Progress
    ) -> _Named:
        named, asked = _Named(), 0
        schema = graph.blind.schema
        async with reasoner:
            for batch in chosen.batches():
                progress("naming concepts", 60.0 * asked / max(1, len(chosen.signatures)))
                reply = (await reasoner.ask(Task(self._kind, input_about(schema, batch)))).value
                asked += len(batch)
                given = {each.number: each.concepts for each in reply.concepts}
                for number, signature in enumerate(batch, start=1):
                    self._take(graph, signature.id, given.get(number, []), named)
        return named

    def _guard(self, graph: PrivateGraph) -> Guard:
        return Guard(graph.names, self._statics, self._lexicon(graph))

    def _lexicon(self, graph: PrivateGraph) -> Lexicon:
        return Lexicon(graph.public, self._catalog.name_words(graph.tenant))

    def _take(self, graph: PrivateGraph, signature: SignatureId, given: list[str], named: _Named) -> None:
        """The first of the names that may be a concept."""
        for text in given:
            concept = plain_concept(text)
            if concept is not None and self._holds_a_name(graph, concept):
                named.names += 1
            elif concept is None or not all(map(self._lexicon(graph).permits, re.split("[ -]", concept))):
                named.not_ordinary += 1
            else:
                named.concepts[signature] = concept
                return

    def _holds_a_name(self, graph: PrivateGraph, concept: str) -> bool:
        if any(not hit.public for hit in graph.names.find(concept)):
            return True
        try:
            self._guard(graph).clear(Egress((Segment(concept.encode()),)), frozenset())
        except BlockedError:
            return True
        return False

    def _guarded(self, graph: PrivateGraph, tenant: str, caller: str) -> GuardedReasoner:
        tenants = self._budgets.tenants
        return GuardedReasoner(
            inner=self._reasoner,
            guard=self._guard(graph),
            ledger=self._ledger,
            errand=RequestContext(tenant, caller, secrets.token_urlsafe(12), ""),
            pseudonyms=NoPseudonyms(),
            account=tenants.account(tenant) if tenants else None,
        )


def _told(chosen: RefinementPlan, named: _Named, changed: int, least: int) -> str:
    return (
        f"{changed} of {len(chosen.signatures)} concepts were renamed. Names refused: {named.not_ordinary} were not "
        f"one to three ordinary words, {named.names} held a name of the graph. Not asked about: {chosen.too_rare} "
        f"that fewer than {least} entities share, {chosen.classed} with a class of their own."
    )


def _cost(spent: UsageTotals, currency: str) -> str:
    money = "" if spent.cost is None or not spent.calls else f", {spent.cost:.4f} {currency}"
    return (
        f"{spent.calls} calls, {spent.prompt_tokens} tokens of prompts, {spent.completion_tokens} of replies{money}."
    )
