"""Rollback: makes a kept version of a graph live again, and describes what differs between two versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.graphs.jobs import JobResult, Progress, summary_of
from app.privacy.words.lexicon import is_common
from client_sdk.protocol import GraphVersion
from kg_store.version_history import StoredVersion, VersionChanges, VersionHistory

MAX_RELATIONS_NAMED: Final = 10
POLICY_TOO: Final = "Its policy counts again, with what it masks and what its roles see."
LIVE: Final = "The version of {date} is live again; the one of {before} is kept."


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """The way from the version that is live back to a kept one. `changes`: what is gained and lost by it."""

    history: VersionHistory
    live: StoredVersion
    to: StoredVersion
    changes: VersionChanges

    def sentences(self, shows_relations: bool) -> list[str]:
        """Returns what the owner should know before it is done."""
        told = f"Version {self.to.number}, loaded {_when(self.to)}, would replace version {self.live.number}, "
        told += f"loaded {_when(self.live)}."
        return [told, *describe_changes(self.changes, shows_relations), POLICY_TOO]

    def run(self, progress: Progress) -> JobResult:
        """Makes the version live. Raises VersionError, and then changes nothing."""
        progress("opening the version", 10.0)
        live, to = self.live.info, self.to.info
        info = self.history.roll_back(live.tenant, live.name, live.version, to.version)
        done = LIVE.format(date=_when(self.to), before=_when(self.live))
        return JobResult(summary_of(info), None, (done, *describe_changes(self.changes, shows_relations=False)))


def version_of(stored: StoredVersion) -> GraphVersion:
    """Returns a version as it is sent to its owner."""
    info = stored.info
    return GraphVersion(
        number=stored.number,
        version=info.version,
        loaded_at=info.loaded_at,
        triples=info.triples,
        entities=info.entities,
        relations=info.relations,
        bytes=stored.bytes,
        live=stored.is_live,
    )


def describe_changes(changes: VersionChanges, shows_relations: bool) -> list[str]:
    """Returns what is gained and lost: entities as numbers, and at most ten relations each by their labels.

    A label may be a cell of the data. Unless `shows_relations`, for the owner's terminal, those with a word that is
    not common are counted only, because the sentences are stored unsealed.
    """
    told = [f"{_things(changes.entities_gained)} gained, {changes.entities_lost:,} lost."]
    for what, labels, masked in (
        ("gained", changes.relations_gained, changes.masked_gained),
        ("lost", changes.relations_lost, changes.masked_lost),
    ):
        if labels or masked:
            told.append(f"Relations {what}: {_listed(labels, masked, shows_relations)}.")
    return told


def _listed(labels: Sequence[str], masked: int, shows_relations: bool) -> str:
    named = [label for label in labels if shows_relations or is_common(label)][:MAX_RELATIONS_NAMED]
    more = len(labels) - len(named)
    counts = [f"{more:,} more"] if named and more else [f"{more:,}"] if more else []
    return ", ".join([*named, *counts, *([f"{masked:,} masked"] if masked else [])])


def _things(count: int) -> str:
    return f"{count:,} {'entity' if count == 1 else 'entities'}"


def _when(version: StoredVersion) -> str:
    return f"{version.info.loaded_at:%Y-%m-%d %H:%M}"
