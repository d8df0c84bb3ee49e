"""Wordings of relations, and sentences built from them in which things stand as marks until names are put in.

Common relations have wordings written by hand; all others are worded by grammar.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from app.reader.sentences.phrases import phrase_of

Choice = Literal["not_found", "hedges", "denials", "fillers", "mentions", "fragments"]
Style = Literal["plain", "pseudonyms", "typed"]

_OF_FORMS, _OF_UNSEEN = 0.3, 0.6
_SHARED_STEM: Final = 5
_SMALL: Final = frozenset("of the a an in on by for to with has is".split())
_FIRST_PRONOUN, _NEXT_PRONOUN = 0.08, 0.5
_PRONOUNS: Final = {"he": ("him", "his"), "she": ("her", "her"), "they": ("them", "their"), "it": ("it", "its")}
_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_KINDS: Final = ("Person", "Film", "Place", "Genre", "Book", "Team", "Thing", "Work", "Group", "Value", *"PFLG")
_NAMED, _SMALL_TEXT, _IN_PART, _WITH_KIND, _SMALL_TAIL = 0.1, 0.04, 0.08, 0.1, 0.4
_MARK = re.compile(r"\x01([^\x02]*)\x02")
_ASIDE = re.compile(r"[,)] (?:is|came up|moved away)\b")
_BE = re.compile(r"(?<=[\x02 ])(?:is|was|are|were|does|did|has been)\b")
_FIRST_VERB = re.compile(r"^\x01[^\x02]*\x02 (?=[a-z])(?!and\b|as\b|or\b)")
_FIRST_BE = re.compile(r"^(\S+|\{\w\}) (is|was|has)\b")
_BRACKETS = re.compile(r"\s*\([^)]*\)$|:.*$")


class Wordings(NamedTuple):
    """Wordings to train on (`said`), and others to measure on (`held`)."""

    said: tuple[str, ...]
    held: tuple[str, ...]

    def drawn(self, draw: random.Random, *, is_unseen: bool) -> str:
        return draw.choice(self.held if is_unseen else self.said)


class RelationWordings(NamedTuple):
    """The wordings of one relation.

    `forms`: by grammar; `own`: written by hand. `alike`: relations that may be worded in the same way. `people`: which
    of its ends are persons. `small`: its tail may be written in small letters.
    """

    forms: Wordings
    own: Wordings | None = None
    alike: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    small: bool = False

    def drawn(self, draw: random.Random, *, is_unseen: bool) -> str:
        wordings = self.forms if self.own is None or draw.random() < _OF_FORMS else self.own
        return wordings.drawn(draw, is_unseen=is_unseen and draw.random() < _OF_UNSEEN)


@cache
def carriers(choice: Choice) -> Wordings:
    """Returns sentences of the kind `choice`, with slots into which a name or a clause is put.

    Those of the kind "not_found" hold a name (`{}`) and state nothing, as in LLM-KAT's control (section 4.1).
    """
    return _wordings(_read()[choice])


@cache
def wordings_of(relation: str) -> RelationWordings:
    """Returns the wordings of `relation`, which is in plain words as `relation_words` gives them."""
    phrase = phrase_of(relation)
    form, words = (phrase.form, phrase.words) if phrase else ("other", relation)
    shapes = _read()["forms"][form]
    forms = _wordings({part: [text.replace("{r}", words) for text in shapes[part]] for part in ("said", "held")})
    for group in _read()["relations"]:
        if relation in group["names"]:
            alike, people = frozenset(group.get("alike") or group["names"]), frozenset(group.get("people", ()))
            return RelationWordings(forms, _wordings(group), alike, people, "small" in group)
    return RelationWordings(forms)


def may_mean(one: str, other: str, likeness: float) -> bool:
    """Returns True if a statement of one relation may be read as the other: no question should tell them apart.

    `likeness` is the cosine of their words.
    """
    if one == other:
        return True
    first, second = wordings_of(one), wordings_of(other)
    if first.alike and second.alike:
        return bool(first.alike & second.alike)
    stems = [{word[:_SHARED_STEM] for word in each.split() if word not in _SMALL} for each in (one, other)]
    return likeness > 0.5 or not stems[0].isdisjoint(stems[1])


def _wordings(told: Mapping[str, Sequence[str]]) -> Wordings:
    return Wordings(tuple(told["said"]), tuple(told["held"]))


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("wordings.toml").read_text("utf-8"))


class Statement(NamedTuple):
    """Facts of one relation that share an end: several heads or several tails, not both."""

    heads: tuple[str, ...]
    relation: str
    tails: tuple[str, ...]

    @property
    def things(self) -> tuple[str, ...]:
        return (*self.heads, *self.tails)

    def ends(self, *, is_head: bool) -> tuple[str, ...]:
        return self.heads if is_head else self.tails


class Speaker:
    """Puts the statements of one text into words; a thing just spoken of may become a pronoun."""

    def __init__(self, draw: random.Random, *, is_unseen: bool) -> None:
        """Begins a text; `is_unseen` uses wordings kept for the test."""
        self._draw, self._is_unseen = draw, is_unseen
        self._spoken_of: str | None = None
        self._pronouns: dict[str, str] = {}

    def clause(self, statement: Statement, number: int, *, with_pronouns: bool = True) -> str:
        wordings = wordings_of(statement.relation)
        template = wordings.drawn(self._draw, is_unseen=self._is_unseen)
        for person, things in (("head", statement.heads), ("tail", statement.tails)):
            if person in wordings.people:
                self._pronouns |= {
                    thing: self._draw.choice(("he", "she", "they")) for thing in things if thing not in self._pronouns
                }
        one, end = (statement.heads[0], "h") if len(statement.heads) == 1 else (statement.tails[0], "t")
        chance = _FIRST_PRONOUN if self._spoken_of is None else _NEXT_PRONOUN if self._spoken_of == one else 0.0
        has_pronoun = with_pronouns and self._draw.random() < chance
        self._spoken_of = one
        values = {
            "h": listed([mark(head, number) for head in statement.heads], self._draw),
            "t": listed([mark(tail, number, is_small=wordings.small) for tail in statement.tails], self._draw),
        }
        if has_pronoun:
            place, pronoun = f"{{{end}}}", self._pronouns.get(one, "it")
            object_form, possessive = _PRONOUNS[pronoun]
            template = template.replace(f"{place}'s", possessive)
            if template.startswith(place):
                template = pronoun + template[len(place) :]
                template = _plural_verb(template) if pronoun == "they" else template
            else:
                template = template.replace(place, object_form)
        many = "{h}" if len(statement.heads) > 1 else "{t}"
        if len(statement.things) > 2 and template.startswith(many):
            template = _plural_verb(template)
        return replaced(template, values)


def _plural_verb(clause: str) -> str:
    plural = {"is": "are", "was": "were", "has": "have"}
    return _FIRST_BE.sub(lambda match: f"{match[1]} {plural[match[2]]}", clause)


class Place(NamedTuple):
    """A span that names a thing; `statement` is the number of the statement it is part of, or -1."""

    start: int
    end: int
    thing: str
    statement: int

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


class Names:
    """Gives each thing of one text the name by which the text calls it.

    By `style` this is its own name, a pseudonym, or a kind with a number (Person1); some things keep their own in any
    style.
    """

    def __init__(self, style: Style, draw: random.Random) -> None:
        self.style, self._draw = style, draw
        self._written: dict[str, str] = {}
        self._in_brackets = draw.random() < 0.3
        self._kind = draw.choice(_KINDS[:10]).lower() if style == "pseudonyms" and draw.random() < _WITH_KIND else ""

    def of(self, thing: str) -> str:
        if thing not in self._written:
            self._written[thing] = self._drawn(thing)
        return self._written[thing]

    def in_text(self, thing: str, *, may_be_small: bool) -> tuple[str, str]:
        """Returns the name as it stands in the text, and what follows it: a concept in brackets, or "".

        A thing's own name may be shortened to a part, or written in small letters if `may_be_small`.
        """
        written = self.of(thing)
        if written != thing:
            return written, f" ({self._kind})" if self._kind else ""
        if may_be_small and self._draw.random() < _SMALL_TAIL:
            return written.lower(), ""
        return (in_part(written) if self._draw.random() < _IN_PART else written), ""

    def _drawn(self, thing: str) -> str:
        if self.style == "plain" or self._draw.random() < _NAMED:
            return thing
        if self.style == "typed":
            word = f"{self._draw.choice(_KINDS)}{len(self._written) + self._draw.randint(1, 9)}"
            word = f"[{word}]" if self._in_brackets else word
        else:
            word = self._draw.choice("EEEEEVS") + "".join(self._draw.choice(_ALPHABET) for _ in range(5))
        return self._drawn(thing) if word in self._written.values() else word


def in_part(name: str) -> str:
    """Returns the surname of a person's name, or a title without brackets or subtitle."""
    short = _BRACKETS.sub("", name)
    words = short.split()
    if short == name and 2 <= len(words) <= 3 and all(word[0].isupper() for word in words) and words[0] != "The":
        return words[-1]
    return short or name


