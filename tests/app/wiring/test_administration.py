"""Commands that only manage graphs start without what answers questions."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

ANSWERS = ("app.reader", "app.strategies", "app.llm", "app.chat.concluding", "app.chat.service")
LOADED = "import sys, app.wiring.administration, app.wiring.store; print(*sys.modules)"


def test_managing_graphs_imports_nothing_that_answers_questions() -> None:
    loaded = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout.split()
    assert "app.wiring.administration" in loaded
    assert not [name for name in loaded if name.startswith(ANSWERS)]
