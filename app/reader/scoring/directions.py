"""Compares grammar with the direction of a path: "who supervises X" does not ask for those whom X supervises."""

from __future__ import annotations

from collections.abc import Sequence

from app.reader.language.question_words import GRAMMAR, reading_orders
from app.reader.language.relation_wording import hop_words, voice_of
from app.reader.scoring.path_scoring import relation_direction
from kg_store.text.inflection import is_agent, is_participle, is_third_person, may_be_verb, singular, verbs_of
from kg_store.text.words import is_pseudonym

_RELATIVE = frozenset({"who", "that", "which"})
_RISING = frozenset({"report", "answer"})
"""Verbs for what people do towards those above them: report to, answer to."""
_COPULAS = frozenset("is are was were".split())
_SHARING = frozenset("same other else share shares with together also too another others".split())
_DOING = frozenset("do does did don't doesn't didn't not never can can't".split())
_OWNING = frozenset("a an the no any have has had having with without of his her their 's own".split())


def filled_in(words: Sequence[str]) -> tuple[int, range]:
    """Position of the thing whose role is asked, and the range of the words of the role: "whose doctor is X"; -1 if
    none.
    """
    at = next((n for n, word in enumerate(words) if is_pseudonym(word)), -1)
    if words[:1] == ("whose",) and 3 <= at + 1 == len(words) and words[at - 1] in _COPULAS:
        return at, range(1, at - 1)
    if at == 0 and words[1:3] in (("is", "the"), ("was", "the")) and words[-2:] in (("of", "who"), ("of", "whom")):
        return at, range(3, len(words) - 2)
    is_asked = at == 2 and words[0] in ("who", "whom", "what") and words[1] in _COPULAS
    if is_asked and words[at + 1 : at + 2] == ("the",) and words[-1] == "of" and len(words) > at + 3:
        return at, range(at + 2, len(words) - 1)
    return -1, range(0)


def names_other_end(words: Sequence[str], label: str) -> bool:
    """True if `words` name the end of the hop `label`, by its noun or by the noun of who does it."""
    own = {word for word in label.lower().split() if word not in GRAMMAR}
    verbs = frozenset[str]().union(*map(verbs_of, own))
    return any(singular(word) in own or not verbs.isdisjoint({word, *verbs_of(word)}) for word in words)


def is_turned_superior(words: Sequence[str], at: int, label: str) -> bool:
    """True if `label` goes down a hierarchy and the question goes up from the thing at `at`, or the reverse.

    "Who reports to X" asks for those below X.
    """
    said = hop_words(label, "").relation
    if _RISING.isdisjoint(verb for text in said for word in text.split()[:1] for verb in verbs_of(word)):
        return False
    before, after = tuple(words[max(0, at - 2) : at]), words[at + 1 : at + 2]
    is_below = not label.startswith("^")
    if before[1:] == ("to",) and not _RISING.isdisjoint(verbs_of(before[0])):
        return is_below
    return bool(after) and not _RISING.isdisjoint(verbs_of(after[0])) and not is_below


def is_turned_clause(words: Sequence[str], at: int, label: str) -> bool:
    """True if the relative clause at `at` says `label` in the opposite direction: "the doctor who supervises X's
    doctor".
    """
    has_done = at == 1 and is_participle(words[at]) and words[at + 1 : at + 2] != ("by",)
    if at < 1 or words[at - 1] not in _RELATIVE or not (has_done or is_third_person(words[at])):
        return False
    voice = voice_of(label.removeprefix("^"))
    return voice != "noun" and label.startswith("^") == (voice == "passive")


def is_active_clause(words: Sequence[str], at: int) -> bool:
    """True of "who treats X": the question asks for whoever acts on the thing at `at`."""
    return words[:1] == ("who",) and at in (2, 3) and words[at - 1] in ("the", words[1])


def is_turned_verb(words: Sequence[str], at: int, label: str) -> bool:
    """True if the verb at `at` and `label` run in opposite directions: "employees that manage nobody" may have a
    manager.
    """
    before, after = words[at - 1] if at else "", words[at + 1 : at + 2]
    is_done = is_participle(words[at]) and not (before in _DOING or before in _RELATIVE)
    if not may_be_verb(words[at]) or is_done or after == ("by",) or before in _OWNING or is_agent(words[at]):
        return False
    base = label.removeprefix("^").split("|")[-1]
    is_active = voice_of(base) == "active" and not is_participle(base.split()[0])
    return label.startswith("^") == is_active


def says_sharing(words: Sequence[str], label: str) -> bool:
    """True if the question may ask for things that share something: "the same director", "together with".

    "With" counts only for verbs ("who lives with X"); "who worked with X" does not ask for a shared occupation.
    """
    sharing = _SHARING.intersection(words)
    return bool(sharing - {"with"} if voice_of(label.removeprefix("^")) == "noun" else sharing)


def contrary_verb(question: str, topic: str, label: str, concept: str) -> str:
    """The verb of the question that says this hop in the opposite direction only; empty if there is none."""
    hop = hop_words(label, concept)
    spans = [span for order in reading_orders(question, topic) for span in order.spans if " " not in span.text]
    saying = [span for span in spans if not hop.verbs.isdisjoint(verbs_of(span.text))]
    ways = [relation_direction(hop, span.usages, by_verb=True) for span in saying]
    return saying[0].text if ways and max(ways) < 0 else ""
