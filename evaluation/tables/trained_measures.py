"""Heads in the embedded reasoner's table: trained on half of the topics of a set, asked of the other half.

PathQuestion's are learnt from gold plans, WebQSP's from its answers alone.
"""

from __future__ import annotations

from app.llm.embeddings.adapters import NO_HEAD
from evaluation.bench.question_sets import PQ_2H, PQ_3H, WEBQSP
from evaluation.bench.sampling import Asker
from evaluation.bench.training_examples import gather
from evaluation.datasets.splits import split_by_topic
from evaluation.tables import measures as measure
from evaluation.tables.measures import Measure
from evaluation.training.reasoner import Example, train

_SETS = (("PQ-2H", PQ_2H, 0.98), ("PQ-3H", PQ_3H, 0.95))


async def heads_from_plans(asker: Asker) -> list[Measure]:
    """The same questions without a head and with one; it is trained on both sets, whose halves share no topic."""
    bench = asker.sets.bench
    examples = [example for name, source, _ in _SETS for example in await _first_half(asker, name, source)]
    untrained = await _other_half(asker, "nothing trained")
    bench.embedded.head = train(bench.embedded.embedder, examples, asker.seed).head
    try:
        trained = await _other_half(asker, "head trained on half", bounded=True)
    finally:
        bench.embedded.head = NO_HEAD
    return [*untrained, *trained]


async def heads_from_answers(asker: Asker) -> list[Measure]:
    """Of questions with one topic, with linking; no plan is looked at."""
    bench = asker.sets.bench
    loaded, questions = asker.sets.of(WEBQSP)
    known, asked = split_by_topic([each for each in questions if len(each.topic_entities) == 1])
    known, asked = [each.with_answers_alone for each in asker.sample(known)], asker.sample(asked)
    title = "WebQSP, half to train on"
    gathered = await gather(bench, loaded, known, lambda done: asker.show(title, done, len(known)))
    untrained = await asker.ask("WebQSP other half, nothing trained", loaded, asked)
    bench.embedded.head = train(bench.embedded.embedder, gathered.examples, asker.seed).head
    try:
        trained = await asker.ask("WebQSP other half, head learnt from answers", loaded, asked)
    finally:
        bench.embedded.head = NO_HEAD
    names = ("nothing trained", "head learnt from the other half's answers")
    return [
        measure.hits(f"WebQSP, other half, {name}", each.outcomes, None, each.leaks)
        for name, each in zip(names, (untrained, trained), strict=True)
    ]


async def _first_half(asker: Asker, name: str, source: str) -> list[Example]:
    loaded, questions = asker.sets.of(source)
    chosen = asker.sample(split_by_topic(questions)[0])
    title = f"{name}, half to train on"
    gathered = await gather(asker.sets.bench, loaded, chosen, lambda done: asker.show(title, done, len(chosen)))
    return gathered.examples


async def _other_half(asker: Asker, title: str, *, bounded: bool = False) -> list[Measure]:
    measures = []
    for name, source, bound in _SETS:
        loaded, questions = asker.sets.of(source)
        chosen = asker.sample(split_by_topic(questions)[1])
        asked = await asker.ask(f"{name} other half, {title}", loaded, chosen)
        measures.append(
            measure.hits(f"{name}, other half, {title}", asked.outcomes, bound if bounded else None, asked.leaks)
        )
    return measures
