"""A server that plays the model endpoint."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.model_server import ModelServer, serving


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as running:
        yield running
