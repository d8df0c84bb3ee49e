"""Defines EmbeddedReasoner, which does a language model's tasks by comparing words, without calling a model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from app.language.readings import WordedPath
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.trained_weights import RelationAdapter
from app.llm.reasoner import Reply
from app.llm.tasks import (
    AnswerInput,
    ChooseInput,
    ChooseReply,
    DialogueReply,
    NamedCluster,
    NameInput,
    NameReply,
    ReplyInput,
    ReplyT,
    StepInput,
    StepReply,
    StructureInput,
    StructureReply,
    Task,
    TaskKind,
    TaskModel,
)
from app.privacy.safe_text import Egress, Segment
from app.reader.concept_namer import ConceptNamer
from app.reader.language.relation_wording import with_descriptions
from app.reader.scoring.path_scoring import PathScorer
from app.reader.sentences.dialogue_text import dialogue_text
from app.reader.step import MIN_SCORE, answer_from_evidence, take_step, words_as_path


class EmbeddedReasoner:
    """The default reasoner: offline, deterministic, and the baseline that a language model has to beat. Thread-safe.

    `least_score`: a path with a lower score is not accepted as an answer (see `step`). `answers_unsure`: answers even
    if the meaning is uncertain; set by evaluations that need wrong answers too.
    """

    answers_unsure: bool = False

    def __init__(self, embedder: Embedder, least_score: float = MIN_SCORE, scorer: PathScorer | None = None) -> None:
        self.least_score = least_score
        self.embedder = embedder
        self._scorer = scorer or PathScorer(embedder)
        self._namer = ConceptNamer(embedder)
        self._verbs: dict[str, Callable[[TaskModel], Reply[Any]]] = {
            "structure": lambda given: Reply(_structure(cast(StructureInput, given))),
            "choose_relations": lambda given: Reply(self._choose(cast(ChooseInput, given))),
            "name_concepts": lambda given: Reply(self._name(cast(NameInput, given))),
            "answer": lambda given: answer_from_evidence(self._scorer, cast(AnswerInput, given)),
            "step": lambda given: self._step(cast(StepInput, given)),
            "reply": lambda given: _reply(cast(ReplyInput, given)),
        }

    @property
    def head(self) -> RelationAdapter:
        """The trained adapter of relation vectors; an evaluation may remove or replace it."""
        return self._scorer.head

    @head.setter
    def head(self, head: RelationAdapter) -> None:
        self._scorer.head = head

    @property
    def scorer(self) -> PathScorer:
        """The scorer of paths in use; error analyses read it to score paths again."""
        return self._scorer

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:  # noqa: ARG002
        return ()

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        """Returns the task's input alone, without instructions, which only language models need."""
        return Egress((Segment(task.input.model_dump_json().encode()),))

    @property
    def longest_reply(self) -> int:
        return 0

    @property
    def is_capable(self) -> bool:
        return True

    def tokens_in(self, egress: Egress) -> int:  # noqa: ARG002
        return 0

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT]:  # noqa: ARG002
        # Embedding takes milliseconds of processor time; in a thread it does not delay other requests.
        return await asyncio.to_thread(self._verbs[task.kind.name], task.input)

    def _step(self, given: StepInput) -> Reply[StepReply]:
        given = given.model_copy(update={"question": given.typed or given.question})
        return take_step(self._scorer, given, self.least_score, self.answers_unsure)

    def _choose(self, given: ChooseInput) -> ChooseReply:
        scored: list[tuple[float, int]] = []
        for start in dict.fromkeys(candidate.start for candidate in given.candidates):
            mine = [candidate for candidate in given.candidates if candidate.start == start]
            told = given.masked_relations
            paths = [
                WordedPath(with_descriptions(c.path, told), ("",) * (len(c.path) - 1) + (c.concept,)) for c in mine
            ]
            scores = self._scorer.scores(given.question, start, "", paths)
            scored += [(-float(score), c.number) for score, c in zip(scores, mine, strict=True)]
        return ChooseReply(choices=[number for _, number in sorted(scored)[: given.width]])

    def _name(self, given: NameInput) -> NameReply:
        named = [
            NamedCluster(number=cluster.number, concepts=[self._namer.name_relations(told)])
            for cluster in given.clusters
            for told in [with_descriptions(cluster.relations, given.masked_relations)]
        ]
        return NameReply(concepts=named)


def _reply(given: ReplyInput) -> Reply[DialogueReply]:
    told = {at for each in dialogue_text(given) for at in each.facts}
    ranked = given.ranked or range(len(given.evidence))
    return Reply(DialogueReply(facts=[at + 1 for at in ranked if at in told]))


def _structure(given: StructureInput) -> StructureReply:
    path = words_as_path(given.question, given.things)
    return StructureReply(thought="The words of the question name the relations.", path=path, guess="")
