"""The sentences by which a relation is said: verbs, nouns and prepositions, and which end of it is their subject."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal

from app.chat.statements.words.tokens import PREPOSITIONS, is_form, lemmas, noun_base
from app.llm.embedded.language.morphology import is_agent, verbs_of
from app.llm.embedded.language.relation_wording import without_storage
from app.llm.embedded.language.synonyms import kind_words, synonyms_of

End = Literal["start", "end"]
Ends = frozenset[End]
OTHER: Final[Mapping[End, End]] = {"start": "end", "end": "start"}

TABLE: Final[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "wording.toml").read_text("utf-8"))


def _by_label() -> dict[str, tuple[str, ...]]:
    """A label may stand in several lines of the table."""
    found: dict[str, tuple[str, ...]] = {}
    for labels, templates in (line for part in TABLE["frames"].values() for line in part.items()):
        for label in labels.split(", "):
            found[label] = tuple(dict.fromkeys((*found.get(label, ()), *templates.split("; "))))
    return found


_TEMPLATES: Final = _by_label()
PERSONS: Final = frozenset(TABLE["persons"]["words"].split(", "))
_KINDS: Final = tuple(
    frozenset({kind, *words.split(", ")}) for kind, words in TABLE["nouns"].items()
)  # fmt: skip
_MARKS: Final = frozenset("X Y n N is adj be a an the it thing".split()) | PREPOSITIONS
_LIGHT: Final = frozenset("have take do get make give play go come hold carry be".split())
_BRACKETS: Final = re.compile(r"\((s|es)\)|[()/,]")
_LIKE: Final = {
    **dict.fromkeys(("in", "on", "at", "during", "within", "inside"), "in"),
    **dict.fromkeys(("with", "alongside"), "with"),
    **dict.fromkeys(("to", "into"), "to"),
    **dict.fromkeys(("about", "regarding"), "about"),
}


@dataclass(frozen=True, slots=True)
class Wording:
    """`verbs`: (base form, passive, preposition) with the ends that may be the subject; `nouns` with the ends that
    have one; `preps` with the ends of which they are said. `category`: ends that are one of what is at the other."""

    verbs: Mapping[tuple[str, bool, str], Ends]
    nouns: Mapping[str, Ends]
    preps: Mapping[str, Ends]
    category: Ends
    before_noun: Ends
    words: frozenset[str]
    """All words that say it, those of the label among them."""

    def verb_subjects(self, words: tuple[str, ...], prep: str, *, is_passive: bool) -> Ends:
        """The ends that may be the subject of such a verb."""
        found: set[End] = set()
        for word in words:
            found |= self.verbs.get((word, is_passive, like(prep)), frozenset())
            if is_passive and prep == "by":
                found |= {OTHER[end] for end in self.verbs.get((word, False, ""), frozenset())}
        return frozenset(found)

    def holders(self, noun: str) -> Ends:
        return self.nouns.get(noun, frozenset())


def like(prep: str) -> str:
    """One preposition for those that are said of the same places and times."""
    return _LIKE.get(prep, prep)


@lru_cache(maxsize=4096)
def wording_of(step: str) -> Wording:
    """The wording of one step as evidence shows it: `directed by`, `^has child`, `has admission|ward`."""
    hop = step.split("|")[-1]
    label = plain_label(hop)
    start: End = "end" if hop.startswith("^") else "start"
    maker = _Maker(start)
    for template in (*_templates(label), *_derived(label)):
        maker.add(template)
    return maker.made(frozenset(label.split()))


def plain_label(hop: str) -> str:
    """`people.person.place_of_birth` as `place of birth`, `has_genre` as `genre`, `position(s)` as `positions`."""
    words = hop.lstrip("^").partition(" (")[0] if " (" in hop and hop.endswith(")") else hop.lstrip("^")
    words = words.rsplit(".", 1)[-1].replace("_", " ").replace("-", " ")
    words = _BRACKETS.sub(lambda found: found[1] or " ", words).lower()
    words = " ".join(without_storage(words).split())
    return words.removeprefix("has ").removeprefix("have ")


def kinds_like(noun: str) -> frozenset[str]:
    """Words for the same kind of thing as `noun`."""
    return kind_words(noun).union(*(group for group in _KINDS if noun in group))


@lru_cache(maxsize=1)
def frame_words() -> frozenset[str]:
    """The heads of the table's sentences: nouns, verbs, and what stands behind a verb that says little."""
    return frozenset(word for templates in _TEMPLATES.values() for each in templates for word in _heads(each))


def _heads(template: str) -> list[str]:
    words = template.split()
    if words[0] in ("n", "N"):
        return words[-1:]
    words = [word for word in words if word in PREPOSITIONS or word not in _MARKS]
    if not words:
        return []
    behind = words[1:2] if words[0] in _LIGHT and words[1:2] and words[1] not in PREPOSITIONS else []
    return [word for word in (words[0], *behind) if word not in PREPOSITIONS]


@lru_cache(maxsize=1)
def known_kinds() -> frozenset[str]:
    """Nouns for kinds of things."""
    return PERSONS.union(*_KINDS)


@lru_cache(maxsize=1)
def direct_verbs() -> frozenset[str]:
    """Verbs that some relation of the table is said by directly: "Y direct X"."""
    return frozenset(
        words[1]
        for templates in _TEMPLATES.values()
        for each in templates
        if len(words := each.split()) == 3 and {words[0], words[2]} == {"X", "Y"} and words[1] not in _LIGHT
    )


@lru_cache(maxsize=1)
def noun_phrases() -> frozenset[str]:
    """Nouns of two words: "first name"."""
    said = (each.split() for each in chain.from_iterable(_TEMPLATES.values()))
    return frozenset(" ".join(words[1:]) for words in said if words[0] == "n" and len(words) == 3)


