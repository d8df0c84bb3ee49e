"""Family 7: dates, numbers and years of a graph in words, in Roman and mixed figures, in digits of other scripts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from random import Random

from evaluation.attacks.forms.corpus.graph_names import GraphNames
from evaluation.attacks.forms.corpus.number_words import (
    DIGITS,
    LANGUAGES,
    MAX_ROMAN,
    date_in_words,
    in_words,
    month_in,
    roman,
    year_in_words,
)
from evaluation.attacks.forms.corpus.plain_letters import tokens
from evaluation.attacks.forms.corpus.sentences import sentence
from evaluation.attacks.forms.families.case import Case, TypedCase, put_into, spread

_MIN_YEAR = 1000
_MAX_IN_WORDS = 999_999


def values_in_other_words(names: GraphNames, language: str, dice: Random, count: int) -> Iterator[Case]:
    """Half dates, half numbers, as far as the graph has both; made-up ones for a graph that has none."""
    dates = dice.sample(names.dates, min(count, len(names.dates))) or ["1960-09-08", "1987-11-23", "2003-02-28"]
    numbers = dice.sample(names.numbers, min(count, len(names.numbers))) or ["48417", "1938", "76420"]
    spoken = language if language in LANGUAGES else "en"
    forms = [form for text in dates for form in _of_date(date.fromisoformat(text), spoken, dice)]
    forms += [form for text in numbers for form in _of_number(text, spoken, dice)]
    for typed in spread(forms, dice, count):
        yield put_into("7 values in words and other digits", typed, sentence(language, ("value",), dice), dice)


def _of_date(day: date, language: str, dice: Random) -> Iterator[TypedCase]:
    secrets = (day.isoformat(),)
    month = month_in(language, day.month)
    kind, write = dice.choice(sorted(DIGITS.items()))
    yield TypedCase("date in words", date_in_words(day, language), secrets)
    yield TypedCase("date in words, capitals", date_in_words(day, language).title(), secrets)
    yield TypedCase("date, month in words", f"{day.day} {month} {day.year}", secrets)
    yield TypedCase("date, month in words, short", f"{day.day}. {month[:3]} '{day.year % 100:02}", secrets)
    yield TypedCase(
        "date, ordinal", f"{_ordinal(day.day)} of {month_in('en', day.month)} '{day.year % 100:02}", secrets
    )
    yield TypedCase("day and month in words", date_in_words(day, language).rpartition(month)[0] + month, secrets)
    yield TypedCase("date, Roman month", f"{day.day}. {roman(day.month)}. {day.year}", secrets)
    yield TypedCase("date, Roman year", f"{day.day} {month} {roman(day.year)}", secrets)
    yield TypedCase(f"date, {kind} digits", write(f"{day:%d.%m.%Y}"), secrets)
    yield TypedCase(f"date as stored, {kind} digits", write(day.isoformat()), secrets)
    yield TypedCase("date, Chinese", f"{DIGITS['Chinese'](str(day.year))}年{day.month}月{day.day}日", secrets)
    yield TypedCase("date, digits and words", f"{in_words(day.day, language)}.{day.month}.{day.year}", secrets)
    if day.year >= _MIN_YEAR:
        yield TypedCase("year in words", year_in_words(day.year, language), (str(day.year),))
        yield TypedCase(
            "decade in words", f"the {_plural(year_in_words(day.year - day.year % 10, 'en'))}", (str(day.year),)
        )
        yield TypedCase("Roman year", roman(min(day.year, MAX_ROMAN)), (str(day.year),))
        yield TypedCase("Roman year, small", roman(min(day.year, MAX_ROMAN)).lower(), (str(day.year),))
        yield TypedCase(f"year, {kind} digits", write(str(day.year)), (str(day.year),))
        yield TypedCase("year, digits apart", " ".join(str(day.year)), (str(day.year),))


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def _ordinal(number: int) -> str:
    ending = "th" if 4 <= number <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _of_number(text: str, language: str, dice: Random) -> Iterator[TypedCase]:
    whole = int(text.partition(".")[0])
    kind, write = dice.choice(sorted(DIGITS.items()))
    secrets = (text,)
    yield TypedCase(f"number, {kind} digits", write(text), secrets)
    yield TypedCase(
        "number, one digit in words", " ".join(in_words(int(sign), language) for sign in str(whole)), secrets
    )
    mixed = "".join(write(sign) if dice.random() < 0.5 else sign for sign in text)
    yield TypedCase("number, mixed digits", mixed, secrets)
    if whole <= _MAX_IN_WORDS:
        words = in_words(whole, language)
        yield TypedCase("number in words", words, secrets)
        yield TypedCase("number in words, hyphens", words.replace(" ", "-"), secrets)
        yield TypedCase(
            "number in words, no spaces", words.replace(" ", ""), (*secrets, *tokens(words.replace(" ", "")))
        )
    if whole >= _MIN_YEAR:
        thousands, rest = divmod(whole, 1000)
        yield TypedCase("number, thousands in words", f"{thousands} {in_words(1000, language)} {rest}", secrets)
        yield TypedCase("number with k", f"{thousands}.{rest // 100}k", secrets)
    if 1 < whole <= MAX_ROMAN:
        yield TypedCase("Roman number", roman(whole), secrets)
