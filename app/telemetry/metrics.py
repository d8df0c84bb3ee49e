"""Counts and durations for Prometheus. Labels are fixed words: no tenant, graph, name or value."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from client_sdk.protocol import ChatAnswer

WORKERS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable by which `prometheus_client` keeps counts in files of a folder that workers share.

The library reads it when it is imported, so it must be set before.
"""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_ENTITIES = (1, 2, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000)


class Metrics:
    """The counters of one application, in its own registry, so that two applications can share a process.

    If the application runs in several workers, each tells the sums over all of them, those that died included.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = self._counter("requests", "Requests by route template.", "method", "route", "status")
        self._errors = self._counter("errors", "Error bodies sent.", "code")
        self._questions = self._counter("questions", "Questions answered.", "strategy", "outcome")
        self._calls = self._counter("reasoner_calls", "Calls of the reasoner.")
        self._retries = self._counter("reasoner_retries", "Calls of the reasoner that were made again.")
        self._odd_counts = self._counter("odd_token_counts", "Replies whose own count of tokens could not be right.")
        self._tokens = self._counter("tokens", "Tokens of the reasoner's calls.", "kind")
        self._stages = Histogram(
            "arog_stage_seconds",
            "Time per stage of a question.",
            ["stage"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._fitting = Histogram(
            "arog_anonymity",
            "Entities that fit what a question's prompts showed of a thing, the least.",
            buckets=_ENTITIES,
            registry=self._registry,
        )
        self._ready = Gauge(
            "arog_ready", "1 when questions can be asked.", registry=self._registry, multiprocess_mode="max"
        )

    def count_request(self, method: str, route: str, status: int) -> None:
        self._requests.labels(method, route, str(status)).inc()

    def count_error(self, code: str) -> None:
        self._errors.labels(code).inc()

    def count_answer(self, strategy: str, answer: ChatAnswer) -> None:
        self._questions.labels(strategy, _outcome_of(answer)).inc()
        self._calls.inc(answer.usage.calls)
        self._retries.inc(answer.usage.retries)
        self._odd_counts.inc(answer.usage.odd_counts)
        self._tokens.labels("prompt").inc(answer.usage.prompt_tokens)
        self._tokens.labels("completion").inc(answer.usage.completion_tokens)
        if answer.usage.anonymity is not None:
            self._fitting.observe(answer.usage.anonymity)
        for stage, milliseconds in answer.usage.milliseconds.items():
            self._stages.labels(stage).observe(milliseconds / 1000)

    def tell_ready(self, ready: bool) -> None:
        self._ready.set(int(ready))

    def exposition(self) -> bytes:
        """Returns all metrics in Prometheus' text format."""
        if WORKERS_FOLDER not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(f"arog_{name}", words, labels, registry=self._registry)


def _outcome_of(answer: ChatAnswer) -> str:
    if answer.usage.over_budget:
        return "over_budget"
    if answer.usage.withheld and not answer.answered:
        return "withheld"
    return "not_in_graph" if not answer.answered else "grounded" if answer.grounded else "ungrounded"
