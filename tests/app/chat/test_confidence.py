"""An answer tells its confidence where something measures it; a model can't set it, and is measured by our reading."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.reasoner import Reasoner
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.wiring.store import ServiceContext
from tests.support.house import DOCTOR_OF, House, drafting, sets_house, step
from tests.support.processes.model_server import Canned, ModelServer, Request, completion

Around = Callable[[Reasoner], House]
pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture
def around(store: ServiceContext, embedder: Embedder) -> Around:
    return lambda reasoner: sets_house(store, embedder, reasoner=reasoner)


@pytest.fixture
def embedded(around: Around, embedder: Embedder) -> House:
    return around(EmbeddedReasoner(embedder))


async def test_an_answer_tells_how_sure_it_is(embedded: House) -> None:
    answer = await embedded.ask(DOCTOR_OF)
    assert answer.answered
    assert answer.confidence is not None
    assert 0.7 < answer.confidence < 1
    assert answer.confidence == embedded.last.confidence


@pytest.mark.parametrize("text", ["Hello!", "Tell me about Zofia Quarrel", "Which umbrella has Zofia Quarrel?"])
async def test_what_nothing_measures_has_none(embedded: House, text: str) -> None:
    assert (await embedded.ask(text)).confidence is None


async def test_a_misspelt_name_makes_it_no_surer(embedded: House) -> None:
    plain, misspelt = await embedded.ask(DOCTOR_OF), await embedded.ask("Who is Zofia Quarel treated by?")
    assert misspelt.inexact
    assert plain.confidence is not None
    assert misspelt.confidence is not None
    assert misspelt.confidence <= plain.confidence


async def test_a_model_that_says_what_we_read_is_as_sure_as_our_reading(
    around: Around, embedded: House, server: ModelServer, model: PromptedReasoner
) -> None:
    server.replies = drafting("{treated by}")
    ours, theirs = await embedded.ask(DOCTOR_OF), await around(model).ask(DOCTOR_OF)
    assert theirs.names == ours.names
    assert theirs.confidence == ours.confidence


async def test_a_model_that_says_otherwise_is_doubted(
    around: Around, server: ModelServer, model: PromptedReasoner
) -> None:
    """Ottoline lives where Bertil does; Ptolemy treats him."""
    server.replies = drafting(
        'intersect(reach({lives in}, "^lives in"), {treated by})', follow=("lives in", "treated by")
    )
    ours = await around(model).ask("Who is Aurelio Vantongeren treated by?")
    assert ours.answered
    assert ours.confidence is not None
    assert ours.confidence < 0.3


async def test_a_model_can_not_tell_how_sure_it_is_or_ask_back(
    around: Around, server: ModelServer, model: PromptedReasoner
) -> None:
    claims = {"confidence": 0.42, "scores": {"road": "path", "score": -1, "margin": 0}, "asks_back": ["Who?"]}

    def claiming(request: Request) -> Canned:
        body = json.loads(drafting("{treated by}")(request).body)
        return completion(json.dumps({**json.loads(body["choices"][0]["message"]["content"]), **claims}))

    server.replies = drafting("{treated by}")
    plain = await around(model).ask(DOCTOR_OF)
    server.replies = claiming
    claimed = await around(model).ask(DOCTOR_OF)
    assert (claimed.confidence, claimed.did_you_mean) == (plain.confidence, ())
    server.replies = lambda _request: step("not_in_graph", **claims)
    assert (await around(model).ask(DOCTOR_OF)).did_you_mean == ()
