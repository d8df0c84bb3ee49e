"""Words facts of a public graph, whose relations may be any label: "used for", "has property", "food to avoid"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from app.llm.tasks import Evidence
from app.reader.sentences.phrases import joined
from kg_store.text.inflection import is_participle, is_past, is_third_person, verbs_of
from kg_store.text.labels import PREPOSITIONS

MAX_TOGETHER: Final = 3
"""The greatest number of ends in one sentence. Chosen by hand; not fitted."""
PUBLICLY_KNOWN: Final = "publicly known: {}"
_DENIED: Final = "not"


def by_start_and_relation(facts: Iterable[Evidence]) -> list[list[Evidence]]:
    """Returns the facts in groups of at most MAX_TOGETHER that differ only in their ends."""
    found: dict[tuple[str, str], list[Evidence]] = {}
    for fact in facts:
        found.setdefault((fact.start, fact.path[0]), []).append(fact)
    return [group[:MAX_TOGETHER] for group in found.values()]


def public_sentence(groups: Iterable[Sequence[Evidence]]) -> str:
    """Returns one sentence, without full stop, that states the facts of all groups and says that they are public."""
    said = [public_clause(group[0].start, group[0].path[0], joined([fact.end for fact in group])) for group in groups]
    return PUBLICLY_KNOWN.format("; ".join(said))


def public_clause(start: str, label: str, ends: str) -> str:
    """Returns a sentence without capital and full stop: "lemon has property sour", "racket is used for tennis".

    A label that begins with a verb stays; one that is a noun takes its subject as an owner; any other gets "is".
    """
    words = label.split()
    denied = words[0] == _DENIED and len(words) > 1
    verb, rest = (words[1], words[2:]) if denied else (words[0], words[1:])
    if is_third_person(verb) and not is_past(verb):
        return f"{start} {_finite(verb, rest, denied=denied)} {ends}"
    if denied or is_participle(verb) or {words[0], words[-1]} & PREPOSITIONS:
        return f"{start} is {label} {ends}"
    return f"{start}'s {label} is {ends}"


def _finite(verb: str, rest: Sequence[str], *, denied: bool) -> str:
    if not denied:
        said = [verb]
    elif verb == "is":
        said = [verb, _DENIED]
    else:
        said = ["does", _DENIED, min(verbs_of(verb), key=len)]
    return " ".join([*said, *rest])
