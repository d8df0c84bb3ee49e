"""Names the concept of each signature: from classes, or from words in relation labels.

A signature is the set of relations around a thing. A label may say what both of its ends are: `plays in club` leads
from a player to a club.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from math import prod
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.reader.language.relation_wording import VALUES
from app.reader.relation_nouns import Noun, kind_of, object_noun, subject_noun, told
from kg_store.graph.schema import MASKED_KIND
from kg_store.terms import Hop, NodeKind, Schema, Signature, ValueKind, is_mask_word
from kg_store.text.english import NOUNS
from kg_store.text.labels import readable_step

# A relation counts as stored in the wrong direction if at least _MIN_TURNED signatures indicate that, and
# _TURNED_SHARE times as many as indicate the opposite. Chosen by hand.
_MIN_TURNED: Final = 3
_TURNED_SHARE: Final = 2
# A thing with at least this many relations is named by likeness, or by the general word of its kind. Chosen by hand.
MANY: Final = 4
_GENERAL_WORDS: Final = frozenset("place location area people human holder head figure".split())
_MIN_WEIGHT: Final = 0.5
"""Least weight of a noun that is accepted; below it, facts contradict the noun about as often as they support it.

Chosen by hand; not fitted.
"""
_MIN_SPOKEN: Final = 3
"""Least number of relations whose nouns are of a kind for other relations to confirm or refute that kind.

Chosen by hand; not fitted.
"""
# The share of all weight that a word needs to be preferred over the general word of its kind; the share of similar
# things that must have a noun for it to be borrowed; the share assumed for a noun that no similar thing has. By hand.
_SHARE_OF_WORD: Final = 0.6
_SHARE_OF_LIKE: Final = 2 / 3
_UNSEEN: Final = 0.01
AGENT: Final = "agent"
"""The kind of a thing that may be a person or a group, such as the owner of something."""
ACTING: Final = ("person", "organization")

Nouns = Mapping[Hop, Noun]


@dataclass(frozen=True, slots=True)
class Agreed:
    """The noun on which the labels of a thing's relations agree.

    `word`, such as surgeon, names the thing's concept; `kind` is the most general kind of it, such as person.
    """

    word: str
    kind: str


class NounAgreement:
    """Finds the noun on which the labels of a thing's relations agree. Deterministic.

    Reads only labels and signatures (a signature is the set of relations around a thing). The nouns that different
    relations give for the same things are checked against each other (see `_checked`).
    """

    def __init__(self, schema: Schema, signatures: Sequence[Signature]) -> None:
        nouns = _checked(_nouns_of_label(schema), signatures)
        self._nouns = nouns
        self._of_like = _of_like(nouns, signatures)

    def of(self, hops: Iterable[Hop]) -> Agreed | None:
        """Returns the noun on which the labels of `hops` agree, or None if none of them names one."""
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
    """Returns the noun that a label gives for the things with that hop, or None if it gives none or is masked.

    A hop is a relation in one direction; `^` marks one that leads to the thing. `leader of` gives leader, its subject;
    `^plays in club` gives club, its object.
    """
    if is_mask_word(label.lstrip("^").partition(" ")[0]):
        return None
    return object_noun(label[1:]) if label.startswith("^") else subject_noun(label)


def agreed(nouns: Sequence[Noun], *, relations: int = 2) -> Agreed | None:
    """Returns the noun that most of `nouns` support, by weight, or None if the weight is below _MIN_WEIGHT.

    The kind has the greatest total weight, and the word is the one most used for it, such as surgeon. The general word
    of the kind, such as person, is used instead in three cases: the thing has MANY or more `relations`, its nouns use
    many different words, or it is a person with several relations.
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


def _nouns_of_label(schema: Schema) -> dict[Hop, Noun]:
    found = {}
    for relation in schema.relations:
        for hop in (Hop(relation.id), Hop(relation.id, True)):
            if relation.mask is None and (noun := noun_of(schema.label(hop))) is not None:
                found[hop] = noun
    return found


