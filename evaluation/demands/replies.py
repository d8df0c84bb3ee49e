"""Replies by both forms of demands with one model, their bounds, and their measures beside those of plain replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.graphs.markdown_table import markdown_table
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.reasoner import ReasonerError
from evaluation.bench.question_sets import Show
from evaluation.checks.metrics import mean
from evaluation.demands.dialogues import DialoguePair, draw, pairs_of, read_dialogues, read_facts
from evaluation.demands.faithful import MAX_CALLS, FaithfulDcrag, FaithfulRun, plain_reply
from evaluation.demands.judges import Judge
from evaluation.demands.matching import FactRarity, HardMatcher
from evaluation.demands.measures import Figure, ReplyMeasures, commonsense_proportion, measure_replies
from evaluation.demands.retrieval import T_RAG, FactRetrieval
from evaluation.demands.service_form import ServiceReply, service_form
from evaluation.tables.measures import Measure, none

FAITHFUL: Final = "DCRAG, faithful"
SERVICE: Final = "demands, service"
VANILLA: Final = "vanilla"
MAX_SERVICE_CALLS: Final = 2
MAX_TOKEN_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class BothForms:
    """The replies of both forms to the same dialogues. `faithful` holds None where the endpoint failed.

    `names_sent`: how often a name of the demo's graph, of `names`, stood in a request of the service.
    """

    faithful: Sequence[FaithfulRun | None] = field(repr=False)
    service: Sequence[ServiceReply] = field(repr=False)
    names: int
    names_sent: int


async def ask_both(
    endpoint: ModelEndpoint,
    retrieval: FactRetrieval,
    pairs: Sequence[DialoguePair],
    settings: Mapping[str, object],
    show: Show,
    seed: int = 0,
) -> BothForms:
    """Asks both forms for a reply to each pair; `settings` are those by which the service asks the same endpoint."""
    paper = FaithfulDcrag(endpoint, retrieval, seed)
    faithful, replies = list[FaithfulRun | None](), list[ServiceReply]()
    show("loading", 0, 1)
    async with service_form(retrieval.triples, settings) as service:
        for done, pair in enumerate(pairs):
            show("replying", done, len(pairs))
            replies.append(await service.reply(pair.history))
            try:
                faithful.append(await paper.reply(pair.history))
            except ReasonerError:
                faithful.append(None)
        return BothForms(faithful, replies, service.names, service.names_sent)


def bounds(both: BothForms) -> list[Measure]:
    """Returns the lines with bounds on errors, names, calls and tokens."""
    runs = [run for run in both.faithful if run is not None]
    asked = len(both.service)
    theirs, ours = sum(run.tokens for run in runs), sum(reply.tokens for reply in both.service)
    calls = [reply.calls for reply in both.service]
    told = f"{ours / theirs if theirs else 1:.2f} ({ours / max(1, asked):.0f} of {theirs / max(1, len(runs)):.0f})"
    return [
        none(f"{FAITHFUL}: errors", asked, asked - len(runs)),
        none(f"{SERVICE}: errors", asked, sum(bool(reply.problem) for reply in both.service)),
        none(f"{SERVICE}: names of the demo's graph in requests", both.names, both.names_sent),
        Measure(
            name=f"{FAITHFUL}: calls a reply",
            questions=len(runs),
            bound=f"{MAX_CALLS} (5 if all facts are foreseen)",
            reached=f"{mean([float(len(run.calls)) for run in runs]):.2f}",
            passed=bool(runs) and all(run.is_complete for run in runs),
        ),
        Measure(
            name=f"{SERVICE}: calls a reply",
            questions=asked,
            bound=f"at most {MAX_SERVICE_CALLS}",
            reached=f"{mean(list(map(float, calls))):.2f}, at most {max(calls, default=0)}",
            passed=bool(calls) and max(calls) <= MAX_SERVICE_CALLS,
        ),
        Measure(
            name=f"{SERVICE}: tokens a reply against {FAITHFUL}",
            questions=asked,
            bound=f"at most {MAX_TOKEN_SHARE} x",
            reached=told,
            passed=0 < ours <= MAX_TOKEN_SHARE * theirs,
        ),
        Measure(
            name=f"{FAITHFUL}: parts of outputs that could not be read",
            questions=len(runs),
            reached=str(sum(run.repairs for run in runs)),
        ),
    ]


@dataclass(frozen=True, slots=True)
class MeasuredReplies:
    """The measures of one method's replies; `swapped`: CDP of the same replies given to other dialogues."""

    measures: ReplyMeasures
    swapped: Figure
    empty: int
    not_judged: int


