"""The `dialogue` strategy: ranks the facts around the things spoken of and writes a reply from the best ones alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from app.egress.guarded_reasoner import InHouseRunner
from app.language.protocol import Language
from app.llm.reasoner import Reasoner
from app.llm.tasks import DialogueReply, Evidence, PublicTerm, ReplyInput, Task, TaskKind, WordedReply
from app.strategies.base import Draft, FoundFact, RetrievalResult, StrategyInput
from app.strategies.dialogue_facts import (
    MAX_TAILS,
    CandidateFact,
    FactRanker,
    describing,
    facts_around,
    nearest,
    upright,
    was_cut,
)
from app.strategies.prompts import REPLY, WORDED
from app.strategies.retrieval import NodeSet, over_budget, show_dialogue, show_evidence, show_masked, show_things
from kg_store.graph.traversal import concept_of
from kg_store.terms import Mid, NodeKind, as_mids

NO_PUBLIC: Final[Mapping[str, str]] = {}
Told = Sequence[tuple[str, tuple[int, ...]]]
"""Sentences, each with the facts that it states, given as positions in the evidence."""

RECOMMENDED: Final = "You may want to look at {0}."
ASKED_ON: Final = "Shall I tell you about {0}?"


def written(language: Language, given: ReplyInput, reply: DialogueReply) -> Told:
    """Returns sentences that state the facts chosen in `reply`; empty if no chosen fact can be put into words.

    Promise: sentences are made only of the service's fixed wordings and of relation labels, concepts and pseudonyms
    of the evidence.
    """
    chosen = [at - 1 for at in dict.fromkeys(reply.facts) if 1 <= at <= len(given.evidence)]
    if reply.manner == "compare":
        # Sorted by relation, so that facts of both things by the same relation stand side by side.
        chosen.sort(key=lambda at: given.evidence[at].path)
    sentences = language.word_reply(given.model_copy(update={"ranked": tuple(chosen)})) if chosen else []
    told = [(each.text, each.facts) for each in sentences]
    last = next((given.evidence[at].end for at in reversed(chosen) if given.evidence[at].end.startswith("E")), "")
    if told and last and reply.manner in ("recommend", "ask_on"):
        form = RECOMMENDED if reply.manner == "recommend" else ASKED_ON
        told.append((form.format(last), told[-1][1]))
    return told


MAX_SPOKEN_OF: Final = 3
"""The greatest number of things that a reply is about, if the turn names some. Chosen by hand; not fitted."""
MAX_EARLIER: Final = 2
"""The greatest number of things that a reply is about, if only earlier turns name some. Chosen by hand; not fitted."""
MAX_BRIDGES: Final = 8
"""The greatest number of neighbouring things whose own facts are candidates too. Chosen by hand; not fitted."""
MAX_SENTENCES: Final = 5
_CUT: Final = f"Of what leads to more than {MAX_TAILS} things, so many were ranked for the reply."


class DialogueStrategy:
    """Replies to a turn with at most one model call.

    `in_house` chooses the facts if the privacy profile forbids prompts to show a single thing's facts. `model_words`:
    the model writes the sentences itself, and says which facts each of them states.
    """

    def __init__(self, ranker: FactRanker, in_house: Reasoner, *, model_words: bool = False) -> None:
        self._ranker, self._in_house, self._kind = ranker, in_house, WORDED if model_words else REPLY

    async def find(self, inquiry: StrategyInput) -> RetrievalResult:
        facts, is_cut = await asyncio.to_thread(self.facts, inquiry, spoken_of(inquiry))
        return await self.reply_from(inquiry, facts, (_CUT,) if is_cut else ())

    async def reply_from(
        self,
        inquiry: StrategyInput,
        facts: list[FoundFact],
        notes: tuple[str, ...] = (),
        public: Mapping[str, str] = NO_PUBLIC,
    ) -> RetrievalResult:
        """Returns a reply that states some of `facts`, the most relevant of which come first.

        `public`: the words of pseudonyms that stand for terms of a public graph. A prompt that shows nothing else may
        leave under every profile.
        """
        things = tuple(dict.fromkeys(fact.start for fact in facts))
        if not facts:
            return RetrievalResult(None, things, (), 0)
        task = _task(inquiry, facts, self._kind, public)
        while facts and not inquiry.reasoner.fits(task):
            facts = facts[:-1]
            task = _task(inquiry, facts, self._kind, public)
        if not facts:
            return over_budget(RetrievalResult(None, things, (), 0, notes))
        may_ask = inquiry.profile.is_open or all(fact.public for fact in facts)
        told, is_worded = await self._told(inquiry, task, may_ask=may_ask)
        # The prompt shows the evidence shuffled: its positions are mapped back to positions in `facts`.
        shown = cast(ReplyInput, task.input).ranked
        ours = [
            (text, tuple(shown.index(at) for at in stated if at in shown)) for text, stated in told[:MAX_SENTENCES]
        ]
        draft = Draft((), " ".join(text for text, _ in ours)) if ours else None
        return RetrievalResult(
            draft,
            things,
            tuple(facts),
            1,
            notes,
            reply=tuple(text for text, _ in ours),
            reply_facts=tuple(stated for _, stated in ours),
            is_worded=is_worded,
        )

    def facts(self, inquiry: StrategyInput, spoken: Sequence[Mid]) -> tuple[list[FoundFact], bool]:
        """Returns the facts for the reply, most relevant first, and True if some facts were left unranked.

        That happens if one relation leads to too many things. `spoken`: the things that the reply is about.
        """
        graph, dialogue = inquiry.graph, inquiry.dialogue
        near = list(_sayable(inquiry, facts_around(graph, spoken)))
        told = frozenset(int(mid) for topic in dialogue.topics for mid in topic.mids)
        if not near:
            return [], False
        if inquiry.turn == "tell":
            return describing(inquiry, near, told), was_cut(near)
        scores = self._ranker.scores(dialogue, graph, near)
        order = np.argsort(-scores, kind="stable") if self._ranker.looks_further else ()
        ends = dict.fromkeys(near[at].tail for at in order if near[at].kind is NodeKind.ENTITY)
        bridges = list(ends)[:MAX_BRIDGES]
        candidates = near + list(_sayable(inquiry, facts_around(graph, bridges, as_mids(spoken), is_behind=True)))
        scores = self._ranker.scores(dialogue, graph, candidates) if bridges else scores
        return nearest(inquiry, candidates, scores, told), was_cut(candidates)

    async def _told(self, inquiry: StrategyInput, task: Task[Any], *, may_ask: bool) -> tuple[Told, bool]:
        """Returns the sentences of the reply with the facts that each states, and True if a model worded them.

        `may_ask`: a model may be asked; only the open profile lets prompts show a single thing's facts. Without a
        model, or if the facts that it chooses can't be put into words, the embedded reasoner chooses.
        """
        given = cast(ReplyInput, task.input)
        if inquiry.reasoner.is_model and may_ask:
            value = (await inquiry.reasoner.ask(task)).value
            if isinstance(value, WordedReply):
                return [(each.text, tuple(at - 1 for at in each.facts)) for each in value.sentences], True
            if told := written(inquiry.language, given, value):
                return told, False
        house = await InHouseRunner(self._in_house).ask(Task(REPLY, given))
        return written(inquiry.language, given, house.value), False


def spoken_of(inquiry: StrategyInput) -> list[Mid]:
    """Returns the things that the last turn names, or those of earlier turns if it names none.

    Things that share a name, and the members of a small set, are listed one by one.
    """
    newest = [topic for topic in inquiry.dialogue.topics if topic.newest]
    topics = newest or inquiry.dialogue.topics
    named = [topic for topic in topics if len(topic.mids) <= MAX_SPOKEN_OF and topic.value_kind is None]
    found = dict.fromkeys(Mid(int(mid)) for topic in named for mid in topic.mids)
    return list(found)[: MAX_SPOKEN_OF if newest else MAX_EARLIER]


def _sayable(inquiry: StrategyInput, facts: Iterable[CandidateFact]) -> Iterator[CandidateFact]:
    label = inquiry.graph.schema.label_step
    return (fact for fact in facts if inquiry.language.can_word(label(fact.step)))


def _task(
    inquiry: StrategyInput, facts: Sequence[FoundFact], kind: TaskKind[Any], public: Mapping[str, str]
) -> Task[Any]:
    places = [
        NodeSet(
            topic.pseudonym,
            topic.mids,
            inquiry.shown_concept(concept_of(inquiry.graph, topic.mids)),
            NodeKind.VALUE if topic.value_kind else NodeKind.ENTITY,
        )
        for topic in inquiry.dialogue.topics
        if len(topic.mids)
    ]
    shown = [place for place in places if any(place.pseudonym in (fact.start, fact.end) for fact in facts)]
    # A model sees each fact in one direction, whichever end it was found from (SURGE, invariance to inversion).
    ordered = [upright(fact) for fact in facts] if inquiry.reasoner.is_model else list(facts)
    evidence = show_evidence(inquiry, list(dict.fromkeys(ordered)), {place.pseudonym for place in shown})
    at = {(fact.start, tuple(fact.path), fact.end): number for number, fact in enumerate(evidence)}
    given = ReplyInput(
        question=inquiry.dialogue.question,
        dialogue=show_dialogue(inquiry),
        things=show_things(inquiry, shown),
        evidence=evidence,
        masked_relations=show_masked(inquiry, *(step for fact in evidence for step in fact.path)),
        public_terms=_shown_terms(evidence, public),
        ranked=tuple(at[fact.start, fact.path, fact.end] for fact in ordered),
        describes=inquiry.turn == "tell",
    )
    return Task(kind, given)


def _shown_terms(evidence: Sequence[Evidence], public: Mapping[str, str]) -> list[PublicTerm]:
    """Returns the words of the public stand-ins in the evidence, in its order."""
    names = dict.fromkeys(end for fact in evidence for end in (fact.start, fact.end) if end in public)
    return [PublicTerm(name=name, means=public[name]) for name in names]
