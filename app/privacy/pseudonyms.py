"""PseudonymTable: the pseudonyms of one conversation, their form, and the one meaning of each.

Whoever runs the model can combine everything that the prompts of one conversation reveal about a pseudonym. Therefore
a question that does not need earlier turns begins a new thread: its prompts hold none of these turns, and use other
pseudonyms in another order.
"""

from __future__ import annotations

import json
import re
import secrets
import unicodedata
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from threading import Lock
from typing import Any, Final, Literal

import numpy as np

from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.schema import mask_word, masks_of
from kg_store.graph.traversal import members_of, walk
from kg_store.terms import (
    ALPHABET,
    NO_MIDS,
    PSEUDONYM_FORM,
    TAIL_LENGTH,
    Edges,
    Hop,
    Mid,
    Mids,
    Path,
    RelationId,
    Schema,
    ValueKind,
    as_mids,
    keyed_word,
)
from kg_store.text.dates import is_yearly
from kg_store.text.normalise import normalise

Letter = Literal["E", "V", "S"]
"""E: an entity. V: a value, a typed literal, or a computed number. S: a set."""

_RUN = re.compile(r"[0-9A-Za-z]+")
_SHAPE = re.compile(PSEUDONYM_FORM)
_SHAPED_RUN = re.compile(rf"(?<![0-9A-Za-z]){PSEUDONYM_FORM}(?![0-9A-Za-z])")


@dataclass(frozen=True, slots=True)
class Standing:
    """A word at text[start:end] that is a pseudonym or has the form of one."""

    start: int
    end: int
    word: str = field(repr=False)


def draw_word(letter: Letter, taken: Container[str]) -> str:
    """Draws a random pseudonym with this letter that is not in `taken`."""
    while True:
        tail = "".join(secrets.choice(ALPHABET) for _ in range(TAIL_LENGTH))
        if is_shaped(letter + tail) and letter + tail not in taken:
            return letter + tail


def is_shaped(word: str) -> bool:
    """True if `word` has the form of a pseudonym."""
    return _SHAPE.fullmatch(word) is not None


def words_in(text: str) -> Iterator[Standing]:
    """Yields every run of ASCII letters and digits that is a separate word.

    Words end at the same borders as in `client_sdk.restore`: underscores and letters of scripts without capitals end
    them too.
    """
    return _standing(text, _RUN)


def shaped_in(text: str) -> Iterator[Standing]:
    """Yields every word of `text` that has the form of a pseudonym, issued or not."""
    return _standing(text, _SHAPED_RUN)


def _standing(text: str, runs: re.Pattern[str]) -> Iterator[Standing]:
    for run in runs.finditer(text):
        around = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
        if not any(map(_is_word_letter, around)):
            yield Standing(run.start(), run.end(), run.group())


def replaced(text: str, words: Iterable[Standing]) -> str:
    """Returns `text` with the span of each of `words` (in order, without overlaps) replaced by its word.

    A space is added where a word would otherwise join its neighbour, and so not be recognised again, or be read as an
    escape (`%Ee`).
    """
    done, at = "", 0
    for word in words:
        done = _beside(_beside(done, text[at : word.start]), word.word)
        at = word.end
    return _beside(done, text[at:]) if at else text


def _beside(before: str, after: str) -> str:
    joined = (_is_word_letter(before[-1:]) or before[-1:] == "%") and _is_word_letter(after[:1])
    return f"{before} {after}" if joined else before + after


def _is_word_letter(letter: str) -> bool:
    category = unicodedata.category(letter) if letter else "Cn"
    return category != "Lo" and category[0] in "LNM"


RANKED: Final = "ranked("
"""The first characters of a ranked outcome's expression; no expression of the algebra begins with them."""

WHOLE: Final = ""
"""The id of a thread that is a whole, undivided conversation; its pseudonyms are sent as they are."""


FORM = 1

MeaningKind = Literal["entity", "value", "set", "group", "kind", "literal", "outcome"]

