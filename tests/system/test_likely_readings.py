"""A question in other words than the graph's is not answered by a guess: what it may mean is offered."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, Bench

pytestmark = pytest.mark.slow

TOOLS = """tool_id,tool,kept_at_branch,bought_on
T1,Chainsaw,Harbour Lane,2021-03-15
T2,Gazebo,Elm Shed,2020-06-01
T3,Jigsaw,Harbour Lane,2019-02-11
"""
REPAIRS = """repair_no,tool_id,fixed_by,repair_date
R01,T1,S2,2022-09-08
R02,T2,S3,2023-01-20
R03,T3,S2,2023-05-02
R04,T3,S3,2023-07-12
"""
STAFF = """staff_id,name,reports_to
S1,Marguerite Alder,
S2,Sunniva Dahl,S1
S3,Joanna Pike,S1
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    folder = tmp_path_factory.mktemp("tools")
    for name, text in (("tools", TOOLS), ("repairs", REPAIRS), ("staff", STAFF)):
        (folder / f"{name}.csv").write_text(text, "utf-8")
    return asyncio.run(asked(sorted(folder.iterdir())))


async def asked(files: list[Path]) -> dict[str, Answer]:
    """Asks each question in a new dialogue, and the first that is offered for it as the next turn."""
    found: dict[str, Answer] = {}
    async with Bench() as bench:
        bench.load("tools", files, None, masks=True)
        for question in (
            "When did we get the Chainsaw?",
            "Who is the boss of Joanna Pike?",
            "Who painted the Gazebo?",
        ):
            dialogue, text = Dialogue("tools", KeyPair.generate(), "auto", {"suggestions": 0}), question
            for turn in (question, f"{question} chosen"):
                answer = dialogue.accept(
                    text, await bench.services.chat.answer(CALLER, dialogue.request(text, None, {}))
                )
                found[turn] = answer
                if not answer.did_you_mean:
                    break
                text = answer.did_you_mean[0]
    return found


def test_what_is_offered_is_answered_when_it_is_asked(answers: dict[str, Answer]) -> None:
    assert not answers["When did we get the Chainsaw?"].answered
    assert answers["When did we get the Chainsaw? chosen"].names == ["2021-03-15"]


def test_codes_lead_to_their_own_table(answers: dict[str, Answer]) -> None:
    assert answers["Who is the boss of Joanna Pike?"].names == ["Marguerite Alder"]


def test_what_the_graph_does_not_hold_is_not_answered(answers: dict[str, Answer]) -> None:
    assert not answers["Who painted the Gazebo?"].answered
