"""Bombs: some of every kind, in a service of its own, cost little; what costs much is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from evaluation.attacks import bombs
from evaluation.attacks.bomb_files import POLICIES, QUESTIONS, UPLOADS, Bomb
from evaluation.attacks.bombs import (
    BOMBS,
    MAX_MEMORY_BYTES,
    Caller,
    Effect,
    PeakMemory,
    Watch,
    attacked,
    effects_line,
)
from evaluation.fakes.service_process import ServiceProcess

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="/proc")]
CHOSEN = (
    "a sheet with one cell repeated 17 billion times", "a million nested brackets", "XML elements within elements",
    "a policy of 10,000 tables with slow patterns", "a question of one word of 7,900 letters",
)  # fmt: skip


def test_some_bombs_of_every_kind_take_little_memory_and_end_no_service() -> None:
    chosen = [bomb for bomb in BOMBS if bomb.name in CHOSEN]
    assert len(chosen) == len(CHOSEN)
    # How long others wait depends on the machine: `arog attack --only bombs` measures it.
    assert [line.name for line in attacked(chosen) if not line.passed and "wait" not in line.name] == []


def test_there_are_at_least_forty_and_each_has_a_name_of_its_own() -> None:
    assert len(BOMBS) == len({bomb.name for bomb in BOMBS}) == len(UPLOADS) + len(POLICIES) + len(QUESTIONS)
    assert len(BOMBS) >= 40


def test_the_watch_begins_when_the_bomb_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = list[str]()

    class Watched(Watch):
        def __enter__(self) -> Watch:
            steps.append("watched")
            return self

        def __exit__(self, *_raised: object) -> None:
            pass

    monkeypatch.setattr(bombs, "Watch", Watched)
    monkeypatch.setattr(
        Caller, "_send", lambda *_given, **_sent: httpx2.Response(200, json={"key": "k", "state": "done"})
    )
    (tmp_path / "work").mkdir()
    with subprocess.Popen(["sleep", "9"]) as process:
        bomber = bombs.Bomber(ServiceProcess(0, tmp_path, tmp_path, process), "key")
        assert bomber.throw(Bomb("one", lambda: steps.append("made") or b"id\n1\n", "a.csv")).is_answered
        process.kill()
    assert steps == ["made", "watched"]


def test_what_takes_more_is_told_by_name() -> None:
    effects = [Effect("small", 1, True), Effect("large", MAX_MEMORY_BYTES + 1, True)]
    line = effects_line("memory", effects, lambda each: each.memory_bytes > MAX_MEMORY_BYTES)
    assert not line.passed
    assert line.successes == 1
    assert line.note == "large: 1200 MB, 0.0 s, 0.0 s of a core"


def test_the_peak_memory_of_a_process_is_seen_though_it_is_given_back() -> None:
    import os

    memory = PeakMemory(os.getpid())
    with memory:
        bytearray(300 << 20)
    assert memory.bytes > 300 << 20
