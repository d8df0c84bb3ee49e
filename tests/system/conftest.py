"""The model servers of the app's own tests."""

from __future__ import annotations

from tests.app.conftest import model, no_waiting, server

__all__ = ["model", "no_waiting", "server"]
