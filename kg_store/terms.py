"""The words of the store: opaque identifiers and words drawn by a key, relations, hops, paths, signatures, schemas."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import wraps
from hashlib import blake2b
from typing import Concatenate, Final, NamedTuple, NewType, ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt

Mid = NewType("Mid", int)  # A keyed 63-bit hash of a term. Stable over versions of a graph; never leaves the server.
Mids = npt.NDArray[np.int64]  # A set of MIDs: one dimension, sorted, each once.
RelationId = NewType("RelationId", int)  # Position of a relation in `Schema.relations`.
SignatureId = NewType("SignatureId", int)  # Position of a signature in `Schema.signatures`.
Concept = NewType("Concept", str)  # The kind of thing that an entity is, as words: `person`, `geographic location`.


_MASK_WORD = re.compile(
    r"R(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{4}[a-rt-z0-9]"
)  # with an s it would read as a plural


def is_mask_word(word: str) -> bool:
    """True where `word` has the form of the opaque word that stands for a masked relation: `Rk3m2a`."""
    return _MASK_WORD.fullmatch(word) is not None


PSEUDONYM_FORM: Final = r"[EVS](?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{5}"
"""A pattern of pseudonyms: they have a digit and a small letter, so that they are no word and no number."""

PSEUDONYM: Final = re.compile(rf"\b{PSEUDONYM_FORM}\b")
ALMOST_PSEUDONYM: Final = re.compile(r"\b[EVS][a-z0-9]{5}\b")  # Words that a model may take for one as well.


class NodeKind(StrEnum):
    """The kind of a node of the graph; a mediator has no name and only joins others."""

    ENTITY = "entity"
    VALUE = "value"
    MEDIATOR = "mediator"


class ValueKind(StrEnum):
    """The kind of a literal, by which it compares: only numbers and dates have an order that questions can use."""

    NUMBER = "number"
    DATE = "date"
    TEXT = "text"
    TRUTH = "truth"


class ValueView(StrEnum):
    """The form in which a prompt may show a relation's values (policy); PSEUDONYM is the default."""

    PSEUDONYM = "pseudonym"
    YEAR = "year"
    DECADE = "decade"
    BUCKET = "bucket"
    CLEAR = "clear"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate as questions and prompts know it.

    `label` and `inverse_label` are readable words; `value_kind` is set when its objects are literals. Of a masked
    relation both are one opaque word, `mask` is the MID under which the vault has its own words, and `description`
    is what its owner lets everybody read in their place (empty for nothing). `words` are further ways to ask for it,
    the owner's before those of the sources; `hints` are single words of its comment that no other comment has, which
    say less. A masked one has none of them. No prompt shows them. `own`: the name of a masked relation, in
    the schema for the reader inside the service (`kg_store.graph.schema.read_in_house`) and in no other.
    """

    id: RelationId
    iri: str
    label: str
    inverse_label: str
    value_kind: ValueKind | None = None
    value_view: ValueView = ValueView.PSEUDONYM
    mask: Mid | None = None
    description: str = ""
    words: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    own: str = field(default="", repr=False)


class Hop(NamedTuple):
    """One relation walked forwards, or backwards when `inverse`. A tuple: hops are sorted and hashed by thousands."""

    relation: RelationId
    inverse: bool = False

    def reversed(self) -> Hop:
        return Hop(self.relation, not self.inverse)


Step = tuple[Hop, ...]  # One move between named things: one hop, or several with mediators between them (`r1|r2`).
Path = tuple[Step, ...]  # Steps in the order they are walked.


@dataclass(frozen=True, slots=True)
class Signature:
    """The set of relations that meet at a node, with the classes that its policy shows.

    Every node with the same kind, classes and hops shares one signature, and so one concept. `size` counts them.
    `masked`: the classes that all of them have and that no prompt shows, by the MIDs under which the vault has their
    words.
    """

    id: SignatureId
    kind: NodeKind
    classes: tuple[str, ...]
    hops: tuple[Hop, ...]
    size: int = 1
    masked: tuple[Mid, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Schema:
    """The public part of a graph version: its relations, signatures, and one concept per signature.

    Two schemas are equal only when they are the same object. `derived` is what was worked out from this one
    (`kg_store.terms`): it lives in the schema, and goes with it. `kind_words` are further words for concepts and
    classes, which may be of another version or role: `kg_store.text.labels` has those that hold here.
    """

    relations: tuple[Relation, ...]
    signatures: tuple[Signature, ...]
    concepts: tuple[Concept, ...]
    kind_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    derived: dict[object, object] = field(default_factory=dict, init=False, repr=False)

    def label(self, hop: Hop) -> str:
        """The relation's word, `^` before it when it is walked backwards: `^directed by`."""
        return ("^" if hop.inverse else "") + self.relations[hop.relation].label

    def described(self, step: Step) -> str:
        """`label_step` with its description behind each opaque word, or its own words instead: what may be compared
        with a question."""
        return "|".join(map(self._described, step))

    def _described(self, hop: Hop) -> str:
        relation = self.relations[hop.relation]
        if relation.own:
            return ("^" if hop.inverse else "") + relation.own
        return f"{self.label(hop)} {relation.description}".rstrip()

    def label_step(self, step: Step) -> str:
        """Hops through mediators are joined by a bar: `marriage|spouse`."""
        known = cast(dict[Step, str], self.derived.setdefault("step labels", {}))
        if step not in known:
            known[step] = "|".join(self.label(hop) for hop in step)
        return known[step]


