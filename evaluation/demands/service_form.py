"""Asks the service's form of demands for replies: strategy `demands`, a public graph beside the demo's private one."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.demo import GRAPH_FILE, POLICY_FILE
from app.llm.reasoner import ReasonerError
from app.privacy.safe_text import PrivacyError
from client_sdk.answers.answer import open_answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.protocol import ChatRequest, Message
from evaluation.bench.bench import CALLER, TENANT, TO_THE_MODEL, Bench, LoadedSet
from evaluation.dialogue.dialogue_sets import Triple

PUBLIC: Final = "common"
_POLICY: Final = '[public]\nfiles = ["common.tsv"]\n\n[[triples]]\nfile = "common.tsv"\ncolumns = [1, 2, 3]\n'


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """A reply of the service; `calls` are all requests to the model, also those that ask once more."""

    text: str = field(repr=False)
    calls: int
    tokens: int
    problem: str = ""


class ServiceForm:
    """The service with the demo's graph and a public one beside it, over one endpoint."""

    def __init__(self, bench: Bench, demo: LoadedSet) -> None:
        self._bench, self._demo, self._key = bench, demo, KeyPair.generate()
        self._first = bench.sent_so_far

    @property
    def names_sent(self) -> int:
        """Returns how many names of the demo's graph stand in the requests so far."""
        sent = self._bench.sent_from(self._first)
        return self._bench.scanner(self._demo).scan(sent).leaks.total()

    @property
    def names(self) -> int:
        return len(self._demo.secrets)

    async def reply(self, history: Sequence[str]) -> ServiceReply:
        """Replies to a dialogue; errors are told in the reply."""
        # The last turn is the user's, and two people take turns.
        turns = [
            Message(role="assistant" if (len(history) - at) % 2 == 0 else "user", content=turn)
            for at, turn in enumerate(history)
        ]
        before = self._bench.sent_so_far
        request = ChatRequest(
            graph=self._demo.graph, messages=turns, strategy="demands", public_key=self._key.public_text
        )
        try:
            sealed = await self._bench.services.chat.answer(CALLER, request)
        except (ReasonerError, PrivacyError) as problem:
            return ServiceReply("", self._bench.sent_so_far - before, 0, type(problem).__name__)
        answer = open_answer(sealed, self._key, history[-1])
        tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
        said = answer.text if answer.answered else ""
        return ServiceReply(said, self._bench.sent_so_far - before, tokens)


@asynccontextmanager
async def service_form(triples: Sequence[Triple], settings: Mapping[str, object]) -> AsyncIterator[ServiceForm]:
    """Opens the service with `triples` as the public graph; `settings` say which endpoint is asked."""
    with tempfile.TemporaryDirectory(prefix="arog-public-") as folder:
        file = Path(folder, "common.tsv")
        file.write_text("".join("\t".join(fact) + "\n" for fact in triples), "utf-8")
        async with Bench("endpoint", changes={**TO_THE_MODEL, **settings}) as bench:
            demo = bench.load("clinic", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
            bench.services.graphs.load(TENANT, PUBLIC, [file], _POLICY).run(lambda _step, _done: None)
            bench.services.graphs.put_beside(TENANT, demo.graph, PUBLIC)
            yield ServiceForm(bench, demo)
