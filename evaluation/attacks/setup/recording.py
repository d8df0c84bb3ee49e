"""Records a victim's questions as an observer on the wire sees them, and beside them what only the victim can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.accounts.api_keys import EVERY_GRAPH, Caller
from client_sdk.answers.answer import open_names
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer, Names
from evaluation.bench.asker import ChatEndpoint
from evaluation.bench.bench import TENANT
from evaluation.datasets.questions import Question

# Of one tenant and with the same grants: as near to the victim as an attacker with a key of its own can be.
VICTIM = Caller(TENANT, "victim", "user", frozenset({EVERY_GRAPH}))
ATTACKER = Caller(TENANT, "attacker", "user", frozenset({EVERY_GRAPH}))


@dataclass(frozen=True, slots=True)
class Recorded:
    """One reply as it went over the wire. `table` is not on it: the victim's key opens it, to judge what was found."""

    reply: ChatAnswer
    table: Mapping[str, Names] = field(repr=False)

    @property
    def pseudonyms(self) -> list[str]:
        """Those whose names the reply carries, sealed; they can be read off the reply itself."""
        return sorted(self.table)

    def names_of(self, pseudonym: str) -> frozenset[str]:
        return frozenset(self.table[pseudonym].names)


async def record(chat: ChatEndpoint, graph: str, questions: Sequence[Question], key: KeyPair) -> list[Recorded]:
    """The replies to the single questions among `questions`, each in a conversation of its own."""
    found = []
    for question in questions:
        if len(question.texts) == 1:
            dialogue = Dialogue(graph, key, "sets", {})
            reply = await chat.answer(VICTIM, dialogue.request(question.texts[0], None, {}))
            found.append(Recorded(reply, open_names(reply, key)))
    return found


def each_pseudonym(recorded: Sequence[Recorded]) -> Iterator[tuple[Recorded, str]]:
    for one in recorded:
        for pseudonym in one.pseudonyms:
            yield one, pseudonym
