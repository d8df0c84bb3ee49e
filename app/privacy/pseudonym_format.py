"""The format of pseudonyms: draws new ones, and finds those that stand in a text."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Collection, Container, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal

from kg_store.graph.masked_relations import mask_word
from kg_store.terms import ALPHABET, TAIL_LENGTH, keyed_word

Letter = Literal["E", "V", "S"]
"""E: an entity. V: a value, a literal that somebody typed, or a number that was computed. S: a set."""

_RUN = re.compile(r"[0-9A-Za-z]+")
_SHAPE = re.compile(r"[EVS][a-z0-9]{5}")
_SHAPED_RUN = re.compile(rf"(?<![0-9A-Za-z]){_SHAPE.pattern}(?![0-9A-Za-z])")


@dataclass(frozen=True, slots=True)
class Standing:
    """A word of a text that is, or looks like, a pseudonym."""

    start: int
    end: int
    word: str = field(repr=False)


def draw_word(letter: Letter, taken: Container[str]) -> str:
    """A word that is not in `taken`. It has a digit and a small letter, so that it is no word and no number."""
    while True:
        tail = "".join(secrets.choice(ALPHABET) for _ in range(TAIL_LENGTH))
        if is_shaped(letter + tail) and letter + tail not in taken:
            return letter + tail


def word_by_key(word: str, told: str, key: bytes, taken: Container[str]) -> str:
    """The word that stands for the pseudonym `word` where `told` says; it has the same letter."""
    return keyed_word(word[0], f"{told}\n{word}", key, is_shaped, taken)


def is_shaped(word: str) -> bool:
    """True where `word` could have been drawn."""
    tail = word[1:]
    return _SHAPE.fullmatch(word) is not None and not tail.isalpha() and not tail.isdigit()


def words_in(text: str) -> Iterator[Standing]:
    """Every run of ASCII letters and digits that stands as a word; borders are those at which names come back.

    They are the same as in `client_sdk.restore`: underscores and letters of scripts without capitals are borders.
    """
    return _standing(text, _RUN)


def shaped_in(text: str) -> Iterator[Standing]:
    """Every word of `text` that looks like a pseudonym, issued or not."""
    return (standing for standing in _standing(text, _SHAPED_RUN) if is_shaped(standing.word))


def _standing(text: str, runs: re.Pattern[str]) -> Iterator[Standing]:
    for run in runs.finditer(text):
        if not _is_word_letter(text[run.start() - 1 : run.start()]) and not _is_word_letter(
            text[run.end() : run.end() + 1]
        ):
            yield Standing(run.start(), run.end(), run.group())


def replaced(text: str, words: Iterable[Standing]) -> str:
    """`text` with each span of `words` (in order, none over another) replaced by its word.

    A space goes where a word would otherwise melt into its neighbour and could not be told from it again, or be read
    as an escape (`%Ee`).
    """
    done, at = "", 0
    for word in words:
        done = _beside(_beside(done, text[at : word.start]), word.word)
        at = word.end
    return _beside(done, text[at:]) if at else text


def _beside(before: str, after: str) -> str:
    joined = (_is_word_letter(before[-1:]) or before[-1:] == "%") and _is_word_letter(after[:1])
    return f"{before} {after}" if joined else before + after


def _is_word_letter(letter: str) -> bool:
    category = unicodedata.category(letter) if letter else "Cn"
    return category != "Lo" and category[0] in "LNM"


WHOLE: Final = ""
"""The thread of a conversation that is only one. Its pseudonyms go out as they are."""


def extend_thread(words: dict[str, str], order_key: bytes, thread: str, pseudonyms: Collection[str]) -> None:
    """Adds to `words` what goes out for those of `pseudonyms` (in order of issue) that it has none for yet."""
    taken = set(words.values())
    for pseudonym in islice(pseudonyms, len(words), None):
        words[pseudonym] = word_by_key(pseudonym, thread, order_key, taken)
        taken.add(words[pseudonym])


def masked_in_thread(order_key: bytes, thread: str, masks: Iterable[str]) -> dict[str, str]:
    """The word that goes out for the opaque word of each masked relation."""
    found: dict[str, str] = {}
    for mask in masks:
        found[mask] = mask_word(order_key, f"{thread}\n{mask}", found.values())
    return found
