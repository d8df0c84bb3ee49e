"""KeptVersions: takes what is erased out of the versions of a graph that are kept beside the live one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.graphs.erasure.plan import names_of_removed
from kg_store.catalog import Catalog, NameConcepts, PrivateGraph
from kg_store.errors import StoreError
from kg_store.graph.schema import phrases_of
from kg_store.names.index import stands_in
from kg_store.storage.versions import Erasure, VersionRow
from kg_store.terms import as_mids
from kg_store.text.normalise import normalise


@dataclass(slots=True)
class FoundInKept:
    """The MIDs, names and texts of the erased things that older versions have and the live one has not."""

    mids: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


class KeptVersions:
    """The versions of a graph that can be made live again.

    Promise: after `take_out`, each version that is left has neither the erased things nor, in another place than the
    live version, one of their names and texts; a version for which that can't be shown is deleted.
    """

    stay: dict[str, frozenset[int]]
    """Those of the erased MIDs that a version has still, by its id: what belongs to others there."""

    def __init__(self, catalog: Catalog, name_concepts: NameConcepts) -> None:
        self._catalog, self._name_concepts = catalog, name_concepts
        self._rewritten = self._deleted = 0
        self.stay = {}

    def closure(self, live: PrivateGraph, chosen: Sequence[int]) -> FoundInKept:
        """Returns what goes with `chosen` in the versions that are kept, apart from what the live version has."""
        found = FoundInKept()
        for _, kept in self._opened(live):
            if kept is not None:
                mids = self._catalog.closure_of_removal(kept, chosen).mids
                own = mids[live.blind.signatures_of(mids) < 0]
                names, texts = names_of_removed(kept, own)
                found.mids += own.tolist()
                found.names += names
                found.texts += texts
        return found

    def take_out(self, live: PrivateGraph, erasure: Erasure) -> None:
        """Writes versions that have the things anew without them, and deletes those that would still tell of them."""
        for row, kept in self._opened(live):
            if kept is None:
                self._delete(row.id)
                continue
            try:
                going = self._catalog.closure_of_removal(kept, erasure.chosen)
                if len(going.chosen):
                    self._catalog.without(kept, going, self._name_concepts)
                    self._rewritten += 1
            except StoreError:
                # For example, nothing else is in it.
                self._delete(row.id)
        for row, kept in self._opened(live):
            if kept is None or self._tells(live, kept, erasure):
                self._delete(row.id)
            else:
                mids = as_mids(list(erasure.mids))
                self.stay[row.id] = frozenset(mids[kept.blind.signatures_of(mids) >= 0].tolist())

    def sentences(self) -> list[str]:
        """Returns how many versions were written anew and how many were deleted."""
        told = []
        if self._rewritten:
            told.append(f"{self._rewritten} older versions were written anew without it")
        if self._deleted:
            told.append(f"{self._deleted} older versions were deleted, because they would still tell of it")
        return told

    def _tells(self, live: PrivateGraph, kept: PrivateGraph, erasure: Erasure) -> bool:
        """Returns True if a name or text of the things stands in the version where the live version has it not.

        For example, the person stands there under another id, or in a text of somebody else. Values that others have
        there too are theirs.
        """
        texts = (*erasure.names, *erasure.texts)
        if not kept.names.holding(texts) <= live.names.holding(texts) | set(erasure.mids):
            return True
        sought = [normalise(text).text for text in texts]
        words = self._other_words(kept) - self._other_words(live)
        return any(stands_in(text, word) for word in words for text in sought)

    def _other_words(self, of: PrivateGraph) -> set[str]:
        """Returns a version's words beside its names and values: those of its schema, its policy and its report."""
        masked = self._catalog.info_of(of).masked
        terms = (text for each in masked for text in (each.term, each.word))
        return {normalise(text).text for text in (*phrases_of(of.blind.schema), *terms, of.policy.to_toml())}

    def _delete(self, version_id: str) -> None:
        self._catalog.delete_kept(version_id)
        self._deleted += 1

    def _opened(self, live: PrivateGraph) -> Iterator[tuple[VersionRow, PrivateGraph | None]]:
        """Yields each kept version, with None in its place if its files are elsewhere or do not open."""
        history = self._catalog.history
        for row in history.kept(live.tenant, live.name):
            try:
                kept = history.open(row)
            except StoreError:
                kept = None
            yield row, kept
