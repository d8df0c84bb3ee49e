"""Turns about an owner's own graph, in pseudonyms alone, and a client that lets nothing private leave."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from app.privacy.pseudonym_format import draw_word
from evaluation.bench.bench import Bench
from evaluation.checks.leak_scan import LeakScanner
from evaluation.datasets.questions import QuestionsError
from evaluation.dialogue.attachment.endpoint_judge import FRAME as JUDGE_FRAME
from evaluation.dialogue.attachment.pairwise import FRAME as PAIRWISE_FRAME
from evaluation.dialogue.grounded_turns import GroundedTurn
from evaluation.dialogue.opendialkg import Triple
from evaluation.dialogue.writers.chat_client import ChatUsage, CompletesPrompts, Tell
from evaluation.dialogue.writers.prompts import FRAMES
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Mid, Mids, NodeKind, SignatureId, as_mids

MAX_FACTS: Final = 3
MIN_FITTING: Final = 20
"""So many things of the graph have all that a turn shows of one, as prompts of the service have by default."""

_Fact = tuple[Mid, str, Mid]
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

    Promise: turns hold pseudonyms, concepts and relations that the policy shows, and what a turn shows of the thing
    that it is about, MIN_FITTING things of the graph have. Limit: the other ends of its facts may be fewer, and who
    knows the graph may tell things apart by several turns.
    """
    async with Bench("embedded") as bench:
        loaded = bench.load("own", sources, policy.read_text("utf-8") if policy else None, masks=True)
        blind = bench.graph(loaded).blind
        found = _turns(blind, turns, seed)
        if not found:
            raise QuestionsError(f"the graph has no facts that at least {MIN_FITTING} of its things share")
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
        if facts := _facts(blind, Mid(mid)):
            found.append(_turn(blind, f"own-{len(found)}", Mid(mid), facts))
    return found


def _facts(blind: BlindGraph, mid: Mid) -> list[_Fact]:
    """Facts of different relations to things with a name or a value, as many as MIN_FITTING things have alike."""
    fitting = _of_concept(blind, _concept(blind, mid))
    found: list[_Fact] = []
    for hop in blind.relations_of(as_mids([mid])):
        others = [Mid(int(tail)) for tail in blind.neighbours(as_mids([mid]), hop).tails]
        named = [other for other in others if other != mid and _kind(blind, other) is not NodeKind.MEDIATOR]
        if not named or len(found) == MAX_FACTS:
            continue
        edges = blind.neighbours(fitting, hop)
        with_it = as_mids(edges.heads[_has_concept(blind, edges.tails, _concept(blind, named[0]))])
        if len(with_it) >= MIN_FITTING:
            fitting = with_it
            label = blind.schema.relations[hop.relation].label
            found.append((named[0], label, mid) if hop.inverse else (mid, label, named[0]))
    return found


def _of_concept(blind: BlindGraph, concept: str) -> Mids:
    return blind.members([SignatureId(each) for each in _signatures(blind, concept)])


def _has_concept(blind: BlindGraph, mids: Mids, concept: str) -> npt.NDArray[np.bool_]:
    return np.isin(blind.signatures_of(mids), _signatures(blind, concept))


def _signatures(blind: BlindGraph, concept: str) -> list[int]:
    return [int(each.id) for each in blind.schema.signatures if blind.schema.concepts[each.id] == concept]


def _turn(blind: BlindGraph, name: str, about: Mid, facts: Sequence[_Fact]) -> GroundedTurn:
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
