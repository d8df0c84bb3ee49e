"""Questions about hubs, in pseudonyms: WebQSP's about things of many relations, and OpenDialKG's turns about one thing
that has every relation of that graph."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import numpy as np

from app.language.protocol import Language
from app.llm.reasoner import TaskRunner
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn, Topic
from app.strategies.base import Limits, StrategyInput
from app.strategies.retrieval import NodeSet
from evaluation.bench.bench import Bench
from evaluation.bench.question_sets import WEBQSP, QuestionSets
from evaluation.datasets.gold_plan import plan_paths
from evaluation.datasets.questions import Question
from evaluation.dialogue.examples import RetrievalExample
from kg_store.catalog import PrivateGraph
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import concept_of, kind_of, steps_from
from kg_store.terms import Mid, Mids, Schema, Step, as_mids

HUB: Final = "Gribblewerk Vantongeren"
_RUN = re.compile(r"[A-Za-z0-9]+")
_END: Final = "Quillon Marshock"
_ROLE: Final = "user"


@dataclass(frozen=True, slots=True)
class HubQuestion:
    """A dialogue whose last turn asks about `place`, and the steps of it that are right."""

    inquiry: StrategyInput = field(repr=False)
    place: NodeSet
    gold: frozenset[Step]


def webqsp_questions(sets: QuestionSets, more_than: int) -> list[HubQuestion]:
    """Questions with a gold path about things of more than so many steps. Raises QuestionsError."""
    loaded, questions = sets.of(WEBQSP)
    graph = sets.bench.graph(loaded)
    planned = [each for each in questions if each.has_plan and len(each.texts) == 1]
    return [found for each in planned for found in _about_hubs(graph, each, more_than)]


def opendialkg_questions(
    bench: Bench, examples: Sequence[RetrievalExample], relations: Sequence[str], folder: Path
) -> list[HubQuestion]:
    """Each turn as if what its gold fact is about were HUB, which has all of `relations` either way."""
    file = folder / "hub.ttl"
    file.write_text("".join(_facts(relations)), "utf-8")
    blind = bench.graph(bench.load("hub", [file], None)).blind
    everything = blind.members([signature.id for signature in blind.schema.signatures])
    hub = max(everything.tolist(), key=lambda mid: len(blind.relations_of(as_mids([mid]))))
    return [_as_of_hub(blind, Mid(hub), example) for example in examples]


def _about_hubs(graph: PrivateGraph, question: Question, more_than: int) -> Iterator[HubQuestion]:
    assert question.plan is not None  # planned ones are asked alone
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
    dialogue = SafeDialogue((SafeTurn(_ROLE, SafeText(text)),), tuple(reversed(topics)))
    for topic in dialogue.topics:
        steps = steps_from(graph.blind, topic.mids)
        right = frozenset(step for step in steps if _folded(graph.blind.schema.label_step(step)) in gold)
        if right and len(steps) > more_than:
            yield HubQuestion(_inquiry(graph.blind, dialogue, table), _place(graph.blind, topic), right)


def _facts(relations: Sequence[str]) -> Iterator[str]:
    yield "@prefix : <urn:hub#> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    yield f':hub rdfs:label "{HUB}" .\n'
    for at, relation in enumerate(relations):
        yield f":r{at} rdfs:label {json.dumps(relation)} .\n:hub :r{at} :a{at} .\n:b{at} :r{at} :hub .\n"
        yield "".join(f':{end}{at} rdfs:label "{_END} {end}{at}" .\n' for end in "ab")


def _as_of_hub(blind: BlindGraph, hub: Mid, example: RetrievalExample) -> HubQuestion:
    table = PseudonymTable.new()
    word, entity = table.of_entity(hub), _spoken_of(example)
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
    facts = [fact for fact, right in zip(example.query.facts, example.gold, strict=True) if right]
    wanted = {(_folded(fact.relation), fact.head != entity) for fact in facts if entity in (fact.head, fact.tail)}
    gold = frozenset(step for step in steps_from(blind, topic.mids) if _said(blind.schema, step) in wanted)
    inquiry = _inquiry(blind, SafeDialogue(tuple(turns), (topic,)), table)
    return HubQuestion(inquiry, _place(blind, topic), gold)


def _spoken_of(example: RetrievalExample) -> int:
    """The end of a gold fact that the dialogue names last."""
    golden = np.flatnonzero(example.gold).tolist()
    ends = {end for at in golden for end in (example.query.facts[at].head, example.query.facts[at].tail)}
    turns = reversed(example.query.history)
    return next(each for turn in turns for mention in turn.mentions for each in mention.entities if each in ends)


def _said(schema: Schema, step: Step) -> tuple[str, bool]:
    return _folded(schema.relations[step[0].relation].label), step[0].inverse


def _place(blind: BlindGraph, topic: Topic) -> NodeSet:
    mids: Mids = topic.mids
    return NodeSet(topic.pseudonym, mids, concept_of(blind, mids), kind_of(blind, mids))


def _inquiry(blind: BlindGraph, dialogue: SafeDialogue, table: PseudonymTable) -> StrategyInput:
    nobody = cast(TaskRunner, None)  # What is offered is measured: nothing is asked.
    unread = cast(Language, None)  # The run gives the reader that ranks the steps.
    return StrategyInput(dialogue, blind, table, nobody, Limits(), needs_context=False, language=unread)


def _folded(label: str) -> str:
    """One spelling of a step's label, as the graph has it or as a plan writes it."""
    parts = label.split("|")
    return "|".join("^" * part.startswith("^") + " ".join(_RUN.findall(part)).lower() for part in parts)
