"""The arog strategy with a model over real HTTP: its four tasks, its limits, and what a model can't do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.strategies.arog import MAX_CANDIDATES, ArogStrategy
from app.strategies.base import Limits
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from tests.support.asking import Bench, bench_of, plan_along, secrets_in
from tests.support.processes.model_server import Canned, ModelServer, Request, reply, sent_to
from tests.support.stores import PREFIXES
from tests.support.talk import Talk

QUESTION = "Which wards was Zofia Quarrel admitted to?"
NOT_YET = {"thought": "", "sufficient": False, "answer": [], "text": ""}


@dataclass(slots=True)
class Model:
    """A model that chooses the relations of `wanted` (all where it is empty), and answers as `answers` says."""

    wanted: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    path: list[dict[str, str]] = field(default_factory=list)
    answers: Callable[[Request], dict[str, Any]] = lambda _request: NOT_YET

    def __call__(self, request: Request) -> Canned:
        given = request.input
        if request.task == "structure":
            return reply({"thought": "", "path": self.path, "guess": "Kestrel Wing"})
        if request.task == "choose_relations":
            fits = [each for each in given["candidates"] if not self.wanted or each["path"][0] in self.wanted]
            return reply({"choices": [each["number"] for each in fits]})
        if request.task == "name_concepts":
            named = [{"number": each["number"], "concepts": list(self.concepts)} for each in given["clusters"]]
            return reply({"concepts": named})
        return reply(self.answers(request))


def enough(*expressions: str) -> dict[str, Any]:
    return {"thought": "", "sufficient": True, "answer": list(expressions), "text": "It is {1}."}


@pytest.mark.parametrize(
    ("question", "path", "names"),
    [
        (QUESTION, ["has admission|admitted to"], {"Kestrel Wing", "Gyrfalcon Wing"}),
        ("In which ward does the doctor of Zofia Quarrel work?", ["treated by", "works in"], {"Kestrel Wing"}),
        ("Who else is treated by Zofia Quarrel's doctor?", ["treated by", "^treated by"],
         {"Zofia Quarrel", "Aurelio Vantongeren"}),
    ],
)  # fmt: skip
async def test_a_model_that_understands_the_question_gets_to_the_answer(
    bench: Bench, embedder: Embedder, question: str, path: list[str], names: set[str]
) -> None:
    with ScriptedEndpoint() as scripted:
        scripted.expect(plan_along(path), question)
        endpoint = ModelEndpoint(scripted.url, "scripted", deadline_s=20)
        model = PromptedReasoner(endpoint, embedder)
        asked = bench.asked(model)
        finding = await ArogStrategy(embedder).find(asked.inquiry(model, question))
        await endpoint.close()
        assert finding.draft is not None
        assert asked.names(finding.draft.expressions[0]) == names
        assert finding.rounds == len(path) == len(asked.rounds)
        assert scripted.contract_breaks == []
        assert secrets_in(b"\n".join(received.head + received.body for received in scripted.received)) == []


async def test_the_four_tasks_come_in_the_papers_order(talk: Talk) -> None:
    talk.server.replies = Model(wanted=("treated by", "works in"), answers=lambda request: NOT_YET)
    finding = await talk.find(ArogStrategy, limits=Limits(depth=2))
    once = ["choose_relations", "name_concepts", "answer"]
    assert [request.task for request in talk.server.received] == ["structure", *once, *once]
    assert [each["last_round"] for each in talk.sent("answer")] == [False, True]
    assert (finding.draft, finding.rounds, talk.asked.rounds) == (None, 2, [1, 2])
    temperatures = {request.task: request.json["temperature"] for request in talk.server.received}
    assert temperatures == {"structure": 0, "choose_relations": 0.4, "name_concepts": 0.4, "answer": 0}


@pytest.mark.parametrize("width", [1, 3])
async def test_no_more_than_the_width_is_chosen_or_kept(talk: Talk, width: int) -> None:
    talk.server.replies = Model(wanted=("treated by", "lives in", "date of birth", "married to", "^lives in"))
    finding = await talk.find(ArogStrategy, limits=Limits(width=width, depth=2))
    assert {each["width"] for each in talk.sent("choose_relations")} == {width}
    assert len(finding.evidence) <= 2 * width
    assert len(talk.sent("answer")[0]["evidence"]) == width


@pytest.mark.parametrize(("width", "kept"), [(1, 1), (3, 2)])
async def test_a_relation_is_followed_from_every_head_and_the_nearest_clusters_are_kept(
    talk: Talk, width: int, kept: int
) -> None:
    def first_only(request: Request) -> Canned:
        model = Model(wanted=("lives in",))
        if request.task != "choose_relations":
            return model(request)
        fits = [each["number"] for each in request.input["candidates"] if each["path"] == ["treated by"]]
        return reply({"choices": fits[:1]})

    talk.server.replies = first_only
    question = "Who are Zofia Quarrel and Bertil Oxenhame treated by?"
    finding = await talk.find(ArogStrategy, question, limits=Limits(width=width, depth=1))
    assert [len(each["clusters"]) for each in talk.sent("name_concepts")] == [2]
    assert len(finding.evidence) == kept
    assert any("not kept" in note for note in finding.notes) == (kept < 2)


async def test_a_cluster_shows_at_most_k_relations_and_no_thing(talk: Talk) -> None:
    talk.server.replies = Model()
    await talk.find(ArogStrategy, limits=Limits(relations_per_concept=2))
    clusters = [cluster for each in talk.sent("name_concepts") for cluster in each["clusters"]]
    assert clusters
    assert {tuple(cluster) for cluster in clusters} == {("number", "relations")}
    assert max(len(cluster["relations"]) for cluster in clusters) == 2


async def test_several_concepts_are_joined_and_words_of_no_schema_are_dropped(talk: Talk) -> None:
    talk.server.replies = Model(("treated by",), concepts=("doctor", "person called Brackwater", "Ottoline", "doctor"))
    await talk.find(ArogStrategy, limits=Limits(depth=1))
    (fact,) = talk.sent("answer")[0]["evidence"]
    assert fact["end_concept"] == "doctor, person"
    assert secrets_in(talk.server.everything) == []


async def test_the_concept_path_guides_and_invented_names_in_it_and_the_guess_are_dropped(talk: Talk) -> None:
    path = [{"head": "Zofia", "relation": "admitted to the Kestrel", "tail": "ward"}]
    talk.server.replies = Model(path=path)
    await talk.find(ArogStrategy, limits=Limits(depth=1))
    (chosen,) = talk.sent("choose_relations")
    assert chosen["path"] == [{"head": "thing", "relation": "admitted to", "tail": "ward"}]
    assert secrets_in(talk.server.everything) == []


async def test_no_fact_is_gathered_twice_though_its_concepts_change(talk: Talk) -> None:
    talk.server.replies = Model(("married to",), concepts=("person",))
    finding = await talk.find(ArogStrategy, "Who is Zofia Quarrel married to?")
    facts = [(fact.start, fact.path, fact.end) for fact in finding.evidence]
    assert len(facts) == len(set(facts)) == 2
    assert talk.sent("answer")[-1]["last_round"]


async def test_a_draft_needs_the_flag_and_an_expression(talk: Talk) -> None:
    for says in ({**enough("Ea1b2c"), "sufficient": False}, enough()):
        talk.server.replies = Model(answers=lambda _request, says=says: says)  # type: ignore[misc]
        assert (await talk.find(ArogStrategy, limits=Limits(depth=1))).draft is None
    talk.server.replies = Model(("treated by",), answers=lambda request: enough(request.input["evidence"][0]["end"]))
    finding = await talk.find(ArogStrategy, "Who treats Zofia Quarrel?")
    assert finding.draft is not None
    assert talk.asked.names(finding.draft.expressions[0]) == {"Ottoline Brackwater"}
    assert finding.rounds == 1


async def test_what_is_cut_by_rank_is_told(
    server: ModelServer, model: PromptedReasoner, embedder: Embedder, tmp_path: Path
) -> None:
    many = MAX_CANDIDATES + 5
    facts = "".join(f':f1 :hasPart{n}Of :m{n} . :m{n} rdfs:label "Mollusk{n} Vane" .\n' for n in range(many))
    text = PREFIXES + facts + ':f1 rdfs:label "Gribblewerk" ; :treatedBy :m1 .'
    asked = bench_of(tmp_path, embedder, text).asked(model)
    server.replies = Model()
    finding = await ArogStrategy(embedder).find(
        asked.inquiry(model, "Who is Gribblewerk treated by?", limits=Limits(depth=1))
    )
    (chosen,) = sent_to(server, "choose_relations")
    assert len(chosen["candidates"]) == MAX_CANDIDATES
    assert ["treated by"] in [each["path"] for each in chosen["candidates"]]
    assert any(note.startswith("6 possible paths") for note in finding.notes)
