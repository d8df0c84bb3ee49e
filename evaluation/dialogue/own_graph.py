"""Turns about an owner's own graph, in pseudonyms alone, and a client that lets nothing private leave."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from app.privacy.pseudonym_format import draw_word
from evaluation.bench.bench import Bench
from evaluation.checks.leak_scan import LeakScanner
from evaluation.datasets.questions import QuestionsError
from evaluation.dialogue.chat_client import ChatUsage, CompletesPrompts, Tell
from evaluation.dialogue.dialogue_sets import DialogueTurn
from evaluation.dialogue.judges import JUDGE_FRAME, PAIRWISE_FRAME
from evaluation.dialogue.writers import FRAMES
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Mid, Mids, NodeKind, SignatureId, as_mids

MAX_FACTS: Final = 3
MIN_FITTING: Final = 20
"""So many things of the graph have all that a turn shows of one, as prompts of the service have by default."""

_Fact = tuple[Mid, str, Mid]
_ASKED: Final = "What do you know about {}?"
_FRAMES: Final = (*FRAMES, JUDGE_FRAME, PAIRWISE_FRAME, _ASKED.replace("{}?", ""))


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
