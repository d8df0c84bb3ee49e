"""The ways in which a question may word one step of a path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from app.llm.tasks import MaskedRelation
from kg_store.terms import is_mask_word
from kg_store.text.further_words import HINT, with_words
from kg_store.text.morphology import is_done, is_participle, is_third_person, verbs_of
from kg_store.text.plurals import singular
from kg_store.text.step_words import description_in, readable, typed
from kg_store.text.synonyms import synonyms_backwards, synonyms_of

Wordings = Mapping[str, tuple[str, ...]]
"""Further words of relations, by label; by `^` and the label those for walking it backwards."""

# Words that sources put before every relation to say how it is stored.
_NO_WORDINGS: Final[Wordings] = {}
_WORD = re.compile(r"[0-9A-Za-z]+")


def is_described(step: str) -> bool:
    """True where a hop of a described step is masked."""
    return any(description_in(hop) is not None for hop in step.split("|"))


def with_descriptions(
    steps: Iterable[str], masked: Iterable[MaskedRelation], wordings: Wordings = _NO_WORDINGS
) -> tuple[str, ...]:
    """The labels of steps with each description behind its opaque word, and the further words of a relation behind its
    own, as `kg_store.text.further_words.worded` gives them."""
    means = {each.relation: each.means for each in masked}
    return tuple(_described(step, means, wordings) for step in steps) if means or wordings else tuple(steps)


def unmask_words(question: str, steps: Sequence[str]) -> tuple[str, list[str]]:
    """A question and the described steps that are compared with it. Where an opaque word stands in the question (its
    user called the relation by its own words) it becomes a plain word in both."""
    masks = {word for word in _WORD.findall(question) if is_mask_word(word)}
    if not masks:
        return question, list(steps)
    spoken = _WORD.sub(lambda found: found[0].lower() if found[0] in masks else found[0], question)
    return spoken, ["|".join(_spoken(hop, masks) for hop in step.split("|")) for step in steps]


def _described(step: str, means: Mapping[str, str], wordings: Wordings) -> str:
    told = ((hop, f"{hop} {means.get(hop.lstrip('^'), '')}".rstrip()) for hop in step.split("|"))
    return "|".join(with_words(shown, wordings.get(hop, ())) for hop, shown in told)


def _further_words(hop: str) -> tuple[str, ...]:
    """The words behind the hop's own, as `kg_store.text.further_words.worded` gives them, without the hints."""
    return tuple(word for word in _words_behind(hop) if not word.startswith(HINT))


def _words_behind(hop: str) -> tuple[str, ...]:
    return tuple(filter(None, hop.partition(" (")[2].rstrip(")").split(", ")))


def _spoken(hop: str, masks: set[str]) -> str:
    """The opaque word stays in front: it tells relations apart, and which way they are walked."""
    word = hop.split(" ", 1)[0]
    return f"{word} {word.lstrip('^').lower()}" if word.lstrip("^") in masks else hop


Voice = Literal["noun", "passive", "active"]
"""Meanings of a relation's words for its head: it has one, something is done to it, it does something."""

_PLACED = frozenset("in at on to from for with".split())
# What agents do whose names are made of no verb, or of one among several.
_AGENTS = {
    "actor": frozenset({"act", "appear", "perform", "play", "star"}),
    "author": frozenset({"write"}),
    "cast": frozenset({"act", "appear", "perform", "play", "star"}),
    "doctor": frozenset({"treat"}),
    "physician": frozenset({"treat"}),
    "artist": frozenset({"perform", "record"}),
    "student": frozenset({"study", "attend"}),
    "resident": frozenset({"live"}),
    "inhabitant": frozenset({"live"}),
    "employee": frozenset({"work"}),
}
VALUES = frozenset({"number", "date", "year", "age"})
"""Concepts of values that can be measured."""
_PARTICLES = frozenset("after under out off up down over away back along around together aboard".split())
_OR = re.compile(r" *, *| +(?:or|and) +")
_EVERYTHING = frozenset({"thing", "", "number", "text", "yes or no"})


