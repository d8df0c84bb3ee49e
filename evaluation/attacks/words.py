"""Word lists and text tools for attacks and their judges, independent of the service.

They are the lists of `words.toml`, templates of what people type, numbers and dates in the words of four languages,
and functions that read a text as a person would.
"""

from __future__ import annotations

import base64
import html
import json
import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote

from confusable_homoglyphs import confusables
from lemminflect import getAllLemmas
from wordfreq import zipf_frequency

MIN_ZIPF = 4.0
TOLD = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_TOKEN = re.compile(r"[^\W_]+")
_ENCLOSED = {
    start + at: ord("a") + at
    for start in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6, 0x24B6, 0x24D0, 0x249C)
    for at in range(26)
}
# Letters that Unicode does not decompose into a base letter and a mark.
_BARE = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"})
_INVISIBLE = frozenset(("Cf", "Mn", "Me", "Cc"))
_LATIN = frozenset("abcdefghijklmnopqrstuvwxyz")


@lru_cache(maxsize=200_000)
def plain(text: str) -> str:
    """Returns `text` in small letters without accents, marks and invisible signs, look-alikes turned into Latin."""
    compatible = unicodedata.normalize("NFKD", text.translate(_ENCLOSED)).casefold().translate(_BARE)
    kept = (sign for sign in compatible if sign.isspace() or unicodedata.category(sign) not in _INVISIBLE)
    return unicodedata.normalize("NFKD", "".join(map(_latin, kept)))


@lru_cache(maxsize=10_000)
def _latin(sign: str) -> str:
    """Returns the Latin letter that `sign` looks like, or `sign` itself."""
    if sign < "\u0080" or not sign.isalpha():
        return sign
    found = confusables.is_confusable(sign, greedy=True) or []
    alike = (str(alike["c"]).casefold() for each in found for alike in each["homoglyphs"])
    return next((letter for letter in alike if letter in _LATIN), sign)


def bare(text: str) -> str:
    """Returns `text` without accents; capitals are kept."""
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))


def undone(text: str) -> str:
    """Returns `text` with the escapes of JSON, HTML and URLs undone, in up to four passes."""
    for _ in range(4):
        once = unquote(html.unescape(_ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), text)))
        if once == text:
            return text
        text = once
    return text


def tokens(text: str) -> list[str]:
    """Returns the words and numbers of `text` in plain form (`plain`)."""
    return _TOKEN.findall(plain(text))


@cache
def _listed(table: str, key: str) -> Sequence[str]:
    """Returns the words of a list of `words.toml`, with its underscores turned into spaces."""
    return [word.replace("_", " ") for word in TOLD[table].get(key, "").split()]


def surnames() -> list[str]:
    """Returns the surnames of all languages in small letters, each once."""
    return list(dict.fromkeys(name for language in TOLD["surnames"] for name in surnames_of(language)))


def surnames_of(language: str) -> Sequence[str]:
    return _listed("surnames", language)


def given_names_of(language: str) -> Sequence[str]:
    return _listed("given", language)


def capital(name: str) -> str:
    """Returns `name` with the first letter of every word capitalised and the others unchanged."""
    return " ".join(word[:1].upper() + word[1:] for word in name.split(" "))


HARMLESS = frozenset(_listed("words", "harmless"))
"""Words in names that identify nobody: particles, titles, and endings and articles attached to names."""

_FUNCTION_WORDS = frozenset(_listed("words", "function"))


@lru_cache(maxsize=100_000)
def is_everyday(word: str, language: str = "en") -> bool:
    """Returns True for a common word of English or `language` that isn't mainly a name. `word` is in small letters."""
    return word not in _plain_list("names_first", "en") and (
        word in _plain_list("everyday", language) or is_common_english(word)
    )


def is_function_word(word: str) -> bool:
    """Returns True for words that any sentence may hold at any place, also with a capital, such as "can" and "he"."""
    return word in _FUNCTION_WORDS


@lru_cache(maxsize=100_000)
def is_in_dictionary(word: str) -> bool:
    """Returns True for an English noun, verb, adjective or adverb, however rare, that is not mainly a name.

    `word` is in small letters.
    """
    return bool(getAllLemmas(word)) and word not in _plain_list("names_first", "en")


@lru_cache(maxsize=100_000)
def is_common_english(word: str) -> bool:
    """Returns True for function words, and for words of lemminflect's dictionary that are frequent by wordfreq.

    `word` is in small letters.
    """
    return word in _FUNCTION_WORDS or (bool(getAllLemmas(word)) and zipf_frequency(word, "en") >= MIN_ZIPF)


@cache
def _plain_list(table: str, language: str) -> frozenset[str]:
    return frozenset(map(plain, _listed(table, language)))


