"""Finds numbers, amounts and dates that are not in plain digits (nineteen sixty, the eighth of september, MCMLX,
①⑨⑥⓪), and converts them to digits.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, lru_cache
from typing import Final

from text_to_num import find_numbers

from kg_store.terms import ValueKind
from kg_store.text.literals import LiteralSpan, plain_number, read_literal
from kg_store.text.number_words import (
    LANGUAGES,
    MAX_ROMAN,
    OTHER_FIGURES,
    Token,
    TokenText,
    has_number_words,
    has_other_figures,
    roman_of,
    roman_value,
    tokens_of,
    undo_digits,
    words_of,
)

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
    """Returns the number that a single word means, in the first language that knows it; else None."""
    found = next((hits for language in LANGUAGES if (hits := find_numbers([TokenText(word)], language, 0))), None)
    return _decimal(found[0].value) if found else None


def parts_of(text: str, tokens: Sequence[Token]) -> list[Part]:
    """Returns the parts of one expression, with number words that form one number combined: "nineteen" "sixty".

    `text` is the whole text; it holds the function words between the tokens.
    """
    items: list[Token | str] = []
    for before, token in zip((None, *tokens), tokens, strict=False):
        if before is not None and text:
            items += words_of(text[before.end : token.start])
        items.append(token)
    return min((_parts_in(language, items) for language in _languages(tokens)), key=len)


def _parts_in(language: str | None, items: Sequence[Token | str]) -> list[Part]:
    written = (item if isinstance(item, str) else item.number.spelling if item.number else item.word for item in items)
    spelt = [TokenText(word) for word in written]
    hits = {hit.start: hit for hit in find_numbers(spelt, language, 0)} if language else {}
    parts: list[Part] = []
    index = 0
    while index < len(items):
        hit = hits.get(index)
        if hit is not None and any(
            not isinstance(item, str) and item.number is not None and not item.is_fraction
            for item in items[index : hit.end]
        ):
            parts.append(Part(_decimal(hit.value), is_ordinal=hit.is_ordinal))
            index = hit.end
        else:
            parts += _single(items[index])
            index += 1
    return parts


def canonical_of(parts: Sequence[Part], *, is_marked_decade: bool = False) -> str | None:
    """Returns the expression in digits, as people type them; None if its meaning is unclear.

    `is_marked_decade`: "the" stands before the expression, so that "sixties" means the 1960s.
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
    """Returns the languages that have most of the number words; several if they tie, [None] without number words."""
    known = [token.number.languages for token in tokens if token.number is not None]
    counts = {language: sum(language in each for each in known) for language in LANGUAGES}
    best = max(counts.values())
    return [language for language in LANGUAGES if counts[language] == best] if best else [None]


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
    if day is None and len(rest) == 1 and year is None:
        day = rest.pop().value
    if year is None:
        return None if rest else ("" if day is None else f"{int(day)} ") + month_name[month]
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
    """Returns a number with a fraction in digits (one and a half, half a million); None if unclear."""
    if any(part.value is None for part in parts) or sum(part.is_fraction for part in parts) != 1:
        return None
    index = next(index for index, part in enumerate(parts) if part.is_fraction)
    before, after = [part.value or 0 for part in parts[:index]], [part.value or 0 for part in parts[index + 1 :]]
    share = Decimal(parts[index].value or 0)
    if len(before) > 1 or len(after) > 1:
        return None
    scale = Decimal(after[0]) if after else Decimal(1)
    if not before:
        return plain_number(share * scale)
    whole = Decimal(before[0])
    if share == Decimal("0.25") and whole == 3 and not after:
        return "0.75"
    if not after and whole >= 1000:
        scale = next(each for each in (Decimal(10) ** power for power in (12, 9, 6, 3)) if whole >= each)
        whole /= scale
    return plain_number((whole + share) * scale)


def _number(parts: Sequence[Part]) -> str | None:
    values = [part.value or Decimal(0) for part in parts]
    if len(values) == 1:
        return plain_number(values[0])
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
    return (
        plain_number(values[0] * values[1]) if is_scale else None
    )  # "Two dozen", "a dozen million"; but not "two 10".


def _decimal(value: float) -> Decimal:
    number = Decimal(str(value))
    return number if number < MAX_SCALE else Decimal(0)


MAX_EVERYDAY: Final = 12
"""Up to this value a number word may be phrasing and not a value: the second one, two films. Chosen by hand."""

