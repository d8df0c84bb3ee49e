"""Finds the field that a noun for a person comes from: dermatologists -> dermatology, surgeons -> surgery."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_ENDINGS: Final = (
    ("ologist", ("ology",)),
    ("iatrist", ("iatry",)),
    ("iatrician", ("iatrics", "iatry")),
    ("therapist", ("therapy",)),
    ("surgeon", ("surgery",)),
    ("ographer", ("ography",)),
    ("onomer", ("onomy",)),
    ("onomist", ("onomy", "onomics")),
    ("sopher", ("sophy",)),
    ("metrist", ("metry",)),
    ("ician", ("ics", "ic")),
    ("icist", ("ics",)),
    ("dontist", ("dontics",)),
    ("dentist", ("dentistry",)),
    ("paedist", ("paedics",)),
    ("pedist", ("pedics",)),
    ("chemist", ("chemistry",)),
    ("macist", ("macy",)),
    ("thetist", ("thetics", "thesia")),
    ("historian", ("history",)),
    ("engineer", ("engineering",)),
    ("nurse", ("nursing",)),
    ("midwife", ("midwifery",)),
    ("lawyer", ("law",)),
    ("architect", ("architecture",)),
    ("accountant", ("accounting", "accountancy")),
    ("journalist", ("journalism",)),
    ("plumber", ("plumbing",)),
    ("carpenter", ("carpentry",)),
    ("buddhist", ("buddhism",)),
    ("hindu", ("hinduism",)),
    ("christian", ("christianity",)),
    ("muslim", ("islam",)),
    ("jew", ("judaism",)),
    ("sikh", ("sikhism",)),
    ("protestant", ("protestantism",)),
)
"""Endings of such nouns in the singular, each with the endings of the fields."""

_OTHER: Final = frozenset(("physician", "magician", "tactician", "apologist"))
"""Nouns with these endings that come from no such field: a physician is not from physics."""

_PLURALS: Final = {"midwives": "midwife"}
_SPELLINGS: Final = (
    ("ae", "e"),
    ("oe", "e"),
    ("paed", "ped"),
    ("gynaec", "gynec"),
    ("haemat", "hemat"),
    ("anaesth", "anesth"),
)
_AGENT: Final = re.compile(rf"(?:{'|'.join(ending for ending, _ in _ENDINGS)})s?\Z|midwives\Z")


def is_plural(noun: str) -> bool:
    """True of the plural of a noun that `fields_of` may know."""
    return noun in _PLURALS or noun.endswith("s")


def fields_of(noun: str) -> Iterator[str]:
    """Yields the fields that `noun` (lower case, singular or plural) may come from, the likeliest first; for most
    nouns none.

    British and American spellings are given. The caller has to check whether a field exists.
    """
    if _AGENT.search(noun) is None:
        return
    single = _PLURALS.get(noun) or noun.removesuffix("s")
    if single in _OTHER:
        return
    for ending, fields in _ENDINGS:
        if single.endswith(ending):
            stem = single.removesuffix(ending)
            yield from dict.fromkeys(each for field in fields for each in _spelt(stem + field))


def _spelt(field: str) -> Iterator[str]:
    yield field
    for british, american in _SPELLINGS:
        if british in field or american in field:
            yield field.replace(british, american)
            yield field.replace(american, british)
