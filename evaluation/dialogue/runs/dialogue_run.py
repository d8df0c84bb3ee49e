"""The run behind `arog eval dialogue`: retrieval, replies and attachment, each with its tables and its bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from app.settings import Settings
from evaluation.bench.question_sets import Show
from evaluation.dialogue.attachment.endpoint_judge import EndpointJudge
from evaluation.dialogue.attachment.judge import ExtractorJudge
from evaluation.dialogue.grounded_turns import GroundedTurn
from evaluation.dialogue.opendialkg import FOLDER, DialogueGraph, read_graph
from evaluation.dialogue.retrieval_run import RetrievalRow, RetrievalRun
from evaluation.dialogue.retrieval_table import markdown as retrieval_markdown
from evaluation.dialogue.retrieval_table import measures as retrieval_measures
from evaluation.dialogue.runs.attachment_run import (
    ALL_VARIANTS,
    STRING_MATCH,
    AttachmentRun,
    JudgeOf,
    KatRow,
    string_judge,
)
from evaluation.dialogue.runs.attachment_table import impossible_markdown, kat_markdown, kat_measures
from evaluation.dialogue.runs.opendialkg_turns import kinds_in, names_in, read_test_turns
from evaluation.dialogue.runs.plots import PricedF1, f1_by_price, mrr_by_ranking
from evaluation.dialogue.runs.replies_run import FACTS, ModifiedRow, RepliesRun, ReplyRow
from evaluation.dialogue.runs.replies_table import modified_markdown, replies_markdown, replies_measures
from evaluation.dialogue.spans import SpanExtractor
from evaluation.dialogue.writers.chat_client import ChatClient
from evaluation.dialogue.writers.endpoint_writer import EndpointWriter
from evaluation.dialogue.writers.reply_writer import AllTriplesWriter, GoldWriter, ReplyWriter
from evaluation.tables.measures import Measure
from evaluation.tables.measures import markdown as bounds_markdown

Part = Literal["retrieval", "replies", "attachment"]
PARTS: Final[tuple[Part, ...]] = ("retrieval", "replies", "attachment")
EXTRACTOR: Final = "trained extractor"
EMBEDDED: Final = "embedded reasoner"
GOLD, ALL_TRIPLES = "gold reply", "all triples said"


@dataclass(frozen=True, slots=True)
class DialogueOptions:
    """`limit` turns at most, of whole dialogues; `endpoints` write, `judge` reads beside the extractor."""

    data: Path
    settings: Settings
    seed: int = 0
    weights: Path | None = None
    extractor: SpanExtractor | None = None
    embedded: ReplyWriter | None = None
    endpoints: Sequence[ChatClient] = ()
    judge: ChatClient | None = None
    limit: int | None = None


@dataclass(slots=True)
class DialogueReport:
    """Tables in Markdown by title, in order, the bounds, and the rows that plots are drawn from."""

    tables: dict[str, str] = field(default_factory=dict)
    measures: list[Measure] = field(default_factory=list)
    retrieval: Sequence[RetrievalRow] = ()
    attachment: Sequence[KatRow] = ()
    costs: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The bounds, then all tables, in Markdown."""
        tables = (f"## {name}\n\n{table}" for name, table in self.tables.items())
        return "\n".join([bounds_markdown(self.measures), *tables])

    def plots(self) -> dict[str, bytes]:
        """Pictures by name, of the parts that were run."""
        pictures = {}
        if self.retrieval:
            pictures["mrr_by_ranking"] = mrr_by_ranking(self.retrieval)
        points = [
            PricedF1(row.writer, row.variant.title, row.in_full, self.costs.get(row.writer))
            for row in self.attachment
            if row.context == "turn" and row.style == "default" and row.judge == self.attachment[0].judge
        ]
        if points:
            pictures["attachment_by_price"] = f1_by_price(points)
        return pictures