_ANDS: Final = frozenset("and und et y e og en & plus".split())
_OFS: Final = frozenset("of the de del di do da den der dem des d l le il el o a año anno ano jahr jahre year".split())
_POINTS: Final = frozenset("point dot comma komma virgule virgola coma vírgula punto ponto oh".split())
_ARTICLES: Final = frozenset("a an one".split())
_UNIT: Final = re.compile(
    r"[\s-]*(?:%|(?:o['’]clock|per\s?cent|prozent|dollars?|euros?|pounds?|usd|eur|gbp|chf|mg|kg|km|cm|mm|ml|years?|months?|weeks?|days?"
    r"|hours?|minutes?|seconds|jahren?|monaten?|tagen?|wochen|ans|mois|jours|semaines|años|meses|días|anni|mesi|giorni"
    r"|anos|dias)\b)",
    re.IGNORECASE,
)
_GAP: Final = re.compile(r"(?:[\s'’‐‑–-]+[^\W\d_]*){0,4}")
_GAP_OF_DATES: Final = re.compile(r"(?:[\s'’‐‑–.,/-]+[^\W\d_]*){0,4}")
_COMMA: Final = re.compile(r",\s+")
_MIN_BEFORE_COMMA: Final = 1000

_MAX_BETWEEN: Final = 24
_SIGN: Final = re.compile(r"\b(?:minus|negative)\s+\Z", re.IGNORECASE)
_BESIDE_TODAY: Final = re.compile(r"\b(?:last|past|previous|next|coming)\s+\Z", re.IGNORECASE)
"""Words that make the number of days or months after them depend on the current day: "last three months"."""

_ARTICLE_BEFORE: Final = re.compile(r"\b(?:a|an)\s+\Z", re.IGNORECASE)
_THE_BEFORE: Final = re.compile(r"\b(?:the|early|mid|late)[\s-]+\Z", re.IGNORECASE)

_ANY_DIGIT: Final = re.compile("[0-9]")
_FIGURE: Final = rf"[0-9{OTHER_FIGURES}]"
_NUMERAL: Final = re.compile(rf"{_FIGURE}+(?:[.,·/\u00a0\u202f ⁄-]?{_FIGURE}+)*")
_CHINESE_DATE: Final = re.compile(
    rf"(?:(?:明治|大正|昭和|平成|令和|民[国國]|公元)\s?)?(?<!{_FIGURE}){_FIGURE}++\s?"
    rf"(?:年(?:\s?{_FIGURE}++\s?月(?:\s?{_FIGURE}++\s?[日号號])?)?|月(?:\s?{_FIGURE}++\s?[日号號])?"
    rf"|[日号號岁歲歳元円圆人个個名時时点分秒週周代]|世[纪紀])"
)
_ISO_PARTS: Final = re.compile(r"([0-9]{3,4})\s?年(?:\s?([0-9]{1,2})\s?月(?:\s?([0-9]{1,2})\s?[日号號])?)?")
_ROMAN_WORD: Final = re.compile(r"(?<![^\W_])(?:[MDCLXVI]{2,}|[mdclxvi]{2,})(?![^\W_])")
_ROMAN_WORDS: Final = frozenset("MD CD DC CV MC MIX DI CC MM ML XL CL DM MI LI CI VI XI MV CM DL LL DV LV".split())
_SMALL_ROMAN: Final = re.compile(r"x{0,3}(?:ix|iv|v?i{0,3})")
_MIN_ROMAN_ALONE: Final = 5
"""From this length on, a lower-case Roman numeral cannot be mistaken for a word: mcmlx. Chosen by hand."""

_MAX_NAME: Final = 40
_NAME_BEFORE: Final = re.compile(r"[^\W\d_]{2,}[ \u00a0]\Z")


@dataclass(frozen=True, slots=True)
class NumberExpression(LiteralSpan):
    """A number or date that is written out. `lexical` is in digits if its meaning is clear, else as written.

    `is_everyday`: one word up to twelve, a half, or letters that may be a Roman numeral (MIX, DC); the caller decides
    whether it is a value or part of the phrasing.
    """

    is_everyday: bool = False
    is_ordinal: bool = False


