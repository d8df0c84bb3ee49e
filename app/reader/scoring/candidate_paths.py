"""Collects the paths that may answer a question, with scores, and defines the action that is planned from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.language.readings import AskedForm, WordedPath
from app.llm.in_house import OfferedReading, ReadingScores, VotedPaths, gains_of
from app.llm.tasks import StepInput, Thing
from app.reader.language.relation_wording import with_descriptions
from app.reader.scoring.path_scoring import PathScorer
from kg_store.text.inflection import singular

# Greatest number of steps of a path; limits the time. Chosen by hand.
MAX_STEPS = 4
_WORD = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class KnownPath:
    """A path from the pseudonym `root` that the prompt holds, either walked or offered as a candidate.

    `end`: the pseudonym at its end if it was walked, else None. `candidate`: the number by which it can be followed,
    if it was not. `before`: the pseudonym that its last step leaves, if known. `waypoints`: the pseudonyms reached on
    the way, each as (number of steps, pseudonym).
    """

    root: str
    steps: tuple[str, ...]
    concepts: tuple[str, ...]
    end: str | None
    candidate: int | None
    before: str | None
    size: str = "more"
    waypoints: tuple[tuple[int, str], ...] = ()

    @property
    def concept(self) -> str:
        return self.concepts[-1] if self.concepts else ""


@dataclass(frozen=True, slots=True)
class ScoredPath:
    """A path and its score against the question (see `path_scoring`); higher is better."""

    path: KnownPath
    score: float


def roots_of(given: StepInput) -> tuple[list[Thing], list[Thing], list[Thing]]:
    """Returns the entities, kinds and values that paths may start from.

    The entities are those of the question, or, if it names none, those of the dialogue, latest first.
    """
    asked = set(_WORD.findall(given.question))
    named = [thing for thing in given.things if thing.name in asked]
    # A value that the graph holds can be a start. A value that it does not hold has no paths.
    starts = {candidate.start for candidate in given.candidates} | {fact.start for fact in given.evidence}
    values = [thing for thing in named if thing.name[0] == "V" and thing.name not in starts]
    entities = [thing for thing in named if thing not in values]
    told = " ".join(turn.text for turn in given.dialogue)
    spoken = [thing for thing in given.things if thing.name[0] != "V" and thing.name in told]
    kinds = [thing for thing in given.things if thing.name[0] == "S" and thing not in named and thing not in spoken]
    ends = {fact.end for fact in given.evidence}
    kinds = [thing for thing in kinds if thing.name not in ends]
    if not entities:
        entities = sorted(spoken, key=lambda thing: -told.rfind(thing.name))
    return entities, kinds, values


def score_paths(
    scorer: PathScorer, question: str, given: StepInput, roots: Sequence[Thing], kinds: Sequence[Thing]
) -> list[ScoredPath]:
    """Returns every path from one of `roots`, best first. Of equal scores, the shorter path comes first."""
    scored: list[ScoredPath] = []
    for root in roots:
        wording = _with_kind(question, root) if root in kinds else question
        paths = known_paths(given, root)
        told = given.masked_relations, given.wordings, given.own_words
        worded = [WordedPath(with_descriptions(path.steps, *told), path.concepts) for path in paths]
        scores = scorer.scores(wording, root.name, root.concept, worded)
        if given.cases:
            scores = scores + scorer.cosine_unit(worded) * gains_of(given.cases, [path.steps for path in paths])
        scored += [ScoredPath(path, float(score)) for path, score in zip(paths, scores, strict=True)]
    return sorted(scored, key=_rank)


def voted_first(paths: Sequence[ScoredPath], voted: VotedPaths | None) -> list[ScoredPath]:
    """Returns `paths` with those first that lead to the winner of the vote (see `VotedPaths`)."""
    return sorted(paths, key=lambda each: not is_voted(each, voted)) if voted else list(paths)


def is_voted(scored: ScoredPath, voted: VotedPaths) -> bool:
    """Returns True if the path leads to the winner of the vote (see `VotedPaths`)."""
    return (scored.path.root, *scored.path.steps) in voted.paths


def _rank(scored: ScoredPath) -> tuple[float, int, bool, tuple[str, ...]]:
    path = scored.path
    return -round(scored.score, 4), len(path.steps), path.end is None, path.steps


def known_paths(given: StepInput, root: Thing) -> list[KnownPath]:
    """Returns all paths of at most MAX_STEPS steps from `root` that evidence and candidates form.

    A path may return to where it was: the parents of somebody's children include that person.
    """
    between = _concepts_of_steps(given)
    begun = [KnownPath(root.name, (), (), root.name, None, None, waypoints=((0, root.name),))]
    paths: list[KnownPath] = []
    while begun:
        longer: list[KnownPath] = []
        for path in begun:
            for fact in (fact for fact in given.evidence if fact.start == path.end):
                concepts = (*_between(fact.path, between), fact.end_concept)
                longer.append(_longer(path, fact.path, concepts, end=fact.end, size=fact.size))
            for way in (way for way in given.candidates if way.start == path.end):
                concepts = (*_between(way.path, between), way.concept)
                paths.append(_longer(path, way.path, concepts, candidate=way.number))
        begun = [path for path in longer if len(path.steps) <= MAX_STEPS]
        paths += begun
    return [path for path in paths if len(path.steps) <= MAX_STEPS]


def _longer(
    path: KnownPath,
    steps: Sequence[str],
    concepts: tuple[str, ...],
    *,
    end: str | None = None,
    candidate: int | None = None,
    size: str = "more",
) -> KnownPath:
    before = path.end if len(steps) == 1 else None
    longer = (*path.steps, *steps)
    waypoints = (*path.waypoints, (len(longer), end)) if end is not None else path.waypoints
    return KnownPath(path.root, longer, (*path.concepts, *concepts), end, candidate, before, size, waypoints)


def _concepts_of_steps(given: StepInput) -> dict[str, str]:
    """Returns the concept that each single step leads to; candidates, which come from the schema, override facts."""
    facts = {fact.path[0]: fact.end_concept for fact in given.evidence if len(fact.path) == 1}
    return facts | {way.path[0]: way.concept for way in given.candidates if len(way.path) == 1}


def _between(path: Sequence[str], concepts: dict[str, str]) -> tuple[str, ...]:
    """Returns the concept that each step of `path` but the last one leads to; "" where it is unknown."""
    return tuple(concepts.get(step, "") for step in path[:-1])


def _with_kind(question: str, kind: Thing) -> str:
    """Returns the question with the kind's word replaced by its pseudonym: `which doctors` -> `which Sk3mmd`."""
    wanted = {singular(word.lower()) for word in kind.concept.split()}
    for match in _WORD.finditer(question):
        if singular(match[0].lower()) in wanted:
            return question[: match.start()] + kind.name + question[match.end() :]
    return question


