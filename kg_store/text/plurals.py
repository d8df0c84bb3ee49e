"""English nouns by rules of thumb: singular, plural and article, also of phrases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

IRREGULAR: Final = {"people": "person", "men": "man", "women": "woman", "children": "child"}

_OF_IE: Final = frozenset(
    "aunties birdies bookies brownies calories cookies genies goalies hippies hoodies movies newbies pixies prairies "
    "rookies selfies smoothies talkies zombies".split()
)
_OF_ONE_FORM: Final = frozenset("series species news staff personnel equipment information aircraft".split())
_PLURALS: Final = {one: many for many, one in IRREGULAR.items()}
_NO_MEN: Final = frozenset("human german roman norman ottoman shaman talisman caiman".split())
_BEHIND_HEAD: Final = frozenset(
    "in at on to from for with by into about since under against near after before of".split()
)


def singular(word: str) -> str:
    """Returns an English noun without its plural ending: cities -> city."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word in _OF_ONE_FORM:
        return word
    if word.endswith("ies") and len(word) > 4 and word not in _OF_IE:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def regular_plural(word: str) -> str:
    """Returns an English noun with its regular plural ending: city -> cities."""
    if word.endswith("sis"):
        return word[:-2] + "es"
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return word[:-1] + "ies"
    return word + "s"


def plural(noun: str) -> str:
    """Returns the plural of a noun phrase, which inflects its head: `head of department` -> `heads of department`."""
    words = noun.split()
    at = head_of(words)
    words[at] = _plural_word(words[at])
    return " ".join(words)


def singular_phrase(words: Sequence[str]) -> str:
    """Returns the singular of a noun phrase."""
    at = head_of(words)
    return " ".join([*words[:at], singular(words[at]), *words[at + 1 :]])


def head_of(words: Sequence[str]) -> int:
    """Returns the position of a noun phrase's head: the last word before its first preposition."""
    before = next((at for at, word in enumerate(words) if at and word in _BEHIND_HEAD), len(words))
    return before - 1


def with_article(noun: str) -> str:
    """`ward` -> `a ward`."""
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"


def _plural_word(word: str) -> str:
    if word in _OF_ONE_FORM:
        return word
    if word in _PLURALS:
        return _PLURALS[word]
    if word.endswith("man") and len(word) > 3 and word not in _NO_MEN:
        return word[:-3] + "men"
    return regular_plural(word)
