"""Model endpoints that write replies and judge them: prompts, what they cost, and what is read of their replies.

The prompts have the content of LLM-KAT's (appendices A.1 and A.4) in our words.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.llm.endpoint.model_endpoint import CircuitBreaker, ModelEndpoint
from app.llm.endpoint.request_body import Dialect, Price, checked_tokens, limit_fields, stream_fields
from app.llm.reasoner import ReasonerError
from evaluation.checks.leak_scan import LeakScanner
from evaluation.dialogue.dialogue_sets import DialogueTurn
from evaluation.dialogue.scores import Judged, SpanQuestion

# Sheikhi et al., tables 12 and 13; top-k = 10 has no field in this protocol.
TEMPERATURE: Final = 0.6
TOP_P: Final = 0.95
SEED: Final = 42
MAX_TOKENS: Final = 4_096
DEADLINE_S: Final = 300.0
CONCURRENCY: Final = 8
QUESTIONS_A_CALL: Final = 20
IMPOSSIBLE: Final = "IS_IMPOSSIBLE"
_PART, _OR, _PARTS = "|||", "@@", 4
_THOUGHT_ENDS: Final = "</think>"
_PRICE = re.compile(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")
_URL = re.compile(r"https?://[^/\s]+\S*")

ASKED: Final = "What do you know about {}?"
_TASK: Final = (
    "You are skilled at conversation. Write the next reply of the assistant in this conversation. It is exact,"
    " rests on the facts that are given as triplets, and has two or three sentences at most. Keep to the facts."
)
_JUDGING: Final = (
    "Extract answers as in SQuAD 2.0. Each line below holds a text and a triplet (subject, predicate, object) in"
    " which X stands for a missing subject or object. Find the spans of the text that X stands for. A span is copied"
    f" from the text letter by letter. Where several fit, put {_OR} between them. Where the text does not tell, write"
    f" {IMPOSSIBLE}.\n\n"
    f"A line of the input: ID{_PART}text{_PART}triplet\n"
    f"A line of your reply: ID{_PART}text{_PART}triplet{_PART}answer_1{_OR}answer_2, or {IMPOSSIBLE} in place of the"
    " answers.\n"
)
_LABELS: Final = ("Conversation:", "Triplets:", "Reply:", "USER:", "ASSISTANT:")
FRAMES: Final = (_TASK, *_LABELS, _JUDGING, ASKED.replace("{}?", ""))
"""Our own words around what a prompt tells."""

Tell = Callable[[int, int], None]
Writer = Callable[[Sequence[DialogueTurn]], list[str]]
"""Writes one reply to each turn, from all of its knowledge; an empty one where none came about."""


class EndpointError(Exception):
    """The options do not name endpoints as they should, or one can't be asked at all; the text quotes nothing."""


@dataclass(slots=True)
class ChatUsage:
    """`estimated`: calls whose tokens the endpoint did not count, or counted as no model can."""

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    price: Price | None = None

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost(self) -> float | None:
        """In the currency of the price; None without one."""
        return None if self.price is None else self.price.of(self.prompt_tokens, self.completion_tokens)

    @property
    def cost_of_thousand(self) -> float | None:
        """Money for a thousand calls; None without a price, or without a call."""
        cost = self.cost
        return None if cost is None or not self.calls else 1_000 * cost / self.calls


