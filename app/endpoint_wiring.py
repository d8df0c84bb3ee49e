"""The part of the wiring that builds model endpoints from settings."""

from __future__ import annotations

import stamina
from stamina.instrumentation import RetryDetails

from app.llm.completion import Price
from app.llm.endpoint import ModelEndpoint
from app.llm.wire import Wording
from app.settings import EndpointChoice, Settings
from app.telemetry import event_log

log = event_log("endpoint")


def endpoints_of(settings: Settings) -> list[ModelEndpoint]:
    """In the order in which they are asked; nothing is sent."""
    # The library's own hook prints lines that know nothing of our log.
    stamina.instrumentation.set_on_retry_hooks([_log_retry])
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


def _log_retry(details: RetryDetails) -> None:
    waits_ms = round(details.wait_for * 1000)
    log.info("retried", count=details.retry_num, error=type(details.caused_by).__name__, milliseconds=waits_ms)
