"""Drafts: told in our own words, refused where the question contradicts them; and the hint of a prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from app.egress.disclosure import Profile
from app.language.readings import NUMBER, UNKNOWN, Contradiction, ResultKind
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.in_house import ReadingScores
from app.llm.tasks import Task
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.base import StrategyInput
from app.strategies.drafts import (
    NOT_TIED,
    REFUSALS,
    TIED_TWICE,
    UNREAD,
    CheckedDrafts,
    DraftError,
    QuestionMeaning,
    compares_text,
    draft_of,
    meaning_of,
    with_ties,
)
from app.strategies.sets.prompts import STEP
from app.strategies.sets.strategy import SetsStrategy
from app.strategies.start import starting_places
from kg_store.algebra.expressions import ExpressionResult, parse, written
from kg_store.terms import ValueKind
from tests.support.asking import Asked, Bench, secrets_in
from tests.support.languages import english
from tests.support.processes.model_server import Canned, Request, in_turn, reply
from tests.support.talk import Talk
from tests.support.tasks import fact, step, thing, way

TOPIC = thing("Eq7f2k", "patient")
TREATED = fact("Eq7f2k", "treated by", end="Sa1b2c", to="doctor", of="patient")
SHOWN = step("Who is Eq7f2k treated by?", [TOPIC], (), [TREATED])


@pytest.mark.parametrize(
    ("expressions", "parts", "text"),
    [
        (["Sa1b2c"], ["Sa1b2c"], "Eq7f2k is treated by {1}."),
        (["count(Sa1b2c)"], ["count(Sa1b2c)"], "The number of"),
        (["Sa1b2c", "Eq7f2k"], ["Sa1b2c", "Eq7f2k"], "The answer is {1}, {2}."),
        (["count(Sa1b2c"], ["count(Sa1b2c"], "The answer is {1}."),
    ],
)
def test_an_answer_has_our_words(expressions: list[str], parts: list[str], text: str) -> None:
    draft = draft_of(english(), expressions, SHOWN)
    assert list(draft.expressions) == parts
    assert draft.text.startswith(text)


COUNTED = "How many patients does Ottoline Brackwater treat?"


def answering(*answer: str) -> Canned:
    return reply({"action": "answer", "answer": list(answer)})


def way_of(request: Request, *path: str) -> str:
    found = (each["number"] for each in request.input["candidates"] if each["path"] == list(path))
    return f"way({next(found)})"


@pytest.fixture
def asked(bench: Bench, model: PromptedReasoner) -> Asked:
    return bench.asked(model)


async def test_a_draft_that_the_question_contradicts_is_refused_and_not_asked_for_again(talk: Talk) -> None:
    talk.server.replies = lambda request: answering(way_of(request, "^treated by"))
    finding = await talk.find(SetsStrategy, COUNTED, profile=Profile.KIND)
    assert (finding.draft, finding.contradicted) == (None, REFUSALS[Contradiction.NUMBER])
    assert len(talk.server.received) == 1
    assert secrets_in(talk.server.everything) == []


async def test_a_question_in_another_language_is_not_checked(talk: Talk) -> None:
    inquiry = talk.asked.inquiry(
        talk.model, "Welche Patienten werden nicht von Ottoline Brackwater behandelt und warum?"
    )
    topic = inquiry.dialogue.topics[0].pseudonym
    talk.server.replies = lambda _request: answering(topic)
    drafts = CheckedDrafts(inquiry)
    await drafts.ask(Task(STEP, step(str(inquiry.dialogue.question), [thing(topic, "patient")])))
    assert drafts.refusal == ""


def test_each_contradiction_has_its_sentence_for_the_asker() -> None:
    assert set(REFUSALS) == set(Contradiction)
    assert len(set(REFUSALS.values())) == len(Contradiction)


TREATING = "How many patients are treated by Ottoline Brackwater?"
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


async def meant(inquiry: StrategyInput, embedder: Embedder) -> QuestionMeaning | None:
    return await meaning_of(inquiry, starting_places(inquiry, embedder).frontier)


@pytest.mark.parametrize("profile", [Profile.OPEN, Profile.KIND])
async def test_a_sure_reading_is_one(
    asked: Asked, model: PromptedReasoner, embedder: Embedder, profile: Profile
) -> None:
    found = await meant(asked.inquiry(model, TREATING, profile=profile), embedder)
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
    assert await meant(asked.inquiry(embedded, TREATING), embedder) is None


async def test_a_strict_prompt_has_no_hint_and_another_no_name(talk: Talk) -> None:
    talk.server.replies = in_turn(reply({"action": "not_in_graph", "choices": [], "answer": [], "text": ""}))
    hints = {}
    for profile in (Profile.KIND, Profile.STRICT):
        talk.server.received.clear()
        await talk.find(SetsStrategy, TREATING, profile=profile)
        hints[profile] = {each["hint"] for each in talk.sent("step")}
        assert secrets_in(talk.server.everything) == []
    assert any(each.startswith("count(") for each in hints[Profile.KIND])
    assert hints[Profile.STRICT] == {""}


LABELS = ["colour", "size", "made in"]


def tied(text: str, found: Mapping[str, tuple[int, ...]]) -> str:
    """Returns `text` with its relations named; `found` maps each filter that keeps something to the MIDs it keeps."""

    def result_of(expression: str) -> ExpressionResult | None:
        return ExpressionResult("set", found[expression]) if expression in found else None

    return written(with_ties(parse(text), LABELS, result_of))


def test_the_only_relation_is_named() -> None:
    found = {'filter(Sa, "size", =, E1)': (1, 2), 'filter(filter(Sa, "size", =, E1), "colour", =, E2)': (2,)}
    told = tied('reach(having(having(Sa, E1), E2), "worn by")', found)
    assert told == 'reach(filter(filter(Sa, "size", =, E1), "colour", =, E2), "worn by")'


def test_relations_that_keep_the_same_count_as_one() -> None:
    found = {'filter(Sa, "size", =, V1)': (1,), 'filter(Sa, "made in", =, V1)': (1,)}
    assert tied("count(having(Sa, V1))", found) == 'count(filter(Sa, "size", =, V1))'


@pytest.mark.parametrize(("sizes", "why"), [((), NOT_TIED), (((1,), (2,)), TIED_TWICE)])
def test_no_relation_or_several_are_refused(sizes: tuple[tuple[int, ...], ...], why: str) -> None:
    found = dict(zip(('filter(Sa, "size", =, V1)', 'filter(Sa, "colour", =, V1)'), sizes, strict=False))
    with pytest.raises(DraftError, match=why[:30]):
        tied("count(having(Sa, V1))", found)


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ('count(filter(Sa, "born", =, V1))', True),
        ('count(filter(reach(E1, "visit"), "visit|born", >=, V1))', True),
        ('count(filter(Sa, "born", =, V2))', False),
        ('filter(Sa, "colour", =, V1)', False),
        ('filter(Sa, "born", =, reach(E1, "born"))', False),
    ],
)
def test_dates_are_not_compared_with_a_text(text: str, is_refused: bool) -> None:
    """Such as "spring", of which there would be none."""
    kinds = {"born": ValueKind.DATE, "colour": ValueKind.TEXT}
    assert compares_text(parse(text), {"V1"}, kinds) is is_refused


async def test_an_answer_by_an_unknown_word_for_a_date_is_refused(talk: Talk) -> None:
    def in_april(request: Request) -> Canned:
        given = json.loads(request.block)
        (april,) = [line[:6] for line in given["things"] if line.endswith(": text")]
        patients = next(line[:6] for line in given["things"] if line[0] == "S" and line.endswith(": patient"))
        return reply({"answer": ["count", "filter", patients, "date of birth", "=", april]})

    talk.server.replies = in_april
    inquiry = talk.asked.inquiry(talk.model, "How many patients were born in blergtember?", profile=Profile.KIND)
    finding = await SetsStrategy(talk.embedder).find(inquiry)
    assert (finding.draft, finding.contradicted) == (None, UNREAD)


def test_a_relation_that_is_named_stays() -> None:
    assert tied('having(Sa, "size")', {}) == 'having(Sa, "size")'
