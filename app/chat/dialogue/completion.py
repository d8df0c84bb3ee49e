"""Completes the last question of a dialogue with what it leaves to earlier turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.chat.answers.execution import AnswerExecutor, GraphView
from app.chat.dialogue.follow_ups import FollowUps
from app.privacy.anonymiser import Anonymised
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import SafeDialogue, SafeTurn, Topic
from client_sdk.protocol import Ambiguity
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import concept_of
from kg_store.terms import Mids, ValueKind, as_mids

_WORD = re.compile(r"[A-Za-z]+")
# Words of relations that only people have; resolving pronouns needs no more than a good guess.
_PERSONAL = frozenset(
    "birth born gender sex spouse married lives parent parents child children sibling siblings profession occupation "
    "nationality person religion graduated education died death salary employer".split()
)


@dataclass(frozen=True, slots=True)
class Completed:
    """The dialogue with its last question complete.

    `pointed`: set if the question only names one thing of an earlier answer; `lost`: it points at a thing that is not
    there.
    """

    read: Anonymised
    pointed: str | None = None
    lost: bool = False


class PseudonymMeanings:
    """Looks up what the pseudonyms of one conversation stand for on one graph (used by
    app/chat/dialogue/follow_ups.py).
    """

    def __init__(self, graph: GraphView, table: PseudonymTable, concluder: AnswerExecutor) -> None:
        self._graph, self._table, self._concluder = graph, table, concluder

    def listed(self, word: str) -> Sequence[str]:
        return self._concluder.listed(word)

    def choices(self, word: str) -> Sequence[str]:
        meaning = self._table.meaning(word)
        return self._table.choices_among(meaning.mids) if meaning is not None and meaning.kind == "group" else ()

    def namesakes(self, word: str) -> Sequence[str]:
        mid = self._table.entity(word)
        shared = self._table.sharing(mid) if mid is not None else ()
        return self._table.in_own_order(shared[0]) if shared else ()

    def concept(self, word: str) -> str:
        return concept_of(self._graph.blind, self.mids(word))

    def is_person(self, word: str) -> bool:
        """True of a single thing that has relations which only people have."""
        mid = self._table.entity(word)
        return mid is not None and are_persons(self._graph.blind, as_mids([mid]))

    def mids(self, word: str) -> Mids:
        return self._table.resolve(word, self._graph.blind)[0]


def are_persons(graph: BlindGraph, mids: Mids) -> bool:
    """True if some of `mids` have relations which only people have."""
    labels = (graph.schema.label(hop) for hop in graph.relations_of(mids))
    words = {part.lower() for label in labels if not label.startswith("^") for part in _WORD.findall(label)}
    return not _PERSONAL.isdisjoint(words)


class DialogueCompleter:
    """Completes the dialogue of one request; a thing that the user chooses is then fixed for the conversation."""

    def __init__(self, table: PseudonymTable, meanings: PseudonymMeanings) -> None:
        self._table, self._meanings = table, meanings

    def complete(self, read: Anonymised) -> Completed:
        whole = FollowUps(self._table, self._meanings).whole(read.dialogue)
        note = whole.note(read.dialogue.question)
        notes = (*read.notes, note) if note else read.notes
        if whole.question == read.dialogue.question:
            return Completed(replace(read, notes=notes), lost=whole.lost)
        said = self._table.known(whole.question)
        for mid in filter(None, map(self._table.entity, said)):
            self._table.settle(mid, by_user=True)
        turns = (*read.dialogue.turns[:-1], SafeTurn("user", whole.question))
        dialogue = SafeDialogue(turns, tuple(self._topics(said, read.dialogue.topics)), whole.leans)
        return Completed(replace(read, dialogue=dialogue, ambiguous=self._ambiguous(said), notes=notes), whole.pointed)

    def _topics(self, said: list[str], before: tuple[Topic, ...]) -> Iterator[Topic]:
        known = {topic.pseudonym: topic for topic in before}
        for word in said:
            yield replace(known[word], newest=True) if word in known else self._topic(word)
        yield from (replace(topic, newest=False) for topic in before if topic.pseudonym not in said)

    def _topic(self, word: str) -> Topic:
        meaning = self._table.meaning(word)
        is_value = meaning is not None and meaning.kind in ("value", "literal")
        kind = (meaning.value_kind or ValueKind.TEXT) if meaning is not None and is_value else None
        return Topic(word, self._meanings.mids(word), kind)

    def _ambiguous(self, said: list[str]) -> tuple[Ambiguity, ...]:
        offered = ((word, list(self._meanings.choices(word))) for word in said)
        return tuple(Ambiguity(pseudonym=word, choices=choices) for word, choices in offered if choices)
