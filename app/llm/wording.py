"""The ways in which a question may word one step of a path."""

from __future__ import annotations

from dataclasses import dataclass

# A relation's own words read backwards mislead when they name what it leads to: `parents` backwards is a child.
WEIGHT_OF_LABEL_BACKWARDS = 0.8
WEIGHT_OF_PLAIN_PERSON = 0.75
_EVERYBODY = frozenset({"person", "thing", ""})


@dataclass(frozen=True, slots=True)
class HopWords:
    """Wordings with the weight of each, and whether the step is walked backwards."""

    wordings: tuple[tuple[str, float], ...]
    inverse: bool


def hop_words(label: str, concept: str) -> HopWords:
    """Wordings of a step: its relation, the concept that it leads to, and both together."""
    inverse = label.split("|")[-1].startswith("^")
    words = " ".join(dict.fromkeys(readable(label).split()))
    kind = concept.split(",")[0].strip()
    if inverse:
        wordings = [(words, WEIGHT_OF_LABEL_BACKWARDS)]
        wordings += [(kind, 1.0), (f"{kind} {words}", 1.0)] if kind and kind != "thing" else []
    else:
        wordings = [(words, 1.0)]
        wordings += [(f"{words} {kind}", 1.0)] if kind and kind != "thing" else []
        wordings += [(kind, WEIGHT_OF_PLAIN_PERSON if kind in _EVERYBODY else 1.0)] if kind != "thing" else []
    return HopWords(tuple((text, weight) for text, weight in wordings if text), inverse)


def readable(label: str) -> str:
    """`people.person.place of birth` as `place of birth`; marks of direction and mediators dropped."""
    return " ".join(part.lstrip("^").rsplit(".", 1)[-1] for part in label.split("|"))
