"""Finds the noun in a relation's label that names its object or its subject: club in `plays in club`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from kg_store.lexicon.lexicon import kinds_of
from kg_store.text.english import zipf_frequency
from kg_store.text.inflection import (
    is_agent,
    is_done,
    is_participle,
    is_third_person,
    lemminflect,
    may_be_noun,
    singular,
)

_FILE: Final = Path(__file__).with_name("noun_kinds.toml")
_WORD: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z]+)*")
_BEHIND: Final = frozenset(
    "in on at to from for with of by into about since under against near after before during through over as than "
    "this that these which where who whose or and when".split()
)
_BEFORE: Final = frozenset("has have had is was are be been a an the currently formerly historically".split())
_ADVERBS: Final = frozenset("here there formerly currently primarily partially also together".split())
_ONE_FORM: Final = frozenset("series species news premises headquarters aircraft".split())
# Weights of nouns that a label only implies, below the weight 1 of a stated noun: the agent of a verb, the thing that
# a label classifies, and the usual subject of such a relation. Chosen by hand.
_AGENT_SHARE: Final = 0.6
_CLASSED: Final = 0.9
_HAVING: Final = 0.7
MIN_FUNCTION_ZIPF: Final = 5.5
"""Words so frequent that are no nouns are function words, adjectives or verbs: "what", "each". Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun for a relation's subject or object. `kind` is its most general certain kind (`surgeon` -> `person`).

    `weight`: 1 if the label states the noun, less if it only implies it.
    """

    word: str
    kind: str
    weight: float = 1.0


@lru_cache(maxsize=20_000)
def object_noun(label: str) -> Noun | None:
    """Returns the noun of the relation's object, or None if the label names none: `plays in club` -> club."""
    words = _words(label)
    if " ".join(words) in _data().silent:
        return None
    phrase = _pointed(words)
    if phrase is not None:
        return phrase
    bare = [word for word in words if word not in _BEFORE]
    at = next((at for at, word in enumerate(bare) if word in _BEHIND), len(bare))
    if at == 0:
        return _head(bare[1:]) if not _BEHIND.intersection(bare[1:]) else None
    before, behind = bare[:at], bare[at + 1 :]
    if _is_done(before, bare[at:]):
        return _of_verb(before, bare[at : at + 1], behind)
    if bare[at:] == ["by"]:
        return Noun("person", "person", _AGENT_SHARE)
    if behind and before[-1] in _data().parts and bare[at] == "of":
        return _first_head(behind)
    stripped = _without_verbs(before)
    names_subject = bare[at:] in (["of"], ["for"]) and stripped == before
    return None if names_subject or (len(before) == 1 and at < len(bare) and not behind) else _head(before)


@lru_cache(maxsize=20_000)
def subject_noun(label: str) -> Noun | None:
    """Returns the noun of the relation's subject, or None if the label names none.

    `film.film.genre` -> film (the type before the last dot), `leader of` -> leader, `first name` -> person.
    """
    parts = label.lower().replace("_", " ").split(".")
    if len(parts) > 2:
        return _type_noun(parts[-3], parts[-2])
    words = [word for word in _words(label) if word not in _BEFORE]
    return _subject_of(words) or _classed(words) or _having(words)


def _subject_of(words: list[str]) -> Noun | None:
    if words[-1:] not in (["of"], ["for"]) or " ".join(words) in _data().silent or _BEHIND.intersection(words[:-1]):
        return None
    before = words[:-1]
    if not before or _without_verbs(before) != before or is_done(before[0]):
        return None
    return _noun(before[0]) if len(before) == 1 and before[0].endswith("ing") else _head(before)


def _classed(words: list[str]) -> Noun | None:
    if len(words) != 2 or words[1] not in _data().classing or words[0] in _data().unclassed:
        return None
    noun = _head(words[:1])
    return None if noun is None else Noun(noun.word, noun.kind, _CLASSED)


def _having(words: list[str]) -> Noun | None:
    pairs = (f"{word} {behind}" for word, behind in pairwise(words))
    found = next((told for text in (*pairs, *words) if (told := _data().having.get(text))), None)
    return None if found is None else Noun(found, kind_of(found), _HAVING)


def kind_of(word: str) -> str:
    """Returns the general kind of a noun (`surgeon` -> `person`), or the noun itself if no list has it."""
    last = word.split()[-1]
    known = _data().kinds.get(word) or _data().kinds.get(last)
    return known or ("agent" if is_agent(last) and last not in _data().things else word)


def told(kind: str) -> str | None:
    """Returns the usual word for a kind, such as "person", or None if the list has no word for that kind."""
    return _data().told.get(kind)


def _type_noun(domain: str, kind: str) -> Noun | None:
    words = _WORD.findall(kind)
    words = words[: next((at for at, word in enumerate(words) if at and word in _BEHIND), len(words))]
    own = {singular(word) for word in _WORD.findall(domain)}
    noun = _head([word for word in words if singular(word) not in own]) or _head(words)
    return None if noun is None or noun.word.split()[-1] in _data().dull else noun


def _words(label: str) -> list[str]:
    last = label.lower().split(".")[-1].replace("_", " ").replace("'s", "").partition(" (")[0]
    words = [word for word in _WORD.findall(last.replace("is-a", "is a")) if len(word) > 1 or word == "a"]
    while words[1:] and words[0] in _ADVERBS:
        words = words[1:]
    return _data().abbreviations.get(words[-1], words[-1]).split() if len(words) == 1 else words


