"""Reads the words of a question: those that state its form, and the likeness of all others to the schema's words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.multilingual import MultilingualEmbedder
from app.llm.tasks import StepInput
from app.reader.other_languages.candidates import label_words, measures_in
from kg_store.terms import PSEUDONYM
from kg_store.text.english import frequent_words, zipf_frequency

Likeness = npt.NDArray[np.floating[Any]]

MAX_CONTENT: Final = 5.8
"""A more frequent word (Zipf scale) has no meaning of its own."""
MIN_COMMON: Final = 4.4
"""A rarer word may not be left over."""
MAX_PHRASE: Final = 4
"""The greatest number of words, function words included, that are compared together with a label."""
MIN_PART: Final = 0.03
"""The least lift of each word of a phrase towards the label that the phrase names."""
_WORD: Final = re.compile(r"[^\W\d_]+")
MIN_STEM: Final = 5
"""The least number of letters in a row by which a word speaks for a label, besides its meaning."""
LIFT_OF_STEM: Final = 0.04
"""The least lift of a word towards such a label."""
_ASKING: Final = frozenset({"which", "count"})
_STATING: Final = frozenset({"which", "ask", "who", "place", "date", "count", "number"})
_COMPARED: Final = {
    "more": ">", "after": ">", "since": ">=", "less": "<", "before": "<", "until": "<=",
}  # fmt: skip


@cache
def question_words(language: str) -> Mapping[str, str]:
    """Returns the form that each word of a question states, by word; empty if the language is not read."""
    every = tomllib.loads(Path(__file__).with_name("question_words.toml").read_text("utf-8"))
    return {word: form for form, words in every.get(language, {}).items() for word in words}


LANGUAGES: Final = {"de": "German", "fr": "French", "es": "Spanish"}
"""The languages of `question_words.toml`, by ISO 639-1."""
FREQUENT: Final = 3_000
"""This many most frequent words of English, and of another language, count as its words."""


def language_of(question: str) -> str:
    """Returns the language of a question that is in one of LANGUAGES and not in English; "" for any other.

    It holds a word that states a form there and is no frequent English word, and more of these than English words.
    """
    words = {word.lower() for word in _WORD.findall(PSEUDONYM.sub(" ", question))}
    english = frequent_words("en", FREQUENT)
    hits = {code: len(words & question_words(code).keys() - english) for code in LANGUAGES}
    best = max(LANGUAGES, key=lambda code: (hits[code], len(words & frequent_words(code, FREQUENT))))
    is_other = hits[best] > len(words & english - frequent_words(best, FREQUENT))
    return best if is_other else ""


class ContentWord(NamedTuple):
    """A word that carries meaning: its run (the question is split at pseudonyms) and its place in it.

    `may_stay`: it is common, and written small or first, so that it may be left over. `is_asked`: "which" or "how
    many" stands right before it. `is_owned`: only function words, and at least one, stand between it and a name, as in
    "Vorgesetzte von X".
    """

    text: str
    run: int
    at: int
    may_stay: bool
    is_asked: bool
    is_owned: bool


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The words of a question that carry meaning, and their likeness to each word of the schema.

    `forms`: the forms that its other words state. `lifts`, `cosines`: shape (words, schema); those of a word are the
    greatest of all phrases with it. A lift is a cosine less the median of the phrase's cosines with all words of the
    schema: cosines of this model lie close together, and lifts do not. `places`: the column of each word of the
    schema. `operator`: the comparison with the value of the question, empty without one. `described`: the kinds whose
    things have relations of their own, as people have and colours have not.
    """

    words: tuple[ContentWord, ...]
    forms: frozenset[str]
    lifts: Likeness
    cosines: Likeness
    places: Mapping[str, int]
    operator: str
    described: frozenset[str]

    @classmethod
    def of(cls, given: StepInput, language: str, embedder: MultilingualEmbedder) -> AskedWords | None:
        """Returns the words of the question; None if one of them changes the answer in a way that is not read."""
        form_of = question_words(language)
        runs = [_WORD.findall(part) for part in PSEUDONYM.split(given.question)]
        forms = frozenset(form_of[word.lower()] for word in chain(*runs) if word.lower() in form_of)
        operator = _operator(forms, bool(measures_in(given)))
        words = tuple(_content_words(runs, form_of, language))
        schema = _schema_words(given)
        if operator is None or not schema or not words:
            return None
        places = {each: at for at, each in enumerate(schema)}
        lifts, cosines = _likeness(runs, words, schema, embedder)
        described = frozenset(step.kind for step in given.steps if not step.label.startswith("^"))
        return cls(words, forms, lifts, cosines, places, operator, described)


