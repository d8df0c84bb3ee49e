"""The meaning of a number or date in words: nineteen sixty is 1960, two million and a half 2500000."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Final

from text_to_num import find_numbers

from kg_store.text.numbers.number_tokens import Token, words_of
from kg_store.text.numbers.number_vocabulary import LANGUAGES, TokenText

_DECADES: Final = {
    word: 10 * tens
    for tens, word in enumerate("twenties thirties forties fifties sixties seventies eighties nineties".split(), 2)
}
_DOZENS: Final = frozenset(("dozen", "dutzend", "douzaine", "docena", "dozzina", "dúzia", "dozijn"))
_HALVES: Final = frozenset(
    "half halb halbe halben demi demie moitié medio media mitad mezzo mezza metà meio meia metade".split()
)
_QUARTERS: Final = frozenset("quarter quarters viertel quart quarts cuartos quarti".split())
_LEADING: Final = re.compile(r"[0-9]+(?:[.,'’][0-9]+)*")
_ZEROS: Final = frozenset(("oh", "o"))
MAX_SCALE: Final = Decimal(10) ** 30


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an expression: a number with its `value`, a month, a decade, a fraction, or a word without a value."""

    value: Decimal | None = field(default=None, repr=False)
    is_ordinal: bool = False
    month: int = 0
    is_weekday: bool = False
    is_decade: bool = False
    is_fraction: bool = False
    is_figures: bool = False


@lru_cache(maxsize=16_384)
def value_of(word: str) -> Decimal | None:
    """Returns the number that a single word says, in the first language that knows it; None if it says none."""
    found = next((hits for language in LANGUAGES if (hits := find_numbers([TokenText(word)], language, 0))), None)
    return _decimal(found[0].value) if found else None


def parts_of(text: str, tokens: Sequence[Token]) -> list[Part]:
    """Returns `tokens` of one expression with number words combined; `text` holds the function words between them."""
    items = list(_with_little_words(text, tokens))
    return min((_parts_in(language, items) for language in _languages(tokens)), key=len)


def _parts_in(language: str | None, items: Sequence[Token | str]) -> list[Part]:
    spelt = [TokenText(item if isinstance(item, str) else _spelling(item)) for item in items]
    hits = {hit.start: hit for hit in find_numbers(spelt, language, 0)} if language else {}
    parts: list[Part] = []
    index = 0
    while index < len(items):
        hit = hits.get(index)
        if hit is not None and _says_number(items[index : hit.end]):
            parts.append(Part(_decimal(hit.value), is_ordinal=hit.is_ordinal))
            index = hit.end
        else:
            parts += _single(items[index])
            index += 1
    return parts


def _with_little_words(text: str, tokens: Sequence[Token]) -> Iterator[Token | str]:
    for before, token in zip((None, *tokens), tokens, strict=False):
        if before is not None and text:
            yield from words_of(text[before.end : token.start])
        yield token


def _spelling(token: Token) -> str:
    return token.number.spelling if token.number else token.word


def canonical_of(parts: Sequence[Part], *, is_marked_decade: bool = False) -> str | None:
    """Returns the expression in digits, as people type them; None if its meaning is unclear.

    `is_marked_decade`: "the" stands before it, so "sixties" means those of the last century.
    """
    dated = [index for index, part in enumerate(parts) if part.month]
    if any(part.is_weekday for part in parts) or len(dated) > 1:
        return None
    if dated:
        return _date(parts[: dated[0]], parts[dated[0]].month, parts[dated[0] + 1 :])
    if any(part.is_decade for part in parts):
        return _decade(parts, is_marked_decade)
    if any(part.is_fraction for part in parts):
        return _fraction(parts)
    if not parts or any(part.value is None for part in parts):
        return None
    return _number([part for part in parts if part.value is not None])


def _languages(tokens: Sequence[Token]) -> list[str | None]:
    """The languages that know most of the words; [None] if no word is a number word."""
    known = [token.number.languages for token in tokens if token.number is not None]
    counts = {language: sum(language in each for each in known) for language in LANGUAGES}
    best = max(counts.values())
    return [language for language in LANGUAGES if counts[language] == best] if best else [None]


def _says_number(items: Sequence[Token | str]) -> bool:
    return any(not isinstance(item, str) and item.number is not None and not item.is_fraction for item in items)


