"""Builder: fills a new version of a graph, either from a load or from an earlier version with changes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sqlalchemy import Engine

from kg_store.errors import LoadError
from kg_store.graph.adjacency import Adjacency
from kg_store.graph.pruning import RemovalSet, facts_of, pruned, refuse_unknown_words, unknown_words
from kg_store.graph.schema import notes_on, phrases_of, refuse_telling, schema_bytes, with_concepts
from kg_store.loading.load import LoadedGraph, LoadedNode, placeholder_schema
from kg_store.names.index import NameIndex, NameReport, Spellings
from kg_store.names.name_words import CollectedWords, NameWords
from kg_store.sources.policy import Policy
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey
from kg_store.storage.vault import Vault, VaultRecord, VaultScope, write_records
from kg_store.storage.version_reports import INFO_PURPOSE, GraphInfo, info_bytes
from kg_store.storage.versions import SealedParts
from kg_store.terms import Edges, Mids, NodeKind, Schema, as_mids
from kg_store.text.english import PublicWords
from kg_store.text.labels import unknown_kinds

Progress = Callable[[str, float], None]
"""Called with the step's name and the share of the whole load that is done, 0 to 1."""

NameConcepts = Callable[[Schema], Sequence[str]]
"""Returns one concept for each signature of a schema whose concepts are placeholders."""

SCHEMA_FILE, NAMES_FILE, WORDS_FILE = "schema.sealed", "names.sealed", "words.sealed"
EMBEDDING_FILE = "embedding.sealed"  # Written by the service, if at all.
POLICY_PURPOSE = "policy"
_UNSEEN_FILE, _PUBLIC_FILE = "unseen.npy", "public.npy"
_COMPRESSION, _COMPRESSED = 1, b"x"
"""The level of zlib, and the byte that all begins with that zlib has compressed."""
_COUNTED = (NodeKind.ENTITY, NodeKind.VALUE, NodeKind.MEDIATOR)


@dataclass(frozen=True, slots=True)
class CollectedNames:
    """The spellings and words of all names of a load, collected while `collect` hands on its nodes."""

    spellings: Spellings = field(default_factory=Spellings)
    words: CollectedWords = field(default_factory=CollectedWords)

    def collect(self, nodes: Iterable[LoadedNode], public: Collection[int]) -> Iterator[tuple[int, VaultRecord]]:
        """Yields (MID, record) of each of `nodes`, and adds its names to this collection.

        The words of the names of `public` nodes are not added: they identify nothing private.
        """
        for node in nodes:
            for name in node.record.names:
                self.spellings.add_name(node.mid, name)
            for entry in node.values():
                self.spellings.add(entry)
            if node.mid not in public:
                self.words.add(node.record)
            yield node.mid, node.record


@dataclass(frozen=True, slots=True)
class Built(SealedParts):
    """A version that is complete on disk and in the vault, with what its database row will hold."""

    info: GraphInfo


class VersionCipher:
    """Encrypts and decrypts the files and the columns of versions."""

    def __init__(self, folder: DataFolder, master: MasterKey) -> None:
        self._folder, self._master = folder, master

    def write(self, scope: VaultScope, file: str, plain: bytes) -> None:
        (self._folder.path_of(scope.version_id) / file).write_bytes(self.seal(scope, file, plain))

    def read(self, scope: VaultScope, file: str) -> bytes:
        return self.unseal(scope, file, (self._folder.path_of(scope.version_id) / file).read_bytes())

    def seal(self, scope: VaultScope, purpose: str, plain: bytes) -> bytes:
        return self._master.seal(purpose, scope.context(), plain)

    def unseal(self, scope: VaultScope, purpose: str, sealed: bytes) -> bytes:
        return self._master.open(purpose, scope.context(), sealed)


