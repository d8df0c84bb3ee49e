"""Builds model endpoints from the settings, probes them (asks what they can do), and reports their state."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence

import stamina
from stamina.instrumentation import RetryDetails

from app.llm.endpoint.capability_probe import Capabilities
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.request_body import Price, RequestTemplate
from app.settings import EndpointChoice, Settings
from app.strategies.sets.prompts import PUZZLES
from app.telemetry.logs import event_log
from client_sdk.protocol import EndpointState, EndpointStatus

LOOK_EVERY_S = 15.0
PATIENCE_S = 2.0
log = event_log("endpoint")


def endpoints_of(settings: Settings) -> list[ModelEndpoint]:
    """Returns the endpoints of the settings in the order in which they are asked; sends nothing."""
    # The library's own hook would print lines outside of our log.
    stamina.instrumentation.set_on_retry_hooks([_log_retry])
    last = len(settings.endpoints) - 1
    # If another endpoint can be asked instead, a retry waits at most PATIENCE_S; for the last one any wait is right.
    return [
        _endpoint_of(choice, settings, math.inf if at == last else PATIENCE_S)
        for at, choice in enumerate(settings.endpoints)
    ]


async def probe_once(choice: EndpointChoice, settings: Settings) -> EndpointStatus:
    """Probes one endpoint, closes it, and returns its status."""
    endpoint = _endpoint_of(choice, settings, math.inf)
    try:
        await endpoint.probe()
    finally:
        await endpoint.close()
    return status_of(1, endpoint)


def status_of(position: int, endpoint: ModelEndpoint, with_model: bool = False) -> EndpointStatus:
    """Returns the findings of the endpoint's last probe and its state now.

    `position`: its place among the endpoints, from 1. `with_model`: show the model's name.
    """
    found = endpoint.found
    state: EndpointState = "unprobed" if found is None else "unreachable" if found.problem else "ready"
    if state == "ready" and not endpoint.is_ready:
        state = "resting"
    return EndpointStatus(
        position=position,
        state=state,
        model=endpoint.wording.model if with_model else "",
        dialect=endpoint.wording.dialect.mode,
        enforces_schema=found is not None and found.enforces_schema,
        streams=found is not None and found.streams,
        reports_usage=found is not None and found.reports_usage,
        open_requests=endpoint.open_requests,
        problem="" if found is None else found.problem,
        puzzles=found.puzzles if found else None,
        form=endpoint.wording.dialect.form if found and found.puzzles is not None else "",
        seconds=round(found.seconds, 2) if found else 0.0,
        tokens=found.prompt_tokens + found.reply_tokens if found else 0,
        tokens_per_second=round(found.reply_tokens / found.seconds, 1) if found and found.seconds else 0.0,
        cost=_cost(endpoint, found) if found else None,
    )


def _cost(endpoint: ModelEndpoint, found: Capabilities) -> float | None:
    """Returns the cost of a question about as long as a probe's puzzle.

    None without a price, or if the endpoint reports no token counts.
    """
    if endpoint.price is None or not found.prompt_tokens:
        return None
    return endpoint.price.of(found.prompt_tokens, found.reply_tokens)


OnProbed = Callable[[EndpointStatus, str], None]
"""Called with the new status of an endpoint and its address, which may be shown only on the owner's own terminal."""


async def watch(endpoints: Sequence[ModelEndpoint], on_probed: OnProbed = lambda _status, _address: None) -> None:
    """Probes each endpoint at once, and again whenever its last findings are in doubt. Never returns.

    It looks every LOOK_EVERY_S seconds, and calls `on_probed` if the findings have changed.
    """
    while True:
        for position, endpoint in enumerate(endpoints, start=1):
            before = endpoint.found
            if endpoint.is_in_doubt:
                await probe_all([endpoint])
            if endpoint.found != before:
                on_probed(status_of(position, endpoint), endpoint.address)
        await asyncio.sleep(LOOK_EVERY_S)


async def probe_all(endpoints: Sequence[ModelEndpoint]) -> None:
    """Probes the endpoints one after the other, and logs those whose findings have changed."""
    for endpoint, before in [(endpoint, endpoint.found) for endpoint in endpoints]:
        found = await endpoint.probe()
        if found != before:
            state = "unreachable" if found.problem else "enforced" if found.enforces_schema else "not_enforced"
            log.info("probed", state=state, code=found.dialect.mode)


def _endpoint_of(choice: EndpointChoice, settings: Settings, patience_s: float) -> ModelEndpoint:
    prompt, completion = choice.prompt_price, choice.completion_price
    return ModelEndpoint(
        choice.url,
        choice.model,
        choice.api_key.get_secret_value() if choice.api_key else "",
        settings.endpoint_deadline_s,
        wording=RequestTemplate(
            choice.model,
            max_tokens=settings.endpoint_max_tokens,
            seed=settings.endpoint_seed,
            is_salted=choice.kind == "vllm",
        ),
        price=None if prompt is None or completion is None else Price(prompt, completion),
        concurrency=settings.endpoint_concurrency,
        patience_s=patience_s,
        puzzles=PUZZLES,
    )


def _log_retry(details: RetryDetails) -> None:
    waits_ms = round(details.wait_for * 1000)
    log.info("retried", count=details.retry_num, error=type(details.caused_by).__name__, milliseconds=waits_ms)
