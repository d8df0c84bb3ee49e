"""The table of the embedded reasoner: every figure that it has to reach, measured in one go over the real service."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from app.llm.embeddings.adapters import NO_HEAD
from evaluation.bench.bench import Bench
from evaluation.bench.foreign_sets import foreign_sets
from evaluation.bench.question_sets import C360, DEMO, METAQA, OPENDIALKG, PQ_2H, PQ_3H, WEBQSP, QuestionSets, Show
from evaluation.bench.sampling import NOTHING_ASKED, AskedSample, Asker
from evaluation.compound import compound_questions
from evaluation.datasets.questions import QuestionsError
from evaluation.datasets.topics_given import with_topics_given
from evaluation.datasets.unanswerable import foreign, transplanted
from evaluation.tables import measures as measure
from evaluation.tables.case_measures import case_measures
from evaluation.tables.linking import measure_mentions, measure_topics
from evaluation.tables.measures import Measure
from evaluation.tables.trained_measures import heads_from_answers, heads_from_plans

# Sets that share the number of questions of one row: two of each graph, the third graph's being small.
_FOREIGN_SETS = 4


async def run_embedded_table(
    data: Path, limit: int, seed: int, only: str, show: Show, errors: Path | None = None
) -> list[Measure]:
    """The lines of the groups whose name holds `only`, and the leaks of all. Raises QuestionsError."""
    if not any(only.casefold() in name.casefold() for name in GROUPS):
        raise QuestionsError(f"no group's name holds what --only asks for; there are {', '.join(GROUPS)}")
    measures: list[Measure] = []
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        async with Bench("embedded") as bench:
            # Whatever the settings name: rows say themselves what was trained.
            bench.embedded.head = NO_HEAD
            asker = Asker(QuestionSets(bench, data, Path(folder), show), limit, seed, show, errors)
            for name, group in GROUPS.items():
                if only.casefold() in name.casefold():
                    measures += await group(asker)
    return [*measures, measure.no_leaks(asker.total)]


async def _path_question(asker: Asker) -> list[Measure]:
    """No question trained on."""
    measures = []
    for name, source, bound in (("PQ-2H", PQ_2H, 0.988), ("PQ-3H", PQ_3H, 0.95)):
        loaded, questions = asker.sets.of(source)
        asked = await asker.ask(name, loaded, asker.sample(questions))
        measures.append(measure.hits(f"{name}, nothing trained", asked.outcomes, bound, asked.leaks))
    return measures


async def _metaqa(asker: Asker) -> list[Measure]:
    """Each half of the wordings apart; the times are over all hops, of a graph of 130,000 facts."""
    measures: list[Measure] = []
    whole = NOTHING_ASKED
    for hops, bound in ((1, 0.965), (2, 0.97), (3, 0.97)):
        halves = await _metaqa_halves(asker, hops)
        measures += _metaqa_measures(f"MetaQA-{hops}", halves["seen"], halves["unseen"], bound)
        whole += halves["seen"] + halves["unseen"]
    reasoning, local = measure.reasoning_ms(whole.outcomes), measure.local_processor_ms(whole.outcomes)
    return [
        *measures,
        measure.times("the reasoner's own time, MetaQA's graph, p50 / p95", reasoning, 60, 200),
        measure.times("everything else, MetaQA's graph, p50 / p95", local, 10, 30),
    ]


async def _metaqa_halves(asker: Asker, hops: int) -> dict[str, AskedSample]:
    loaded, questions = asker.sets.of(METAQA[hops])
    chosen = asker.sample(questions)
    return {
        half: await asker.ask(f"MetaQA-{hops} {half}", loaded, [each for each in chosen if each.half == half])
        for half in ("seen", "unseen")
    }


def _metaqa_measures(name: str, seen: AskedSample, new: AskedSample, bound: float) -> list[Measure]:
    both = seen + new
    behind = f"{name}, wordings never looked at: behind the seen"
    measures = [
        measure.hits(f"{name}, nothing trained", both.outcomes, bound, both.leaks),
        measure.hits(f"{name}, wordings seen", seen.outcomes),
        measure.hits(f"{name}, wordings never looked at", new.outcomes),
        measure.behind(behind, new.outcomes, seen.outcomes, 3.0),
    ]
    agreeing = [[each for each in half.outcomes if each.reproduced] for half in (seen, new)]
    if sum(map(len, agreeing)) < len(both.outcomes):
        measures += [
            measure.hits(f"{name}, where the graph agrees with the gold", [*agreeing[0], *agreeing[1]]),
            measure.behind(f"{behind}, where it agrees", agreeing[1], agreeing[0]),
        ]
    return measures


async def _webqsp(asker: Asker) -> list[Measure]:
    loaded, questions = asker.sets.of(WEBQSP)
    chosen = asker.sample(questions)
    linked = await asker.ask("WebQSP", loaded, chosen)
    given = await asker.ask("WebQSP, topics given", loaded, [with_topics_given(each) for each in chosen])
    local = measure.local_processor_ms(linked.outcomes)
    return [
        measure.hits("WebQSP half, with linking, all", linked.outcomes, 0.58, linked.leaks),
        measure.hits("WebQSP half, with linking, filtered", [o for o in linked.outcomes if o.filtered], 0.53),
        measure.hits("WebQSP half, topics given, all", given.outcomes, 0.68, given.leaks),
        measure.hits("WebQSP half, topics given, filtered", [o for o in given.outcomes if o.filtered], 0.62),
        measure.f1("of these with linking, F1", linked.outcomes, 0.50),
        measure.f1("of these with topics given, F1", given.outcomes, 0.60),
        measure.answered("of these with linking, answered", linked.outcomes, 0.95),
        measure.times("everything else, WebQSP's graph, p50 / p95", local, 25, 120),
    ]


async def _compound(asker: Asker) -> list[Measure]:
    """All of the questions, whatever the limit is: they are few."""
    sets, whole, lines = asker.sets, NOTHING_ASKED, list[Measure]()
    loaded = {"metaqa": sets.of(METAQA[1])[0], "opendialkg": sets.graph(OPENDIALKG), "webqsp": sets.of(WEBQSP)[0]}
    half_of: dict[str, str] = {}
    for name, graph in loaded.items():
        questions = compound_questions(name)
        half_of |= {question.id: question.half for question in questions}
        asked = await asker.ask(f"compound, {name}", graph, questions)
        lines.append(measure.hits(f"of these {name}", asked.outcomes))
        whole += asked
    halves = {half: [each for each in whole.outcomes if half_of[each.id] == half] for half in ("seen", "unseen")}
    return [
        measure.hits("compound questions, unseen", halves["unseen"], 0.60, whole.leaks),
        measure.hits("compound questions, seen", halves["seen"]),
        *lines,
    ]


async def _linking(asker: Asker) -> list[Measure]:
    """No reasoner is asked: the linker alone, on the topics of a public set and on names with slips."""
    loaded, questions = asker.sets.of(WEBQSP)
    graph = asker.sets.bench.graph
    topics = measure_topics(graph(loaded), asker.sample(questions)).whole
    graphs = [asker.sets.graph(C360), *(asker.sets.of(source)[0] for source in (DEMO, PQ_2H, PQ_3H))]
    slips = measure_mentions([graph(each) for each in graphs], asker.limit, asker.seed).whole
    return [
        measure.share("topics found, WebQSP half", topics.recall, topics.typed, 0.90),
        measure.share("of what is read as a name there, a topic", topics.precision, topics.linked),
        measure.share("misspelt and abbreviated names found", slips.recall, slips.typed, 0.90),
        measure.share("of what is read as a name there, the one that was meant", slips.precision, slips.linked, 0.97),
    ]


async def _demo(asker: Asker) -> list[Measure]:
    loaded, questions = asker.sets.of(DEMO)
    asked = await asker.ask("demo", loaded, questions)
    unanswerable = [outcome for outcome in asked.outcomes if not outcome.expects_answer]
    return [
        measure.right("the 40 demo questions", asked.outcomes, 36, asked.leaks),
        measure.none_answered("of these the unanswerable", unanswerable),
    ]


async def _unanswerable(asker: Asker) -> list[Measure]:
    """Questions of one graph asked of another: as they are, then about a thing that the other graph holds."""
    strange, planted = NOTHING_ASKED, NOTHING_ASKED
    for each in foreign_sets(asker.sets):
        plain = asker.sample(foreign(each.questions, each.is_known), _FOREIGN_SETS)
        strange += await asker.ask(f"{each.title}, as they are", each.loaded, plain)
        harder = asker.sample(transplanted(each.questions, each.names, asker.seed), _FOREIGN_SETS)
        planted += await asker.ask(f"{each.title}, its own topics", each.loaded, harder)
    both = strange + planted
    return [
        measure.refused("another graph's questions: refused", both.outcomes, 0.95, both.leaks),
        measure.refused("of these about things that the graph does not hold", strange.outcomes),
        measure.refused("of these with a thing of the graph in their topic's place", planted.outcomes),
    ]


GROUPS: dict[str, Callable[[Asker], Awaitable[list[Measure]]]] = {
    "PathQuestion": _path_question,
    "heads": heads_from_plans,
    "learnt from answers": heads_from_answers,
    "MetaQA": _metaqa,
    "WebQSP": _webqsp,
    "cases": case_measures,
    "compound": _compound,
    "linking": _linking,
    "demo": _demo,
    "unanswerable": _unanswerable,
}
