"""With a model endpoint: what the page says the model saw is what the endpoint got, byte for byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import BrowserContext, expect

from app.demo import GRAPH_FILE, POLICY_FILE
from app.llm.endpoint.capability_probe import WORD
from app.llm.endpoint.request_body import input_text
from app.strategies.sets.prompts import PUZZLES
from tests.browser.conftest import House, Visit
from tests.browser.wire import Wire
from tests.support.processes.model_server import Canned, ModelServer, Request, completion, reply, serving

TOKENS = (812, 34)


def reads_treated_by(request: Request) -> Canned:
    """The reply of a model that solves the puzzles of the probe, and reads the question by the relation."""
    if request.task == "probe":
        return completion(json.dumps({"word": WORD}))
    for puzzle in PUZZLES:
        if input_text(puzzle.task.input, "tree") == request.block:
            return reply({"answer": list(puzzle.right[:1])})
    doctor = next(each["name"] for each in request.input["things"] if each["name"].startswith("E"))
    said = reply({"answer": [f'reach({doctor}, "^treated by")']})
    return completion(json.loads(said.body)["choices"][0]["message"]["content"], usage=TOKENS)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serving(reads_treated_by) as server:
        yield server


@pytest.fixture
def visit(
    model: ModelServer, context: BrowserContext, tmp_path_factory: pytest.TempPathFactory, of_this_checkout: None
) -> Iterator[Visit]:
    # In so small a graph too few things are of a kind: by default the service would take the steps itself.
    settings = {"REASONER": "endpoint", "ENDPOINT_URL": model.url, "ENDPOINT_MODEL": "m", "DISCLOSURE": "tell"}
    with ExitStack() as stack:
        wire = Wire()
        stack.callback(wire.close)
        house = House(wire, tmp_path_factory.mktemp("endpoint"), stack, settings=settings)
        house.start()
        house.load("demo", ("clinic.ttl", GRAPH_FILE.read_bytes()), POLICY_FILE.read_bytes())
        page = context.new_page()
        visit = Visit(page, house)
        page.on("console", lambda message: visit.hear(message))
        yield visit
        assert visit.complaints == []


def test_what_the_model_saw_is_what_its_endpoint_got(visit: Visit, model: ModelServer) -> None:
    visit.begin("demo", "inspect:demo")
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    expect(turn.locator(".answer-text")).to_contain_text("Yusra Niederauer")
    turn.get_by_role("button", name="What the model saw").click()
    panel = visit.page.get_by_role("complementary", name="What the model saw")
    expect(panel).to_contain_text("left for the language model")
    got = [request for request in model.received if request.task == "step"][-1]  # Before it stand the probe's puzzles.
    assert hashlib.sha256(got.body).hexdigest()[:16] in panel.inner_text()
    expect(panel.get_by_text("matches the ledger")).to_be_visible()
    shown = " ".join(panel.locator("pre").all_inner_texts())
    for message in got.json["messages"]:
        assert " ".join(message["content"].split()) in " ".join(shown.split())
    assert "Mbekani" not in shown
    expect(panel).to_contain_text(str(TOKENS[0]))
    panel.locator(".mark").first.hover()
    expect(panel.get_by_role("tooltip")).to_be_visible()
    visit.picture("seen-endpoint")
