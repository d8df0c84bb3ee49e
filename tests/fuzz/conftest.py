"""Says at the end how many examples were tried."""

from __future__ import annotations

import pytest

from tests.fuzz.examples import tried


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"{tried['examples']} fuzz examples")
