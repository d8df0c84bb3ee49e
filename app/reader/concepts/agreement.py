"""The kind of a thing that its relations agree on, over all things with the same relations around them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from app.reader.concepts.relation_nouns import Noun, object_noun, subject_noun, told
from kg_store.terms import Hop, NodeKind, Schema, Signature, is_mask_word

_MIN_TURNED: Final = 3
_TURNED_SHARE: Final = 2
MANY: Final = 4
_GENERAL_WORDS: Final = frozenset("place location area people human holder head figure".split())
_MIN_WEIGHT: Final = 0.5
"""Less is a noun that facts belie about as often as not."""
_MIN_SPOKEN: Final = 3
"""Of a kind that fewer relations say, others can't tell whether it is there."""
_SHARE_OF_WORD: Final = 0.6
_SHARE_OF_LIKE: Final = 2 / 3
_UNSEEN: Final = 0.01
AGENT: Final = "agent"
"""The kind of what may be a person or a group."""
ACTING: Final = ("person", "organization")

Nouns = Mapping[Hop, Noun]


@dataclass(frozen=True, slots=True)
class Agreed:
    """`word` is the concept, `kind` its most general kind."""

    word: str
    kind: str


class NounAgreement:
    """Nouns of all relations of a schema. Deterministic; reads labels alone."""

    def __init__(self, schema: Schema, signatures: Sequence[Signature]) -> None:
        nouns = _checked(_nouns_of(schema), signatures)
        self._nouns = nouns
        self._of_like = _of_like(nouns, signatures)

    def of(self, hops: Iterable[Hop]) -> Agreed | None:
        """None where no relation says a noun of this thing."""
        hops = tuple(hops)
        return agreed([self._nouns[hop] for hop in hops if hop in self._nouns], relations=len(hops))

    def of_like(self, hops: Iterable[Hop]) -> Agreed | None:
        """The kind of most other things that the same relations are around; None where they differ."""
        shares = [self._of_like[hop] for hop in hops if hop in self._of_like]
        kinds = {kind for each in shares for kind in each}
        fits = {kind: prod(each.get(kind, _UNSEEN) for each in shares) for kind in kinds}
        if not fits:
            return None
        best = min(fits, key=lambda kind: (-fits[kind], kind.word))
        return best if fits[best] >= _SHARE_OF_LIKE * sum(fits.values()) else None


def noun_of(label: str) -> Noun | None:
    """The noun of what a described hop is said of, `^` before one that leads to it; none of a masked relation."""
    if is_mask_word(label.lstrip("^").partition(" ")[0]):
        return None
    return object_noun(label[1:]) if label.startswith("^") else subject_noun(label)


def agreed(nouns: Sequence[Noun], *, relations: int = 2) -> Agreed | None:
    """The kind with most weight, in the word that most of its relations say. Of what many `relations` are around, in
    the general word, as things like it have others of them; a person is told by what the only one says."""
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
    """The same, each with the weight that the other relations leave it: both ends of a relation are exchanged where
    most of its facts stand the wrong way round, as what has it is, by its other relations, what it should lead to."""
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
    """True where things at both ends are, by their other relations, sooner what should stand at the other one."""
    back = hop.reversed()
    own, other = nouns[hop].kind, nouns[back].kind
    right = _count(sides[hop], own) + _count(sides[back], other)
    wrong = _count(sides[hop], other) + _count(sides[back], own)
    return wrong >= _MIN_TURNED and wrong >= _TURNED_SHARE * right


def _share(kinds: Counter[str], noun: Noun, other: Noun) -> float:
    """The share of things at one end that are what it should be, of those that are this or what the other end is."""
    right, wrong = _count(kinds, noun.kind), _count(kinds, other.kind)
    return (right + 1) / (right + wrong + 1)


def _sides(nouns: Nouns, signatures: Sequence[Signature]) -> dict[Hop, Counter[str]]:
    """For each hop, how many signatures have it whose other relations say each kind."""
    sides: dict[Hop, Counter[str]] = defaultdict(Counter)
    for signature in signatures:
        said = [hop for hop in signature.hops if hop in nouns]
        weights = Counter(nouns[hop].kind for hop in said)
        for hop in said:
            own = nouns[hop].kind
            sides[hop].update(kind for kind, count in weights.items() if count > (kind == own))
    return sides


def _meet(one: str, other: str) -> bool:
    """True of kinds that a thing may have both: whoever does something is a person or a group."""
    return one == other or (AGENT in (one, other) and not {one, other}.isdisjoint(ACTING))


def _count(kinds: Counter[str], wanted: str) -> int:
    return max((count for kind, count in kinds.items() if _meet(kind, wanted)), default=0)


def _of_like(nouns: Nouns, signatures: Sequence[Signature]) -> dict[Hop, dict[Agreed, float]]:
    """Of each hop, what the things are that it is around, by their share; those alone whose relations say it."""
    counts: dict[Hop, Counter[Agreed]] = defaultdict(Counter)
    for signature in signatures:
        known = agreed([nouns[hop] for hop in signature.hops if hop in nouns])
        if known and signature.kind is NodeKind.ENTITY:
            for hop in signature.hops:
                counts[hop][known] += signature.size
    return {hop: {kind: count / kinds.total() for kind, count in kinds.items()} for hop, kinds in counts.items()}