@dataclass(frozen=True, slots=True)
class HopWords:
    """Wordings of a step: of its relation, and of what it leads to; the concepts at its end, and its direction.

    `verbs` are the base forms of what is done, or of who does it: direct for `directed by`, star and act for
    `starred actors`. `further`: those of `relation` that the owner or the sources say beside its own words;
    `everyday`: those that are said of many relations like it; `hints`: single ones that say less.
    """

    relation: tuple[str, ...]
    reached: tuple[str, ...]
    kinds: tuple[str, ...]
    inverse: bool
    voice: Voice
    verbs: frozenset[str]
    further: tuple[str, ...] = ()
    everyday: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@lru_cache(maxsize=65_536)
def hop_words(label: str, concept: str) -> HopWords:
    """Wordings of the step `label` that leads to things of `concept`."""
    kinds = kinds_in(concept)
    relation = _relation_words(label)
    last = readable(label.split("|")[-1])
    return HopWords(
        relation=tuple(relation),
        reached=tuple(f"{kind} {relation[0]}" for kind in kinds if relation),
        kinds=kinds,
        inverse=label.split("|")[-1].startswith("^"),
        voice=voice_of(last),
        verbs=verbs_named(last),
        further=_further_words(label.split("|")[-1]),
        everyday=_everyday_words(label),
        hints=tuple(word.removeprefix(HINT) for word in _words_behind(label.split("|")[-1]) if word.startswith(HINT)),
    )


@lru_cache(maxsize=65_536)
def particle_verbs(label: str) -> frozenset[tuple[str, str]]:
    """The verbs with a little word behind them that say the step `label`: look after, put out."""
    texts = (text.lower().split() for text in hop_words(label, "").relation)
    return frozenset((words[0], words[1]) for words in texts if len(words) == 2 and words[1] in _PARTICLES)


def kinds_in(concept: str) -> tuple[str, ...]:
    """The concepts that are joined by commas in one, without those that say nothing."""
    return tuple(kind for part in concept.split(",") if (kind := part.strip()) not in _EVERYTHING)


def voice_of(relation: str) -> Voice:
    """`directed by`: passive. `lives in`, `born in`: active. All else names what one has: `spouse`, `has genre`."""
    words = relation.lower().split()
    if not words or words[0] in ("has", "have", "is"):
        return "noun"
    if words[-1] == "by" and is_participle(words[0]):
        return "passive"
    if len(words) > 1 and words[1] in _PLACED and (is_participle(words[0]) or is_third_person(words[0])):
        return "active"
    return "active" if is_done(words[0]) else "noun"


def verbs_named(relation: str) -> frozenset[str]:
    """Participles, verbs in the third person, and agents; `place of birth` places nothing."""
    words = relation.lower().split()
    first = words[:1] if words and (is_participle(words[0]) or voice_of(relation) != "noun") else []
    known = frozenset(verb for word in (*first, *_agents(words)) for verb in verbs_of(word))
    return known.union(*(_AGENTS.get(singular(word), frozenset()) for word in words[-1:]))


def verbs_said(texts: Iterable[str]) -> frozenset[str]:
    """The base forms of further words that are a verb, alone or before a preposition: pay for `paid`, `pays in`."""
    words = (text.lower().split() for text in texts)
    done = (each[0] for each in words if len(each) == 1 or each[1] in _PLACED)
    return frozenset[str]().union(*map(verbs_of, done))


def _agents(words: list[str]) -> list[str]:
    return [word for word in words[-1:] if word.rstrip("s").endswith(("or", "er")) or singular(word) in _AGENTS]


def _relation_words(label: str) -> list[str]:
    """Through a mediator the last relation says most: `has admission|admitted to` is worded `admitted to`."""
    whole = " ".join(dict.fromkeys(readable(label).split()))
    last = readable(label.split("|")[-1])
    bare = [words.removeprefix("has ") for words in (last, whole)]
    # An owner who describes a masked relation may say it in several ways: "husband or wife".
    ways = _OR.split(description_in(label.split("|")[-1]) or "")
    said = _everyday_words(label)
    further = _further_words(label.split("|")[-1])
    return [words for words in dict.fromkeys([*bare, last, whole, typed(label), *further, *said, *ways]) if words]


def _everyday_words(label: str) -> tuple[str, ...]:
    last = readable(label.split("|")[-1])
    return synonyms_backwards(last) if label.split("|")[-1].startswith("^") else synonyms_of(last)
