"""Turns about an owner's own graph, in pseudonyms alone, and a client that lets nothing private leave."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.evaluation.bench.bench import Bench
from app.evaluation.checks.leak_scan import LeakScanner
from app.evaluation.datasets.questions import QuestionsError
from app.evaluation.dialogue.attachment.endpoint_judge import FRAME as JUDGE_FRAME
from app.evaluation.dialogue.attachment.pairwise import FRAME as PAIRWISE_FRAME
from app.evaluation.dialogue.grounded_turns import GroundedTurn
from app.evaluation.dialogue.opendialkg import Triple
from app.evaluation.dialogue.writers.chat_client import ChatUsage, CompletesPrompts, Tell
from app.evaluation.dialogue.writers.prompts import FRAMES
from app.privacy.pseudonym_format import draw_word
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Mid, NodeKind, as_mids

MAX_FACTS: Final = 3
_ASKED: Final = "What do you know about {}?"
_FRAMES = (*FRAMES, JUDGE_FRAME, PAIRWISE_FRAME, _ASKED.replace("{}?", ""))


@dataclass(frozen=True, slots=True)
class OwnGraph:
    """Turns in pseudonyms, each with facts about one thing, and the scanner that knows every private name."""

    turns: Sequence[GroundedTurn] = field(repr=False)
    scanner: LeakScanner = field(repr=False)


async def read_own_graph(sources: Sequence[Path], policy: Path | None, turns: int, seed: int) -> OwnGraph:
    """Loads the graph as the service does, by its policy or the proposed one, into a folder that is deleted.

    Raises QuestionsError where it has no fact that a model may see.
    """
    async with Bench("embedded") as bench:
        loaded = bench.load("own", sources, policy.read_text("utf-8") if policy else None, masks=True)
        blind = bench.graph(loaded).blind
        found = _turns(blind, turns, seed)
        if not found:
            raise QuestionsError("the graph has no facts that may be shown")
        return OwnGraph(found, bench.scanner(loaded))


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


def _turns(blind: BlindGraph, count: int, seed: int) -> list[GroundedTurn]:
    schema = blind.schema
    things = blind.members([each.id for each in schema.signatures if each.kind is NodeKind.ENTITY])
    order = [int(mid) for mid in things]
    random.Random(seed).shuffle(order)  # noqa: S311  # a sample, no secret  # nosec B311
    found: list[GroundedTurn] = []
    for mid in order:
        if len(found) == count:
            break
        facts = _facts(blind, Mid(mid))
        if facts:
            found.append(_turn(blind, f"own-{len(found)}", Mid(mid), facts))
    return found


def _facts(blind: BlindGraph, mid: Mid) -> list[tuple[Mid, str, Mid]]:
    """One fact of each of the first relations that lead to something with a name or a value."""
    found: list[tuple[Mid, str, Mid]] = []
    for hop in blind.relations_of(as_mids([mid])):
        others = [Mid(int(tail)) for tail in blind.neighbours(as_mids([mid]), hop).tails]
        named = [other for other in others if other != mid and _kind(blind, other) is not NodeKind.MEDIATOR]
        if named and len(found) < MAX_FACTS:
            label = blind.schema.relations[hop.relation].label
            found.append((named[0], label, mid) if hop.inverse else (mid, label, named[0]))
    return found


def _turn(blind: BlindGraph, name: str, about: Mid, facts: Sequence[tuple[Mid, str, Mid]]) -> GroundedTurn:
    words: dict[Mid, str] = {}
    for mid in (about, *(end for head, _, tail in facts for end in (head, tail))):
        if mid not in words:
            letter = "V" if _kind(blind, mid) is NodeKind.VALUE else "E"
            words[mid] = draw_word("V" if letter == "V" else "E", set(words.values()))
    coming: list[Triple] = [(words[head], label, words[tail]) for head, label, tail in facts]
    concepts = {word: _concept(blind, mid) for mid, word in words.items()}
    return GroundedTurn(
        name, name, (("user", _ASKED.format(words[about])),), (), tuple(sorted(coming)), concepts=concepts
    )


def _kind(blind: BlindGraph, mid: Mid) -> NodeKind:
    return blind.schema.signatures[int(blind.signatures_of(as_mids([mid]))[0])].kind


def _concept(blind: BlindGraph, mid: Mid) -> str:
    return str(blind.schema.concepts[int(blind.signatures_of(as_mids([mid]))[0])])
