"""Vectors of phrases made of the sentence model's own word vectors, without running its network.

A phrase is the weighted sum of its tokens' vectors, rare tokens more than frequent ones (Arora et al., "A Simple but
Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017). The phrases of a graph with 100,000 facts take seconds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.model_files import BOXED_MODEL, find_model
from kg_store.text.english import zipf_frequency

Vectors = npt.NDArray[np.float32]

SMOOTHING: Final = 1e-3
"""The share of a text at which a word counts half (the paper's a)."""
_WORDS: Final = "embeddings.word_embeddings.weight"


class WordVectorsMissingError(Exception):
    """The sentence model in the box is not installed, so there are no word vectors."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases as tokens: those of phrase n are `tokens[starts[n] : starts[n + 1]]`; `lengths`: of their vectors."""

    tokens: npt.NDArray[np.int32] = field(repr=False)
    starts: npt.NDArray[np.int64] = field(repr=False)
    lengths: Vectors = field(repr=False)


class WordVectors:
    """The word vectors of the sentence model in the box. Thread-safe.

    The cosine of a phrase with a text is the sum of its tokens' products with the text's vector over its length, so
    one product with all word vectors serves all phrases.
    """

    def __init__(self, tokenizer: Any, words: Vectors) -> None:
        """`words`: one weighted vector for each token of `tokenizer`; shape (tokens, dimensions)."""
        self._tokenizer, self._words = tokenizer, words

    def phrases(self, texts: Sequence[str]) -> Phrases:
        """Returns what is needed of many phrases, so that they are read only once."""
        found = [each.ids for each in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
        starts = np.cumsum([0, *map(len, found)], dtype=np.int64)
        tokens = np.fromiter((each for ids in found for each in ids), np.int32, starts[-1])
        lengths = np.fromiter((np.linalg.norm(self._words[ids].sum(axis=0)) for ids in found), np.float32, len(found))
        return Phrases(tokens, starts, np.maximum(lengths, np.float32(1e-9)))

    def products(self, texts: Sequence[str]) -> Vectors:
        """Returns the product of every word vector with the unit vector of all `texts` together; shape (tokens,)."""
        found = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        vector = self._words[[token for each in found for token in each.ids]].sum(axis=0)
        products: Vectors = self._words @ (vector / max(float(np.linalg.norm(vector)), 1e-9))
        return products


def likeness(phrases: Phrases, which: npt.NDArray[np.int32], products: Vectors) -> Vectors:
    """Returns the cosine of each phrase in `which` with the text that `products` was made of; shape (which,)."""
    starts, counts = phrases.starts[which], phrases.starts[which + 1] - phrases.starts[which]
    stops = counts.cumsum()
    places = np.arange(stops[-1] if len(stops) else 0) + (starts - stops + counts).repeat(counts)
    rows = np.arange(len(which)).repeat(counts)
    sums = np.bincount(rows, products[phrases.tokens[places]], minlength=len(which))
    found: Vectors = (sums / phrases.lengths[which]).astype(np.float32)
    return found


@cache
def word_vectors() -> WordVectors:
    """Returns the word vectors of the model in the box, read once. Raises WordVectorsMissingError,
    ModelNotTrustedError."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        from safetensors import safe_open
        from tokenizers import Tokenizer

        folder = find_model(BOXED_MODEL)
        if folder is None:
            raise WordVectorsMissingError
        tokenizer = Tokenizer.from_file(str(folder.path / "tokenizer.json"))
    except ImportError:
        raise WordVectorsMissingError from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    with safe_open(str(folder.path / "model.safetensors"), framework="numpy") as opened:
        words = opened.get_tensor(_WORDS)
    called = [str(tokenizer.id_to_token(at)).lstrip("#") for at in range(len(words))]
    shares = [10 ** (zipf_frequency(word) - 9) for word in called]
    weights = SMOOTHING / (SMOOTHING + np.array(shares, np.float32))
    return WordVectors(tokenizer, ((words - words.mean(axis=0)) * weights[:, None]).astype(np.float32))
