"""Hold conversations of several questions with the service, and parse the requests that the endpoint received."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from app.llm.endpoint.request_body import read_step
from app.llm.reasoner import ReasonerError
from app.llm.tasks import Candidate, Evidence, TaskModel, TaskName, Thing, Turn
from app.privacy.safe_text import PrivacyError
from client_sdk.dialogue import Dialogue
from evaluation.attacks.targets import VICTIM, AttackTarget, dice_of
from evaluation.bench.bench import TENANT
from evaluation.datasets.questions import PlanSet, QueryPlan, Question
from evaluation.fakes.contract import TASKS
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import kind_of, reached, steps_from_each, tail_concept
from kg_store.terms import Mids, NodeKind, Path, Schema, Step, as_mids

TURNS = 5
_FENCE = "```json"
_SHOWN = ("question", "dialogue", "things", "candidates", "evidence", "further", "round")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to the model, with the fields of docs/reasoner_contract.md; fields that its task lacks are empty."""

    task: TaskName
    question: str = field(default="", repr=False)
    dialogue: Sequence[Turn] = field(default=(), repr=False)
    things: Sequence[Thing] = ()
    candidates: Sequence[Candidate] = ()
    evidence: Sequence[Evidence] = ()
    further: int = 0
    round: int = 1

    @property
    def names_concepts_by_model(self) -> bool:
        """Returns True if a model worded the concepts of the evidence (strategy `arog`) instead of the service."""
        return self.task == "answer"


def prompt_of(body: bytes) -> Prompt | None:
    """Returns a request body as a `Prompt`; None if it is for no task of the service, such as an endpoint's probe."""
    request = json.loads(body)
    shape = request.get("response_format", {}).get("json_schema", {})
    task, messages = shape.get("name"), request.get("messages", [])
    if task not in TASKS:
        return None
    content = next(message["content"] for message in reversed(messages) if message["role"] == "user")
    lines = content.rstrip().split("\n")
    block = "\n".join(lines[lines.index(_FENCE) + 1 : lines.index("```")])
    if task == "step" and "choices" in (listed := json.loads(block)):
        return Prompt(task, listed["question"])
    asked: TaskModel = read_step(block) if task == "step" else TASKS[task][0].model_validate_json(block)
    return Prompt(task, **{name: getattr(asked, name) for name in _SHOWN if hasattr(asked, name)})


