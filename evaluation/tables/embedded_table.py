"""The table of the embedded reasoner: every figure that it has to reach, measured in one go over the real service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.llm.embeddings.trained_weights import NO_HEAD
from client_sdk.answers.answer import Answer
from client_sdk.protocol import MAX_CORRECT, MAX_CORRECT_CHARS, AnswerRating
from evaluation.bench.bench import CALLER, TENANT, LoadedSet, Step
from evaluation.bench.question_sets import (
    C360,
    DEMO,
    METAQA,
    OPENDIALKG,
    PQ_2H,
    PQ_3H,
    WEBQSP,
    Show,
    foreign_sets,
)
from evaluation.bench.report import QuestionOutcome
from evaluation.bench.training_examples import gather
from evaluation.compound import compound_questions
from evaluation.datasets.derived_sets import halves_of_topics, split_by_topic, with_topics_given
from evaluation.datasets.questions import Question, QuestionsError
from evaluation.tables import measures as measure
from evaluation.tables.asking import NOTHING_ASKED, AskedSample, Asker, asking
from evaluation.tables.linking import measure_mentions, measure_topics
from evaluation.tables.measures import Measure
from evaluation.training.reasoner import Example, train

# Sets that share the number of questions of one row: two of each graph, the third graph's being small.
_FOREIGN_SETS = 4
MAX_POINTS_BEHIND = -2.5
"""By how many points the questions with cases may hit less often than those without: below zero, they hit more."""
_PATH_QUESTION = (("PQ-2H", PQ_2H, 0.988, 0.98), ("PQ-3H", PQ_3H, 0.95, 0.95))
"""Each set with its bound where nothing is trained, and with a head that is trained on half of its topics."""


async def run_embedded_table(data: Path, limit: int, seed: int, only: str, show: Show) -> list[Measure]:
    """The lines of the groups whose name holds `only`, and the leaks of all. Raises QuestionsError."""
    if not any(only.casefold() in name.casefold() for name in GROUPS):
        raise QuestionsError(f"no group's name holds what --only asks for; there are {', '.join(GROUPS)}")
    measures: list[Measure] = []
    async with asking(data, limit, seed, show) as asker:
        # Whatever the settings name: rows say themselves what was trained.
        asker.sets.bench.embedded.head = NO_HEAD
        for name, group in GROUPS.items():
            if only.casefold() in name.casefold():
                measures += await group(asker)
    return [*measures, measure.no_leaks(asker.total)]


async def _path_question(asker: Asker) -> list[Measure]:
    """No question trained on."""
    asked = [(name, bound, await asker.ask_set(name, source)) for name, source, bound, _ in _PATH_QUESTION]
    return [measure.hits(f"{name}, nothing trained", each.outcomes, bound, each.leaks) for name, bound, each in asked]


async def _heads_from_plans(asker: Asker) -> list[Measure]:
    """The same questions without a head and with one; it is trained on both sets, whose halves share no topic."""
    examples = [each for name, source, *_ in _PATH_QUESTION for each in await _first_half(asker, name, source)]
    untrained = await _other_half(asker, "nothing trained")
    with _head_from(asker, examples):
        return [*untrained, *await _other_half(asker, "head trained on half", bounded=True)]


async def _first_half(asker: Asker, name: str, source: str) -> list[Example]:
    loaded, questions = asker.sets.of(source)
    chosen = asker.sample(split_by_topic(questions)[0])
    title = f"{name}, half to train on"
    gathered = await gather(asker.sets.bench, loaded, chosen, lambda done: asker.show(title, done, len(chosen)))
    return gathered.examples


async def _other_half(asker: Asker, title: str, *, bounded: bool = False) -> list[Measure]:
    measures = []
    for name, source, _, bound in _PATH_QUESTION:
        loaded, questions = asker.sets.of(source)
        asked = await asker.ask(f"{name} other half, {title}", loaded, asker.sample(split_by_topic(questions)[1]))
        reached = bound if bounded else None
        measures.append(measure.hits(f"{name}, other half, {title}", asked.outcomes, reached, asked.leaks))
    return measures


@contextmanager
def _head_from(asker: Asker, examples: list[Example]) -> Iterator[None]:
    """While this is entered the reasoner has a head that is trained on `examples`."""
    embedded = asker.sets.bench.embedded
    embedded.head = train(embedded.embedder, examples, asker.seed).head
    try:
        yield
    finally:
        embedded.head = NO_HEAD


async def _heads_from_answers(asker: Asker) -> list[Measure]:
    """Of questions with one topic, with linking; no plan is looked at."""
    loaded, questions = asker.sets.of(WEBQSP)
    known, asked = split_by_topic([each for each in questions if len(each.topic_entities) == 1])
    known, asked = [each.with_answers_alone for each in asker.sample(known)], asker.sample(asked)
    title = "WebQSP, half to train on"
    gathered = await gather(asker.sets.bench, loaded, known, lambda done: asker.show(title, done, len(known)))
    plain = await asker.ask("WebQSP other half, nothing trained", loaded, asked)
    with _head_from(asker, gathered.examples):
        learnt = await asker.ask("WebQSP other half, head learnt from answers", loaded, asked)
    named = {"nothing trained": plain, "head learnt from the other half's answers": learnt}
    return [
        measure.hits(f"WebQSP, other half, {name}", each.outcomes, None, each.leaks) for name, each in named.items()
    ]


async def _metaqa(asker: Asker) -> list[Measure]:
    """Each half of the wordings apart; the times are over all hops, of a graph of 130,000 facts."""
    measures: list[Measure] = []
    whole = NOTHING_ASKED
    for hops, bound in ((1, 0.965), (2, 0.97), (3, 0.97)):
        name = f"MetaQA-{hops}"
        loaded, questions = asker.sets.of(METAQA[hops])
        chosen = asker.sample(questions)
        seen, unseen = [
            await asker.ask(f"{name} {half}", loaded, [each for each in chosen if each.half == half])
            for half in ("seen", "unseen")
        ]
        measures += _metaqa_measures(name, seen, unseen, bound)
        whole += seen + unseen
    reasoning, local = measure.reasoning_ms(whole.outcomes), measure.local_processor_ms(whole.outcomes)
    return [
        *measures,
        measure.times("the reasoner's own time, MetaQA's graph, p50 / p95", reasoning, 60, 200),
        measure.times("everything else, MetaQA's graph, p50 / p95", local, 10, 30),
    ]


def _metaqa_measures(name: str, seen: AskedSample, new: AskedSample, bound: float) -> list[Measure]:
    both = seen + new
    behind = f"{name}, wordings never looked at: behind the seen"
    measures = [
        measure.hits(f"{name}, nothing trained", both.outcomes, bound, both.leaks),
        measure.hits(f"{name}, wordings seen", seen.outcomes),
        measure.hits(f"{name}, wordings never looked at", new.outcomes),
        measure.behind(behind, new.outcomes, seen.outcomes, 3.0),
    ]
    agreeing = [half.those(lambda each: each.reproduced) for half in (seen, new)]
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
        measure.hits("WebQSP half, with linking, filtered", linked.those(_is_filtered), 0.53),
        measure.hits("WebQSP half, topics given, all", given.outcomes, 0.68, given.leaks),
        measure.hits("WebQSP half, topics given, filtered", given.those(_is_filtered), 0.62),
        measure.f1("of these with linking, F1", linked.outcomes, 0.50),
        measure.f1("of these with topics given, F1", given.outcomes, 0.60),
        measure.answered("of these with linking, answered", linked.outcomes, 0.95),
        measure.times("everything else, WebQSP's graph, p50 / p95", local, 25, 120),
    ]


def _is_filtered(outcome: QuestionOutcome) -> bool:
    return outcome.filtered


async def _cases(asker: Asker) -> list[Measure]:
    """One half of WebQSP's topics is rated, the other half asked: with and without cases, each half by what was rated
    of the other."""
    loaded, questions = asker.sets.of(WEBQSP)
    halves = halves_of_topics(asker.sample(questions))
    services = asker.sets.bench.services
    plain, leaning = NOTHING_ASKED, NOTHING_ASKED
    for number, (taught, tested) in enumerate((halves, halves[::-1]), start=1):
        services.store.cases.forget_graph(TENANT, loaded.graph)
        asked, ratings = await _rated(asker, f"WebQSP, half {number} without cases", loaded, taught)
        plain += asked
        # Only now: a question of this half must not lean on another one of it.
        for rating in ratings:
            services.ratings.rate(CALLER, rating)
        leaning += await asker.ask(f"WebQSP, half {3 - number} with cases", loaded, tested)
    services.store.cases.forget_graph(TENANT, loaded.graph)
    name = "WebQSP, cases of the other half's topics rated right, linked"
    return [
        measure.hits("WebQSP, without cases, linked", plain.outcomes, None, plain.leaks),
        measure.hits(name, leaning.outcomes, None, leaning.leaks),
        measure.hits("of these filtered", leaning.those(_is_filtered)),
        measure.behind("with cases: behind without them", leaning.outcomes, plain.outcomes, MAX_POINTS_BEHIND),
    ]


async def _rated(
    asker: Asker, title: str, loaded: LoadedSet, questions: Sequence[Question]
) -> tuple[AskedSample, list[AnswerRating]]:
    """The outcomes, and the rating of each answer by its gold, as its asker would give it."""
    ratings: list[AnswerRating] = []

    def see(question: Question, outcome: QuestionOutcome, answer: Answer | None, _steps: Sequence[Step]) -> None:
        if answer is not None and question.is_answerable:
            ratings.append(_rating(question, outcome, answer))

    return await asker.ask(title, loaded, questions, see), ratings


def _rating(question: Question, outcome: QuestionOutcome, answer: Answer) -> AnswerRating:
    """An answer that is wrong is told what is right."""
    is_right = outcome.answered and outcome.score.f1 == 1.0
    return AnswerRating(
        conversation=answer.conversation,
        answer=answer.id,
        rating="right" if is_right else "wrong",
        correct=None if is_right else [name[:MAX_CORRECT_CHARS] for name in question.answers[:MAX_CORRECT]],
    )


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
    unseen, seen = ([each for each in whole.outcomes if half_of[each.id] == half] for half in ("unseen", "seen"))
    return [
        measure.hits("compound questions, unseen", unseen, 0.60, whole.leaks),
        measure.hits("compound questions, seen", seen),
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
    return [
        measure.right("the 40 demo questions", asked.outcomes, 36, asked.leaks),
        measure.none_answered("of these the unanswerable", asked.those(lambda each: not each.expects_answer)),
    ]


async def _unanswerable(asker: Asker) -> list[Measure]:
    """Questions of one graph asked of another: as they are, then about a thing that the other graph holds."""
    strange, planted = NOTHING_ASKED, NOTHING_ASKED
    for each in foreign_sets(asker.sets):
        plain = asker.sample(each.as_they_are(), _FOREIGN_SETS)
        strange += await asker.ask(f"{each.title}, as they are", each.loaded, plain)
        harder = asker.sample(each.its_own_topics(asker.seed), _FOREIGN_SETS)
        planted += await asker.ask(f"{each.title}, its own topics", each.loaded, harder)
    both = strange + planted
    return [
        measure.refused("another graph's questions: refused", both.outcomes, 0.95, both.leaks),
        measure.refused("of these about things that the graph does not hold", strange.outcomes),
        measure.refused("of these with a thing of the graph in their topic's place", planted.outcomes),
    ]


GROUPS: dict[str, Callable[[Asker], Awaitable[list[Measure]]]] = {
    "PathQuestion": _path_question,
    "heads": _heads_from_plans,
    "learnt from answers": _heads_from_answers,
    "MetaQA": _metaqa,
    "WebQSP": _webqsp,
    "cases": _cases,
    "compound": _compound,
    "linking": _linking,
    "demo": _demo,
    "unanswerable": _unanswerable,
}
