"""Previews for owners: what a model would see of files under a policy, told before anything is loaded."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from app.chat.sealing import seal_preview
from app.graphs.previews.columns import columns_of, columns_seen, tables_seen
from app.graphs.previews.policy_changes import with_changes
from client_sdk.protocol import EntitySeen, FactSeen, GraphPreview, MaskedWord, Names, PolicyChanges, PredicateSeen
from kg_store.catalog import NameConcepts
from kg_store.formats.files import require_unpacked_within
from kg_store.proposals.predicate_uses import PredicateUse
from kg_store.proposals.preview import PreviewEntity
from kg_store.proposals.propose import preview, read_and_propose
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import read_by_policy

MAX_PREVIEWS: Final = 2
"""Two cores, and the memory of two loads. Chosen by hand."""
WAIT_S: Final = 20.0
"""Longer than most previews take, and shorter than a browser waits. Chosen by hand."""


class PreviewBusyError(Exception):
    """This tenant's other preview is being made, or too many others' are."""


class Turns:
    """Lets `most` tenants work at once, each alone with itself; others wait for a place, `wait_s` seconds at most."""

    def __init__(self, most: int, wait_s: float) -> None:
        self._wait_s, self._places = wait_s, threading.BoundedSemaphore(most)
        self._busy: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, tenant: str) -> Iterator[None]:
        """The turn of a tenant. Raises PreviewBusyError."""
        with self._lock:
            if tenant in self._busy:
                raise PreviewBusyError
            self._busy.add(tenant)
        try:
            if not self._places.acquire(timeout=self._wait_s):
                raise PreviewBusyError
            try:
                yield
            finally:
                self._places.release()
        finally:
            with self._lock:
                self._busy.discard(tenant)


class Previewer:
    """Makes MAX_PREVIEWS previews at a time, because each takes the memory of a load; of a tenant one.

    Promise: nothing is written, and the reply holds no name of an entity and no value; the sample's names are sealed
    to the caller's key. A tenant's long preview does not keep another waiting. Limit: predicates and masked classes
    are shown as in the files, so that their owner can decide about them.
    """

    def __init__(self, name_concepts: NameConcepts, most_unpacked_bytes: int) -> None:
        self._name_concepts, self._most_unpacked = name_concepts, most_unpacked_bytes
        self._turns = Turns(MAX_PREVIEWS, WAIT_S)

    def preview(
        self,
        tenant: str,
        sources: Sequence[Path],
        policy: str | None,
        sample: int,
        public_key: str | None,
        changes: PolicyChanges | None = None,
    ) -> GraphPreview:
        """Returns the preview of files under `policy`, or under the proposed policy without one, with `changes`
        applied.

        Raises PolicyError, LoadError, PreviewBusyError, BadPublicKeyError.
        """
        given = None if policy is None else Policy.from_toml(policy)
        with self._turns.of(tenant):
            require_unpacked_within(sources, self._most_unpacked)
            raw, used = changed(sources, given, changes or PolicyChanges())
            return self._made(sources, raw, used, given is None, sample, public_key)

    def _made(
        self,
        sources: Sequence[Path],
        raw: RawGraph,
        used: Policy,
        is_proposed: bool,
        sample: int,
        public_key: str | None,
    ) -> GraphPreview:
        seen = preview(raw, used, sample, self._name_concepts)
        tables = columns_of(sources, used)
        names = {each.pseudonym: Names(names=[each.name], total=1) for each in seen.sample}
        told = GraphPreview(
            id="p" + secrets.token_hex(12),
            policy=used.to_toml(),
            is_proposed=is_proposed,
            triples=seen.triples,
            entities=seen.entities,
            values=seen.values,
            mediators=seen.mediators,
            predicates=[_predicate(each) for each in seen.predicates],
            concepts=list(seen.concepts),
            sample=[_entity(each) for each in seen.sample],
            notes=list(seen.notes),
            masked=[
                MaskedWord(kind=each.kind, term=each.term, word=each.word, reason=each.reason.value)
                for each in seen.masked
            ],
            columns=list(columns_seen(tables, seen)),
            tables=tables_seen(tables, seen),
        )
        return told if public_key is None else seal_preview(public_key, told, names)


def changed(sources: Sequence[Path], given: Policy | None, changes: PolicyChanges) -> tuple[RawGraph, Policy]:
    """Returns the triples, and the given or proposed policy with the changes. Raises PolicyError, LoadError."""
    if given is None:
        raw, used = read_and_propose(sources)
        if not (changes.columns or changes.tables):
            return raw, used
    else:
        used = given
    if changes.columns or changes.tables:
        headers = {each.table.file: list(each.columns) for each in columns_of(sources, used)}
        used = with_changes(used, changes, headers)
    return read_by_policy(sources, used), used


def _entity(entity: PreviewEntity) -> EntitySeen:
    facts = [FactSeen(relation=fact.relation, end=fact.end) for fact in entity.facts]
    return EntitySeen(pseudonym=entity.pseudonym, concept=entity.concept, facts=facts)


def _predicate(use: PredicateUse) -> PredicateSeen:
    relation = use.relation
    if relation is None:
        return PredicateSeen(predicate=use.predicate, use=use.use, triples=use.triples)
    leads_to_values = relation.value_kind is not None
    return PredicateSeen(
        predicate=use.predicate,
        use=use.use,
        triples=use.triples,
        label=relation.label,
        description=relation.description,
        value_kind=relation.value_kind.value if relation.value_kind is not None else None,
        shown_as=relation.value_view.value if leads_to_values else None,
    )
