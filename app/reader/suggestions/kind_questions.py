"""Words questions about all things of a kind, by the form of each relation's label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.language.readings import AskedOfKind
from app.reader.sentences.relation_phrases import base_form, phrase_of
from kg_store.text.inflection import is_participle, may_be_noun, plural, singular
from kg_store.text.labels import plain_words

_PREPOSITIONS: Final = frozenset("by in at with for on of to from since until as about per".split())
_PERIODS: Final = frozenset("days weeks months quarters semesters terms years hours minutes seconds".split())
_UNITS: Final = frozenset(
    "litre litres liter liters metre metres meter meters kilometre kilometres kilogram kilograms gram grams ton tons "
    "tonne tonnes euro euros dollar dollars pound pounds percent degrees".split()
)
_NO_NOUN: Final = frozenset("has have is was are max min maximum minimum".split())
_LONG: Final = frozenset("duration length distance runtime".split())
_LARGE: Final = frozenset("area size population capacity volume surface".split())


def questions_of_kind(asked: AskedOfKind) -> list[str]:
    """Ways to ask it, the plainest first; none where no noun calls what is measured."""
    if asked.form == "total":
        return [f"How many {plural(asked.concept)} are there?"]
    if asked.form == "per_group":
        return list(counts_per(asked.concept, asked.label, asked.tail, is_only=asked.is_only))
    noun = noun_for(asked.label)
    if not noun:
        return []
    if asked.form == "average":
        return [f"What is the average {noun} of {plural(asked.concept)}?"]
    most = ["latest"] if asked.is_date else greatest(noun)
    return [f"Which {asked.concept} has the {each} {noun}?" for each in most]


def noun_for(label: str) -> str:
    """Returns the noun for what `label` measures, without its unit: `seats` -> `number of seats`, `weight kg` ->
    `weight`.

    Empty if no noun names it.
    """
    words = plain_words(label).split()
    while len(words) > 1 and (words[-1].lower() in _UNITS or any(map(str.isdigit, words[-1]))):
        words.pop()
    if words[0].lower() in _NO_NOUN | _PREPOSITIONS or words[-1].lower() in _PREPOSITIONS or "year" in words:
        return ""  # "The highest year" is not a natural question.
    is_period = len(words) > 1 and words[-1].lower() in _PERIODS
    if is_period and may_be_noun(words[-2]) and not is_participle(words[-2]):
        words = words[:-1]
    head = next((at for at, word in enumerate(words) if at and word in _PREPOSITIONS), len(words)) - 1
    last, said = words[head].lower(), " ".join(words)
    if not may_be_noun(last):
        return ""
    return f"number of {said}" if singular(last) != last and words[0] != "number" else said


def greatest(noun: str) -> list[str]:
    """Returns the superlatives for what `noun` measures, the most natural first: "longest", "highest"."""
    last = singular(noun.split(" of ")[0].split(" in ")[0].split()[-1].lower())
    said = "longest" if last in _LONG else "largest" if last in _LARGE else "highest"
    return list(dict.fromkeys([said, "highest"]))


def counts_per(concept: str, label: str, tail: str, *, is_only: bool) -> Iterator[str]:
    """Yields questions that count things of `concept` for each `tail` that `label` leads to; none if words would
    mislead.

    `is_only`: no other relation joins the two, so the question need not name this one.
    """
    if concept == tail:
        return
    per = f"How many {plural(concept)} are there per {tail}?"
    phrase = phrase_of(plain_words(label))
    form = phrase.form if phrase is not None else ""
    if is_only:
        yield per
    if phrase is not None and (form == "passive" or phrase.words == "part of"):
        yield f"How many {plural(concept)} are {phrase.words} each {tail}?"
    elif phrase is not None and form == "verb":
        yield f"How many {plural(concept)} {base_form(phrase.words).removesuffix(f' {tail}')} each {tail}?"
