"""The `demands` strategy: replies to an open turn from what the public graphs beside the asked one know.

It works out which knowledge the reply needs, takes facts by that, and lets the model, or the reasoner in the house,
choose among them together with the facts of the asked graph. A model is asked at most twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, compress, zip_longest
from typing import Final

import numpy as np

from app.llm.embeddings.word_vectors import likeness, word_vectors
from app.llm.reasoner import ReplyUnusableError
from app.llm.tasks import DemandList, DemandsInput, DemandsReply, Task
from app.strategies.base import BesideGraph, FoundFact, RetrievalResult, StrategyInput
from app.strategies.demands.embedded import (
    DialogueTerms,
    PublicTerms,
    embedded_demands,
    retrieved,
    scored_topics,
    select,
    told_first,
)
from app.strategies.demands.fact_sets import MAX_SELECTED, Demand, Demands
from app.strategies.demands.prompts import DEMANDS
from app.strategies.dialogue import DialogueStrategy, spoken_of
from app.strategies.retrieval import show_dialogue
from kg_store.graph.public_facts import PublicFact, PublicFacts

MIN_LIKENESS: Final = 0.8
"""The least cosine at which a term of the graph is taken for one that a model wrote. Chosen by hand; not fitted."""
MAX_GRAPHS: Final = 4
MAX_FIRST: Final = 3
"""The most facts about what the last turn itself says that come before the others. Chosen by hand; not fitted."""
MAX_NAMED: Final = 3
"""The most queries, and the most new topics, that the asker is told of. Chosen by hand."""
MAX_TURNS: Final = 6
"""The most turns that count as the dialogue so far. Chosen by hand; not fitted."""


@lru_cache(maxsize=MAX_GRAPHS)
def public_terms_of(facts: PublicFacts) -> PublicTerms:
    """Returns the terms of a public graph with what ranks them; kept for the graphs used last."""
    return PublicTerms(facts, word_vectors())


class DemandsStrategy:
    """Replies to a turn with facts of public graphs, and of the asked graph if the turn names something of it."""

    def __init__(self, dialogue: DialogueStrategy) -> None:
        self._dialogue = dialogue

    async def find(self, inquiry: StrategyInput) -> RetrievalResult:
        own, _ = await asyncio.to_thread(self._dialogue.facts, inquiry, spoken_of(inquiry))
        said = await self._demanded(inquiry) if inquiry.beside and inquiry.looked_for is None else None
        known = await asyncio.to_thread(_knowledge, inquiry, said)
        public = dict[str, str]()
        facts = [*own, *_in_turn(inquiry, known, public)]
        result = _with_used_alone(await self._dialogue.reply_from(inquiry, facts, public=public))
        terms = dict.fromkeys(term for each in known for term in each.terms)
        return replace(result, demanded=tuple(map(inquiry.pseudonyms.of_public_term, terms)))

    async def _demanded(self, inquiry: StrategyInput) -> DemandsReply | None:
        """Returns the demands as a model gives them; None without one, or if budget or reply are of no use."""
        task = Task(DEMANDS, DemandsInput(question=inquiry.dialogue.question, dialogue=show_dialogue(inquiry)))
        if not inquiry.reasoner.is_model or not inquiry.reasoner.fits(task):
            return None
        try:
            return (await inquiry.reasoner.ask(task)).value
        except ReplyUnusableError:
            return None


@dataclass(frozen=True, slots=True)
class PublicKnowledge:
    """Facts of one public graph for a reply, the best first, and the terms that they were looked for by."""

    graph: BesideGraph
    facts: Sequence[PublicFact]
    terms: Sequence[str]


def _knowledge(inquiry: StrategyInput, asked: DemandsReply | None) -> list[PublicKnowledge]:
    """Returns what each public graph knows that the reply needs; `asked`: the demands as a model gives them.

    Promise: to a model only facts are given whose terms and relation the guard of the asked graph lets leave, so that
    what is a name there is never sent because a public graph has it too.
    """
    return [_knowledge_of(inquiry, graph, asked) for graph in inquiry.beside]


def _knowledge_of(inquiry: StrategyInput, graph: BesideGraph, asked: DemandsReply | None) -> PublicKnowledge:
    terms = public_terms_of(graph.facts)
    said = DialogueTerms.of(terms, _turns(inquiry))
    topics = scored_topics(terms, said)
    if inquiry.looked_for is not None:
        demands = _chosen(terms, inquiry)
    else:
        demands = embedded_demands(terms, said, topics) if asked is None else matched(terms, asked)
    first = told_first(terms, said, topics, MAX_FIRST) if inquiry.looked_for is None else ()
    rows = (*first, *select(terms, topics, *retrieved(terms, said, demands)))
    facts = [graph.facts.fact(row) for row in dict.fromkeys(rows) if terms.is_meaningful(row)]
    most = MAX_NAMED if inquiry.looked_for is None else None
    wanted = dict.fromkeys((*demands.explicit.terms[:most], *demands.extended.terms[:most]))
    named = [graph.facts.phrases[term] for term in wanted if terms.means_something[term]]
    if not inquiry.reasoner.is_model:
        return PublicKnowledge(graph, facts, named)
    shown = list(dict.fromkeys(words for fact in facts for words in fact))
    may_leave = dict(zip(shown, inquiry.may_leave(shown), strict=True))
    return PublicKnowledge(graph, [fact for fact in facts if all(may_leave[words] for words in fact)], named)


def matched(graph: PublicTerms, reply: DemandsReply) -> Demands:
    """Returns the demands that a model wrote as terms of the graph: the same words in any form, else the term that is
    most like them; what fits none is dropped."""

    def of(listed: DemandList) -> Demand:
        return Demand(tuple(chain.from_iterable(_terms_like(graph, each) for each in listed.terms)), listed.thought)

    return Demands(of(reply.explicit), of(reply.implicit), of(reply.maintained), of(reply.extended))


def _chosen(graph: PublicTerms, inquiry: StrategyInput) -> Demands:
    """Returns the terms that the asker chose, as queries and as topics, so that facts between them come first.

    A model is shown no fact for words that may not leave.
    """
    words = inquiry.looked_for or ()
    if inquiry.reasoner.is_model:
        words = tuple(compress(words, inquiry.may_leave(words)))
    chosen = Demand(tuple(chain.from_iterable(_terms_like(graph, each) for each in words)))
    return Demands(explicit=chosen, maintained=chosen)


def _terms_like(graph: PublicTerms, words: str) -> Sequence[int]:
    if exact := graph.facts.terms_of(words):
        return exact
    if not words.strip() or not graph.facts.phrases:
        return ()
    every = np.arange(len(graph.facts.phrases), dtype=np.int32)
    near = likeness(graph.phrases, every, graph.words.products([words]))
    return (int(near.argmax()),) if near.max() >= MIN_LIKENESS else ()


def _turns(inquiry: StrategyInput) -> list[str]:
    """Returns the last turns without pseudonyms, which say nothing to a public graph.

    Words that are withheld, those of masked relations too, are read only if no model is asked, since the facts would
    tell of them.
    """
    stand_ins = inquiry.pseudonyms.issued
    texts = [*(turn.text for turn in inquiry.dialogue.turns[-MAX_TURNS:-1]), inquiry.asked]
    return [" ".join(word for word in text.split() if word.strip(".,;:!?'\"()") not in stand_ins) for text in texts]


def _in_turn(inquiry: StrategyInput, known: Sequence[PublicKnowledge], public: dict[str, str]) -> list[FoundFact]:
    """Returns at most MAX_SELECTED public facts as evidence, in turn from each graph."""
    each = [[_as_found(inquiry, of.graph, fact, public) for fact in of.facts[:MAX_SELECTED]] for of in known]
    return [one for one in chain.from_iterable(zip_longest(*each)) if one is not None][:MAX_SELECTED]


def _as_found(inquiry: StrategyInput, graph: BesideGraph, fact: PublicFact, public: dict[str, str]) -> FoundFact:
    """Returns a public fact as evidence; the words of its two pseudonyms are added to `public`."""
    start, end = (inquiry.pseudonyms.of_public_term(term) for term in (fact.head, fact.tail))
    public |= {start: fact.head, end: fact.tail}
    return FoundFact(start, "", (fact.relation,), end, "", "", graph.label)


def _with_used_alone(result: RetrievalResult) -> RetrievalResult:
    """Returns the result without the public facts that the reply does not state."""
    used = {at for places in result.reply_facts for at in places}
    kept = [at for at, fact in enumerate(result.evidence) if at in used or not fact.public]
    place = {at: number for number, at in enumerate(kept)}
    return replace(
        result,
        evidence=tuple(result.evidence[at] for at in kept),
        things=tuple(dict.fromkeys(result.evidence[at].start for at in kept)),
        reply_facts=tuple(tuple(place[at] for at in places) for places in result.reply_facts),
    )
