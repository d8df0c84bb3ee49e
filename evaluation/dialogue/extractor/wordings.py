"""Wordings of a relation between its ends: by hand for common ones, by grammar for all others."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from app.reader.sentences.relation_phrases import phrase_of
from evaluation.dialogue.attachment import carriers as control

Choice = Literal["not_found", "hedges", "denials", "fillers", "mentions", "fragments"]
_FILE: Final = Path(__file__).with_name("wordings.toml")
_OF_FORMS, _OF_UNSEEN = 0.3, 0.6
_SHARED_STEM = 5
_SMALL = frozenset("of the a an in on by for to with has is".split())


@dataclass(frozen=True, slots=True)
class Wordings:
    """`said` is trained on, `held` measured only."""

    said: tuple[str, ...] = field(repr=False)
    held: tuple[str, ...] = field(repr=False)

    def drawn(self, draw: random.Random, *, is_unseen: bool) -> str:
        return draw.choice(self.held if is_unseen else self.said)


@dataclass(frozen=True, slots=True)
class RelationWordings:
    """`forms`: by grammar; `own`: of this relation. `alike`: what it may be said in the same way as. `people`: which
    of its ends is a person."""

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
    if choice == "not_found":
        # Those of the control of impossible questions (LLM-KAT, section 4.1), where `{}` stands for the name.
        return Wordings(control.carriers("train"), control.carriers("held_out"))
    return _wordings(_read()[choice])


@cache
def wordings_of(relation: str) -> RelationWordings:
    """`relation` in plain words, as `relation_words` gives them."""
    phrase = phrase_of(relation)
    form, words = (phrase.form, phrase.words) if phrase else ("other", relation)
    shapes = _read()["forms"][form]
    forms = _wordings({part: [text.replace("{r}", words) for text in shapes[part]] for part in ("said", "held")})
    for group in _read()["relations"]:
        if relation in group["names"]:
            alike, people = frozenset(group.get("alike", ())), frozenset(group.get("people", ()))
            return RelationWordings(
                forms, _wordings(group), alike or frozenset(group["names"]), people, "small" in group
            )
    return RelationWordings(forms)


def may_mean(one: str, other: str, likeness: float) -> bool:
    """True where what is said of one relation may be read as the other: no question may rest on the difference then.
    `likeness`: of their words."""
    if one == other:
        return True
    first, second = wordings_of(one), wordings_of(other)
    if first.alike and second.alike:
        return bool(first.alike & second.alike)
    return likeness > 0.5 or bool(_stems(one) & _stems(other))


def _stems(relation: str) -> set[str]:
    return {word[:_SHARED_STEM] for word in relation.split() if word not in _SMALL}


def _wordings(told: dict[str, Sequence[str]]) -> Wordings:
    return Wordings(tuple(told["said"]), tuple(told["held"]))


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text("utf-8"))
