"""The part of the wiring that builds model endpoints from settings."""

from __future__ import annotations

from app.llm.completion import Price
from app.llm.endpoint import ModelEndpoint
from app.llm.wire import Wording
from app.settings import EndpointChoice, Settings


def endpoints_of(settings: Settings) -> list[ModelEndpoint]:
    """In the order in which they are asked; nothing is sent."""
    return [_endpoint_of(choice, settings) for choice in settings.endpoints]


def _endpoint_of(choice: EndpointChoice, settings: Settings) -> ModelEndpoint:
    prompt, completion = choice.prompt_price, choice.completion_price
    return ModelEndpoint(
        choice.url,
        choice.model,
        choice.api_key.get_secret_value() if choice.api_key else "",
        settings.endpoint_deadline_s,
        wording=Wording(
            choice.model,
            max_tokens=settings.endpoint_max_tokens,
            seed=settings.endpoint_seed,
            is_salted=choice.kind == "vllm",
        ),
        price=None if prompt is None or completion is None else Price(prompt, completion),
        concurrency=settings.endpoint_concurrency,
    )