# The score of an action whose question has only one possible meaning.
SURE = 1.0
YES_OR_NO = "yes or no"


@dataclass(frozen=True, slots=True)
class NextAction:
    """The next action: answer with `expressions`, else follow the candidates `choices`; a refusal if both are empty.

    `score` is that of the best path; `scores` has more figures about the reading. `asks_back`: questions to offer the
    user if no reading is certain.
    """

    score: float
    expressions: tuple[str, ...] = ()
    choices: tuple[int, ...] = ()
    scores: ReadingScores | None = None
    asks_back: tuple[OfferedReading, ...] = ()


REFUSAL = NextAction(0.0)
"""The action for a question that has a word which cannot be executed."""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """Everything that planning an answer needs: the form of the question, what it names, and the paths from there.

    `paths`: best first. `both_named`: the question names two things. `width`: greatest number of candidates to follow.
    `ends`: the concept of each pseudonym.
    """

    form: AskedForm
    paths: Sequence[ScoredPath]
    roots: Sequence[Thing]
    kinds: Sequence[Thing]
    both_named: bool
    width: int
    last_round: bool
    ends: dict[str, str] = field(default_factory=dict)
    values: Sequence[Thing] = ()
    voted: VotedPaths | None = None

    @property
    def from_kinds(self) -> bool:
        """True if the question names no thing, so that paths start from whole kinds."""
        return all(root in self.kinds for root in self.roots)


def share(concept: str, other: str) -> bool:
    """Returns True if a thing may be of both concepts; "thing" fits every concept."""
    ours, theirs = parts_of(concept), parts_of(other)
    return not ours.isdisjoint(theirs) or "thing" in ours | theirs


def parts_of(concept: str) -> set[str]:
    return {part.strip() for part in concept.split(",")}


def numbers_of(scored: Sequence[ScoredPath], width: int) -> tuple[int, ...]:
    numbers = dict.fromkeys(each.path.candidate for each in scored if each.path.candidate is not None)
    return tuple(numbers)[:width]


def narrowed(asked: ParsedQuestion, name: str, concept: str) -> str:
    """Returns an expression for those members of the set `name` that are of the kind asked for.

    Returns `name` itself if its `concept` shows that it holds no other kinds, or only things of unknown kind
    ("thing"). Does so too after a vote, because votes are taken only on graphs whose kinds are too many and too vague,
    and for people: a graph that declares no kinds has persons of whom too little is said to call them so.
    """
    if asked.voted is not None:
        return name
    concepts = parts_of(concept)
    mixed = len(concepts - {"thing"}) > 1 or (asked.form.form == "count" and "thing" not in concepts)
    for kind in asked.kinds:
        if kind.name != name and kind.concept in concepts - {"person"} and mixed:
            return f"intersect({name}, {kind.name})"
    return name