def _operator(forms: frozenset[str], is_compared: bool) -> str | None:
    """Returns the comparison that words state, empty without a value; None if the words can't be read as one."""
    found = {_COMPARED[form] for form in forms if form in _COMPARED}
    if "unread" in forms or not forms & _STATING:  # Without a word that asks it is a question for yes or no.
        return None
    if (not is_compared and forms & {"more", "less"}) or (is_compared and len(found) != 1):
        return None
    return found.pop() if is_compared else ""


def _content_words(runs: Sequence[Sequence[str]], form_of: Mapping[str, str], language: str) -> Iterator[ContentWord]:
    for run, words in enumerate(runs):
        for at, word in enumerate(words):
            frequency = zipf_frequency(word, language)
            if word.lower() in form_of or len(word) < 2 or not word.isalpha() or frequency >= MAX_CONTENT:
                continue
            is_small = word[0].islower() or (run == 0 and at == 0)
            is_asked = at > 0 and form_of.get(words[at - 1].lower()) in _ASKING
            rest = words[at + 1 :]
            is_last = (
                run < len(runs) - 1 and bool(rest) and all(zipf_frequency(w, language) >= MAX_CONTENT for w in rest)
            )
            yield ContentWord(word, run, at, frequency >= MIN_COMMON and is_small, is_asked, is_last)


def _schema_words(given: StepInput) -> list[str]:
    labels = (part for step in given.steps for part in label_words(step.shown))
    return list(dict.fromkeys((*labels, *(kind.concept for kind in given.kinds))))


def _likeness(
    runs: Sequence[Sequence[str]], words: Sequence[ContentWord], schema: Sequence[str], embedder: MultilingualEmbedder
) -> tuple[Likeness, Likeness]:
    """Returns the lifts and the cosines of each word: the greatest of all phrases between two such words."""
    spans = [
        (first, last) for first in range(len(words)) for last in range(first, len(words))
        if words[first].run == words[last].run and words[last].at - words[first].at < MAX_PHRASE
    ]  # fmt: skip
    texts = [" ".join(runs[words[a].run][words[a].at : words[b].at + 1]) for a, b in spans]
    near = embedder.questions(texts) @ embedder.labels(schema).T
    over = near - np.median(near, axis=1, keepdims=True)
    single = [spans.index((at, at)) for at in range(len(words))]
    are_like = over[single] >= MIN_PART
    several = np.array([" " in each for each in schema])
    for row, (first, last) in enumerate(spans):
        if first < last:  # A phrase names a label of several words, if each of its own words is like the label too.
            counts = several & are_like[first : last + 1].all(axis=0)
            near[row], over[row] = np.where(counts, near[row], 0.0), np.where(counts, over[row], -1.0)
    for at, word in enumerate(words):
        for place, label in enumerate(schema):
            if _shares_stem(word.text, label):
                over[single[at], place] = max(LIFT_OF_STEM, float(over[single[at]].max()))
    for longer, parts in _longer_words(schema).items():
        # "Kunden" is as near to "kunde seit" as to "kunde", but says no more than "kunde".
        part = over[np.ix_(single, parts)].max(axis=1)
        over[single, longer] = np.where(part >= MIN_PART, np.minimum(over[single, longer], part), over[single, longer])
    of = [[row for row, (a, b) in enumerate(spans) if a <= at <= b] for at in range(len(words))]
    return np.array([over[rows].max(axis=0) for rows in of]), np.array([near[rows].max(axis=0) for rows in of])


def _longer_words(schema: Sequence[str]) -> dict[int, list[int]]:
    """Returns the column of each label of several words that holds another word of the schema, with their columns."""
    places = {each: at for at, each in enumerate(schema)}
    found = {places[each]: [places[word] for word in each.split() if word in places] for each in schema if " " in each}
    return {longer: parts for longer, parts in found.items() if parts}


def _shares_stem(word: str, label: str) -> bool:
    """Returns True if the two share MIN_STEM letters in a row, as "geliefert" and "Liefertermin"."""
    one, other = word.casefold(), label.casefold()
    return SequenceMatcher(None, one, other, autojunk=False).find_longest_match().size >= MIN_STEM
