"""The sets strategy with a model over real HTTP: what is followed, how far, and what a model can't do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.egress.disclosure import Profile, ask_in_house
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.reasoner import Reply, ReplyUnusableError
from app.llm.tasks import ReplyT, Task
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.base import Limits
from app.strategies.sets.candidates import MAX_OFFERED
from app.strategies.sets.strategy import SetsStrategy
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from tests.support.asking import Bench, bench_of, plan_along, secrets_in
from tests.support.processes.model_server import (
    Canned,
    Replies,
    Request,
    in_turn,
    reply,
)
from tests.support.stores import PREFIXES
from tests.support.talk import Talk

QUESTION = "Which wards was Zofia Quarrel admitted to?"


def step(action: str, **more: Any) -> Canned:
    return reply({"thought": "", "path": [], "choices": [], "answer": [], "text": "", "action": action, **more})


def follow(*choices: int, **more: Any) -> Canned:
    return step("follow", choices=list(choices), **more)


def number_of(request: Request, *path: str) -> int:
    found = [each["number"] for each in request.input["candidates"] if each["path"] == list(path)]
    assert len(found) == 1
    number: int = found[0]
    return number


@pytest.mark.parametrize(
    ("question", "path", "names"),
    [
        (QUESTION, ["has admission|admitted to"], {"Kestrel Wing", "Gyrfalcon Wing"}),
        ("In which ward does the doctor of Zofia Quarrel work?", ["treated by", "works in"], {"Kestrel Wing"}),
        ("Who lives where Bertil Oxenhame lives?", ["lives in", "^lives in"],
         {"Ottoline Brackwater", "Bertil Oxenhame"}),
        ("Whose doctor does Zofia Quarrel's spouse see?", ["married to", "treated by", "^treated by"],
         {"Zofia Quarrel", "Aurelio Vantongeren", "Bertil Oxenhame"}),
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
        finding = await SetsStrategy(embedder, max_shown=0).find(asked.inquiry(model, question))
        await endpoint.close()
        assert finding.draft is not None
        assert asked.names(finding.draft.expressions[0]) == names
        assert scripted.contract_breaks == []
        assert secrets_in(b"\n".join(received.head + received.body for received in scripted.received)) == []
        assert asked.rounds == list(range(1, finding.rounds + 1))


@dataclass
class HeldBack:
    """A model's place, of which every step is taken inside the service."""

    house: EmbeddedReasoner
    tasks: list[Task[Any]] = field(default_factory=list)
    is_model, is_capable = True, True

    def fits(self, *_tasks: Task[Any]) -> bool:
        return True

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        self.tasks.append(task)
        return await ask_in_house(self.house, task)


async def test_a_step_inside_the_service_reads_words_that_no_prompt_may_hold(
    bench: Bench, embedder: Embedder, embedded: EmbeddedReasoner
) -> None:
    asked, runner = bench.asked(embedded), HeldBack(embedded)
    inquiry = asked.inquiry(embedded, "Who is the Dimwit of Zofia Quarrel?")
    (hidden,) = (word for word in asked.table.issued if word[0] == "V")
    kept = replace(inquiry, reasoner=runner, typed={hidden: "doctor"}, profile=Profile.KIND)
    finding = await SetsStrategy(embedder, max_shown=0).find(kept)
    assert finding.draft is not None
    assert asked.names(finding.draft.expressions[0]) == {"Ottoline Brackwater"}
    assert all("doctor of" not in task.input.model_dump_json() for task in runner.tasks)
    assert (kept.asked, inquiry.reasoner.is_model) == (inquiry.asked, False)
    without = await SetsStrategy(embedder, max_shown=0).find(replace(kept, typed={}))
    assert without.draft is None


async def test_no_more_than_the_width_is_followed(talk: Talk) -> None:
    def replies(request: Request) -> Canned:
        names = ("treated by", "lives in", "date of birth", "married to")
        chosen = [number_of(request, name) for name in names] if request.input["round"] == 1 else []
        return follow(*chosen)

    talk.server.replies = replies
    finding = await talk.find(SetsStrategy, limits=Limits(width=2))
    assert {fact.path for fact in finding.evidence} == {("treated by",), ("lives in",)}
    assert (finding.draft, finding.rounds) == (None, 2)
    assert [each["width"] for each in talk.sent("step")] == [2, 2]


