"""Looks up what the pseudonyms of one conversation stand for on one graph, as follow-up questions need it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from app.chat.execution import AnswerExecutor
from app.privacy.pseudonyms import PseudonymTable
from kg_store.catalog import PrivateGraph
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import concept_of, kind_of, reached, steps_from
from kg_store.terms import NO_MIDS, Mid, Mids, NodeKind, as_mids

_WORD = re.compile(r"[^\W\d_]+")
# Words of relations that mostly people have. A good guess is enough to resolve pronouns.
_OF_PEOPLE = frozenset(
    "birth born gender sex spouse married lives parent parents child children sibling siblings profession occupation "
    "nationality person religion graduated education died death salary employer".split()
)


class PseudonymMeanings:
    """Looks up what the pseudonyms of one conversation stand for on one graph."""

    def __init__(self, graph: PrivateGraph, table: PseudonymTable, concluder: AnswerExecutor) -> None:
        self._graph, self._table, self._concluder = graph, table, concluder

    def listed(self, word: str) -> Sequence[str]:
        """Returns the pseudonyms of a set's members, in the order in which the asker saw their names."""
        return self._concluder.listed(word)

    def has_rest(self, word: str) -> bool:
        """Returns True if an answer did not show all members of the set `word`."""
        return bool(self._concluder.rest_of(word))

    def choices(self, word: str) -> Sequence[str]:
        """Returns the pseudonyms of the things that `word` may mean, if it stands for a name that they share.

        Empty for any other word.
        """
        meaning = self._table.meaning(word)
        return self._table.choices_among(meaning.mids) if meaning is not None and meaning.kind == "group" else ()

    def namesakes(self, word: str) -> Sequence[str]:
        """Returns the pseudonyms of all things that share a name with the thing `word`, itself included.

        Only names that this conversation used count; empty if none of them is shared.
        """
        mid = self._table.entity(word)
        shared = self._table.sharing(mid) if mid is not None else ()
        return self._table.in_own_order(shared[0]) if shared else ()

    def set_behind(self, word: str) -> str:
        """Returns the pseudonym of the things that the number or truth `word` was worked out from, else nothing."""
        meaning = self._table.meaning(word)
        is_worked_out = word[0] == "V" and meaning is not None and meaning.kind == "outcome"
        return self._concluder.set_behind(meaning.expression or "") if is_worked_out and meaning else ""

    def is_of_group(self, word: str) -> bool:
        """Returns True if the set `word` was reached from things that share a name."""
        meaning = self._table.meaning(word)
        behind = [meaning.start or "", *self._table.known(meaning.expression or "")] if meaning is not None else []
        return any(each != word and (self.choices(each) or self.is_of_group(each)) for each in behind)

    def one(self, word: str) -> str:
        """Returns the pseudonym of the only thing that `word` stands for; empty for several things and for a value."""
        mids = self.mids(word)
        is_one = len(mids) == 1 and kind_of(self._graph.blind, mids) is NodeKind.ENTITY
        return self._table.of_entity(Mid(int(mids[0]))) if is_one else ""

    def joined_with(self, words: Sequence[str], choices: Sequence[str]) -> list[str]:
        """Returns those of `choices` that a relation joins with each of the things and values `words`."""
        graph, wanted = self._graph.blind, [self.mids(word) for word in words]
        near = {each: self.mids(each) for each in choices}
        around = {
            each: np.concatenate([NO_MIDS, *(reached(graph, mids, (step,)) for step in steps_from(graph, mids))])
            for each, mids in near.items()
        }
        return [each for each in choices if all(np.isin(around[each], mids).any() for mids in wanted)]

    def all_of(self, words: Sequence[str]) -> str:
        """Returns the pseudonym of the set of these things."""
        mids = np.unique(np.concatenate([self.mids(word) for word in words]))
        return self._table.of_outcome(f"union({', '.join(words)})", mids.tolist())

    def concept(self, word: str) -> str:
        return concept_of(self._graph.blind, self.mids(word))

    def is_person(self, word: str) -> bool:
        """Returns True if `word` stands for a single thing with relations that mostly people have."""
        mid = self._table.entity(word)
        return mid is not None and are_persons(self._graph.blind, as_mids([mid]))

    def mids(self, word: str) -> Mids:
        return self._table.resolve(word, self._graph.blind)[0]


def are_persons(graph: BlindGraph, mids: Mids) -> bool:
    """Returns True if some of `mids` have relations that mostly people have, such as a birth date or a spouse."""
    labels = (graph.schema.label(hop) for hop in graph.relations_of(mids))
    words = {part.lower() for label in labels if not label.startswith("^") for part in _WORD.findall(label)}
    return not _OF_PEOPLE.isdisjoint(words)
