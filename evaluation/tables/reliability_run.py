"""Asks answerable and unanswerable questions of the embedded reasoner with its threshold taken away."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

from evaluation.bench.bench import Bench, LoadedSet, sample
from evaluation.bench.foreign_sets import foreign_sets
from evaluation.bench.question_sets import DEMO, METAQA, PQ_2H, PQ_3H, WEBQSP, QuestionSets, Show
from evaluation.bench.report import RunLabel
from evaluation.datasets.questions import Question
from evaluation.datasets.topics_given import with_topics_given
from evaluation.datasets.unanswerable import foreign, transplanted
from evaluation.tables.reliability import Curve, Point

_Set = tuple[str, LoadedSet, list[Question]]


async def run_reliability(data: Path, limit: int, seed: int, only: str, show: Show) -> list[Point]:
    """The points of `limit` questions of each set whose name holds `only`. Raises QuestionsError."""
    points: list[Point] = []
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        async with Bench("embedded", least_score=-math.inf) as bench:
            sets = QuestionSets(bench, data, Path(folder), show)
            for title, loaded, questions in sets_asked(sets, seed, only.casefold()):
                chosen = sample(questions, limit, seed)
                curve = Curve(title, bench.scorer)
                label = RunLabel(set_name=title, strategy="sets", reasoner="embedded", seed=seed)
                await bench.ask(
                    loaded,
                    label,
                    chosen,
                    progress=lambda done, title=title, chosen=chosen: show(title, done, len(chosen)),  # type: ignore[misc]
                    see=curve.see,
                )
                points += curve.points
    return points


def sets_asked(sets: QuestionSets, seed: int, only: str) -> Iterator[_Set]:
    """The sets of the table of bounds; of wordings that nobody looks at none, as a threshold is chosen by these."""
    named = {"PQ-2H": PQ_2H, "PQ-3H": PQ_3H, "WebQSP, topics given": WEBQSP, "demo": DEMO}
    named |= {f"MetaQA-{hops}": source for hops, source in METAQA.items()}
    for title, source in named.items():
        if only in title.casefold():
            loaded, questions = sets.of(source)
            given = [with_topics_given(each) for each in questions] if source == WEBQSP else questions
            yield title, loaded, [question for question in given if question.half != "unseen"]
    if only in "unanswerable":
        for each in foreign_sets(sets):
            yield f"{each.title}, as they are", each.loaded, foreign(each.questions, each.is_known)
            yield f"{each.title}, its own topics", each.loaded, transplanted(each.questions, each.names, seed)