async def test_a_choice_that_is_repeated_counts_once_and_one_that_was_not_offered_is_no_reply(talk: Talk) -> None:
    def replies(request: Request) -> Canned:
        if request.input["round"] > 1:
            return step("not_in_graph")
        doctor, city = number_of(request, "treated by"), number_of(request, "lives in")
        return follow(doctor, doctor, city)

    talk.server.replies = replies
    finding = await talk.find(SetsStrategy, limits=Limits(width=2))
    assert {fact.path for fact in finding.evidence} == {("treated by",), ("lives in",)}
    talk.server.replies = in_turn(follow(999))
    with pytest.raises(ReplyUnusableError):
        await talk.find(SetsStrategy)


@pytest.mark.parametrize("depth", [1, 2])
async def test_after_the_last_round_there_is_one_call_to_answer_and_nothing_on_offer(talk: Talk, depth: int) -> None:
    def replies(request: Request) -> Canned:
        onward = [each["number"] for each in request.input["candidates"] if each["path"] == ["lives in"]]
        back = [each["number"] for each in request.input["candidates"] if each["path"] == ["^lives in"]]
        return follow(*[*onward, *back][:1])

    talk.server.replies = replies
    finding = await talk.find(SetsStrategy, limits=Limits(depth=depth))
    inputs = talk.sent("step")
    assert [each["round"] for each in inputs] == list(range(1, depth + 2)) == talk.asked.rounds
    assert [each["last_round"] for each in inputs] == [False] * depth + [True]
    assert [bool(each["candidates"]) for each in inputs] == [True] * depth + [False]
    assert finding.draft is None


async def test_a_way_that_was_walked_is_not_offered_again_but_the_others_still_are(talk: Talk) -> None:
    def replies(request: Request) -> Canned:
        return follow(number_of(request, "lives in")) if request.input["round"] == 1 else step("not_in_graph")

    talk.server.replies = replies
    finding = await talk.find(SetsStrategy)
    first, second = talk.sent("step")
    (topic,) = [thing["name"] for thing in second["things"] if thing["concept"] == "patient"]
    offered = {tuple(each["path"]) for each in second["candidates"] if each["start"] == topic}
    assert ("lives in",) not in offered
    assert {("treated by",), ("has admission|admitted to",)} <= offered
    assert [(each["start"], each["path"]) for each in second["evidence"]] == [(topic, ["lives in"])]
    assert finding.evidence[0].path == ("lives in",)
    assert first["evidence"] == []


@pytest.mark.parametrize(
    "last", [step("not_in_graph"), follow(), step("not_in_graph", answer=["Eq7f2k"], text="It is.")]
)
async def test_no_answer_is_no_draft(talk: Talk, last: Canned) -> None:
    talk.server.replies = in_turn(last)
    finding = await talk.find(SetsStrategy)
    assert (finding.draft, finding.rounds) == (None, 1)


