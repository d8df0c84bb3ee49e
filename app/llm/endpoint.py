"""An OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, llama.cpp's server. The home of the openai package."""

from __future__ import annotations

import openai
import stamina
from openai.types.chat import ChatCompletion

from app.llm.prompted import Completion
from app.llm.reasoner import ReasonerRefused, ReasonerUnavailable, ReplyUnusable

ATTEMPTS = 2  # one retry


class ModelEndpoint:
    """One model of one endpoint. `deadline_s` bounds a completion with its retry, in seconds."""

    def __init__(self, url: str, model: str, api_key: str = "", deadline_s: float = 60.0) -> None:
        self._model, self._deadline_s = model, deadline_s
        self._client = openai.AsyncOpenAI(
            base_url=url,
            # Local servers take any key, and the package refuses an empty one.
            api_key=api_key or "none",
            max_retries=0,
            timeout=deadline_s,
        )

    @property
    def model(self) -> str:
        return self._model

    async def complete(self, body: bytes) -> Completion:
        """Sends exactly `body`; one retry where the endpoint was busy or out of reach."""
        try:
            async for attempt in stamina.retry_context(
                on=_worth_a_retry, attempts=ATTEMPTS, timeout=self._deadline_s, wait_initial=0.2, wait_max=2.0
            ):
                with attempt:
                    return await self._post(body)
        except openai.OpenAIError as error:
            raise _typed(error) from None
        raise ReasonerUnavailable("the endpoint did not answer")  # pragma: no cover - the context returns or raises

    async def close(self) -> None:
        await self._client.close()

    async def _post(self, body: bytes) -> Completion:
        reply = await self._client.post(
            "/chat/completions",
            cast_to=ChatCompletion,
            content=body,
            options={"headers": {"Content-Type": "application/json"}},
        )
        if not getattr(reply, "choices", None):
            raise ReplyUnusable("the endpoint gave no choice")
        choice, usage = reply.choices[0], reply.usage
        return Completion(
            content=choice.message.content or "",
            finish_reason=choice.finish_reason or "",
            prompt_tokens=usage.prompt_tokens if usage else None,
            completion_tokens=usage.completion_tokens if usage else None,
        )


def _worth_a_retry(error: Exception) -> bool:
    if isinstance(error, openai.APIStatusError):
        return error.status_code in (408, 409, 429) or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)


def _typed(error: openai.OpenAIError) -> ReasonerUnavailable | ReasonerRefused:
    """A typed error that quotes nothing: a provider's body may hold the prompt."""
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        if status in (408, 409, 429) or status >= 500:
            return ReasonerUnavailable(f"the endpoint answered with status {status}")
        return ReasonerRefused(f"the endpoint refused the request with status {status}")
    if isinstance(error, openai.APITimeoutError):
        return ReasonerUnavailable("the endpoint did not answer within the deadline")
    return ReasonerUnavailable("the endpoint could not be reached, or its answer could not be read")