@cache
def sentences() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Returns the sentences of `sentences.toml` by language and by place: open, marked, start or value.

    `{}` in a sentence stands for the name.
    """
    return tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))


Write = Callable[[str], str]


def letters(latin: str, other: str) -> Write:
    """Returns a function that replaces each letter of `latin` with the letter of `other` at the same position."""
    table = str.maketrans(latin, other)
    return lambda text: text.translate(table)


def alphabet(small: int, capital: int | None = None) -> Write:
    """Returns a function that writes a to z with the 26 letters from code point `small` on, A to Z from `capital`.

    Without `capital`, capitals are written with the letters of `small` too.
    """
    table = {ord("a") + at: small + at for at in range(26)}
    table |= {ord("A") + at: (small if capital is None else capital) + at for at in range(26)}
    return lambda text: text.translate(table)


def _in_longest_word(text: str, change: Write, least: int = 0) -> str:
    longest = max(text.split(" "), key=len)
    return text.replace(longest, change(longest), 1) if len(longest) >= least else text


def _in_alphabet(text: str, small: int, capital: int | None = None) -> str:
    return alphabet(small, capital)(plain(text) if text.islower() else bare(text))


CHANGES: Mapping[str, Write] = {
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "capitalize": str.capitalize,
    "bare": bare,
    "plain": plain,
    "half": lambda text: text[: len(text) // 2],
    "backwards": lambda text: text[::-1],
    "words backwards": lambda text: " ".join(reversed(text.split(" "))),
    "letter dropped": lambda text: _in_longest_word(text, lambda word: word[:2] + word[3:], 6),
    "percent": quote,
    "plus": quote_plus,
    "JSON": lambda text: json.dumps({"name": text}),
    "JSON string": json.dumps,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "entity": lambda text: f"&#{ord(text[0])};{text[1:]}",
    "escape": lambda text: f"\\u{ord(text[0]):04x}{text[1:]}",
    "full width": lambda text: text.translate({code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}),
    "bold": alphabet(0x1D41A, 0x1D400),
    "alike": letters("aceopxyi", "асеорхуі"),
    "small capitals": letters("abcdefghijklmnoprtuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ"),
    "tags": lambda text: "".join(chr(0xE0000 + ord(sign)) for sign in text if sign.isascii()),
    "figures": letters("aeios", "43105"),
}
_WITH_A_SIGN: Mapping[str, Callable[[str, str], str]] = {
    "by": lambda text, sign: text.replace(" ", sign),
    "apart": lambda text, sign: sign.join(text),
    "over": lambda text, sign: "".join(each + sign if each.isalnum() else each for each in text),
    "after": lambda text, sign: "".join(each + sign if each != " " else each for each in text),
    "every": lambda text, sign: " ".join(sign + word for word in text.split(" ")),
    "inside": lambda text, sign: _in_longest_word(text, lambda w: w[: len(w) // 2] + sign + w[len(w) // 2 :]),
    "each": lambda text, form: "".join(form % ord(sign) for sign in text),
    "bytes": lambda text, form: "".join(form % byte for byte in text.encode()),
    "letters": lambda text, both: letters(*both.split(">"))(text),
    "alphabet": lambda text, codes: _in_alphabet(text, *(int(code, 16) for code in codes.split(","))),
    "from": lambda text, at: text[int(at) :],
    "to": lambda text, at: text[: int(at)],
}


class Piece(str):
    """A text that a template can change by a format spec, as in `{name:upper|apart=-}`.

    The spec holds names of `CHANGES`, or of `_WITH_A_SIGN` with "=" and an argument; several are joined by `|`.
    """

    def __format__(self, changes: str) -> str:
        text = str(self)
        for change in changes.split("|") if changes else ():
            name, given, sign = change.partition("=")
            text = _WITH_A_SIGN[name](text, sign) if given else CHANGES[name](text)
        return text


LANGUAGES = ("en", "de", "es", "fr")
MAX_ROMAN = 3999
_ROMAN = dict(
    zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), "M CM D CD C XC L XL X IX V IV I".split(), strict=True)
)
_NUMBERS = TOLD["numbers"]


@cache
def _words(language: str, kind: str) -> Sequence[str]:
    return [word.replace("_", " ") for word in _NUMBERS[language][kind].split()]


def in_words(number: int, language: str) -> str:
    """Returns a number below a million in words, after simplified rules of grammar."""
    parts: list[str] = []
    thousands, rest = divmod(number, 1000)
    if thousands:
        parts += [*([in_words(thousands, language)] if thousands > 1 else []), _NUMBERS[language]["thousand"]]
    hundreds, rest = divmod(rest, 100)
    if hundreds:
        parts += [*([_words(language, "units")[hundreds]] if hundreds > 1 else []), _NUMBERS[language]["hundred"]]
    if rest or not parts:
        parts.append(_below_hundred(rest, language))
    return ("" if language == "de" else " ").join(parts)


def _below_hundred(number: int, language: str) -> str:
    units, (tens, unit) = _words(language, "units"), divmod(number, 10)
    if number < len(units):
        return units[number]
    ten = _words(language, "tens")[tens - 2]
    if not unit:
        return ten
    if language == "de":
        return f"{units[unit].removesuffix('s') if unit == 1 else units[unit]}und{ten}"
    return f"{ten}{' y ' if language == 'es' else '-'}{units[unit]}"


def year_in_words(year: int, language: str) -> str:
    """Returns a year as people say it: "nineteen sixty", "neunzehnhundertsechzig"."""
    century, rest = divmod(year, 100)
    if language not in ("en", "de") or not 11 <= century <= 19:
        return in_words(year, language)
    if language == "de":
        return f"{in_words(century, 'de')}hundert{in_words(rest, 'de') if rest else ''}"
    return f"{in_words(century, 'en')} {in_words(rest, 'en') if rest else 'hundred'}"


def date_in_words(day: date, language: str) -> str:
    spoken, written = _words(language, "days")[day.day - 1], month_in(language, day.month)
    text: str = _NUMBERS[language]["date"]
    return text.format(day=spoken, month=written, year=year_in_words(day.year, language))


def month_in(language: str, number: int) -> str:
    return _words(language, "months")[number - 1]


def roman(number: int) -> str:
    """Returns a number from 1 to 3999 as a Roman numeral in capitals."""
    text = ""
    for value, sign in _ROMAN.items():
        count, number = divmod(number, value)
        text += sign * count
    return text


DIGITS: Mapping[str, Write] = {
    **{kind: letters("0123456789", ten) for kind, ten in TOLD["digits"].items()},
    "keycaps": lambda text: "".join(f"{sign}\ufe0f\u20e3" if sign.isdigit() else sign for sign in text),
}
