"""Prompts that may tell of kinds alone: two things of a kind are asked about in the same words."""

from __future__ import annotations

import json
import re

import pytest

from app.egress.disclosure import Profile
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.strategies.sets.strategy import SetsStrategy
from tests.support.asking import Asked, Bench
from tests.support.processes.model_server import Canned, ModelServer, Request, reply, sent_to

NAMES = ("Zofia Quarrel", "Aurelio Vantongeren", "Bertil Oxenhame")
"""Of one kind: two wards, none and one; two doctors or one; the last is married to nobody."""
WAYS = (["has admission|admitted to"], ["married to"], ["treated by"])


def walks_all(request: Request) -> Canned:
    """Follows each of WAYS that is offered, page after page; then gives up."""
    chosen = [each["number"] for each in request.input["candidates"] if each["path"] in WAYS]
    action = "follow" if chosen and not request.input["evidence"] else "not_in_graph"
    return reply({"action": action, "choices": chosen if action == "follow" else [], "answer": [], "text": ""})


async def prompts_about(bench: Bench, server: ModelServer, model: PromptedReasoner, embedder: Embedder, name: str,
                        profile: Profile) -> list[str]:  # fmt: skip
    """The inputs of all calls, each pseudonym by its number of appearance, lists in the order of their words."""
    asked = bench.asked(model)
    server.received.clear()
    server.replies = walks_all
    question = f"What has {name} to do with wards, doctors and marriage?"
    await SetsStrategy(embedder, max_shown=0).find(asked.inquiry(model, question, profile=profile))
    return [_without_pseudonyms(asked, given) for given in sent_to(server, "step")]


def _without_pseudonyms(asked: Asked, given: dict[str, object]) -> str:
    """Numbers and order are the conversation's own: `candidates` and `evidence` are compared as sets."""
    text = json.dumps(given)
    for word in asked.table.issued:
        text = text.replace(word, word[0])
    told = json.loads(text)
    paths = {f"way({row['number']})": "|".join(row["path"]) for row in told.get("candidates", [])}
    told["hint"] = re.sub(r"way\(\d+\)", lambda way: paths[way[0]], told.get("hint", ""))
    for key in ("candidates", "evidence", "things"):
        rows = [{name: value for name, value in row.items() if name != "number"} for row in told.get(key, [])]
        told[key] = sorted(json.dumps(row, sort_keys=True) for row in rows)
    return json.dumps(told, sort_keys=True)


async def test_prompts_about_two_things_of_a_kind_are_alike(
    bench: Bench, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    shown = [await prompts_about(bench, server, model, embedder, name, Profile.KIND) for name in NAMES]
    assert shown[0] == shown[1] == shown[2]
    assert any(json.loads(prompt)["evidence"] for prompt in shown[0])


async def test_openly_they_are_not(
    bench: Bench, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    shown = [await prompts_about(bench, server, model, embedder, name, Profile.OPEN) for name in NAMES]
    assert shown[0] != shown[1] != shown[2]


@pytest.mark.parametrize("path", WAYS)
async def test_a_fact_tells_neither_how_many_there_are_nor_whether_any(
    bench: Bench, server: ModelServer, model: PromptedReasoner, embedder: Embedder, path: list[str]
) -> None:
    for name in NAMES:
        for prompt in await prompts_about(bench, server, model, embedder, name, Profile.KIND):
            facts = [json.loads(row) for row in json.loads(prompt)["evidence"]]
            assert all("size" not in fact or fact["size"] == "" for fact in facts)
            assert all(fact["end"] == "S" for fact in facts if fact["path"] == path)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Into which wards was wretched Zofia Quarrel wheeled?", "Along this path: what does it lead to?"),
        ("How many wretched wards was Zofia Quarrel wheeled into?", "Along this path: how many does it lead to?"),
        ("Which wretched doctor of Zofia Quarrel has the highest salary?",
         "Along this path: of those before its last step, take the one with the greatest value there?"),
    ],
)  # fmt: skip
async def test_strictly_no_word_of_the_question_leaves(
    bench: Bench, server: ModelServer, model: PromptedReasoner, embedder: Embedder, question: str, asked: str
) -> None:
    conversation = bench.asked(model)
    server.replies = walks_all
    turns = ("Is there somebody lugubrious?", "Nobody is.", question)
    await SetsStrategy(embedder, max_shown=0).find(conversation.inquiry(model, *turns, profile=Profile.STRICT))
    for given in sent_to(server, "step"):
        told = json.loads(_without_pseudonyms(conversation, given))
        assert (told["question"], told.get("dialogue", [])) == (asked, [])
        assert told["path"][0]["head"] == "E"
    assert not [word for word in (b"wretched", b"wheeled", b"lugubrious") if word in server.everything]