class DialogueRun:
    """Raises QuestionsError, NetworkWeightsError, EndpointUnusableError."""

    def __init__(self, options: DialogueOptions, show: Show) -> None:
        self._options, self._show, self._ablations = options, show, True

    def report(self, parts: Iterable[Part] = PARTS, *, ablations: bool = True) -> DialogueReport:
        self._ablations = ablations
        report = DialogueReport()
        made: Mapping[Part, Callable[[DialogueReport], None]] = {
            "retrieval": self._retrieval,
            "replies": self._replies,
            "attachment": self._attachment,
        }
        for part in parts:
            made[part](report)
        return report

    @cached_property
    def _retrieval_run(self) -> RetrievalRun:
        each = self._options
        return RetrievalRun(each.data, each.settings, each.seed, self._show, each.weights)

    @cached_property
    def _graph(self) -> DialogueGraph:
        return read_graph(self._options.data / FOLDER)

    @cached_property
    def _turns(self) -> list[GroundedTurn]:
        return read_test_turns(self._options.data, self._options.limit)

    def _retrieval(self, report: DialogueReport) -> None:
        report.retrieval = self._retrieval_run.rows(ablations=self._ablations)
        report.measures += retrieval_measures(report.retrieval)
        report.tables["Facts that the next turn needs"] = retrieval_markdown(report.retrieval)

    def _replies(self, report: DialogueReport) -> None:
        each = self._options
        ranked = self._retrieval_run.ranked_facts()
        run = RepliesRun(self._turns, self._graph, each.extractor, ranked, each.seed, self._show)
        rows = [run.row(GOLD, GoldWriter()), run.row(ALL_TRIPLES, AllTriplesWriter())]
        modified: list[ModifiedRow] = [run.modified(ALL_TRIPLES, AllTriplesWriter())]
        rows += [run.row(ALL_TRIPLES, AllTriplesWriter(), facts) for facts in FACTS]
        for name, writer in self._writers().items():
            rows += [run.row(name, writer), *(run.row(name, writer, facts) for facts in FACTS)]
            modified.append(run.modified(name, writer))
        report.measures += replies_measures(_embedded_row(rows))
        report.tables["Replies, measured by words"] = replies_markdown(rows)
        report.tables["Replies from knowledge with other tails"] = modified_markdown(modified)

    def _attachment(self, report: DialogueReport) -> None:
        run = AttachmentRun(self._turns, self._judges(), names_in(self._graph), kinds_in(self._graph), self._show)
        rows = [*run.rows(GOLD, GoldWriter()), *run.rows(ALL_TRIPLES, AllTriplesWriter())]
        for name, writer in self._writers().items():
            rows += run.rows(name, writer, ("default",) if name == EMBEDDED else ("default", "detailed"))
        control = run.impossible_flagged()
        # The best judge that there is: the match of strings stands first.
        best = list(run.judges)[-1]
        report.attachment = sorted(rows, key=lambda row: row.judge != best)
        report.costs = {chat.model: chat.usage.cost_of_thousand for chat in self._options.endpoints}
        report.measures += kat_measures(_bounded_row(rows), control.get(EXTRACTOR))
        report.tables["LLM-KAT"] = kat_markdown(rows)
        report.tables["Questions that can't be answered"] = impossible_markdown(control)

    def _writers(self) -> dict[str, ReplyWriter]:
        """Those that are measured beside gold replies and all triples."""
        writers: dict[str, ReplyWriter] = {}
        if self._options.embedded:
            writers[EMBEDDED] = self._options.embedded
        for chat in self._options.endpoints:
            writers[chat.model] = EndpointWriter(chat, self._telling(f"{chat.model}: replies"))
        return writers

    def _judges(self) -> dict[str, JudgeOf]:
        judges: dict[str, JudgeOf] = {STRING_MATCH: string_judge}
        if (extractor := self._options.extractor) is not None:
            judges[EXTRACTOR] = lambda _turns: ExtractorJudge(extractor)
        if (chat := self._options.judge) is not None:
            judges[chat.model] = lambda _turns: EndpointJudge(chat, self._telling(f"{chat.model}: judging"))
        return judges

    def _telling(self, title: str) -> Callable[[int, int], None]:
        return lambda done, total: self._show(title, done, total)


def _embedded_row(rows: Sequence[ReplyRow]) -> ReplyRow | None:
    """The replies from three ranked facts, as SURGE has them."""
    return next((row for row in rows if row.writer == EMBEDDED and row.given == f"{FACTS[0]} facts"), None)


def _bounded_row(rows: Sequence[KatRow]) -> KatRow | None:
    """Pseudonyms alone, as the service works, in all dialogues."""
    return next(
        (
            row
            for row in rows
            if (row.writer, row.judge, row.context) == (EMBEDDED, EXTRACTOR, "turn")
            and row.variant == ALL_VARIANTS[-1]
        ),
        None,
    )
