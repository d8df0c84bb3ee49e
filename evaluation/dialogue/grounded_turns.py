"""Turns with the knowledge that their replies are written from: triples of the dialogue so far, and the coming ones.

As LLM-KAT gives them (Sheikhi et al., 2025, section 3).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from evaluation.dialogue.opendialkg import MIN_SHARED_LENGTH, DialogueTurn, Triple


@dataclass(frozen=True, slots=True)
class GroundedTurn:
    """`coming`: the triples that the reply to be written should use; `so_far`: those of the replies before it.

    `concepts` of things, where prompts tell them beside the thing: "Eq7f2k (person)". `originals`: what stood there
    before, by the word that stands there now.
    """

    id: str
    dialogue: str
    history: tuple[tuple[str, str], ...] = field(repr=False)
    so_far: tuple[Triple, ...] = field(repr=False)
    coming: tuple[Triple, ...] = field(repr=False)
    gold_reply: str = field(default="", repr=False)
    concepts: Mapping[str, str] = field(default_factory=dict, repr=False)
    originals: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def knowledge(self) -> tuple[Triple, ...]:
        """All that the reply may say, each triple once."""
        return tuple(dict.fromkeys((*self.so_far, *self.coming)))


def grounded_turns(turns: Sequence[DialogueTurn], among: Sequence[DialogueTurn] | None = None) -> list[GroundedTurn]:
    """Those with a gold fact; what was said before is looked up in `among`, the turns of whole dialogues."""
    earlier = _Earlier(turns if among is None else among)
    return [
        GroundedTurn(
            turn.id, turn.dialogue, turn.history, earlier.knowledge(turn), tuple(sorted(turn.gold)), turn.reply
        )
        for turn in turns
        if turn.gold
    ]


def names_of(triples: Iterable[Triple]) -> set[str]:
    """The ends of all triples."""
    return {name for head, _, tail in triples for name in (head, tail)}


def is_said(name: str, text: str) -> bool:
    """True where `name` stands in `text` as words of its own, in capitals or not."""
    words = r"\s+".join(re.escape(word) for word in name.split())
    return bool(words) and re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE) is not None


class _Earlier:
    """The replies of a dialogue before a turn. The file has no order: utterances that two turns share give it."""

    def __init__(self, turns: Sequence[DialogueTurn]) -> None:
        self._turns: dict[str, list[DialogueTurn]] = defaultdict(list)
        for turn in turns:
            self._turns[turn.dialogue].append(turn)

    def knowledge(self, turn: DialogueTurn) -> tuple[Triple, ...]:
        others = self._turns[turn.dialogue]
        before: dict[str, set[str]] = defaultdict(set)
        for other in others:
            said = _utterances(other)
            for one, after in pairwise(said):
                before[after].add(one)
        reached, waiting = set[str](), [_utterances(turn)[-1]]
        while waiting:
            new = before[waiting.pop()] - reached
            reached |= new
            waiting += new
        own = _utterances(turn)[-1]
        earlier = [each for each in others if (last := _utterances(each)[-1]) in reached and last != own]
        return tuple(sorted({triple for each in earlier for triple in each.gold}))


def _utterances(turn: DialogueTurn) -> list[str]:
    """History and reply; short ones ("Yes") may stand twice in a dialogue, and are told apart by the turn."""
    texts = [*(text for _, text in turn.history), turn.reply]
    keys = [text.strip().lower() for text in texts]
    return [key if len(key) >= MIN_SHARED_LENGTH else f"{turn.id} {at} {key}" for at, key in enumerate(keys)]
