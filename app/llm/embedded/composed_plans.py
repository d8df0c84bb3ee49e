"""Plans of questions that several clauses narrow: each clause is a set of its own, and the answer what they leave."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from app.llm.embedded.candidate_paths import KnownPath, ScoredPath, known_paths
from app.llm.embedded.language.answer_form import read_form
from app.llm.embedded.language.clauses import Clause, NarrowedQuestion, split_clauses
from app.llm.embedded.language.question_words import content_words, singular
from app.llm.embedded.language.relation_wording import VALUES, readable, with_descriptions
from app.llm.embedded.language.schema_vocabulary import EMPTY
from app.llm.embedded.language.synonyms import kind_words
from app.llm.embedded.next_action import SURE, YES_OR_NO, NextAction, numbers_of, only_joins, parts_of, walked_along
from app.llm.embedded.scoring.path_scoring import PathScorer, WordedPath
from app.llm.tasks import StepInput, Thing

LEAST_OF_CLAUSE = 0.2
LEAST_SAID = 0.5
MAX_STEPS = 2
_BY_OTHERS = re.compile(r"^(?:is|are|was|were|been)\b|\bby\b", re.IGNORECASE)
_COMPARES = re.compile(r"\b(?:than|more|less|fewer|over|under)\b", re.IGNORECASE)
# Prepositions and verbs that say little, with the words of relations that they may stand for.
_PLACED = {
    "at": ("at", "for", "to"), "in": ("in",), "from": ("in", "from", "by"), "of": ("of", "by", "at"), "by": ("by",),
    "with": ("has", "with", "by"), "has": ("has",), "have": ("has",), "got": ("has",), "on": ("on", "to"),
}  # fmt: skip
_NO_THINGS = VALUES | {YES_OR_NO, "text"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """The thing that every clause narrows: `target` is everything of the kind, None where anybody is asked for."""

    scorer: PathScorer
    given: StepInput
    target: Thing | None
    head: str


@dataclass(frozen=True, slots=True)
class _Read:
    """A clause with the path that it means; none where no path says it, and then `unread` is a word of it."""

    clause: Clause
    path: ScoredPath | None = None
    unread: str = ""


def plan_composed(
    scorer: PathScorer, given: StepInput, entities: Sequence[Thing], kinds: Sequence[Thing]
) -> NextAction | None:
    """None where the question is not made of such clauses, or one of them is not understood."""
    named = {thing.name: thing for thing in entities if thing.name[0] != "V" or thing.concept == "text"}
    narrowed = split_clauses(given.question, named, [kind.concept for kind in kinds])
    if narrowed is None or not _needs_parts(narrowed):
        return None
    target = next((kind for kind in kinds if _is_of(narrowed.head, kind)), None)
    asked = _Asked(scorer, given, target, narrowed.head)
    read = [_of_thing(asked, clause, named[clause.thing]) for clause in narrowed.clauses if clause.thing]
    if unread := next((each.unread for each in read if each.path is None), ""):
        # What turns nothing round may be read as a whole.
        turns = narrowed.shape == "all" or any(clause.negated for clause in narrowed.clauses)
        return NextAction(0.0, unread=unread) if turns else None
    open_ways = [each.path for each in read if each.path and each.path.path.end is None]
    if open_ways and not given.last_round:
        return NextAction(SURE, choices=numbers_of(open_ways, given.width))
    return _combined(asked, narrowed, read)


def _needs_parts(narrowed: NarrowedQuestion) -> bool:
    first = narrowed.clauses[0]
    return len(narrowed.clauses) > 1 or first.negated or (bool(first.thing) and not _said(first))


def _said(clause: Clause) -> list[str]:
    """The words of a clause that say a relation: none in "patients with X"."""
    return [word for word in content_words(clause.text) if word not in EMPTY]


def _is_of(head: str, kind: Thing) -> bool:
    return not kind_words(singular(head.lower())).isdisjoint({singular(kind.concept.lower())})


def _of_thing(asked: _Asked, clause: Clause, thing: Thing) -> _Read:
    """The path from `thing` to what is asked for that the clause says best."""
    wording = f"who {clause.text}" if asked.target is None else f"which {asked.head} {clause.text}"
    known = known_paths(asked.given, thing)
    steps = {step for path in known for step in path.steps}
    paths = [path for path in known if _may_answer(asked, path) and not _is_nobody(asked, path, steps)]
    best = _best(asked, wording, thing, paths) if _said(clause) else _unsaid(clause, paths)
    if best is None or best.score < LEAST_OF_CLAUSE or _COMPARES.search(clause.text):
        return _Read(clause, unread=clause.text.split()[0])
    word = _unsaid_word(asked, clause.text, best.path, thing)
    return _Read(clause, unread=word) if word else _Read(clause, best)


def _may_answer(asked: _Asked, path: KnownPath) -> bool:
    if not 0 < len(path.steps) <= MAX_STEPS or path.concept in _NO_THINGS:
        return False
    return asked.target is None or asked.target.concept in parts_of(path.concept)


def _is_nobody(asked: _Asked, path: KnownPath, steps: Collection[str]) -> bool:
    """True for that which only joins others."""
    return asked.target is None and only_joins(path.steps[-1], steps)


def _best(asked: _Asked, wording: str, root: Thing, paths: Sequence[KnownPath]) -> ScoredPath | None:
    if not paths:
        return None
    masked = asked.given.masked_relations
    worded = [WordedPath(with_descriptions(path.steps, masked), path.concepts) for path in paths]
    scores = asked.scorer.scores(wording, root.name, root.concept, worded)
    best = max(zip(paths, scores.tolist(), strict=True), key=lambda each: (round(each[1], 4), -len(each[0].steps)))
    return ScoredPath(best[0], best[1])


def _unsaid(clause: Clause, paths: Sequence[KnownPath]) -> ScoredPath | None:
    """ "Patients with X": the one relation that there is, or the one that has the clause's preposition."""
    direct = [path for path in paths if len(path.steps) == 1 and "|" not in path.steps[0]]
    words = _PLACED.get(next((word for word in clause.text.lower().split() if word in _PLACED), ""), ())
    fitting = [path for path in direct if not set(readable(path.steps[0]).split()).isdisjoint(words)]
    meant = fitting or direct
    return ScoredPath(meant[0], SURE) if len({path.steps for path in meant}) == 1 else None


