"""Utterances that tell facts or not: what is kept of them, and whether it comes back with its day."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from evaluation.dialogue import told
from evaluation.dialogue.told import AskedBack, Outcome, Utterance, measures_of_told, run_told, utterance_sets
from evaluation.dialogue.told_time import ROUNDS, run_told_time

TABLES = {"people.csv": "name,town\nRose Quarrel,Arnsby\nBo Ashgrove,Umbra\nIda Falk,Arnsby\n"}
BACK = [{"question": "What did I tell you about Rose Quarrel?", "expect": ["mornings"]}]
UTTERANCES = [
    {
        "id": "a",
        "kind": "fact",
        "text": "Remember that Rose Quarrel prefers mornings",
        "states": True,
        "about": ["Rose Quarrel"],
        "asked_back": BACK,
    },
    {"id": "b", "kind": "small talk", "text": "thanks, that's lovely", "states": False},
]


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"tables": TABLES, "utterances": UTTERANCES}).encode()
    (tmp_path / "shut_club.json.gz").write_bytes(gzip.compress(text))
    (tmp_path / "seen_club.json").write_bytes(text)
    monkeypatch.setattr(told, "UTTERANCES", tmp_path)


@pytest.mark.model
@pytest.mark.usefixtures("sets")
async def test_what_is_told_is_kept_and_comes_back_in_the_same_and_a_new_conversation() -> None:
    kept, other = await run_told("shut", lambda *_: None)
    assert (kept.utterance.id, kept.is_kept, kept.here, kept.anew) == ("a", True, (True,), (True,))
    assert (other.utterance.id, other.is_kept, other.here) == ("b", False, ())


@pytest.mark.model
@pytest.mark.usefixtures("sets")
async def test_the_time_of_a_memory_is_measured_over_questions_that_it_is_asked_for() -> None:
    took = await run_told_time(lambda *_: None, facts=20)
    assert (took.name, took.questions) == (
        "processor time that 20 told facts add to a question, median, ms",
        ROUNDS * len(BACK),
    )


def test_what_is_missed_fails_its_bound() -> None:
    fact = Utterance(
        id="a", kind="like", text="I like jazz", states=True, asked_back=(AskedBack(question="?", expect=()),)
    )
    talk = Utterance(id="b", kind="small talk", text="It rains", states=False)
    fine = [Outcome(fact, True, (True,), (True,)), Outcome(talk, False)]
    assert all(line.passed for line in measures_of_told(fine))
    bad = [Outcome(fact, True, (True,), (False,)), Outcome(fact, False), Outcome(talk, True)]
    assert [line.name for line in measures_of_told(bad) if not line.passed] == [
        "told facts kept",
        "nothing kept of what states nothing",
        "kept ones asked back in a new conversation, with the day",
    ]


def test_the_sets_hold_a_hundred_and_twenty_utterances() -> None:
    counted = 0
    for half in ("seen", "shut"):
        with utterance_sets(half) as known:  # type: ignore[arg-type]
            counted += sum(len(each.utterances) for _, each in known)
            assert all(domain.files for domain, _ in known)
    assert counted == 120
