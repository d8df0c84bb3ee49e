"""Many chats at once against an endpoint that takes its time: how near one worker comes to waiting for it alone."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, TO_THE_MODEL, Bench, LoadedSet
from evaluation.datasets.questions import Question
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint

CHATS: Final = 200
LATENCY_S: Final = 2.0
MAX_TIMES_IDEAL: Final = 1.5  # times the ideal


@dataclass(frozen=True, slots=True)
class LoadReport:
    """`ideal_s` is what the calls of one chat wait for the endpoint; all chats begin together."""

    chats: int
    answered: int
    calls: int
    seconds: float
    ideal_s: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.ideal_s

    @property
    def passed(self) -> bool:
        return self.answered == self.chats and self.ratio < MAX_TIMES_IDEAL


async def run_load(
    graph: Sequence[Path], policy: str | None, question: Question, chats: int = CHATS, latency_s: float = LATENCY_S
) -> LoadReport:
    """Asks one question (with its plan) `chats` times at once, each in a conversation of its own, in one event loop.

    The endpoint is a process of its own, as models are: it takes no time of the worker that is measured.
    """
    with _endpoint_apart(question, latency_s) as url:
        return await _measure(url, graph, policy, question, chats, latency_s)


async def _measure(
    url: str, graph: Sequence[Path], policy: str | None, question: Question, chats: int, latency_s: float
) -> LoadReport:
    changes = {"endpoint_url": url, "endpoint_model": "scripted", "endpoint_api_key": None, "endpoint_fallbacks": ()}
    async with Bench("endpoint", changes={**changes, **TO_THE_MODEL}) as bench:
        loaded = bench.load("asked", graph, policy)
        # The first question opens the graph and embeds its words, as in a service that runs already.
        await _chat(bench, loaded, question)
        began = time.perf_counter()
        found = await asyncio.gather(*(_chat(bench, loaded, question) for _ in range(chats)))
        seconds = time.perf_counter() - began
    calls = max(calls for _, calls in found)
    return LoadReport(chats, sum(answered for answered, _ in found), calls, seconds, calls * latency_s)


@contextmanager
def _endpoint_apart(question: Question, latency_s: float) -> Iterator[str]:
    """Gives the base URL of a scripted endpoint that runs in a process of its own."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, question, latency_s), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        here.send(None)
        process.join()


def _serve(pipe: Connection, question: Question, latency_s: float) -> None:
    with ScriptedEndpoint(counts_tokens=True, remembers=False, latency_s=latency_s) as endpoint:
        endpoint.expect(question.plans[-1], question.texts[-1])
        pipe.send(endpoint.url)
        pipe.recv()


async def _chat(bench: Bench, loaded: LoadedSet, question: Question) -> tuple[bool, int]:
    """Asks one question; gives true where it was answered, and the number of calls."""
    dialogue = Dialogue(loaded.graph, KeyPair.generate(), "sets", {"suggestions": 0})
    answer = await bench.services.chat.answer(CALLER, dialogue.request(question.texts[-1], None, {}))
    return answer.answered, answer.usage.calls