def find_number_expressions(text: str) -> list[NumberExpression]:
    """Returns every number, amount, ordinal and date that is not in plain ASCII digits; in order, without overlaps.

    Recognised are words of English, German, French, Spanish, Italian, Portuguese and Dutch, numerals of every script,
    and Roman numerals. Plain ASCII digits are left to `find_literals`. A text without any takes one look-up for each
    word.
    """
    words = set(words_of(text))
    found = list(_figures(text))
    if not _roman_words().isdisjoint(words):
        found += _roman(text)
    if has_number_words(words, has_figures=_ANY_DIGIT.search(text) is not None):
        found += _worded(text)
    return _without_overlaps(text, found)


def _without_overlaps(text: str, found: list[NumberExpression]) -> list[NumberExpression]:
    """Returns the longest of overlapping expressions; the rest of the shorter ones is kept as text."""
    chosen: list[NumberExpression] = []
    covered = bytearray(len(text))
    for each in sorted(found, key=lambda each: (each.start - each.end, each.start)):
        chosen += [each] if not any(covered[each.start : each.end]) else _left_of(text, each, covered)
        covered[each.start : each.end] = b"\x01" * (each.end - each.start)
    return sorted(chosen, key=lambda each: each.start)


def _left_of(text: str, loser: NumberExpression, covered: bytearray) -> Iterator[NumberExpression]:
    start = loser.start
    for end in range(loser.start, loser.end + 1):
        if end == loser.end or covered[end]:
            if text[start:end].strip():
                yield NumberExpression(start, end, ValueKind.TEXT, text[start:end])
            start = end + 1


def in_figures(text: str) -> str:
    """Returns `text` with clear meanings in digits: nineteen sixty becomes 1960, the eighth of may 2001 2001-05-08.

    An index of values can find written-out values in this form. Everyday numbers stay words; lengths change; a text
    without number words is returned as it is.
    """
    pieces: list[str] = []
    done = 0
    for each in find_number_expressions(text):
        if not each.is_everyday and each.kind is not ValueKind.TEXT:
            pieces += [text[done : each.start], each.lexical]
            done = each.end
    return undo_digits("".join([*pieces, text[done:]]) if pieces else text)


def _worded(text: str) -> Iterator[NumberExpression]:
    for run in _runs(text, tokens_of(text)):
        if not all(token.is_figures for token in run):
            yield _expression(text, run)


