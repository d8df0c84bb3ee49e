"""English plurals by their form: a rule of thumb, enough to match `patients` with `patient`."""

from __future__ import annotations

from typing import Final

IRREGULAR: Final = {"people": "person", "men": "man", "women": "woman", "children": "child"}


def singular(word: str) -> str:
    """An English noun without its plural ending."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word
