"""Follow a gold plan through what a request shows: the sets found, the candidates that continue it, and the answer.

It also finds which pseudonym of an anonymised question stands for which typed words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from app.llm.tasks import Candidate, Evidence, Thing
from evaluation.datasets.questions import PlanSet, QueryPlan
from kg_store.algebra.expressions import MAX_NODES
from kg_store.terms import PSEUDONYM, is_mask_word

_BETWEEN_WORDS = re.compile(r"(?<=\w) (?=\w)")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def pseudonyms_in(texts: Sequence[str], known: Collection[str] = ()) -> tuple[str, ...]:
    """Returns every pseudonym of `texts` once, in order of appearance: those in `known`, and words of that shape."""
    words = (word for text in texts for word in _WORD.findall(text))
    return tuple(dict.fromkeys(word for word in words if word in known or PSEUDONYM.fullmatch(word)))


def surfaces_of(typed: str, shown: str, known: Collection[str] = (), topics: Sequence[str] = ()) -> dict[str, str]:
    """Maps each pseudonym to the typed words that it replaced, in order of appearance; empty if the texts don't fit.

    The unchanged words of both texts are aligned, so that a pseudonym for a common word that happens to be a name is
    not taken for the topic. Where two pseudonyms follow each other, words of `topics` are kept together.
    """
    names = set(pseudonyms_in([shown], known))
    # Masked relations are shown as opaque words, which replace typed words too but stand for no entity.
    masks = {word for word in _WORD.findall(shown) if is_mask_word(word)}
    parts: list[str] = []
    position = 0
    for match in _WORD.finditer(shown):
        if match[0] in names | masks:
            parts += filter(None, (shown[position : match.start()], match[0]))
            position = match.end()
    parts += filter(None, (shown[position:],))
    # A word behind a name may also be part of it ("Up in the Air in"), so that only a match of all parts is right.
    # The service separates words that were typed without a space, so that spaces between words are optional here.
    plain = {part: r"\ ?".join(map(re.escape, _BETWEEN_WORDS.split(part))) for part in parts}
    wholes = [r"[\W_]+".join(map(re.escape, _folded(topic).split())) for topic in topics]
    name = f"({'|'.join([*(f'(?i:{whole})' for whole in wholes if whole), '.+?'])})"
    pattern = "".join(name if part in names else ".+?" if part in masks else plain[part] for part in parts)
    fit = re.fullmatch(pattern, typed, re.DOTALL)
    surfaces: dict[str, str] = {}
    for name, surface in zip([part for part in parts if part in names], fit.groups() if fit else (), strict=False):
        surfaces.setdefault(name, surface)
    return surfaces


def topic_among(surfaces: Mapping[str, str], topic: str) -> str:
    """Returns the pseudonym whose typed words are `topic` or contain it; "" if there is none."""
    wanted = _folded(topic)
    folded = {name: _folded(surface) for name, surface in surfaces.items()}
    same = [name for name, surface in folded.items() if surface == wanted]
    around = [name for name, surface in folded.items() if wanted and wanted in surface]
    return (same + around + [""])[0]


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text.casefold()).split())


_REFERENCE = re.compile(r'("[^"]*")|\b((?:topic|earlier|answer):\d+|[A-Z][0-9]?)\b(?!\()')
_SIMPLE_START = re.compile(r"^(topic|earlier|answer|kind|set):")

_MAX_UNION = MAX_NODES - 10


def folded_path(path: Iterable[str]) -> tuple[str, ...]:
    """Returns a path in lower case with spaces for underscores, since plans are written by hand."""
    return tuple(map(_word, path))


def plan_paths(plan: QueryPlan) -> list[tuple[str, tuple[str, ...]]]:
    """Returns the whole paths that lead to the plan's answer, each with its start (`topic:0`, `kind:patient`).

    A start without steps counts only if no start has any, since a kind alone merely narrows the answer.
    """
    paths = [path for expression in plan.answer for path in _paths_in(plan, expression)]
    return list(dict.fromkeys([path for path in paths if path[1]] or paths))


def _paths_in(plan: QueryPlan, expression: str) -> list[tuple[str, tuple[str, ...]]]:
    """Returns the paths of the plan's sets (`A`, `B`) that an expression names, each with its start.

    If it names none, each thing that it refers to (`topic:0`) is a start with the empty path.
    """
    references = [match[2] for match in _REFERENCE.finditer(expression) if match[2]]
    letters = [reference for reference in references if reference in plan.sets]
    if not letters:
        return [(reference, ()) for reference in references]
    return [(start, path) for letter in letters for start, path in _paths_to(plan, plan.sets[letter])]


def _paths_to(plan: QueryPlan, planned: PlanSet) -> list[tuple[str, tuple[str, ...]]]:
    kind, _, rest = planned.start.partition(":")
    if kind == "set":
        begun = _paths_to(plan, plan.sets[rest])
    elif _SIMPLE_START.match(planned.start):
        begun = [(planned.start, ())]
    else:
        begun = _paths_in(plan, planned.start)
    return [(start, (*path, *planned.path)) for start, path in begun]


class ShownNames(NamedTuple):
    """The names that the requests for one question have shown so far.

    `topics`, `earlier` and `answers` are pseudonyms in order: of the question, of the user's turns before it, and of
    the assistant's turn before it.
    """

    topics: tuple[str, ...]
    earlier: tuple[str, ...]
    answers: tuple[str, ...]
    things: tuple[Thing, ...]
    evidence: tuple[Evidence, ...]


class OpenEnd(NamedTuple):
    """A pseudonym from which the plan has to go on: the last found for its set `letter`.

    `rest` is the rest of the path.
    """

    letter: str
    pseudonym: str
    rest: tuple[str, ...]


class GoldPlan:
    """A plan matched against what has been shown so far. It knows pseudonyms and relation words, and no name."""

    def __init__(self, plan: QueryPlan, shown: ShownNames) -> None:
        self._plan, self._shown = plan, shown
        self._edges: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for fact in shown.evidence:
            ends = self._edges.setdefault((fact.start, folded_path(fact.path)), [])
            if fact.end not in ends:
                ends.append(fact.end)
        self._lengths = {pseudonym: set[int]() for pseudonym, _ in self._edges}
        for pseudonym, path in self._edges:
            self._lengths[pseudonym].add(len(path))

    def ends_of(self, letter: str) -> tuple[str, ...]:
        """Returns what makes up a set of the plan (`A`): pseudonyms, or an expression if it starts from one.

        The result is empty if the set has not been reached yet.
        """
        planned = self._plan.sets[letter]
        if not _SIMPLE_START.match(planned.start):
            # A set that starts from an expression becomes an expression, and the server walks its path.
            expression = self._rendered(planned.start)
            for label in planned.path if expression else ():
                expression = f'reach({expression}, "{label}")'
            return (expression,) if expression else ()
        found = (end for start in self._starts(planned) for end in self._walk(start, folded_path(planned.path)))
        return tuple(dict.fromkeys(found))

    def open_ends(self) -> list[OpenEnd]:
        """Returns where the plan has to go on: each set's furthest pseudonyms with the rest of the path."""
        ends: list[OpenEnd] = []
        for letter, planned in self._plan.sets.items():
            for start in self._starts(planned):  # empty if the set starts from an expression
                if not self._walk(start, folded_path(planned.path)):
                    ends += [OpenEnd(letter, *end) for end in self._furthest(start, folded_path(planned.path))]
        return list(dict.fromkeys(ends))

    def continuing(self, candidates: Sequence[Candidate], width: int) -> list[int]:
        """Returns the numbers of at most `width` candidates that continue the plan: for each open end the longest."""
        chosen: list[int] = []
        for end in self.open_ends():
            fits = [
                c for c in candidates if c.start == end.pseudonym and end.rest[: len(c.path)] == folded_path(c.path)
            ]
            fits = [c for c in fits if c.path and (c.start, folded_path(c.path)) not in self._edges]
            fits.sort(key=lambda c: (-len(c.path), c.number))
            chosen += [fit.number for fit in fits[:1] if fit.number not in chosen]
        return chosen[:width]

    def answer(self) -> list[str]:
        """Returns the plan's answer as expressions over pseudonyms; empty while one of its sets is not reached."""
        expressions: list[str] = []
        for text in self._plan.answer:
            bare = self._operand(text)
            rendered = _unions(bare) if bare else [self._rendered(text)]
            if not all(rendered):
                return []
            expressions += rendered
        return list(dict.fromkeys(expressions))

    def _starts(self, planned: PlanSet) -> tuple[str, ...]:
        kind, _, rest = planned.start.partition(":")
        if kind == "set":
            return self.ends_of(rest)
        if kind == "kind":
            of_kind = [each.name for each in self._shown.things if _word(each.concept) == _word(rest)]
            return tuple([name for name in of_kind if name.startswith("S")][:1])
        if _SIMPLE_START.match(planned.start):
            return self._operand(planned.start)
        return ()

    def _operand(self, reference: str) -> tuple[str, ...]:
        """Returns the pseudonyms of a set letter or of a reference like `topic:0`; empty if it is unknown."""
        kind, _, index = reference.partition(":")
        if reference in self._plan.sets:
            return self.ends_of(reference)
        shown = {"topic": self._shown.topics, "earlier": self._shown.earlier, "answer": self._shown.answers}
        if kind in shown and index.isdigit():
            return tuple(name for name in shown[kind][int(index) : int(index) + 1] if name)
        return ()

    def _rendered(self, expression: str) -> str:
        """Returns `expression` in pseudonyms; empty if one of its operands is unknown."""
        missing = False

        def replace(match: re.Match[str]) -> str:
            nonlocal missing
            if match[1]:
                return match[1]
            ends = self._operand(match[2])
            missing = missing or not ends
            return _unions(ends)[0] if ends else ""

        rendered = _REFERENCE.sub(replace, expression)
        return "" if missing else rendered

    def _walk(self, start: str, path: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the pseudonyms known at the end of `path` from `start`."""
        if not path:
            return (start,)
        for length in sorted(self._lengths.get(start, ()), reverse=True):
            middle = self._edges.get((start, path[:length]), []) if 0 < length <= len(path) else []
            found = [end for pseudonym in middle for end in self._walk(pseudonym, path[length:])]
            if found:
                return tuple(dict.fromkeys(found))
        return ()

    def _furthest(self, start: str, path: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
        """Returns the last known pseudonyms on the path, each with the rest of the path, the shortest rest first."""
        ends: list[tuple[str, tuple[str, ...]]] = []
        for length in sorted(self._lengths.get(start, ()), reverse=True):
            for pseudonym in self._edges.get((start, path[:length]), []) if 0 < length <= len(path) else []:
                ends += self._furthest(pseudonym, path[length:])
        return sorted(ends, key=lambda end: len(end[1])) or [(start, path)]


def _unions(ends: Sequence[str]) -> list[str]:
    """Joins the pseudonyms of one set into as few union expressions as the grammar's limit of parts allows."""
    if len(ends) == 1:
        return list(ends)
    return [f"union({', '.join(ends[at : at + _MAX_UNION])})" for at in range(0, len(ends), _MAX_UNION)]


def _word(label: str) -> str:
    return " ".join(label.casefold().replace("_", " ").split())
