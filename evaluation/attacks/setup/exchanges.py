"""Conversations asked of the service, with the bytes that each turn sent to the scripted endpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.llm.reasoner import ReasonerError
from app.privacy.errors import PrivacyError
from client_sdk.dialogue import Dialogue
from evaluation.attacks.setup.recording import VICTIM
from evaluation.attacks.setup.targets import AttackTarget
from evaluation.bench.bench import TENANT
from evaluation.datasets.questions import Question
from kg_store.terms import Mids


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
    def bodies(self) -> list[bytes]:
        return [body for turn in self.turns for body in turn]


async def exchange_all(
    target: AttackTarget,
    questions: Sequence[Question],
    strategy: str = "sets",
    progress: Callable[[int], None] = lambda _done: None,
) -> list[Exchange]:
    """Each question in a conversation of its own, its turns one after the other; `target` has a scripted endpoint."""
    found = []
    for done, question in enumerate(questions, start=1):
        found.append(await _exchange(target, question, strategy))
        progress(done)
    return found


async def _exchange(target: AttackTarget, question: Question, strategy: str) -> Exchange:
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
    return Exchange(question, tuple(turns), tuple(answered), _truth(target, conversation))


def _truth(target: AttackTarget, conversation: str | None) -> dict[str, Mids]:
    if conversation is None:
        return {}
    graph = target.bench.graph(target.loaded).blind
    kept = target.bench.services.store.conversations
    table = kept.open(TENANT, VICTIM.key_id, target.loaded.graph, conversation, graph.schema).table
    own = {word: table.resolve(word, graph)[0] for word in table.issued}
    sent = (table.wire_pseudonyms(graph.schema, answer) for answer in table.answers)
    return own | {word: own[pseudonym] for words in sent for pseudonym, word in words.items() if pseudonym in own}
