"""Conversations of several questions about related things, put together from single questions; and questions made of
a graph that comes without any."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from random import Random

from evaluation.attacks.setup.targets import dice_of
from evaluation.datasets.questions import PlanSet, QueryPlan, Question
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import kind_of, reached, steps_from_each
from kg_store.terms import NodeKind, as_mids

TURNS = 5


def askable(questions: Sequence[Question]) -> list[Question]:
    """Single questions with a plan, where the graph agrees with the gold answers; of wordings that are split, those
    that may be looked at."""
    single = [each for each in questions if len(each.texts) == 1 and each.half != "unseen"]
    return [each for each in single if each.plan is not None and each.reproduced]


def joined(questions: Sequence[Question], identity: str) -> Question:
    """`questions` as the turns of one conversation."""
    *before, last = questions
    return Question(
        id=identity,
        turns=tuple(each.texts[0] for each in questions),
        turn_plans=tuple(each.plan for each in before),
        plan=last.plan,
        answers=last.answers,
        topic_entities=last.topic_entities,
    )


def conversations(questions: Sequence[Question], count: int, seed: int, turns: int = TURNS) -> list[Question]:
    """`count` conversations. A next question is about the same thing or about an answer to the one before, where
    there is such a question, else about anything."""
    draw = dice_of(seed)
    by_topic: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        for topic in question.topic_entities:
            by_topic[topic].append(question)
    found = []
    for number in range(count):
        asked = [draw.choice(questions)]
        while len(asked) < turns:
            related = {*asked[-1].topic_entities, *asked[-1].answers}
            near = [each for topic in sorted(related) for each in by_topic[topic] if each not in asked]
            asked.append(draw.choice(near or questions))
        found.append(joined(asked, f"conversation-{number}"))
    return found


def made_questions(graph: PrivateGraph, count: int, seed: int, most_steps: int = 3) -> list[Question]:
    """Questions for what a path of one to `most_steps` steps reaches from an entity; each with its plan."""
    draw = dice_of(seed)
    blind = graph.blind
    entities = blind.members([s.id for s in blind.schema.signatures if s.kind is NodeKind.ENTITY])
    # By name, where nothing else has it: identifiers are others in every run.
    names = {int(mid): record.names[0] for mid, record in graph.vault.records(entities).items() if record.names}
    held = Counter(names.values())
    named = sorted((name, mid) for mid, name in names.items() if held[name] == 1)
    found: list[Question] = []
    for number in range(20 * count if named else 0):
        name, mid = draw.choice(named)
        if path := _path(graph, mid, draw.randint(1, most_steps), draw):
            words = " of the ".join(label.replace("^", "").replace("|", " ") for label in reversed(path))
            asked = {"id": f"made-{number}", "question": f"What is the {words} of {name}?", "topic_entities": (name,)}
            plan = QueryPlan(sets={"A": PlanSet(start="topic:0", path=path)}, answer=("A",), topics=(name,))
            found.append(Question.model_validate({**asked, "answers": (), "plan": plan}))
        if len(found) == count:
            break
    return found


def _path(graph: PrivateGraph, mid: int, length: int, draw: Random) -> tuple[str, ...]:
    here, labels = as_mids([mid]), []
    for _ in range(length):
        steps = steps_from_each(graph.blind, [here])[0]
        if not steps or kind_of(graph.blind, here) is NodeKind.VALUE:
            break
        step = draw.choice(steps)
        here = reached(graph.blind, here, (step,))
        labels.append(graph.blind.schema.label_step(step))
    return tuple(labels)
