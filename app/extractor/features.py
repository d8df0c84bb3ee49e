"""Makes the input of the extractor's network: the words of question and context, each with a vector and marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.model_files import TokenVectors

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Spans = Sequence[tuple[int, int]]

MAX_WORDS: Final = 160
MAX_RELATION_WORDS: Final = 10
MARKS: Final = 16

_WORD = re.compile(r"\w+|[^\w\s]")
_SHARED_STEM: Final = 4
_MIN_NAME_WORD: Final = 3
_NEAR_WORDS: Final = 6
_SMALL = frozenset("the a an of in on at and or for to with by from is was de la le el von van".split())


class Question(Protocol):
    """A question for one end of a fact that a text (`context`) may state.

    `known`: the other end, as it is written; the context may hold only a part of it. `unknown_is_head`: True if the
    head is asked for, False if the tail is.
    """

    @property
    def context(self) -> str: ...

    @property
    def known(self) -> str: ...

    @property
    def relation(self) -> str: ...

    @property
    def unknown_is_head(self) -> bool: ...


class TokenReader(Protocol):
    """Returns the vectors of a text's tokens; an Embedder is one."""

    def tokens(self, texts: Sequence[str]) -> list[TokenVectors]: ...


@dataclass(frozen=True, slots=True)
class Words:
    """The words and punctuation marks of a text, with their spans in characters.

    `vectors`: for each word the mean over its tokens, shape (words, width). `whole`: the vector of the special token
    before the text.
    """

    texts: tuple[str, ...] = field(repr=False)
    spans: tuple[tuple[int, int], ...]
    vectors: Floats = field(repr=False)
    whole: Floats = field(repr=False)


@dataclass(frozen=True, slots=True)
class SpanFeatures:
    """The features of one question.

    `relation`: the vectors of the relation's words. `known`: the mean vector of the known end's words. `marks`: the
    marks of the context's words, shape (words, MARKS).
    """

    relation: Floats = field(repr=False)
    known: Floats = field(repr=False)
    context: Words
    marks: Floats = field(repr=False)
    unknown_is_head: bool


class SpanFeatureMaker:
    """Makes the features of questions.

    A text that several questions of one call share is read once, and each relation is read once and remembered.
    """

    def __init__(self, lower: TokenReader) -> None:
        """Takes the lower layers of the sentence model, from `open_lower_layers`."""
        self._lower = lower
        self._relations: dict[str, Floats] = {}

    def make(self, questions: Sequence[Question]) -> list[SpanFeatures]:
        """Returns the features in the order of the questions."""
        relations = [relation_words(each.relation) for each in questions]
        new = [words for words in dict.fromkeys(relations) if words not in self._relations]
        self._relations |= {words: read.vectors[:MAX_RELATION_WORDS] for words, read in self._read(new).items()}
        contexts = self._read([each.context for each in questions])
        known = {name: _mean_of(read) for name, read in self._read([each.known for each in questions]).items()}
        return [
            SpanFeatures(
                self._relations[relation],
                known[each.known],
                contexts[each.context],
                marks_of(contexts[each.context], each.context, each.known, relation),
                each.unknown_is_head,
            )
            for each, relation in zip(questions, relations, strict=True)
        ]

    def _read(self, texts: Sequence[str]) -> dict[str, Words]:
        every = list(dict.fromkeys(texts))
        tokens = self._lower.tokens(every) if every else []
        return {text: words_of(text, each.vectors, each.spans) for text, each in zip(every, tokens, strict=True)}


def relation_words(relation: str) -> str:
    """Returns the words of a relation's label: "directed by" for `film.film.directed_by` or `~directed-by`."""
    last = relation.removeprefix("~").rsplit(".", 1)[-1]
    return last.replace("_", " ").replace("-", " ").strip().lower() or relation


