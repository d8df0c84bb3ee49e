"""An OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, llama.cpp's server. The home of the openai package."""

from __future__ import annotations

import asyncio

import openai
import stamina
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.llm.prompted import Completion
from app.llm.reasoner import ReasonerRefused, ReasonerUnavailable, ReplyUnusable

ATTEMPTS = 2  # one retry
_FOR_NOW = (408, 409, 429)
_NO_MONEY = "insufficient_quota"  # a 429 that waiting does not mend


class _Part(BaseModel):
    """What we read of an answer; vendors add fields of their own."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class _Message(_Part):
    content: str | None = None


class _Choice(_Part):
    message: _Message
    finish_reason: str | None = None


class _Usage(_Part):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _ChatReply(_Part):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class ModelEndpoint:
    """One model of one endpoint. `deadline_s` bounds a completion with its retry, in seconds."""

    def __init__(self, url: str, model: str, api_key: str = "", deadline_s: float = 60.0) -> None:
        self._model, self._deadline_s = model, deadline_s
        self._client = openai.AsyncOpenAI(
            base_url=url,
            # Local servers take any key, and the package refuses an empty one.
            api_key=api_key or "none",
            max_retries=0,
            # Its timeouts count from byte to byte: an answer that trickles would never end. `complete` has its own.
            timeout=None,
        )

    @property
    def model(self) -> str:
        return self._model

    async def complete(self, body: bytes) -> Completion:
        """Sends exactly `body`; one retry where the endpoint was busy or out of reach."""
        try:
            async with asyncio.timeout(self._deadline_s):
                # Errors are ours before they are retried, for each retry is logged with its cause.
                async for attempt in stamina.retry_context(
                    on=ReasonerUnavailable, attempts=ATTEMPTS, timeout=None, wait_initial=0.2, wait_max=2.0
                ):
                    with attempt:
                        return await self._post(body)
        except TimeoutError:
            raise ReasonerUnavailable("the endpoint did not answer within the deadline") from None
        raise ReasonerUnavailable("the endpoint did not answer")  # pragma: no cover - the context returns or raises

    async def close(self) -> None:
        await self._client.close()

    async def _post(self, body: bytes) -> Completion:
        try:
            raw = await self._client.post(
                "/chat/completions",
                cast_to=bytes,
                content=body,
                # What was cleared goes to this endpoint, and nowhere that it points to.
                options={"headers": {"Content-Type": "application/json"}, "follow_redirects": False},
            )
        except openai.OpenAIError as error:
            raise _typed(error) from None
        return _completion_of(raw)


def _completion_of(raw: bytes) -> Completion:
    try:
        reply = _ChatReply.model_validate_json(raw)
    except ValidationError:
        raise ReplyUnusable("the endpoint's answer is no chat completion, or gives no choice") from None
    choice, usage = reply.choices[0], reply.usage or _Usage()
    return Completion(
        content=choice.message.content or "",
        finish_reason=choice.finish_reason or "",
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
    )


def _typed(error: openai.OpenAIError) -> ReasonerUnavailable | ReasonerRefused:
    """A typed error that quotes nothing: a provider's body may hold the prompt."""
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        if (status in _FOR_NOW and error.code != _NO_MONEY) or status >= 500:
            return ReasonerUnavailable(f"the endpoint answered with status {status}")
        return ReasonerRefused(f"the endpoint refused the request with status {status}")
    return ReasonerUnavailable("the endpoint could not be reached, or its answer could not be read")