class Builder:
    """Fills the folder and the vault rows of a version that nobody can open yet."""

    def __init__(self, folder: DataFolder, engine: Engine, master: MasterKey, public_phrases: Iterable[str]) -> None:
        self._folder, self._engine, self._master = folder, engine, master
        self._sealer = VersionCipher(folder, master)
        self._public_phrases = public_phrases

    def public_words(self, schema: Schema, policy: Policy) -> PublicWords:
        return PublicWords.of((*self._public_phrases, *phrases_of(schema), *policy.words))

    def name(
        self, scope: VaultScope, loaded: LoadedGraph, policy: Policy, name_concepts: NameConcepts
    ) -> tuple[Schema, tuple[str, ...]]:
        """Names the concepts of a load, and writes the files without names.

        Returns the schema, and notes for the owner. Raises LoadError, PolicyError.
        """
        schema = placeholder_schema(loaded)
        schema = with_concepts(schema, name_concepts(schema))
        refuse_unknown_words(policy, schema)
        notes = self._notes_on_unsaid(loaded, schema, policy)
        self._write_arrays(scope, loaded.adjacency, schema, loaded.unseen, loaded.public_nodes)
        return schema, notes

    def seal_records(self, scope: VaultScope, loaded: LoadedGraph, names: CollectedNames) -> Iterator[float]:
        """Writes the encrypted vault records of a load, and adds their names to `names`, in one pass over the nodes.

        Yields the share that is written, now and then.
        """
        total, public = max(1, sum(loaded.counts.values())), frozenset(loaded.public_nodes.tolist())
        for written in write_records(self._engine, self._master, scope, names.collect(loaded.nodes(), public)):
            yield min(1.0, written / total)

    def seal_names(
        self, scope: VaultScope, names: CollectedNames, public: PublicWords, progress: Callable[[float], None]
    ) -> NameReport:
        """Writes the index of the collected names and the set of their words, both encrypted; returns its report.

        `progress` gets the share that is done, 0 to 1.
        """
        words = names.words.words()
        index = names.spellings.index()
        progress(0.4)
        index = index.marked(public)
        progress(0.8)
        self._write_names(scope, index, words)
        return index.report()

    def finish(
        self, scope: VaultScope, loaded: LoadedGraph, names: NameReport, notes: tuple[str, ...], policy: Policy
    ) -> Built:
        """Returns the completed version of a load, after everything else has been written."""
        entities, values, mediators = (loaded.counts[kind] for kind in _COUNTED)
        info = GraphInfo(
            scope.tenant, scope.graph, scope.version_id, triples=loaded.facts, entities=entities, values=values,
            mediators=mediators, relations=len(loaded.relations), loaded_at=datetime.now(UTC).replace(microsecond=0),
            public_words=names.public_words, notes=(*loaded.notes, *notes), masked=loaded.masked,
            is_public=loaded.is_public,
        )  # fmt: skip
        return self._finished(scope, info, policy)

    def renamed(self, scope: VaultScope, before: BaseVersion, concepts: Sequence[str], progress: Progress) -> Built:
        """Returns a version that differs from `before` in its concepts only.

        Raises LoadError if a concept would make a name a public word, or if a role names a concept that would be gone.
        """
        schema = with_concepts(before.schema, concepts)
        index = before.names.with_public(self.public_words(schema, before.policy))
        fresh = set(index.report().public_words) - set(before.names.report().public_words)
        if fresh:
            raise LoadError(f"the concepts would make {len(fresh)} names public words")
        if unknown_words(before.policy, schema) > unknown_words(before.policy, before.schema):
            raise LoadError("roles of the policy name concepts that would not be there any more")
        path = self._folder.path_of(before.info.version)
        self._write_arrays(scope, Adjacency.map_from(path), schema, read_unseen(path), read_public_nodes(path))
        info = replace(before.info, loaded_at=datetime.now(UTC).replace(microsecond=0))
        return self._copied(scope, before, index, info, frozenset(), progress)

    def without(
        self,
        scope: VaultScope,
        before: BaseVersion,
        going: RemovalSet,
        name_concepts: NameConcepts,
        progress: Progress,
    ) -> Built:
        """Returns a version without the things in `going`. Raises LoadError if nothing else would be left.

        Signatures (the kind, classes and hops that nodes share) that existed before keep their concepts; new ones are
        named by `name_concepts`.
        """
        path = self._folder.path_of(before.info.version)
        adjacency = Adjacency.map_from(path)
        facts = facts_of(adjacency)
        if going.nodes.all():
            raise LoadError("nothing else is in the graph: delete it instead")
        left = pruned(adjacency, before.schema, going.nodes, np.ones(len(facts.heads), dtype=np.bool_), facts)
        concepts = list(left.schema.concepts)
        if left.changed:
            named = with_concepts(left.schema, name_concepts(left.schema)).concepts
            for at in left.changed:
                concepts[at] = named[at]
        schema = replace(left.schema, concepts=tuple(concepts))
        public = np.setdiff1d(read_public_nodes(path), going.mids)
        self._write_arrays(scope, left.adjacency, schema, unseen_without(read_unseen(path), going.mids), public)
        gone = frozenset(going.mids.tolist())
        index = before.names.without(gone).with_public(self.public_words(schema, before.policy))
        entities, values, mediators = (left.counts()[kind] for kind in _COUNTED)
        info = replace(
            before.info, triples=left.facts, relations=len(schema.relations),
            entities=entities, values=values, mediators=mediators,
        )  # fmt: skip
        return self._copied(scope, before, index, info, gone, progress)

    def _notes_on_unsaid(self, loaded: LoadedGraph, schema: Schema, policy: Policy) -> tuple[str, ...]:
        """Returns notes for the owner on the words of masked and hidden relations.

        Raises LoadError if the description of a masked relation, or a further word of another one, holds such words.
        """
        said = tuple(replace(each, description="", words=()) for each in schema.relations)
        bare = replace(schema, relations=said, kind_words={})
        public = self.public_words(bare, policy)
        refuse_telling(schema, loaded.unsaid, public)
        count = unknown_kinds(schema)
        missing = (f"{count} kinds that the policy gives words to are not in the graph",) if count else ()
        return (*notes_on(loaded.unsaid, public), *missing)

    def _copied(
        self,
        scope: VaultScope,
        before: BaseVersion,
        index: NameIndex,
        info: GraphInfo,
        gone: frozenset[int],
        progress: Progress,
    ) -> Built:
        public = frozenset(read_public_nodes(self._folder.path_of(before.info.version)).tolist())
        words = NameWords.of(record for mid, record in before.vault.all_records() if mid not in gone | public)
        self._write_names(scope, index, words)
        total = max(1, info.entities + info.values + info.mediators)
        records = ((mid, record) for mid, record in before.vault.all_records() if mid not in gone)
        for written in write_records(self._engine, self._master, scope, records):
            progress("sealing names and values", min(1.0, written / total))
        info = replace(info, version=scope.version_id, public_words=index.report().public_words)
        return self._finished(scope, info, before.policy)

    def _write_names(self, scope: VaultScope, index: NameIndex, words: NameWords) -> None:
        # Compressed, an index takes a third of the bytes, and is read in hardly more time.
        self._sealer.write(scope, NAMES_FILE, zlib.compress(index.to_bytes(), _COMPRESSION))
        self._sealer.write(scope, WORDS_FILE, words.to_bytes())

    def _write_arrays(
        self, scope: VaultScope, adjacency: Adjacency, schema: Schema, unseen: Edges, public: Mids
    ) -> None:
        path = self._folder.path_of(scope.version_id)
        adjacency.save(path)
        np.save(path / _UNSEEN_FILE, np.stack([unseen.heads, unseen.tails]), allow_pickle=False)
        if len(public):
            np.save(path / _PUBLIC_FILE, public, allow_pickle=False)
        self._sealer.write(scope, SCHEMA_FILE, schema_bytes(schema))

    def _finished(self, scope: VaultScope, info: GraphInfo, policy: Policy) -> Built:
        self._folder.finish(scope.version_id)
        sealed_policy = self._sealer.seal(scope, POLICY_PURPOSE, policy.to_toml().encode())
        return Built(self._sealer.seal(scope, INFO_PURPOSE, info_bytes(info)), sealed_policy, info)


@dataclass(frozen=True, slots=True)
class BaseVersion:
    """The open version from which a new one is made."""

    info: GraphInfo
    schema: Schema
    vault: Vault = field(repr=False)
    names: NameIndex = field(repr=False)
    policy: Policy = field(repr=False)


def read_names(data: bytes) -> NameIndex:
    """Returns the index in an opened NAMES_FILE; older versions of a graph hold it uncompressed."""
    return NameIndex.from_bytes(zlib.decompress(data) if data[:1] == _COMPRESSED else data)


def read_unseen(path: Path) -> Edges:
    """Returns the (subject, object) pairs of all facts whose relations the policy hides."""
    heads, tails = np.load(path / _UNSEEN_FILE, allow_pickle=False)
    return Edges(heads, tails)


def read_public_nodes(path: Path) -> Mids:
    """Returns the nodes of which only the public files of a joined graph tell, ascending."""
    file = path / _PUBLIC_FILE
    return as_mids(np.load(file, allow_pickle=False)) if file.exists() else as_mids(())


def unseen_without(unseen: Edges, gone: Mids) -> Edges:
    stays = ~(np.isin(unseen.heads, gone) | np.isin(unseen.tails, gone))
    return Edges(unseen.heads[stays], unseen.tails[stays])