def _runs(text: str, tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yields the tokens of each expression."""
    run: list[Token] = []
    is_dated = False
    for token in tokens:
        if run and _joined(text[run[-1].end : token.start], run[-1], token, is_dated=is_dated):
            run.append(token)
        else:
            if run:
                yield run
            run, is_dated = [token], False
        is_dated = is_dated or token.month is not None
    if run:
        yield run


def _joined(between: str, before: Token, after: Token, *, is_dated: bool) -> bool:
    """Returns True if two neighbouring tokens belong to one expression.

    `between` is the text between them. `is_dated`: the expression holds a month already.
    """
    if len(between) > _MAX_BETWEEN:
        return False
    is_dated = is_dated or after.month is not None
    words = words_of(between)
    if _COMMA.fullmatch(between):
        return is_dated or _goes_on_behind_comma(before, after)
    if not (_GAP_OF_DATES if is_dated else _GAP).fullmatch(between):
        return False
    if not words:
        # "First two", "one second" and "second one" are two numbers each.
        return is_dated or before.is_fraction or after.is_fraction or _melt(_moved(before), _moved(after))
    return (is_dated and _OFS.issuperset(words)) or _joined_by(words, before, after)


def _goes_on_behind_comma(before: Token, after: Token) -> bool:
    """Returns True for "two thousand, three hundred", and for digits said one by one: "one, nine, six"."""
    one, other = value_of(before.word), value_of(after.word)
    if one is None or other is None:
        return False
    return one >= _MIN_BEFORE_COMMA or (one < 10 and other < 10 and _melt(_moved(before), _moved(after)))


def _joined_by(words: Sequence[str], before: Token, after: Token) -> bool:
    if words[0] in _ANDS:
        if after.is_fraction:
            return all(word in _ARTICLES for word in words[1:])
        return len(words) == 1 and _is_one_with_and(before, after)
    if words[0] in _POINTS:
        return len(words) == 1 and not before.is_fraction and not after.is_fraction
    if before.is_fraction and words in (["past"], ["to"], ["after"]):
        return True  # Half past three.
    if before.is_fraction and all(word in ("of", "a", "an", "de", "d") for word in words):
        return after.word in _DOZENS or (value_of(after.word) or 0) >= 100
    return False


def _moved(token: Token) -> Token:
    return replace(token, start=0, end=0)


@lru_cache(maxsize=4_096)
def _melt(before: Token, after: Token) -> bool:
    parts = parts_of("", [before, after])
    return len(parts) < 2 or not any(part.is_ordinal for part in parts)


def _is_one_with_and(before: Token, after: Token) -> bool:
    """Returns True for "a hundred and five", "vingt et un", "ein und achtzig"; False for "two and three"."""
    one, other = value_of(before.word), value_of(after.word)
    if one is None or other is None or before.languages.isdisjoint(after.languages):
        return False
    if one >= 20 and one % 10 == 0:
        return other < one or (other == 1000 and one < other)
    return one < 10 and 20 <= other < 100 and other % 10 == 0 and not before.languages.isdisjoint(("de", "nl", "da"))


def _expression(text: str, run: Sequence[Token]) -> NumberExpression:
    start, end = run[0].start, run[-1].end
    parts = parts_of(text, run)
    before = text[max(0, start - 12) : start]
    sign = _SIGN.search(before)
    is_bare = run[-1].month or (parts and parts[-1].is_ordinal) or _BESIDE_TODAY.search(before)
    unit = None if is_bare else _UNIT.match(text, end)
    meant = canonical_of(parts, is_marked_decade=_THE_BEFORE.search(before) is not None)
    is_everyday = sign is None and _is_everyday(run, parts, unit is not None)
    if meant is not None and sign is not None:
        meant = f"-{meant}"
    start -= len(sign.group()) if sign else _article(text, start, run, parts)
    end = unit.end() if unit and not is_everyday else end
    is_ordinal = any(part.is_ordinal for part in parts)
    return replace(_meaning(text, start, end, meant, is_everyday), is_ordinal=is_ordinal)


def _article(text: str, start: int, run: Sequence[Token], parts: Sequence[Part]) -> int:
    """Returns the length of an article that belongs to the number: "a hundred", "a dozen"; else 0."""
    if run[0].is_figures or run[0].month or not parts or (parts[0].value or 0) < 12:
        return 0
    before = _ARTICLE_BEFORE.search(text[max(0, start - 4) : start])
    return len(before.group()) if before and not parts[0].is_ordinal and not parts[0].is_decade else 0


def _is_everyday(run: Sequence[Token], parts: Sequence[Part], has_unit: bool) -> bool:
    if len(run) > 1 or len(parts) != 1 or parts[0].month or parts[0].is_weekday or parts[0].value is None:
        return len(run) == 1 and run[0].is_fraction
    return parts[0].value <= (1 if has_unit else MAX_EVERYDAY)


def _figures(text: str) -> Iterator[NumberExpression]:
    """Yields numerals of other scripts and shapes, and dates in Chinese and Japanese form."""
    if not has_other_figures(text):
        return
    for match in _CHINESE_DATE.finditer(text):
        date = _ISO_PARTS.fullmatch(undo_digits(match.group()))
        meant = "-".join(f"{int(part):02d}" for part in date.groups() if part) if date else None
        yield _meaning(text, *match.span(), meant, False)
    for match in _NUMERAL.finditer(text):
        if has_other_figures(match.group()):
            is_word = len(match.group()) == 1 and match.group().isalpha()
            yield _meaning(text, *match.span(), undo_digits(match.group()), is_word)


@cache
def _roman_words() -> frozenset[str]:
    numerals = (roman_of(number).lower() for number in range(2, MAX_ROMAN))
    return frozenset(numeral for numeral in numerals if len(numeral) > 1) | {"iiii", "viiii", "xiiii"}


def _roman(text: str) -> Iterator[NumberExpression]:
    for match in _ROMAN_WORD.finditer(text):
        written = match.group()
        value = roman_value(written)
        if not value:
            continue
        if written.islower() and len(written) < _MIN_ROMAN_ALONE:
            follows_name = _NAME_BEFORE.search(text, max(0, match.start() - _MAX_NAME), match.start())
            if not follows_name or not _SMALL_ROMAN.fullmatch(written):
                continue
        yield _meaning(text, *match.span(), str(value), written.upper() in _ROMAN_WORDS)


def _meaning(text: str, start: int, end: int, meant: str | None, is_everyday: bool) -> NumberExpression:
    read = read_literal(meant) if meant else None
    kind, lexical = read or (ValueKind.TEXT, text[start:end])
    return NumberExpression(start, end, kind, lexical, is_everyday)