def mark(thing: str, statement: int, *, is_small: bool = False) -> str:
    return f"\x01{statement}|{int(is_small)}|{thing}\x02"


def listed(marks: Sequence[str], draw: random.Random) -> str:
    if len(marks) < 2:
        return marks[0]
    last = draw.choice((" and ", " and ", ", and ", " as well as "))
    return ", ".join(marks[:-1]) + last + marks[-1]


def placed(marked: str, names: Names, draw: random.Random) -> tuple[str, list[Place]]:
    """Returns the text with names in place of marks, and the places of those names."""
    is_small = names.style == "plain" and draw.random() < _SMALL_TEXT
    text, places, at = "", [], 0
    for match in _MARK.finditer(marked):
        text += marked[at : match.start()]
        statement, may_be_small, thing = match.group(1).split("|", 2)
        written, behind = names.in_text(thing, may_be_small=may_be_small == "1")
        places.append(Place(len(text), len(text) + len(written), thing, int(statement)))
        text, at = text + written + behind, match.end()
    text += marked[at:]
    small = text.lower()
    # A few letters change their length in lower case, which would shift the spans: such texts stay as they are.
    return (small if is_small and len(small) == len(text) else text), places


def capital(words: str) -> str:
    """Capitalises the first letter, unless the text begins with a mark (the placeholder of a thing)."""
    return words if words[:1] == "\x01" else words[:1].upper() + words[1:]


def sentence(words: str) -> str:
    """Capitalises `words` and adds a full stop, unless they end in one of `.!?`."""
    return capital(words) if words[-1] in ".!?" else f"{capital(words)}."


def is_aside(clause: str) -> bool:
    """Returns True if the fact is told in passing ("X, by Y, is great"): denying the clause does not deny it."""
    return _ASIDE.search(clause) is not None


def negated(clause: str, draw: random.Random) -> str | None:
    """Negates a clause with `not` behind its first `is` or the like, or with `never` behind its first thing.

    Returns None if neither is possible.
    """
    if _BE.search(clause) and draw.random() < 0.7:
        return _BE.sub(lambda match: f"{match.group()} not", clause, count=1)
    found = _FIRST_VERB.sub(lambda match: f"{match.group()}never ", clause, count=1)
    return None if found == clause else found


def replaced(template: str, values: Mapping[str, str]) -> str:
    """Fills in a template in one pass, since the values may hold braces themselves."""
    return re.sub(r"\{(\w)\}", lambda match: values[match.group(1)], template)
