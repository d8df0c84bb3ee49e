"""Takes ratings of answers, and learns cases from them: paths that answer questions like the rated one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import numpy as np

from app.accounts.api_keys import Caller, require_grant
from app.chat.conversations import Conversation, ConversationBusyError, ConversationStore, UnknownConversationError
from app.chat.search import SURE
from app.memory.case_memory import CaseMemory, Embed
from app.memory.cases import MAX_CORRECTED_CONFIDENCE, CaseContent, LabelPath, RatableAnswer
from client_sdk.protocol import AnswerRated, AnswerRating
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import leads_to_values, reached, steps_from
from kg_store.terms import NO_MIDS, Mids, Path, as_mids
from kg_store.text.labels import typed_step

MAX_WALKED_FROM: Final = 200
"""The greatest number of things that a first step may lead to for a second step to be tried. Paths through more say
little. Chosen by hand.
"""
MIN_REACHED: Final = 0.5
"""The least share of the right answers that a path must reach. Chosen by hand; not fitted."""


def shortest_path_to(
    graph: BlindGraph, topics: Mids, right: Sequence[Sequence[int]], asked: CaseContent, embed: Embed
) -> LabelPath | None:
    """Returns the path that best leads from `topics` to the corrected answer; None if no path reaches half of it.

    Paths of one step are tried first, then those of two. The best has the highest F1 score, of several the one whose
    words are most like the question. `right`: for each name in the correction, the things that it may mean. A step may
    lead through a mediator.
    """
    if not len(topics) or not right:
        return None
    single = [(step,) for step in steps_from(graph, topics)]
    for paths in (single, _longer(graph, topics, single)):
        scored = [(_fit(reached(graph, topics, path), right), path) for path in paths]
        best = max((fit for fit, _ in scored), default=0.0)
        if best > 0:
            fitting = [path for fit, path in scored if fit == best]
            labels = [tuple(graph.schema.label_step(step) for step in path) for path in fitting]
            if len(labels) == 1:
                return labels[0]
            return max(labels, key=lambda path: float(embed(" ".join(map(typed_step, path))) @ asked.vector))
    return None


def _longer(graph: BlindGraph, topics: Mids, single: Sequence[Path]) -> Iterator[Path]:
    for path in single:
        middle = reached(graph, topics, path)
        if len(middle) <= MAX_WALKED_FROM and not leads_to_values(graph.schema, path[-1]):
            yield from ((*path, step) for step in steps_from(graph, middle))


def _fit(found: Mids, right: Sequence[Sequence[int]]) -> float:
    """Returns the F1 score (0 to 1) of the things that a path reaches, 0 if it reaches less than MIN_REACHED of
    `right`."""
    held = set(found.tolist())
    met = sum(not held.isdisjoint(each) for each in right)
    if met < MIN_REACHED * len(right):
        return 0.0
    return 2 * met / (len(held) + len(right))


_TRIES: Final = 5


class UnknownRatedAnswerError(Exception):
    """The conversation has no answer with this id that can still be rated."""


class RatingService:
    """Takes ratings of answers and stores the cases learnt from them.

    Promise: a rating stores, encrypted, a vector, relation labels and the question's words without its names, but no
    word of the answer or correction; names in a correction go to no model and no log. Before an owner approves it, a
    case counts only for the person who rated, and for nobody if it contradicts a sure answer. Condition: the
    conversation is the caller's own and still exists. Limit: who rated how many answers of which graph, and when, is
    visible; the persons behind one API key are told apart only if its holder states who asks.
    """

    def __init__(self, catalog: Catalog, conversations: ConversationStore, cases: CaseMemory | None) -> None:
        self._catalog, self._conversations, self._memory = catalog, conversations, cases

    def rate(self, caller: Caller, wanted: AnswerRating) -> AnswerRated:
        """Stores a rating. Repeating it has no effect; of several ratings of an answer the last one counts.

        Raises UnknownConversationError, UnknownRatedAnswerError, NoGrantError, UnknownGraphError, MasterKeyError.
        """
        for _ in range(_TRIES - 1):
            # If the conversation was saved by another request in the meantime, it is read again.
            with suppress(ConversationBusyError):
                return self._rate(caller, wanted)
        return self._rate(caller, wanted)

    def _rate(self, caller: Caller, wanted: AnswerRating) -> AnswerRated:
        name = self._conversations.graph_of(caller.tenant, caller.key_id, wanted.conversation)
        if name is None:
            raise UnknownConversationError
        require_grant(caller, name)
        graph = self._catalog.open_as(caller.tenant, name, caller.role_in(name))
        schema = graph.blind.schema
        conversation = self._conversations.open(caller.tenant, caller.key_id, name, wanted.conversation, schema)
        answer = conversation.answers.get(wanted.answer)
        if answer is None:
            raise UnknownRatedAnswerError
        content = self._content(graph, conversation, answer, wanted)
        conversation.answers[wanted.answer] = replace(answer, rating=wanted.rating)
        # The save comes first, because it fails if another request was faster; the steps after it may be repeated.
        self._conversations.save(conversation, schema)
        kept = self._learning.store
        if content is None:
            kept.forget_answer(caller.tenant, name, caller.key_id, wanted.answer)
        else:
            kept.keep(caller.tenant, name, caller.key_id, wanted.answer, content)
        if answer.leaned:
            kept.count_rating(caller.tenant, name, answer.rating, wanted.rating)
        held = content is not None and content.is_held
        return AnswerRated(answer=wanted.answer, rating=wanted.rating, learnt=content is not None, held=held)

    def _content(
        self, graph: PrivateGraph, conversation: Conversation, answer: RatableAnswer, wanted: AnswerRating
    ) -> CaseContent | None:
        if wanted.rating == "right":
            return answer.rated_right() if answer.content.paths else None
        if not wanted.correct:
            return None
        topics = [conversation.table.resolve(word, graph.blind)[0] for word in answer.topics]
        begin = as_mids(np.concatenate(topics)) if topics else NO_MIDS
        right = _linked(graph, wanted.correct)
        found = shortest_path_to(graph.blind, begin, right, answer.content, self._learning.embed)
        if found is None:
            return None
        told = answer.content.paths
        held = found not in told and answer.confidence >= SURE
        return replace(
            answer.content, paths=(found,), is_whole=True, before=told, most=MAX_CORRECTED_CONFIDENCE, is_held=held
        )

    @property
    def _learning(self) -> CaseMemory:
        if self._memory is None:
            raise UnknownRatedAnswerError
        return self._memory


def _linked(graph: PrivateGraph, names: Sequence[str]) -> list[tuple[int, ...]]:
    """Returns, for each name, the things that it may mean in the asker's view of the graph; without unknown names."""
    found = []
    for name in map(str.strip, names):
        spelt = [hit.mids for hit in graph.names.find(name) if hit.start == 0 and hit.end == len(name)]
        read = [each.mids for each in graph.linker.find_mentions(f'"{name}"') if each.end - each.start >= len(name)]
        mids = tuple(dict.fromkeys(int(mid) for mids in (*spelt, *read) for mid in mids))
        found.append(mids if graph.holds is None else graph.holds(mids))
    return [mids for mids in found if mids]
