"""English plurals by their form: a rule of thumb, enough to match `patients` with `patient`."""

from __future__ import annotations

from typing import Final

IRREGULAR: Final = {"people": "person", "men": "man", "women": "woman", "children": "child"}

_OF_IE: Final = frozenset(
    "aunties birdies bookies brownies calories cookies genies goalies hippies hoodies movies newbies pixies prairies "
    "rookies selfies smoothies talkies zombies".split()
)
_UNCHANGED: Final = frozenset({"series", "species"})


def singular(word: str) -> str:
    """An English noun without its plural ending."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word in _UNCHANGED:
        return word
    if word.endswith("ies") and len(word) > 4 and word not in _OF_IE:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def regular_plural(word: str) -> str:
    """An English noun with its plural ending."""
    if word.endswith("sis"):
        return word[:-2] + "es"
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return word[:-1] + "ies"
    return word + "s"