RawPath = list[list[list[object]]]
"""A path as steps of hops [relation IRI, is inverse].

IRIs stay the same in the graph's next version, relation ids may not.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """The meaning of one pseudonym.

    | kind | fields |
    |---|---|
    | entity, value | `mids`: one |
    | group | `mids`: the entities that share a name |
    | set | `start` (a pseudonym) and `path`; `mids` only during the request that made the set |
    | kind | `concept`; `mids` as for a set |
    | literal | `literal`: the text as typed, once a turn of this request holds it; `mids` that equal it |
    | outcome | `expression`; `mids` where the outcome is a set, in ranked order if it `is_ranked` |

    The `path` of a set is None if this version of the graph lacks one of its relations.
    """

    kind: MeaningKind
    mids: Mids = field(default_factory=lambda: NO_MIDS, repr=False)
    start: str | None = None
    path: Path | None = None
    concept: str | None = None
    value_kind: ValueKind | None = None
    literal: str | None = field(default=None, repr=False)
    expression: str | None = None

    @property
    def is_yearly(self) -> bool:
        """True for a date without a year, such as "April"."""
        return self.value_kind is ValueKind.DATE and self.literal is not None and is_yearly(self.literal)

    @property
    def is_ranked(self) -> bool:
        """True if `mids` are in a ranked order that evaluating the expression would not produce."""
        return self.expression is not None and self.expression.startswith(RANKED)


@dataclass(slots=True)
class TableState:
    """The part of a table that is kept between requests; it holds no typed text.

    `threads` maps the id of each answer to that of its thread, the oldest answer first.
    """

    order_key: bytes = field(repr=False)
    meanings: dict[str, Meaning] = field(default_factory=dict, repr=False)
    digests: dict[str, str] = field(default_factory=dict, repr=False)
    settled: dict[int, bool] = field(default_factory=dict, repr=False)
    lost_paths: dict[str, RawPath] = field(default_factory=dict, repr=False)
    threads: dict[str, str] = field(default_factory=dict)


def write_state(state: TableState, schema: Schema) -> bytes:
    """Returns the state as JSON, without the members of sets and the text of literals.

    Members are found again from the path; the text of a literal comes with each request.
    """
    rows = [_row(word, meaning, state, schema) for word, meaning in state.meanings.items()]
    settled = list(state.settled.items())
    content = {"form": FORM, "key": state.order_key.hex(), "settled": settled, "threads": state.threads, "rows": rows}
    return json.dumps(content, separators=(",", ":")).encode()


def read_state(data: bytes, schema: Schema) -> TableState:
    """Reads what `write_state` wrote. Raises ValueError on anything else."""
    try:
        content = json.loads(data)
        if content["form"] != FORM:
            raise ValueError("the conversation was kept in another form")
        state = TableState(bytes.fromhex(content["key"]), settled=dict(content["settled"]))
        state.threads = dict(content.get("threads", {}))
        relations = {relation.iri: relation.id for relation in schema.relations}
        for word, row in content["rows"]:
            _read_row(word, row, state, relations)
        return state
    except (LookupError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError("the kept conversation can't be read") from None


def _row(word: str, meaning: Meaning, state: TableState, schema: Schema) -> tuple[str, dict[str, Any]]:
    row: dict[str, Any] = {"kind": meaning.kind}
    if meaning.kind not in ("set", "kind") and len(meaning.mids):
        row["mids"] = meaning.mids.tolist()
    if meaning.kind == "set":
        row["path"] = state.lost_paths.get(word) or [
            [[schema.relations[hop.relation].iri, hop.inverse] for hop in step] for step in meaning.path or ()
        ]
    texts = {"start": meaning.start, "concept": meaning.concept, "expression": meaning.expression}
    texts |= {"value_kind": meaning.value_kind, "digest": state.digests.get(word)}
    return word, row | {name: text for name, text in texts.items() if text is not None}


def _read_row(word: str, row: dict[str, Any], state: TableState, relations: dict[str, RelationId]) -> None:
    path: Path | None = None
    if row["kind"] == "set":
        try:
            path = tuple(tuple(Hop(relations[iri], inverse) for iri, inverse in step) for step in row["path"])
        except KeyError:
            state.lost_paths[word] = row["path"]
    if "digest" in row:
        state.digests[word] = row["digest"]
    value_kind = ValueKind(row["value_kind"]) if "value_kind" in row else None
    is_ranked = row.get("expression", "").startswith(RANKED)
    mids = np.asarray(row.get("mids", []), dtype=np.int64)
    state.meanings[word] = Meaning(
        row["kind"], mids if is_ranked else as_mids(mids), row.get("start"), path, row.get("concept"), value_kind,
        expression=row.get("expression"),
    )  # fmt: skip


ORDER_KEY_BYTES = 32
MAX_CHOICES: Final = 20

_LETTERS: dict[MeaningKind, Letter] = {
    "entity": "E", "value": "V", "set": "S", "group": "S", "kind": "S", "literal": "V", "outcome": "V",
}  # fmt: skip


class PseudonymTable:
    """Issues and resolves the pseudonyms of one conversation.

    Promise: the same thing has one pseudonym through the conversation, and no pseudonym means two things. Condition:
    the output of `to_bytes` is only ever stored sealed, because it holds MIDs and the conversation's key. Limit:
    whoever sees two answers of one conversation can tell that both mean the same thing. The model cannot, unless the
    later question needs the earlier one (see the module's docstring).
    """

    def __init__(self, state: TableState) -> None:
        self._state = state
        self._lock = Lock()
        self._issued: frozenset[str] | None = None
        self._sent: dict[str, dict[str, str]] = {}
        self._words: dict[Hashable, str] = {
            _identity(meaning, state.digests.get(word)): word for word, meaning in state.meanings.items()
        }

    @classmethod
    def new(cls) -> PseudonymTable:
        return cls(TableState(secrets.token_bytes(ORDER_KEY_BYTES)))

    @classmethod
    def from_bytes(cls, data: bytes, schema: Schema) -> PseudonymTable:
        """Reads the output of `to_bytes` for the graph version of `schema`. Raises ValueError if it cannot be read."""
        return cls(read_state(data, schema))

    def to_bytes(self, schema: Schema) -> bytes:
        """Returns the conversation's row before it is sealed.

        It contains paths by relation IRI, and literals by keyed digest.
        """
        with self._lock:
            return write_state(self._state, schema)

    def of_entity(self, mid: Mid) -> str:
        return self._word_of(Meaning("entity", as_mids([mid])))

    def of_value(self, mid: Mid, kind: ValueKind | None = None) -> str:
        return self._word_of(Meaning("value", as_mids([mid]), value_kind=kind))

    def of_set(self, start: str, path: Path, members: Mids) -> str:
        """Returns the pseudonym of what `path` reaches from the things that `start` (a pseudonym) stands for."""
        return self._word_of(Meaning("set", as_mids(members), start=start, path=path))

    def of_kind(self, concept: str, members: Mids) -> str:
        """Returns the pseudonym of everything in the graph that is of one concept."""
        return self._word_of(Meaning("kind", as_mids(members), concept=concept))

    def of_group(self, mids: Sequence[int] | Mids) -> str:
        """Returns the pseudonym of a name that several entities share."""
        return self._word_of(Meaning("group", as_mids(mids)))

    def of_literal(self, text: str, kind: ValueKind, mids: Sequence[int] | Mids = ()) -> str:
        """Returns the pseudonym of a typed text; `mids` are the graph's values that equal it, if any."""
        digest = self._digest(f"{kind}\n{normalise(text).text}")
        return self._word_of(Meaning("literal", as_mids(mids), value_kind=kind, literal=text), digest)

    def of_public_term(self, text: str) -> str:
        """Returns the pseudonym of a term of a public graph beside the asked one; it is restored as `text`.

        Promise: it is another one than that of the same words in a turn, so that a prompt which tells the words of a
        public term says nothing of a word that was withheld.
        """
        digest = self._digest(f"public\n{text}")
        return self._word_of(Meaning("literal", value_kind=ValueKind.TEXT, literal=text), digest)

    def of_outcome(self, expression_text: str, mids: Sequence[int] | Mids | None = None) -> str:
        """Returns the pseudonym of an expression's result; `mids` are its members if the result is a set of things."""
        members = NO_MIDS if mids is None else as_mids(mids)
        return self._word_of(
            Meaning("outcome", members, expression=expression_text), letter="V" if mids is None else "S"
        )

    def of_ranked(self, expression_text: str, mids: Sequence[int]) -> str:
        """Returns the pseudonym of a ranked set of things, whose order evaluating the expression would not give."""
        in_order = np.asarray(mids, dtype=np.int64)
        return self._word_of(Meaning("outcome", in_order, expression=f"{RANKED}{expression_text})"), letter="S")

    def in_order(self, keys: Sequence[str]) -> list[int]:
        """Returns the positions of `keys` in an order that looks random but is the same through the conversation.

        It depends on the conversation's secret key only, so the same facts always give the same bytes.
        """
        return sorted(range(len(keys)), key=lambda at: (self._digest(keys[at]), at))

    def shuffled_order(self, keys: Sequence[str]) -> list[int]:
        """Returns the positions of `keys` like `in_order`, but with another order for each thread."""
        thread = self._newest_thread
        return self.in_order(keys if thread == WHOLE else [f"{thread}\n{key}" for key in keys])

    def meaning(self, pseudonym: str) -> Meaning | None:
        """Returns the meaning of `pseudonym`, or None if this conversation did not issue it."""
        return self._state.meanings.get(pseudonym)

    def resolve(self, pseudonym: str, graph: BlindGraph) -> tuple[Mids, Edges | None]:
        """Returns the entities that `pseudonym` stands for on `graph`, and for a set its (head, member) pairs.

        Both are empty for a word that was not issued, and for a set whose path does not exist in this version.
        """
        meaning = self.meaning(pseudonym)
        if meaning is None:
            return NO_MIDS, None
        if meaning.kind == "kind" and meaning.concept is not None:
            return members_of(graph, meaning.concept), None
        if meaning.kind != "set":
            return as_mids(meaning.mids), None
        if meaning.start is None or meaning.path is None:
            return NO_MIDS, None
        edges = walk(graph, self.resolve(meaning.start, graph)[0], meaning.path)
        return as_mids(edges.tails), edges

    @property
    def issued(self) -> frozenset[str]:
        """Every pseudonym of this conversation."""
        if self._issued is None:
            with self._lock:
                self._issued = frozenset(self._state.meanings)
        return self._issued

    def known(self, text: str) -> list[str]:
        """Returns the pseudonyms of this conversation that occur in `text`, in order of first occurrence."""
        found = (standing.word for standing in shaped_in(text) if standing.word in self._state.meanings)
        return list(dict.fromkeys(found))

    def entity(self, pseudonym: str) -> Mid | None:
        """Returns the entity that `pseudonym` stands for, or None if it stands for something else."""
        meaning = self.meaning(pseudonym)
        return Mid(int(meaning.mids[0])) if meaning is not None and meaning.kind == "entity" else None

    def sharing(self, mid: Mid) -> tuple[Mids, ...]:
        """Returns each group of entities that contains `mid` and shares a name used in this conversation."""
        groups = (meaning.mids for meaning in self._state.meanings.values() if meaning.kind == "group")
        return tuple(mids for mids in groups if mid in mids)

    def holds(self, mids: Collection[int], texts: Collection[str]) -> bool:
        """True if this conversation has met one of `mids`, or if one of `texts` was typed in it."""
        kinds = (ValueKind.TEXT, ValueKind.NUMBER, ValueKind.DATE)
        digests = {self._digest(f"{kind}\n{normalise(text).text}") for kind in kinds for text in texts}
        met = {*self._state.settled, *(int(mid) for each in self._state.meanings.values() for mid in each.mids)}
        return not met.isdisjoint(mids) or not digests.isdisjoint(self._state.digests.values())

    def settle(self, mid: Mid, by_user: bool) -> None:
        """Records that a turn named this entity unambiguously, so that a shared name may be read as this entity."""
        self._state.settled[mid] = by_user or self._state.settled.get(mid, False)

    def settled_among(self, mids: Iterable[int]) -> tuple[Mid, ...]:
        """Returns those of `mids` that a user has named unambiguously; if there are none, those that an answer has.

        The order is that of `mids`.
        """
        named = {Mid(mid): self._state.settled[mid] for mid in mids if mid in self._state.settled}
        return tuple(mid for mid, by_user in named.items() if by_user) or tuple(named)

    def in_own_order(self, mids: Mids) -> list[str]:
        """Returns the pseudonym of each thing, in the conversation's own order."""
        return [self.of_entity(Mid(int(mids[at]))) for at in self.in_order([str(mid) for mid in mids.tolist()])]

    def choices_among(self, mids: Mids) -> list[str]:
        """Returns pseudonyms of the entities a shared name may mean, at most MAX_CHOICES.

        Those that the dialogue names unambiguously come first, then the others in the conversation's order.
        """
        named = self.settled_among(mids.tolist())
        return sorted(self.in_own_order(mids), key=lambda word: self.entity(word) not in named)[:MAX_CHOICES]

    def assign_thread(self, answer: str, leans: bool) -> int | None:
        """Puts a new answer into the current thread if `leans` (it needs earlier turns), else into a new one.

        Returns the number of earlier answers in the thread, or None if the thread is the whole conversation.
        """
        with self._lock:
            threads = self._state.threads
            thread = self._newest_thread if leans else answer
            earlier = None if thread == WHOLE else sum(each == thread for each in threads.values())
            threads[answer] = thread
            return earlier

    def wire_pseudonyms(self, schema: Schema, answer: str) -> dict[str, str]:
        """Returns, for an answer's thread, the word that is sent for each pseudonym and opaque word of the graph.

        The words are new for every thread, so that what one thread reveals cannot be combined with another. In a
        conversation that is one thread, pseudonyms are sent as they are and are left out here.
        """
        with self._lock:
            thread = self._state.threads.get(answer, WHOLE)
            key = self._state.order_key
            masks: dict[str, str] = {}
            for mask in masks_of(schema).values():
                masks[mask] = mask_word(key, f"{thread}\n{mask}", masks.values())
            if thread == WHOLE:
                return masks
            words = self._sent.setdefault(thread, {})
            taken = set(words.values())
            for pseudonym in islice(self._state.meanings, len(words), None):
                words[pseudonym] = keyed_word(pseudonym[0], f"{thread}\n{pseudonym}", key, is_shaped, taken)
                taken.add(words[pseudonym])
            return words | masks

    @property
    def answers(self) -> tuple[str, ...]:
        """Returns the ids of this conversation's answers, oldest first."""
        return tuple(self._state.threads)

    @property
    def _newest_thread(self) -> str:
        return next(reversed(self._state.threads.values()), WHOLE)

    def _word_of(self, meaning: Meaning, digest: str | None = None, letter: Letter | None = None) -> str:
        identity = _identity(meaning, digest)
        state = self._state
        with self._lock:
            word = self._words.get(identity)
            if word is None:
                word = draw_word(letter or _LETTERS[meaning.kind], state.meanings)
                self._words[identity] = word
                self._issued = None
            elif meaning.value_kind is None and (kind := state.meanings[word].value_kind) is not None:
                meaning = replace(meaning, value_kind=kind)  # Keeps the one that an earlier mention has told.
            state.meanings[word] = meaning
            if digest is not None:
                state.digests[word] = digest
            return word

    def _digest(self, text: str) -> str:
        return blake2b(text.encode(errors="surrogatepass"), key=self._state.order_key, digest_size=16).hexdigest()


def _identity(meaning: Meaning, digest: str | None) -> Hashable:
    """Returns a key that is equal for two meanings exactly if they mean the same thing."""
    if meaning.kind == "set":
        return meaning.kind, meaning.start, meaning.path
    if meaning.kind in ("entity", "value", "group"):
        return meaning.kind, meaning.mids.tobytes()
    return meaning.kind, meaning.concept or meaning.expression or digest