def _single(token: Token | str) -> list[Part]:
    if isinstance(token, str):
        return [Part(Decimal(0))] if token in _ZEROS else []
    if token.month is not None:
        return [Part(month=token.month.month, is_weekday=not token.month.month)]
    if token.is_figures:
        digits = _LEADING.match(token.word)
        plain = digits.group() if digits else ""
        return [Part(Decimal(plain), is_ordinal=plain != token.word, is_figures=True) if plain.isdecimal() else Part()]
    if token.word == "sixtieth":
        return [Part(Decimal(60), is_ordinal=True)]  # The only ordinal that the library does not know.
    if token.word in _DECADES:
        return [Part(Decimal(_DECADES[token.word]), is_decade=True)]
    if token.is_fraction:
        value = Decimal("0.5") if token.word in _HALVES else Decimal("0.25") if token.word in _QUARTERS else None
        return [Part(value, is_fraction=True)]
    if token.word in _DOZENS:
        return [Part(Decimal(12))]
    return [Part()]


def _date(before: Sequence[Part], month: int, after: Sequence[Part]) -> str | None:
    numbers = [part.value for part in (*before, *after)]
    if any(value is None or value != value.to_integral_value() for value in numbers) or len(before) > 1:
        return None
    day = before[0].value if before else None
    rest = list(after)
    if day is None and rest and (rest[0].is_ordinal or (_year(rest) is None and len(rest) > 1)):
        day = rest.pop(0).value
    year = _year(rest)
    if year is None:
        return None
    return f"{year:04d}-{month:02d}" + (f"-{int(day):02d}" if day is not None else "")


def _year(parts: Sequence[Part]) -> int | None:
    digits = _number(parts) if parts else None
    return int(digits) if digits and digits.isdecimal() and 3 <= len(digits) <= 4 else None


def _decade(parts: Sequence[Part], is_marked: bool) -> str | None:
    tens = parts[-1].value
    if not parts[-1].is_decade or tens is None:
        return None
    if len(parts) == 1:
        return f"{1900 + int(tens)}s" if is_marked else None
    century = parts[0].value
    return f"{100 * int(century) + int(tens)}s" if len(parts) == 2 and century and 10 <= century <= 21 else None


def _fraction(parts: Sequence[Part]) -> str | None:
    """One and a half, two million and a half, two and a half million, half a million, three quarters;

    None if unclear.
    """
    if any(part.value is None for part in parts) or sum(part.is_fraction for part in parts) != 1:
        return None
    index = next(index for index, part in enumerate(parts) if part.is_fraction)
    before, after = [part.value or 0 for part in parts[:index]], [part.value or 0 for part in parts[index + 1 :]]
    share = Decimal(parts[index].value or 0)
    if len(before) > 1 or len(after) > 1:
        return None
    scale = Decimal(after[0]) if after else Decimal(1)
    if not before:
        return _plain(share * scale)
    whole = Decimal(before[0])
    if share == Decimal("0.25") and whole == 3 and not after:
        return "0.75"
    if not after and whole >= 1000:
        scale = next(each for each in (Decimal(10) ** power for power in (12, 9, 6, 3)) if whole >= each)
        whole /= scale
    return _plain((whole + share) * scale)


def _number(parts: Sequence[Part]) -> str | None:
    values = [part.value or Decimal(0) for part in parts]
    if len(values) == 1:
        return _plain(values[0])
    if any(value != value.to_integral_value() or part.is_ordinal for value, part in zip(values, parts, strict=True)):
        return None
    whole = [int(value) for value in values]
    if len(whole) == 2 and 10 <= whole[0] <= 99 and 10 <= whole[1] <= 99:
        return f"{100 * whole[0] + whole[1]}"
    if len(whole) == 3 and 10 <= whole[0] <= 99 and whole[1] == 0 and whole[2] <= 9:
        return f"{100 * whole[0] + whole[2]}"
    if len(whole) == 3 and 10 <= whole[0] <= 99 and 20 <= whole[1] <= 90 and not whole[1] % 10 and whole[2] <= 9:
        return f"{100 * whole[0] + whole[1] + whole[2]}"
    if len(whole) > 2 and max(whole) <= 9 and whole[0]:
        return "".join(map(str, whole))
    is_scale = len(whole) == 2 and (whole[1] == 12 or str(whole[1]).strip("0") == "1") and not parts[1].is_figures
    return _plain(values[0] * values[1]) if is_scale else None  # "Two dozen", "a dozen million"; but not "two 10".


def _decimal(value: float) -> Decimal:
    number = Decimal(str(value))
    return number if number < MAX_SCALE else Decimal(0)


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
