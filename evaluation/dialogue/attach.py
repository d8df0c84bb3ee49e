"""The report of `arog eval attach`: which endpoint holds to a graph, OpenDialKG's or an owner's, and at what price."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path

from app.graphs.markdown_table import markdown_table
from evaluation.bench.question_sets import Show
from evaluation.dialogue.anonymised import (
    ANONYMISED,
    OWN_GRAPH,
    PLAIN,
    Anonymiser,
    DialogueVariant,
    kinds_in,
    names_in,
    restored,
)
from evaluation.dialogue.attachment import STRING_MATCH, AttachmentRun, JudgeOf, KatRow, string_judge
from evaluation.dialogue.chat_client import ChatClient, ChatUsage, CompletesPrompts
from evaluation.dialogue.dialogue_sets import read_graph, read_test_turns
from evaluation.dialogue.figures import PricedF1, f1_by_price, percent, published_rows
from evaluation.dialogue.judges import PairwiseFigures, compared, judged_by
from evaluation.dialogue.own_graph import ScannedChat, read_own_graph
from evaluation.dialogue.spans import Judge
from evaluation.dialogue.writers import PromptStyle, endpoint_writer


@dataclass(slots=True)
class AttachReport:
    """`graph`: files of an owner's graph; the public set at `data` without. `judge` reads beside `extractor`, the
    trained one. `usage`: what writing the replies of a row took; the judge's own is not in it.

    Raises QuestionsError, EndpointUnusableError.
    """

    endpoints: Sequence[ChatClient]
    judge: ChatClient | None
    extractor: Judge | None
    data: Path
    graph: Sequence[Path]
    policy: Path | None
    limit: int
    seed: int
    show: Show
    style: PromptStyle = "default"
    text: str = ""
    rows: list[tuple[KatRow, ChatUsage]] = field(default_factory=list, repr=False)

    def run(self) -> None:
        """Fills `text`, the tables in Markdown."""
        chats: dict[str, CompletesPrompts] = dict(zip(self._names(), self.endpoints, strict=True))
        judge: CompletesPrompts | None = self.judge
        variants: tuple[DialogueVariant, ...] = (PLAIN, ANONYMISED)
        if self.graph:
            self.show("loading the graph", 0, 1)
            turns, scanner = asyncio.run(read_own_graph(self.graph, self.policy, self.limit, self.seed))
            # What a model wrote goes to the judge: it is scanned as well.
            chats = {name: ScannedChat(chat, scanner) for name, chat in chats.items()}
            judge = ScannedChat(judge, scanner) if judge else None
            variants, anonymiser = (OWN_GRAPH,), Anonymiser()
        else:
            turns, graph = read_test_turns(self.data, self.limit), read_graph(self.data)
            anonymiser = Anonymiser(names_in(graph), kinds_in(graph))
        run = AttachmentRun(turns, self._judges(judge), anonymiser, self.show)
        for name, chat in chats.items():
            write = endpoint_writer(chat, lambda done, total: self.show("replies", done, total))
            for variant in variants:
                before = replace(chat.usage)
                found = run.rows(name, write, (self.style,), (variant,), ("turn",))
                self.rows += [(row, chat.usage.since(before)) for row in found]
        self.text = attach_markdown(self.rows)
        if judge:
            self.text += "\n" + _pairwise_markdown(run, list(chats), variants, judge, self.seed)
        self.text += _withheld(chats) + _judging(self.judge)

    def plot(self) -> bytes:
        """An SVG of attachment over price."""
        last = self.rows[-1][0].judge
        those = [(row, usage) for row, usage in self.rows if row.judge == last]
        return f1_by_price(
            [
                PricedF1(row.writer, row.variant.title, row.figures.in_full, each.cost_of_thousand)
                for row, each in those
            ]
        )

    def _names(self) -> list[str]:
        """The models; numbered where one is asked at two endpoints."""
        models = [chat.model for chat in self.endpoints]
        return [f"{model} ({at})" if models.count(model) > 1 else model for at, model in enumerate(models, start=1)]

    def _judges(self, judge: CompletesPrompts | None) -> dict[str, JudgeOf]:
        """A match of strings where nobody judges."""
        judges: dict[str, JudgeOf] = {}
        if (extractor := self.extractor) is not None:
            judges["trained extractor"] = lambda _turns: extractor
        if judge is not None and self.judge is not None:
            judges[self.judge.model] = lambda _turns: partial(judged_by, judge)
        return judges or {STRING_MATCH: string_judge}


def attach_markdown(rows: Sequence[tuple[KatRow, ChatUsage]]) -> str:
    """One row an endpoint, set and judge. Figures times 100; tokens with `~` are estimated where the endpoint counts
    none."""
    head = (
        *("endpoint", "set", "judge", "questions", "F1 per turn", "F1 per session", "impossible", "failed"),
        *("F1, impossible as 0", "calls", "failed calls", "tokens a reply", "cost of 1000 replies"),
    )
    cells = []
    for row, usage in rows:
        told, cost = row.figures, usage.cost_of_thousand
        shares = percent([told.per_session, told.impossible, told.failed])
        tokens = f"{'~' if usage.estimated else ''}{usage.tokens / usage.calls if usage.calls else 0.0:.0f}"
        first = (row.writer, row.variant.title, row.judge, told.questions, told.per_turn, *shares, told.in_full)
        cells.append((*first, usage.calls, usage.failed, tokens, "" if cost is None else f"{cost:.4g}"))
    return markdown_table(head, cells)


def _pairwise_markdown(
    run: AttachmentRun, names: Sequence[str], variants: Sequence[DialogueVariant], judge: CompletesPrompts, seed: int
) -> str:
    """Plain against anonymised replies of each endpoint, and the endpoints with each other; names are restored first,
    so that the judge does not see which of them was anonymised. Shares of the verdicts times 100. `A chosen`: 50 where
    the side does not matter."""
    said = {
        key: [restored(reply, turn) for reply, turn in zip(replies, run.turns_of(key[1]), strict=True)]
        for key, replies in run.replies.items()
    }
    keys = [((name, variants[0]), (name, variants[1])) for name in names if len(variants) > 1]
    keys += [((one, variants[-1]), (other, variants[-1])) for one, other in combinations(names, 2)]
    cells = []
    for first, second in keys:
        replies = zip(run.turns_of(variants[0]), said[first], said[second], strict=True)
        found = compared(judge, [(turn, one, other) for turn, one, other in replies if one and other], seed)
        titles = [f"{name}, {variant.title}" for name, variant in (first, second)]
        cells.append([*titles, *_pairwise_cells(found)])
    beside = [
        [f"published: {model}, plain", "anonymised", "", plain, anonymised, tie, "", "", ""]
        for model, plain, tie, anonymised in published_rows("pairwise", "model", "plain", "tie", "anonymised")
    ]
    head = ("first", "second", "pairs", "first better", "second better", "both", "neither", "failed", "A chosen")
    return markdown_table(head, [*cells, *beside])


def _pairwise_cells(found: PairwiseFigures) -> list[str]:
    counts = (found.first, found.second, found.both, found.neither, found.failed)
    pairs = sum(counts)
    return [str(pairs), *percent([*(count / max(pairs, 1) for count in counts), found.share_of_a])]


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
