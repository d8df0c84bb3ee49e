"""A reply in dialogue on the page: facts beside their sentences, what was taken out, and questions to go on with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Route, expect

from client_sdk.crypto.sealing import capsule_context
from client_sdk.protocol import CapsuleContent, ChatRequest, Names, Sentence
from tests.browser.conftest import PHONE, Visit
from tests.browser.test_access_for_all import faults_on
from tests.support.fake_service import FakeService, events_of, in_sevens, seal_capsule, sse

DEMO = ("demo", "inspect:demo")
ASKED = "Which ward is Urs Steinbrecher assigned to?"


@pytest.fixture
def talk() -> Iterator[FakeService]:
    """Gives the replies of a dialogue: three sentences, of which two lean on facts."""
    fake = FakeService()
    fake.text = "Eq7f2k is treated by Ex81zp. Ehid01 is his patient, too. Shall I go on?"
    fake.table |= {"Ehid01": Names(names=["Odo Brenkhuis"], total=1), "Sk3mmd": Names(names=["Lea", "Noah"], total=2)}
    fake.sentences = [
        Sentence(text="Eq7f2k is treated by Ex81zp.", facts=[0]),
        Sentence(text="Ehid01 is his patient, too.", facts=[0, 1]),
        Sentence(text="Shall I go on?"),
    ]
    fake.removed, fake.strategy, fake.confidence = 2, "dialogue", 0.9
    fake.suggestions = ["Which city does Ex81zp live in?", "Which wards does Ex81zp work on?"]
    yield fake
    fake.stop()


def told(visit: Visit, fake: FakeService) -> Locator:
    """The turn of a reply that `fake` gives in the place of the service."""

    def reply(route: Route) -> None:
        request = ChatRequest.model_validate_json(route.request.post_data or "")
        bare = fake.answer(request.model_copy(update={"public_key": None}), 1)
        answer = bare.model_copy(update={"ambiguous": [], "notes": []})
        content = CapsuleContent(answer_id=answer.id, table=fake.table)
        capsule = seal_capsule(content, request.public_key or "", capsule_context(answer))
        answer = answer.model_copy(update={"capsule": capsule})
        events = events_of(answer, in_sevens(answer.message.content))
        route.fulfill(status=200, content_type="text/event-stream; charset=utf-8", body=sse(events))

    visit.page.route("**/chat", reply)
    visit.begin(*DEMO)
    return visit.ask("Tell me about Anna Keller.")


def test_a_sentence_that_is_pointed_at_marks_its_facts_and_a_fact_its_sentences(
    visit: Visit, talk: FakeService
) -> None:
    turn = told(visit, talk)
    visit.open_evidence(turn)
    sentences, rows = turn.locator(".sentence"), turn.locator(".evidence tbody tr")
    expect(sentences).to_have_count(2)
    expect(rows).to_have_count(2)
    sentences.first.hover()
    expect(rows.nth(0)).to_have_class("fact-marked")
    expect(rows.nth(1)).to_have_class("uncited")
    sentences.nth(1).hover()
    expect(rows.nth(1)).to_have_class("uncited fact-marked")
    rows.nth(1).hover()
    expect(sentences.first).to_have_class("sentence")
    expect(sentences.nth(1)).to_have_class("sentence sentence-marked")
    rows.nth(0).hover()
    expect(turn.locator(".sentence-marked")).to_have_count(2)
    turn.locator(".question").hover()
    expect(turn.locator(".sentence-marked, .fact-marked")).to_have_count(0)


def test_the_text_is_the_message_with_its_names_and_tells_what_was_removed(visit: Visit, talk: FakeService) -> None:
    turn = told(visit, talk)
    text = turn.locator(".answer-text").inner_text()
    assert text == "Anna Keller is treated by Dr. Bruno Weiß.1 Odo Brenkhuis is his patient, too.1, 2 Shall I go on?"
    expect(turn.get_by_text("2 statements were removed: the graph does not hold them.")).to_be_visible()
    turn.get_by_role("button", name="Show the facts that carry this sentence: 1, 2").click()
    visit.picture("dialogue")


def test_by_keyboard_a_sentence_is_chosen_and_opens_the_evidence(visit: Visit, talk: FakeService) -> None:
    turn = told(visit, talk)
    expect(turn.locator(".evidence")).to_have_count(0)
    note = turn.get_by_role("button", name="Show the fact that carries this sentence: 1")
    note.focus()
    visit.page.keyboard.press("Enter")
    expect(note).to_have_attribute("aria-pressed", "true")
    expect(turn.locator(".fact-marked")).to_have_count(1)
    number = turn.get_by_role("button", name="Fact 1: show the 2 sentences that it carries")
    number.focus()
    expect(turn.locator(".sentence-marked")).to_have_count(2)
    visit.page.keyboard.press("Enter")
    expect(number).to_have_attribute("aria-pressed", "true")
    expect(note).to_have_attribute("aria-pressed", "false")
    visit.page.keyboard.press("Enter")
    expect(number).to_have_attribute("aria-pressed", "false")
    visit.page.get_by_label("Your question").focus()
    expect(turn.locator(".sentence-marked, .fact-marked")).to_have_count(0)


def test_in_the_picture_an_edge_and_its_sentence_mark_each_other(visit: Visit, talk: FakeService) -> None:
    talk.text, talk.sentences = "Eq7f2k is treated by Ex81zp.", [Sentence(text=talk.sentences[0].text, facts=[0])]
    turn = told(visit, talk)
    visit.open_evidence(turn, "Picture")
    picture = turn.locator(".picture[data-drawn=true]")
    picture.wait_for()
    turn.locator(".sentence").hover()
    expect(picture).to_have_attribute("data-marked", "0")
    picture.scroll_into_view_if_needed()
    box = picture.get_by_role("img").bounding_box()
    assert box is not None
    # The one edge lies in the middle, between its two ends.
    visit.page.mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2 - 30)
    expect(turn.locator(".sentence-marked")).to_have_count(0)
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    expect(turn.locator(".sentence-marked")).to_have_count(1)


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_it_has_no_serious_fault(visit: Visit, talk: FakeService, look: str) -> None:
    if look == "phone":
        visit.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    visit.page.emulate_media(color_scheme="dark" if look == "dark" else "light")
    turn = told(visit, talk)
    turn.get_by_role("button", name="Show the facts that carry this sentence: 1, 2").click()
    assert faults_on(visit.page) == []


def test_a_suggestion_is_asked_by_a_click_and_answered(visit: Visit) -> None:
    visit.begin(*DEMO)
    turn = visit.ask(ASKED)
    offered = turn.get_by_role("group", name="You could ask next").get_by_role("button")
    expect(offered.first).to_be_visible()
    visit.picture("suggestions")
    question = offered.first.inner_text()
    offered.first.click()
    following = visit.answered(1)
    expect(following.locator(".question")).to_have_text(question)
    expect(following.locator(".answer-text .name").first).to_be_visible()
    assert "did not find" not in following.locator(".answer-text").inner_text()
    expect(offered.nth(1)).to_be_enabled()


def test_a_question_about_them_is_of_the_last_answer_alone(visit: Visit) -> None:
    visit.begin(*DEMO)
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    offered = turn.get_by_role("group", name="You could ask next").get_by_role("button")
    about_them = offered.filter(has_text="they")
    expect(about_them).to_have_count(1)
    expect(about_them).to_be_enabled()
    visit.ask(ASKED)
    expect(about_them).to_be_disabled()


def test_a_fact_of_a_public_graph_says_which_it_is_of(visit: Visit) -> None:
    house = visit.house
    policy = (
        '[public]\nfiles = ["common.tsv"]\nsource = "Some net"\nlicence = "CC0"\n\n'
        '[[triples]]\nfile = "common.tsv"\ncolumns = [2, 1, 3]\n'
    )
    facts = "IsA\ttennis\tgame\nUsedFor\tracket\ttennis\nHasProperty\ttennis\tfun\n"
    house.load("common", ("common.tsv", facts.encode()), policy.encode())
    house.call("PUT", "/admin/graphs/demo/beside/common")
    try:
        visit.begin("demo")
        turn = visit.ask("I love tennis.")
        expect(turn.get_by_role("paragraph").first).to_contain_text("ennis")
        evidence = visit.open_evidence(turn, "Table")
        expect(evidence.get_by_text("public, from common (Some net, CC0)").first).to_be_visible()
        expect(visit.page.get_by_text("Looked for what is publicly known about").first).to_be_visible()
        visit.picture("public-facts")
        visit.page.get_by_label("Look for something else too").fill("racket")
        visit.page.get_by_role("button", name="Add").click()
        expect(visit.page.get_by_role("button", name="Leave out racket")).to_be_visible()
        visit.page.get_by_role("button", name="Leave out tennis").click()
        expect(visit.page.get_by_role("button", name="Leave out tennis")).to_have_count(0)
        expect(visit.page.get_by_role("button", name="Leave out racket")).to_be_visible()
    finally:
        house.call("DELETE", "/admin/graphs/demo/beside/common")
        house.call("DELETE", "/admin/graphs/common")
