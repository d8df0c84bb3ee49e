"""PseudonymTable: the stand-ins of one conversation, one to one with what they stand for."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from threading import Lock

import numpy as np

from app.privacy.pseudonym_format import (
    RANKED,
    WHOLE,
    Letter,
    Meaning,
    MeaningKind,
    TableState,
    draw_word,
    extend_thread,
    masked_in_thread,
    read_state,
    shaped_in,
    write_state,
)
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.masked_relations import masks_of
from kg_store.graph.traversal import members_of, walk
from kg_store.terms import NO_MIDS, Edges, Mid, Mids, Path, Schema, ValueKind, as_mids
from kg_store.text.normalise import normalise

__all__ = ["Meaning", "MeaningKind", "PseudonymTable"]

ORDER_KEY_BYTES = 32

_LETTERS: dict[MeaningKind, Letter] = {
    "entity": "E", "value": "V", "set": "S", "group": "S", "kind": "S", "literal": "V", "outcome": "V",
}  # fmt: skip


class PseudonymTable:
    """Promise: the same thing has one pseudonym through the conversation, and no pseudonym means two things.

    Condition: `to_bytes` is only ever stored sealed, for it holds MIDs and the conversation's key.
    Limit: whoever sees two answers of one conversation can tell that the same thing is meant. The model can't, where
    the later question does not lean on the earlier one (app/privacy/pseudonym_format.py).
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
        """Reads the output of `to_bytes`, over the graph version of `schema`. Raises ValueError."""
        return cls(read_state(data, schema))

    def to_bytes(self, schema: Schema) -> bytes:
        """The plain content of the conversation's row: paths by relation IRI, literals by keyed digest."""
        with self._lock:
            return write_state(self._state, schema)

    def of_entity(self, mid: Mid) -> str:
        return self._word_of(Meaning("entity", as_mids([mid])))

    def of_value(self, mid: Mid, kind: ValueKind | None = None) -> str:
        return self._word_of(Meaning("value", as_mids([mid]), value_kind=kind))

    def of_set(self, start: str, path: Path, members: Mids) -> str:
        """The pseudonym of what `path` reaches from the things that `start` (a pseudonym) stands for."""
        return self._word_of(Meaning("set", as_mids(members), start=start, path=path))

    def of_kind(self, concept: str, members: Mids) -> str:
        """The pseudonym of everything in the graph of one concept."""
        return self._word_of(Meaning("kind", as_mids(members), concept=concept))

    def of_group(self, mids: Sequence[int] | Mids) -> str:
        """The pseudonym of a name that several entities share."""
        return self._word_of(Meaning("group", as_mids(mids)))

    def of_literal(self, text: str, kind: ValueKind, mids: Sequence[int] | Mids = ()) -> str:
        """The pseudonym of something typed; `mids` are the graph's values that equal it, if any."""
        digest = self._digest(f"{kind}\n{normalise(text).text}")
        return self._word_of(Meaning("literal", as_mids(mids), value_kind=kind, literal=text), digest)

    def of_outcome(self, expression_text: str, mids: Sequence[int] | Mids | None = None) -> str:
        """The pseudonym of what an expression gives; `mids` where that is a set of things."""
        members = NO_MIDS if mids is None else as_mids(mids)
        return self._word_of(
            Meaning("outcome", members, expression=expression_text), letter="V" if mids is None else "S"
        )

    def of_ranked(self, expression_text: str, mids: Sequence[int]) -> str:
        """The pseudonym of a set of things in an order that no expression gives again."""
        in_order = np.asarray(mids, dtype=np.int64)
        return self._word_of(Meaning("outcome", in_order, expression=f"{RANKED}{expression_text})"), letter="S")

    def in_order(self, keys: Sequence[str]) -> list[int]:
        """Positions of `keys` in the conversation's own order: the same facts, the same bytes."""
        return sorted(range(len(keys)), key=lambda at: (self._digest(keys[at]), at))

    def shuffled_order(self, keys: Sequence[str]) -> list[int]:
        """As `in_order`, but another order for each thread."""
        thread = self._newest_thread
        return self.in_order(keys if thread == WHOLE else [f"{thread}\n{key}" for key in keys])

    def meaning(self, pseudonym: str) -> Meaning | None:
        """None for a word that this conversation did not issue."""
        return self._state.meanings.get(pseudonym)

    def resolve(self, pseudonym: str, graph: BlindGraph) -> tuple[Mids, Edges | None]:
        """The entities that `pseudonym` stands for on `graph`, and for a set (member it hangs on, member) pairs.

        A word that was not issued, and a set whose path this version can't walk, give nothing.
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
        """The pseudonyms of this conversation that stand in `text`, in order of first use."""
        found = (standing.word for standing in shaped_in(text) if standing.word in self._state.meanings)
        return list(dict.fromkeys(found))

    def entity(self, pseudonym: str) -> Mid | None:
        """The one entity that `pseudonym` stands for; None where it is another kind of thing."""
        meaning = self.meaning(pseudonym)
        return Mid(int(meaning.mids[0])) if meaning is not None and meaning.kind == "entity" else None

    def sharing(self, mid: Mid) -> tuple[Mids, ...]:
        """The groups, one for each shared name that was asked about, that `mid` is in."""
        groups = (meaning.mids for meaning in self._state.meanings.values() if meaning.kind == "group")
        return tuple(mids for mids in groups if mid in mids)

    def holds(self, mids: Collection[int], texts: Collection[str]) -> bool:
        """True where a pseudonym stands for one of `mids`, or for something typed that is one of `texts`."""
        kinds = (ValueKind.TEXT, ValueKind.NUMBER, ValueKind.DATE)
        digests = {self._digest(f"{kind}\n{normalise(text).text}") for kind in kinds for text in texts}
        met = {*self._state.settled, *(int(mid) for each in self._state.meanings.values() for mid in each.mids)}
        return not met.isdisjoint(mids) or not digests.isdisjoint(self._state.digests.values())

    def settle(self, mid: Mid, by_user: bool) -> None:
        """Remembers that a turn has named this entity alone, so that a shared name may mean it."""
        self._state.settled[mid] = by_user or self._state.settled.get(mid, False)

    def settled_among(self, mids: Iterable[int]) -> tuple[Mid, ...]:
        """Those of `mids` that a user has named alone; where there is none, those that an answer has."""
        named = {Mid(mid): self._state.settled[mid] for mid in mids if mid in self._state.settled}
        return tuple(mid for mid, by_user in named.items() if by_user) or tuple(named)

    def assign_thread(self, answer: str, leans: bool) -> int | None:
        """Puts a new answer into the thread that it `leans` on, or begins one. How many earlier answers are in it;
        None where the thread is the whole conversation, as it is when its first question leans on something."""
        with self._lock:
            threads = self._state.threads
            thread = self._newest_thread if leans else answer
            earlier = None if thread == WHOLE else sum(each == thread for each in threads.values())
            threads[answer] = thread
            return earlier

    def wire_pseudonyms(self, schema: Schema, answer: str) -> dict[str, str]:
        """The words on the wire, now or earlier, for the conversation's pseudonyms and the graph's opaque words.

        They are drawn anew for every thread: what one told of a thing says nothing of it in the next. Pseudonyms that
        go out as they are, in a thread that is the whole conversation, are left out.
        """
        with self._lock:
            thread = self._state.threads.get(answer, WHOLE)
            masks = masked_in_thread(self._state.order_key, thread, masks_of(schema).values())
            if thread == WHOLE:
                return masks
            words = self._sent.setdefault(thread, {})
            extend_thread(words, self._state.order_key, thread, self._state.meanings)
            return words | masks

    @property
    def answers(self) -> tuple[str, ...]:
        """The ids of this conversation's answers, the oldest first."""
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
            else:
                meaning = _newest(state.meanings[word], meaning)
            state.meanings[word] = meaning
            if digest is not None:
                state.digests[word] = digest
            return word

    def _digest(self, text: str) -> str:
        return blake2b(text.encode(errors="surrogatepass"), key=self._state.order_key, digest_size=16).hexdigest()


def _newest(before: Meaning, now: Meaning) -> Meaning:
    """`now`, without forgetting the kind of a value that only an earlier mention could tell."""
    return now if now.value_kind is not None else replace(now, value_kind=before.value_kind)


def _identity(meaning: Meaning, digest: str | None) -> Hashable:
    """The key under which two meanings are the same thing."""
    if meaning.kind == "set":
        return meaning.kind, meaning.start, meaning.path
    if meaning.kind in ("entity", "value", "group"):
        return meaning.kind, meaning.mids.tobytes()
    return meaning.kind, meaning.concept or meaning.expression or digest
