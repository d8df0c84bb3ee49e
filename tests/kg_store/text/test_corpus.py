"""Readings of words, numbers, dates and labels, row by row (`corpus.toml`)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence

import pytest

from kg_store.terms import ValueKind
from kg_store.text.dates import PartialDate
from kg_store.text.english import synonyms_of
from kg_store.text.inflection import fields_of, in_other_number, is_form_of, singular
from kg_store.text.labels import distinct_labels, inverse_of, local_name, readable, readable_relation
from kg_store.text.literals import date_in_name, find_literals, named_date, parse_value, read_literal
from kg_store.text.normalise import is_letters, normalise, skeleton_of
from kg_store.text.number_expressions import find_number_expressions
from kg_store.text.number_words import roman_value, undo_digits
from kg_store.text.quantities import (
    Rewording,
    Unit,
    counts_in_figures,
    in_schema_units,
    unit_called_alone,
    unit_of_label,
    units_called,
)
from kg_store.text.relative_dates import by_calendar, find_shortened_dates, relative_dates_in
from tests.support.corpus import Corpus

CORPUS = Corpus.beside(__file__)
LABELS = ("weight kg", "salary eur", "duration (min)", "distance km", "storage area sqm", "valid months", "city")


def by_today(text: str, today: str = "2026-11-23") -> str:
    for each in reversed(by_calendar(text, dt.date.fromisoformat(today))):
        text = text[: each.start] + each.instead + text[each.end :]
    return text


def shortened_dates(text: str) -> Iterator[tuple[str, str]]:
    found = find_shortened_dates(text, [*find_number_expressions(text), *find_literals(text)])
    return ((text[each.start : each.end], each.lexical) for each in found)


def units(*labels: str) -> list[Unit]:
    return [unit for label in labels if (unit := unit_of_label(label)) is not None]


def in_units(text: str, *labels: str) -> str:
    return reworded(text, in_schema_units(text, units(*(labels or LABELS))))


def in_units_alone(text: str, *labels: str) -> str:
    return reworded(text, in_schema_units(text, [unit for each in labels if (unit := unit_called_alone(each))]))


def reworded(text: str, said: Sequence[Rewording]) -> str:
    for each in reversed(said):
        text = text[: each.start] + each.instead + text[each.end :]
    return text


def number_expressions(text: str) -> list[tuple[str, str, str, bool]]:
    found = find_number_expressions(text)
    return [(text[each.start : each.end], each.lexical, each.kind.value, each.is_everyday) for each in found]


def compared(left: str, right: str) -> int:
    first, second = parse_value(left, ValueKind.DATE), parse_value(right, ValueKind.DATE)
    assert isinstance(first, PartialDate)
    assert isinstance(second, PartialDate)
    assert second.compare(first) == -first.compare(second)
    return first.compare(second)


def told_apart(*predicates: str) -> list[str]:
    same = [readable(local_name(each)) if "/" in each else "starred actors" for each in predicates]
    return distinct_labels(same, predicates)


READS: dict[str, Callable[..., object]] = {
    "dates by today": by_today,
    "words of a relation that sound like a date": lambda text: list(relative_dates_in(text)),
    "dates without what a later one says": lambda text: list(shortened_dates(text)),
    "amounts in the units of a schema": in_units,
    "amounts in units that labels consist of": in_units_alone,
    "everyday numbers in figures": lambda text: reworded(text, counts_in_figures(text)),
    "units of labels": lambda label: unit.symbol if (unit := unit_of_label(label)) else "",
    "figures": undo_digits,
    "roman numerals": roman_value,
    "number expressions": number_expressions,
    "local names": local_name,
    "readable relations": readable_relation,
    "inverse labels": inverse_of,
    "labels that are told apart": told_apart,
    "singulars": singular,
    "nouns in their other number": lambda noun: list(in_other_number(noun)),
    "forms of verbs": lambda word, verb, is_verb: is_form_of(word, {verb}, is_verb),
    "fields of people": lambda noun, field: field in list(fields_of(noun)),
    "people of no field": lambda noun: list(fields_of(noun)),
    "literals": read_literal,
    "dates compared": compared,
    "literals in a text": lambda text: [text[span.start : span.end] for span in find_literals(text)],
    "dates of names": lambda name: (named_date(name), date_in_name(name)),
    "letters": is_letters,
    "skeletons": skeleton_of,
    "names as they are written": lambda text: normalise(text).text,
    "everyday words for relations": lambda relation, word: word in synonyms_of(relation),
}


def test_every_section_is_read() -> None:
    assert set(READS) == set(CORPUS.sections)


@pytest.mark.parametrize("section", READS)
def test_rows_are_read(section: str) -> None:
    CORPUS.judge(section, READS[section])


def test_a_row_that_is_read_otherwise_is_told() -> None:
    with pytest.raises(AssertionError, match="MCMLX"):
        CORPUS.judge("roman numerals", lambda _word: 7)


def test_pounds_are_of_two_kinds_and_no_euros_are_dollars() -> None:
    assert {unit.kind for unit in units_called("Pounds")} == {"mass", "money"}
    (euro,), (dollar,) = units_called("euro"), units_called("$")
    assert not euro.converts_to(dollar)
