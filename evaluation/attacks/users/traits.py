"""Traits of a recorded conversation that could tell it from others, by the piece of the prompts they are of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from evaluation.attacks.setup.egress import Prompt
from kg_store.terms import PSEUDONYM

Trait = Literal["wording", "relations", "concepts", "sizes", "candidates", "counts", "totals", "order"]
TRAITS: tuple[Trait, ...] = ("wording", "relations", "concepts", "sizes", "candidates", "counts", "totals", "order")
_WORD = re.compile(r"[^\W_]+|\*")


def masked(text: str) -> str:
    """A question with every pseudonym blotted out: two conversations share none."""
    return PSEUDONYM.sub("*", text)


def traits_of(prompts: Sequence[Prompt]) -> dict[str, list[str]]:
    """Words that stand for the traits of one conversation; what stands in it twice is there twice."""
    found: dict[str, list[str]] = {trait: [] for trait in TRAITS}
    for first in _first_requests(prompts):
        kinds = " ".join(sorted(thing.concept for thing in first.things if thing.name in first.question))
        found["totals"].append(f"{len(first.candidates) + first.further} ways on from {kinds}")
    for question in dict.fromkeys(prompt.question for prompt in prompts):
        words = _WORD.findall(masked(question).casefold())
        found["wording"] += [*words, *map(" ".join, pairwise(words)), " ".join(words)]
    for fact in {fact.model_dump_json(): fact for prompt in prompts for fact in prompt.evidence}.values():
        path = " > ".join(fact.path)
        found["relations"] += [path, *fact.path]
        found["concepts"].append(fact.end_concept)
        found["sizes"].append(f"{path} {fact.size} {fact.end[0]}")
    for prompt in prompts:
        found["concepts"] += [f"{thing.concept} {thing.size}" for thing in prompt.things]
        paths = [" > ".join(candidate.path) for candidate in prompt.candidates]
        found["candidates"] += [*paths, " ; ".join(sorted(paths))]
        found["counts"] += [f"{len(paths)} of {len(paths) + prompt.further}", f"{len(paths)}"]
        found["order"] += [" before ".join(pair) for pair in pairwise(paths)]
    return found


def _first_requests(prompts: Sequence[Prompt]) -> list[Prompt]:
    """The first page of the first round of each question: what it counts is a property of what the question names."""
    return [
        prompt
        for before, prompt in zip([None, *prompts], prompts, strict=False)
        if prompt.round == 1 and (before is None or before.round > 1 or before.question != prompt.question)
    ]
