"""The report of `arog eval attach`: which endpoint holds to a graph, and at what price.

The graph is OpenDialKG's, or an owner's: turns about that one are in pseudonyms alone, and nothing private leaves.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

from app.graphs.markdown_table import markdown_table
from app.privacy.pseudonyms import draw_word
from evaluation.bench.bench import Bench
from evaluation.bench.question_sets import Show
from evaluation.checks.leak_scan import LeakScanner
from evaluation.datasets.questions import QuestionsError
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
from evaluation.dialogue.chat_client import ChatClient, ChatUsage, CompletesPrompts, Tell
from evaluation.dialogue.dialogue_sets import DialogueTurn, read_graph, read_test_turns
from evaluation.dialogue.figures import PricedF1, f1_by_price, percent, published_rows
from evaluation.dialogue.judges import JUDGE_FRAME, PAIRWISE_FRAME, compared, judged_by
from evaluation.dialogue.spans import Judge
from evaluation.dialogue.writers import FRAMES, PromptStyle, endpoint_writer
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Mid, Mids, NodeKind, SignatureId, as_mids

MAX_FACTS: Final = 3
MIN_FITTING: Final = 20
"""So many things of the graph have all that a turn shows of one, as prompts of the service have by default."""

_Fact = tuple[Mid, str, Mid]
_ASKED: Final = "What do you know about {}?"
_FRAMES: Final = (*FRAMES, JUDGE_FRAME, PAIRWISE_FRAME, _ASKED.replace("{}?", ""))


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
        counts = (found.first, found.second, found.both, found.neither, found.failed)
        pairs = sum(counts)
        shares = percent([*(count / max(pairs, 1) for count in counts), found.share_of_a])
        cells.append([*titles, str(pairs), *shares])
    beside = [
        [f"published: {model}, plain", "anonymised", "", plain, anonymised, tie, "", "", ""]
        for model, plain, tie, anonymised in published_rows("pairwise", "model", "plain", "tie", "anonymised")
    ]
    head = ("first", "second", "pairs", "first better", "second better", "both", "neither", "failed", "A chosen")
    return markdown_table(head, [*cells, *beside])


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


async def read_own_graph(
    sources: Sequence[Path], policy: Path | None, turns: int, seed: int
) -> tuple[list[DialogueTurn], LeakScanner]:
    """Turns in pseudonyms, each with facts about one thing, and the scanner that knows every private name. The graph
    is loaded as the service does, by its policy or the proposed one, into a folder that is deleted.

    Raises QuestionsError where it has no fact that a model may see.

    Promise: turns hold pseudonyms, concepts and relations that the policy shows, and what a turn shows of the thing
    that it is about, MIN_FITTING things of the graph have. Limit: the other ends of its facts may be fewer, and who
    knows the graph may tell things apart by several turns.
    """
    async with Bench("embedded") as bench:
        loaded = bench.load("own", sources, policy.read_text("utf-8") if policy else None, masks=True)
        found = _Shown(bench.graph(loaded).blind).turns(turns, seed)
        if not found:
            raise QuestionsError(f"the graph has no facts that at least {MIN_FITTING} of its things share")
        return found, bench.scanner(loaded)


class ScannedChat:
    """Promise: a prompt that holds a name or a protected value of the graph is not sent; it counts as failed.

    Limit: as the scanner's, which reads all but our own words around the prompt.
    """

    def __init__(self, chat: CompletesPrompts, scanner: LeakScanner) -> None:
        self._chat, self._scanner, self.withheld = chat, scanner, 0

    @property
    def usage(self) -> ChatUsage:
        return self._chat.usage

    def complete(self, prompts: Sequence[str], tell: Tell = lambda _done, _total: None) -> list[str | None]:
        clear = [not self._scanner.scan([_told(prompt).encode()]).leaks for prompt in prompts]
        self.withheld += clear.count(False)
        sent = [prompt for prompt, is_clear in zip(prompts, clear, strict=True) if is_clear]
        replies = iter(self._chat.complete(sent, tell) if sent else ())
        return [next(replies) if is_clear else None for is_clear in clear]


def _told(prompt: str) -> str:
    for frame in _FRAMES:
        prompt = prompt.replace(frame, "\n")
    return prompt


class _Shown:
    """A blind graph, and what may be shown of its things."""

    def __init__(self, blind: BlindGraph) -> None:
        self._blind, self._schema = blind, blind.schema

    def turns(self, count: int, seed: int) -> list[DialogueTurn]:
        things = self._blind.members([each.id for each in self._schema.signatures if each.kind is NodeKind.ENTITY])
        order = [Mid(int(mid)) for mid in things]
        random.Random(seed).shuffle(order)  # noqa: S311  # a sample, no secret  # nosec B311
        found: list[DialogueTurn] = []
        for mid in order:
            if len(found) < count and (facts := self._facts(mid)):
                found.append(self._turn(f"own-{len(found)}", mid, facts))
        return found

    def _facts(self, mid: Mid) -> list[_Fact]:
        """Facts of different relations to things with a name or a value, as many as MIN_FITTING things have alike."""
        fitting = self._blind.members([SignatureId(each) for each in self._signatures_like(mid)])
        found: list[_Fact] = []
        for hop in self._blind.relations_of(as_mids([mid])):
            others = [Mid(int(tail)) for tail in self._blind.neighbours(as_mids([mid]), hop).tails]
            named = [other for other in others if other != mid and self._kind(other) is not NodeKind.MEDIATOR]
            if not named or len(found) == MAX_FACTS:
                continue
            edges = self._blind.neighbours(fitting, hop)
            is_like = np.isin(self._blind.signatures_of(edges.tails), self._signatures_like(named[0]))
            with_it: Mids = as_mids(edges.heads[is_like])
            if len(with_it) >= MIN_FITTING:
                fitting = with_it
                label = self._schema.relations[hop.relation].label
                found.append((named[0], label, mid) if hop.inverse else (mid, label, named[0]))
        return found

    def _turn(self, name: str, about: Mid, facts: Sequence[_Fact]) -> DialogueTurn:
        words: dict[Mid, str] = {}
        for mid in dict.fromkeys((about, *(end for head, _, tail in facts for end in (head, tail)))):
            words[mid] = draw_word("V" if self._kind(mid) is NodeKind.VALUE else "E", set(words.values()))
        gold = tuple(sorted((words[head], label, words[tail]) for head, label, tail in facts))
        concepts = {word: self._concept(mid) for mid, word in words.items()}
        return DialogueTurn(name, name, (("user", _ASKED.format(words[about])),), gold, concepts=concepts)

    def _signatures_like(self, mid: Mid) -> list[int]:
        """Those of its concept."""
        concept = self._concept(mid)
        return [int(each.id) for each in self._schema.signatures if self._schema.concepts[each.id] == concept]

    def _concept(self, mid: Mid) -> str:
        return str(self._schema.concepts[self._signature(mid)])

    def _kind(self, mid: Mid) -> NodeKind:
        return self._schema.signatures[self._signature(mid)].kind

    def _signature(self, mid: Mid) -> int:
        return int(self._blind.signatures_of(as_mids([mid]))[0])
