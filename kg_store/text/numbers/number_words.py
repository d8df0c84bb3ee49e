"""Finds numbers, amounts and dates that are not in plain digits: nineteen sixty, the eighth of
september, MCMLX, ①⑨⑥⓪.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

from kg_store.terms import ValueKind
from kg_store.text.literals import LiteralSpan, read_literal
from kg_store.text.numbers.number_meaning import Part, canonical_of, parts_of, value_of
from kg_store.text.numbers.number_tokens import (
    MAX_ROMAN,
    OTHER_FIGURES,
    Token,
    has_other_figures,
    roman_of,
    roman_value,
    tokens_of,
    undo_digits,
    words_of,
)
from kg_store.text.numbers.number_vocabulary import has_number_words

MAX_EVERYDAY: Final = 12
"""Up to this value a number in one word may belong to the way of asking: the second one, two films. Chosen by hand."""

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
"""Words before a number of days or months that make it depend on the current day: "last three months"."""

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
_ROMAN: Final = re.compile(r"(?<![^\W_])(?:[MDCLXVI]{2,}|[mdclxvi]{2,})(?![^\W_])")
_ROMAN_WORDS: Final = frozenset("MD CD DC CV MC MIX DI CC MM ML XL CL DM MI LI CI VI XI MV CM DL LL DV LV".split())
_SMALL_ROMAN: Final = re.compile(r"x{0,3}(?:ix|iv|v?i{0,3})")
_MIN_ROMAN_ALONE: Final = 5
"""From this length on a lower-case Roman numeral is not taken for a word: mcmlx. Chosen by hand."""

_NAME_BEFORE: Final = re.compile(r"[^\W\d_]{2,}[ \u00a0]\Z")


@dataclass(frozen=True, slots=True)
class NumberExpression(LiteralSpan):
    """A number or date that is written out; `lexical` is in digits if its meaning is clear, else as written.

    `is_everyday`: one word up to twelve, a half, or letters that may be a Roman numeral (MIX, DC); the caller decides
    whether it is a value or part of the way of asking.
    """

    is_everyday: bool = False


def find_number_expressions(text: str) -> list[NumberExpression]:
    """Returns every number, amount, ordinal and date, or part of one, that is not in plain ASCII digits; in order,
    without overlaps.

    It reads words of English, German, French, Spanish, Italian, Portuguese and Dutch, numerals of every script, and
    Roman numerals. Plain ASCII digits are left to `find_literals`. A text without any costs one look-up a word.
    """
    words = set(words_of(text))
    found = list(_figures(text))
    if not _roman_words().isdisjoint(words):
        found += _roman(text)
    if has_number_words(words, has_figures=_ANY_DIGIT.search(text) is not None):
        found += _worded(text)
    return _without_overlaps(text, found)


def _without_overlaps(text: str, found: list[NumberExpression]) -> list[NumberExpression]:
    """The longest of overlapping expressions; what the others cover beyond it is kept as text."""
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
    """Returns `text` with clear meanings in digits: nineteen sixty as 1960, the eighth of may 2001 as 2001-05-08, ⑨ as
    9.

    An index of values finds written-out values in this form. Everyday numbers stay words; lengths change; a text
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
    """The tokens of each expression."""
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
    """True if two neighbouring tokens belong to one expression; `is_dated`: it already holds a month."""
    if len(between) > _MAX_BETWEEN:
        return False
    is_dated = is_dated or after.month is not None
    words = words_of(between)
    if _COMMA.fullmatch(between):
        return is_dated or _goes_on_behind_comma(before, after)
    if not (_GAP_OF_DATES if is_dated else _GAP).fullmatch(between):
        return False
    if not words:
        return is_dated or _are_one_number(before, after)
    return (is_dated and _OFS.issuperset(words)) or _joined_by(words, before, after)


def _goes_on_behind_comma(before: Token, after: Token) -> bool:
    """True of "two thousand, three hundred", and of digits said one by one: "one, nine, six"."""
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
        return (value_of(after.word) or 0) >= 100
    return False


def _are_one_number(before: Token, after: Token) -> bool:
    """True of neighbours that form one number; "first two", "one second" and "second one" are two numbers each."""
    return before.is_fraction or after.is_fraction or _melt(_moved(before), _moved(after))


def _moved(token: Token) -> Token:
    return replace(token, start=0, end=0)


