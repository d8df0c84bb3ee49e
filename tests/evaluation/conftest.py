"""The service that is measured starts as in its own tests, and suggests nothing to go on with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.conftest import migrated_once, no_waiting, one_sentence_model

__all__ = ["migrated_once", "no_suggestions", "no_waiting", "one_sentence_model"]


@pytest.fixture(scope="module", autouse=True)
def no_suggestions() -> Iterator[None]:
    """A bench takes this of the environment. No measure looks at suggestions, which are half of a question's work."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("AROG_SUGGESTIONS", "0")
        yield
