"""Lets a model name the concepts that many entities share, once for a graph, so that questions need not.

A signature is a set of relations; entities with the same signature have the same concept.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.accounts.quotas import Budgets
from app.egress.guard import BlockedError, Guard, StaticSegments
from app.egress.guarded_reasoner import GuardedReasoner, PseudonymSubstitution, RequestContext
from app.egress.ledger.ledger import Ledger
from app.graphs.jobs import JobResult, Progress, summary_of
from app.llm.endpoint.request_body import Price
from app.llm.reasoner import Reasoner
from app.llm.tasks import Cluster, NameInput, NameReply, Task, TaskKind
from app.privacy.safe_text import Egress, Segment
from app.privacy.words.lexicon import Lexicon
from client_sdk.protocol import RefineEstimate
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.terms import Hop, NodeKind, Schema, Signature, SignatureId
from kg_store.text.words import folded_text

MAX_RELATIONS = 15
"""The most relations shown of one signature; the rarest are chosen, because they say most. Chosen by hand."""

IN_ONE_CALL = 20  # signatures in one call; they are numbered, and the guard lets numbers up to 99 pass
_PLAIN = re.compile(r"[^\W\d_]{2,24}(?:[ -][^\W\d_]{2,24}){0,2}")


@dataclass(frozen=True, slots=True)
class RefinementPlan:
    """The signatures that a model is asked about, and the numbers of those left out.

    `too_rare`: signatures that too few entities share; `classed`: signatures of entities with a class of the owner's.
    """

    signatures: tuple[Signature, ...]
    too_rare: int
    classed: int

    @property
    def entities(self) -> int:
        return sum(signature.size for signature in self.signatures)

    def batches(self) -> Iterator[Sequence[Signature]]:
        for start in range(0, len(self.signatures), IN_ONE_CALL):
            yield self.signatures[start : start + IN_ONE_CALL]


def askable(schema: Schema, least: int) -> RefinementPlan:
    """Returns the signatures that at least `least` entities share; a rarer set of relations may identify an entity.

    Entities with a class, shown or masked, are left out, because that class is the owner's own word for them.
    """
    entities = [each for each in schema.signatures if each.kind is NodeKind.ENTITY and _worded(schema, each)]
    unclassed = [each for each in entities if not (each.classes or each.masked)]
    shared = tuple(each for each in unclassed if each.size >= least)
    return RefinementPlan(shared, len(unclassed) - len(shared), len(entities) - len(unclassed))


def input_about(schema: Schema, signatures: Sequence[Signature]) -> NameInput:
    """Returns the model's input about `signatures`, numbered from 1, which contains words of the schema only."""
    spread = Counter(hop for signature in schema.signatures for hop in signature.hops)
    clusters = []
    for number, signature in enumerate(signatures, start=1):
        rarest = sorted(_worded(schema, signature), key=lambda hop: (spread[hop], hop))[:MAX_RELATIONS]
        clusters.append(Cluster(number=number, relations=[schema.label(hop) for hop in sorted(rarest)]))
    return NameInput(question="", clusters=clusters)


def plain_concept(text: str) -> str | None:
    """Returns `text` in lower case, or None if it is not one to three words of letters."""
    words = folded_text(text)
    return words if _PLAIN.fullmatch(words) else None


def _worded(schema: Schema, signature: Signature) -> list[Hop]:
    """Returns the signature's relations that are not masked; an opaque word would say nothing about a concept."""
    return [hop for hop in signature.hops if schema.relations[hop.relation].mask is None]


Await = Callable[[Coroutine[Any, Any, None]], None]
"""A function that runs a coroutine on the endpoint's event loop, and blocks its own thread meanwhile."""


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """The price and currency of the first endpoint's tokens; None and empty if no prices are set."""

    price: Price | None = None
    currency: str = ""


