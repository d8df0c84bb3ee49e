"""Finds the noun on which the relations of a thing agree, over all things that have the same relations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from app.reader.concepts.relation_nouns import Noun, object_noun, subject_noun, told
from kg_store.terms import Hop, NodeKind, Schema, Signature, is_mask_word

# A relation counts as stored the wrong way round if so many signatures say so, and twice as many as deny it. By hand.
_MIN_TURNED: Final = 3
_TURNED_SHARE: Final = 2
# From this number of relations on, a thing is named by likeness or the general word. Chosen by hand; not fitted.
MANY: Final = 4
_GENERAL_WORDS: Final = frozenset("place location area people human holder head figure".split())
_MIN_WEIGHT: Final = 0.5
"""A noun of less weight is rejected: the facts contradict it about as often as they support it. Chosen by hand; not
fitted.
"""
_MIN_SPOKEN: Final = 3
"""If fewer relations than this say a kind, the other relations cannot confirm or refute it. Chosen by hand; not
fitted.
"""
# Shares that a word and a kind of similar things need, and the share assumed for a kind that was never seen. By hand.
_SHARE_OF_WORD: Final = 0.6
_SHARE_OF_LIKE: Final = 2 / 3
_UNSEEN: Final = 0.01
AGENT: Final = "agent"
"""The kind of a thing that may be a person or a group, such as the owner of something."""
ACTING: Final = ("person", "organization")

Nouns = Mapping[Hop, Noun]


@dataclass(frozen=True, slots=True)
class Agreed:
    """The noun on which relations agree: `word` is the concept, `kind` its most general kind."""

    word: str
    kind: str


class NounAgreement:
    """The nouns of all relations of a schema, checked against each other. Deterministic; reads only labels and
    signatures.
    """

    def __init__(self, schema: Schema, signatures: Sequence[Signature]) -> None:
        nouns = _checked(_nouns_of(schema), signatures)
        self._nouns = nouns
        self._of_like = _of_like(nouns, signatures)

    def of(self, hops: Iterable[Hop]) -> Agreed | None:
        """Returns the noun on which `hops` agree, or None if none of them says a noun."""
        hops = tuple(hops)
        return agreed([self._nouns[hop] for hop in hops if hop in self._nouns], relations=len(hops))

    def of_like(self, hops: Iterable[Hop]) -> Agreed | None:
        """Returns the noun of most other things that have these hops, or None if those things differ too much."""
        shares = [self._of_like[hop] for hop in hops if hop in self._of_like]
        kinds = {kind for each in shares for kind in each}
        fits = {kind: prod(each.get(kind, _UNSEEN) for each in shares) for kind in kinds}
        if not fits:
            return None
        best = min(fits, key=lambda kind: (-fits[kind], kind.word))
        return best if fits[best] >= _SHARE_OF_LIKE * sum(fits.values()) else None


def noun_of(label: str) -> Noun | None:
    """The noun that a hop's label says of the thing that has it; None for a masked relation.

    `^` marks a hop that leads to the thing: `"leader of"` -> leader, `"^plays in club"` -> club.
    """
    if is_mask_word(label.lstrip("^").partition(" ")[0]):
        return None
    return object_noun(label[1:]) if label.startswith("^") else subject_noun(label)


def agreed(nouns: Sequence[Noun], *, relations: int = 2) -> Agreed | None:
    """The kind of greatest weight, as the word that most relations say for it; None below _MIN_WEIGHT.

    If the thing has many `relations`, the kind's general word is used, because things like it have other words. A
    person keeps the word of the relation if only one says it.
    """
    weights = _weights(nouns)
    if max(weights.values(), default=0.0) < _MIN_WEIGHT:
        return None
    kind = min(weights, key=lambda each: (-weights[each], each))
    words: dict[str, float] = defaultdict(float)
    for noun in nouns:
        if _meet(noun.kind, kind):
            words[noun.word] += noun.weight
    word, weight = min(words.items(), key=lambda item: (-item[1], item[0]))
    general = told(kind)
    is_said = relations < MANY and weight >= _SHARE_OF_WORD * sum(words.values()) and word not in _GENERAL_WORDS
    is_said = is_said and (general != "person" or relations == 1)
    return Agreed(word if is_said or general is None else general, kind)


def _weights(nouns: Iterable[Noun]) -> dict[str, float]:
    weights: dict[str, float] = defaultdict(float)
    for noun in nouns:
        weights[noun.kind] += noun.weight
    if AGENT in weights:
        acting = [kind for kind in ACTING if kind in weights]
        if acting:
            weights[max(acting, key=lambda kind: weights[kind])] += weights.pop(AGENT)
    return weights


def _nouns_of(schema: Schema) -> dict[Hop, Noun]:
    found = {}
    for relation in schema.relations:
        for hop in (Hop(relation.id), Hop(relation.id, True)):
            if relation.mask is None and (noun := noun_of(schema.label(hop))) is not None:
                found[hop] = noun
    return found


def _checked(nouns: Nouns, signatures: Sequence[Signature]) -> dict[Hop, Noun]:
    """Returns the nouns with weights that take the other relations of the same things into account.

    If most facts of a relation are stored the wrong way round (its subjects look like its objects), the nouns of its
    two ends are exchanged.
    """
    found, sides = dict(nouns), _sides(nouns, signatures)
    spoken = Counter(noun.kind for noun in nouns.values())
    for hop in sorted({Hop(hop.relation) for hop in nouns}):
        back = hop.reversed()
        if hop not in nouns or back not in nouns or _meet(nouns[hop].kind, nouns[back].kind):
            continue
        ends = (nouns[hop], nouns[back])
        if _is_turned(hop, nouns, sides):
            ends = ends[::-1]
        found[hop], found[back] = (
            replace(noun, weight=noun.weight * _share(sides[side], noun, other))
            if spoken[noun.kind] >= _MIN_SPOKEN
            else noun
            for side, noun, other in zip((hop, back), ends, ends[::-1], strict=True)
        )
    return found


def _is_turned(hop: Hop, nouns: Nouns, sides: Mapping[Hop, Counter[str]]) -> bool:
    """True if, by their other relations, the things at each end of `hop` look like those that belong
    at the other end.
    """
    back = hop.reversed()
    own, other = nouns[hop].kind, nouns[back].kind
    right = _count(sides[hop], own) + _count(sides[back], other)
    wrong = _count(sides[hop], other) + _count(sides[back], own)
    return wrong >= _MIN_TURNED and wrong >= _TURNED_SHARE * right


def _share(kinds: Counter[str], noun: Noun, other: Noun) -> float:
    """Of the things at one end that are of `noun`'s or of `other`'s kind: the share that are of
    `noun`'s. From 0 to 1.
    """
    right, wrong = _count(kinds, noun.kind), _count(kinds, other.kind)
    return (right + 1) / (right + wrong + 1)


def _sides(nouns: Nouns, signatures: Sequence[Signature]) -> dict[Hop, Counter[str]]:
    """For each hop and kind: the number of signatures with that hop whose other relations say that kind."""
    sides: dict[Hop, Counter[str]] = defaultdict(Counter)
    for signature in signatures:
        said = [hop for hop in signature.hops if hop in nouns]
        weights = Counter(nouns[hop].kind for hop in said)
        for hop in said:
            own = nouns[hop].kind
            sides[hop].update(kind for kind, count in weights.items() if count > (kind == own))
    return sides


def _meet(one: str, other: str) -> bool:
    """True if one thing can be of both kinds: equal kinds, or "agent" with a person or an organization."""
    return one == other or (AGENT in (one, other) and not {one, other}.isdisjoint(ACTING))


def _count(kinds: Counter[str], wanted: str) -> int:
    return max((count for kind, count in kinds.items() if _meet(kind, wanted)), default=0)


def _of_like(nouns: Nouns, signatures: Sequence[Signature]) -> dict[Hop, dict[Agreed, float]]:
    """For each hop: the nouns of the things that have it, with their shares (0 to 1); ignores things
    without a noun.
    """
    counts: dict[Hop, Counter[Agreed]] = defaultdict(Counter)
    for signature in signatures:
        known = agreed([nouns[hop] for hop in signature.hops if hop in nouns])
        if known and signature.kind is NodeKind.ENTITY:
            for hop in signature.hops:
                counts[hop][known] += signature.size
    return {hop: {kind: count / kinds.total() for kind, count in kinds.items()} for hop, kinds in counts.items()}