def prompts_of(bodies: Sequence[bytes]) -> list[Prompt]:
    """Returns the request bodies as prompts, in the order in which they were sent; probes and such are left out."""
    return [prompt for body in bodies if (prompt := prompt_of(body)) is not None]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One conversation: for each turn the request bodies that it caused, and True if the turn was answered.

    `truth` maps each pseudonym to the MIDs (ids inside the server) that it stands for. It is never sent; attacks only
    use it to judge their guesses.
    """

    question: Question = field(repr=False)
    turns: tuple[tuple[bytes, ...], ...] = field(repr=False)
    answered: tuple[bool, ...]
    truth: Mapping[str, Mids] = field(repr=False)

    @property
    def prompts(self) -> list[Prompt]:
        return prompts_of([body for turn in self.turns for body in turn])


async def exchange_all(
    target: AttackTarget,
    questions: Sequence[Question],
    strategy: str = "sets",
    progress: Callable[[int], None] = lambda _done: None,
) -> list[Exchange]:
    """Asks each question in a conversation of its own, turn by turn. `target` must have a scripted endpoint."""
    found = []
    for done, question in enumerate(questions, start=1):
        found.append(await exchange(target, question, strategy))
        progress(done)
    return found


async def exchange(target: AttackTarget, question: Question, strategy: str = "sets") -> Exchange:
    assert target.endpoint is not None, "the bytes are recorded by the scripted endpoint"
    dialogue = Dialogue(target.loaded.graph, target.victim, strategy, {})
    turns, answered, conversation = [], [], None
    for plan, text in zip(question.plans, question.texts, strict=True):
        first = len(target.endpoint.received)
        target.endpoint.expect(plan, text)
        try:
            reply = await target.bench.services.chat.answer(VICTIM, dialogue.request(text, None, {}))
        except (ReasonerError, PrivacyError):
            answered.append(False)
        else:
            dialogue.accept(text, reply)
            conversation = reply.conversation
            answered.append(reply.answered)
        turns.append(tuple(received.body for received in target.endpoint.received[first:]))
    truth = _truth(target, conversation) if conversation else {}
    return Exchange(question, tuple(turns), tuple(answered), truth)


def _truth(target: AttackTarget, conversation: str) -> dict[str, Mids]:
    graph = target.bench.graph(target.loaded).blind
    kept = target.bench.services.store.conversations
    table = kept.open(TENANT, VICTIM.key_id, target.loaded.graph, conversation, graph.schema).table
    own = {word: table.resolve(word, graph)[0] for word in table.issued}
    sent = (table.wire_pseudonyms(graph.schema, answer) for answer in table.answers)
    return own | {word: own[pseudonym] for words in sent for pseudonym, word in words.items() if pseudonym in own}


def askable(questions: Sequence[Question]) -> list[Question]:
    """Returns the single-turn questions that have a plan and whose gold answers the graph reproduces.

    Questions from the unseen half of a split set are left out.
    """
    single = [each for each in questions if len(each.texts) == 1 and each.half != "unseen"]
    return [each for each in single if each.plan is not None and each.reproduced]


def joined(questions: Sequence[Question], identity: str) -> Question:
    """Joins single-turn `questions` into one dialogue, a turn for each, with the id `identity`."""
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
    """Draws `count` conversations of `turns` questions each.

    Each next question is about a topic or an answer of the one before; if there is none, any question is drawn.
    """
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
    """Makes `count` questions, each with its plan, whose answers lie at the end of a random path from a named entity.

    A path has one to `most_steps` steps. Fewer questions are returned if the graph has too few paths.
    """
    draw = dice_of(seed)
    blind = graph.blind
    entities = blind.members([s.id for s in blind.schema.signatures if s.kind is NodeKind.ENTITY])
    # Entities are drawn by a unique name, because MIDs change from run to run.
    names = {int(mid): record.names[0] for mid, record in graph.vault.records(entities).items() if record.names}
    held = Counter(names.values())
    named = sorted((name, mid) for mid, name in names.items() if held[name] == 1)
    found: list[Question] = []
    for number in range(20 * count if named else 0):
        name, mid = draw.choice(named)
        if path := _path(graph, mid, draw.randint(1, most_steps), draw):
            labels = tuple(map(blind.schema.label_step, path))
            asked = {"id": f"made-{number}", "question": _asked_along(blind.schema, path, name)}
            plan = QueryPlan(sets={"A": PlanSet(start="topic:0", path=labels)}, answer=("A",), topics=(name,))
            found.append(Question.model_validate({**asked, "topic_entities": (name,), "answers": (), "plan": plan}))
        if len(found) == count:
            break
    return found


def _asked_along(schema: Schema, path: Path, name: str) -> str:
    """Returns a question for the end of a path from `name`: "Which account has owner the mother of Ada?"."""
    said, asked = name, ""
    for step in path:
        label, kind = schema.label_step(step), " or ".join(tail_concept(schema, step).split(", "))
        words = label.replace("^", "").replace("|", " ")
        has = f"has {words.removeprefix('has ')} {said}"
        asked = f"Which {kind} {has}?" if label.startswith("^") else f"What is the {words} of {said}?"
        said = f"the {kind} that {has}" if label.startswith("^") else f"the {words} of {said}"
    return asked


def _path(graph: PrivateGraph, mid: int, length: int, draw: Random) -> Path:
    here, path = as_mids([mid]), list[Step]()
    for _ in range(length):
        steps = steps_from_each(graph.blind, [here])[0]
        if not steps or kind_of(graph.blind, here) is NodeKind.VALUE:
            break
        path.append(draw.choice(steps))
        here = reached(graph.blind, here, (path[-1],))
    return tuple(path)
