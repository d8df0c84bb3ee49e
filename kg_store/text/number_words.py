"""Number words, months and weekdays in seven languages, judged by their context, and numerals of all scripts."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from babel.dates import get_day_names, get_month_names
from text_to_num import find_numbers

from kg_store.text.words import without_accents

LANGUAGES: Final = ("en", "de", "fr", "es", "it", "pt", "nl")
"""The languages, with English first: a word that several share is read in the first of them."""

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
MIN_CONTEXT: Final = 2  # This many of a language's function words show that a text is in it. Chosen by hand.
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

MAX_COMPOUND: Final = 120  # The most letters that are read of a number written as one word. Chosen by hand.
_UMLAUTS: Final = (("fuenf", "fünf"), ("zwoelf", "zwölf"), ("dreissig", "dreißig"), ("ieme", "ième"))


@dataclass(frozen=True, slots=True)
class NumberWord:
    """A number word.

    `spelling`: as its languages write it; `is_weak`: alone it mostly means something else ("second").
    """

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
    """Returns the number word for a word in lower case, also without accents or umlauts; else None."""
    plain = unicodedata.normalize("NFC", word)
    plain = _SLIPS.get(plain, plain)
    found = _number_words().get(plain)
    return found or _compound(plain)


def calendar_word(word: str) -> CalendarWord | None:
    """Returns the month or weekday for its name in lower case, in full or abbreviated; None for any other word."""
    return _calendar().get(unicodedata.normalize("NFC", word))


def has_number_words(words: Collection[str], *, has_figures: bool) -> bool:
    """Returns True if `words` (lower case) holds a number word, a month or a weekday.

    `has_figures`: the text holds digits; without any, foreign abbreviations of months ("out", "set", "ago") do not
    count.
    """
    months = _calendar() if has_figures else _months_alone()
    return not months.keys().isdisjoint(words) or any(map(number_word, words))


def languages_of(words: set[str]) -> frozenset[str]:
    """Returns the languages, except English, that share the most function words with `words`, at least MIN_CONTEXT."""
    hits = {language: len(words & known) for language, known in _CONTEXT.items()}
    best = max(hits.values())
    return frozenset(each for each, count in hits.items() if count == best >= MIN_CONTEXT and each != "en")


@cache
def _number_words() -> dict[str, NumberWord]:
    """Returns each number word by its spelling, also by the one without accents, with all languages that have it.

    If two languages write it differently, the first one gives its `spelling`.
    """
    found: dict[str, NumberWord] = {}
    for language in LANGUAGES:
        for word in _TABLE[language]["numbers"].split():
            for spelling in {word, without_accents(word)}:
                known = found.get(spelling, NumberWord(word, (), spelling in _WEAK))
                found[spelling] = replace(known, languages=tuple(dict.fromkeys((*known.languages, language))))
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
    found: dict[str, CalendarWord] = {}
    for language in LANGUAGES:
        named = [(month, str(name), False) for month, name in get_month_names("wide", "format", language).items()]
        named += [(0, str(name), False) for name in get_day_names("wide", "format", language).values()]
        shortened = get_month_names("abbreviated", "format", language).items()
        named += [(month, str(name).rstrip("."), True) for month, name in shortened]
        named += [(9, "sept", True)] if language == "en" else []
        for month, name, is_short in named:
            for spelling in {name.lower(), without_accents(name.lower())}:
                is_weak = is_short or spelling in _WEAK_CALENDAR
                known = found.get(spelling, CalendarWord(month, (), is_weak, is_short))
                found[spelling] = replace(known, languages=tuple(dict.fromkeys((*known.languages, language))))
    return found


@cache
def _months_alone() -> dict[str, CalendarWord]:
    """Returns the months and weekdays that count in a text without digits.

    These are full names in all languages, but short forms in English only ("set" may be September in Italian).
    """
    return {name: word for name, word in _calendar().items() if not word.is_short or "en" in word.languages}


_MULTIPLIERS: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000}
_MYRIADS: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_POWERS: Final = frozenset((*_MULTIPLIERS, *_MYRIADS, *"廿卅"))
_CHINESE_DIGITS: Final = (
    "〇零一二两兩三四五六七八九壹貳贰叁參肆伍陸陆柒捌玖弌弍弎" + "".join((*_MULTIPLIERS, *_MYRIADS)) + "廿卅"
)
_CHINESE: Final = re.compile(rf"[{_CHINESE_DIGITS}]+")
MAX_CHINESE: Final = 40
_ROMAN: Final = re.compile(r"(?=[MDCLXVI])M{0,4}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})")
_ROMAN_VALUES: Final = {"M": 1_000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_ROMAN_STEPS: Final = (
    ("M", 1000), ("CM", 900), ("D", 500), ("CD", 400), ("C", 100), ("XC", 90), ("L", 50), ("XL", 40), ("X", 10),
    ("IX", 9), ("V", 5), ("IV", 4), ("I", 1),
)  # fmt: skip
MAX_ROMAN: Final = 5000  # The first number that Roman numerals cannot write.
_FRACTION: Final = re.compile(r"(\d?)([¼-¾⅐-⅞↉])")
_NUMERALS_OF_ROME: Final = re.compile("[\u2160-\u2188]+")


_LAST_FIGURE: Final = 0x1FC00


def _all_figures() -> Iterator[str]:
    """Yields every numeral outside ASCII, and the characters that Chinese and Japanese count with."""
    yield from _CHINESE_DIGITS
    for character in map(chr, range(0x80, _LAST_FIGURE)):
        if unicodedata.category(character)[0] == "N" and unicodedata.numeric(character, None) is not None:
            yield character


_OTHER: Final = frozenset(_all_figures())
OTHER_FIGURES: Final = "".join(sorted(_OTHER))  # For a character class: every numeral that is not an ASCII digit.


def has_other_figures(text: str) -> bool:
    """Returns True if `text` holds a numeral that is not an ASCII digit."""
    return not text.isascii() and not _OTHER.isdisjoint(text)


def undo_digits(text: str) -> str:
    """Returns `text` with ASCII digits for the numerals of all scripts: ①⑨⑥⓪, ¹⁹⁶⁰, 一九六〇, ١٩٦٠, Ⅷ, 2½ as 2.5.

    A run of Chinese numerals is read by places (一九六〇) or by powers (千九百六十). Lengths change; a text without
    such numerals is returned as it is.
    """
    if not has_other_figures(text):
        return text
    text = _FRACTION.sub(lambda match: _plain_fraction(match[1], match[2]), text)
    text = _NUMERALS_OF_ROME.sub(lambda run: str(roman_value(unicodedata.normalize("NFKC", run[0])) or run[0]), text)
    text = _CHINESE.sub(lambda run: chinese_figures(run.group()), text)
    return text.translate(_FIGURES)


def roman_value(word: str) -> int:
    """Returns the value of a Roman numeral in either case, 0 if it is none. IIII is accepted, IC is not."""
    upper = word.upper()
    if not _ROMAN.fullmatch(upper):
        return 0
    values = [_ROMAN_VALUES[letter] for letter in upper]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def roman_of(number: int) -> str:
    """Returns the Roman numeral for 1 to 4999, in capitals."""
    numeral = ""
    for letters, value in _ROMAN_STEPS:
        count, number = divmod(number, value)
        numeral += letters * count
    return numeral


def chinese_figures(run: str) -> str:
    """Returns a run of Chinese numerals in digits.

    A short run with a sign for a power (千, 百, 十) is read by powers; any other run is read digit by digit.
    """
    if len(run) > MAX_CHINESE or not any(letter in _POWERS for letter in run):
        return "".join(str(_figure(letter)) for letter in run)
    total = section = figure = 0
    for letter in run:
        if letter in _MULTIPLIERS:
            section, figure = section + (figure or 1) * _MULTIPLIERS[letter], 0
        elif letter in _MYRIADS:
            total, section, figure = total + (section + figure or 1) * _MYRIADS[letter], 0, 0
        elif letter in "廿卅":
            section, figure = section + _figure(letter), 0
        else:
            figure = figure * 10 + _figure(letter)
    return str(total + section + figure)


def _figure(letter: str) -> int:
    return 2 if letter in "两兩" else int(unicodedata.numeric(letter, 0))


def _plain_fraction(before: str, fraction: str) -> str:
    """Returns a fraction sign and the digit before it in decimals: ½ after 2 as 2.5; thirds keep a slash: 2 1/3."""
    digits = f"{unicodedata.numeric(fraction):g}"
    if len(digits) <= len("0.125"):
        return before + digits.removeprefix("0") if before else digits
    slashed = unicodedata.normalize("NFKC", fraction).replace("\u2044", "/")
    return f"{before} {slashed}" if before else slashed


def _plain_figure(character: str) -> str:
    """Returns the numeral as ASCII digits: ⑨ -> 9; other characters, and fractions, are returned unchanged."""
    number = unicodedata.numeric(character, None)
    if character.isascii() or number is None or not number.is_integer():
        return character
    return str(int(number))


class _Figures(dict[int, str]):
    """A translation table, computed at first use: the plain digit of each code point."""

    def __missing__(self, code: int) -> str:
        self[code] = _plain_figure(chr(code))
        return self[code]


_FIGURES: Final = _Figures()


_WORD: Final = re.compile("[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f]+")
"""Matches a word; all seven languages are written in Latin letters."""

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
_IN_CODE: Final = re.compile(r"[^\W\d_]\d{1,3}\Z")
"""Ends before letters that are part of a code, as "jul" in E1jul4 is no month."""
_ENDS_SENTENCE: Final = re.compile(r"(?:^|[.!?:;\n…¿¡。！？])[\s\"'“”„‘’«»(\[*_#>•·–—-]*\Z")
_LAST_WORD: Final = re.compile(r"([^\W\d_]+)[ \u00a0]\Z")
_LOOK_BACK: Final = 40
_LITTLE: Final = frozenset("of the de del di do da den der dem des and und et y e i l d le il el o".split())
_ANDS: Final = frozenset("and und et y e en".split())
MAX_LITTLE: Final = 2  # The greatest number of function words between two words of one number. Chosen by hand.


@dataclass(frozen=True, slots=True)
class Token:
    """A word or digits at text[start:end] that mean a number, a month or a weekday.

    `number` and `month` tell what a word may mean; digits have neither.
    """

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
    """Returns the tokens of `text`, in order, without words that mean something else there ("second")."""
    tokens = [Token(*match.span(), match.group().lower()) for match in _DIGITS.finditer(text)]
    for match in _WORD.finditer(text):
        if _IN_CODE.search(text[max(0, match.start() - 4) : match.start()]):
            continue
        word = unicodedata.normalize("NFC", match.group().lower())
        number, month = number_word(word), calendar_word(word)
        if number is not None or month is not None:
            tokens.append(Token(*match.span(), word, number, month))
    tokens.sort(key=lambda token: token.start)
    if not any(token.is_weak for token in tokens):
        return tokens
    context = languages_of({word.lower() for word in _WORD.findall(text)})
    judged = (_judged(text, tokens, index, context) for index in range(len(tokens)))
    return [token for token in judged if token is not None]


def words_of(text: str) -> list[str]:
    """Returns the words of `text`, in lower case and composed (NFC)."""
    if text.isascii():
        return text.lower().translate(_ASCII_SPACES).split()
    return _WORD.findall(unicodedata.normalize("NFC", text.lower()))


def _judged(text: str, tokens: Sequence[Token], index: int, context: Collection[str]) -> Token | None:
    token = tokens[index]
    if not token.is_weak:
        if token.number is None or token.month is None or token.number.is_weak == token.month.is_weak:
            return token
        # Keep only the strong one of its two meanings.
        return replace(token, number=None) if token.number.is_weak else replace(token, month=None)
    near = list(_neighbours(text, tokens, index))
    number = token.number if _counts(token, near, context) else None
    month = token.month if token.month and _is_month(text, token, token.month, near, context) else None
    return replace(token, number=number, month=month) if number or month else None


def _counts(token: Token, near: Sequence[Token], context: Collection[str]) -> bool:
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
    has_capital = text[token.start].isupper() and not _ENDS_SENTENCE.search(
        text[max(0, token.start - _LOOK_BACK) : token.start]
    )
    return is_english and not month.is_short and has_capital


def _neighbours(text: str, tokens: Sequence[Token], index: int) -> Iterator[Token]:
    """Yields the token before and the token after token `index`, each only if it stands near enough (`_is_near`)."""
    for one, other in ((index - 1, index), (index, index + 1)):
        if one >= 0 and other < len(tokens):
            neighbour = tokens[one if other == index else other]
            if _is_near(text[tokens[one].end : tokens[other].start], _ANDS if neighbour.is_weak else _LITTLE):
                yield neighbour


def _is_near(between: str, little: Collection[str]) -> bool:
    """Returns True if two words are close: in `between` are at most MAX_LITTLE words, all of them in `little`.

    Punctuation separates them, except a point, which may belong to an ordinal ("8. September").
    """
    if len(between) > _LOOK_BACK or set(between) & set(".!?;:()\n"):
        return set(between) <= set(". ")
    words = words_of(between)
    return len(words) <= MAX_LITTLE and all(word in little for word in words)
