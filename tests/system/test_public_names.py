"""A model is shown what only public files tell by name, and no name of the private files with it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from app.llm.endpoint.request_body import read_step
from app.llm.tasks import PublicTerm, StepReply, TaskModel, TaskName
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, TENANT, Bench
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from tests.system.test_public_terms import DEMO, PEOPLE, SAID, write_public

pytestmark = pytest.mark.model

WARD = """id,patient,city,drug
p1,Ann Zorvik,Ashby,Warfazol
p2,Bo Quillmore,Norvik,Ibuvex
p3,Cy Tammberg,Ashby,Statinol
p4,Rose Harrowgate,Norvik,Warfazol
p5,Eli Brackwell,Tell,Ibuvex
p6,Fay Lindhurst,Ashby,Statinol
"""
DRUGS = """drug,side effect,storage
Warfazol,Dizziness,keep cool
Ibuvex,Zorvik rash,keep dry
Statinol,Rosé cheeks,keep cool
Xylon,Tammbergs,keep dry
Yentil,Nausea,keep dry
Oxtal,Übelkeit,keep cool
"""
PRIVATE = ("zorvik", "quillmore", "tammberg", "harrowgate", "rose", "norvik", "warfazol", "statinol")


class NamesAnEffect(ScriptedEndpoint):
    """Replies with those who take what has the public side effect `wanted`; keeps the terms that it was shown."""

    wanted = "Dizziness"
    shown: Sequence[PublicTerm] = ()

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        return StepReply(action="not_in_graph") if task == "step" else super().reply_to(task, block)

    def written(self, task: TaskName, block: str, reply: TaskModel) -> str:
        given = read_step(block) if task == "step" else None
        if given is None or not given.graph:
            return super().written(task, block, reply)
        self.shown = [*self.shown, *given.public_terms]
        if not self.wanted:
            return super().written(task, block, reply)
        (name,) = (term.name for term in given.public_terms if term.means == self.wanted)
        (drugs,) = (thing.name for thing in given.things if thing.name[0] == "S" and thing.concept == "drug")
        return json.dumps({"answer": ["reach", "filter", drugs, "side effect", "=", name, "^drug"]})


@pytest.fixture
def scripted() -> NamesAnEffect:
    return NamesAnEffect()


@pytest.fixture
async def bench(tmp_path: Path, scripted: NamesAnEffect) -> AsyncIterator[Bench]:
    (tmp_path / "ward.csv").write_text(WARD, "utf-8")
    (tmp_path / "drugs.csv").write_text(DRUGS, "utf-8")
    async with Bench("scripted", scripted=scripted, changes={"disclosure": "tell"}) as opened:
        files = [tmp_path / "ward.csv", tmp_path / "drugs.csv"]
        opened.services.graphs.load(TENANT, "ward", files, '[public]\nfiles = ["drugs.csv"]').run(lambda *_: None)
        yield opened


async def test_a_public_side_effect_is_named_and_no_private_name(bench: Bench, scripted: NamesAnEffect) -> None:
    dialogue, question = Dialogue("ward", KeyPair.generate(), "auto", {}), "Who is on something that makes you dizzy?"
    answer = dialogue.accept(question, await bench.services.chat.answer(CALLER, dialogue.request(question, None, {})))
    print(answer)
    assert sorted(answer.names) == ["Ann Zorvik", "Rose Harrowgate"]
    means = {term.means: term.kind for term in scripted.shown}
    assert means["Dizziness"] == means["Nausea"] == means["Übelkeit"] == "side effect"
    assert {"keep dry", "keep cool"} <= set(means)
    # Of a kind that private things have too nothing is listed: what is missing would tell which drugs the ward has.
    assert {"Xylon", "Yentil", "Oxtal"}.isdisjoint(means)
    sent = " ".join(request.body.decode() for request in scripted.received).casefold()
    assert not [name for name in PRIVATE if name in sent]


async def test_no_name_or_word_of_one_is_shown_of_500_terms_that_are_called_so(tmp_path: Path) -> None:
    """Every name of the demo graph, and every word of one, is a public term too."""
    scripted, policy = NamesAnEffect(), (DEMO / "clinic.policy.toml").read_text()
    scripted.wanted, words = "", {word.casefold() for name in PEOPLE for word in name.split()}
    async with Bench("scripted", scripted=scripted, changes={"disclosure": "tell"}) as opened:
        files = [DEMO / "clinic.ttl", write_public(tmp_path)]
        load = opened.services.graphs.load(TENANT, "clinic", files, f'{policy}\n[public]\nfiles = ["terms.ttl"]\n')
        load.run(lambda *_: None)
        for said in SAID:
            dialogue = Dialogue("clinic", KeyPair.generate(), "auto", {})
            await opened.services.chat.answer(CALLER, dialogue.request(said.format(PEOPLE[0]), None, {}))
    shown = {term.means.casefold() for term in scripted.shown}
    assert shown
    assert not [term for term in shown if not words.isdisjoint(term.split())]
    sent = " ".join(request.body.decode() for request in scripted.received).casefold()
    assert not [name for name in PEOPLE if name.casefold() in sent]
