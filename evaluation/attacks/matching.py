"""Match pseudonyms in prompts with the nodes of the attacker's copy of the graph.

For each thing that a prompt says of a pseudonym, every node gets the chance that the prompt would say so if the
pseudonym were that node; the product is how well the node fits. Then neighbours in the revealed graph pass on their
beliefs, round after round, as in Weisfeiler-Lehman colour refinement. Beliefs replace colours here, because triples
may be missing in the attacker's copy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from app.egress.disclosure import BUCKETS
from app.llm.tasks import Size
from evaluation.attacks.exchanges import Prompt
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Hop, NodeKind, as_mids

Logs = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Trail = tuple[str, ...]
Piece = Literal["concepts", "candidates", "absence", "evidence", "sizes", "ends"]
"""Parts of a prompt that an attacker may use: concepts of things and ends; that a candidate is offered; that it is
not; that a path of the evidence leads somewhere; to how many things; and which two things a path joins."""

PIECES: tuple[Piece, ...] = ("concepts", "candidates", "absence", "evidence", "sizes", "ends")
NEVER = 1e-6  # chance of what should be impossible; not 0, since prompts may show more than the thing's own facts
ROUNDS = 4
SAME = 1e-6
MAX_TOLD = 60  # largest count told apart within the size bucket "more"
MAX_SHOWN = 60  # a round that offers as many candidates may have left some out
MAX_PAIRS = 20_000_000
"""Paths with more pairs of start and end than this are not counted, to bound memory and time."""


@dataclass(frozen=True, slots=True)
class Ends:
    """For every node, the things at the end of one path: each field is an array with one number per node.

    `count`: how many things there are. `pairs`: how many pairs (thing before the last step, end) reach them. `single`:
    the number of the only one, -1 if there are none or several. `concept`: the number of the concept that prompts
    would show for them, -1 if there are none.
    """

    count: Numbers
    pairs: Numbers
    single: Numbers
    concept: Numbers


def joining(heads: Numbers, tails: Numbers, size: int) -> sparse.csr_array:
    """Returns a size x size matrix with a 1 for each pair of a head and a tail, which one hop joins."""
    return _each_once(sparse.csr_array((np.ones(len(heads), np.int64), (heads, tails)), shape=(size, size)))


def _each_once(matrix: sparse.csr_array) -> sparse.csr_array:
    matrix = sparse.csr_array(matrix)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.data[:] = 1
    return matrix


class KnownGraph:
    """The attacker's copy of the graph; nodes are numbered from 0.

    The concept of every node is known, since names or a directory tell what kind of thing a node is. Paths are written
    as in prompts; `hops` maps the label of a single hop, forwards or backwards (`^`), to its matrix.
    """

    def __init__(
        self, mids: Numbers, concepts: list[str], mediators: Flags, hops: dict[str, sparse.csr_array]
    ) -> None:
        self.mids, self.size, self.steps = mids, len(mids), sorted(hops)
        self.words = sorted(set(concepts))
        self.concept: Numbers = np.array([self.words.index(word) for word in concepts], dtype=np.int64)
        self._matrices, self._mediators = dict(hops), sparse.diags_array(mediators.astype(np.int64), dtype=np.int64)
        self._ends: dict[tuple[str, ...], Ends | None] = {}
        self._has: dict[tuple[str, ...], Flags] = {}
        self._shown: dict[str, int] = {}

    @classmethod
    def of(cls, graph: BlindGraph, share: float, seed: int) -> KnownGraph:
        schema = graph.schema
        mids = as_mids(graph.members([signature.id for signature in schema.signatures]))
        signatures = graph.signatures_of(mids).tolist()
        concepts = [str(schema.concepts[signature]) for signature in signatures]
        mediators = np.array([schema.signatures[s].kind is NodeKind.MEDIATOR for s in signatures], np.bool_)
        draw, hops = np.random.default_rng(seed), dict[str, sparse.csr_array]()
        for relation in schema.relations:
            edges = graph.neighbours(mids, Hop(relation.id))
            kept = draw.random(len(edges.heads)) < share
            heads, tails = np.searchsorted(mids, edges.heads[kept]), np.searchsorted(mids, edges.tails[kept])
            matrix = joining(heads, tails, len(mids))
            for label, found in ((relation.label, matrix), ("^" + relation.label, matrix.T)):
                hops[label] = _each_once(hops[label] + found if label in hops else found)
        return cls(mids, concepts, mediators, hops)

    def number_of(self, mid: int) -> int:
        at = int(np.searchsorted(self.mids, mid))
        return at if at < self.size and int(self.mids[at]) == mid else -1

    def of_concept(self, word: str) -> Flags:
        """Returns which nodes have the concept, or one of several joined by commas; all nodes if it is unknown."""
        known = [word] if word in self.words else [each for each in word.split(", ") if each in self.words]
        if not known:
            return np.ones(self.size, dtype=np.bool_)
        flags: Flags = np.isin(self.concept, [self.words.index(each) for each in known])
        return flags

    def has(self, path: tuple[str, ...]) -> Flags:
        """Returns from which nodes the whole path can be followed."""
        if path not in self._has:
            further = self.has(path[1:]) if len(path) > 1 else np.ones(self.size, dtype=np.bool_)
            self._has[path] = (self._step(path[0]) @ further.astype(np.int64)) > 0
        return self._has[path]

    def ends(self, path: tuple[str, ...]) -> Ends | None:
        """Returns what lies at the end of the path for every node; None if that is more than `MAX_PAIRS` pairs."""
        if path not in self._ends:
            self._ends[path] = self._count(path)
        return self._ends[path]

    def _count(self, path: tuple[str, ...]) -> Ends | None:
        here, pairs = sparse.eye_array(self.size, dtype=np.int64, format="csr"), np.zeros(self.size, np.int64)
        for step in path:
            last = self._step(step)
            pairs = here @ np.diff(last.indptr).astype(np.int64)
            if int(pairs.sum()) > MAX_PAIRS:
                return None
            here = _each_once(here @ last)
        single, alone = np.full(self.size, -1, dtype=np.int64), pairs == 1
        single[alone] = here.indices[here.indptr[:-1][alone]]
        return Ends(np.diff(here.indptr).astype(np.int64), pairs, single, self._concepts_of(here))

    def _concepts_of(self, ends: sparse.csr_array) -> Numbers:
        """Returns for every node the concept that prompts show for its ends, as a number.

        It is the commonest concept, joined with the second one if that covers a third of the ends or more.
        """
        nodes, shape = np.arange(self.size), (self.size, len(self.words))
        counts = ends @ sparse.csr_array((np.ones(self.size, np.int64), (nodes, self.concept)), shape=shape)
        concept = np.full(self.size, -1, dtype=np.int64)
        for node in np.flatnonzero(np.diff(counts.indptr)).tolist():
            row = slice(counts.indptr[node], counts.indptr[node + 1])
            ranked = sorted((-n, self.words[at]) for n, at in zip(counts.data[row], counts.indices[row], strict=True))
            total = -sum(number for number, _ in ranked)
            kept = [word for number, word in ranked[:2] if -number * 3 >= total] or [ranked[0][1]]
            concept[node] = self.number_of_words(", ".join(kept))
        return concept

    def number_of_words(self, words: str) -> int:
        """Returns the number of a concept as prompts show it, such as "person" or "person, doctor".

        A concept that has no number yet gets the next one.
        """
        return self._shown.setdefault(words, len(self._shown))

    def _step(self, label: str) -> sparse.csr_array:
        """Returns the matrix of one step; a step through a mediator never leads back to its start."""
        if label not in self._matrices:
            first, _, further = label.rpartition("|")
            nothing = sparse.csr_array((self.size, self.size), dtype=np.int64)
            if not first:
                return nothing
            passed = self._step(first) @ self._mediators @ self._matrices.get(further, nothing)
            self._matrices[label] = _each_once(passed - sparse.diags_array(passed.diagonal(), dtype=np.int64))
        return self._matrices[label]


@dataclass(frozen=True, slots=True)
class Reach:
    """A path from `root` that the evidence showed, and its end: a single thing (`end` is its pseudonym) or a set."""

    root: str
    path: Trail
    end: str
    size: Size
    concept: str

    @property
    def is_one(self) -> bool:
        return not self.end.startswith("S")


Messages = Mapping[tuple[Reach, bool], Logs]
"""For each link and direction (True: from root to end), the log-likelihoods that it passes on to the other end."""


@dataclass(slots=True)
class Revealed:
    """All that prompts reveal of single things; each thing is given by its pseudonym.

    `concepts`: the concept shown for it. `reaches`: paths from it that the evidence followed. `offered`: paths from it
    that were among the candidates. `complete`: all paths from it, for things of which the prompts listed every
    candidate; a path that is not among these does not exist.
    """

    concepts: dict[str, str] = field(default_factory=dict)
    reaches: set[Reach] = field(default_factory=set)
    offered: set[tuple[str, Trail]] = field(default_factory=set)
    complete: dict[str, set[Trail]] = field(default_factory=dict)

    def keep(self, word: str, concept: str = "") -> None:
        """Notes a single thing and the concept shown for it; sets (`S...`) are skipped."""
        if not word.startswith("S") and (concept or word not in self.concepts):
            self.concepts[word] = concept


def revealed_by(prompts: Sequence[Prompt]) -> Revealed:
    """Returns all that the prompts of one conversation reveal when they are read together."""
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
    """Returns the single thing from which the set `start` was reached, with the path from there through `path`.

    The result is a set with this one pair, or empty if the prompts don't show how `start` was reached.
    """
    passed = set[str]()
    while start.startswith("S"):
        if start in passed or start not in hangs:
            return set()
        passed.add(start)
        start, before = hangs[start]
        path = (*before, *path)
    return {(start, path)}


def _complete(prompts: Sequence[Prompt]) -> dict[str, set[Trail]]:
    """Returns every path from a thing, for the things whose candidates the prompts show without leaving any out.

    In the strategy `arog` each request for a choice of relations lists them all; in `sets` all pages of the first
    round do so together.
    """
    found: dict[str, set[Trail]] = {}
    pages: list[Prompt] = []
    for prompt in prompts:
        told = list(prompt.candidates) if prompt.task == "choose_relations" else []
        follows = bool(pages) and pages[-1].further == prompt.further + len(prompt.candidates)
        pages = [*pages, prompt] if follows and prompt.round == 1 else [prompt]
        shown = [candidate for page in pages for candidate in page.candidates]
        # A single page without `further` may be the last of several, so that it proves nothing alone.
        if len(pages) > 1 and not prompt.further:
            told = shown
        for candidate in told if len(told) < MAX_SHOWN else ():
            if not candidate.start.startswith("S"):
                found.setdefault(candidate.start, set()).add(tuple(candidate.path))
    return found


class Matcher:
    """Finds the nodes that pseudonyms may stand for, with a copy of the graph that holds `share` of the triples.

    `pieces` names the parts of prompts that are taken into account, such as "concepts" and "sizes".
    """

    def __init__(self, known: KnownGraph, share: float, pieces: Collection[Piece] = PIECES) -> None:
        self._known, self._share, self._pieces = known, share, frozenset(pieces)
        self._chances: dict[object, Logs] = {}

    def fits(self, seen: Revealed) -> dict[str, Logs]:
        """Returns for every pseudonym of a single thing the log-likelihood of each node; the greatest fits best."""
        own = {word: self._own(word, seen) for word in sorted(seen.concepts)}
        links = [reach for reach in seen.reaches if reach.is_one] if "ends" in self._pieces else []
        ends = {reach: found for reach in links if (found := self._known.ends(reach.path)) is not None}
        towards: Messages = {}
        for _ in range(ROUNDS if ends else 0):
            beliefs = _together(own, towards)
            towards = {
                (reach, forwards): self._told(reach, found, forwards, beliefs, towards)
                for reach, found in ends.items()
                for forwards in (True, False)
            }
        return _together(own, towards)

    def _own(self, word: str, seen: Revealed) -> Logs:
        """Returns for each node how likely it is to be the pseudonym `word`, by what the requests say of `word` alone.

        These are log-likelihoods; beliefs about neighbours are added later.
        """
        known, concept = self._known, seen.concepts[word]
        fits = np.zeros(known.size)
        of_kind = known.of_concept(concept)
        if "concepts" in self._pieces and concept:
            fits += np.where(of_kind, 0.0, np.log(NEVER))
        if "candidates" in self._pieces:
            for root, path in seen.offered:
                fits += self._said(path, concept, of_kind, has=True) if root == word else 0.0
        if "absence" in self._pieces and word in seen.complete:
            for path in self._missing(seen.complete[word]):
                fits += self._said(path, concept, of_kind, has=False)
        for reach in seen.reaches:
            fits += self._reaching(reach, concept, of_kind) if reach.root == word else 0.0
        return fits

    def _reaching(self, reach: Reach, concept: str, of_kind: Flags) -> Logs:
        fits = np.zeros(self._known.size)
        ends = self._known.ends(reach.path) if self._pieces & {"sizes", "concepts"} else None
        if "evidence" in self._pieces:
            fits = fits + self._said(reach.path, concept, of_kind, has=True)
        if "sizes" in self._pieces and ends is not None and reach.size in BUCKETS:
            fits = fits + self._of_size(reach, ends)
        if "concepts" in self._pieces and ends is not None and self._share == 1 and reach.concept:
            wanted = self._known.number_of_words(reach.concept)
            fits = fits + np.where((ends.concept == wanted) | (ends.count == 0), 0.0, np.log(NEVER))
        return fits

    def _said(self, path: Trail, concept: str, of_kind: Flags, *, has: bool) -> Logs:
        """Returns for each node the log-probability that a prompt says that it has `path`.

        Without `has` it is the log-probability that a prompt says that it lacks `path`.
        """
        key = (has, path, concept)
        if key not in self._chances:
            known, unknown = self._known.has(path), self._unknown(path, of_kind)
            chance = np.where(known, 1.0, max(NEVER, unknown)) if has else np.where(known, NEVER, 1.0 - unknown)
            self._chances[key] = np.log(chance)
        return self._chances[key]

    def _unknown(self, path: Trail, of_kind: Flags) -> float:
        """Returns the chance that a node has `path` although the attacker's copy shows none."""
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
            # The bucket "more" has no upper end: counts above `MAX_TOLD` are as likely as `MAX_TOLD`.
            last = chances[high] if reach.size == "more" else NEVER
            fits = np.log(np.maximum(NEVER, np.where(ends.count > high, last, chances[np.minimum(ends.count, high)])))
            # A prompt shows a single pair as the thing itself, anything else as a set.
            if self._share == 1:
                fits += np.where((ends.pairs == 1) == reach.is_one, 0.0, np.log(NEVER))
            elif reach.is_one:
                fits += np.where(ends.pairs > 1, np.log(NEVER), 0.0)
            self._chances[key] = fits
        return self._chances[key]

    def _missing(self, offered: Collection[Trail]) -> list[Trail]:
        """Returns the paths that a thing lacks, as `offered` holds all that it has.

        They are the paths of one step that are not in `offered`, and those of two steps whose first step is followed
        by other steps in `offered`.
        """
        steps = self._known.steps
        begun = {first for path in offered for first in (path[0], path[0].partition("|")[0])}
        missing: list[Trail] = [(step,) for step in steps if step not in begun]
        for first in {path[0] for path in offered if len(path) == 2 and "|" not in path[0]}:
            seconds = {path[1].partition("|")[0] for path in offered if len(path) > 1 and path[0] == first}
            missing += [(first, step) for step in steps if step not in seconds]
        return missing

    def _told(self, reach: Reach, ends: Ends, forwards: bool, beliefs: dict[str, Logs], before: Messages) -> Logs:
        """Returns what one end of a link tells the other: for each node the log-likelihood that it is the other end.

        With `forwards` the root tells the end. The result follows from what is believed of the teller, without what
        the other end told it in the round before.
        """
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
    """Returns the chance that a guess among the best fitting nodes is right.

    `truth` is the number of the right node, or -1 if the attacker's copy lacks it.
    """
    best = fits >= fits.max() - SAME
    return 1.0 / int(best.sum()) if truth >= 0 and best[truth] else 0.0


def _together(own: dict[str, Logs], towards: Messages) -> dict[str, Logs]:
    beliefs = dict(own)
    for (reach, forwards), told in towards.items():
        listener = reach.end if forwards else reach.root
        beliefs[listener] = beliefs[listener] + told
    return beliefs


def _chance(known: int, low: int, high: int, survives: float) -> float:
    """Returns the chance that the true number of ends lies in low..high if `known` ends are known.

    Each end is known with the chance `survives`; all true numbers from 1 are taken as equally likely beforehand.
    """
    if survives >= 1:
        return 1.0 if low <= known <= high else 0.0

    def seen(true: int) -> float:
        return float(comb(true, known)) * survives**known * (1 - survives) ** (true - known)

    total = sum(map(seen, range(max(1, known), 120)))
    return sum(map(seen, range(max(low, known), high + 1))) / total if total else 0.0
