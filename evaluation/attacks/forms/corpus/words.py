"""Words as a hostile tester writes them down, and text as a person reads it: for forms and their judge alone."""

from __future__ import annotations

import html
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import unquote

from confusable_homoglyphs import confusables
from lemminflect import getAllLemmas
from wordfreq import zipf_frequency

MIN_ZIPF = 4.0
_FOLDER = Path(__file__).parent
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_TOKEN = re.compile(r"[^\W_]+")
_ENCLOSED = {
    start + at: ord("a") + at
    for start in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6, 0x24B6, 0x24D0, 0x249C)
    for at in range(26)
}
# Letters without a decomposition.
_BARE = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"})
_INVISIBLE = frozenset(("Cf", "Mn", "Me", "Cc"))
_LATIN = frozenset("abcdefghijklmnopqrstuvwxyz")


@lru_cache(maxsize=200_000)
def plain(text: str) -> str:
    """`text` in small letters without accents, marks and what is invisible; Latin where a letter looks Latin."""
    compatible = unicodedata.normalize("NFKD", text.translate(_ENCLOSED)).casefold().translate(_BARE)
    kept = (sign for sign in compatible if sign.isspace() or unicodedata.category(sign) not in _INVISIBLE)
    return unicodedata.normalize("NFKD", "".join(map(_latin, kept)))


@lru_cache(maxsize=10_000)
def _latin(sign: str) -> str:
    """The Latin letter that `sign` is confused with; itself where there is none."""
    if sign < "\u0080" or not sign.isalpha():
        return sign
    found = confusables.is_confusable(sign, greedy=True) or []
    alike = (str(alike["c"]).casefold() for each in found for alike in each["homoglyphs"])
    return next((letter for letter in alike if letter in _LATIN), sign)


def bare(text: str) -> str:
    """Without accents, capitals kept."""
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))


def undone(text: str) -> str:
    """`text` with the escapes of JSON, HTML and addresses undone, until nothing is left to undo."""
    for _ in range(4):
        once = unquote(html.unescape(_ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), text)))
        if once == text:
            return text
        text = once
    return text


def tokens(text: str) -> list[str]:
    """The words and numbers of `text`, plain."""
    return _TOKEN.findall(plain(text))


@cache
def _lists() -> Mapping[str, Mapping[str, Sequence[str]]]:
    tables = tomllib.loads((_FOLDER / "people.toml").read_text("utf-8"))
    return {
        table: {key: [word.replace("_", " ") for word in text.split()] for key, text in lists.items()}
        for table, lists in tables.items()
    }


def surnames() -> list[str]:
    """All of them, in small letters, each once."""
    return list(dict.fromkeys(name for names in _lists()["surnames"].values() for name in names))


def surnames_of(language: str) -> Sequence[str]:
    return _lists()["surnames"][language]


def given_names_of(language: str) -> Sequence[str]:
    return _lists()["given"][language]


def capital(name: str) -> str:
    """Every word with a capital, and its other letters as they are."""
    return " ".join(word[:1].upper() + word[1:] for word in name.split(" "))


HARMLESS = frozenset(_lists()["words"]["harmless"])
"""These stand in names and say nothing: particles, titles, endings and articles that hang on names."""

_FUNCTION_WORDS = frozenset(_lists()["words"]["function"])


@lru_cache(maxsize=100_000)
def is_everyday(word: str, language: str = "en") -> bool:
    """A common word of English, or of `language`; never one that is read as a name first. `word` in small letters."""
    return not _is_listed(word, "names_first", "en") and (
        _is_listed(word, "everyday", language) or is_common_english(word)
    )


def is_function_word(word: str) -> bool:
    """A word that any sentence may hold, in any place and with a capital: "can", "he"."""
    return word in _FUNCTION_WORDS


@lru_cache(maxsize=100_000)
def is_in_dictionary(word: str) -> bool:
    """A common noun, verb, adjective or adverb of English, however rare; no name. `word` in small letters."""
    return bool(getAllLemmas(word)) and not _is_listed(word, "names_first", "en")


@lru_cache(maxsize=100_000)
def is_common_english(word: str) -> bool:
    """By lemminflect's dictionary and wordfreq's frequencies, and nothing else; `word` in small letters."""
    return word in _FUNCTION_WORDS or (bool(getAllLemmas(word)) and zipf_frequency(word, "en") >= MIN_ZIPF)


def _is_listed(word: str, table: str, language: str) -> bool:
    return word in _plain_list(table, language)


@cache
def _plain_list(table: str, language: str) -> frozenset[str]:
    return frozenset(map(plain, _lists()[table].get(language, ())))


@cache
def sentences() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """By language and place: open, marked, at the start, or of a value; {} is where it stands (`sentences.toml`)."""
    return tomllib.loads((_FOLDER / "sentences.toml").read_text("utf-8"))
