"""Garbage is looked for among what a file's tests make alone: among all that is loaded it takes seconds a time."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def young_garbage() -> Iterator[None]:
    gc.freeze()
    yield
    gc.unfreeze()
