"""A reply from a public graph beside a private one shows a model public terms by name, and no name of the private one.

Every name of the demo graph, and every word of one, is planted as a term of the public graph.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.llm.tasks import TaskModel, TaskName
from app.strategies.demands.strategy import DemandsStrategy
from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, TENANT, TO_THE_MODEL, Bench
from evaluation.demands.service_form import service_form
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from tests.system.test_public_terms import DEMO, LABELS, PEOPLE, TERMS

pytestmark = pytest.mark.model

FACTS = [
    *(f"RelatedTo\t{term}\ttennis" for term in TERMS),
    "IsA\ttennis\tgame", "UsedFor\tracket\ttennis", "HasProperty\ttennis\tfun", "UsedFor\ttennis\tget fit",
]  # fmt: skip
POLICY = (
    '[public]\nfiles = ["common.tsv"]\nsource = "Some net"\nlicence = "CC0"\n\n'
    '[[triples]]\nfile = "common.tsv"\ncolumns = [2, 1, 3]\n'
)
MEANS = re.compile(r'\\"means\\":\\"(.*?)\\"')
TURNS = [
    "I love tennis.",
    "It was fun to play tennis today!",
    "I played tennis with {}.",
    "{} is a game, as tennis is.",
]


@pytest.fixture(params=["scripted", "embedded"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    changes = TO_THE_MODEL if request.param == "scripted" else {}
    async with Bench(request.param, changes=changes) as opened:
        opened.load("clinic", [DEMO / "clinic.ttl"], (DEMO / "clinic.policy.toml").read_text())
        (tmp_path / "common.tsv").write_text("\n".join(FACTS) + "\n")
        load = opened.services.graphs.load(TENANT, "common", [tmp_path / "common.tsv"], POLICY)
        load.run(lambda _step, _done: None)
        opened.services.graphs.put_beside(TENANT, "clinic", "common")
        yield opened


async def replied(bench: Bench, said: str, strategy: str = "demands", looked_for: list[str] | None = None) -> Answer:
    dialogue = Dialogue("clinic", KeyPair.generate(), strategy, {"looked_for": looked_for} if looked_for else {})
    return dialogue.accept(said, await bench.services.chat.answer(CALLER, dialogue.request(said, None, {})))


async def test_no_name_leaves_though_it_is_a_term_of_the_public_graph(bench: Bench) -> None:
    assert len(TERMS) >= 500
    names = {label.casefold() for label in LABELS}
    shown = set[str]()
    for person in PEOPLE[::8]:
        for said in TURNS:
            before = bench.sent_so_far
            await replied(bench, said.format(person))
            sent = b"".join(bench.sent_from(before)).decode()
            assert not {word.casefold() for word in person.split()} & set(re.findall(r"\w+", sent.casefold())), person
            shown |= {each.casefold() for each in MEANS.findall(sent)}
    assert not shown & names
    assert shown >= {"tennis", "game"} or not bench.sent_so_far


MASKED = """@prefix : <http://school.invalid/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:takes rdfs:label "cello lessons" . :p1 a :Pupil ; rdfs:label "Zofia Quarrel" ; :takes :t1 .
:p2 a :Pupil ; rdfs:label "Bertil Oxenhame" ; :takes :t1 . :t1 a :Teacher ; rdfs:label "Ottoline Brackwater" .
"""


@pytest.mark.parametrize("said", ["I like cello lessons.", "I like the cello of Zofia Quarrel.", "My brabble is new."])
async def test_a_withheld_word_brings_no_public_fact_and_no_stand_in_of_a_turn_is_told(
    tmp_path: Path, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unusable(*_given: object) -> None:
        """Leaves the demands to the service, whose facts may be two steps from a word."""

    monkeypatch.setattr(DemandsStrategy, "_demanded", unusable)
    (tmp_path / "school.ttl").write_text(MASKED)
    (tmp_path / "common.tsv").write_text(
        "IsA\tcello\tinstrument\nIsA\tcello lesson\tinstrument\nIsA\tbrabble\tfun\n"
        "IsA\tviolin\tinstrument\nIsA\tmirth\tfun\n"
    )
    async with Bench("scripted", changes=TO_THE_MODEL) as bench:
        bench.load("clinic", [tmp_path / "school.ttl"], '[relations."http://school.invalid/takes"]\nmask = true\n')
        load = bench.services.graphs.load(TENANT, "common", [tmp_path / "common.tsv"], POLICY)
        load.run(lambda _step, _done: None)
        bench.services.graphs.put_beside(TENANT, "clinic", "common")
        await replied(bench, said)
        await replied(bench, said, looked_for=["brabble"])
        bodies = [body.decode() for body in bench.sent_from(0) if b'"messages"' in body]
    for body in bodies:
        assert "cello" not in body
        assert not {"violin", "mirth"} & set(re.findall(r"\w+", body)), "only a withheld word leads there"
        asked = re.findall(r'\\"question\\":\\"(.*?)\\"', body)
        told = re.findall(r'\\"name\\":\\"(\w+)\\",\\"means', body)
        assert not [name for name in told if any(name in each for each in asked)]


async def test_a_reply_states_public_facts_and_says_where_they_are_from(bench: Bench) -> None:
    before = bench.sent_so_far
    answer = await replied(bench, "I love tennis.", "auto")
    assert len([body for body in bench.sent_from(before) if body]) in (0, 2)
    assert answer.strategy == "demands"
    assert answer.grounded
    assert answer.path[-1].startswith("Looked for what is publicly known about ")
    assert "tennis" in answer.path[-1]
    assert answer.text.count("tennis") >= 1
    assert answer.evidence
    assert {fact.public for fact in answer.evidence} == {"common (Some net, CC0)"}
    assert str(answer.evidence[0]).endswith(", from common (Some net, CC0)")


async def test_an_asker_says_what_is_looked_for(bench: Bench) -> None:
    first = await replied(bench, "I love tennis.")
    assert "tennis" in first.looked_for
    other = await replied(bench, "I love tennis.", looked_for=["racket"])
    assert other.looked_for == ("racket",)
    assert {"racket"} <= {end for fact in other.evidence for end in (fact.head, fact.tail)}
    assert all("racket" in (fact.head, fact.tail) for fact in other.evidence)


async def test_facts_of_both_graphs_stand_in_one_reply(bench: Bench) -> None:
    person = PEOPLE[0]
    answer = await replied(bench, f"I like {person}, and I love tennis.")
    assert {bool(fact.public) for fact in answer.evidence} == {False, True}
    assert "publicly known" in answer.text.lower()
    assert person.split()[0] in answer.text
    assert "none" not in answer.text


async def test_without_a_public_graph_it_is_talk_about_the_asked_one(bench: Bench) -> None:
    bench.services.graphs.take_from_beside(TENANT, "clinic", "common")
    answer = await replied(bench, "I love tennis.")
    assert not answer.evidence


class Garbled(ScriptedEndpoint):
    """An endpoint whose demands are cut off."""

    def written(self, task: TaskName, block: str, reply: TaskModel) -> str:
        return '{"explicit": {"thought": "Te' if task == "demands" else super().written(task, block, reply)


async def test_demands_that_can_not_be_read_are_not_asked_for_again() -> None:
    with Garbled() as scripted:
        settings = {"endpoint_url": scripted.url, "endpoint_model": "m", "reasoner": "endpoint"}
        async with service_form([("tennis", "IsA", "game")], settings) as service:
            reply = await service.reply(["I love tennis."])
    assert (reply.problem, reply.calls) == ("", 2)
    assert "tennis is a game" in reply.text.casefold()


async def test_a_relation_that_may_not_leave_is_not_told_and_stops_no_reply() -> None:
    with ScriptedEndpoint() as scripted:
        settings = {"endpoint_url": scripted.url, "endpoint_model": "m", "reasoner": "endpoint"}
        facts = [("tennis", "HasSubevent", "sweat"), ("tennis", "IsA", "game")]
        async with service_form(facts, settings) as service:
            reply = await service.reply(["I love tennis."])
    assert (reply.problem, reply.calls) == ("", 2)
    assert "tennis is a game" in reply.text.casefold()
