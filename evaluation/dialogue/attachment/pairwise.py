"""A judge that compares two replies, sides drawn by chance: LLM-KAT's qualitative analysis (appendix A.3)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from evaluation.dialogue.grounded_turns import GroundedTurn
from evaluation.dialogue.writers.chat_client import CompletesPrompts, Tell
from evaluation.dialogue.writers.prompts import triplets_text

Choice = Literal["a", "b", "both", "neither"]
_CHOICES: Final[dict[str, Choice]] = {"a": "a", "b": "b", "both": "both", "neither": "neither"}
FRAME: Final = (
    "You judge replies carefully. Two replies to the same conversation stand below, A and B. Say which of them makes"
    " better use of the triplets.\n\n"
    "1. Read the conversation: what is asked, and in what tone.\n"
    "2. Read the triplets, each (subject, predicate, object), and check every fact of both replies against them.\n"
    "3. A reply must not state or assume anything that neither the conversation nor the triplets give.\n"
    "4. Decide: A or B where one is better, Both where they are equally good, Neither where both are bad.\n\n"
    "Reply with one word: A, B, Both or Neither."
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two replies to one turn, `turn` as the first was written from."""

    turn: GroundedTurn = field(repr=False)
    first: str = field(repr=False)
    second: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PairwiseFigures:
    """Counts. `said_a` of those that chose a side: half of them where the side does not matter."""

    first: int
    second: int
    both: int
    neither: int
    failed: int
    said_a: int

    @property
    def share_of_a(self) -> float:
        """0.5 where no side was chosen."""
        chosen = self.first + self.second
        return self.said_a / chosen if chosen else 0.5


class PairwiseJudge:
    """Each pair is shown once; which reply stands as A is drawn by `seed`."""

    def __init__(self, chat: CompletesPrompts, seed: int, tell: Tell = lambda _done, _total: None) -> None:
        self._chat, self._seed, self._tell = chat, seed, tell

    def compare(self, pairs: Sequence[Pair]) -> PairwiseFigures:
        draw = random.Random(self._seed)  # noqa: S311  # sides, no secret  # nosec B311
        first_is_a = [draw.random() < 0.5 for _ in pairs]
        prompts = [_prompt(pair, is_a) for pair, is_a in zip(pairs, first_is_a, strict=True)]
        choices = [choice_of(reply) for reply in self._chat.complete(prompts, self._tell)]
        first = sum(choice == ("a" if is_a else "b") for choice, is_a in zip(choices, first_is_a, strict=True))
        sides = choices.count("a") + choices.count("b")
        return PairwiseFigures(
            first,
            sides - first,
            choices.count("both"),
            choices.count("neither"),
            choices.count(None),
            choices.count("a"),
        )


def choice_of(reply: str | None) -> Choice | None:
    """None for whatever is more than one of the four words."""
    return _CHOICES.get((reply or "").strip().strip(".*\"'").lower())


def _prompt(pair: Pair, first_is_a: bool) -> str:
    a, b = (pair.first, pair.second) if first_is_a else (pair.second, pair.first)
    said = "\n".join(f"{speaker.upper()}: {text}" for speaker, text in pair.turn.history)
    return f"{FRAME}\n\nConversation:\n{said}\n\nTriplets:\n{triplets_text(pair.turn)}\n\nA: {a}\n\nB: {b}"
