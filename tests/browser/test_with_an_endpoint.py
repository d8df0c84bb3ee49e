"""With a model endpoint: what the page says the model saw is what the endpoint got, byte for byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import BrowserContext, expect

from app.demo import GRAPH_FILE, POLICY_FILE
from tests.browser.conftest import House, Visit
from tests.browser.wire import Wire
from tests.support.processes.model_server import Canned, ModelServer, Request, completion, serving

TOKENS = (812, 34)


def follows_treated_by(request: Request) -> Canned:
    """The reply of a model: the way back by "treated by" is the answer."""
    if request.task == "probe":
        schema = request.json["response_format"]["json_schema"]["schema"]
        return completion(json.dumps({name: of["enum"][0] for name, of in schema["properties"].items()}))
    ways = [one["number"] for one in request.input["candidates"] if one["path"] == ["^treated by"]]
    said = {"action": "answer", "choices": [], "answer": [f"way({ways[0]})"], "text": "They are {1}."}
    return completion(json.dumps(said), usage=TOKENS)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serving(follows_treated_by) as server:
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
    (got,) = (request for request in model.received if request.task == "step")
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
