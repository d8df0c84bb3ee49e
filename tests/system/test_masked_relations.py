"""Masked relations and kinds through the whole service: asked by their own words, which the asker alone is told."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.accounts.api_keys import EVERY_GRAPH, Caller
from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import TENANT, Bench
from evaluation.checks.canaries import GRAPH, MASKED_RELATION, POLICY, canaries_in
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from kg_store.graph.schema import masks_of
from kg_store.proposals.propose import propose_policy

pytestmark = pytest.mark.model

CALLER = Caller(TENANT, "asker", "user", frozenset({EVERY_GRAPH}))
BY_DESCRIPTION = "What illness does Vexquilda Thrombury have?"
BY_LABEL = "What is the Snorkelwick ague of Vexquilda Thrombury?"
_MASK = re.compile(rb"\bR[a-z0-9]{5}\b")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    file = tmp_path / "house.ttl"
    file.write_text(GRAPH, "utf-8")
    async with Bench("embedded") as opened:
        opened.load("house", [file], POLICY)
        yield opened


async def ask(bench: Bench, question: str, strategy: str = "sets") -> tuple[Answer, bytes]:
    """The answer as its asker reads it, and what was sent for it."""
    before, dialogue = len(bench.sent), Dialogue("house", KeyPair.generate(), strategy, {})
    reply = await bench.services.chat.answer(CALLER, dialogue.request(question, None, {}))
    return dialogue.accept(question, reply), b"\n".join(bench.sent[before:])


async def test_it_is_found_by_its_description_and_by_its_own_words(bench: Bench) -> None:
    for question in (BY_DESCRIPTION, BY_LABEL):
        answer, sent = await ask(bench, question)
        assert answer.names == ["Fenwhistle"], question
        assert canaries_in(sent) == []
    assert b'"masked_relations":[{"relation":"R' in sent


IN_OTHER_WORDS = ("Which snorkelwick agues does Vexquilda Thrombury have?", "what ague has vexquilda thrombury")


async def test_the_reader_in_the_house_reads_other_forms_of_its_own_words_and_sends_none(bench: Bench) -> None:
    for question in IN_OTHER_WORDS:
        answer, sent = await ask(bench, question)
        assert answer.names == ["Fenwhistle"], question
        assert canaries_in(sent) == [], question


COUPLE = """@prefix : <http://stage.invalid/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Actor ; rdfs:label "Petra Lindqvarn" ; :bornIn :t ; :joined "2015-03-27" ; :marriedTo :b .
:b a :Actor ; rdfs:label "Victor Saltmarch" ; :bornIn :t ; :joined "2015-08-05" .
:c a :Actor ; rdfs:label "Nell Abernathe" ; :bornIn :t ; :joined "2016-08-05" .
:t a :Town ; rdfs:label "Thornbie" .
"""


async def test_the_letters_of_a_mask_do_not_decide_how_a_question_is_read(tmp_path: Path) -> None:
    (tmp_path / "stage.ttl").write_text(COUPLE, "utf-8")
    policy = (
        propose_policy([tmp_path / "stage.ttl"]).to_toml()
        + '\n[relations."http://stage.invalid/marriedTo"]\nmask = true\n'
    )
    found = set()
    async with Bench("embedded") as opened:
        for number in range(8):  # Each graph has a key of its own, by which its masks are drawn.
            opened.load(f"stage{number}", [tmp_path / "stage.ttl"], policy)
            dialogue, question = (
                Dialogue(f"stage{number}", KeyPair.generate(), "auto", {}),
                "Who is Petra Lindqvarn married to?",
            )
            answer = dialogue.accept(
                question, await opened.services.chat.answer(CALLER, dialogue.request(question, None, {}))
            )
            found.add((answer.strategy, *answer.names))
    assert found == {("sets", "Victor Saltmarch")}


async def test_a_model_is_told_no_word_of_it_beside_a_reader_that_reads_them(tmp_path: Path) -> None:
    """Also where the service reads the question for itself, before the model or after it."""
    file = tmp_path / "house.ttl"
    file.write_text(GRAPH, "utf-8")
    for use in ("always", "unsure"):
        changes = {"endpoint_use": use}
        async with Bench("scripted", scripted=ScriptedEndpoint(), changes=changes) as opened:
            opened.load("house", [file], POLICY)
            for question in (*IN_OTHER_WORDS, BY_LABEL, BY_DESCRIPTION):
                _, sent = await ask(opened, question)
                assert canaries_in(sent) == [], (use, question)
            assert opened.sent, use


async def test_its_asker_reads_what_it_is_called(bench: Bench) -> None:
    answer, _ = await ask(bench, BY_DESCRIPTION)
    assert answer.why() == "Vexquilda Thrombury -> Snorkelwick ague (thing) -> Fenwhistle"
    assert answer.evidence[0].path == ("Snorkelwick ague",)
    assert canaries_in(answer.pseudonymous_text.encode(), MASKED_RELATION) == []


async def test_two_conversations_share_no_opaque_word_and_none_is_the_graphs(bench: Bench) -> None:
    words = [set(_MASK.findall((await ask(bench, BY_DESCRIPTION))[1])) for _ in range(3)]
    graph = bench.services.store.catalog.open(TENANT, "house")
    own = {word.encode() for word in masks_of(graph.blind.schema).values()}
    assert [len(each) for each in words] == [1, 1, 1]
    assert len(set.union(*words, own)) == 4


async def test_its_opaque_word_stays_through_a_conversation(bench: Bench) -> None:
    dialogue, before = Dialogue("house", KeyPair.generate(), "sets", {}), len(bench.sent)
    for question in (BY_DESCRIPTION, "What is the Snorkelwick ague of Quillowmere?"):
        reply = await bench.services.chat.answer(CALLER, dialogue.request(question, None, {}))
        assert dialogue.accept(question, reply).names == ["Fenwhistle"]
    assert len(set(_MASK.findall(b"\n".join(bench.sent[before:])))) == 1


ZORBLES = (
    "zorble_id,name,keeper,weight\nZ1,Tarn,Ann Lee,30\nZ2,Fell,Ann Lee,45\nZ3,Gill,Bob Marsh,60\nZ4,Brae,Cy Dunn,20\n"
)


async def test_the_asker_reads_a_masked_kind_in_its_own_word_and_nothing_else_holds_it(tmp_path: Path) -> None:
    """Also in the number and with the article that the sentence needs."""
    file = tmp_path / "zorbles.csv"
    file.write_text(ZORBLES, "utf-8")
    policy = propose_policy([file]).to_toml()
    told = {
        "Which zorble has the highest weight?": "Of all 4 zorbles the greatest",
        "How many zorbles are there?": "All 4 zorbles, counted.",
        "What kind of thing is Fell?": "Fell is a zorble.",
    }
    async with Bench("embedded") as bench:
        bench.services.graphs.load(TENANT, "house", [file], policy).run(lambda _step, _percent: None)
        for question, said in told.items():
            answer, sent = await ask(bench, question, "auto")
            assert said in f"{answer.text} {answer.explanation}", (question, answer.text)
            assert "masked" not in f"{answer.text} {answer.why()} {answer.entities} {answer.suggestions}"
            assert b"zorble" not in sent.lower(), question
            assert "zorble" not in answer.pseudonymous_text
    async with Bench("scripted", scripted=ScriptedEndpoint()) as asked:
        asked.load("house", [file], policy, masks=True)
        for question in told:
            await ask(asked, question)
        prompts = b"".join(asked.sent).lower()
        assert b"masked" in prompts
        assert b"zorble" not in prompts
