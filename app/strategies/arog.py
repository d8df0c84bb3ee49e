"""The `arog` strategy: the algorithm of the ARoG paper, step by step.

The steps are relation-centric abstraction, structure-oriented abstraction, abstraction-driven retrieval and generator.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import numpy as np

from app.egress.budgets import QuestionBudgetUsedUpError
from app.egress.disclosure import Profile
from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import (
    AnswerInput,
    AnswerReply,
    ChooseInput,
    ChooseReply,
    Cluster,
    NameInput,
    PathTriple,
    StepInput,
    StructureInput,
    Task,
)
from app.strategies.base import Draft, FoundFact, RetrievalResult, StrategyInput
from app.strategies.drafts import CheckedDrafts, draft_of, meaning_of
from app.strategies.prompts import ANSWER, CHOOSE, NAME, STRUCTURE
from app.strategies.retrieval import (
    CandidatePath,
    NodeSet,
    Vocabulary,
    Ways,
    arrive,
    as_many_as_fit,
    beside,
    cut_note,
    described_path,
    near_relations,
    numbered,
    over_budget,
    parse_path,
    show_dialogue,
    show_evidence,
    show_masked,
    show_things,
    steps_shown,
)
from app.strategies.start import starting_places
from kg_store.graph.traversal import steps_from
from kg_store.text.words import asked_words

MAX_NAMED = 16  # relations that the answer's prompt names beside those of the evidence; chosen by hand
MAX_CANDIDATES = 90  # Candidates are numbered, and the guard lets only numbers up to 99 pass as public words.


_Cluster = tuple[NodeSet, FoundFact]
"""The things that one head reaches by one relation, as a set, and the fact that states it."""


@dataclass(slots=True)
class _Progress:
    """The state of one question's search, updated by each round.

    `frontier`: the sets from which the next round goes on. `near`: relation labels, those most like the question
    first. `is_cut`: the token budget left candidates out.
    """

    drafts: CheckedDrafts
    things: tuple[NodeSet, ...]
    frontier: tuple[NodeSet, ...]
    path: list[PathTriple] = field(default_factory=list)
    facts: list[FoundFact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rounds: int = 0
    is_cut: bool = False
    near: list[str] = field(default_factory=list)


class ArogStrategy:
    """Answers with the paper's method, so that results can be compared with the paper and its reference code.

    Unlike the reference code it drops no neighbour: all things of a cluster stay together as one set. Relations may be
    used twice, and paths may lead back through the topic.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def find(self, inquiry: StrategyInput) -> RetrievalResult:
        inquiry = replace(inquiry, profile=Profile.OPEN)  # The paper's prompts show the facts of single things.
        start = starting_places(inquiry, self._embedder)
        progress = _Progress(CheckedDrafts(inquiry), (*start.frontier, *start.kinds), start.frontier)
        if not start.frontier:
            return RetrievalResult(None, (), (), 0, ("Nothing in the question was found in the graph.",))
        meaning = await meaning_of(inquiry, progress.things)
        progress.drafts.meant = meaning.gives if meaning else None
        progress.drafts.read = meaning.own if meaning else None
        near = await asyncio.to_thread(near_relations, inquiry, self._embedder.similarity)
        progress.near = list(dict.fromkeys([*(meaning.labels if meaning and near else ()), *near]))
        try:
            return await self._rounds(inquiry, progress)
        except QuestionBudgetUsedUpError:
            return over_budget(_found(progress, None))

    async def _rounds(self, inquiry: StrategyInput, progress: _Progress) -> RetrievalResult:
        progress.path = await self._structure(inquiry, progress)
        while progress.rounds < inquiry.limits.depth and progress.frontier:
            progress.rounds += 1
            inquiry.on_round(progress.rounds)
            chosen = await self._choose(inquiry, progress)
            clusters = await self._abstract(inquiry, progress, chosen)
            progress.frontier = self._keep(inquiry, progress, clusters)
            last = progress.rounds == inquiry.limits.depth or not progress.frontier
            reply = await self._answer(inquiry, progress, last)
            if progress.drafts.refusal:
                return replace(_found(progress, None), contradicted=progress.drafts.refusal)
            if reply.sufficient and reply.answer:
                shown = StepInput(
                    question=inquiry.dialogue.question,
                    dialogue=show_dialogue(inquiry),
                    things=show_things(inquiry, progress.things),
                    evidence=show_evidence(inquiry, progress.facts),
                    candidates=[],
                )
                return _found(progress, draft_of(inquiry.language, reply.answer, shown))
        return _found(progress, None)

    async def _structure(self, inquiry: StrategyInput, progress: _Progress) -> list[PathTriple]:
        given = StructureInput(
            question=inquiry.dialogue.question,
            dialogue=show_dialogue(inquiry),
            things=show_things(inquiry, progress.things),
        )
        reply = (await inquiry.reasoner.ask(Task(STRUCTURE, given))).value
        return parse_path(reply.path, Vocabulary.of(inquiry.graph.schema, [p.pseudonym for p in progress.things]))

    async def _choose(self, inquiry: StrategyInput, progress: _Progress) -> list[CandidatePath]:
        """Retrieves relations: asks the model to choose up to `width` candidates.

        Returns these, and the candidates with the same relation from all other sets of the frontier.
        """
        ways = [CandidatePath(p, (step,)) for p in progress.frontier for step in steps_from(inquiry.graph, p.mids)]
        ways = self._offered(inquiry, progress, ways)
        if not ways:
            return []
        reply = (await inquiry.reasoner.ask(_choice(inquiry, progress, ways))).value
        by_number = numbered(inquiry, ways).by_number
        numbers = [number for number in dict.fromkeys(reply.choices) if number in by_number]
        chosen = [by_number[number] for number in numbers[: inquiry.limits.width]]
        relations = {way.path for way in chosen}
        return chosen + [way for way in ways if way.path in relations and way not in chosen]

    def _offered(self, inquiry: StrategyInput, progress: _Progress, ways: list[CandidatePath]) -> list[CandidatePath]:
        """Returns the candidates most like the question, at most MAX_CANDIDATES and as many as the budget allows.

        They keep the order of `ways`; a note says how many were left out.
        """
        labels = [inquiry.graph.schema.described(way.path[-1]) for way in ways]
        nearness = self._embedder.similarity(asked_words(inquiry.dialogue.question), labels)
        nearest = [ways[int(i)] for i in np.argsort(-nearness, kind="stable")[:MAX_CANDIDATES]]
        if len(nearest) < len(ways):
            progress.notes.append(f"{len(ways) - len(nearest)} possible paths, ranked last, were not offered.")
        width = inquiry.limits.width
        shown = as_many_as_fit(inquiry.reasoner, nearest, width, lambda shown: _choice(inquiry, progress, shown))
        if len(shown) < len(nearest):
            progress.notes.append(cut_note(progress.rounds, len(nearest) - len(shown)))
            progress.is_cut = True
        return [way for way in ways if way in shown]

    async def _abstract(
        self, inquiry: StrategyInput, progress: _Progress, chosen: list[CandidatePath]
    ) -> list[_Cluster]:
        """Abstracts entities: asks the model what kind of things each new cluster holds.

        A cluster is the set to which a chosen candidate leads, with its fact. Returns the new clusters with the
        concepts that the model named, several joined by commas.
        """
        arrivals = [arrival for way in chosen if (arrival := arrive(inquiry, way)) is not None]
        # Facts are compared without their concepts, because an earlier round may have renamed those.
        known = {_identity(fact) for fact in progress.facts}
        clusters = [(place, fact) for place, fact in arrivals if _identity(fact) not in known]
        if not clusters:
            return []
        shown = [
            Cluster(number=number, relations=self._nearest_relations(inquiry, place))
            for number, (place, _) in enumerate(clusters, start=1)
        ]
        masked = show_masked(inquiry, *(label for cluster in shown for label in cluster.relations))
        given = NameInput(question=inquiry.dialogue.question, clusters=shown, masked_relations=masked)
        reply = (await inquiry.reasoner.ask(Task(NAME, given))).value
        # A model may guess a name, so only words of the schema and general nouns are kept.
        words = Vocabulary.of(inquiry.graph.schema, ())
        concepts = {
            named.number: ", ".join(dict.fromkeys(filter(None, map(words.keep, named.concepts))))
            for named in reply.concepts
        }
        told = [concepts.get(number) for number in range(1, len(clusters) + 1)]
        return [
            (replace(place, concept=concept), replace(fact, end_concept=concept)) if concept else (place, fact)
            for concept, (place, fact) in zip(told, clusters, strict=True)
        ]

    def _nearest_relations(self, inquiry: StrategyInput, place: NodeSet) -> list[str]:
        """Filters relations: returns the labels of the K relations around `place` that are most like the question."""
        hops, schema = inquiry.graph.relations_of(place.mids), inquiry.graph.schema
        worded = [schema.described((hop,)) for hop in hops]
        nearness = self._embedder.similarity(asked_words(inquiry.dialogue.question), worded)
        nearest = np.argsort(-nearness, kind="stable")[: inquiry.limits.relations_per_concept]
        return [schema.label(hops[int(i)]) for i in nearest]

    def _keep(self, inquiry: StrategyInput, progress: _Progress, clusters: list[_Cluster]) -> tuple[NodeSet, ...]:
        """Retrieves by abstraction: adds the facts of the `width` best clusters to the evidence; returns their sets.

        Clusters are ranked by the highest cosine between their fact and a triple of the concept path.
        """
        if not clusters:
            return ()
        wanted = [_path_text(triple, progress.things) for triple in progress.path] or [
            asked_words(inquiry.dialogue.question)
        ]
        found = [
            f"{fact.start_concept} {described_path(inquiry, fact.path)} {fact.end_concept}" for _, fact in clusters
        ]
        nearness = (self._embedder.sentences(found) @ self._embedder.sentences(wanted).T).max(axis=1)
        kept = [clusters[int(i)] for i in np.argsort(-nearness, kind="stable")[: inquiry.limits.width]]
        progress.facts += [fact for _, fact in kept]
        if len(kept) < len(clusters):
            progress.notes.append(f"{len(clusters) - len(kept)} groups, ranked last, were not kept as evidence.")
        return tuple({place.pseudonym: place for place, _ in kept}.values())

    async def _answer(self, inquiry: StrategyInput, progress: _Progress, last: bool) -> AnswerReply:
        evidence = show_evidence(inquiry, progress.facts)
        relations = beside(progress.near, steps_shown(evidence), MAX_NAMED)
        given = AnswerInput(
            question=inquiry.dialogue.question,
            dialogue=show_dialogue(inquiry),
            path=progress.path,
            things=show_things(inquiry, progress.things),
            evidence=evidence,
            relations=relations,
            masked_relations=show_masked(inquiry, *steps_shown(evidence), *relations),
            last_round=last,
        )
        return await progress.drafts.ask(Task(ANSWER, given))