async def test_a_graph_without_anything_that_has_a_kind_is_not_asked_about(
    embedder: Embedder, embedded: EmbeddedReasoner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.strategies.start.kinds_of", lambda _schema: ())
    nameless = bench_of(tmp_path, embedder, PREFIXES + ":m1 :has 3 .").asked()
    finding = await SetsStrategy(embedder, max_shown=0).find(nameless.inquiry(embedded, "What is there?"))
    assert (finding.draft, finding.rounds, nameless.rounds) == (None, 0, [])
    assert len(finding.notes) == 1


async def test_a_reply_that_chooses_and_answers_at_once_takes_one_call(talk: Talk) -> None:
    def replies(request: Request) -> Canned:
        number = number_of(request, "has admission|admitted to")
        return step("answer", answer=[f"way({number})"], text="In {1}.")

    talk.server.replies = replies
    finding = await talk.find(SetsStrategy, profile=Profile.KIND)
    assert finding.draft is not None
    assert talk.asked.names(finding.draft.expressions[0]) == {"Kestrel Wing", "Gyrfalcon Wing"}
    assert [(fact.path, fact.end) for fact in finding.evidence] == [
        (("has admission|admitted to",), finding.draft.expressions[0])
    ]
    assert len(talk.sent("step")) == 1


@pytest.mark.parametrize("none_fits", [follow(), step("not_in_graph")])
async def test_where_no_candidate_fits_the_further_ones_are_shown(talk: Talk, none_fits: Canned) -> None:
    talk.server.replies = in_turn(none_fits)
    finding = await talk.find(SetsStrategy, profile=Profile.KIND)
    inputs = talk.sent("step")
    shown = [(each["start"], tuple(each["path"])) for given in inputs for each in given["candidates"]]
    pages = list(dict.fromkeys(tuple((c["start"], tuple(c["path"])) for c in given["candidates"]) for given in inputs))
    assert len(pages) == 3
    assert len(set(shown)) == sum(map(len, pages)) == inputs[0]["further"] + len(pages[0]) <= MAX_OFFERED
    assert {given["round"] for given in inputs} == {1}
    assert inputs[-1]["further"] == 0
    assert (finding.draft, finding.rounds) == (None, 1)
    assert [note.startswith("Step 1: ") for note in finding.notes] == [True]  # A kind has more ways than numbers.


async def test_what_a_prompt_shared_with_the_one_before_it_stands_first_and_unchanged(talk: Talk) -> None:
    def replies(request: Request) -> Canned:
        if request.input["round"] == 4:
            return step("not_in_graph")
        # In each round one fact more, as the pages show its ways.
        onward = ("treated by",), ("works in",), ("lives in",), ("married to",)
        shown = [each["number"] for each in request.input["candidates"] if tuple(each["path"]) in onward]
        return follow(*shown[:1])

    talk.server.replies = replies
    await talk.find(SetsStrategy, profile=Profile.KIND)
    requests = [request for request in talk.server.received if request.task == "step"]
    facts = [len(request.input["evidence"]) for request in requests]
    assert (facts, facts[0], facts[-1]) == (sorted(facts), 0, 3)
    for earlier, later in pairwise(requests):
        # All of it but the end of the list: instructions, question, things and every fact so far.
        shared = earlier.block.partition(',"candidates":')[0].removesuffix("]")
        assert '"things":[' in shared
        assert later.block.startswith(shared)
        assert earlier.json["messages"][0] == later.json["messages"][0]


async def test_the_same_facts_are_the_same_bytes_whatever_was_chosen_first(talk: Talk) -> None:
    def follows(names: tuple[str, ...]) -> Replies:
        def replies(request: Request) -> Canned:
            if request.input["round"] > 1:
                return step("not_in_graph")
            return follow(*(number_of(request, name) for name in names))

        return replies

    evidence = []
    for names in (("treated by", "lives in", "married to"), ("married to", "treated by", "lives in")):
        talk.server.replies = follows(names)
        talk.server.received.clear()
        await talk.find(SetsStrategy)
        second = [request.block for request in talk.server.received if request.task == "step"][1]
        evidence.append(second.partition('"evidence":')[2].partition(',"candidates":')[0])
    assert evidence[0] == evidence[1]
    assert evidence[0].count(" > ") == 6
    assert "(" not in evidence[0]  # the thing that it starts from says its concept already


async def test_a_fact_that_is_walked_back_stands_under_its_own_start_and_path(talk: Talk) -> None:
    def replies(request: Request) -> Canned:
        found = request.input["evidence"]
        if len(found) == 2:
            return step("answer", answer=[found[1]["end"]], text="{1}")
        wanted = (found[0]["end"], ["^married to"]) if found else (request.input["things"][0]["name"], ["married to"])
        ways = request.input["candidates"]
        return follow(*[each["number"] for each in ways if (each["start"], each["path"]) == wanted])

    talk.server.replies = replies
    evidence = []
    for _ in range(2):
        talk.server.received.clear()
        finding = await talk.find(SetsStrategy, "Tell me about Zofia Quarrel")
        assert finding.draft is not None
        assert talk.asked.names(finding.draft.expressions[0]) == {"Zofia Quarrel"}
        there, back = talk.sent("step")[2]["evidence"]
        assert (there["start"], there["end"]) == (back["end"], back["start"])
        assert (there["path"], back["path"]) == (["married to"], ["^married to"])
        evidence.append((there, back))
    # Within a conversation the same walk is told in the same words.
    assert evidence[0] == evidence[1]