def _checked(nouns: Nouns, signatures: Sequence[Signature]) -> dict[Hop, Noun]:
    """Returns the noun of each hop, with less weight if other relations of the same things contradict it.

    If the subjects of a relation mostly look like its objects, its facts are stored in the wrong direction. Then the
    nouns of its two ends are exchanged.
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
    """Returns True if the facts of `hop` seem to be stored in the wrong direction.

    That is so if the things at each end mostly have other relations of the kind expected at the opposite end.
    """
    back = hop.reversed()
    own, other = nouns[hop].kind, nouns[back].kind
    right = _count(sides[hop], own) + _count(sides[back], other)
    wrong = _count(sides[hop], other) + _count(sides[back], own)
    return wrong >= _MIN_TURNED and wrong >= _TURNED_SHARE * right


def _share(kinds: Counter[str], noun: Noun, other: Noun) -> float:
    """Returns how large a share (0 to 1) of the things at one end of a relation is of `noun`'s kind.

    `kinds`: the number of things of each kind at that end. Only the kinds of `noun` and `other` are counted, plus one
    thing of `noun`'s kind, so that an end without such things gives 1.
    """
    right, wrong = _count(kinds, noun.kind), _count(kinds, other.kind)
    return (right + 1) / (right + wrong + 1)


def _sides(nouns: Nouns, signatures: Sequence[Signature]) -> dict[Hop, Counter[str]]:
    """Returns, for each hop, the kinds of the things that have it, as the nouns of their other relations say.

    Each kind comes with the number of signatures (sets of relations around a thing) that say it.
    """
    sides: dict[Hop, Counter[str]] = defaultdict(Counter)
    for signature in signatures:
        said = [hop for hop in signature.hops if hop in nouns]
        weights = Counter(nouns[hop].kind for hop in said)
        for hop in said:
            own = nouns[hop].kind
            sides[hop].update(kind for kind, count in weights.items() if count > (kind == own))
    return sides


def _meet(one: str, other: str) -> bool:
    """Returns True if one thing can be of both kinds: equal kinds, or "agent" with a person or an organization."""
    return one == other or (AGENT in (one, other) and not {one, other}.isdisjoint(ACTING))


def _count(kinds: Counter[str], wanted: str) -> int:
    return max((count for kind, count in kinds.items() if _meet(kind, wanted)), default=0)


def _of_like(nouns: Nouns, signatures: Sequence[Signature]) -> dict[Hop, dict[Agreed, float]]:
    """Returns, for each hop, the nouns of the things that have it, each with its share of those things (0 to 1).

    Example: `plays in club` -> player 0.9, coach 0.1. Things whose labels agree on no noun are not counted.
    """
    counts: dict[Hop, Counter[Agreed]] = defaultdict(Counter)
    for signature in signatures:
        known = agreed([nouns[hop] for hop in signature.hops if hop in nouns])
        if known and signature.kind is NodeKind.ENTITY:
            for hop in signature.hops:
                counts[hop][known] += signature.size
    return {hop: {kind: count / kinds.total() for kind, count in kinds.items()} for hop, kinds in counts.items()}


_TEXT = "text"
_VALUE_WORDS = {
    ValueKind.NUMBER: "number",
    ValueKind.DATE: "date",
    ValueKind.TEXT: _TEXT,
    ValueKind.TRUTH: "yes or no",
}
# Least likeness (cosine) of a thing's relations to the typical relations of a noun, for a noun that no label states.
# MIN_FIT_OF_ONE applies if the thing has only one relation. Chosen by hand; not fitted.
MIN_FIT = 0.6
MIN_FIT_OF_ONE = 0.8
WORK, MIN_OF_WORK = "work", 2
"""A thing called "work" with at least MIN_OF_WORK relations gets a more precise noun (film, book) by likeness.

