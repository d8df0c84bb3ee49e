"""Number words, months and weekdays in seven languages, and which of them are other words as well."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from itertools import chain
from typing import Final

from babel.dates import get_day_names, get_month_names
from text_to_num import find_numbers

LANGUAGES: Final = ("en", "de", "fr", "es", "it", "pt", "nl")
"""English comes first: if two languages share a word, the first one reads it."""

_TABLE: Final[dict[str, dict[str, str]]] = tomllib.loads(
    resources.files(__package__).joinpath("number_words.toml").read_text("utf-8")
)
FRACTIONS: Final = frozenset(_TABLE["any"]["fractions"].split())
ARTICLES: Final = frozenset(_TABLE["any"]["articles"].split())
_AMOUNTS: Final = frozenset(_TABLE["any"]["amounts"].split())
_WEAK: Final = frozenset(_TABLE["any"]["weak"].split())
_WEAK_CALENDAR: Final = frozenset(_TABLE["any"]["weak_calendar"].split())
_SLIPS: Final = _TABLE["slips"]
_CONTEXT: Final = {language: frozenset(_TABLE[language]["context"].split()) for language in LANGUAGES}
MIN_CONTEXT: Final = 2
"""The number of a language's function words that show that a text is in it. Chosen by hand."""

_COMPOUND: Final = re.compile(
    # English, run together
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|and|oh)+(?:first|second|third|fif?th|ths?)?"
    # German
    r"|(?:eins?|zwei|zwo|drei|vier|fünf|sechs?|sieb(?:en)?|acht|neun|zehn|elf|zwölf|zwanzig|drei(?:ß|ss)ig|vierzig|fünfzig"
    r"|sechzig|siebzig|achtzig|neunzig|hundert|tausend|million(?:en)?|und|null)+"
    r"(?:(?:ers|drit|s)?te[rnsm]?|e[rnsm]?|er[ns]|fach|s?tel)?"
    # Italian
    r"|(?:uno?|due|tr[eé]|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|tredici|quattordici|quindici|sedici"
    r"|dicia?ssette|dici?otto|diciannove|venti?|trenta?|quaranta?|cinquanta?|sessanta?|settanta?|ottanta?|novanta?|cento?"
    r"|mille|mila|milion[ei])*(?:(?:un|du|tre|quattr|cinqu|sei|sett|ott|nov|dec|undic|dodic|tredic|quattordic|quindic"
    r"|sedic|diciassett|diciott|diciannov|vent|trent|quarant|cinquant|sessant|settant|ottant|novant|cent|mill|milion)"
    r"i?esim[oaie]|(?<=[a-zé]{4}))"
    # Dutch
    r"|(?:een|één|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|elf|twaalf|dertien|veertien|twintig|dertig|veertig"
    r"|vijftig|zestig|zeventig|tachtig|negentig|honderd|duizend|miljoen|en|ën|nul)+(?:(?:eer)?st?e|(?:der)?de)?"
)
_ORDINAL: Final = re.compile(
    r"(?:z[eé]ro|trente|quarante|cinquante|soixante|vingts?|cents?|mill)i[eè]mes?"
    r"|d[eé]cimo(?:primer|segund|tercer|cuart|quint|sext|s[eé]ptim|octav|noven)[oa]"
    r"|(?:(?:du|tri|[cq]uadr[io]n?|quin|s[ei]x|seis|sep?tin?|o[ck]tin?|non|nonin|noningen)[gc]ent"
    r"|(?:dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|cien)?(?:mil|cent))[eé]sim[oa]s?"
)
"""Matches French, Spanish and Portuguese ordinals in one word."""

_LONG_PART: Final = re.compile(
    "hundr|thous|teen|ty|hundert|tausend|zig|zehn|cento|mila|anta?|venti|trenta|esim|ésim|honderd|duizend|ième|tig"
)
"""Parts that make a compound a number even if the number reader does not know it."""

MAX_COMPOUND: Final = 120
"""The greatest number of letters that are read of a number in one word. Chosen by hand."""

_UMLAUTS: Final = (("fuenf", "fünf"), ("zwoelf", "zwölf"), ("dreissig", "dreißig"), ("ieme", "ième"))


@dataclass(frozen=True, slots=True)
class NumberWord:
    """A number word as its languages spell it. `is_weak`: alone it mostly means something else ("second")."""

    spelling: str = field(repr=False)
    languages: tuple[str, ...]
    is_weak: bool