def _unsaid_word(asked: _Asked, text: str, path: KnownPath, thing: Thing) -> str:
    hops = tuple(zip(with_descriptions(path.steps, asked.given.masked_relations), path.concepts, strict=True))
    concepts = [thing.concept, *([asked.target.concept] if asked.target else [])]
    told = asked.scorer.coverage(text, hops, concepts)
    word = min(told, key=lambda each: told[each], default="")
    return word if word and told[word] < LEAST_SAID else ""


def _combined(asked: _Asked, narrowed: NarrowedQuestion, read: Sequence[_Read]) -> NextAction | None:
    if narrowed.shape == "all":
        return _of_all(asked, narrowed, read)
    whole = _narrowed_by(asked, read)
    if whole is None:
        return NextAction(0.0, unread="not")
    lone = [clause for clause in narrowed.clauses if not clause.thing]
    start = next((each.path.path.end for each in read if each.path and not each.clause.negated), None)
    for clause in lone:
        kept = _kept(asked, clause, whole, start or (asked.target.name if asked.target else ""))
        if kept is None:
            return NextAction(0.0, unread=clause.text.split()[0])
        whole = kept
    form = {"count": f"count({whole})", "truth": f"exists({whole})"}.get(narrowed.shape, whole)
    return NextAction(SURE, (form,))


def _narrowed_by(asked: _Asked, read: Sequence[_Read]) -> str | None:
    """The set that all clauses with things leave; None where only negations would narrow no known kind."""
    positive = [group for group in _groups(read) if not group[0].clause.negated]
    negative = [each for each in read if each.clause.negated]
    sets = [_union([_set_of(each) for each in group]) for group in positive]
    if asked.target and (not sets or any(_is_mixed(each, asked.target) for each in read)):
        sets.append(asked.target.name)
    if not sets:
        return None
    whole = sets[0] if len(sets) == 1 else f"intersect({', '.join(sets)})"
    return f"difference({whole}, {_union([_set_of(each) for each in negative])})" if negative else whole


def _groups(read: Sequence[_Read]) -> Iterator[list[_Read]]:
    group: list[_Read] = []
    for each in read:
        if group and not each.clause.is_choice:
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _set_of(read: _Read) -> str:
    assert read.path is not None
    return read.path.path.end or walked_along(read.path.path.root, read.path.path.steps)


def _union(sets: Sequence[str]) -> str:
    return sets[0] if len(sets) == 1 else f"union({', '.join(sets)})"


def _is_mixed(read: _Read, target: Thing) -> bool:
    return read.path is not None and parts_of(read.path.path.concept) != {target.concept}


def _kept(asked: _Asked, clause: Clause, whole: str, start: str) -> str | None:
    """Those of `whole` that have what the clause says, or a value as it says; `start` is the set that ways are
    known from."""
    concept = asked.target.concept if asked.target else ""
    root = Thing(name=start, concept=concept, size="more")
    form = read_form(f"which {start} {clause.text}", 0)
    if (form.form == "filter") != _names_value(asked, clause):
        return None
    paths = [path for path in known_paths(asked.given, root) if len(path.steps) == 1]
    if form.form == "filter":
        paths = [path for path in paths if path.concept in VALUES]
    if not _BY_OTHERS.search(clause.text):
        # "Without a manager": what they have, before what has them.
        paths = [path for path in paths if not path.steps[0].startswith("^")] or paths
    best = _best(asked, form.rest, root, paths)
    if best is None or best.score < LEAST_OF_CLAUSE or _unsaid_word(asked, form.rest, best.path, root):
        return None
    relation = best.path.steps[0]
    kept = (
        f'filter({whole}, "{relation}", {form.operator}, {form.value})'
        if form.form == "filter"
        else f'having({whole}, "{relation}")'
    )
    return f"difference({whole}, {kept})" if clause.negated else kept


def _names_value(asked: _Asked, clause: Clause) -> bool:
    return any(thing.name in clause.text for thing in asked.given.things if thing.name[0] == "V")


def _of_all(asked: _Asked, narrowed: NarrowedQuestion, read: Sequence[_Read]) -> NextAction | None:
    """ "Do all doctors of X live in Y?": is nobody left when those of Y are taken away?"""
    if len(narrowed.clauses) != 2 or narrowed.clauses[0].negated or not narrowed.clauses[0].thing:
        return None
    base = _narrowed_by(asked, read[:1])
    if base is None:
        return None
    last = narrowed.clauses[1]
    if last.thing:
        within = _set_of(read[1])
        left = f"intersect({base}, {within})" if last.negated else f"difference({base}, {within})"
    else:
        end = read[0].path.path.end if read[0].path else None
        kept = _kept(asked, last, base, end or "")
        if kept is None:
            return NextAction(0.0, unread=last.text.split()[0])
        left = f"difference({base}, {kept})"
    return NextAction(SURE, (f"none({left})",))