def _choice(inquiry: StrategyInput, progress: _Progress, ways: Ways) -> Task[ChooseReply]:
    candidates = numbered(inquiry, ways).candidates
    given = ChooseInput(
        question=inquiry.dialogue.question,
        path=progress.path,
        candidates=candidates,
        masked_relations=show_masked(inquiry, *steps_shown(candidates)),
        width=inquiry.limits.width,
    )
    return Task(CHOOSE, given)


def _found(progress: _Progress, draft: Draft | None) -> RetrievalResult:
    things, cut = tuple(place.pseudonym for place in progress.things), not draft and progress.is_cut
    return RetrievalResult(
        draft, things, tuple(progress.facts), progress.rounds, tuple(progress.notes), cut, own=progress.drafts.own
    )


def _identity(fact: FoundFact) -> tuple[str, tuple[str, ...], str]:
    return fact.start, fact.path, fact.end


def _path_text(triple: PathTriple, things: tuple[NodeSet, ...]) -> str:
    """Returns a triple of the concept path in words, with each pseudonym replaced by its concept.

    The concept path is the question as the model has rewritten it: triples that lead from what is known to what is
    asked.
    """
    concepts = {place.pseudonym: place.concept for place in things}
    return " ".join((concepts.get(triple.head, triple.head), triple.relation, concepts.get(triple.tail, triple.tail)))
