"""Says which way a piece says a relation between two things of one kind, where words alone could go both ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from app.chat.statements.directions import Piece, holder_is_right, is_right, subject_ends
from app.chat.statements.evidence import Evidence, Step
from app.chat.statements.vocabulary import NEUTRAL
from app.chat.statements.words.tokens import (
    ARTICLES,
    BE,
    HAVE,
    POSSESSIVES,
    PREPOSITIONS,
    SHADES,
    is_form,
    is_grammar,
    lemmas,
    noun_base,
)
from app.chat.statements.words.wording import Ends, like, wording_of

MAX_WORDS: Final = 5
_ORDINALS: Final = frozenset("first second third main chief last next previous former".split())
_BOUNDS: Final = frozenset("over than above below under beyond".split())
_MAKING: Final = frozenset("made makes make did does do".split())
_MADE: Final = frozenset("work creation product brainchild baby".split())
_SKIPPED: Final = ARTICLES | POSSESSIVES | SHADES


def is_phrased_otherwise(evidence: Evidence, piece: Piece, steps: Sequence[Step]) -> bool:
    """True where words that say these facts together, such as "in the care of", stand between them turned round."""
    for at in range(len(piece.tokens)):
        saying = [(step, ends) for step in steps if (ends := _phrase_ends(piece, at, step))]
        if saying and not any(is_right(piece, at, step, ends) for step, ends in saying):
            return True
        had = [right for step in steps if (right := _had_rightly(piece, at, step)) is not None]
        if (had and not any(had)) or _is_made_otherwise(piece, at, steps) or _is_owned_otherwise(piece, at, steps):
            return True
        if _says_other_verb(evidence, piece, at, steps) or _is_done_by_another(evidence, piece, at, steps):
            return True
        if _is_unreal(piece, at):
            return True
    return _is_numbered_otherwise(piece, steps) or _is_bounded(piece, steps)


def _is_bounded(piece: Piece, steps: Sequence[Step]) -> bool:
    """ "More than V1", "over V1", and "at least V1" of what is the most: a value is no bound to itself."""
    for at, name in piece.places.items():
        own = [
            step for step in steps if name in (step.name, step.there) and "number" in (step.sort, _sort(step, steps))
        ]
        is_most = any({"max", "maximum"} & set(step.label.lstrip("^").split()) for step in own)
        if own and (piece.word(at - 1) in _BOUNDS or (is_most and piece.word(at - 1) == "least")):
            return True
    return False


def _sort(step: Step, steps: Sequence[Step]) -> str:
    return next((each.sort for each in steps if each.fact == step.fact and each.sort), "")


def _says_other_verb(evidence: Evidence, piece: Piece, at: int, steps: Sequence[Step]) -> bool:
    """ "X lectures on Y" of who attends it: the verb of another relation of the graph, and of none of these facts."""
    if at - 1 not in piece.places or piece.word(at + 1) not in PREPOSITIONS or at + 2 not in piece.places:
        return False
    verbs = lemmas(piece.word(at), "VERB")
    key = tuple(verb for verb in verbs if verb not in NEUTRAL)
    if any(verb in key for step in steps for verb, _, _ in step.wording.verbs):
        return False
    return any(
        wording_of(label).verb_subjects(key, piece.word(at + 1), is_passive=False) for label in evidence.beside.labels
    )


def _is_done_by_another(evidence: Evidence, piece: Piece, at: int, steps: Sequence[Step]) -> bool:
    """ "X was written by Y" of who supervised it: a fact of another relation of the graph, and none of Y's, is said
    so."""
    if not is_form(piece.word(at), "VBN") or piece.word(at + 1) != "by" or at + 2 not in piece.places:
        return False
    own = [step for step in steps if piece.places[at + 2] in (step.name, step.there)]
    verbs = lemmas(piece.word(at), "VERB")
    if piece.word(at - 1) in BE and piece.word(at - 3) in PREPOSITIONS:  # "The music for X was written by Y".
        return False
    if any(step.wording.verb_subjects(verbs, "by", is_passive=True) for step in own):
        return False
    return any(wording_of(label).verb_subjects(verbs, "by", is_passive=True) for label in evidence.beside.labels)


def _is_owned_otherwise(piece: Piece, at: int, steps: Sequence[Step]) -> bool:
    """ "X is the work of Y" where it is no work of theirs."""
    if piece.word(at) not in _MADE or piece.word(at + 1) != "of" or at + 2 not in piece.places:
        return False
    own = [step for step in steps if piece.places[at + 2] in (step.name, step.there)]
    return not any(step.wording.holders(piece.word(at)) for step in own)


def _is_numbered_otherwise(piece: Piece, steps: Sequence[Step]) -> bool:
    """ "The first reader" of a second one."""
    said = {piece.word(at) for at in range(len(piece.tokens))} & _ORDINALS
    meant = {word for step in steps for word in step.label.lstrip("^").split()} & _ORDINALS
    return bool(said and meant) and said.isdisjoint(meant)


def _is_made_otherwise(piece: Piece, at: int, steps: Sequence[Step]) -> bool:
    """ "X was made by Y", "X was held in honour by Y" and "who made X" where no fact of Y is said so."""
    verbs = tuple(set(lemmas(piece.word(at), "VERB")) & NEUTRAL)
    if not verbs:
        return False
    verbs += tuple(f"{verb} {piece.word(at + 1)}" for verb in verbs)
    if is_form(piece.word(at), "VBN") and (piece.word(at - 1) in BE or piece.word(at + 1) == "by"):
        makers = [name for place, name in piece.places.items() if place > at and piece.word(place - 1) == "by"]
        own = [step for step in steps if makers and makers[0] in (step.name, step.there)]
        prep = piece.word(at + 1)
        return bool(own) and not any(
            step.wording.verb_subjects(verbs, "by", is_passive=True)
            or step.wording.verb_subjects(verbs, prep, is_passive=False)
            for step in own
        )
    if piece.word(at) not in _MAKING or at + 1 not in piece.places:
        return False
    own = [step for step in steps if piece.places[at + 1] in (step.name, step.there)]
    return bool(own) and not any(step.wording.verb_subjects(verbs, "", is_passive=False) for step in own)


def _is_unreal(piece: Piece, at: int) -> bool:
    """ "X wants to treat Y", "X could have treated Y", "X used to treat Y"."""
    word, behind = piece.word(at), piece.word(at + 1)
    if word in ("could", "would", "should") and behind == "have":
        return True
    if not word or behind != "to" or not is_form(piece.word(at + 2), "VB") or word in BE | HAVE:
        return False
    verbs = set(lemmas(word, "VERB"))
    return piece.word(at - 1) not in BE if word == "used" else bool(verbs) and not verbs & NEUTRAL


def _had_rightly(piece: Piece, at: int, step: Step) -> bool | None:
    """ "X has Y as her mentor": the noun is one of what Y is to X."""
    words = [piece.word(k) for k in range(at + 2, at + 5)]
    if piece.word(at) not in HAVE | {"with"} or at + 1 not in piece.places or words[0] != "as":
        return None
    noun = next((word for word in words[1:] if word and word not in _SKIPPED), "")
    ends = step.wording.holders(noun_base(noun)) if noun else frozenset()
    owner = {step.name: step.over, step.there: step.here}.get(piece.places[at + 1])
    return owner in ends if ends and owner else None


def is_undirected(evidence: Evidence, piece: Piece, steps: Sequence[Step]) -> bool:
    """True where two things of one kind are tied, and no verb, noun or phrase of the relation says which way."""
    names = set(piece.places.values())
    if all(is_grammar(piece.word(at)) for at in range(len(piece.tokens)) if piece.word(at).isalpha()):
        return False
    ties = [step for step in steps if {step.name, step.there} <= names and _is_alike(evidence, step)]
    return any(not _is_mutual(step) and not _is_directed(piece, step) for step in ties)


def _is_directed(piece: Piece, step: Step) -> bool:
    for at in range(len(piece.tokens)):
        for ends in (subject_ends(piece, at, step), _phrase_ends(piece, at, step)):
            if ends and is_right(piece, at, step, ends):
                return True
        if holder_is_right(piece, at, step) or _is_had(piece, at, step):
            return True
    return False


def _is_had(piece: Piece, at: int, step: Step) -> bool:
    """ "X has Y as mentor", "X has three children"."""
    if piece.word(at) not in HAVE | {"with"}:
        return False
    before = [place for place in piece.places if place < at]
    owner = piece.places[max(before)] if before else piece.subject
    ends = {step.name: step.here, step.there: step.over}
    words = [piece.word(k) for k in range(at + 1, len(piece.tokens))]
    return owner in ends and any(ends[owner] in step.wording.holders(noun_base(word)) for word in words if word)


def _is_alike(evidence: Evidence, step: Step) -> bool:
    one, other = step.name, step.there
    if "V" in (one[0], other[0]):
        return False
    if evidence.is_person(one) and evidence.is_person(other):
        return True
    return bool(evidence.kinds(one) & evidence.kinds(other))


def _is_mutual(step: Step) -> bool:
    """True of a relation that is said of both ends alike: "X is married to Y"."""
    return any(len(ends) > 1 for ends in step.wording.nouns.values())


def _phrase_ends(piece: Piece, at: int, step: Step) -> Ends:
    """The ends that may be the subject of a phrase that begins at `at`."""
    found: Ends = frozenset()
    for text, prep, is_passive in _phrases(piece, at):
        found |= step.wording.verbs.get((text, is_passive, like(prep)), frozenset())
    return found


def _phrases(piece: Piece, at: int) -> Iterator[tuple[str, str, bool]]:
    """The words from `at` to the next thing, in their base forms."""
    words: list[str] = []
    if not piece.word(at) or at in piece.places or piece.word(at) in _SKIPPED:
        return
    while at < len(piece.tokens) and at not in piece.places and len(words) < MAX_WORDS:
        if not piece.word(at).isalpha():
            return
        if piece.word(at) not in _SKIPPED:
            words.append(piece.word(at))
        at += 1
    if at not in piece.places or not words:
        return
    prep = words.pop() if words[-1] in PREPOSITIONS else ""
    if len(words) < 2:
        return
    is_passive = words[0] in PREPOSITIONS
    first = (words[0],) if is_passive else lemmas(words[0], "VERB")
    for parts in product(first, *({word, noun_base(word)} for word in words[1:])):
        yield " ".join(parts), prep, is_passive
