"""The service that is measured starts as in its own tests."""

from tests.app.conftest import migrated_once, no_waiting, one_sentence_model

__all__ = ["migrated_once", "no_waiting", "one_sentence_model"]
