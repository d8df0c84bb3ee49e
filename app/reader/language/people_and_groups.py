"""Recognises kinds that are people, and kinds of groups that act like people: firms, clinics and the like."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from kg_store.text.inflection import singular

MIN_OF_PEOPLE: Final = 2
"""A kind with so many relations that only people have counts as people, whatever its name. Chosen by hand; not fitted.
"""

_PEOPLE: Final = frozenset(
    "human person individual man woman people user chef speaker volunteer buyer contact staff artist musician owner "
    "tenant landlord resident student pupil patient client guest member applicant participant assistant consultant "
    "accountant recipient nurse author captain pilot judge lawyer coach colleague relative neighbour actor singer "
    "director writer president king queen player scientist politician parent child mother father doctor".split()
)
_SOMEBODY: Final = frozenset(
    "boss head chief lead star cast crew mentor guide host aunt uncle cousin son daughter husband wife partner friend "
    "kid heir descendant offspring brother sister dad mom mum".split()
)
_AGENTS: Final = ("er", "or", "ist", "ian", "ee")
"""Endings of nouns for somebody who does something: teacher, author, artist."""

_HAD_BY_PEOPLE: Final = frozenset(
    "birth gender sex spouse married child parent sibling lives email phone salary hired nationality occupation "
    "profession citizenship first last".split()
)
_HAD_BY_PEOPLE_ALONE: Final = frozenset(
    "birth gender sex spouse married nationality citizenship salary hired surname sibling".split()
)
_GROUPS: Final = frozenset(
    "agency association authority bakery band bank brewery carrier charity church circle clinic club college "
    "commission committee company cooperative corporation council department distributor division employer faculty "
    "firm foundation fund garage gallery government group hospital hotel institute institution insurer insurance "
    "laboratory lab label landlord manufacturer ministry museum operator orchestra organisation organization party "
    "practice producer provider publisher restaurant school shop society sponsor store studio supplier team theatre "
    "trust union university vendor workshop customer client partner chain contractor".split()
)


def names_people(kind: str, kind_type: str, has: Collection[str]) -> bool:
    """True if `kind` names people. `kind_type`: the type that the sentence model gives it; `has`: words of its
    relations.
    """
    last = _last(kind)
    if last in _PEOPLE or (kind_type in ("person", "group") and len(_HAD_BY_PEOPLE_ALONE & {*has}) >= MIN_OF_PEOPLE):
        return True
    is_agent = last.endswith(_AGENTS) and last not in _GROUPS
    return kind_type == "person" and (is_agent or not _HAD_BY_PEOPLE.isdisjoint(has))


def names_somebody(word: str) -> bool:
    """True of a noun for a person by role or kinship: actor, boss, child."""
    noun = singular(word.lower())
    return noun in _PEOPLE or noun in _SOMEBODY or noun in _HAD_BY_PEOPLE or noun.endswith(_AGENTS)


def names_a_group(kind: str, kind_type: str) -> bool:
    """True if the last noun of `kind` names a group: firm, clinic; or if `kind_type` is group and it ends like
    "carrier".
    """
    last = _last(kind)
    return last in _GROUPS or (kind_type == "group" and last.endswith(("er", "or")))


def _last(kind: str) -> str:
    return singular(kind.lower().split()[-1])