@lru_cache(maxsize=1)
def verb_phrases() -> frozenset[str]:
    """Verbs of two words: "set off", "hand in"."""
    pairs = (each.split()[1 + (" be " in f" {each} ") :][:2] for each in chain.from_iterable(_TEMPLATES.values()))
    return frozenset(" ".join(pair) for pair in pairs if len(pair) == 2 and not {*pair} & {"X", "Y"})


def label_words(label: str) -> frozenset[str]:
    """The words of a label and everyday words for it."""
    return frozenset(word for text in (label, *synonyms_of(label)) for word in text.split())


_BELONGING: Final = frozenset({"part", "member"})
"""Nouns of labels with the kind of the other end behind them: "part of faculty"."""


def _templates(label: str) -> tuple[str, ...]:
    if label in _TEMPLATES:
        return _TEMPLATES[label]
    for shorter in (label.removeprefix("is "), label.removesuffix("s"), label + "s"):
        if shorter in _TEMPLATES:
            return _TEMPLATES[shorter]
    return ()


def _derived(label: str) -> Iterator[str]:
    """Sentences that any label says by its own words, and everyday words of its kind."""
    words = label.removeprefix("is ").split()
    if not words:
        return
    first, last = words[0], words[-1]
    verb = next(iter(lemmas(first, "VERB")), "")
    inner = " ".join(words[1:-1])
    if last == "of" and len(words) > 1:
        yield f"N {' '.join(words[:-1])}"
    elif first in _BELONGING and words[1:2] == ["of"]:
        yield f"N {first}"
    elif is_form(first, "VBN") and last == "by":
        yield from (f"Y {verb} {inner} X", f"X be {verb} {inner} by Y")
        yield from _verbal_synonyms(label)
    elif last in PREPOSITIONS and len(words) > 1 and verb:
        yield from (f"X be {verb} {inner} {last} Y", f"X {verb} {inner} {last} Y")
    elif is_form(first, "VBZ") and (len(words) == 1 or not lemmas(first, "NOUN")):
        yield from (f"X {verb} {' '.join(words[1:])} Y", f"X {verb} Y")
    elif len(words) > 1 and is_form(last, "VBN"):
        done = next(iter(lemmas(last, "VERB")), "")
        yield from (f"X {done} Y", f"X {done} {' '.join(words[:-1])} Y")
    else:
        noun = " ".join([*words[:-1], noun_base(last)])
        yield from (f"n {noun}", f"X have {noun} Y", f"X have {noun} of Y")
        yield from (f"n {word}" for word in synonyms_of(label) if " " not in word and lemmas(word, "NOUN"))


def _verbal_synonyms(label: str) -> Iterator[str]:
    for word in synonyms_of(label):
        if " " not in word and is_form(word, "VB"):
            yield f"Y {word} X"
        elif " " not in word and is_agent(word):
            yield f"n {noun_base(word)}"


class _Maker:
    """Reads templates of wording.toml for a relation whose head is `start`."""

    def __init__(self, start: End) -> None:
        self._ends: dict[str, End] = {"X": start, "Y": OTHER[start]}
        self._verbs: defaultdict[tuple[str, bool, str], set[End]] = defaultdict(set)
        self._nouns: defaultdict[str, set[End]] = defaultdict(set)
        self._preps: defaultdict[str, set[End]] = defaultdict(set)
        self._category: set[End] = set()
        self._before: set[End] = set()
        self._words: set[str] = set()

    def add(self, template: str) -> None:
        first, *middle = template.split()
        self._words |= {first, *middle} - _MARKS
        if template in ("is", "adj"):
            self._before.add(self._ends["X"])
            if template == "is":
                self._category.add(self._ends["X"])
        elif first in ("n", "N"):
            self._nouns[" ".join(middle)].add(self._ends["X" if first == "n" else "Y"])
        elif first in self._ends and not self._ends.keys().isdisjoint(middle):
            while middle[-1] not in self._ends:
                middle.pop()
            self._sentence(self._ends[first], middle[:-1])

    def _sentence(self, subject: End, words: list[str]) -> None:
        passive = words[0] == "be"
        words = words[1:] if passive else words
        prep = like(words.pop()) if words and words[-1] in PREPOSITIONS else ""
        text = " ".join(words)
        if not words:
            (self._preps[prep] if prep else self._category).add(subject)
        elif passive:
            self._verbs[text, True, prep].add(subject)
            self._verbs[f"be {text}", False, prep].add(subject)
        else:
            self._verbs[text, False, prep].add(subject)

    def made(self, own: frozenset[str]) -> Wording:
        for (verb, passive, prep), ends in list(self._verbs.items()):
            if not passive and not prep and " " not in verb:
                for noun in _agent_nouns(verb):
                    self._nouns[noun] |= {OTHER[end] for end in ends}
        return Wording(
            {key: frozenset(ends) for key, ends in self._verbs.items()},
            {key: frozenset(ends) for key, ends in self._nouns.items()},
            {key: frozenset(ends) for key, ends in self._preps.items()},
            frozenset(self._category), frozenset(self._before),
            frozenset(self._words) | own,
        )  # fmt: skip


@lru_cache(maxsize=4096)
def _agent_nouns(verb: str) -> tuple[str, ...]:
    """director of direct, writer of write: the noun for who does it, where English has one."""
    stem = verb.removesuffix("e")
    forms = (f"{stem}er", f"{stem}or", f"{verb}{verb[-1:]}er")
    return tuple(form for form in forms if lemmas(form, "NOUN") and verb in verbs_of(form))
