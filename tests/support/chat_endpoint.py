"""ChatEndpoint: a real HTTP server whose "model" answers plain prompts by a function, and misbehaves as it is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from evaluation.fakes.faulty_endpoint import FaultyEndpoint
from evaluation.fakes.scripted_endpoint import Received


class ChatEndpoint(FaultyEndpoint):
    """`prompts` holds all that it was asked, but for the probe. `next` holds faults of what is asked after that."""

    def __init__(self, reply: Callable[[str], str], faults: Sequence[str] = (), counts_tokens: bool = True) -> None:
        super().__init__(share=0.0, counts_tokens=counts_tokens)
        self._reply, self._planned = reply, list(faults)
        self.prompts: list[str] = []
        self.bodies: list[dict[str, object]] = []

    def answer(self, received: Received) -> tuple[int, dict[str, object]]:
        body = json.loads(received.body)
        prompt = body["messages"][-1]["content"]
        if "response_format" in body or "colour of fresh snow" in prompt:
            return 200, self._completion('{"word": "quorvexil"}', received.body)
        with self._lock:
            self.prompts.append(prompt)
            self.bodies.append(body)
            self.next = self._planned[:1]
            del self._planned[:1]
        return 200, self._completion(self._reply(prompt), received.body)
