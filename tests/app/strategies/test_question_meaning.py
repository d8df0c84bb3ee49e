"""The hint of a prompt: in the words of the prompt alone, and only where the reading is sure."""

from __future__ import annotations

import pytest

from app.egress.disclosure import Profile
from app.language.readings import NUMBER, UNKNOWN, ResultKind
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.in_house import ReadingScores
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.base import StrategyInput
from app.strategies.drafts import QuestionMeaning, meaning_of
from app.strategies.sets.strategy import SetsStrategy
from app.strategies.start import starting_places
from tests.support.asking import Asked, Bench, secrets_in
from tests.support.processes.model_server import ModelServer, in_turn, reply, sent_to
from tests.support.tasks import fact, step, thing, way

COUNTED = "How many patients are treated by Ottoline Brackwater?"
LEADS = 'count(reach(Ed0ct1, "^treated by"))'


def hint(expression: str, *, offered: bool = True, walked: bool = False, kinds: bool = False) -> str:
    things = [thing("Ed0ct1", "doctor"), *([thing("Spat1e", "patient")] if kinds else [])]
    ways = [way(4, "Ed0ct1", "^treated by", to="patient")] if offered else []
    facts = [fact("Ed0ct1", "^treated by", end="Str3at", to="patient")] if walked else []
    meaning = QuestionMeaning(expression, UNKNOWN, ReadingScores("meaning", 1.0, 1.0))
    return meaning.hint_for(step("who?", things, ways, facts))


def test_a_hint_speaks_of_candidates_and_of_what_was_walked() -> None:
    assert hint(LEADS) == "count(way(4))"
    assert hint(LEADS, walked=True) == "count(Str3at)"


def test_what_the_prompt_does_not_show_is_in_no_hint() -> None:
    assert hint(LEADS, offered=False) == ""
    assert hint('intersect(reach(Ed0ct1, "^treated by"), Spat1e)') == ""
    assert hint('intersect(reach(Ed0ct1, "^treated by"), Spat1e)', kinds=True) == "intersect(way(4), Spat1e)"
    assert hint('argmax(reach(Ed0ct1, "^treated by"), "monthly salary")') == ""


@pytest.fixture
def asked(bench: Bench, model: PromptedReasoner) -> Asked:
    return bench.asked(model)


async def meant(inquiry: StrategyInput, embedder: Embedder) -> QuestionMeaning | None:
    return await meaning_of(inquiry, starting_places(inquiry, embedder).frontier)


@pytest.mark.parametrize("profile", [Profile.OPEN, Profile.KIND])
async def test_a_sure_reading_is_one(
    asked: Asked, model: PromptedReasoner, embedder: Embedder, profile: Profile
) -> None:
    found = await meant(asked.inquiry(model, COUNTED, profile=profile), embedder)
    assert found is not None
    assert (found.expression.startswith("count("), found.gives) == (True, ResultKind(value=NUMBER))


async def test_what_a_thing_has_itself_changes_no_hint_where_prompts_tell_of_kinds(
    asked: Asked, model: PromptedReasoner, embedder: Embedder
) -> None:
    """Aurelio Vantongeren was never admitted, Zofia Quarrel was."""
    readings = []
    for name in ("Aurelio Vantongeren", "Zofia Quarrel"):
        inquiry = asked.inquiry(model, f"Which ward was {name} admitted to?", profile=Profile.KIND)
        found = await meant(inquiry, embedder)
        topic = inquiry.dialogue.topics[0].pseudonym
        readings.append(found.expression.replace(topic, "X") if found else "")
    assert readings[0] == readings[1]


async def test_where_no_model_is_asked_nothing_is_read(
    asked: Asked, embedded: EmbeddedReasoner, embedder: Embedder
) -> None:
    assert await meant(asked.inquiry(embedded, COUNTED), embedder) is None


async def test_a_strict_prompt_has_no_hint_and_another_no_name(
    asked: Asked, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    server.replies = in_turn(reply({"action": "not_in_graph", "choices": [], "answer": [], "text": ""}))
    hints = {}
    for profile in (Profile.KIND, Profile.STRICT):
        server.received.clear()
        await SetsStrategy(embedder).find(asked.inquiry(model, COUNTED, profile=profile))
        hints[profile] = {each["hint"] for each in sent_to(server, "step")}
        assert secrets_in(server.everything) == []
    assert any(each.startswith("count(") for each in hints[Profile.KIND])
    assert hints[Profile.STRICT] == {""}
