"""The meter: what it reads off tasks, and that its number is that of walking from everything, on real prompts."""

from __future__ import annotations

from typing import Any

import pytest

from app.egress.disclosure import Disclosure, DisclosureMeter, Profile, things_shown
from app.egress.guarded_reasoner import GuardedReasoner
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.tasks import Candidate, ChooseInput, Evidence, PathTriple, StepInput, Task, Thing
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.sets.prompts import STEP
from app.strategies.sets.strategy import SetsStrategy
from kg_store.graph.traversal import reached
from kg_store.terms import NodeKind, Step
from tests.support.asking import Asked, Bench
from tests.support.processes.model_server import ModelServer, follows_all, sent_to

PATIENTS = ("Zofia Quarrel", "Aurelio Vantongeren", "Bertil Oxenhame")
ADMITTED = "has admission|admitted to"


def a_step(**more: Any) -> StepInput:
    return StepInput(**({"question": "?", "things": [], "evidence": [], "candidates": []} | more))


def fact(start: str, path: list[str], end: str, size: Any = "") -> Evidence:
    return Evidence(start=start, path=path, end=end, end_concept="ward", size=size)


def test_evidence_that_goes_round_in_a_circle_ends() -> None:
    assert not things_shown(a_step(evidence=[fact("Sa", ["r"], "Sb"), fact("Sb", ["r"], "Sa")]))


def test_a_concept_path_is_read_from_each_pseudonym_that_it_sets_out_from() -> None:
    path = [("Eq", "a", "doctor"), ("doctor", "b", "ward"), ("Ep", "c", "city"), ("person", "d", "city")]
    shown = things_shown(a_step(path=[PathTriple(head=h, relation=r, tail=t) for h, r, t in path]))
    assert {word: thing.asked for word, thing in shown.items()} == {"Eq": {("a", "b")}, "Ep": {("c",)}}


@pytest.fixture
def conversation(bench: Bench, model: PromptedReasoner) -> Asked:
    return bench.asked(model)


def measured(asked: Asked, profile: Profile, **more: Any) -> int | None:
    return DisclosureMeter(asked.graph.blind, profile).fewest(a_step(**more))


def test_a_kind_counts_its_members_and_a_way_those_who_can_go_it(conversation: Asked) -> None:
    patient, doctor = Thing(name="Eq", concept="patient"), Thing(name="Ep", concept="doctor")
    assert measured(conversation, Profile.KIND) is None
    assert measured(conversation, Profile.KIND, things=[patient]) == 3
    assert measured(conversation, Profile.KIND, things=[patient, doctor]) == 2
    assert measured(conversation, Profile.KIND, things=[Thing(name="Eq", concept="patient, doctor")]) == 5
    for path, fits in ((["treated by"], 3), ([ADMITTED], 2), (["married to", ADMITTED], 1), (["works in"], 0)):
        assert measured(conversation, Profile.KIND, things=[patient], evidence=[fact("Eq", path, "S")]) == fits
    both = [fact("Eq", [ADMITTED], "Sa"), fact("Eq", ["married to"], "Sb")]
    assert measured(conversation, Profile.KIND, things=[patient], evidence=both) == 1


def test_strictly_the_path_that_is_asked_for_counts_like_one_that_was_followed(conversation: Asked) -> None:
    shown = {"things": [Thing(name="Eq", concept="patient")],
             "path": [PathTriple(head="Eq", relation=ADMITTED, tail="ward")]}  # fmt: skip
    assert measured(conversation, Profile.STRICT, **shown) == 2
    assert measured(conversation, Profile.KIND, **shown) == 3


def test_openly_the_whole_list_of_ways_counts_and_how_many_hang_on_them(conversation: Asked) -> None:
    things = [Thing(name="Eq", concept="patient", size="1")]
    labels = ["date of birth", "lives in", "treated by", "married to", "^married to"]
    ways = [Candidate(number=at, start="Eq", path=[label], concept="x") for at, label in enumerate(labels, 1)]
    assert measured(conversation, Profile.OPEN, things=things, candidates=ways) == 1
    assert measured(conversation, Profile.KIND, things=things, candidates=ways) == 3
    for size, fits in (("1", 2), ("2-5", 1), ("more", 0)):
        followed = [fact("Eq", ["treated by"], "S", size)]
        assert measured(conversation, Profile.OPEN, things=things, evidence=followed) == fits
        assert measured(conversation, Profile.KIND, things=things, evidence=followed) == 3


def test_of_a_choice_of_ways_without_concepts_everything_is_counted(conversation: Asked) -> None:
    way = Candidate(number=1, start="Eq", path=["works in"], concept="ward")
    given = ChooseInput(question="?", path=[], candidates=[way], width=3)
    graph = conversation.graph.blind
    everything = graph.members([each.id for each in graph.schema.signatures if each.kind is NodeKind.ENTITY])
    assert DisclosureMeter(graph, Profile.KIND).fewest(given) == len(everything) == 9


def test_nothing_is_asked_of_a_model_once_a_step_inside_has_read_more_than_a_prompt_holds(
    conversation: Asked, embedder: Embedder
) -> None:
    given, fuller = a_step(), a_step(typed="who is his wife?")
    few = a_step(things=[Thing(name="Eq", concept="patient")])
    rule = Disclosure(k=4, policy="generalise", in_house=EmbeddedReasoner(embedder))
    for read, goes_on in ((few.model_copy(update={"typed": fuller.typed}), False), (few, True)):
        question = rule.of_question(conversation.graph.blind, Profile.KIND)
        assert question.measured(Task(STEP, given, in_house=fuller)) is not None
        assert question.measured(Task(STEP, few, in_house=read)) is None
        assert (question.measured(Task(STEP, given, in_house=fuller)) is not None) == goes_on
        assert question.kept == (1 if goes_on else 2)


@pytest.mark.parametrize("name", PATIENTS)
async def test_of_every_prompt_it_gives_the_number_that_walking_gives(
    bench: Bench, server: ModelServer, model: PromptedReasoner, embedder: Embedder, name: str
) -> None:
    asked = bench.asked(model)
    server.replies = follows_all
    inquiry = asked.inquiry(model, f"Which ward is {name} in?", profile=Profile.KIND)
    assert isinstance(inquiry.reasoner, GuardedReasoner)
    metered = inquiry.reasoner.disclosure = Disclosure().of_question(asked.graph.blind, Profile.KIND)
    await SetsStrategy(embedder, max_shown=0).find(inquiry)
    (word,) = [word for word in asked.table.issued if word.startswith("E")]
    wanted = [naively(asked, word, StepInput.model_validate(given)) for given in sent_to(server, "step")]
    kept = [entry.anonymity for entry in asked.ledger.entries("t1", answer_id="a", limit=len(wanted))]
    assert kept[::-1] == wanted
    assert metered.fewest == min(wanted) < 3 == wanted[0]
    assert b"anonymity" not in server.everything


def naively(asked: Asked, word: str, given: StepInput) -> int:
    """Of the three patients, how many have an end to every path that the prompt shows as followed from `word`."""
    ends: dict[str, list[list[Step]]] = {word: [[]]}
    for _ in given.evidence:
        for each in given.evidence:
            for before in ends.get(each.start, []):
                ends[each.end] = [[*before, *(asked.step(label) for label in each.path)]]
    paths = [path for end, found in ends.items() if end != word for path in found]
    return sum(all(len(reached(asked.graph.blind, asked.mids(each), tuple(path))) for path in paths)
               for each in PATIENTS)  # fmt: skip
