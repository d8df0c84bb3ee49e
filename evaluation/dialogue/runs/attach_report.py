"""The report of `arog eval attach`, on OpenDialKG's turns or on an owner's graph."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.bench.question_sets import Show
from evaluation.dialogue.attachment.endpoint_judge import EndpointJudge
from evaluation.dialogue.attachment.judge import ExtractorJudge
from evaluation.dialogue.attachment.pairwise import PairwiseJudge
from evaluation.dialogue.opendialkg import FOLDER, read_graph
from evaluation.dialogue.runs.attach_run import ANONYMISED, PLAIN, AttachRow, AttachRun
from evaluation.dialogue.runs.attach_table import attach_markdown, pairwise_markdown
from evaluation.dialogue.runs.attachment_run import OWN_GRAPH, STRING_MATCH, AttachmentRun, JudgeOf, string_judge
from evaluation.dialogue.runs.opendialkg_turns import kinds_in, names_in, read_test_turns
from evaluation.dialogue.runs.own_graph import ScannedChat, read_own_graph
from evaluation.dialogue.runs.plots import PricedF1, f1_by_price
from evaluation.dialogue.spans import SpanExtractor
from evaluation.dialogue.writers.chat_client import ChatClient, CompletesPrompts
from evaluation.dialogue.writers.reply_writer import PromptStyle


@dataclass(frozen=True, slots=True)
class AttachOptions:
    """`graph`: files of an owner's graph; the public set at `data` without. `judge` reads beside the extractor."""

    endpoints: Sequence[ChatClient]
    judge: ChatClient | None = None
    extractor: SpanExtractor | None = None
    data: Path = Path()
    graph: Sequence[Path] = ()
    policy: Path | None = None
    is_detailed: bool = False
    limit: int = 100
    seed: int = 0


@dataclass(frozen=True, slots=True)
class AttachReport:
    """`text`: the tables in Markdown."""

    rows: Sequence[AttachRow] = field(repr=False)
    text: str

    def plot(self) -> bytes:
        """An SVG of attachment over price."""
        return f1_by_price(
            [
                PricedF1(row.endpoint, row.kat.variant.title, row.kat.in_full, row.usage.cost_of_thousand)
                for row in self.rows
                if row.kat.judge == self.rows[-1].kat.judge
            ]
        )


def attach_report(options: AttachOptions, show: Show) -> AttachReport:
    """Raises QuestionsError, EndpointUnusableError."""
    chats: dict[str, CompletesPrompts] = dict(zip(_names(options.endpoints), options.endpoints, strict=True))
    judge: CompletesPrompts | None = options.judge
    if options.graph:
        show("loading the graph", 0, 1)
        own = asyncio.run(read_own_graph(options.graph, options.policy, options.limit, options.seed))
        # What a model wrote goes to the judge: it is scanned as well.
        chats = {name: ScannedChat(chat, own.scanner) for name, chat in chats.items()}
        judge = ScannedChat(judge, own.scanner) if judge else None
        attachment = AttachmentRun(own.turns, _judges(options, judge), show=show)
        run = AttachRun(attachment, chats, (OWN_GRAPH,), _style(options), show)
    else:
        graph = read_graph(options.data / FOLDER)
        turns = read_test_turns(options.data, options.limit)
        attachment = AttachmentRun(turns, _judges(options, judge), names_in(graph), kinds_in(graph), show)
        run = AttachRun(attachment, chats, (PLAIN, ANONYMISED), _style(options), show)
    rows = run.rows()
    text = attach_markdown(rows)
    if judge:
        text += "\n" + pairwise_markdown(run.compared(PairwiseJudge(judge, options.seed)))
    return AttachReport(rows, text + _withheld(chats) + _judging(options.judge))


def _judges(options: AttachOptions, judge: CompletesPrompts | None) -> dict[str, JudgeOf]:
    """A match of strings where nobody judges."""
    judges: dict[str, JudgeOf] = {}
    if (extractor := options.extractor) is not None:
        judges["trained extractor"] = lambda _turns: ExtractorJudge(extractor)
    if judge is not None and options.judge is not None:
        judges[options.judge.model] = lambda _turns: EndpointJudge(judge)
    return judges or {STRING_MATCH: string_judge}


def _names(endpoints: Sequence[ChatClient]) -> list[str]:
    """The models; numbered where one is asked at two endpoints."""
    models = [chat.model for chat in endpoints]
    return [f"{model} ({at})" if models.count(model) > 1 else model for at, model in enumerate(models, start=1)]


def _style(options: AttachOptions) -> PromptStyle:
    return "detailed" if options.is_detailed else "default"


def _judging(judge: ChatClient | None) -> str:
    """A line on calls and tokens of the judge, which are in no row."""
    if judge is None:
        return ""
    usage = judge.usage
    cost = "" if usage.cost is None else f", which cost {usage.cost:.4g}"
    return f"\nThe judge took {usage.calls} calls ({usage.failed} failed) and {usage.tokens} tokens{cost}.\n"


def _withheld(chats: Mapping[str, CompletesPrompts]) -> str:
    held = {name: chat.withheld for name, chat in chats.items() if isinstance(chat, ScannedChat)}
    if not any(held.values()):
        return "\nNo prompt held a name of the graph.\n" if held else ""
    told = ", ".join(f"{name}: {count}" for name, count in held.items() if count)
    return f"\nPrompts that held a name of the graph, and were not sent: {told}.\n"
