"""Says whether the facts that tie the things of a piece together carry each of them, in the words beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.chat.statements.directions import Piece, subject_ends
from app.chat.statements.evidence import Evidence, Step
from app.chat.statements.quantities import Carriers, content
from app.chat.statements.vocabulary import NEUTRAL, all_frame_words, relation_words
from app.chat.statements.words.tokens import Token, lemmas
from app.chat.statements.words.wording import Ends, plain_label
from app.llm.embedded.language.morphology import is_agent

MIN_SEVERAL: Final = 3
"""Things of a piece from which on its words are shared out among them."""
_WHO: Final = frozenset({"who", "which", "that"})


def is_of_all(evidence: Evidence, facts: Carriers, names: Sequence[str]) -> bool:
    """True where one relation of `facts` ties each of `names`: "both were written by X"."""
    tied = [{step.label for step in evidence.steps(name) if step.fact in facts} for name in names]
    return bool(set.intersection(*tied)) if tied else True


def is_of(evidence: Evidence, facts: Carriers, name: str) -> bool:
    """True where a fact of `facts` is about `name`."""
    return any(step.fact in facts for step in evidence.steps(name))


def has_who(tokens: Sequence[Token]) -> bool:
    """True of a relative piece whose subject is who it hangs on: "who wrote X", not "whom X wrote"."""
    return bool(tokens) and tokens[0].word in _WHO and len(tokens) > 1 and not tokens[1].is_name


def is_contested(evidence: Evidence, piece: Piece, steps: Sequence[Step]) -> bool:
    """True of a verb that says another fact of these things as well, by its own word, and is none of the fact's:
    "X is driving" of a co-driver, where the driver is known."""
    facts = {step.fact for step in steps}
    labels = {step.label.lstrip("^") for step in steps}
    rivals = [
        step for name in dict.fromkeys([*piece.places.values(), piece.subject]) for step in evidence.steps(name)
        if step.fact not in facts and step.label.lstrip("^") not in labels
    ]  # fmt: skip
    for at in range(len(piece.tokens)):
        saying = [(step, ends) for step in steps if (ends := subject_ends(piece, at, step))]
        verbs = frozenset(lemmas(piece.word(at), "VERB"))
        beside = content(piece.tokens[:at]) | content(piece.tokens[at + 1 :])
        if any(verbs & _verbs(step.label) or relation_words(step.label) & beside for step in steps):
            continue
        for rival in (each for each in rivals if verbs & _verbs(each.label)):
            ends = subject_ends(piece, at, rival)
            if ends and (not saying or any(_says_both(step, own, rival, ends) for step, own in saying)):
                return True
    return False


def _says_both(step: Step, ends: Ends, rival: Step, others: Ends) -> bool:
    """True where the verb says both facts of the thing that they share; `ends` and `others` may be its subject."""
    if rival.name not in (step.name, step.there) or rival.there in (step.name, step.there):
        return False
    return ((step.here if rival.name == step.name else step.over) in ends) == (rival.here in others)


def _verbs(label: str) -> frozenset[str]:
    """The verbs that a label says: drive in "driven by", compose in "composer"."""
    words = plain_label(label).split()
    bare = words[0] if len(words) == 1 and is_agent(words[0]) else ""
    stems = {stem for ending in ("er", "or", "r") if bare and (stem := bare.removesuffix(ending)) != bare}
    return frozenset(base for word in {*words, *stems} for base in lemmas(word, "VERB"))


def is_said_beside(evidence: Evidence, piece: Piece, steps: Sequence[Step]) -> bool:
    """False where the words right before a thing say no fact that ties it: "whose home is X and who was born in Y" of
    one who speaks Y."""
    ordered = sorted(piece.places)
    called = frozenset[str]().union(*(evidence.kind_words(name) for name in piece.places.values()))
    if len(ordered) < MIN_SEVERAL:
        return True
    for place, at in enumerate(ordered):
        name = piece.places[at]
        own = [step for step in steps if name in (step.name, step.there)]
        begin = ordered[place - 1] + 1 if place else 0
        words = content(token for token in piece.tokens[begin:at] if not token.is_name)
        said = (words & all_frame_words()) - NEUTRAL - called
        if place and own and said and not any(said & relation_words(step.label) for step in own):
            return False
    return True
