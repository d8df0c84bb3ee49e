"""Says whether the facts that tie the things of a piece together carry each of them, in the words beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.chat.statements.directions import Piece
from app.chat.statements.evidence import Evidence, Step
from app.chat.statements.quantities import Carriers, content
from app.chat.statements.vocabulary import NEUTRAL, all_frame_words, relation_words
from app.chat.statements.words.tokens import Token

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
