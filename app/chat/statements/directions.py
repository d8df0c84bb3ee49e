"""Says whether a piece turns a relation round: the film that directed its director, the parent of one's mother."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.chat.statements.evidence import Evidence, Step
from app.chat.statements.vocabulary import NEUTRAL
from app.chat.statements.words.tokens import (
    ARTICLES,
    BE,
    HAVE,
    PERSONAL,
    POSSESSIVES,
    PREPOSITIONS,
    SHADES,
    Token,
    is_form,
    is_grammar,
    lemmas,
    noun_base,
)
from app.chat.statements.words.wording import OTHER, PERSONS, Ends, direct_verbs, kinds_like, known_kinds, like
from app.llm.embedded.language.morphology import is_agent

_BETWEEN: Final = SHADES | {"not", "been", "being"}


@dataclass(frozen=True, slots=True)
class Piece:
    """The tokens of a piece, and where each thing stands in it; a thing that is only meant stands at its subject."""

    tokens: Sequence[Token]
    places: dict[int, str]
    subject: str

    def word(self, at: int) -> str:
        return self.tokens[at].word if 0 <= at < len(self.tokens) and not self.tokens[at].is_name else ""


def is_turned(piece: Piece, steps: Sequence[Step]) -> bool:
    """True where a verb or noun of these facts stands between other things than theirs, or the other way round."""
    for at in range(len(piece.tokens)):
        saying = [(step, ends) for step in steps if (ends := subject_ends(piece, at, step))]
        if saying and not any(is_right(piece, at, step, ends) for step, ends in saying):
            return True
        held = [right for step in steps if (right := holder_is_right(piece, at, step)) is not None]
        if held and not any(held):
            return True
    return False


def says_other(piece: Piece, steps: Sequence[Step]) -> bool:
    """True where a verb that has one thing for its object says some other relation: "X wrote Y" of a composer."""
    for at in range(len(piece.tokens)):
        verbs = (set(lemmas(piece.word(at), "VERB")) & direct_verbs()) - NEUTRAL if piece.word(at) else set()
        if not verbs or piece.word(at - 1) in ARTICLES | POSSESSIVES or not _stands_as_verb(piece, at):
            continue
        passive = _is_passive(piece, at)
        target = _next_name(piece, at + 2 if piece.word(at + 1) == "by" else at + 1)
        if not target or target[0] == "V" or (passive and piece.word(at + 1) != "by"):
            continue
        own = [step for step in steps if target in (step.name, step.there) and target != _subject(piece, at)]
        if own and not any(
            step.wording.verb_subjects((verb,), "", is_passive=False) for verb in verbs for step in own
        ):
            return True
    return False


def _stands_as_verb(piece: Piece, at: int) -> bool:
    word = piece.word(at)
    return is_form(word, "VBD") or is_form(word, "VBG") or (is_form(word, "VBZ") and at - 1 in piece.places)


def is_misplaced(piece: Piece, steps: Sequence[Step]) -> bool:
    """True of "to" before what something comes from, and of "from" before what it goes to."""
    for at, name in piece.places.items():
        behind = [step for step in steps if name in (step.name, step.there)]
        if behind and piece.word(at - 1) in ("a", "an") and lemmas(piece.word(at + 1), "NOUN"):
            return not any(_may_stand_before(step, name) for step in behind)
        prep = piece.word(at - 2 if piece.word(at - 1) in ARTICLES else at - 1)
        other = {"from": "to", "to": "from"}.get(prep)
        own = [step for step in steps if name in (step.name, step.there)]
        if other and own:
            said = {key[2] for step in own for key in step.wording.verbs} | {
                p for step in own for p in step.wording.preps
            }
            if other in said and prep not in said:
                return True
    return False


def _may_stand_before(step: Step, name: str) -> bool:
    """ "A drama film": only what a thing is one of, or is dated by, stands before its noun."""
    return (step.over if step.name == name else step.here) in step.wording.before_noun


def is_unplaced(piece: Piece, steps: Sequence[Step]) -> bool:
    """True where no more than a preposition ties a thing, and the facts are not said with it: "the act behind E1"."""
    for at, name in piece.places.items():
        if name[0] == "V" or not piece.tokens[at].is_name:
            continue
        prep = piece.word(at - 2 if piece.word(at - 1) in ARTICLES else at - 1)
        own = [step for step in steps if name in (step.name, step.there)]
        is_sought = prep == "for" and "look" in lemmas(piece.word(at - 2), "VERB")
        if (
            prep in PREPOSITIONS
            and prep not in ("of", "as")
            and own
            and not is_sought
            and not any((step.over if step.name == name else step.here) in _placed_ends(step, prep) for step in own)
        ):
            return True
    return False


def is_placed(piece: Piece, name: str, steps: Sequence[Step]) -> bool:
    """True where `name` stands behind a preposition that these facts are said with."""
    for at, each in piece.places.items():
        prep = piece.word(at - 2 if piece.word(at - 1) in ARTICLES else at - 1)
        if each == name and prep in PREPOSITIONS:
            return any((step.over if step.name == name else step.here) in _placed_ends(step, prep) for step in steps)
    return False


def _placed_ends(step: Step, prep: str) -> Ends:
    """The ends that may stand before the preposition, with whatever verb."""
    wording, word = step.wording, like(prep)
    found = set(wording.preps.get(word, frozenset()))
    for (_, is_passive, behind), ends in wording.verbs.items():
        if behind == word:
            found |= ends
        if word == "by" and not behind and not is_passive:
            found |= {OTHER[end] for end in ends}
    return frozenset(found)


def is_right(piece: Piece, at: int, step: Step, ends: Ends) -> bool:
    subject = _subject(piece, at)
    if subject == step.name:
        return step.here in ends
    if subject == step.there:
        return step.over in ends
    target = "" if subject else _next_name(piece, at + 1)
    if target in (step.name, step.there) and not _is_passive(piece, at):
        return (step.over if target == step.name else step.here) in ends
    return not subject


def subject_ends(piece: Piece, at: int, step: Step) -> Ends:
    """The ends that may be the subject of the verb at `at`; empty where it is no verb of the relation."""
    word = piece.word(at)
    if not word or is_grammar(word) or not lemmas(word, "VERB"):
        return frozenset()
    if piece.word(at - 1) in ARTICLES | POSSESSIVES | {"'s", "as"}:
        return frozenset()
    prep = piece.word(at + 1) if piece.word(at + 1) in PREPOSITIONS else ""
    passive = _is_passive(piece, at)
    if not passive and not prep and at + 1 not in piece.places and piece.word(at + 1) not in ARTICLES | PERSONAL:
        later = next((k for k in range(at + 1, len(piece.tokens)) if k in piece.places), None)
        if later is not None and piece.word(later - 1) in PREPOSITIONS:
            return frozenset()
    verbs = lemmas(word, "VERB")
    if passive and prep not in ("", "by") and _agent_follows(piece, at):
        own = step.wording.verb_subjects(verbs, "by", is_passive=True)
        if own:
            return own
    if passive and prep and piece.word(at + 2) == "by":
        return frozenset(OTHER[end] for end in step.wording.verb_subjects(verbs, prep, is_passive=False))
    if passive and piece.word(at + 3) == "by":
        longer = tuple(f"{verb} {piece.word(at + 1)}" for verb in verbs)
        return frozenset(
            OTHER[end] for end in step.wording.verb_subjects(longer, piece.word(at + 2), is_passive=False)
        )
    return step.wording.verb_subjects(verbs, prep, is_passive=passive)


def _agent_follows(piece: Piece, at: int) -> bool:
    return any(piece.word(place - 1) == "by" for place in piece.places if place > at + 2)


def _is_passive(piece: Piece, at: int) -> bool:
    word, before = piece.word(at), at - 1
    if not is_form(word, "VBN"):
        return False
    while piece.word(before) in _BETWEEN or piece.word(before).endswith("ly"):
        before -= 1
    if piece.word(before) in BE or piece.word(at + 1) == "by":
        return True
    if piece.word(before) in HAVE and piece.word(at - 1) != "been":
        return False
    return piece.word(at + 1) in PREPOSITIONS and (not is_form(word, "VBD") or before < 0)


def _subject(piece: Piece, at: int) -> str:
    """The thing nearest before the verb."""
    before = [place for place in piece.places if place < at]
    while before:
        place = max(before)
        if piece.word(place - 1) in PREPOSITIONS and piece.word(place - 1) != "of" and len(before) > 1:
            before.remove(place)
            continue
        return piece.places[place]
    return piece.subject


def holder_is_right(piece: Piece, at: int, step: Step) -> bool | None:
    """ "X is the director of Y" where X is; None where no such noun stands at `at`."""
    word = piece.word(at)
    if not word or is_grammar(word):
        return None
    noun = noun_base(word)
    phrase = f"{noun_base(piece.word(at - 1))} {noun}"
    ends = step.wording.holders(phrase) or step.wording.holders(noun)
    holder = ""
    is_to = piece.word(at + 1) == "to" and "as" in (piece.word(at - 1), piece.word(at - 2))
    if is_to or piece.word(at + 1) in ("of", "in", "for", "on", "behind"):
        holder = _next_name(piece, at + 2)
    elif piece.word(at - 1) == "'s" and at - 2 in piece.places:
        holder = piece.places[at - 2]
    elif piece.word(at - 1) in POSSESSIVES and at - 1 in piece.places:
        holder = piece.places[at - 1]
    if not ends or not holder or not (noun in PERSONS or is_agent(noun) or _is_predicate_noun(piece, at)):
        return None
    if holder not in (step.name, step.there):
        return False
    return (step.here if holder == step.name else step.over) in ends


def _is_predicate_noun(piece: Piece, at: int) -> bool:
    """ "X is the capital of Y"."""
    if piece.word(at + 1) == "of" and at + 2 in piece.places and piece.word(at + 3) in BE:
        return True
    return piece.word(at - 1) in BE or (piece.word(at - 1) in ARTICLES and piece.word(at - 2) in BE)


def _next_name(piece: Piece, at: int) -> str:
    while at < len(piece.tokens) and at not in piece.places:
        at = at + 1 if piece.word(at) in ARTICLES or lemmas(piece.word(at), "NOUN") else len(piece.tokens)
    return piece.places.get(at, "")


def is_misnamed(piece: Piece, evidence: Evidence) -> bool:
    """True where a thing is called a kind of thing that it is known not to be: "X is a movie" of a person."""
    for at, name in piece.places.items():
        called = _called_before(piece, at) or _called_behind(piece, at)
        if called and not _may_be(evidence, name, called):
            return True
    if piece.subject and not piece.places.get(0) and piece.word(0) in ("a", "an"):
        return not _may_be(evidence, piece.subject, _head(piece, 1))
    return False


def _may_be(evidence: Evidence, name: str, noun: str) -> bool:
    if not evidence.kinds(name) or noun not in known_kinds():
        return True
    near = kinds_like(noun) & evidence.kind_words(name)
    if near:
        return True
    is_work = not {"film", "song", "book", "person"}.isdisjoint(kinds_like(noun))
    return noun not in PERSONS and evidence.is_person(name) is False and not is_work


def _called_before(piece: Piece, at: int) -> str:
    """The noun right before a name: "the film X"."""
    word = piece.word(at - 1)
    if not word or is_grammar(word) or word == "'s" or not lemmas(word, "NOUN"):
        return ""
    first = at - 2
    while piece.word(first) and not is_grammar(piece.word(first)):
        first -= 1
    return noun_base(word) if piece.word(first) in ARTICLES | POSSESSIVES else ""


def _called_behind(piece: Piece, at: int) -> str:
    """The noun behind "is a"."""
    behind = at + 1
    while piece.word(behind) in SHADES:
        behind += 1
    if piece.word(behind) not in BE or piece.word(behind + 1) not in ("a", "an"):
        return ""
    return _head(piece, behind + 2)


def _head(piece: Piece, at: int) -> str:
    """The last noun of a run of words."""
    last = ""
    while at < len(piece.tokens):
        word = piece.word(at)
        if not word and at in piece.places:
            at += 1
            continue
        if not word or is_grammar(word) or not (lemmas(word, "NOUN") or lemmas(word, "ADJ")):
            break
        last = noun_base(word)
        at += 1
    return last
