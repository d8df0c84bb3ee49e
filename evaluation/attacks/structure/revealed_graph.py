"""The graph that prompts reveal: what each pseudonym is said to be, to reach, and not to reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.llm.tasks import Candidate, Evidence, Size
from evaluation.attacks.setup.egress import Prompt

Trail = tuple[str, ...]
Piece = Literal["concepts", "candidates", "absence", "evidence", "sizes", "ends"]
"""Parts of a prompt that an attacker may or may not go by: concepts of things and ends; that a candidate is
offered; that none is; that a path of the evidence leads somewhere; to how many; that things meet by it."""

PIECES: tuple[Piece, ...] = ("concepts", "candidates", "absence", "evidence", "sizes", "ends")
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
    """Pseudonyms of single things, with the concepts shown for them; and what is said of them."""

    concepts: dict[str, str] = field(default_factory=dict)
    reaches: set[Reach] = field(default_factory=set)
    offered: set[tuple[str, Trail]] = field(default_factory=set)
    complete: dict[str, set[Trail]] = field(default_factory=dict)
    """Of a single thing every way on of one step, or of one and two, that there is."""

    def single_things(self) -> list[str]:
        return sorted(self.concepts)


def revealed_by(prompts: Sequence[Prompt]) -> Revealed:
    """All that `prompts`, of one conversation, say together."""
    seen = Revealed()
    facts = [fact for prompt in prompts for fact in prompt.evidence]
    for prompt in prompts:
        by_model = prompt.names_concepts_by_model
        for thing in prompt.things:
            if not thing.name.startswith("S"):
                seen.concepts[thing.name] = thing.concept
        for fact in prompt.evidence:
            if not fact.end.startswith("S"):
                _keep(seen, fact.end, "" if by_model else fact.end_concept)
            if not fact.start.startswith("S"):
                _keep(seen, fact.start, "" if by_model else fact.start_concept)
    roots = _Roots(facts)
    for prompt in prompts:
        seen.reaches |= {
            Reach(root, path, fact.end, fact.size, "" if prompt.names_concepts_by_model else fact.end_concept)
            for fact in prompt.evidence
            for root, path in roots.of(fact.start, tuple(fact.path))
        }
        seen.offered |= {
            whole for candidate in prompt.candidates for whole in roots.of(candidate.start, tuple(candidate.path))
        }
    for root, offered in _complete(prompts).items():
        _keep(seen, root, "")
        seen.complete[root] = offered
    for root, _ in seen.offered:
        _keep(seen, root, "")
    return seen


def _keep(seen: Revealed, word: str, concept: str) -> None:
    if concept or word not in seen.concepts:
        seen.concepts[word] = concept


class _Roots:
    """Where a set hangs: the single thing that its paths come from."""

    def __init__(self, facts: Iterable[Evidence]) -> None:
        self._from = {fact.end: (fact.start, tuple(fact.path)) for fact in facts if fact.end.startswith("S")}

    def of(self, start: str, path: Trail) -> list[tuple[str, Trail]]:
        """The single thing and the whole path from it; none where that is not shown."""
        passed = set[str]()
        while start.startswith("S"):
            if start in passed or start not in self._from:
                return []
            passed.add(start)
            start, before = self._from[start]
            path = (*before, *path)
        return [(start, path)]


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