def _pointed(words: list[str]) -> Noun | None:
    """Returns the object's noun from the list of whole labels, or None if the list does not have this label."""
    known = _data().objects
    if " ".join(words) in known:
        return _noun(known[" ".join(words)])
    first, rest = "".join(words[:1]), words[1:]
    if not (is_third_person(first) or is_participle(first)):
        return None
    verbs = _verbs(first)
    return next((_noun(known[text]) for verb in verbs if (text := " ".join([verb, *rest])) in known), None)


def _is_done(words: list[str], rest: list[str]) -> bool:
    """Returns True if the label begins with a verb: `made by company`, but not `games on this platform`."""
    first = words[0]
    if is_done(first):
        return True
    if len(words) > 1 or (is_participle(first) and singular(first) in _data().kinds):
        return False
    is_placed = is_third_person(first) and rest[:1] and rest[0] not in ("of", "by") and rest[1:2] != ["this"]
    return is_participle(first) or bool(is_placed)


def _of_verb(verbs: list[str], preposition: list[str], behind: list[str]) -> Noun | None:
    if len(verbs) > 1:
        return _head(verbs[1:])
    if behind:
        return _first_head(behind)
    return _agent(verbs[0]) if preposition == ["by"] else None


def _first_head(words: list[str]) -> Noun | None:
    """Returns the head noun of the first phrase in `words`, which ends before the first preposition."""
    return _head(words[: next((at for at, word in enumerate(words) if word in _BEHIND), len(words))])


def _agent(participle: str) -> Noun | None:
    """Returns the noun for whoever does what the participle says (`managed` -> manager), or None if none is known."""
    for verb in sorted(_verbs(participle)):
        if verb in _data().agents:
            return _noun(_data().agents[verb])
    for verb in sorted(_verbs(participle)):
        if _data().kinds.get(verb) == "person":
            return _noun(verb)
        for word in (verb.removesuffix("e") + "er", verb.removesuffix("e") + "or", verb + verb[-1:] + "er"):
            if "NOUN" in lemminflect.getAllLemmas(word) or word in _data().kinds:
                return _noun(word)
    return None


def _verbs(participle: str) -> frozenset[str]:
    return frozenset(lemminflect.getAllLemmas(participle).get("VERB", ()))


def _without_verbs(words: list[str]) -> list[str]:
    """Returns `words` without the participles and adverbs at their end: `organization founded` -> organization."""
    kept = list(words)
    while len(kept) > 1 and (kept[-1] in _ADVERBS or (is_participle(kept[-1]) and not _is_noun(kept[-1]))):
        kept.pop()
    return kept


def _is_noun(word: str) -> bool:
    return singular(word) in _data().kinds


def _head(words: list[str]) -> Noun | None:
    stripped = _without_verbs(words)
    # In "film executive produced" the word before the verb belongs to the verb, so the noun is "film".
    is_modified = len(stripped) == 2 and stripped != words and _is_noun(stripped[0]) and not _is_noun(stripped[1])
    words = stripped[:1] if is_modified else stripped
    if not words or words[-1] in _BEFORE | _BEHIND | _ADVERBS or is_done(words[-1]):
        return None
    last = _singular(words[-1])
    if last in _data().vague and last not in _data().general:
        return None
    if zipf_frequency(last) >= MIN_FUNCTION_ZIPF and "n" not in kinds_of(last):
        return None
    if not (may_be_noun(last) or last in _data().kinds) or (is_participle(last) and not _is_noun(last)):
        return None
    return _noun(f"{words[-2]} {last}" if last in _data().general and len(words) > 1 else last)


def _singular(word: str) -> str:
    return word if word in _ONE_FORM else singular(word)


def _noun(word: str) -> Noun:
    return Noun(word, kind_of(word))


@dataclass(frozen=True, slots=True)
class _Data:
    kinds: dict[str, str]
    told: dict[str, str]
    general: frozenset[str]
    dull: frozenset[str]
    silent: frozenset[str]
    things: frozenset[str]
    having: dict[str, str]
    classing: frozenset[str]
    unclassed: frozenset[str]
    vague: frozenset[str]
    parts: frozenset[str]
    abbreviations: dict[str, str]
    objects: dict[str, str]
    agents: dict[str, str]


@cache
def _data() -> _Data:
    read: dict[str, Any] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    kinds = {word: kind for kind, words in read["kinds"].items() for word in words.split()}
    return _Data(
        kinds={**kinds, **{word: kind for kind, word in read["told"].items()}},
        told=read["told"],
        general=frozenset(read["general"]["words"].split()),
        dull=frozenset(read["dull"]["types"].split()),
        silent=frozenset(each.strip() for each in read["silent"]["labels"].split("|")),
        having={each.strip(): noun for noun, words in read["having"].items() for each in words.split(",")},
        classing=frozenset(read["classing"]["words"].split()),
        unclassed=frozenset(read["classing"]["except"].split()),
        vague=frozenset(read["vague"]["words"].split()),
        parts=frozenset(read["parts"]["words"].split()),
        abbreviations=read["abbreviations"],
        things=frozenset(read["things"]["words"].split()),
        objects={verb.strip(): noun for noun, verbs in read["objects"].items() for verb in verbs.split(",")},
        agents={verb: noun for noun, verbs in read["agents"].items() for verb in verbs.split()},
    )
