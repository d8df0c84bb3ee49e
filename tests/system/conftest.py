"""The model servers of the app's own tests."""

from __future__ import annotations

from tests.app.conftest import migrated_once, model, no_waiting, one_sentence_model, server

__all__ = ["migrated_once", "model", "no_waiting", "one_sentence_model", "server"]
