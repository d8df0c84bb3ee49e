"""Words and figures of a text that say numbers, months or weekdays, judged by what stands around them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from kg_store.text.numbers.number_vocabulary import (
    ARTICLES,
    FRACTIONS,
    CalendarWord,
    NumberWord,
    calendar_word,
    languages_of,
    number_word,
)

_WORD: Final = re.compile("[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f]+")
"""All seven languages write in Latin letters."""

_ASCII_SPACES: Final = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalpha()})
_DIGITS: Final = re.compile(
    r"(?<![^\W_])[0-9]++(?:[.,'’][0-9]++)*+(?:st|nd|rd|th|er|[eè]re|[eè]me|e|[ºª])?(?![^\W_])", re.IGNORECASE
)
_ENGLISH_BEFORE: Final = frozenset(
    "in since until till during last next this every by from before after mid late early of between through".split()
)
_BEFORE: Final = frozenset(
    "im seit bis ab nach vor am en depuis avant après au desde hasta antes después di dopo em até".split()
)
_BEFORE_SHORT: Final = frozenset("in since until till last next".split())
_ENDS_SENTENCE: Final = re.compile(r"(?:^|[.!?:;\n…¿¡。！？])[\s\"'“”„‘’«»(\[*_#>•·–—-]*\Z")
_LAST_WORD: Final = re.compile(r"([^\W\d_]+)[ \u00a0]\Z")
_LOOK_BACK: Final = 40
_LITTLE: Final = frozenset("of the de del di do da den der dem des and und et y e i l d le il el o".split())
_ANDS: Final = frozenset("and und et y e en".split())
MAX_LITTLE: Final = 2
"""So many little words may stand between two words of one number."""


@dataclass(frozen=True, slots=True)
class Token:
    """text[start:end]: figures, or a word that says a number, a month or a weekday."""

    start: int
    end: int
    word: str = field(repr=False)
    number: NumberWord | None = None
    month: CalendarWord | None = None

    @property
    def is_figures(self) -> bool:
        return self.number is None and self.month is None

    @property
    def is_fraction(self) -> bool:
        return self.word in FRACTIONS

    @property
    def is_weak(self) -> bool:
        return not self.is_figures and all(each.is_weak for each in (self.number, self.month) if each is not None)

    @property
    def languages(self) -> frozenset[str]:
        known = (each.languages for each in (self.number, self.month) if each is not None)
        return frozenset(language for languages in known for language in languages)


def tokens_of(text: str) -> list[Token]:
    """The tokens of `text` that say something, in order. A word that is another one where it stands is left out."""
    tokens = sorted([*_words(text), *_digits(text)], key=lambda token: token.start)
    if not any(token.is_weak for token in tokens):
        return tokens
    context = languages_of({word.lower() for word in _WORD.findall(text)})
    judged = (_judged(text, tokens, index, context) for index in range(len(tokens)))
    return [token for token in judged if token is not None]


def words_of(text: str) -> list[str]:
    """The words of `text`, in small letters and composed."""
    if text.isascii():
        return text.lower().translate(_ASCII_SPACES).split()
    return _WORD.findall(unicodedata.normalize("NFC", text.lower()))


def _words(text: str) -> Iterator[Token]:
    for match in _WORD.finditer(text):
        word = unicodedata.normalize("NFC", match.group().lower())
        number, month = number_word(word), calendar_word(word)
        if number is not None or month is not None:
            yield Token(*match.span(), word, number, month)


def _digits(text: str) -> Iterator[Token]:
    return (Token(*match.span(), match.group().lower()) for match in _DIGITS.finditer(text))


def _judged(text: str, tokens: Sequence[Token], index: int, context: Collection[str]) -> Token | None:
    token = tokens[index]
    if not token.is_weak:
        return _settled(token)
    near = list(_neighbours(text, tokens, index))
    number = token.number if _is_number(token, near, context) else None
    month = token.month if token.month and _is_month(text, token, token.month, near, context) else None
    return replace(token, number=number, month=month) if number or month else None


def _settled(token: Token) -> Token:
    """A word that says two things, one of them weakly, says the other."""
    if token.number is None or token.month is None or token.number.is_weak == token.month.is_weak:
        return token
    return replace(token, number=None) if token.number.is_weak else replace(token, month=None)


def _is_number(token: Token, near: Sequence[Token], context: Collection[str]) -> bool:
    languages = set(token.number.languages) if token.number else set()
    if token.word not in ARTICLES and not languages.isdisjoint(context):
        return True
    return any(each.is_figures or not each.languages.isdisjoint(languages) for each in near)


def _is_month(text: str, token: Token, month: CalendarWord, near: Sequence[Token], context: Collection[str]) -> bool:
    if any(each.is_figures for each in near) or not set(month.languages).isdisjoint(context):
        return True
    if any(each.number and not set(each.number.languages).isdisjoint(month.languages) for each in near):
        return True
    is_english = "en" in month.languages
    before = _LAST_WORD.search(text[max(0, token.start - _LOOK_BACK) : token.start])
    known = _BEFORE_SHORT if month.is_short else _ENGLISH_BEFORE if is_english else _BEFORE
    if before and before[1].lower() in known:
        return True
    return is_english and not month.is_short and _has_telling_capital(text, token.start)


def _has_telling_capital(text: str, start: int) -> bool:
    """A capital that no beginning of a sentence explains."""
    return text[start].isupper() and not _ENDS_SENTENCE.search(text[max(0, start - _LOOK_BACK) : start])


def _neighbours(text: str, tokens: Sequence[Token], index: int) -> Iterator[Token]:
    """The next on either side, where nothing but little words stands between."""
    for one, other in ((index - 1, index), (index, index + 1)):
        if one >= 0 and other < len(tokens):
            neighbour = tokens[one if other == index else other]
            if _is_near(text[tokens[one].end : tokens[other].start], _ANDS if neighbour.is_weak else _LITTLE):
                yield neighbour


def _is_near(between: str, little: Collection[str]) -> bool:
    """True where at most two of `little` stand between, and no sign but the point of an ordinal: 8. September."""
    if len(between) > _LOOK_BACK or set(between) & set(".!?;:()\n"):
        return set(between) <= set(". ")
    words = words_of(between)
    return len(words) <= MAX_LITTLE and all(word in little for word in words)
