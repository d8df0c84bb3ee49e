"""Replies to train the retriever on where no gold facts are known: the words that each fact would explain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from evaluation.dialogue.examples import RetrievalExample
from evaluation.training.retriever import RankedFacts, RepliedFacts

_WORD = re.compile(r"\w+")


def replied_facts(
    examples: Sequence[RetrievalExample], facts: Sequence[RankedFacts | RepliedFacts]
) -> list[RepliedFacts]:
    """`facts`: those of the same examples; what is gold there is not read."""
    said = Counter(word for example in examples for word in _words(example.turn.reply))
    total = said.total() + len(said)
    return [
        RepliedFacts(
            each.features,
            _told(example),
            np.array([(said[word] + 1) / total for word in _words(example.turn.reply)], np.float32),
        )
        for example, each in zip(examples, facts, strict=True)
    ]


def _told(example: RetrievalExample) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """The chance of each word of the reply where any word of a fact is as likely; shape (facts, words)."""
    words = _words(example.turn.reply)
    places: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        places.setdefault(word, []).append(at)
    told = np.zeros((len(example.triples), len(words)), np.float32)
    for row, triple in enumerate(example.triples):
        own = set(_words(" ".join(triple)))
        for word in own & places.keys():
            told[row, places[word]] = 1 / len(own)
    return told


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