async def run_replies(
    url: str, model: str, data: Path, dialogues: int, seed: int, embedder: Embedder, show: Show
) -> tuple[list[Measure], str]:
    """Returns the bounds on both forms, and a table of the replies' measures. Raises QuestionsError."""
    show("reading", 0, 1)
    facts, split = read_facts(data), draw(read_dialogues(data), dialogues, seed)
    retrieval = FactRetrieval(facts, embedder)
    endpoint = ModelEndpoint(url, model)
    try:
        await endpoint.probe()
        settings = {"endpoint_url": url, "endpoint_model": model, "reasoner": "endpoint"}
        both = await ask_both(endpoint, retrieval, split.test, settings, show, seed)
        replies = {
            FAITHFUL: [run.reply if run else "" for run in both.faithful],
            SERVICE: [reply.text for reply in both.service],
            VANILLA: await _plain(endpoint, None, split.test, seed, show),
            T_RAG: await _plain(endpoint, retrieval, split.test, seed, show),
        }
        show("counting facts", 0, 1)
        matcher = HardMatcher(facts)
        rarity = FactRarity.of(matcher, (pair for each in split.development for pair in pairs_of(each)))
        measured = {
            name: await _measured(endpoint, told, split.test, matcher, rarity, seed, _titled(show, name))
            for name, told in replies.items()
        }
    finally:
        await endpoint.close()
    return bounds(both), replies_table(measured)


def replies_table(measured: Mapping[str, MeasuredReplies]) -> str:
    """Returns the measures of each method with 95 % intervals; an empty cell was not measured."""
    head = ["replies", "DI-2", "CDP", "CDP, swapped", "CDF", "MEEP", "Infor.", "Overall", "GeoMean", "empty"]
    rows = []
    for name, each in measured.items():
        told = each.measures
        judged = [figure and str(figure) for figure in (told.meep, told.informativeness, told.overall)]
        whole = "" if told.geo_mean is None else f"{told.geo_mean:.2f}"
        cells = [f"{told.distinct_2:.2f}", str(told.cdp), str(each.swapped), str(told.cdf)]
        rows.append([name, *cells, *(each or "" for each in judged), whole, str(each.empty)])
    lost = ", ".join(f"{name}: {each.not_judged}" for name, each in measured.items())
    return f"{markdown_table(head, rows)}\nJudgements that could not be read: {lost}.\n"


async def _plain(
    endpoint: ModelEndpoint, retrieval: FactRetrieval | None, pairs: Sequence[DialoguePair], seed: int, show: Show
) -> list[str]:
    """Returns the model's replies to the dialogues alone, or with the facts of T-RAG."""
    replies = list[str]()
    for done, pair in enumerate(pairs):
        show(T_RAG if retrieval else VANILLA, done, len(pairs))
        facts = retrieval.texts(retrieval.t_rag(pair.history)) if retrieval else []
        try:
            replies.append(await plain_reply(endpoint, pair.history, facts, seed))
        except ReasonerError:
            replies.append("")
    return replies


async def _measured(
    endpoint: ModelEndpoint,
    replies: Sequence[str],
    pairs: Sequence[DialoguePair],
    matcher: HardMatcher,
    rarity: FactRarity,
    seed: int,
    show: Show,
) -> MeasuredReplies:
    show("judging", 0, 1)
    judge = Judge(endpoint, seed, at_once=2)
    ratings = await judge.rate(pairs, replies)
    own = [matcher.facts_between(pair.history, told) for pair, told in zip(pairs, replies, strict=True)]
    others = [*replies[1:], *replies[:1]]
    swapped = [matcher.facts_between(pair.history, told) for pair, told in zip(pairs, others, strict=True)]
    return MeasuredReplies(
        measure_replies(replies, own, rarity, ratings),
        commonsense_proportion(swapped),
        sum(not told for told in replies),
        judge.not_judged.total(),
    )


def _titled(show: Show, name: str) -> Show:
    return lambda title, done, total: show(f"{title}: {name}", done, total)
