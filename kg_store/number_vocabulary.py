"""Words of numbers, months and weekdays in eight languages, and which of them are other words, too."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from itertools import chain
from typing import Final

from babel.dates import get_day_names, get_month_names
from text_to_num import find_numbers

LANGUAGES: Final = ("en", "de", "fr", "es", "it", "pt", "nl", "da")
"""English first: of two languages that share a word, the first reads it."""

_TABLE: Final[dict[str, dict[str, str]]] = tomllib.loads(
    resources.files("kg_store").joinpath("number_words.toml").read_text("utf-8")
)
FRACTIONS: Final = frozenset(_TABLE["any"]["fractions"].split())
_AMOUNTS: Final = frozenset(_TABLE["any"]["amounts"].split())
_WEAK: Final = frozenset(_TABLE["any"]["weak"].split())
_WEAK_CALENDAR: Final = frozenset(_TABLE["any"]["weak_calendar"].split())
_SLIPS: Final = _TABLE["slips"]
_CONTEXT: Final = {language: frozenset(_TABLE[language]["context"].split()) for language in LANGUAGES}
MIN_CONTEXT: Final = 2
"""So many little words of a language show that a text is in it."""

_COMPOUND: Final = re.compile(
    r"(?:ein|eins|zwei|zwo|drei|vier|fünf|sechs|sech|sieb|sieben|acht|neun|zehn|elf|zwölf|zwanzig|drei(?:ß|ss)ig"
    r"|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig|hundert|tausend|million(?:en)?|und)+"
    r"(?:s?te[rnsm]?|er[nrs]?|fach|s?tel)?"
    r"|(?:un|uno|due|tr[eé]|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|tredici|quattordici|quindici|sedici"
    r"|diciassette|diciotto|diciannove|vent|venti|trent|trenta|quarant|quaranta|cinquant|cinquanta|sessant|sessanta"
    r"|settant|settanta|ottant|ottanta|novant|novanta|cent|cento|mille|mila|milion[ei])+(?:i?esim[oaie])?"
    r"|(?:een|één|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|elf|twaalf|dertien|veertien|twintig|dertig|veertig"
    r"|vijftig|zestig|zeventig|tachtig|negentig|honderd|duizend|miljoen|en|ën)+(?:st?e|de)?"
    r"|(?:trente|quarante|cinquante|soixante|vingt|cent|mill)i[eè]mes?"
)
_COMPOUND_PARTS: Final = (
    "hundert tausend zehn zwanzig ßig ssig erzig nfzig chzig ebzig htzig unzig mila cento centu venti ventu vento"
    " anta anto ento trent dici esim honderd duizend tig tien ieme ième".split()
)
_GERMAN_ORDINALS: Final = "viert fünft fuenft sechst siebent acht neunt zehnt elft zwölft zwoelft".split()
_UMLAUTS: Final = (("fuenf", "fünf"), ("zwoelf", "zwölf"), ("dreissig", "dreißig"), ("ieme", "ième"))


@dataclass(frozen=True, slots=True)
class NumberWord:
    """A word of a number, as its languages spell it. `is_weak`: where it stands alone it is mostly another word."""

    spelling: str = field(repr=False)
    languages: tuple[str, ...]
    is_weak: bool


@dataclass(frozen=True, slots=True)
class TokenText:
    """A word as text_to_num takes it."""

    word: str = field(repr=False)

    def text(self) -> str:
        return self.word

    def nt_separated(self, _previous: object) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class CalendarWord:
    """A month (1 to 12) or, with `month` 0, a day of the week. `is_weak`: it is another word or a name as well.

    `is_short`: as its language shortens it, and weak for that.
    """

    month: int
    languages: tuple[str, ...]
    is_weak: bool
    is_short: bool = False


@lru_cache(maxsize=16_384)
def number_word(word: str) -> NumberWord | None:
    """Reads one word in small letters; accents may be left out, umlauts written out, hyphens not. None: no number."""
    plain = unicodedata.normalize("NFC", word)
    plain = _SLIPS.get(plain, plain)
    found = _number_words().get(plain)
    return found or _compound(plain)


def calendar_word(word: str) -> CalendarWord | None:
    """Reads the name of a month or of a day of the week, in small letters, whole or as its language shortens it."""
    return _calendar().get(unicodedata.normalize("NFC", word))


def has_number_words(words: set[str]) -> bool:
    """Whether a word of a number, month or weekday is among `words`, in small letters."""
    if not _known_words().isdisjoint(words):
        return True
    # Numbers in one word, as in German and Italian.
    joined = " ".join(words)
    return any(part in joined for part in _COMPOUND_PARTS) and any(map(number_word, words))


def languages_of(words: set[str]) -> frozenset[str]:
    """Languages other than English that more of `words` are little words of than of any of the others."""
    hits = {language: len(words & known) for language, known in _CONTEXT.items()}
    best = max(hits.values())
    return frozenset(each for each, count in hits.items() if count == best >= MIN_CONTEXT and each != "en")


def without_accents(word: str) -> str:
    """`word` without the marks on its letters."""
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
    if not _COMPOUND.fullmatch(word):
        return _number_words().get(word)
    languages = tuple(each for each in ("de", "it", "nl", "fr") if _is_number(word, each))
    return NumberWord(word, languages, False) if languages else None


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


def _calendar_names(language: str) -> Iterator[tuple[int, str, bool]]:
    """Months and weekdays by their names, months in short too."""
    for month, name in get_month_names("wide", "format", language).items():
        yield month, str(name).lower(), False
    for name in get_day_names("wide", "format", language).values():
        yield 0, str(name).lower(), False
    for month, name in get_month_names("abbreviated", "format", language).items():
        yield month, str(name).lower().rstrip("."), True
    if language == "en":
        yield 9, "sept", True


@cache
def _known_words() -> frozenset[str]:
    ordinals = {stem + ending for stem in _GERMAN_ORDINALS for ending in ("e", "er", "en", "es", "em")}
    return frozenset((*_number_words(), *_calendar(), *_SLIPS, *ordinals))
