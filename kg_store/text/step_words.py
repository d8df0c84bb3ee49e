"""The words of a described step without how it is stored: no types before them, no marks behind them."""

from __future__ import annotations

from kg_store.terms import is_mask_word


def readable(label: str) -> str:
    """`people.person.place of birth` as `place of birth`; marks of direction and mediators dropped.

    Of a masked relation what its owner says of it; empty where that is nothing.
    """
    return " ".join(filter(None, (_typed(part, types=0) for part in label.split("|"))))


def typed(label: str) -> str:
    """`people.person.place of birth` as `person place of birth`: with the type that the relation belongs to."""
    words = [word for part in label.split("|") for word in _typed(part, types=1).split()]
    return " ".join(dict.fromkeys(words))


def description_in(hop: str) -> str | None:
    """The description behind the opaque word of a described hop (`^Rk3m2a who fell ill`); None where it has none."""
    word, _, description = hop.lstrip("^").partition(" ")
    return description if is_mask_word(word) else None


def _typed(hop: str, types: int) -> str:
    """The words of one hop, with so many of the types before it."""
    said, hop = description_in(hop), _own_words(hop)
    return " ".join(hop.lstrip("^").split(".")[-1 - types :]) if said is None else said


def _own_words(hop: str) -> str:
    return hop.partition(" (")[0]
