"""Measure how often the right relation of a hub (a thing with very many relations) is offered: `arog eval hubs`.

Several ways to choose the offered relations are compared, in pseudonyms: on WebQSP's questions about such things, and
on OpenDialKG's turns about one made-up thing that has every relation of that graph.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple, cast

import numpy as np

from app.graphs.markdown_table import markdown_table
from app.language.protocol import Language
from app.llm.embeddings.embedder import Embedder
from app.llm.reasoner import TaskRunner
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn, Topic
from app.reader.english import EnglishReader
from app.retriever.retriever import Retriever, read_weights
from app.settings import Settings
from app.strategies.base import Limits, StrategyInput
from app.strategies.retrieval import NodeSet
from app.strategies.sets.candidates import (
    MAX_OFFERED,
    RETRIEVED,
    CandidateFinder,
    NearestWays,
    RetrievedWays,
    WaySelector,
)
from evaluation.bench.bench import Bench
from evaluation.bench.question_sets import WEBQSP, QuestionSets, Show
from evaluation.datasets.gold_plan import plan_paths
from evaluation.datasets.questions import Question
from evaluation.dialogue.dialogue_sets import read_graph
from evaluation.dialogue.retrieval import RetrievalExample, read_set
from kg_store.catalog import PrivateGraph
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import concept_of, kind_of, steps_from
from kg_store.terms import Mid, Step, as_mids

HUB: Final = "Gribblewerk Vantongeren"
_END: Final = "Quillon Marshock"
_RUN = re.compile(r"[A-Za-z0-9]+")


class HubQuestion(NamedTuple):
    """A dialogue whose last turn asks about `place`, with the steps from it that are right."""

    inquiry: StrategyInput
    place: NodeSet
    gold: frozenset[Step]


async def hubs_table(data: Path, weights: Path, settings: Settings, show: Show) -> str:
    """Returns the table in Markdown. Raises QuestionsError, NetworkWeightsError."""
    embedder = Embedder(settings.sentence_model, settings.cache_dir)
    retriever = Retriever(read_weights(weights, settings.sentence_model), embedder)
    selectors: dict[str, WaySelector] = {
        "likeness": NearestWays(),
        f"likeness, one place in {RETRIEVED} by the retriever": RetrievedWays(retriever),
        "likeness, one place in 2 by the retriever": RetrievedWays(retriever, share=2),
        "the retriever": RetrievedWays(retriever, share=1),
    }
    heads = ("set", "60 steps chosen by", "questions", "steps of the hub", "right one offered", "gained", "lost")
    with tempfile.TemporaryDirectory(prefix="arog-hubs-") as folder:
        async with Bench("embedded") as bench:
            loaded, questions = QuestionSets(bench, data, Path(folder), show).of(WEBQSP)
            planned = [each for each in questions if each.has_plan and len(each.texts) == 1]
            graph = bench.graph(loaded)
            found = {"WebQSP": [asked for each in planned for asked in _about_hubs(graph, each)]}
            show("reading", 0, 1)
            turns, relations = read_set(data, embedder).test, read_graph(data).relations
            found["OpenDialKG"] = _of_opendialkg(bench, turns, relations, Path(folder) / "hub.ttl")
            reader = EnglishReader(embedder)
            rows = [row for name, asked in found.items() for row in _rows(name, asked, selectors, reader, show)]
            return markdown_table(heads, rows)


def _rows(
    source: str,
    questions: Sequence[HubQuestion],
    selectors: Mapping[str, WaySelector],
    reader: EnglishReader,
    show: Show,
) -> Iterator[tuple[object, ...]]:
    """Yields a row for each of `selectors`; the first selector is the one that the others are compared with.

    A row holds the median number of steps of the hubs, the share of questions whose right step is offered, and how
    many questions are gained and lost against the first selector.
    """
    steps = sorted(len(steps_from(each.inquiry.graph, each.place.mids)) for each in questions)
    found = {name: np.zeros(len(questions), bool) for name in selectors}
    for at, question in enumerate(questions):
        show(source, at, len(questions))
        for name, selector in selectors.items():
            ways = CandidateFinder(replace(question.inquiry, language=reader), selector).of([question.place], []).ways
            found[name][at] = any(len(way.path) == 1 and way.path[0] in question.gold for way in ways)
    first = next(iter(found.values()))
    for name, offered in found.items():
        changed = ((offered & ~first).sum(), (first & ~offered).sum())
        yield source, name, len(questions), steps[len(steps) // 2], f"{offered.mean():.3f}", *changed


def _about_hubs(graph: PrivateGraph, question: Question) -> Iterator[HubQuestion]:
    """Yields a question for each topic with a gold path and more steps than are offered."""
    assert question.plan is not None  # the caller passes planned questions only
    paths = [path for start, path in plan_paths(question.plan) if start.startswith("topic:") and path]
    gold = {_folded(path[0]) for path in paths}
    text, table = question.texts[0], PseudonymTable.new()
    mentions = graph.linker.find_mentions(text) or graph.linker.find_unmarked(text, graph.public)
    topics = []
    for mention in sorted(mentions, key=lambda each: -each.start):
        mids = as_mids(mention.mids)
        word = table.of_group(mids) if len(mids) > 1 else table.of_entity(Mid(int(mids[0])))
        text = f"{text[: mention.start]}{word}{text[mention.end :]}"
        topics.append(Topic(word, mids))
    dialogue = SafeDialogue((SafeTurn("user", SafeText(text)),), tuple(reversed(topics)))
    for topic in dialogue.topics:
        steps = steps_from(graph.blind, topic.mids)
        right = frozenset(step for step in steps if _folded(graph.blind.schema.label_step(step)) in gold)
        if right and len(steps) > MAX_OFFERED:
            yield _question(graph.blind, dialogue, topic, table, right)


def _of_opendialkg(
    bench: Bench, examples: Sequence[RetrievalExample], relations: Sequence[str], file: Path
) -> list[HubQuestion]:
    """Returns each turn with the thing of its gold fact replaced by HUB, which has all of `relations` both ways."""
    lines = ["@prefix : <urn:hub#> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"]
    lines.append(f':hub rdfs:label "{HUB}" .\n')
    for at, relation in enumerate(relations):
        lines.append(f":r{at} rdfs:label {json.dumps(relation)} .\n:hub :r{at} :a{at} .\n:b{at} :r{at} :hub .\n")
        lines += (f':{end}{at} rdfs:label "{_END} {end}{at}" .\n' for end in "ab")
    file.write_text("".join(lines), "utf-8")
    blind = bench.graph(bench.load("hub", [file], None)).blind
    everything = blind.members([signature.id for signature in blind.schema.signatures])
    hub = max(everything.tolist(), key=lambda mid: len(blind.relations_of(as_mids([mid]))))
    return [_as_of_hub(blind, Mid(hub), example) for example in examples]


def _as_of_hub(blind: BlindGraph, hub: Mid, example: RetrievalExample) -> HubQuestion:
    table = PseudonymTable.new()
    facts = [fact for fact, right in zip(example.query.facts, example.gold, strict=True) if right]
    ends = {end for fact in facts for end in (fact.head, fact.tail)}
    named = (mention for turn in reversed(example.query.history) for mention in turn.mentions)
    # The end of a gold fact that the dialogue names last.
    entity = next(each for mention in named for each in mention.entities if each in ends)
    word = table.of_entity(hub)
    turns = []
    for utterance in example.query.history:
        text = utterance.text
        for mention in sorted(utterance.mentions, key=lambda each: -each.start):
            is_hub = entity in mention.entities
            if is_hub or mention.is_name:
                stand_in = word if is_hub else table.of_entity(Mid(hub + 1 + mention.entities[0]))
                text = f"{text[: mention.start]}{stand_in}{text[mention.end :]}"
        turns.append(SafeTurn("assistant" if utterance.speaker == "assistant" else "user", SafeText(text)))
    topic = Topic(word, as_mids([hub]))
    wanted = {(_folded(fact.relation), fact.head != entity) for fact in facts if entity in (fact.head, fact.tail)}
    labels = blind.schema.relations
    gold = frozenset(
        step
        for step in steps_from(blind, topic.mids)
        if (_folded(labels[step[0].relation].label), step[0].inverse) in wanted
    )
    return _question(blind, SafeDialogue(tuple(turns), (topic,)), topic, table, gold)


def _question(
    blind: BlindGraph, dialogue: SafeDialogue, topic: Topic, table: PseudonymTable, gold: frozenset[Step]
) -> HubQuestion:
    nobody = cast(TaskRunner, None)  # Only the offered steps are measured; no model is asked.
    unread = cast(Language, None)  # `_rows` puts in the reader that ranks the steps.
    inquiry = StrategyInput(dialogue, blind, table, nobody, Limits(), needs_context=False, language=unread)
    place = NodeSet(topic.pseudonym, topic.mids, concept_of(blind, topic.mids), kind_of(blind, topic.mids))
    return HubQuestion(inquiry, place, gold)


def _folded(label: str) -> str:
    """Returns the label of a step in one spelling, whether it comes from the graph or from a plan."""
    parts = label.split("|")
    return "|".join("^" * part.startswith("^") + " ".join(_RUN.findall(part)).lower() for part in parts)
