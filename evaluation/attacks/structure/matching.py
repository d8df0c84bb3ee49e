"""Matches the graph that prompts reveal against a known one: each pseudonym with every node, then all with each other.

Of each thing that a prompt says of a pseudonym, every node gets the chance that the prompt would say so if it were
that node; the product is how well the node fits. Neighbours in the revealed graph then tell each other where they may
stand, round after round, as colours are refined after Weisfeiler and Lehman (here as beliefs, so that a part of the
known graph may be missing).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from app.egress.disclosure import BUCKETS
from app.llm.tasks import Candidate, Size
from evaluation.attacks.setup.exchanges import Prompt
from evaluation.attacks.structure.known_graph import Ends, Flags, KnownGraph

Logs = npt.NDArray[np.float64]
Trail = tuple[str, ...]
Piece = Literal["concepts", "candidates", "absence", "evidence", "sizes", "ends"]
"""Parts of a prompt that an attacker may or may not go by: concepts of things and ends; that a candidate is
offered; that none is; that a path of the evidence leads somewhere; to how many; that things meet by it."""

PIECES: tuple[Piece, ...] = ("concepts", "candidates", "absence", "evidence", "sizes", "ends")
NEVER = 1e-6  # the chance of what can't be: prompts may say more than is so
ROUNDS = 4
SAME = 1e-6
MAX_TOLD = 60  # as many as "more" is counted up to
MAX_SHOWN = 60  # a round that offers as many may have left some out


@dataclass(frozen=True, slots=True)
class Reach:
    """From `root` along `path` one reaches what the evidence showed: one thing alone (`end`), or a set."""

    root: str
    path: Trail
    end: str
    size: Size
    concept: str

    @property
    def is_one(self) -> bool:
        return not self.end.startswith("S")


@dataclass(slots=True)
class Revealed:
    """Pseudonyms of single things, with the concepts shown for them; and what is said of them. `complete`: of a single
    thing every way on of one step, or of one and two, that there is."""

    concepts: dict[str, str] = field(default_factory=dict)
    reaches: set[Reach] = field(default_factory=set)
    offered: set[tuple[str, Trail]] = field(default_factory=set)
    complete: dict[str, set[Trail]] = field(default_factory=dict)

    def keep(self, word: str, concept: str = "") -> None:
        """A concept that is shown; a set is no single thing."""
        if not word.startswith("S") and (concept or word not in self.concepts):
            self.concepts[word] = concept


def revealed_by(prompts: Sequence[Prompt]) -> Revealed:
    """All that `prompts`, of one conversation, say together."""
    seen = Revealed()
    for prompt in prompts:
        for thing in prompt.things:
            if not thing.name.startswith("S"):
                seen.concepts[thing.name] = thing.concept
        for fact in prompt.evidence:
            seen.keep(fact.end, "" if prompt.names_concepts_by_model else fact.end_concept)
            seen.keep(fact.start, "" if prompt.names_concepts_by_model else fact.start_concept)
    facts = [fact for prompt in prompts for fact in prompt.evidence]
    hangs = {fact.end: (fact.start, tuple(fact.path)) for fact in facts if fact.end.startswith("S")}
    for prompt in prompts:
        seen.reaches |= {
            Reach(root, path, fact.end, fact.size, "" if prompt.names_concepts_by_model else fact.end_concept)
            for fact in prompt.evidence
            for root, path in _from_its_root(hangs, fact.start, tuple(fact.path))
        }
        for each in prompt.candidates:
            seen.offered |= _from_its_root(hangs, each.start, tuple(each.path))
    seen.complete = _complete(prompts)
    for root in (*seen.complete, *(root for root, _ in seen.offered)):
        seen.keep(root)
    return seen


def _from_its_root(hangs: Mapping[str, tuple[str, Trail]], start: str, path: Trail) -> set[tuple[str, Trail]]:
    """The single thing that a set hangs on, and the whole path from it; none where that is not shown."""
    passed = set[str]()
    while start.startswith("S"):
        if start in passed or start not in hangs:
            return set()
        passed.add(start)
        start, before = hangs[start]
        path = (*before, *path)
    return {(start, path)}


def _complete(prompts: Sequence[Prompt]) -> dict[str, set[Trail]]:
    """Rounds that show all there is. In `arog` every choice does; in `sets` all pages of the first round together."""
    found: dict[str, set[Trail]] = {}
    pages: list[Prompt] = []
    for prompt in prompts:
        if prompt.task == "choose_relations" and len(prompt.candidates) < MAX_SHOWN:
            _add(found, prompt.candidates)
        follows = bool(pages) and pages[-1].further == prompt.further + len(prompt.candidates)
        pages = [*pages, prompt] if follows and prompt.round == 1 else [prompt]
        shown = [candidate for page in pages for candidate in page.candidates]
        # A last page alone does not tell whether others stood before it.
        if len(pages) > 1 and not prompt.further and len(shown) < MAX_SHOWN:
            _add(found, shown)
    return found


def _add(found: dict[str, set[Trail]], candidates: Iterable[Candidate]) -> None:
    for candidate in candidates:
        if not candidate.start.startswith("S"):
            found.setdefault(candidate.start, set()).add(tuple(candidate.path))


class Matcher:
    """Knows `share` of the triples. Goes by some `pieces` of prompts alone, where not by all."""

    def __init__(self, known: KnownGraph, share: float, pieces: Collection[Piece] = PIECES) -> None:
        self._known, self._share, self._pieces = known, share, frozenset(pieces)
        self._chances: dict[object, Logs] = {}

    def fits(self, seen: Revealed) -> dict[str, Logs]:
        """For every pseudonym of a single thing how well each node fits; the greatest, best."""
        own = {word: self._own(word, seen) for word in sorted(seen.concepts)}
        links = [reach for reach in seen.reaches if reach.is_one] if "ends" in self._pieces else []
        ends = {reach: found for reach in links if (found := self._known.ends(reach.path)) is not None}
        towards: dict[tuple[Reach, bool], Logs] = {}
        for _ in range(ROUNDS if ends else 0):
            beliefs = _together(own, towards)
            towards = {
                (reach, forwards): self._told(reach, found, forwards, beliefs, towards)
                for reach, found in ends.items()
                for forwards in (True, False)
            }
        return _together(own, towards)

    def _own(self, word: str, seen: Revealed) -> Logs:
        """Log-likelihoods of each node for one pseudonym, by what requests show of it alone."""
        known, concept = self._known, seen.concepts[word]
        fits = np.zeros(known.size)
        of_kind = known.of_concept(concept)
        if "concepts" in self._pieces and concept:
            fits += np.where(of_kind, 0.0, np.log(NEVER))
        if "candidates" in self._pieces:
            for root, path in seen.offered:
                fits += self._said_to_have(path, concept, of_kind) if root == word else 0.0
        if "absence" in self._pieces and word in seen.complete:
            for path in self._missing(seen.complete[word]):
                fits += self._said_to_lack(path, concept, of_kind)
        for reach in seen.reaches:
            fits += self._reaching(reach, concept, of_kind) if reach.root == word else 0.0
        return fits

    def _reaching(self, reach: Reach, concept: str, of_kind: Flags) -> Logs:
        fits = np.zeros(self._known.size)
        ends = self._known.ends(reach.path) if self._pieces & {"sizes", "concepts"} else None
        if "evidence" in self._pieces:
            fits = fits + self._said_to_have(reach.path, concept, of_kind)
        if "sizes" in self._pieces and ends is not None and reach.size in BUCKETS:
            fits = fits + self._of_size(reach, ends)
        if "concepts" in self._pieces and ends is not None and self._share == 1 and reach.concept:
            wanted = self._known.number_of_words(reach.concept)
            fits = fits + np.where((ends.concept == wanted) | (ends.count == 0), 0.0, np.log(NEVER))
        return fits

    def _said_to_have(self, path: Trail, concept: str, of_kind: Flags) -> Logs:
        key = ("has", path, concept)
        if key not in self._chances:
            has = self._known.has(path)
            self._chances[key] = np.log(np.where(has, 1.0, max(NEVER, self._unknown(path, of_kind))))
        return self._chances[key]

    def _said_to_lack(self, path: Trail, concept: str, of_kind: Flags) -> Logs:
        key = ("lacks", path, concept)
        if key not in self._chances:
            has = self._known.has(path)
            self._chances[key] = np.log(np.where(has, NEVER, 1.0 - self._unknown(path, of_kind)))
        return self._chances[key]

    def _unknown(self, path: Trail, of_kind: Flags) -> float:
        """The chance that a node has `path` though none is known of it."""
        survives = self._share ** len(path)
        seen = float(self._known.has(path)[of_kind].mean()) if of_kind.any() else 0.0
        true = min(0.99, seen / survives)
        return true * (1 - survives) / (true * (1 - survives) + 1 - true)

    def _of_size(self, reach: Reach, ends: Ends) -> Logs:
        key = ("size", reach.path, reach.size, reach.is_one)
        if key not in self._chances:
            low, high = BUCKETS[reach.size]
            high = high or MAX_TOLD
            survives = self._share ** len(reach.path)
            chances = np.array([_chance(count, low, high, survives) for count in range(high + 2)])
            # Of a bucket without an upper end any number more is as good.
            last = chances[high] if reach.size == "more" else NEVER
            fits = np.log(np.maximum(NEVER, np.where(ends.count > high, last, chances[np.minimum(ends.count, high)])))
            # One pair alone is shown as the thing itself, anything else as a set.
            if self._share == 1:
                fits += np.where((ends.pairs == 1) == reach.is_one, 0.0, np.log(NEVER))
            elif reach.is_one:
                fits += np.where(ends.pairs > 1, np.log(NEVER), 0.0)
            self._chances[key] = fits
        return self._chances[key]

    def _missing(self, offered: Collection[Trail]) -> list[Trail]:
        """Ways on of one step, and of two where two were offered, that are not among all that were offered."""
        steps = self._known.steps
        begun = {first for path in offered for first in (path[0], path[0].partition("|")[0])}
        missing: list[Trail] = [(step,) for step in steps if step not in begun]
        for first in {path[0] for path in offered if len(path) == 2 and "|" not in path[0]}:
            seconds = {path[1].partition("|")[0] for path in offered if len(path) > 1 and path[0] == first}
            missing += [(first, step) for step in steps if step not in seconds]
        return missing

    def _told(
        self,
        reach: Reach,
        ends: Ends,
        forwards: bool,
        beliefs: dict[str, Logs],
        before: dict[tuple[Reach, bool], Logs],
    ) -> Logs:
        """The message from one end of a link to the other: the sender's belief, without the receiver's own message."""
        said = beliefs[reach.root if forwards else reach.end] - before.get((reach, not forwards), 0.0)
        chance = np.exp(said - said.max())
        chance /= chance.sum()
        survives = min(0.999_999, self._share ** len(reach.path))
        linked = ends.single >= 0
        told = np.full(self._known.size, (1 - survives) / self._known.size)
        if forwards:
            told += survives * np.bincount(ends.single[linked], weights=chance[linked], minlength=self._known.size)
        else:
            told[linked] += survives * chance[ends.single[linked]]
        heard: Logs = np.log(told / told.max())
        return heard


def share_right(fits: Logs, truth: int) -> float:
    """The expected share right of a guess among the nodes that fit best."""
    best = fits >= fits.max() - SAME
    return 1.0 / int(best.sum()) if truth >= 0 and best[truth] else 0.0


def _together(own: dict[str, Logs], towards: dict[tuple[Reach, bool], Logs]) -> dict[str, Logs]:
    beliefs = dict(own)
    for (reach, forwards), told in towards.items():
        listener = reach.end if forwards else reach.root
        beliefs[listener] = beliefs[listener] + told
    return beliefs


def _chance(known: int, low: int, high: int, survives: float) -> float:
    """The chance that the true number lies in low..high where `known` of them are known, each of which is with the
    chance `survives`; before that any number from 1 is as likely."""
    if survives >= 1:
        return 1.0 if low <= known <= high else 0.0

    def seen(true: int) -> float:
        return float(comb(true, known)) * survives**known * (1 - survives) ** (true - known)

    total = sum(map(seen, range(max(1, known), 120)))
    return sum(map(seen, range(max(low, known), high + 1))) / total if total else 0.0
