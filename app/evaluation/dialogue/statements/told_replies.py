"""Replies that were written beforehand, given by the scripted endpoint over the facts that belong to each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from app.evaluation.fakes.scripted_replies import ScriptedReplies
from app.llm.reasoner import Reasoner
from app.llm.tasks import DialogueReply, ReplyInput, TaskModel, TaskName
from app.privacy.pseudonyms import PseudonymTable
from app.strategies.base import FoundFact, StrategyInput
from app.strategies.dialogue.candidate_facts import facts_around
from app.strategies.dialogue.chosen_facts import as_one
from app.strategies.dialogue.fact_ranking import FactRanker
from app.strategies.dialogue.strategy import DialogueStrategy
from kg_store.terms import Mid

_RUN: Final = re.compile(r"[0-9A-Za-z]+")

Shown = frozenset[tuple[str, str, str]]
"""Facts as a prompt shows them: start, the words of the path, end."""


@dataclass(slots=True)
class ToldReply:
    """The next reply, in pseudonyms of its own, which `names` gives back. `things` gives those of the graph's things,
    `heads` what the facts are about; `words` are the prompt's for its own, and `shown` the facts of each prompt."""

    sentences: Sequence[str] = field(default=(), repr=False)
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    things: Mapping[Mid, str] = field(default_factory=dict)
    heads: frozenset[Mid] = frozenset()
    words: dict[str, str] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)


class ReplyEndpoint(ScriptedEndpoint):
    """Answers the task `reply` with the sentences of `told`, in the pseudonyms of the prompt; what the prompt has no
    pseudonym for is called by its name, as a model does that makes something up."""

    told = ToldReply()

    def tell(self, told: ToldReply) -> None:
        self.told = told
        self.expect(None)
        self._replies = _ToldReplies(told)


class _ToldReplies(ScriptedReplies):
    def __init__(self, told: ToldReply) -> None:
        super().__init__(None)
        self._told = told

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        if task != "reply":
            return super().reply_to(task, block)
        asked, words = ReplyInput.model_validate_json(block), {**self._told.names, **self._told.words}
        self._told.shown.append(frozenset(fact_shown(fact.start, fact.path, fact.end) for fact in asked.evidence))
        return DialogueReply(sentences=[_in_words(text, words) for text in self._told.sentences])


class GivenFacts(DialogueStrategy):
    """The strategy, but that its choice of facts is what the graph says of the told reply's `heads`. It lets the
    endpoint know the pseudonyms of the prompt."""

    def __init__(self, ranker: FactRanker, in_house: Reasoner, endpoint: ReplyEndpoint) -> None:
        super().__init__(ranker, in_house)
        self._endpoint = endpoint

    def facts(self, inquiry: StrategyInput, _spoken: Sequence[Mid]) -> tuple[list[FoundFact], bool]:
        told, wire = self._endpoint.told, _wire_words(inquiry)
        around = [fact for fact in facts_around(inquiry.graph, told.heads) if not fact.is_inverse]
        found = [as_one(inquiry, fact) for fact in around]
        for fact, shown in zip(around, found, strict=True):
            for mid, word in ((fact.head, shown.start), (fact.tail, shown.end)):
                told.words[told.things[mid]] = wire.get(word, word)
        return found, False


def fact_shown(start: str, path: Sequence[str], end: str) -> tuple[str, str, str]:
    """A fact without the marks in its relation, which a graph's schema leaves out."""
    return start, " ".join(_RUN.findall(" ".join(path))), end


def _wire_words(inquiry: StrategyInput) -> Mapping[str, str]:
    table = inquiry.pseudonyms
    assert isinstance(table, PseudonymTable)
    return table.wire_pseudonyms(inquiry.graph.schema, table.answers[-1])


def _in_words(text: str, words: Mapping[str, str]) -> str:
    return _RUN.sub(lambda run: words.get(run[0], run[0]), text)