Chosen by hand; not fitted.
"""
# Least share of the things with the same relations that must have a class for a thing without one to get it. By hand.
SHARE_OF_CLASS = 2 / 3

Fits = npt.NDArray[np.float32]


class ConceptNamer:
    """Names the concept of each signature (the set of relations around a thing). Deterministic.

    Uses the class of the things; else the nouns in their relation labels; else the noun whose typical relations are
    most like those labels.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._fits = NounFits(embedder)

    def name(self, schema: Schema) -> list[str]:
        """Returns one concept for each signature, in the order of `schema.signatures`."""
        classes = _classes_reached(schema)
        given = [_given_word(schema, signature, classes) for signature in schema.signatures]
        unnamed = [signature for signature, word in zip(schema.signatures, given, strict=True) if word is None]
        labels = {hop: schema.described((hop,)) for hop in sorted({hop for each in unnamed for hop in each.hops})}
        self._fits.prepare(labels.values())
        agreement = NounAgreement(schema, unnamed)
        named = [
            self._of_hops(signature, labels, agreement) if word is None else word
            for signature, word in zip(schema.signatures, given, strict=True)
        ]
        apart = _apart(schema, named)
        return apart if _has_classes(schema) else _with_texts(schema, apart)

    def _of_hops(self, signature: Signature, labels: Mapping[Hop, str], agreement: NounAgreement) -> str:
        said = agreement.of(signature.hops) or agreement.of_like(signature.hops)
        return self._of_labels([labels[hop] for hop in signature.hops], said)

    def name_relations(self, relations: Sequence[str]) -> str:
        """Returns a concept for a thing with these relation labels; `^` marks relations that lead to the thing."""
        return self._of_labels(relations, agreed([noun for label in relations if (noun := noun_of(label))]))

    def _of_labels(self, labels: Sequence[str], said: Agreed | None) -> str:
        """Returns the concept of a thing with these relation labels, or "thing" if none fits.

        `said`: the noun on which the labels agree, or None. If it is uncertain (an agent, or a thing with many
        labels), a noun of the same kind replaces it if its typical relations are like `labels`. Without `said`, the
        noun is chosen by that likeness alone.
        """
        if said is not None and said.kind != AGENT and len(labels) < (MIN_OF_WORK if said.word == WORK else MANY):
            return said.word
        fits = self._fits.mean_of(labels)
        if fits is None:
            return "thing"
        best = int(np.argmax(fits))
        word, bound = NOUNS[best].word, MIN_FIT if len(labels) > 1 else MIN_FIT_OF_ONE
        if said is not None:
            is_likely = len(labels) > 1 and fits[best] >= MIN_FIT
            is_of_kind = word in ACTING if said.kind == AGENT else kind_of(word) == said.kind
            return word if is_likely and is_of_kind else said.word
        return word if fits[best] >= bound else "thing"


