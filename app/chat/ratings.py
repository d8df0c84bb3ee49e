"""Ratings of answers, and the cases that follow from them."""

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
"""With more things in the middle, paths of two steps are not tried, because they say little. Chosen by hand."""
MIN_REACHED: Final = 0.5
"""The least share of the right answers that a path must reach. Chosen by hand; not fitted."""


def shortest_path_to(
    graph: BlindGraph, topics: Mids, right: Sequence[Sequence[int]], asked: CaseContent, embed: Embed
) -> LabelPath | None:
    """Returns the shortest path of one or two steps that reaches at least half of `right`; None if there is none.

    Of several, the one that reaches fewest others, then the one whose words are most like the question. `right`: for
    each name, the things it may mean. A step may lead through a mediator.
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
    """The F1 score (0 to 1) of what a path reaches; 0 if it reaches less than MIN_REACHED of what is right."""
    held = set(found.tolist())
    met = sum(not held.isdisjoint(each) for each in right)
    if met < MIN_REACHED * len(right):
        return 0.0
    return 2 * met / (len(held) + len(right))


_TRIES: Final = 5


class UnknownRatedAnswerError(Exception):
    """The conversation has no such answer, or too many answers have followed."""


class RatingService:
    """Takes ratings.

    Promise: a rating leaves a vector, relation labels and the question's words without its names, sealed, and no word
    of answer or correction; names in a correction are linked here and go to no model and no log. It changes nothing
    for anybody else, and a correction of a sure answer nothing at all, before an owner approves it. Condition: the
    conversation is the caller's own and still kept. Limit: who rated how many answers of which graph, and when, is
    visible; the persons behind one key are told apart only where whoever holds the key says who asks.
    """

    def __init__(self, catalog: Catalog, conversations: ConversationStore, cases: CaseMemory | None) -> None:
        self._catalog, self._conversations, self._memory = catalog, conversations, cases

    def rate(self, caller: Caller, wanted: AnswerRating) -> AnswerRated:
        """Stores a rating; repeating it has no effect, and the last rating of an answer counts.

        Raises UnknownConversationError, UnknownRatedAnswerError, NoGrantError, UnknownGraphError, MasterKeyError.
        """
        for _ in range(_TRIES - 1):
            # Where a question of the same conversation was answered meanwhile, its row is read again.
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
        # First the save that fails if another request was faster, then the steps that may be repeated.
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
    """The things that each of `names` may mean in the asker's view of the graph; unknown names are left out."""
    found = []
    for name in map(str.strip, names):
        spelt = [hit.mids for hit in graph.names.find(name) if hit.start == 0 and hit.end == len(name)]
        read = [each.mids for each in graph.linker.find_mentions(f'"{name}"') if each.end - each.start >= len(name)]
        mids = tuple(dict.fromkeys(int(mid) for mids in (*spelt, *read) for mid in mids))
        found.append(mids if graph.holds is None else graph.holds(mids))
    return [mids for mids in found if mids]
