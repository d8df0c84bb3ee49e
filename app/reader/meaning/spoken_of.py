"""Rewords a question so that it is complete without earlier turns: replaces pronouns and fills in omissions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final

from app.llm.tasks import StepInput
from app.reader.language.question_words import GRAMMAR, words_in
from app.reader.meaning.question.measures import SUPERLATIVE, superlative_of
from app.reader.meaning.question.question_tokens import AskedQuestion
from app.reader.meaning.schema_graph import SchemaGraph
from kg_store.text.inflection import singular
from kg_store.text.words import is_pseudonym

MAX_TRIED, MAX_RANKED = 2, 4
"""Greatest number of earlier things that are tried if the question names none: where the words decide (MAX_TRIED), and
where readings are ranked (MAX_RANKED). Chosen by hand; not fitted.
"""

PERSONAL: Final = frozenset("he she him his her hers".split())
OF_THINGS: Final = frozenset("it its there".split())
PRONOUNS: Final = PERSONAL | OF_THINGS - {"there"} | frozenset("they them those these their theirs".split())
_POINTING: Final = frozenset({"that", "this"})
_SINGULAR: Final = re.compile(
    r"\b(?:it|(?<!is )(?<!are )(?<!was )(?<!were )there|he|she|him|that one|this one|that(?=\s*(?:\?|$))|this|one)\b",
    re.IGNORECASE,
)
_PLURAL: Final = re.compile(r"\b(?:they|them|those|these|ones|one(?! of))\b", re.IGNORECASE)
_ONLY: Final = re.compile(r"^\W*(?:(?:and|but|no|ok),?\s+)?(?:only|just)\b(?!\s+(?:one|[0-9]))\s*", re.IGNORECASE)
OF_THEM: Final = re.compile(r"\bof (?:them|those|these)\b", re.IGNORECASE)
_THOSE: Final = re.compile(r"^(?:the\s+)?(?:those|them|these|ones)\b\s*(?:(?:who|that|which)\b\s*)?", re.IGNORECASE)
_THAT_KIND: Final = re.compile(r"\b(?:that|this) (?:same )?([a-z]+)\b", re.IGNORECASE)
_WHICH_IS: Final = re.compile(
    r"^\W*(?:and )?(?:which|who)(?: one)?(?: of (?:them|these|those|the two))? is (?:the )?([a-z]+er)\W*$",
    re.IGNORECASE,
)
_SAME: Final = frozenset({"and", "and for", "same for", "the same for", "and the same for"})
_COURTESIES: Final = frozenset("please pls plz thanks".split())
_AND: Final = re.compile(r"^\W*(?:and|but)\s+(?=which\b)", re.IGNORECASE)
_WHO_IN: Final = re.compile(
    r"^\W*(?:and\s+)?who(?:\s+(?:all|else))?(?:\s+(?:is|are|was|were)|'s)\s+in"
    r"\s+(?:both\s+)?(?-i:(E\w{5})(?:\s+and\s+(E\w{5}))?)\W*$",
    re.IGNORECASE,
)
_MEMBERS: Final = frozenset("cast actor starring star member player participant attendee passenger crew".split())
_LEADING: Final = frozenset("and the one what about which who is are".split())
_POSSESSIVE: Final = re.compile(r"\b(?:his|her|its|their)\b", re.IGNORECASE)


def wordings(given: StepInput, graph: SchemaGraph, persons: Collection[str], ranked: bool = False) -> Iterator[str]:
    """Yields the question with pronouns replaced and omissions filled in, the likeliest wording first.

    `persons`: the kinds that are people. `ranked`: readings of all wordings will be ranked, so that a pronoun may
    stand for each of several things.
    """
    for wording in _filled_in(given, graph, persons, ranked):
        yield _of_members(wording, given, graph, persons)


def _of_members(question: str, given: StepInput, graph: SchemaGraph, persons: Collection[str]) -> str:
    """Returns "who was in X" as "who is the cast of X", if X has exactly one such relation to members.

    Returns other questions unchanged.
    """
    found = _WHO_IN.match(question)
    thing = next((each for each in given.things if found and each.name == found[1]), None)
    if thing is None:
        return question
    steps = [hop for hop, _ in graph.leaving(frozenset(thing.concept.split(", ")))]
    shown = {
        hop.shown
        for hop in steps
        if not hop.label.startswith("^")
        and not hop.ends.isdisjoint(persons)
        and not _MEMBERS.isdisjoint(map(singular, hop.shown.lower().split()))
    }
    named = " and ".join(filter(None, found.groups())) if found else ""
    return f"who is the {shown.pop()} of {named}" if len(shown) == 1 else question


def _filled_in(given: StepInput, graph: SchemaGraph, persons: Collection[str], ranked: bool) -> Iterator[str]:
    question = given.question
    for kind in given.kinds:
        question = question.replace(kind.name, kind.concept)
    question = _without_only(question, given)
    words = words_in(question)
    if turned := _other_extreme(words, given):
        yield turned
        return
    if any(map(is_pseudonym, words)):
        of_them, before = OF_THEM.search(question) is not None, _as_before(words, given)
        is_whole = bool(before) or not of_them
        yield from [before or question] if is_whole else _resolved(_AND.sub("", question), given, persons, ranked)
        return
    question = _as_superlative(_with_that(question, given, graph), given)
    words = words_in(question)
    if any(map(is_pseudonym, words)):
        yield question
        return
    if of_kind := _asked_kind(words, graph):
        yield from (f"{question.rstrip(' ?.!')} of {name}" for name in _having(of_kind, given, graph))
        return
    resolved = _resolved(question, given, persons, ranked)
    if resolved == [question] and not _names_kind(words, graph):
        bare = question.rstrip(" ?.!")
        yield from (f"{bare} of {name}" for name in spoken_of(given)[: MAX_RANKED if ranked else MAX_TRIED])
    yield from resolved


def _with_that(question: str, given: StepInput, graph: SchemaGraph) -> str:
    """Returns the question with "that practice" replaced by the practice that earlier turns named last."""
    told = {thing.name: frozenset(thing.concept.split(", ")) for thing in given.things if thing.size == "1"}
    for found in _THAT_KIND.finditer(question):
        kinds = graph.kinds_said([found[1].lower()])
        name = next((name for name in spoken_of(given) if not told.get(name, frozenset()).isdisjoint(kinds)), "")
        if name:
            return question[: found.start()] + name + question[found.end() :]
    return question


def _as_superlative(question: str, given: StepInput) -> str:
    """Returns "which one is cheaper?" as "which of S is the cheapest", where S is the set of the turn before.

    Returns other questions unchanged.
    """
    found = _WHICH_IS.match(question)
    told = next((name for name in spoken_of(given) if name[0] == "S"), "") if found else ""
    most = superlative_of(found[1].lower()) if found else ""
    return f"which of {told} is the {most}" if told and most else question


def _asked_kind(words: Sequence[str], graph: SchemaGraph) -> frozenset[str]:
    """Returns the kinds that an elliptic "and with which truck?" asks for; empty if the turn says more."""
    said = [word for word in words if word not in GRAMMAR and word not in _COURTESIES]
    is_elliptic = words[:1] == ["and"] and len(said) == 1 and not {"which", "what"}.isdisjoint(words[1:3])
    return graph.kinds_said(said) if is_elliptic else frozenset()


def _having(kinds: frozenset[str], given: StepInput, graph: SchemaGraph) -> Iterator[str]:
    """Yields the things of earlier turns that exactly one relation joins with `kinds`.

    Things that the user named come first.
    """
    asked = next((turn.text for turn in reversed(given.dialogue) if turn.role == "user"), "")
    told = {thing.name: frozenset(thing.concept.split(", ")) for thing in given.things}
    for name in sorted(spoken_of(given), key=lambda name: name not in asked):
        plain = [
            hop for hop, _ in graph.leaving(told[name]) if "|" not in hop.label and not hop.ends.isdisjoint(kinds)
        ]
        forwards = {hop.label for hop in plain if not hop.label.startswith("^")}
        if told[name].isdisjoint(kinds) and len(forwards or {hop.label for hop in plain}) == 1:
            yield name


def _without_only(question: str, given: StepInput) -> str:
    """Returns "only those who smoke" as "which of S smoke", where S is the set named last.

    Returns other questions unchanged.
    """
    found = _ONLY.match(question)
    told = next((name for name in spoken_of(given) if name[0] == "S"), "") if found else ""
    if found is None or not told:
        return question
    rest = question[found.end() :]
    pointed = _THOSE.match(rest)
    return f"which of {told} {rest[pointed.end() :]}" if pointed else f"which of {told} are {rest}"


def points_back(asked: AskedQuestion) -> bool:
    """Returns True if the question refers to earlier turns by "they" or "that exam", or ends like "the second
    reader".
    """
    for at, word in enumerate(asked.words):
        follows = asked.roles[at + 1 : at + 2] == ("content",)
        if word in PRONOUNS or (word in _POINTING and follows and asked.roles[at - 1] != "content"):
            return True
    last = asked.words[-3:-1] if len(asked.words) > 2 else ()
    return "the" in last and asked.roles[-1] == "content" and "superlative" not in asked.roles


def spoken_of(given: StepInput) -> tuple[str, ...]:
    """Returns the things and sets of earlier turns that the question itself does not name, the latest first."""
    told = " ".join(turn.text for turn in given.dialogue)
    spoken = [thing.name for thing in given.things if thing.name[0] in "ES" and thing.name in told]
    fresh = [name for name in spoken if name not in given.question]
    return tuple(sorted(fresh, key=lambda name: -told.rfind(name)))


def _names_kind(words: Sequence[str], graph: SchemaGraph) -> bool:
    return any(word not in GRAMMAR and graph.kinds_said((word,)) for word in words)


def _resolved(question: str, given: StepInput, persons: Collection[str], ranked: bool) -> list[str]:
    """Returns the question with its first pronoun replaced by the latest thing that it can stand for.

    If `ranked`, by each of the latest that it can stand for. Returns the question itself if there is none.
    """
    return list(islice(_replaced(question, given, persons), MAX_RANKED if ranked else 1)) or [question]


def _replaced(question: str, given: StepInput, persons: Collection[str]) -> Iterator[str]:
    people = {thing.name: not set(thing.concept.split(", ")).isdisjoint(persons) for thing in given.things}
    several = {thing.name for thing in given.things if thing.name[0] == "S" and thing.size != "1"}
    for name in spoken_of(given):
        for pattern in (_POSSESSIVE, _PLURAL if name in several else _SINGULAR):
            found = pattern.search(question)
            if found and _may_stand_for(found[0].lower(), people[name], any(people.values())):
                said = f"{name}'s" if pattern is _POSSESSIVE else name
                yield question[: found.start()] + said + question[found.end() :]
                break


def _may_stand_for(pronoun: str, is_person: bool, is_any_person: bool) -> bool:
    """Returns True if the pronoun fits: "it" not for a person, "he" only for a person if any person was named."""
    if pronoun in PERSONAL or pronoun == "their":
        return is_person or not is_any_person
    return not (pronoun in OF_THINGS and is_person)


def _as_before(words: Sequence[str], given: StepInput) -> str:
    """Returns "and X?" as the question before with X in place of the only thing it named; empty for other turns."""
    said = [word for word in words if word not in _COURTESIES]
    if not said or " ".join(said[:-1]) not in _SAME or said[-1][0] != "E":
        return ""
    asked = next((turn.text for turn in reversed(given.dialogue) if turn.role == "user"), "")
    named = [word for word in words_in(asked) if is_pseudonym(word)]
    return asked.replace(named[0], said[-1]) if len(named) == 1 and named[0][0] == "E" else ""


def _other_extreme(words: Sequence[str], given: StepInput) -> str:
    """Returns "and the smallest?" as the question before with its superlative exchanged; empty for other turns."""
    said = [word for word in words if word not in _LEADING]
    if not words or words[0] != "and" or len(said) != 1 or said[0] not in SUPERLATIVE:
        return ""
    asked = next((turn.text for turn in reversed(given.dialogue) if turn.role == "user"), "")
    before = [word for word in words_in(asked) if word in SUPERLATIVE]
    return re.sub(rf"\b{before[0]}\b", said[0], asked, flags=re.IGNORECASE) if len(before) == 1 else ""
