"""Conversations asked of the service, and the requests that an endpoint gets for them, read from their bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.accounts.api_keys import Caller
from app.egress.guard import BlockedError
from app.llm.endpoint.request_body import read_step
from app.llm.reasoner import ReasonerError
from app.llm.tasks import Candidate, Evidence, StepInput, Task, TaskModel, TaskName, Thing
from app.llm.tasks import Turn as PromptTurn
from app.privacy.safe_text import PrivacyError
from app.strategies.sets.prompts import STEP
from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer, ChatOptions, ChatRequest, Message, StrategyName
from evaluation.attacks.setup.targets import VICTIM, AttackTarget
from evaluation.bench.asker import ChatEndpoint
from evaluation.bench.bench import TENANT, Bench
from evaluation.datasets.questions import Question
from evaluation.fakes.contract import TASKS
from kg_store.terms import Mids

Turn = tuple[Literal["user", "assistant"], str]
_FENCE = "```json"
_SHOWN = ("question", "dialogue", "things", "candidates", "evidence", "further", "round")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request as docs/reasoner_contract.md describes it; what a task does not have is empty."""

    task: TaskName
    question: str = field(default="", repr=False)
    dialogue: Sequence[PromptTurn] = field(default=(), repr=False)
    things: Sequence[Thing] = ()
    candidates: Sequence[Candidate] = ()
    evidence: Sequence[Evidence] = ()
    further: int = 0
    round: int = 1

    @property
    def names_concepts_by_model(self) -> bool:
        """True where the concepts of the evidence are a model's words and no kinds of the graph (`arog`)."""
        return self.task == "answer"


def prompt_of(body: bytes) -> Prompt | None:
    """None for a request that is no task, as probes are."""
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
    """In the order in which they were sent; requests that are no task are left out."""
    return [prompt for body in bodies if (prompt := prompt_of(body)) is not None]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One conversation: for each turn the requests that it made, as they were sent, and whether it was answered.

    `truth` is on no wire: what pseudonyms stand for, by which guesses are judged.
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
    """Each question in a conversation of its own, its turns one after the other; `target` has a scripted endpoint."""
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


async def ask(
    chat: ChatEndpoint,
    graph: str,
    text: str,
    strategy: str = "sets",
    caller: Caller = VICTIM,
    options: Mapping[str, object] | None = None,
) -> tuple[ChatAnswer, Answer]:
    """One question in a conversation of its own, with a key of its own: the reply, and what the asker reads off it.

    Raises ReasonerError, PrivacyError.
    """
    dialogue = Dialogue(graph, KeyPair.generate(), strategy, options or {})
    reply = await chat.answer(caller, dialogue.request(text, None, {}))
    return reply, dialogue.accept(text, reply)


async def sent_by(
    bench: Bench, graph: str, turns: Sequence[Turn], strategy: StrategyName, key: KeyPair
) -> tuple[list[bytes], bool]:
    """All bytes that a model got for a dialogue, and whether the guard refused one of its prompts."""
    first, blocked = bench.sent_so_far, False
    request = ChatRequest(
        graph=graph,
        messages=[Message(role=role, content=text) for role, text in turns],
        strategy=strategy,
        options=ChatOptions(suggestions=0),
        public_key=key.public_text,
    )
    try:
        await bench.services.chat.answer(VICTIM, request)
    except BlockedError:
        blocked = True
    except (ReasonerError, PrivacyError):
        pass
    return bench.sent_from(first), blocked


def as_typed(bench: Bench, turns: Sequence[Turn]) -> bytes:
    """The first request of `sets` as it would be with the rule off: what was typed, as it was typed. Goes nowhere."""
    dialogue = [PromptTurn(role=role, text=text) for role, text in turns[:-1]]
    step = StepInput(question=turns[-1][1], dialogue=dialogue, things=[], evidence=[], candidates=[])
    return bench.services.thinking.reasoner.egress_of(Task(STEP, step)).body