@dataclass(frozen=True, slots=True)
class Edges:
    """Pairs (`heads[i]`, `tails[i]`) that one hop or path joins, every pair once, sorted by head, then tail."""

    heads: Mids
    tails: Mids


def as_mids(values: Sequence[int] | npt.NDArray[np.int64]) -> Mids:
    """Any MIDs, sorted and each once; an array that is so already is handed back itself."""
    mids = np.asarray(values, dtype=np.int64)
    if len(mids) < 2 or (mids[1:] > mids[:-1]).all():
        return mids
    # What np.unique gives, in half of its time: most sets are small.
    mids = np.sort(mids)
    fresh = np.ones(len(mids), dtype=np.bool_)
    np.not_equal(mids[1:], mids[:-1], out=fresh[1:])
    return mids[fresh]


NO_MIDS: Mids = np.empty(0, dtype=np.int64)


P = ParamSpec("P")
T = TypeVar("T")


def cached_by_version(derive: Callable[Concatenate[Schema, P], T]) -> Callable[Concatenate[Schema, P], T]:
    """Runs `derive` once for a schema and its further arguments, which must be hashable.

    Promise: the schema alone holds the result, so nothing of an erased entity outlives the last holder of its
    version. Two threads may do the same work at once; both get the same object.
    """

    @wraps(derive)
    def cached(schema: Schema, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = derive, args, tuple(kwargs.items())
        if key not in schema.derived:
            schema.derived.setdefault(key, derive(schema, *args, **kwargs))
        return cast(T, schema.derived[key])

    return cached


ALPHABET: Final = string.ascii_lowercase + string.digits
TAIL_LENGTH: Final = 5
_MAX_KEY_BYTES = 64


def keyed_word(letter: str, told: str, key: bytes, is_right: Callable[[str], bool], taken: Container[str] = ()) -> str:
    """A word of `letter` and a tail for `told`; the first that `is_right` and not in `taken`."""
    attempt = 0
    while True:
        text = f"{attempt}\n{told}".encode("utf-8", "surrogatepass")
        number = int.from_bytes(blake2b(text, key=key[:_MAX_KEY_BYTES], digest_size=16).digest(), "big")
        word = letter
        for _ in range(TAIL_LENGTH):
            number, at = divmod(number, len(ALPHABET))
            word += ALPHABET[at]
        if is_right(word) and word not in taken:
            return word
        attempt += 1
