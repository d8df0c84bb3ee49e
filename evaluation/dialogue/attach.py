"""The report of `arog eval attach`: which endpoint holds to a graph, and at what price.

The graph is OpenDialKG's, or an owner's: turns about that one are in pseudonyms alone, and nothing private leaves.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from functools import partial
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
)
from evaluation.dialogue.attachment import EXTRACTOR, STRING_MATCH, JudgeOf, KatRow, kat_rows, string_judge
from evaluation.dialogue.dialogue_sets import DialogueTurn, read_graph, read_test_turns
from evaluation.dialogue.endpoints import ASKED, ChatClient, ChatUsage, endpoint_writer, judged_by
from evaluation.dialogue.scores import Judge, percent
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Mid, Mids, NodeKind, SignatureId, as_mids

MAX_FACTS: Final = 3
MIN_FITTING: Final = 20
"""So many things of the graph have all that a turn shows of one, as prompts of the service have by default."""
_HEAD: Final = (
    *("endpoint", "set", "judge", "questions", "F1 per turn", "F1 per session", "impossible", "failed"),
    *("F1, impossible as 0", "calls", "failed calls", "tokens a reply", "cost of 1000 replies"),
)

_Fact = tuple[Mid, str, Mid]


def attach_report(
    endpoints: Sequence[ChatClient],
    judge: ChatClient | None,
    extractor: Judge | None,
    data: Path,
    graph: Sequence[Path],
    policy: Path | None,
    limit: int,
    seed: int,
    show: Show,
) -> str:
    """A table in Markdown, a row for each endpoint, set and judge; figures times 100. `graph`: files of an owner's
    graph; the public set at `data` without. `judge` reads beside `extractor`, the trained one; calls and tokens of a
    row are of its replies alone. Raises QuestionsError, EndpointError."""
    variants: tuple[DialogueVariant, ...] = (PLAIN, ANONYMISED)
    clients = [*endpoints, *([judge] if judge else [])]
    if graph:
        show("loading the graph", 0, 1)
        turns, scanner = asyncio.run(read_own_graph(graph, policy, limit, seed))
        variants, anonymiser = (OWN_GRAPH,), Anonymiser()
        for client in clients:
            # What a model wrote goes to the judge: it is scanned as well.
            client.scanner = scanner
    else:
        turns, public = read_test_turns(data, limit), read_graph(data)
        anonymiser = Anonymiser(names_in(public), kinds_in(public))
    judges = _judges(extractor, judge, show)
    models = [client.model for client in endpoints]
    cells: list[tuple[object, ...]] = []
    for at, client in enumerate(endpoints, start=1):
        name = f"{client.model} ({at})" if models.count(client.model) > 1 else client.model
        write = endpoint_writer(client, partial(show, f"{name}: replies"))
        for variant in variants:
            client.usage = ChatUsage(price=client.price)
            rows = kat_rows(anonymiser.variant(variant, turns), judges, variant, name, write, ("turn",))
            cells += [_cells(row, client.usage) for row in rows]
    return markdown_table(_HEAD, cells) + _withheld(clients if graph else ()) + _judging(judge)


def _withheld(clients: Sequence[ChatClient]) -> str:
    told = ", ".join(f"{client.model}: {client.withheld}" for client in clients if client.withheld)
    if told:
        return f"\nPrompts that held a name of the graph, and were not sent: {told}.\n"
    return "\nNo prompt held a name of the graph.\n" if clients else ""


def _judging(judge: ChatClient | None) -> str:
    """A line on calls and tokens of the judge, which are in no row."""
    if judge is None:
        return ""
    usage = judge.usage
    cost = "" if usage.cost is None else f", which cost {usage.cost:.4g}"
    return f"\nThe judge took {usage.calls} calls ({usage.failed} failed) and {usage.tokens} tokens{cost}.\n"


def _judges(extractor: Judge | None, chat: ChatClient | None, show: Show) -> dict[str, JudgeOf]:
    """A match of strings where nobody judges."""
    judges: dict[str, JudgeOf] = {}
    if extractor is not None:
        judges[EXTRACTOR] = lambda _turns: extractor
    if chat is not None:
        judges[chat.model] = lambda _turns: partial(judged_by, chat, tell=partial(show, f"{chat.model}: judging"))
    return judges or {STRING_MATCH: string_judge}


def _cells(row: KatRow, usage: ChatUsage) -> tuple[object, ...]:
    """The cells of one row of the results table. A token count with `~` is estimated, because the endpoint reports
    none."""
    told, cost = row.figures, usage.cost_of_thousand
    shares = percent([told.per_session, told.impossible, told.failed])
    tokens = f"{'~' if usage.estimated else ''}{usage.tokens / max(usage.calls, 1):.0f}"
    first = (row.writer, row.variant.title, row.judge, told.questions, told.per_turn, *shares, told.in_full)
    return *first, usage.calls, usage.failed, tokens, "" if cost is None else f"{cost:.4g}"


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


class _Shown:
    """Draws dialogue turns about things of a blind graph: of each only facts that at least MIN_FITTING things
    share."""

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
        return DialogueTurn(name, name, (("user", ASKED.format(words[about])),), gold, concepts=concepts)

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
