"""The sets of LLM-KAT: plain, anonymised, and half-anonymised, where half of the dialogues are."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from evaluation.dialogue.attachment.identifiers import (
    UNKNOWN_TYPE,
    IdentifierKind,
    pseudonyms,
    typed_identifiers,
    types_of,
)
from evaluation.dialogue.attachment.name_replacement import NameReplacement
from evaluation.dialogue.grounded_turns import GroundedTurn, names_of
from evaluation.dialogue.opendialkg import Triple

VariantName = Literal["plain", "half-anonymised", "anonymised"]
VARIANTS: Final[tuple[VariantName, ...]] = ("plain", "half-anonymised", "anonymised")
HALF_SEED: Final = 42
FindNames = Callable[[str], Iterable[str]]
"""Gives the names in a text, letter by letter as they stand there."""


@dataclass(frozen=True, slots=True)
class Anonymiser:
    """Puts identifiers in place of the names of a dialogue: those of its knowledge, and those that `find` sees.

    One name has one identifier through a dialogue, and another one in every other dialogue. `kinds` of further names,
    in small letters, where their graph tells them.
    """

    kind: IdentifierKind
    find: FindNames = lambda _text: ()
    kinds: Mapping[str, str] = field(default_factory=dict, repr=False)
    seed: int = HALF_SEED

    def variant(self, name: VariantName, turns: Sequence[GroundedTurn]) -> list[GroundedTurn]:
        """In the same order; the half is drawn by a fixed seed, by dialogue."""
        dialogues: dict[str, list[GroundedTurn]] = defaultdict(list)
        for turn in turns:
            dialogues[turn.dialogue].append(turn)
        chosen = _chosen(name, sorted(dialogues))
        types = types_of(triple for turn in turns for triple in turn.knowledge)
        changed = {
            turn.id: new
            for dialogue in sorted(chosen)
            for turn, new in zip(dialogues[dialogue], self._dialogue(dialogues[dialogue], types), strict=True)
        }
        return [changed.get(turn.id, turn) for turn in turns]

    def _dialogue(self, turns: Sequence[GroundedTurn], types: dict[str, str]) -> list[GroundedTurn]:
        texts = [text for turn in turns for text in (*(text for _, text in turn.history), turn.gold_reply)]
        found = {name for text in texts for name in self.find(text)}
        known = sorted(names_of(triple for turn in turns for triple in turn.knowledge))
        lower = {" ".join(name.lower().split()) for name in known}
        others = sorted(name for name in found if " ".join(name.lower().split()) not in lower)
        types = {**{name: self.kinds[name.lower()] for name in others if name.lower() in self.kinds}, **types}
        words = self._words([*known, *others], types, turns[0].dialogue)
        return [self._turn(turn, words, types) for turn in turns]

    def _words(self, names: Sequence[str], types: dict[str, str], dialogue: str) -> dict[str, str]:
        if self.kind == "typed":
            return typed_identifiers(names, types)
        return pseudonyms(names, f"{self.seed} {dialogue}")

    def _turn(self, turn: GroundedTurn, words: dict[str, str], types: dict[str, str]) -> GroundedTurn:
        replacement = NameReplacement(words)

        def renamed(triples: Iterable[Triple]) -> tuple[Triple, ...]:
            return tuple((words[head], relation, words[tail]) for head, relation, tail in triples)

        concepts = {words[name]: types.get(name, UNKNOWN_TYPE).lower() for name in names_of(turn.knowledge)}
        return replace(
            turn,
            history=tuple((speaker, replacement.apply(text)) for speaker, text in turn.history),
            so_far=renamed(turn.so_far),
            coming=renamed(turn.coming),
            gold_reply=replacement.apply(turn.gold_reply),
            concepts=concepts if self.kind == "pseudonym" else {},
            originals={word: name for name, word in words.items()},
        )


def restored(reply: str, turn: GroundedTurn) -> str:
    """The reply with names again, and without the concepts that stood behind identifiers."""
    for word, concept in turn.concepts.items():
        reply = reply.replace(f"{word} ({concept})", word)
    return NameReplacement(turn.originals).apply(reply)


def _chosen(name: VariantName, dialogues: Sequence[str]) -> set[str]:
    if name == "plain":
        return set()
    if name == "anonymised":
        return set(dialogues)
    drawn = random.Random(HALF_SEED)  # noqa: S311  # a sample, no secret  # nosec B311
    return set(drawn.sample(list(dialogues), len(dialogues) // 2))