@lru_cache(maxsize=4_096)
def _melt(before: Token, after: Token) -> bool:
    parts = parts_of("", [before, after])
    return len(parts) < 2 or not any(part.is_ordinal for part in parts)


def _is_one_with_and(before: Token, after: Token) -> bool:
    """True of "a hundred and five", "vingt et un", "ein und achtzig"; false of "two and three"."""
    one, other = value_of(before.word), value_of(after.word)
    if one is None or other is None or before.languages.isdisjoint(after.languages):
        return False
    if one >= 20 and one % 10 == 0:
        return other < one or (other == 1000 and one < other)
    return one < 10 and 20 <= other < 100 and other % 10 == 0 and not before.languages.isdisjoint(("de", "nl", "da"))


def _expression(text: str, run: Sequence[Token]) -> NumberExpression:
    start, end = run[0].start, run[-1].end
    parts = parts_of(text, run)
    sign = _SIGN.search(text[max(0, start - 12) : start])
    is_bare = (
        run[-1].month or (parts and parts[-1].is_ordinal) or _BESIDE_TODAY.search(text[max(0, start - 12) : start])
    )
    unit = None if is_bare else _UNIT.match(text, end)
    meant = canonical_of(parts, is_marked_decade=_THE_BEFORE.search(text[max(0, start - 8) : start]) is not None)
    is_everyday = sign is None and _is_everyday(run, parts, unit is not None)
    if meant is not None and sign is not None:
        meant = f"-{meant}"
    start -= len(sign.group()) if sign else _article(text, start, run, parts)
    end = unit.end() if unit and not is_everyday else end
    return _meaning(text, start, end, meant, is_everyday)


def _article(text: str, start: int, run: Sequence[Token], parts: Sequence[Part]) -> int:
    """The number of letters of an article that belongs to the number: "a hundred", "a dozen"; else 0."""
    if run[0].is_figures or run[0].month or not parts or (parts[0].value or 0) < 12:
        return 0
    before = _ARTICLE_BEFORE.search(text[max(0, start - 4) : start])
    return len(before.group()) if before and not parts[0].is_ordinal and not parts[0].is_decade else 0


def _is_everyday(run: Sequence[Token], parts: Sequence[Part], has_unit: bool) -> bool:
    if len(run) > 1 or len(parts) != 1 or parts[0].month or parts[0].is_weekday or parts[0].value is None:
        return len(run) == 1 and run[0].is_fraction
    return parts[0].value <= (1 if has_unit else MAX_EVERYDAY)


def _figures(text: str) -> Iterator[NumberExpression]:
    """Numerals of other scripts and shapes, alone or among ASCII digits, and dates in Chinese and Japanese form."""
    if not has_other_figures(text):
        return
    for match in _CHINESE_DATE.finditer(text):
        yield _meaning(text, *match.span(), _chinese_date(undo_digits(match.group())), False)
    for match in _NUMERAL.finditer(text):
        if has_other_figures(match.group()):
            is_word = len(match.group()) == 1 and match.group().isalpha()
            yield _meaning(text, *match.span(), undo_digits(match.group()), is_word)


def _chinese_date(plain: str) -> str | None:
    match = _ISO_PARTS.fullmatch(plain)
    return "-".join(f"{int(part):02d}" for part in match.groups() if part) if match else None


@cache
def _roman_words() -> frozenset[str]:
    numerals = (roman_of(number).lower() for number in range(2, MAX_ROMAN))
    return frozenset(numeral for numeral in numerals if len(numeral) > 1) | {"iiii", "viiii", "xiiii"}


def _roman(text: str) -> Iterator[NumberExpression]:
    for match in _ROMAN.finditer(text):
        written = match.group()
        value = roman_value(written)
        if not value or (written.islower() and not _is_small_roman(text, match)):
            continue
        yield _meaning(text, *match.span(), str(value), written.upper() in _ROMAN_WORDS)


def _is_small_roman(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - _MAX_NAME) : match.start()]
    if len(match.group()) >= _MIN_ROMAN_ALONE:
        return True
    return _SMALL_ROMAN.fullmatch(match.group()) is not None and _NAME_BEFORE.search(before) is not None


_MAX_NAME: Final = 40


def _meaning(text: str, start: int, end: int, meant: str | None, is_everyday: bool) -> NumberExpression:
    read = read_literal(meant) if meant else None
    kind, lexical = read or (ValueKind.TEXT, text[start:end])
    return NumberExpression(start, end, kind, lexical, is_everyday)