class ConceptRefiner:
    """Estimates refinements of concepts, and creates their jobs.

    Promise: only relations of signatures that at least `least` entities share are sent, through the guard and the
    ledger; no name of the graph becomes a concept, so no name becomes a public word. Limit: a concept consists of
    words of the schema or of the English dictionary, and such a word may also be part of a name.
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
        """Returns the number of calls that a refinement makes, and the most that they can cost. Sends nothing.

        Raises UnknownGraphError.
        """
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

    def job(self, tenant: str, caller: str, name: str, least: int, wait_for: Await) -> RefinementJob:
        """Returns a refinement, to be run in a thread. Raises UnknownGraphError at once."""
        graph = self._catalog.open(tenant, name)
        tenants = self._budgets.tenants
        reasoner = GuardedReasoner(
            inner=self._reasoner,
            guard=Guard(graph.names, self._statics, Lexicon(graph.public, self._catalog.name_words(tenant))),
            ledger=self._ledger,
            errand=RequestContext(tenant, caller, secrets.token_urlsafe(12), ""),
            pseudonyms=PseudonymSubstitution,
            account=tenants.account(tenant) if tenants else None,
        )
        chosen = askable(graph.blind.schema, least)
        return RefinementJob(
            self._catalog, graph, chosen, least, reasoner, self._kind, self._statics, self._tariff.currency, wait_for
        )


@dataclass(slots=True)
class RefinementJob:
    """One refinement: asks the model, checks the names that it gives, and renames the concepts.

    `concepts`: the new name of each signature. `not_ordinary` and `names` count refused ones: those that are not one
    to three ordinary words, and those that contain a name of the graph.
    """

    catalog: Catalog
    graph: PrivateGraph
    chosen: RefinementPlan
    least: int
    reasoner: GuardedReasoner
    kind: TaskKind[NameReply]
    statics: StaticSegments
    currency: str
    wait_for: Await
    concepts: dict[SignatureId, str] = field(default_factory=dict)
    not_ordinary: int = 0
    names: int = 0

    def run(self, progress: Progress) -> JobResult:
        """Runs the refinement. Raises LoadError, and what `progress` and the reasoner raise."""
        self.wait_for(self._ask(progress))
        before = self.graph.blind.schema.concepts
        concepts = [self.concepts.get(SignatureId(at), concept) for at, concept in enumerate(before)]
        changed = sum(new != old for new, old in zip(concepts, before, strict=True))
        chosen, spent = self.chosen, self.reasoner.spent
        money = "" if spent.cost is None or not spent.calls else f", {spent.cost:.4f} {self.currency}"
        told = (
            f"{changed} of {len(chosen.signatures)} concepts were renamed. Names refused: {self.not_ordinary} were "
            f"not one to three ordinary words, {self.names} held a name of the graph. Not asked about: "
            f"{chosen.too_rare} that fewer than {self.least} entities share, {chosen.classed} with a class of "
            "their own.",
            f"{spent.calls} calls, {spent.prompt_tokens} tokens of prompts, {spent.completion_tokens} of "
            f"replies{money}.",
        )
        if changed:
            info = self.catalog.rename_concepts(
                self.graph, concepts, lambda step, done: progress(step, 60.0 + 40.0 * done)
            )
        else:
            info = next(each for each in self.catalog.graphs(self.graph.tenant) if each.name == self.graph.name)
        return JobResult(summary_of(info), None, told)

    async def _ask(self, progress: Progress) -> None:
        asked, schema = 0, self.graph.blind.schema
        async with self.reasoner:
            for batch in self.chosen.batches():
                progress("naming concepts", 60.0 * asked / max(1, len(self.chosen.signatures)))
                reply = (await self.reasoner.ask(Task(self.kind, input_about(schema, batch)))).value
                asked += len(batch)
                given = {each.number: each.concepts for each in reply.concepts}
                for number, signature in enumerate(batch, start=1):
                    self._take(signature.id, given.get(number, []))

    def _take(self, signature: SignatureId, given: list[str]) -> None:
        """Stores the first of the given names that is allowed as a concept, and counts those refused before it."""
        lexicon = Lexicon(self.graph.public, self.catalog.name_words(self.graph.tenant))
        for text in given:
            concept = plain_concept(text)
            if concept is not None and self._holds_a_name(concept, lexicon):
                self.names += 1
            elif concept is None or not all(map(lexicon.permits, re.split("[ -]", concept))):
                self.not_ordinary += 1
            else:
                self.concepts[signature] = concept
                return

    def _holds_a_name(self, concept: str, lexicon: Lexicon) -> bool:
        if any(not hit.public for hit in self.graph.names.find(concept)):
            return True
        try:
            Guard(self.graph.names, self.statics, lexicon).clear(Egress((Segment(concept.encode()),)), frozenset())
        except BlockedError:
            return True
        return False
