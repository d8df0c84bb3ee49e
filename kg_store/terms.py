"""The types that all of kg_store uses: MIDs, relations, hops, paths, signatures, schemas; and keyed words."""

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
)  # An s at the end would look like a plural.


def is_mask_word(word: str) -> bool:
    """Returns True if `word` has the form of the opaque word that stands for a masked relation: `Rk3m2a`."""
    return _MASK_WORD.fullmatch(word) is not None


PSEUDONYM_FORM: Final = r"[EVS](?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{5}"
"""The pattern of pseudonyms. Each has a digit and a small letter, so that none is a real word or a number."""

PSEUDONYM: Final = re.compile(rf"\b{PSEUDONYM_FORM}\b")
ALMOST_PSEUDONYM: Final = re.compile(r"\b[EVS][a-z0-9]{5}\b")  # Words that a model may mistake for a pseudonym.


class NodeKind(StrEnum):
    """The kind of a node of the graph. A mediator has no name and only joins other nodes."""

    ENTITY = "entity"
    VALUE = "value"
    MEDIATOR = "mediator"


class ValueKind(StrEnum):
    """The kind of a literal, which decides how it is compared: questions can order only numbers and dates."""

    NUMBER = "number"
    DATE = "date"
    TEXT = "text"
    TRUTH = "truth"


class ValueView(StrEnum):
    """The form in which a prompt may show a relation's values, set by the policy; the default is PSEUDONYM."""

    PSEUDONYM = "pseudonym"
    YEAR = "year"
    DECADE = "decade"
    BUCKET = "bucket"
    CLEAR = "clear"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation (predicate) as questions and prompts know it.

    `label` and `inverse_label` are readable words for both directions; `value_kind` is set if its objects are
    literals. `words` are further ways to ask for it, those of the owner first; `hints` are single words of its comment
    that no other relation's comment has, so they are weaker evidence. Prompts show neither.

    If the relation is masked, both labels are one opaque word, `mask` is the MID under which the vault stores its real
    words, `description` is the text that its owner lets everybody read instead (empty for none), and `words` and
    `hints` are empty. `own` is its real name, set only in the schema for the question reader, which sends nothing out
    (`kg_store.graph.schema.read_in_house`).
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
    """One relation walked forwards, or backwards if `inverse`. A tuple, because there are thousands to sort and
    hash.
    """

    relation: RelationId
    inverse: bool = False

    def reversed(self) -> Hop:
        return Hop(self.relation, not self.inverse)


Step = tuple[Hop, ...]  # A move from one named node to another: one hop, or several through mediators (`r1|r2`).
Path = tuple[Step, ...]  # Steps in the order in which they are walked.


@dataclass(frozen=True, slots=True)
class Signature:
    """The kind, the classes (as far as the policy shows them) and the hops that some nodes have in common.

    All nodes with the same kind, classes and hops share one signature, and so one concept; `size` is their number.
    `masked`: the classes that all of these nodes have but that no prompt shows, as the MIDs under which the vault
    stores the classes' words.
    """

    id: SignatureId
    kind: NodeKind
    classes: tuple[str, ...]
    hops: tuple[Hop, ...]
    size: int = 1
    masked: tuple[Mid, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Schema:
    """The public part of a graph version: its relations, its signatures, and one concept for each signature.

    A signature is the kind, classes and hops that nodes share. Two schemas are equal only if they are the same object.
    `derived` caches results computed from this schema (`cached_by_version`), so they are freed with it. `kind_words`
    are further words for concepts and classes. Some of these may belong to another version or role;
    `kg_store.text.labels.words_of_kinds` returns those that apply to this schema.
    """

    relations: tuple[Relation, ...]
    signatures: tuple[Signature, ...]
    concepts: tuple[Concept, ...]
    kind_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    derived: dict[object, object] = field(default_factory=dict, init=False, repr=False)

    def label(self, hop: Hop) -> str:
        """Returns the relation's label, with `^` before it if the hop is walked backwards: `^directed by`."""
        return ("^" if hop.inverse else "") + self.relations[hop.relation].label

    def described(self, step: Step) -> str:
        """Returns the text of a step that may be compared with a question: the texts of its hops, joined by bars.

        A hop has its label. A masked relation has its real name if that is set, else its opaque word and its
        description.
        """
        return "|".join(map(self._described, step))

    def _described(self, hop: Hop) -> str:
        relation = self.relations[hop.relation]
        if relation.own:
            return ("^" if hop.inverse else "") + relation.own
        return f"{self.label(hop)} {relation.description}".rstrip()

    def label_step(self, step: Step) -> str:
        """Returns the labels of a step's hops; a bar stands for the mediator between two hops: `marriage|spouse`."""
        known = cast(dict[Step, str], self.derived.setdefault("step labels", {}))
        if step not in known:
            known[step] = "|".join(self.label(hop) for hop in step)
        return known[step]


@dataclass(frozen=True, slots=True)
class Edges:
    """The pairs (`heads[i]`, `tails[i]`) that one hop or path joins: each pair once, sorted by head, then tail."""

    heads: Mids
    tails: Mids


def as_mids(values: Sequence[int] | npt.NDArray[np.int64]) -> Mids:
    """Returns MIDs sorted and without duplicates; an array that is so already is returned itself."""
    mids = np.asarray(values, dtype=np.int64)
    if len(mids) < 2 or (mids[1:] > mids[:-1]).all():
        return mids
    # The same result as np.unique in half the time, because most sets are small.
    mids = np.sort(mids)
    fresh = np.ones(len(mids), dtype=np.bool_)
    np.not_equal(mids[1:], mids[:-1], out=fresh[1:])
    return mids[fresh]


NO_MIDS: Mids = np.empty(0, dtype=np.int64)


P = ParamSpec("P")
T = TypeVar("T")


def cached_by_version(derive: Callable[Concatenate[Schema, P], T]) -> Callable[Concatenate[Schema, P], T]:
    """Returns `derive` with a cache: one result for each schema and further arguments, which must be hashable.

    Promise: only the schema holds the cached result, so data of an erased entity is freed with the last reference to
    its version. Two threads may compute a result at the same time; both get the same object.
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
    """Returns `letter` and five characters derived from `told` and `key`: the same input gives the same word.

    Words for which `is_right` is False and words in `taken` are skipped.
    """
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