@dataclass(frozen=True, slots=True)
class TokenText:
    """A word in the form that the package text_to_num expects."""

    word: str = field(repr=False)

    def text(self) -> str:
        return self.word

    def nt_separated(self, _previous: object) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class CalendarWord:
    """A month (1 to 12), or a weekday if `month` is 0.

    `is_weak`: it is also another word or a name ("may"). `is_short`: it is abbreviated, and therefore weak.
    """

    month: int
    languages: tuple[str, ...]
    is_weak: bool
    is_short: bool = False


@lru_cache(maxsize=16_384)
def number_word(word: str) -> NumberWord | None:
    """Reads one word in lower case, also without accents or with umlauts written out; None if it is no number word."""
    plain = unicodedata.normalize("NFC", word)
    plain = _SLIPS.get(plain, plain)
    found = _number_words().get(plain)
    return found or _compound(plain)


def calendar_word(word: str) -> CalendarWord | None:
    """Reads the name of a month or weekday in lower case, in full or abbreviated; None for any other word."""
    return _calendar().get(unicodedata.normalize("NFC", word))


def has_number_words(words: Collection[str], *, has_figures: bool) -> bool:
    """True if `words` (lower case) holds a number word, a month or a weekday.

    `has_figures`: the text holds digits; without any, foreign abbreviations of months ("out", "set", "ago") do not
    count.
    """
    months = _calendar() if has_figures else _months_alone()
    return not months.keys().isdisjoint(words) or any(map(number_word, words))


def languages_of(words: set[str]) -> frozenset[str]:
    """Returns the languages other than English of which `words` holds most function words; empty if fewer than
    MIN_CONTEXT.
    """
    hits = {language: len(words & known) for language, known in _CONTEXT.items()}
    best = max(hits.values())
    return frozenset(each for each, count in hits.items() if count == best >= MIN_CONTEXT and each != "en")


def without_accents(word: str) -> str:
    """Returns `word` without the marks on its letters."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in parts if unicodedata.category(letter) != "Mn")


@cache
def _number_words() -> dict[str, NumberWord]:
    languages: dict[str, dict[str, list[str]]] = {}
    for language in LANGUAGES:
        for word in _TABLE[language]["numbers"].split():
            for spelling in {word, without_accents(word)}:
                languages.setdefault(spelling, {}).setdefault(word, []).append(language)
    found = {
        spelling: NumberWord(
            next(iter(read)), tuple(dict.fromkeys(chain.from_iterable(read.values()))), spelling in _WEAK
        )
        for spelling, read in languages.items()
    }
    for word in _AMOUNTS | FRACTIONS:
        for spelling in {word, without_accents(word)}:
            found.setdefault(spelling, NumberWord(word, (), spelling in _WEAK))
    return found


def _compound(word: str) -> NumberWord | None:
    for written, meant in _UMLAUTS:
        word = word.replace(written, meant)
    if _ORDINAL.fullmatch(word):
        return NumberWord(word, tuple(each for each in ("fr", "es", "pt") if _is_number(word, each)), False)
    if not _COMPOUND.fullmatch(word[:MAX_COMPOUND]):
        return _number_words().get(word)
    languages = tuple(each for each in ("de", "it", "nl", "fr") if _is_number(word, each))
    return NumberWord(word, languages, False) if languages or _LONG_PART.search(word) else None


def _is_number(word: str, language: str) -> bool:
    return bool(find_numbers([TokenText(word)], language, 0))


@cache
def _calendar() -> dict[str, CalendarWord]:
    read: dict[str, tuple[int, list[str], bool]] = {}
    for language in LANGUAGES:
        for month, name, is_short in _calendar_names(language):
            for spelling in {name, without_accents(name)}:
                languages = read.setdefault(spelling, (month, [], is_short))[1]
                languages += [language] if language not in languages else []
    return {
        name: CalendarWord(month, tuple(languages), is_short or name in _WEAK_CALENDAR, is_short)
        for name, (month, languages, is_short) in read.items()
    }


@cache
def _months_alone() -> dict[str, CalendarWord]:
    """The calendar words that count without a digit beside them."""
    return {name: word for name, word in _calendar().items() if not word.is_short or "en" in word.languages}


def _calendar_names(language: str) -> Iterator[tuple[int, str, bool]]:
    """Months and weekdays by name, and months abbreviated: (month, name, is_short)."""
    for month, name in get_month_names("wide", "format", language).items():
        yield month, str(name).lower(), False
    for name in get_day_names("wide", "format", language).values():
        yield 0, str(name).lower(), False
    for month, name in get_month_names("abbreviated", "format", language).items():
        yield month, str(name).lower().rstrip("."), True
    if language == "en":
        yield 9, "sept", True
