"""Everything that the rounds of one question have gathered."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.llm.in_house import HeldMeaning
from app.llm.tasks import Evidence, PathTriple, Thing
from app.strategies.base import FoundFact
from app.strategies.checked_drafts import CheckedDrafts
from app.strategies.question_meaning import QuestionMeaning
from app.strategies.retrieval import NodeSet
from app.strategies.sets.candidate_pages import PathPrefix
from app.strategies.sets.timed_paths import TimedPaths
from app.strategies.sets.voted_ways import VotedWays
from kg_store.terms import Path


@dataclass(slots=True)
class SearchProgress:
    """Everything that the rounds of one question have gathered.

    `things` are shown beside the evidence; `places` are all places to go on from, `frontier` the newest of them;
    `walked` keeps a candidate from being offered twice; `shown` is the evidence as it was shown, which only grows.
    """

    drafts: CheckedDrafts
    things: dict[str, NodeSet]
    frontier: list[NodeSet]
    places: dict[str, NodeSet]
    facts: list[FoundFact] = field(default_factory=list)
    shown: list[Evidence] = field(default_factory=list)
    path: list[PathTriple] = field(default_factory=list)
    trails: dict[str, PathPrefix] = field(default_factory=dict)
    walked: set[tuple[str, Path]] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    turned_pages: bool = False
    round: int = 0
    is_cut: bool = False
    near: list[str] = field(default_factory=list)
    kinds: tuple[Thing, ...] = ()
    own: dict[str, tuple[str, ...]] = field(default_factory=dict)
    meaning: QuestionMeaning | None = None
    may_leave: dict[str, bool] = field(default_factory=dict)
    voted: VotedWays | None = None
    held: HeldMeaning | None = None
    timed: TimedPaths | None = None