@dataclass(slots=True)
class ChatClient:
    """`url` is the endpoint's base URL. A reply that was cut off is a failed call: its last line can't be told.

    Promise: with a `scanner` a prompt that holds a name or a protected value of its graph is not sent; it counts as
    `withheld`. Limit: as the scanner's, which reads all but our own words around the prompt.
    """

    url: str
    model: str
    api_key: str = field(default="", repr=False)
    price: Price | None = None
    deadline_s: float = DEADLINE_S
    scanner: LeakScanner | None = field(default=None, repr=False)
    withheld: int = 0
    usage: ChatUsage = field(init=False)
    _dialect: Dialect | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.usage = ChatUsage(price=self.price)

    def complete(self, prompts: Sequence[str], tell: Tell = lambda _done, _total: None) -> list[str | None]:
        """One reply for each prompt; None where the call failed. Raises EndpointError where the endpoint does
        not answer a first short request."""
        clear = [self._is_clear(prompt) for prompt in prompts]
        self.withheld += clear.count(False)
        sent = [prompt for prompt, is_clear in zip(prompts, clear, strict=True) if is_clear]
        replies = iter(asyncio.run(self._all(sent, tell)) if sent else ())
        return [next(replies) if is_clear else None for is_clear in clear]

    def _is_clear(self, prompt: str) -> bool:
        for frame in FRAMES:
            prompt = prompt.replace(frame, "\n")
        return self.scanner is None or not self.scanner.scan([prompt.encode()]).leaks

    async def _all(self, prompts: Sequence[str], tell: Tell) -> list[str | None]:
        endpoint = ModelEndpoint(self.url, self.model, self.api_key, self.deadline_s, concurrency=CONCURRENCY)
        # One call that fails must not fail those behind it: each has its own figure.
        endpoint.breaker = CircuitBreaker(threshold=sys.maxsize)
        done = 0

        async def one(prompt: str) -> str | None:
            nonlocal done
            reply = await self._one(endpoint, prompt)
            done += 1
            tell(done, len(prompts))
            return reply

        try:
            if self._dialect is None:
                found = await endpoint.probe()
                if found.problem:
                    raise EndpointError(f"the endpoint can't be used: {found.problem}")
                self._dialect = found.dialect
            return list(await asyncio.gather(*map(one, prompts)))
        finally:
            await endpoint.close()

    async def _one(self, endpoint: ModelEndpoint, prompt: str) -> str | None:
        self.usage.calls += 1
        text = ""
        try:
            completion = await endpoint.complete(self._body(prompt))
            # Four bytes a token: the usual rule of thumb, where an endpoint counts nothing.
            asked, told = (len(each.encode()) // 4 + 1 for each in (prompt, completion.content))
            tokens = checked_tokens(completion, asked, told, MAX_TOKENS)
            self.usage.prompt_tokens += tokens.prompt
            self.usage.completion_tokens += tokens.completion
            self.usage.estimated += not tokens.by_endpoint
            text = completion.content.rpartition(_THOUGHT_ENDS)[2].strip()
            text = "" if completion.finish_reason == "length" else text
        except ReasonerError:
            pass
        self.usage.failed += not text
        return text or None

    def _body(self, prompt: str) -> bytes:
        dialect = self._dialect or Dialect()
        body = {
            "model": self.model,
            **limit_fields(dialect, TEMPERATURE, SEED, MAX_TOKENS),
            **({"top_p": TOP_P} if dialect.is_plain else {}),
            **stream_fields(dialect),
            "messages": [{"role": "user", "content": prompt}],
        }
        return json.dumps(body, separators=(",", ":")).encode()


def vendors(
    urls: Sequence[str], models: Sequence[str], prices: Sequence[str] = (), key_variables: Sequence[str] = ()
) -> list[ChatClient]:
    """One client for each URL. Of models one, or one each; of prices and variables none, one, or one each.

    Raises EndpointError.
    """
    if not all(_URL.fullmatch(url) for url in urls):
        raise EndpointError("--endpoint takes a base URL such as http://host/v1")
    if urls and not models:
        raise EndpointError("--endpoint needs --model, once or once for each endpoint")
    given = {"--model": models, "--price": prices, "--key-variable": key_variables}
    for option, each in given.items():
        if len(each) not in (0, 1, len(urls)):
            raise EndpointError(f"{option} is given once, or once for each endpoint")
    columns = (each if len(each) > 1 else [*each, ""][:1] * len(urls) for each in given.values())
    clients = []
    for url, model, price, variable in zip(urls, *columns, strict=True):
        # A key is named by its variable: a command line can be read by others.
        if variable and variable not in os.environ:
            raise EndpointError("--key-variable names an environment variable that is not set")
        if (found := _PRICE.fullmatch(price)) is None and price:
            raise EndpointError("--price is money for a million tokens, as prompt/completion: 0.15/0.60")
        paid = Price(float(found[1]), float(found[2])) if found else None
        clients.append(ChatClient(url, model, os.environ.get(variable, ""), paid))
    return clients


def endpoint_writer(chat: ChatClient, tell: Tell = lambda _done, _total: None) -> Writer:
    """Asks for one reply a call, as LLM-KAT does. For public data, or for pseudonyms alone."""
    return lambda turns: [reply or "" for reply in chat.complete([reply_prompt(turn) for turn in turns], tell)]


def reply_prompt(turn: DialogueTurn) -> str:
    """One triple a line; a thing is shown with its concept where the set tells one."""

    def shown(name: str) -> str:
        return f"{name} ({turn.concepts[name]})" if name in turn.concepts else name

    said = "\n".join(f"{speaker.upper()}: {text}" for speaker, text in turn.history)
    triples = "\n".join(f"({shown(head)}, {relation}, {shown(tail)})" for head, relation, tail in turn.knowledge)
    return f"{_TASK}\n\nConversation:\n{said}\n\nTriplets:\n{triples}\n\nReply:"


def judged_by(
    chat: ChatClient, batch: Sequence[SpanQuestion], tell: Tell = lambda _done, _total: None
) -> list[Judged]:
    """A line that does not keep to the format is a failed one, and only spans of the text are taken from a reply."""
    calls = [
        dict(enumerate(batch[at : at + QUESTIONS_A_CALL], start=at)) for at in range(0, len(batch), QUESTIONS_A_CALL)
    ]
    replies = chat.complete([judge_prompt(questions) for questions in calls], tell)
    found: dict[int, Judged] = {}
    for questions, reply in zip(calls, replies, strict=True):
        found |= parsed(reply or "", questions)
    return [found.get(number) for number in range(len(batch))]


def judge_prompt(questions: Mapping[int, SpanQuestion]) -> str:
    lines = "\n".join(
        _PART.join((str(number), _one_line(question.context), _one_line(question.triplet)))
        for number, question in questions.items()
    )
    return f"{_JUDGING}There are {len(questions)} lines, so reply with {len(questions)} lines.\n\nInput:\n{lines}"


def parsed(reply: str, questions: Mapping[int, SpanQuestion]) -> dict[int, Judged]:
    """The answers of the lines that are right in form; a number that comes twice is none."""
    found: dict[int, Judged] = {}
    counts: Counter[int] = Counter()
    for line in reply.splitlines():
        number, *parts = (part.strip() for part in line.split(_PART))
        if len(parts) != _PARTS - 1 or not (number.isascii() and number.isdigit() and int(number) in questions):
            continue
        question, answers = questions[int(number)], filter(None, map(_one_line, parts[2].split(_OR)))
        counts[int(number)] += 1
        if _one_line(parts[1]) == _one_line(question.triplet):
            found[int(number)] = _spans(list(answers), _one_line(question.context).lower())
    return {number: judged for number, judged in found.items() if counts[number] == 1 and judged is not None}


def _spans(answers: Sequence[str], context: str) -> Judged:
    """None where nothing was extracted: it was not found in the text, so it came from somewhere else."""
    spans = tuple(dict.fromkeys(answer for answer in answers if answer.lower() in context))
    return () if IMPOSSIBLE in answers else spans or None


def _one_line(text: str) -> str:
    """Without what the format parts lines and fields with."""
    return " ".join(text.replace(_PART, " ").split())
