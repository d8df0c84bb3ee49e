"""Masked relations as words are compared: an opaque word says nothing and its description does, but for one that the
question itself holds, which says that relation and no other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from app.llm.tasks import MaskedRelation
from kg_store.terms import is_mask_word

_WORD = re.compile(r"[0-9A-Za-z]+")


def description_in(hop: str) -> str | None:
    """The description behind the opaque word of a described hop (`^Rk3m2a who fell ill`); None where it has none."""
    word, _, description = hop.lstrip("^").partition(" ")
    return description if is_mask_word(word) else None


def is_described(step: str) -> bool:
    """True where a hop of a described step is masked."""
    return any(description_in(hop) is not None for hop in step.split("|"))


def with_descriptions(steps: Iterable[str], masked: Iterable[MaskedRelation]) -> tuple[str, ...]:
    """The labels of steps with each description behind its opaque word, as `Schema.described` gives them."""
    means = {each.relation: each.means for each in masked}
    return tuple(_described(step, means) for step in steps) if means else tuple(steps)


def unmask_words(question: str, steps: Sequence[str]) -> tuple[str, list[str]]:
    """A question and the described steps that are compared with it. Where an opaque word stands in the question (its
    user called the relation by its own words) it becomes a plain word in both."""
    masks = {word for word in _WORD.findall(question) if is_mask_word(word)}
    if not masks:
        return question, list(steps)
    spoken = _WORD.sub(lambda found: found[0].lower() if found[0] in masks else found[0], question)
    return spoken, ["|".join(_spoken(hop, masks) for hop in step.split("|")) for step in steps]


def _described(step: str, means: Mapping[str, str]) -> str:
    return "|".join(f"{hop} {means.get(hop.lstrip('^'), '')}".rstrip() for hop in step.split("|"))


def _spoken(hop: str, masks: set[str]) -> str:
    """The opaque word stays in front: it tells relations apart, and which way they are walked."""
    word = hop.split(" ", 1)[0]
    return f"{word} {word.lstrip('^').lower()}" if word.lstrip("^") in masks else hop
