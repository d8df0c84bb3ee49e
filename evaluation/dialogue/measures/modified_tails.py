"""Knowledge with its tails exchanged: what a reply says then was read, and not known before (Kang et al., table 3)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from evaluation.dialogue.grounded_turns import GroundedTurn
from evaluation.dialogue.opendialkg import DialogueGraph, Triple


def with_modified_tails(turns: Sequence[GroundedTurn], graph: DialogueGraph, seed: int = 0) -> list[GroundedTurn]:
    """The coming triples alone, each with another tail of the same relation, which its head does not have."""
    draw = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    tails = _tails(fact for facts in graph.facts_of.values() for fact in facts)
    own: dict[tuple[str, str], set[str]] = defaultdict(set)
    for head, relation, tail in (triple for turn in turns for triple in turn.coming):
        own[head, relation].add(tail)

    def modified(triple: Triple) -> Triple:
        head, relation, tail = triple
        held = {
            tail,
            *own[head, relation],
            *(fact[2] for fact in graph.facts_of.get(head, ()) if fact[:2] == triple[:2]),
        }
        others = tails.get(relation, ())
        free = [name for name in draw.sample(others, min(len(others), len(held) + 1)) if name not in held]
        return (head, relation, free[0]) if free else triple

    return [replace(turn, so_far=(), coming=tuple(modified(triple) for triple in turn.coming)) for turn in turns]


def _tails(triples: Iterable[Triple]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for _, relation, tail in triples:
        found[relation].add(tail)
    return {relation: sorted(names) for relation, names in found.items()}