def words_of(text: str, pieces: Floats, places: Ints) -> Words:
    """Returns the words of `text` with their vectors, at most MAX_WORDS.

    `pieces` and `places`: `vectors` and `spans` of TokenVectors. Words that the model has truncated are left out.
    """
    found = [match.span() for match in _WORD.finditer(text)][:MAX_WORDS]
    is_real, whole = places[:, 1] > places[:, 0], pieces[0]
    pieces, begins = pieces[is_real], places[is_real, 0]
    starts = np.array([start for start, _ in found], np.int64)
    owner = np.searchsorted(starts, begins, side="right") - 1
    inside = (owner >= 0) & (begins < np.array([*(end for _, end in found), 0])[owner])
    sums = np.zeros((len(found), pieces.shape[1]), np.float32)
    counts = np.zeros(len(found), np.float32)
    np.add.at(sums, owner[inside], pieces[inside])
    np.add.at(counts, owner[inside], 1)
    kept = np.flatnonzero(counts)
    spans = tuple(found[at] for at in kept)
    return Words(tuple(text[start:end] for start, end in spans), spans, sums[kept] / counts[kept, None], whole)


def _mean_of(words: Words) -> Floats:
    return words.vectors.mean(axis=0) if words.texts else words.whole


def marks_of(words: Words, text: str, known: str, relation: str) -> Floats:
    """Returns features of each word, shape (words, MARKS).

    They say how it is written, if it belongs to the known end or the relation, how near these are, and which sentence
    it is in.
    """
    count = len(words.texts)
    marks = np.zeros((count, MARKS), np.float32)
    stems = {word[:_SHARED_STEM] for word in relation.split() if word not in _SMALL}
    sentence = np.zeros(count, np.int64)
    begins, number = True, 0
    for at, word in enumerate(words.texts):
        sentence[at] = number
        small, sign = word.lower(), not word[0].isalnum()
        digit, letter = any(map(str.isdigit, word)), any(map(str.isalpha, word))
        marks[at, 3:9] = (
            word != small, digit, sign, digit and letter,
            small[:_SHARED_STEM] in stems and small not in _SMALL, begins,
        )  # fmt: skip
        begins = word in (".", "!", "?")
        number += begins
    for start, end, is_whole in mentions_of(words, text, known):
        marks[start:end, 0 if is_whole else 1] = 1
        marks[start, 2] = 1
    is_known = (marks[:, 0] + marks[:, 1]) > 0
    marks[:, 9] = np.isin(sentence, sentence[is_known])
    marks[:, 10] = is_known.any()
    marks[:, 11] = np.minimum(sentence, 4) / 4
    marks[:, 12], marks[:, 13] = _nearness(is_known)
    marks[:, 14], marks[:, 15] = _nearness(marks[:, 7] > 0)
    return marks


def _nearness(is_there: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Returns, for each word, its nearness to the closest marked word before it and after it.

    Nearness is 1 at a marked word, falls with the distance, and is 0 if there is none.
    """
    places = np.arange(len(is_there))
    before = np.maximum.accumulate(np.where(is_there, places, -1))
    behind = np.minimum.accumulate(np.where(is_there, places, len(is_there))[::-1])[::-1]
    return (
        np.where(before >= 0, np.exp((before - places) / _NEAR_WORDS), 0).astype(np.float32),
        np.where(behind < len(is_there), np.exp((places - behind) / _NEAR_WORDS), 0).astype(np.float32),
    )


def mentions_of(words: Words, text: str, known: str) -> Iterator[tuple[int, int, bool]]:
    """Yields where `text` names the known end: position of the first word, of the last plus 1, and True if in full.

    If it is nowhere named in full, words of it with a capital count as mentions.
    """
    wanted = [match.group().lower() for match in _WORD.finditer(known)]
    small = [word.lower() for word in words.texts]
    found = False
    for at in range(len(small) - len(wanted) + 1):
        if wanted and small[at : at + len(wanted)] == wanted:
            found = True
            yield at, at + len(wanted), True
    if found:
        return
    parts = {word for word in wanted if len(word) >= _MIN_NAME_WORD and word not in _SMALL}
    at = 0
    while at < len(small):
        end = at
        while end < len(small) and small[end] in parts and text[words.spans[end][0]].isupper():
            end += 1
        if end > at:
            yield at, end, False
        at = max(end, at + 1)
