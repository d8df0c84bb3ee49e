"""The words of a described step, without the type before them and the marks of direction."""

from __future__ import annotations

from kg_store.terms import is_mask_word


def readable(label: str) -> str:
    """Returns `people.person.place of birth` as `place of birth`, without marks of direction and of mediators.

    For a masked relation it returns its owner's description; empty if there is none.
    """
    return " ".join(filter(None, (_typed(part, types=0) for part in label.split("|"))))


def typed(label: str) -> str:
    """Returns `people.person.place of birth` as `person place of birth`, with the type that the
    relation belongs to.
    """
    words = [word for part in label.split("|") for word in _typed(part, types=1).split()]
    return " ".join(dict.fromkeys(words))


def description_in(hop: str) -> str | None:
    """Returns the description after the opaque word of a hop (`^Rk3m2a who fell ill`), or None."""
    word, _, description = hop.lstrip("^").partition(" ")
    return description if is_mask_word(word) else None


def _typed(hop: str, types: int) -> str:
    """The words of one hop, with this number of types before it."""
    said, hop = description_in(hop), _own_words(hop)
    return " ".join(hop.lstrip("^").split(".")[-1 - types :]) if said is None else said


def _own_words(hop: str) -> str:
    return hop.partition(" (")[0]
