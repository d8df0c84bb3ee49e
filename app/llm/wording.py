"""The ways in which a question may word one step of a path."""

from __future__ import annotations

from dataclasses import dataclass

# A relation's own words read backwards mislead when they name what it leads to: `parents` backwards is a child.
WEIGHT_OF_LABEL_BACKWARDS = 0.8
# "X's doctor" for `treated by`: what a step leads to may stand for it, but its own words say more.
WEIGHT_OF_KIND_ALONE = 0.75
_EVERYTHING = frozenset({"thing", "", "number", "text", "yes or no"})


@dataclass(frozen=True, slots=True)
class HopWords:
    """Wordings of the step with the weight of each, the kind of thing that it leads to, and its direction."""

    wordings: tuple[tuple[str, float], ...]
    kinds: tuple[str, ...]
    inverse: bool


def hop_words(label: str, concept: str) -> HopWords:
    """Wordings of a step: its relation, the concept that it leads to, and both together."""
    inverse = label.split("|")[-1].startswith("^")
    kinds = kinds_in(concept)
    weight = WEIGHT_OF_LABEL_BACKWARDS if inverse else 1.0
    wordings = dict.fromkeys(_relation_words(label), weight)
    for kind in kinds:
        wordings |= {f"{kind} {words}": 1.0 for words in _relation_words(label)[:1]}
        wordings.setdefault(kind, WEIGHT_OF_KIND_ALONE)
    return HopWords(tuple(wordings.items()), kinds, inverse)


def kinds_in(concept: str) -> tuple[str, ...]:
    """The concepts that are joined by commas in one, without those that say nothing."""
    return tuple(kind for part in concept.split(",") if (kind := part.strip()) not in _EVERYTHING)


def readable(label: str) -> str:
    """`people.person.place of birth` as `place of birth`; marks of direction and mediators dropped."""
    return " ".join(part.lstrip("^").rsplit(".", 1)[-1] for part in label.split("|"))


def _relation_words(label: str) -> list[str]:
    """Through a mediator the last relation says most: `has admission|admitted to` is worded `admitted to`."""
    whole = " ".join(dict.fromkeys(readable(label).split()))
    last = readable(label.split("|")[-1])
    bare = [words.removeprefix("has ") for words in (last, whole)]
    return list(dict.fromkeys([*bare, last, whole]))
