"""Turns that go on from a dialogue with a question that says a relation by its own words.

People who chat hardly name the relation that the reply uses; people who ask do. Trained on chat alone, the retriever
learns which relations people like to hear of, and little else; these turns teach it to heed what is asked.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from app.retriever.query import Fact, Mention, Utterance
from evaluation.dialogue.examples import RetrievalExample

_NAME: Final = "{name}"
_FORWARD: Final = (
    "What is the {relation} of {name}?",
    "Can you tell me the {relation} of {name}?",
    "And the {relation} of {name}?",
    "Who or what was {name} {relation}?",
    "I want to know about {name}, the {relation}.",
    "{name}: {relation}?",
)
_BACKWARD: Final = (
    "What is {relation} {name}?",
    "Which ones are {relation} {name}?",
    "Do you know anything that has {name} as its {relation}?",
    "Who or what has the {relation} {name}?",
    "And {relation} {name}?",
)


def literal_examples(examples: Sequence[RetrievalExample], count: int, seed: int) -> list[RetrievalExample]:
    """`count` of them at most, each from another example. Every relation of what was named is as likely to be asked
    for, either way round."""
    draw = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    made = (_asked(example, draw) for example in draw.sample(examples, len(examples)))
    return [example for example in made if example is not None][:count]


def _asked(example: RetrievalExample, draw: random.Random) -> RetrievalExample | None:
    """None where nothing was named."""
    named = sorted(set(_named(example)))
    if not named:
        return None
    entity, name = draw.choice(named)
    facts = example.query.facts
    ways = sorted({(fact.relation, fact.head == entity) for fact in facts if entity in (fact.head, fact.tail)})
    if not ways:
        return None
    relation, is_head = draw.choice(ways)
    before, after = draw.choice(_FORWARD if is_head else _BACKWARD).replace("{relation}", relation).split(_NAME)
    mention = Mention(len(before), len(before) + len(name), (entity,))
    history = (*example.query.history, Utterance(_other(example), f"{before}{name}{after}", (mention,)))
    gold = np.array([_fits(fact, relation, entity, is_head=is_head) for fact in facts], bool)
    return replace(example, query=replace(example.query, history=history), gold=gold)


def _named(example: RetrievalExample) -> Iterator[tuple[int, str]]:
    for utterance in example.query.history:
        for mention in utterance.mentions:
            if mention.is_name and len(mention.entities) == 1:
                yield mention.entities[0], utterance.text[mention.start : mention.end]


def _fits(fact: Fact, relation: str, entity: int, *, is_head: bool) -> bool:
    return fact.relation == relation and (fact.head if is_head else fact.tail) == entity


def _other(example: RetrievalExample) -> str:
    """Who has not spoken last."""
    return "assistant" if example.query.history[-1].speaker == "user" else "user"
