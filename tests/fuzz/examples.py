"""The number of examples that a fuzz test draws: few as one test among others, more where time is given to it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

MANY = "AROG_FUZZ_EXAMPLES"
"""Environment: examples of each test instead of its own number."""

tried = {"examples": 0}
"""Examples of all tests that this process has run."""


def drawing(examples: int) -> Callable[[Any], Any]:
    """For a test under `@given`: `examples` of it, unless the environment says otherwise, and no limit of time."""

    def prepared(test: Any) -> Any:
        inner = test.hypothesis.inner_test

        @functools.wraps(inner)
        def counted(*args: object, **drawn: object) -> object:
            tried["examples"] += 1
            return inner(*args, **drawn)

        test.hypothesis.inner_test = counted
        return settings(
            max_examples=int(os.environ.get(MANY, examples)),
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        )(test)

    return prepared
