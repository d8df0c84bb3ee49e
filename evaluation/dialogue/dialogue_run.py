"""The run behind `arog eval dialogue`: retrieval, replies and attachment, each with its tables and its bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Final, Literal

from app.settings import Settings
from evaluation.bench.question_sets import Show
from evaluation.dialogue.anonymised import ANONYMISED, Anonymiser, kinds_in, names_in
from evaluation.dialogue.attachment import (
    STRING_MATCH,
    AttachmentRun,
    JudgeOf,
    impossible_markdown,
    kat_markdown,
    kat_measures,
    string_judge,
)
from evaluation.dialogue.chat_client import ChatClient
from evaluation.dialogue.dialogue_sets import DialogueGraph, DialogueTurn, read_graph, read_test_turns
from evaluation.dialogue.figures import PricedF1, f1_by_price, mrr_by_ranking
from evaluation.dialogue.judges import judged_by
from evaluation.dialogue.replies import RepliesRun, modified_markdown, replies_markdown, replies_measures
from evaluation.dialogue.retrieval import RetrievalRun, retrieval_markdown, retrieval_measures
from evaluation.dialogue.spans import Judge
from evaluation.dialogue.writers import Writer, all_triples, embedded_replies, endpoint_writer, gold_replies
from evaluation.tables.measures import Measure
from evaluation.tables.measures import markdown as bounds_markdown

Part = Literal["retrieval", "replies", "attachment"]
EXTRACTOR: Final = "trained extractor"
EMBEDDED: Final = "embedded reasoner"
GOLD, ALL_TRIPLES = "gold reply", "all triples said"


@dataclass
class DialogueRun:
    """`limit` turns at most, of whole dialogues; `endpoints` write, `judge` reads beside the extractor. `tables` in
    Markdown by title, `plots` by name, of the parts that were run.

    Raises QuestionsError, NetworkWeightsError, EndpointUnusableError.
    """

    data: Path
    settings: Settings
    seed: int
    weights: Path | None
    extractor: Judge | None
    endpoints: Sequence[ChatClient]
    judge: ChatClient | None
    limit: int | None
    show: Show
    tables: dict[str, str] = field(default_factory=dict)
    measures: list[Measure] = field(default_factory=list)
    plots: dict[str, Callable[[], bytes]] = field(default_factory=dict)

    def run(self, parts: Iterable[Part], *, ablations: bool) -> None:
        for part in parts:
            if part == "retrieval":
                self._rank(ablations)
            elif part == "replies":
                self._reply()
            else:
                self._attach()

    @property
    def text(self) -> str:
        """The bounds, then all tables, in Markdown."""
        tables = (f"## {name}\n\n{table}" for name, table in self.tables.items())
        return "\n".join([bounds_markdown(self.measures), *tables])

    @cached_property
    def _retrieval(self) -> RetrievalRun:
        return RetrievalRun(self.data, self.settings, self.seed, self.show, self.weights)

    @cached_property
    def _graph(self) -> DialogueGraph:
        return read_graph(self.data)

    @cached_property
    def _turns(self) -> list[DialogueTurn]:
        return read_test_turns(self.data, self.limit)

    def _rank(self, ablations: bool) -> None:
        rows = self._retrieval.rows(ablations=ablations)
        self.measures += retrieval_measures(rows)
        self.tables["Facts that the next turn needs"] = retrieval_markdown(rows)
        self.plots["mrr_by_ranking"] = lambda: mrr_by_ranking(
            [(row.source, row.name, row.figures.mrr) for row in rows]
        )

    def _reply(self) -> None:
        ranked = self._retrieval.ranked_facts()
        run = RepliesRun(self._turns, self._graph, self.extractor, ranked, self.seed, self.show)
        run.measure_from(GOLD, gold_replies, None)
        for name, write in {ALL_TRIPLES: all_triples, **self._writers()}.items():
            run.measure(name, write)
        self.measures += replies_measures(run.rows, EMBEDDED)
        self.tables["Replies, measured by words"] = replies_markdown(run.rows)
        self.tables["Replies from knowledge with other tails"] = modified_markdown(run.modified)

    def _attach(self) -> None:
        anonymiser = Anonymiser(names_in(self._graph), kinds_in(self._graph))
        run = AttachmentRun(self._turns, self._judges(), anonymiser, self.show)
        rows = [*run.rows(GOLD, gold_replies), *run.rows(ALL_TRIPLES, all_triples)]
        for name, write in self._writers().items():
            rows += run.rows(name, write, ("default",) if name == EMBEDDED else ("default", "detailed"))
        control = run.impossible_flagged()
        # Pseudonyms alone, as the service works, in all dialogues.
        bounded = (EMBEDDED, EXTRACTOR, "turn", ANONYMISED)
        reached = [row.figures for row in rows if (row.writer, row.judge, row.context, row.variant) == bounded]
        self.measures += kat_measures(reached[0] if reached else None, control.get(EXTRACTOR, (0, 0.0)))
        self.tables["LLM-KAT"] = kat_markdown(rows)
        self.tables["Questions that can't be answered"] = impossible_markdown(control)
        costs = {chat.model: chat.usage.cost_of_thousand for chat in self.endpoints}
        best = list(run.judges)[-1]
        points = [
            PricedF1(row.writer, row.variant.title, row.figures.in_full, costs.get(row.writer))
            for row in rows
            if (row.context, row.style, row.judge) == ("turn", "default", best)
        ]
        self.plots["attachment_by_price"] = lambda: f1_by_price(points)

    def _writers(self) -> dict[str, Writer]:
        """Those that are measured beside gold replies and all triples."""
        writers: dict[str, Writer] = {EMBEDDED: embedded_replies}
        for chat in self.endpoints:
            writers[chat.model] = endpoint_writer(chat, partial(self.show, f"{chat.model}: replies"))
        return writers

    def _judges(self) -> dict[str, JudgeOf]:
        judges: dict[str, JudgeOf] = {STRING_MATCH: string_judge}
        if (extractor := self.extractor) is not None:
            judges[EXTRACTOR] = lambda _turns: extractor
        if (chat := self.judge) is not None:
            tell = partial(self.show, f"{chat.model}: judging")
            judges[chat.model] = lambda _turns: lambda batch: judged_by(chat, batch, tell)
        return judges
