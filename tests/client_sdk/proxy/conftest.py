"""A proxy before the SDK's fake service, and OpenAI's own client of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from client_sdk import KeyPair
from client_sdk.proxy.sessions import Upstream
from tests.support.fake_service import API_KEY, FakeService
from tests.support.lazy_module import LazyModule
from tests.support.processes.proxy import proxy_thread

openai = LazyModule("openai")


@pytest.fixture
def base_url(service: FakeService) -> Iterator[str]:
    service.numbers_conversations = True
    with proxy_thread(Upstream(service.url, API_KEY, KeyPair.generate())) as url:
        yield url


@pytest.fixture
def client(base_url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=base_url, api_key="anything", max_retries=0) as client:
        yield client
