"""A model says these things about a few tables: from the words of its reply to the answer that the asker reads."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from app.llm.endpoint.request_body import read_step
from app.llm.tasks import StepReply, TaskModel, TaskName
from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, Bench
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.model

TABLES = {
    "tools.csv": """tool_id,name,category,daily_fee
T1,Quillon belt sander,Sanding,5
T2,Brackley orbital sander,Sanding,3
T3,Vexler hammer drill,Drilling,8
T4,Osterby lawn roller,Garden,2
""",
    "members.csv": """member_id,name,town
M1,Ada Brunnerby,Marcleton
M2,Colm Whittaker,Wenburton
M3,Priya Nandhakumar,Marcleton
""",
    "loans.csv": """tool,member,taken,returned,use_minutes
T1,M1,2024-03-01,2024-03-04,30
T2,M1,2024-03-02,2024-03-22,45
T3,M2,2024-03-10,2024-03-11,90
T3,M3,2024-04-01,,120
T1,M3,2024-04-02,2024-04-07,20
""",
    "animals.csv": """animal_id,name,species
A1,Biscuitine,dog
A2,Mallowby,cat
A3,Picklewick,dog
A4,Tansyford,cat
A5,Rufusson,dog
""",
    "jabs.csv": """animal,jab,given_on
A1,Rabivaxin,2024-01-05
A1,Leptovanex,2024-01-09
A2,Rabivaxin,2024-02-01
A3,Myxoguardan,2024-03-01
A4,Rabivaxin,2024-03-02
A4,Myxoguardan,2024-03-03
A5,Leptovanex,2024-03-05
A5,Rabivaxin,2024-03-09
""",
}
NAMES = ("Brunnerby", "Whittaker", "Nandhakumar", "Quillon", "Vexler", "Biscuitine", "Rabivaxin", "Marcleton")


class SaidWords(ScriptedEndpoint):
    """An endpoint that replies with the given words; `S[loan]` in them is the stand-in for all loans."""

    words: Sequence[str] = ()
    shown: dict[str, list[str]]

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        return StepReply(action="not_in_graph") if task == "step" else super().reply_to(task, block)

    def written(self, task: TaskName, block: str, reply: TaskModel) -> str:
        if task != "step" or not self.words:
            return super().written(task, block, reply)
        given = read_step(block)
        self.shown = given.graph
        said, self.words = self.words[0], self.words[1:]
        for letter, kind in re.findall(r"([SEV])\[([^\]]*)\]", said):
            names = [thing.name for thing in given.things if (thing.name[0], thing.concept) == (letter, kind)]
            said = said.replace(f"{letter}[{kind}]", names[0])
        return json.dumps({"answer": said.split(", ")})


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text, "utf-8")
    async with Bench("scripted", scripted=SaidWords(), changes={"disclosure": "tell"}) as opened:
        opened.load("tables", [tmp_path / name for name in TABLES], None)
        yield opened


async def told(bench: Bench, question: str, *words: str) -> Answer:
    endpoint = bench._scripted
    assert isinstance(endpoint, SaidWords)
    endpoint.words = words
    dialogue = Dialogue("tables", KeyPair.generate(), "sets", {})
    reply = await bench.services.chat.answer(CALLER, dialogue.request(question, None, {}))
    assert endpoint.contract_breaks == []
    return dialogue.accept(question, reply)


SAID = [
    (
        "How many loans are there per category?",
        "group, S[loan], ^loan, then, category",
        "The numbers of loans per category are Sanding: 3 and Drilling: 2.",
    ),
    (
        "How many minutes were lent per town of the member?",
        "sums, S[loan], member, then, town, use",
        "Marcleton: 215 and Wenburton: 90.",
    ),
    (
        "What is the average length of a loan?",
        "average, S[loan], returned, minus, taken",
        "The average number of days from “taken” to “returned” of the loans is 7.25. "
        "1 of 5 has no “returned”; it is left out.",
    ),
    (
        "What was the longest loan?",
        "argmax, S[loan], returned, minus, taken",
        "The highest number of days from “taken” to “returned” is 20.",
    ),
    ("What was the longest loan?", "argmax, S[loan], returned, minus, taken", "tool: Brackley orbital sander;"),
    (
        "How many loans took longer than a week?",
        "count, filter, S[loan], returned, minus, taken, >, V[number]",
        "with a number of days from “taken” to “returned” above 7 is 1.",
    ),
    ("Are there more loans than members?", "outnumbers, S[loan], S[member]", "Loans: 5, members: 3."),
    (
        "How many loans came back on the day of taking, or later?",
        "count, matching, S[loan], returned, >=, taken",
        "is 4.",
    ),
    (
        "What does the use come to, each minute at the daily fee of its tool?",
        "sum, S[loan], use, times, ^loan, then, daily fee",
        "The total product of “use” and “daily fee” of the loans is 2065.",
    ),
    ("How many loans had use of over an hour?", "count, filter, S[loan], use, >, V[number]", "is 2."),
    ("Which members had six or more loans?", "counted, S[member], ^member, <, V[number]", "Ada Brunnerby"),
    ("Which animal had which jab?", "pairs, S[jab row], ^jab, jab", "Mallowby: Rabivaxin"),
    ("Which tool is in which category?", "pairs, S[tool], category", "Vexler hammer drill: Drilling"),
    ("How many jabs were given per species?", "group, S[jab row], ^jab, then, species", "dog: 5 and cat: 3"),
    ("Which species had the most jabs?", "limit, group, S[jab row], ^jab, then, species, 1", "It is dog: 5."),
    ("What was the last jab?", "argmax, S[jab row], given on", "animal: Rufusson."),
    ("How many jabs are there?", "count, S[jab]", "is 3."),
    ("How many loans are there, leaving tools aside?", "count, S[loan]", "The number of loans is 5."),
    ("Which loans are outstanding?", "difference, S[loan], having, S[loan], returned", "member: Priya Nandhakumar;"),
    ("Which loans did Ada Brunnerby make?", "reach, E[member], ^member", "tool: Brackley orbital sander;"),
]


async def test_each_of_these_can_be_said(bench: Bench) -> None:
    for question, words, answer in SAID:
        assert answer in (await told(bench, question, words)).text, (question, words)
    sent = b"".join(bench.sent).decode()
    assert [name for name in NAMES if name in sent] == []


async def test_a_label_of_two_relations_leads_to_the_one_kind_from_here_and_to_the_other_from_there(
    bench: Bench,
) -> None:
    await told(bench, "Which animal had which jab?", "none")
    endpoint = bench._scripted
    assert isinstance(endpoint, SaidWords)
    assert "jab: jab row" in endpoint.shown["animal"]
    assert {"jab: jab", "^jab: animal"} <= set(endpoint.shown["jab row"])
    assert endpoint.shown["jab"] == ["^jab: jab row"]


async def test_the_complaint_tells_a_model_nothing_of_the_names_that_it_tries(bench: Bench) -> None:
    """Names of the graph and words of nobody give the same second request, which the guard lets pass."""
    complaints = set()
    for tried in ("Brunnerby", "Ada", "Zorblax", "120", "2024-03-22"):
        answer = await told(bench, "How many loans are there?", f"count, filter, S[loan], {tried}", "count, S[loan]")
        assert "is 5." in answer.text
        second = json.loads(bench.sent[-1])["messages"][-1]["content"]
        assert "count (function) | filter (function) | S" in second
        assert tried not in second.partition("Your last reply")[2]
        complaints.add(re.sub(r"\bS[a-z0-9]{5}\b", "S", second.partition("Your last reply")[2]))
    assert len(complaints) == 1
