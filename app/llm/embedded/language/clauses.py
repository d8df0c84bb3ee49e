"""Splits a question into what it asks for and the clauses that narrow it: "patients with X who do not live in Y"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.llm.embedded.language.question_words import content_words, normalise_idioms, singular
from app.llm.embedded.language.synonyms import kind_words

Shape = Literal["things", "count", "truth", "all"]

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*(?:['’][^\W_]+)?")
_AUXILIARY = "(?:is|are|was|were|do|does|did|has|have|had)"
_NUMBER_OF = "(?:(?:what is |what's )?the )?number of"
_ASKED: tuple[tuple[Shape, re.Pattern[str]], ...] = (
    ("all", re.compile(rf"^{_AUXILIARY} (?:all|each|every|both)(?: of)?(?: the)? ", re.I)),
    ("truth", re.compile(r"^(?:is|are|was|were) there (?:any|an?|some) ", re.I)),
    ("things", re.compile(rf"^{_AUXILIARY} (?=any ?(?:one|body)|some ?(?:one|body))", re.I)),
    ("count", re.compile(rf"^(?:how many(?: of the)?|{_NUMBER_OF}|count(?: of)?(?: the)?) ", re.I)),
    ("things", re.compile(r"^(?:(?:which|what|list|show|any)(?: of)?(?: all)?(?: the)? |(?=who )|of the )?", re.I)),
)  # fmt: skip
_NEGATION = re.compile(
    r"\b(?:not|never|no|nobody|without|outside|lacking)\b|(?<=\w)n['’]t\b|\bnon-(?=\w)|\bcannot\b", re.IGNORECASE
)
_INSTEAD = {"without": "with", "outside": "in", "lacking": "with"}
_AUXILIARIES = frozenset("is are was were do does did has have had the a an".split())
_ANYBODY = frozenset("who people person persons anyone anybody someone somebody everyone everybody".split())
_RELATIVE = frozenset("who that which whose where".split())
_JOINING = frozenset("and or nor either both neither".split())
_EMPTY = frozenset("please any also ever all there listed".split()) | _JOINING | {"but", "who", "among"}
# Words of clauses that another reading executes, or none does.
_OTHERWISE = re.compile(
    r"\b(?:only|just|nothing|exactly|always|else|others?|another|same|most|least|fewest|highest|lowest|oldest|youngest|"
    r"latest|first|last|except|besides|each|every|per|together|average|total|common|neither|nor|if|unless|"
    r"higher|lower|larger|smaller|bigger|greater|earlier|later|"
    r"how|when|what|why|they|them|he|she|his|her|their|it|its|there)\b|\bor\b(?! E)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that is said of what is asked for; `thing` is the pseudonym in it, empty where it has none.

    `is_choice`: it holds instead of the clause before it ("in X or Y").
    """

    text: str
    thing: str = ""
    negated: bool = False
    is_choice: bool = False


@dataclass(frozen=True, slots=True)
class NarrowedQuestion:
    """`head` is the noun of what is asked for, "who" where that is anybody."""

    shape: Shape
    head: str
    clauses: tuple[Clause, ...]


def split_clauses(question: str, names: Collection[str], kinds: Sequence[str]) -> NarrowedQuestion | None:
    """None where the question is no noun that clauses follow, or has words that no clause can say."""
    text = normalise_idioms(question).replace("’", "'").replace(" at all", "").strip(" ?.!,")
    shape, rest = next((shape, text[m.end() :]) for shape, pattern in _ASKED if (m := pattern.match(text)))
    words = _WORD.findall(rest)
    at = next((n for n, word in enumerate(words) if word in names), len(words))
    head = next((n for n, word in enumerate(words[:at]) if _is_kind(word, kinds)), None)
    if head is None and words[:1] and words[0].lower() in _ANYBODY:
        head = 0
    if head is None or not set(map(str.lower, words[:head])) <= _EMPTY | {
        "the",
        "of",
        "all",
        *(word.lower() for word in words if word.startswith("non-")),
    }:
        return None
    lead = [word for word in words[:head] if word.startswith("non-")]
    clauses = (*map(_lead, lead), *_joined(words[head + 1 :], names))
    if not clauses or not _begins_a_clause(words[head + 1 : at]) or any(map(_is_otherwise, clauses)):
        return None
    return NarrowedQuestion(shape, "who" if words[head].lower() in _ANYBODY else words[head], clauses)


def _is_otherwise(clause: Clause) -> bool:
    """A clause that names nothing does not end with a preposition: "the person X is married to"."""
    return _OTHERWISE.search(clause.text) is not None or (
        not clause.thing and clause.text.endswith((" to", " by", " in"))
    )


def _begins_a_clause(words: Sequence[str]) -> bool:
    """Before the first thing something must be said of what is asked for: "who is X married to" is no clause."""
    return any(word.lower() not in _AUXILIARIES for word in words)


def _lead(word: str) -> Clause:
    return _clause([word])


def _is_kind(word: str, kinds: Sequence[str]) -> bool:
    return not kind_words(singular(word.lower())).isdisjoint(singular(kind.lower()) for kind in kinds)


def _joined(words: Sequence[str], names: Collection[str]) -> Iterator[Clause]:
    """Clauses end with the thing that they name; "X or Y" says the same of both."""
    part: list[str] = []
    latest: Clause | None = None
    for word in words:
        part.append(word)
        if word not in names:
            continue
        between = {each.lower() for each in part[:-1]}
        if latest is not None and between <= _JOINING | {"in", "with", "at", "by", "the"} and between & _JOINING:
            latest = replace(
                latest, text=latest.text.replace(latest.thing, word), thing=word, is_choice="or" in between
            )
            yield latest
        else:
            *before, last = _parted(part)
            yield from before
            latest = replace(last, thing=word)
            yield latest
        part = []
    if content_words(" ".join(part)):
        yield from _parted(part)


def _parted(words: Sequence[str]) -> list[Clause]:
    """A relative pronoun behind content words opens a clause of its own."""
    opened = [
        at
        for at, word in enumerate(words)
        if at and word.lower() in _RELATIVE | {"but"} and content_words(" ".join(words[:at]))
    ][:1]
    return [_clause(part) for part in ([words[: opened[0]], words[opened[0] :]] if opened else [words])]


def _clause(words: Sequence[str]) -> Clause:
    kept = list(words)
    while kept and kept[0].lower() in _RELATIVE | _EMPTY:
        kept = kept[1:]
    text = " ".join(word for word in kept if word.lower() not in ("please", "both", "either", "ever"))
    negations = len(_NEGATION.findall(text))
    bare = _NEGATION.sub(lambda found: _INSTEAD.get(found[0].lower(), ""), text)
    return Clause(" ".join(bare.split()), negated=negations % 2 == 1)
