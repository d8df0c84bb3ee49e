"""The noun by which a question names the kind that it asks for: `"which doctors"` -> doctor."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from app.reader.meaning.question.question_tokens import AskedQuestion
from app.reader.meaning.schema_graph import SchemaGraph
from kg_store.text.inflection import singular

_IS: Final = frozenset({"is", "are", "was", "were"})
_DETERMINERS: Final = frozenset({"which", "what", "many"})


@dataclass(frozen=True, slots=True)
class AskedNoun:
    """A noun that names `kinds` of the graph, and the word `after` it.

    `is_direct`: the noun stands directly behind the question word, as in "which doctors".
    """

    kinds: frozenset[str]
    is_direct: bool
    after: str

    def leaves_room_for(self, label: Collection[str]) -> bool:
        """True if the question may ask for a value of a relation with this label: "the number of the doctor" asks for
        a number.
        """
        return not self.is_direct or singular(self.after) in label


def noun_of(asked: AskedQuestion, graph: SchemaGraph) -> AskedNoun | None:
    """Returns None if no noun says what is asked for, or if a name, a value or a word like "people" comes first."""
    for at in range(_begin(asked), len(asked.words)) if _begin(asked) >= 0 else ():
        if asked.roles[at] in ("thing", "value", "person"):
            return None
        if asked.roles[at] == "content":
            return _noun_at(asked, graph, at)
    return None


def asks_for_people(asked: AskedQuestion) -> bool:
    """True if the question asks for people in general: "how many people", "which persons"."""
    for at in range(_begin(asked), len(asked.words)) if asked.asked >= 0 else ():
        if asked.roles[at] not in ("grammar", "superlative"):
            return asked.roles[at] == "person"
    return False


def _begin(asked: AskedQuestion) -> int:
    """The position of the first word that can say what is asked for; in "who is the doctor" it is "doctor". -1 if none
    can.
    """
    words = asked.words
    if words[:1] == ("who",) and len(words) > 3 and words[1] in _IS and words[2] == "the":
        return 3
    return asked.asked


def _noun_at(asked: AskedQuestion, graph: SchemaGraph, at: int) -> AskedNoun | None:
    words, roles = asked.words, asked.roles
    found, end = frozenset[str](), at
    for length in (2, 1):
        run = roles[at : at + length]
        if not found and len(run) == length and set(run) == {"content"}:
            found, end = graph.kinds_said(words[at : at + length]), at + length
    if found and roles[end : end + 1] == ("content",) and (further := graph.kinds_said(words[end : end + 1])):
        found, end = further, end + 1
    after = words[end] if end < len(words) else ""
    if not found or after in ("'s", "s"):
        return None
    before = [word for i, word in enumerate(words[:at]) if roles[i] != "superlative"]
    return AskedNoun(found, bool(before) and before[-1] in _DETERMINERS, after)