class NounFits:
    """Scores relation labels against the nouns in `NOUNS`: one row of scores for each label, computed once.

    The score is the likeness of the label to the nearest example relation of the noun. The examples are relations that
    such things have. For a label with `^` they are relations that lead to such things.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._rows: dict[str, Fits | None] = {}

    def prepare(self, labels: Iterable[str]) -> None:
        """Computes the rows of `labels` in one call to the model; masked relations without a description get none."""
        unknown = [label for label in dict.fromkeys(labels) if label not in self._rows]
        for is_played, examples in ((False, self._has), (True, self._plays)):
            mine = [label for label in unknown if label.startswith("^") == is_played]
            worded = {label: words for label in mine if (words := readable_step(label))}
            self._rows.update(dict.fromkeys(mine))
            if worded:
                likeness = self._embedder.sentences([*worded.values()]) @ examples.vectors.T
                rows = np.maximum.reduceat(likeness, examples.begins, axis=1)
                self._rows.update(zip(worded, rows, strict=True))

    def mean_of(self, labels: Sequence[str]) -> Fits | None:
        """Returns each noun's mean score over `labels`, shape (nouns,), or None if no label has words.

        The mean is used because one label alone says little about a thing.
        """
        self.prepare(labels)
        rows = [row for label in labels if (row := self._rows[label]) is not None]
        return np.mean(rows, axis=0) if rows else None

    @cached_property
    def _has(self) -> _Examples:
        return self._examples_of([noun.has for noun in NOUNS])

    @cached_property
    def _plays(self) -> _Examples:
        return self._examples_of([(noun.word, *noun.plays) for noun in NOUNS])

    def _examples_of(self, groups: Sequence[Sequence[str]]) -> _Examples:
        vectors = self._embedder.sentences([text for group in groups for text in group])
        return _Examples(vectors, np.cumsum([0, *(len(group) for group in groups[:-1])]))


@dataclass(frozen=True, slots=True)
class _Examples:
    """The vectors of all example relations, shape (examples, dimensions), and where those of each noun begin."""

    vectors: Fits
    begins: npt.NDArray[np.intp]


def _given_word(schema: Schema, signature: Signature, classes: Mapping[Hop, Counter[str]]) -> str | None:
    """Returns the concept that is known without comparing words, or None.

    It is a value's type, the thing's own class, or the class of similar things.
    """
    if signature.kind is NodeKind.VALUE:
        return _value_word(schema, signature.hops)
    if signature.classes:
        return signature.classes[0]
    return None if signature.masked else _borrowed_class(signature, classes)


def _apart(schema: Schema, concepts: Sequence[str]) -> list[str]:
    """Returns `concepts` with one of its own for the things of each masked class, or of each group of them.

    Things of two classes are never called alike, and none like things of a shown class: a count of one would count the
    others too. The most frequent concept of a class counts, with a word in front that no text has by chance ("masked
    person"): in what its asker reads, the class's own word takes its place. If that is taken, a general noun is used.
    """
    found: dict[tuple[int, ...], Counter[str]] = {}
    for signature, concept in zip(schema.signatures, concepts, strict=True):
        if signature.masked and not signature.classes:
            found.setdefault(signature.masked, Counter())[concept] += signature.size
    shown = {each for signature in schema.signatures for each in signature.classes}
    named, taken = dict[tuple[int, ...], str](), {*shown, *(each.label for each in schema.relations)}
    for masked, counts in sorted(found.items(), key=lambda each: (-each[1].total(), each[0])):
        concept = min(counts, key=lambda each: (-counts[each], each))
        named[masked] = _untaken("thing" if concept in shown else concept, taken)
        taken.add(named[masked])
    return [
        named.get(signature.masked, concept) if not signature.classes else concept
        for signature, concept in zip(schema.signatures, concepts, strict=True)
    ]


_GENERAL: Final = ("item", "entry", "record", "object", "unit")
"""Nouns for things of a masked class whose own concept another class has."""


def _untaken(concept: str, taken: Collection[str]) -> str:
    names = chain((concept, *_GENERAL), (f"{concept} {at}" for at in count(2)))
    return next(name for each in names if (name := MASKED_KIND + each) not in taken)


def _has_classes(schema: Schema) -> bool:
    return any(signature.classes for signature in schema.signatures)


def _with_texts(schema: Schema, concepts: Sequence[str]) -> list[str]:
    """Returns `concepts` with "text" replaced by the noun of the relations that lead there, such as "email"."""
    return [
        said.word
        if concept == _TEXT and (said := agreed(_nouns_of(schema, signature))) and said.word not in VALUES
        else concept
        for signature, concept in zip(schema.signatures, concepts, strict=True)
    ]


def _nouns_of(schema: Schema, signature: Signature) -> list[Noun]:
    return [noun for hop in signature.hops if (noun := noun_of(schema.described((hop,)))) is not None]


def _classes_reached(schema: Schema) -> dict[Hop, Counter[str]]:
    """Returns, for each hop that leads to things with a class, how many signatures of each class it leads to.

    A signature is the set of relations around a thing.
    """
    reached: dict[Hop, Counter[str]] = {}
    for signature in schema.signatures:
        for hop in signature.hops if signature.classes else ():
            if hop.inverse:
                reached.setdefault(hop, Counter())[signature.classes[0]] += 1
    return reached


def _borrowed_class(signature: Signature, classes: Mapping[Hop, Counter[str]]) -> str | None:
    """Returns the class of at least SHARE_OF_CLASS of the things that the same relations lead to, else None."""
    counts = sum((classes[hop] for hop in signature.hops if hop in classes), Counter[str]())
    if not counts:
        return None
    word, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return word if count >= SHARE_OF_CLASS * counts.total() else None


def _value_word(schema: Schema, hops: Sequence[Hop]) -> str:
    kinds = {schema.relations[hop.relation].value_kind for hop in hops}
    for kind, word in _VALUE_WORDS.items():
        if kind in kinds:
            return word
    return "text"
