"""Finds the cases most like a question and what their paths gain, and the paths that an answer followed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from app.llm.in_house import CasePath
from app.memory.cases import Case, CaseContent, CaseStore, LabelPath, Vector
from app.strategies.base import FoundFact
from kg_store.algebra.expressions import Expression, Name, is_walk, parse
from kg_store.errors import ExpressionError
from kg_store.text.words import asked_words

NEAREST: Final = 10
TEMPERATURE: Final = 0.05
WEIGHT: Final = 0.2
"""The total gain that the nearest cases share out to their paths, in units of a cosine. Chosen by hand; see
docs/performance.md.
"""
SAME: Final = 0.99
"""Questions with at least this cosine count as having the same words except for names. Chosen by hand."""
MOST: Final = 0.5
WEIGHT_OF_SAME: Final = 2.0
MIN_COSINE: Final = 0.5
"""A case with a lower cosine to the question is not used; measured in docs/performance.md."""

Embed = Callable[[str], Vector]


@dataclass(frozen=True, slots=True)
class NearCases:
    """The cases like a question: what each of their paths gains, and the cases that speak for each path."""

    gains: tuple[CasePath, ...] = ()
    of_path: Mapping[LabelPath, Sequence[Case]] = field(default_factory=dict, repr=False)


NO_CASES: Final = NearCases()


class CaseMemory:
    """Finds, among the cases that a question may use, the ones whose questions are most like it.

    Promise: a question uses cases of its own key and person and those that an owner approved, and none with a relation
    that its asker's role does not see. Condition: `labels` are those of that role's view. Limit: the order in which
    candidates are offered to a model may reveal that a case exists.
    """

    def __init__(self, store: CaseStore, embed: Embed, model: str) -> None:
        self.store, self.embed, self._model = store, embed, model

    def content_of(self, question: str, paths: Sequence[LabelPath], is_whole: bool, person: str) -> CaseContent:
        """Returns the case to be stored if the answer to `question` (in pseudonyms) is rated right.

        `paths`: those that the answer followed. `is_whole`: a single path is the whole answer. `person`: who asked.
        """
        asked = asked_words(question)
        return CaseContent(self._model, self.embed(asked), tuple(paths), is_whole, asked=asked, person=person)

    def near(
        self, tenant: str, graph: str, key_id: str, person: str, labels: Collection[str], question: str
    ) -> NearCases:
        """Returns the cases most like `question` (in pseudonyms) that its asker may use. Raises MasterKeyError.

        `labels`: the relations that the asker's role sees.
        """
        usable = [
            self._of_this_model(each)
            for each in self.store.usable_by(tenant, graph, key_id)
            if each.counts_for(key_id, person)
            and (each.content.model == self._model or each.content.asked)
            and each.content.is_shown_by(labels)
        ]
        if not usable:
            return NO_CASES
        return nearest_cases(usable, self.embed(asked_words(question)))

    def _of_this_model(self, case: Case) -> Case:
        """Returns the case with a vector of the sentence model in use: one of another model is made anew."""
        content = case.content
        if content.model == self._model:
            return case
        return replace(case, content=replace(content, model=self._model, vector=self.embed(content.asked)))


def nearest_cases(usable: Sequence[Case], asked: Vector) -> NearCases:
    """Returns the NEAREST of `usable` cases and what their paths gain; `asked`: the vector of the question.

    The weight of a case is softmax(cosine / TEMPERATURE). Cases with a cosine below MIN_COSINE are left out.
    """
    cosines = np.array([each.content.vector for each in usable]) @ asked
    order = [int(i) for i in np.argsort(-cosines, kind="stable")[:NEAREST] if cosines[i] >= MIN_COSINE]
    if not order:
        return NO_CASES
    raw = np.exp((cosines[order] - cosines[order[0]]) / TEMPERATURE)
    gained: dict[LabelPath, float] = defaultdict(float)
    settled: dict[LabelPath, float] = defaultdict(float)
    of_path: dict[LabelPath, list[Case]] = defaultdict(list)
    for at, share in zip(order, raw / raw.sum(), strict=True):
        weight = WEIGHT_OF_SAME if cosines[at] >= SAME else WEIGHT
        content = usable[at].content
        for path in content.paths:
            gained[path] += weight * float(share)
            settled[path] += float(share) * (cosines[at] >= SAME and content.is_whole)
            of_path[path].append(usable[at])
    gains = [CasePath(path=path, gain=gain, settles=bool(settled[path] > MOST)) for path, gain in gained.items()]
    return NearCases(tuple(gains), of_path)


MAX_PATHS: Final = 4
MAX_STEPS: Final = 4


def paths_of_answer(
    expressions: Sequence[str], evidence: Sequence[FoundFact], roots: Collection[str]
) -> tuple[LabelPath, ...]:
    """Returns the paths, as labels, that lead from `roots` (pseudonyms) to the result of the first expression.

    At most MAX_PATHS of at most MAX_STEPS steps; empty if the expression follows none.
    """
    try:
        trees = [parse(each) for each in expressions[:1]]
    except ExpressionError:
        return ()
    # If several facts lead to one end, the first one counts: it belongs to the best path.
    before: dict[str, FoundFact] = {}
    for fact in (fact for fact in evidence if fact.end not in roots):
        before.setdefault(fact.end, fact)
    found = [path for tree in trees for path in _paths(tree, before)]
    return tuple(dict.fromkeys(path for path in found if 0 < len(path) <= MAX_STEPS))[:MAX_PATHS]


def is_one_path(expressions: Sequence[str]) -> bool:
    """Returns True if the answer is just the end of a single path, without counting, comparing or the like."""
    try:
        trees = [parse(each) for each in expressions]
    except ExpressionError:
        return False
    return len(trees) == 1 and is_walk(trees[0])


def _paths(tree: Expression, before: dict[str, FoundFact]) -> Iterator[LabelPath]:
    if isinstance(tree, Name):
        yield _path_to(tree.pseudonym, before)
        return
    walked = tree.words[:1] if tree.function == "reach" else ()
    for operand in tree.operands:
        for path in _paths(operand, before):
            yield (*path, *walked)


def _path_to(pseudonym: str, before: dict[str, FoundFact]) -> LabelPath:
    path: LabelPath = ()
    seen: set[str] = set()
    while pseudonym in before and pseudonym not in seen:
        seen.add(pseudonym)
        fact = before[pseudonym]
        path, pseudonym = (*fact.path, *path), fact.start
    return path
