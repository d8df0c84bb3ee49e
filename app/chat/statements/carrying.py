"""Says whether the words of a piece leave it to the facts that tie its things together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from app.chat.statements.coverage import is_contested, is_said_beside
from app.chat.statements.directions import (
    Piece,
    is_misnamed,
    is_misplaced,
    is_placed,
    is_turned,
    is_unplaced,
    says_other,
)
from app.chat.statements.evidence import Evidence, Step
from app.chat.statements.phrases import is_phrased_otherwise, is_undirected
from app.chat.statements.quantities import Carriers, content, counted, denied, is_alone
from app.chat.statements.vocabulary import NEUTRAL, check_words, relation_words
from app.chat.statements.words.tokens import ARTICLES, BE, HAVE, PREPOSITIONS, Token, is_form, lemmas, noun_base
from app.chat.statements.words.wording import direct_verbs, known_kinds
from app.llm.embedded.language.morphology import is_agent

MAX_SUBJECT: Final = 2
"""The place of "is" behind a bare subject, at most."""
_SHARED: Final = frozenset("share same common joint both".split())
_PLACING: Final = frozenset({"in", "on", "at"})
_ROW: Final = frozenset({",", "and", "or", "&", "the"})
PAIR: Final = 2
_HAD_A: Final = ("has", "a")


def checked(
    evidence: Evidence, piece: Piece, said: Sequence[Token], facts: Carriers | None, things: Sequence[str],
    steps: Sequence[Step] = (),
) -> Carriers | None:  # fmt: skip
    """`facts` where the words fit them and nothing is turned round."""
    if facts is None:
        return None
    steps = steps or [step for name in things for step in evidence.steps(name) if step.fact in facts]
    check = check_words(evidence, said, steps, things)
    if check.unknown or (check.foreign and not check.fitting) or _is_of_others(check.others, steps):
        return None
    if is_contested(evidence, piece, steps) or not is_said_beside(evidence, piece, steps):
        return None
    if is_phrased_otherwise(evidence, piece, steps) or is_undirected(evidence, piece, steps):
        return None
    if is_turned(piece, steps) or says_other(piece, steps) or is_misplaced(piece, steps):
        return None
    if not check.fitting and (is_unplaced(piece, steps) or _is_undone(piece, steps)):
        return None
    if _is_stray(piece, steps, content(said)) or any(is_form(word, "VBD") for word in check.foreign):
        return None
    return None if is_misnamed(piece, evidence) else _telling(facts, steps, content(said))


def _is_of_others(words: Sequence[str], steps: Sequence[Step]) -> bool:
    """True where a word says another relation of the graph, and two things are tied by more than a value."""
    return _ties_things(steps) and any(
        noun_base(word) not in known_kinds() or is_agent(noun_base(word)) for word in words
    )


def _ties_things(steps: Sequence[Step]) -> bool:
    """True where two things are tied, neither of which is a value."""
    return any("V" not in (step.name[0], step.there[0]) for step in steps)


def _is_stray(piece: Piece, steps: Sequence[Step], words: frozenset[str]) -> bool:
    """True where a thing is tied by another fact than the words say: "X and Y star in Z" where Y directed it."""
    saying = [step for step in steps if not relation_words(step.label).isdisjoint(words)]
    tied = {name for step in saying for name in (step.name, step.there)}
    if not saying and _mixes_row(piece, steps):
        return True
    for name in dict.fromkeys(piece.places.values()):
        own = [step for step in steps if name in (step.name, step.there)]
        if name[0] != "V" and own and tied and name not in tied and not is_placed(piece, name, own):
            return True
    return False


def _is_undone(piece: Piece, steps: Sequence[Step]) -> bool:
    """True of "X made Y" and "X is Y" where no fact between them is said so."""
    for at, name in piece.places.items():
        before = at - 2 if piece.word(at - 1) in ARTICLES else at - 1
        word, own = piece.word(before), [step for step in steps if name in (step.name, step.there)]
        is_owner = piece.word(at + 1) == "'s" or (word in BE and before > MAX_SUBJECT)
        if name[0] == "V" or not own or before - 1 not in piece.places or not word or is_owner:
            continue
        verbs = lemmas(word, "VERB")
        others = [(step, step.over if step.name == name else step.here) for step in own]
        if word in BE:
            said = any(end in step.wording.category for step, end in others)
        else:
            said = any(end in step.wording.verb_subjects(verbs, "", is_passive=False) for step, end in others)
        if verbs and word not in PREPOSITIONS and not said:
            return True
    return False


def _mixes_row(piece: Piece, steps: Sequence[Step]) -> bool:
    """True of a row of things that different relations lead to."""
    names = [piece.places[at] for at in sorted(piece.places)]
    for name in names:
        row = [each for each in names if each != name and each not in beside_row(piece, name, names)]
        own = {step.label.lstrip("^") for step in steps if name in (step.name, step.there)}
        for each in row:
            theirs = {step.label.lstrip("^") for step in steps if each in (step.name, step.there)}
            if own and theirs and own.isdisjoint(theirs):
                return True
    return False


def _telling(facts: Carriers, steps: Sequence[Step], words: frozenset[str]) -> Carriers:
    """Of several facts between the same two things those that the words say."""
    said = {step.fact for step in steps if not relation_words(step.label).isdisjoint(words)}
    ends = {frozenset((step.name, step.there)) for step in steps if step.fact in said}
    others = {step.fact for step in steps if step.fact not in said and frozenset((step.name, step.there)) in ends}
    return facts - others


def called(
    evidence: Evidence, piece: Piece, said: Sequence[Token], things: Sequence[str], subject: str
) -> Carriers | None:
    """A piece that says no more than what kind of thing something is."""
    named = list(dict.fromkeys(things)) or ([subject] if subject else [])
    if len(named) != 1:
        return None
    check = check_words(evidence, said, (), named)
    if check.foreign or check.unknown or check.fitting or is_misnamed(piece, evidence):
        return None
    if any(token.word in PREPOSITIONS for token in said):
        return None
    kinds = {part for kind in evidence.kind_words(named[0]) for part in kind.split()}
    return None if content(said).isdisjoint(kinds) else frozenset()


def had(evidence: Evidence, piece: Piece, subject: str) -> Carriers | None:
    """ "X has a child", whose name comes behind."""
    things = list(dict.fromkeys(piece.places.values())) or [subject]
    words = [piece.word(at) for at in range(len(piece.tokens)) if piece.word(at)]
    if len(things) != 1 or len(words) != len(_HAD_A) + 1 or words[0] not in HAVE or words[1] not in ("a", "an"):
        return None
    noun = noun_base(words[-1])
    found = (step for step in evidence.steps(things[0]) if step.here in step.wording.holders(noun))
    return frozenset(step.fact for step in found) or None


def alone_between(evidence: Evidence, piece: Piece, things: Sequence[str], subject: str) -> Carriers | None:
    """ "Only X directed Y" where nobody else did; elsewhere each has to be all that there is for the other."""
    ends = list(dict.fromkeys(things))
    ends = ends if len(ends) > 1 else [*ends, subject]
    if len(ends) != PAIR or not all(ends):
        return None
    named = {piece.places.get(at + 1, "") for at in range(len(piece.tokens)) if piece.word(at) in ("only", "just")}
    one, other = ends if ends[1] in named else (ends[1], ends[0])
    if named & set(ends):
        return is_alone(evidence, one, other)
    return is_alone(evidence, one, other) and is_alone(evidence, other, one)


def denied_between(
    evidence: Evidence, things: Sequence[str], subject: str, words: frozenset[str]
) -> Carriers | None:  # fmt: skip
    """ "X did not direct Y" where the house says so, whichever end the words are said of."""
    ends = things if len(things) > 1 else [*things, subject]
    if len(ends) != PAIR or not all(ends):
        return None
    return denied(evidence, ends[0], ends[1], words) or denied(evidence, ends[1], ends[0], words)


def says_shared(said: Sequence[Token]) -> bool:
    return any(token.word in ("share", "shares", "shared", "same", "common") for token in said)


def beside_row(piece: Piece, name: str, names: Sequence[str]) -> list[str]:
    """The names that may be tied to `name`: not those that stand in a row with it, where there are others."""
    row = {name}
    places = sorted(piece.places)
    for place, following in pairwise(places):
        between = [piece.word(at) for at in range(place + 1, following)]
        if between and all(word in _ROW for word in between):
            pair = {piece.places[place], piece.places[following]}
            row |= pair if row & pair else set()
    others = [each for each in dict.fromkeys(names) if each != name]
    return [each for each in others if each not in row] or others


def steps_shared(evidence: Evidence, names: Sequence[str], meant: Sequence[str], words: frozenset[str]) -> list[Step]:
    """ "X and Y share a director": the steps of each that lead to the same one."""
    things = [*names, *meant]
    if _SHARED.isdisjoint(words) or len(things) < 2:
        return []
    found = [
        [step for step in evidence.steps(name) if not relation_words(step.label).isdisjoint(words)] for name in things
    ]
    common = set.intersection(*({(step.label, step.there) for step in steps} for steps in found))
    return [step for steps in found for step in steps if (step.label, step.there) in common]


def all_counted(
    evidence: Evidence, numbers: Sequence[tuple[int, str, int]], things: Sequence[str], words: frozenset[str]
) -> Carriers | None:
    """The facts of all that is counted; None where the house counts something else."""
    facts: Carriers = frozenset()
    for number, bound, _ in numbers:
        found = (counted(evidence, name, words, number, bound) for name in things)
        said = next((each for each in found if each is not None), None)
        if said is None:
            return None
        facts |= said
    return facts


def fits_verb(sentence: Sequence[Token], piece: Piece, name: str, steps: Sequence[Step]) -> bool:
    """False where "in London" stands behind what somebody did there, and facts hold no more than their birth there."""
    at = next((place for place, each in piece.places.items() if each == name), 0)
    if name[0] == "V" or piece.word(at - 2 if piece.word(at - 1) in ARTICLES else at - 1) not in _PLACING:
        return True
    words = [token.word for token in sentence if token.is_word]
    done = {base for word in words if is_form(word, "VBD") for base in lemmas(word, "VERB")} & direct_verbs()
    return not done - NEUTRAL or any(not relation_words(step.label).isdisjoint(content(sentence)) for step in steps)
