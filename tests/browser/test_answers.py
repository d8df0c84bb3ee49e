"""Answers on the page: in sight, how they were reached, as tables, refused; conversations, keys and suggestions."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.demo import GRAPH_FILE, POLICY_FILE
from kg_store.terms import PSEUDONYM
from tests.browser.conftest import DESK, PHONE, Visit
from tests.browser.test_access_for_all import faults_on

DEMO = ("demo", "inspect:demo")


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_a_new_answer_is_in_sight_and_nothing_moves_while_it_comes(visit: Visit, size: dict[str, int]) -> None:
    visit.page.set_viewport_size(size)  # type: ignore[arg-type]
    visit.begin(*DEMO)
    visit.page.evaluate(WATCH_SHIFTS)
    for question in ("Which patients are treated by Dr. Mbekani?", "How many patients are treated by Dr. Mbekani?"):
        turn = visit.ask(question)
        expect(turn.locator(".question")).to_be_in_viewport(ratio=1)
        expect(turn.locator(".answer-text")).to_be_in_viewport(ratio=1)
    assert visit.page.evaluate("window.shifts") < MAX_SHIFT


MAX_SHIFT = 0.05
WATCH_SHIFTS = """() => {
  window.shifts = 0;
  new PerformanceObserver((seen) => seen.getEntries().forEach((each) => { window.shifts += each.value; }))
    .observe({type: 'layout-shift', buffered: false});
}"""


def test_each_form_of_answer_says_how_it_was_reached_and_shows_no_pseudonym(visit: Visit) -> None:
    visit.begin(*DEMO)
    for question, path in (
        ("How many patients are treated by Dr. Mbekani?", "From Zeno Mbekani by “treated by” to 4 patients"),
        ("Is Bibo treated by Runa Rabenhorst?", "From Giulia D'Amaro by “treated by” to Runa Rabenhorst"),
        ("Which cities have a population below 20,000?", "Of all 8 cities those whose"),
    ):
        turn = visit.ask(question)
        expect(turn.locator(".by-line")).to_contain_text(path)
        evidence = visit.open_evidence(turn)
        if "Picture" in evidence.inner_text():
            visit.open_evidence(turn, "Table")
        assert not PSEUDONYM.findall(evidence.inner_text())


MAX_HEIGHT = 160  # pixels, at 1280 of width


def test_an_answer_is_a_sentence_a_line_and_a_row_of_icons_and_takes_little_room(visit: Visit) -> None:
    visit.begin(*DEMO)
    for question in (
        "Which patients are treated by Dr. Mbekani?",
        "How many patients are treated by Dr. Mbekani?",
        "Which doctor has the highest monthly salary?",
    ):
        turn = visit.ask(question)
        answer = turn.locator(".answer").bounding_box()
        assert answer is not None
        assert answer["height"] <= MAX_HEIGHT, question
        expect(turn.locator(".by-line")).to_contain_text("sure")
        assert turn.locator(".answer-bar svg").count() == turn.locator(".answer-bar button").count() >= 5
        assert turn.locator(".by-line [title^='Confidence 0.']").count() == 1
    visit.picture("answer-closed")


@pytest.mark.parametrize("grants", [DEMO, ("demo",)], ids=["inspecting", "asking"])
def test_a_name_in_an_answer_opens_a_card_with_what_it_is(visit: Visit, grants: tuple[str, ...]) -> None:
    page = visit.page
    visit.begin(*grants)
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    turn.get_by_role("button", name="Tove Uhlenbruck", exact=True).click()
    card = page.get_by_role("dialog", name="Tove Uhlenbruck")
    expect(card).to_contain_text("patient")
    if "inspect:demo" in grants:
        expect(card.locator(".card-facts div")).to_have_count(3)
        expect(card).to_contain_text("date of birth")
        visit.picture("name-card")
        assert not faults_on(page)
    assert card.get_by_role("link", name="All facts").count() == ("inspect:demo" in grants)
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    turn.get_by_role("button", name="Zeno Mbekani", exact=True).click()
    page.get_by_role("dialog", name="Zeno Mbekani").get_by_role("button", name="Tell me more").click()
    following = visit.answered(1)
    expect(following.locator(".question")).to_have_text("Tell me about Zeno Mbekani.")
    expect(following.locator(".answer-text")).to_contain_text("Zeno Mbekani")


def test_counts_are_a_bar_chart_and_a_table_to_sort_and_to_take_out(visit: Visit) -> None:
    visit.begin(*DEMO)
    turn = visit.ask("How many patients are insured by each insurer?")
    expect(turn.get_by_role("img", name="Bar chart: ")).to_be_visible()
    assert turn.locator(".bar-chart rect").count() == 3
    visit.picture("answer-chart")
    turn.get_by_role("button", name="As a table").click()
    table = turn.get_by_role("group", name="The answer as a table")
    counts = table.get_by_role("row").locator("td:nth-child(2)")
    table.get_by_role("button", name="Count").click()
    least_first = [int(each) for each in counts.all_inner_texts()]
    assert len(least_first) == len(set(least_first)) == 3
    assert least_first == sorted(least_first)
    table.get_by_role("button", name="Count").click()
    assert [int(each) for each in counts.all_inner_texts()] == least_first[::-1]
    visit.picture("answer-table")
    with visit.page.expect_download() as saved:
        turn.get_by_role("button", name="CSV").click()
    assert Path(saved.value.path()).read_text("utf-8").splitlines()[0] == "Name,Count"


def test_no_question_is_offered_twice_in_a_conversation(visit: Visit) -> None:
    visit.begin(*DEMO)
    offered: list[str] = []
    for question in ("What is the airspeed of Dr. Mbekani?", "What is the blood of the moon?", "Who sells umbrellas?"):
        turn = visit.ask(question)
        assert "Questions to try" not in turn.inner_text()
        offered += turn.get_by_role("group", name="You could ask next").get_by_role("button").all_inner_texts()
    assert len(offered) >= 3
    assert len(offered) == len(set(offered))
    visit.picture("no-answer-again")


def test_an_answer_is_rated_and_a_wrong_one_is_told_what_is_right(visit: Visit) -> None:
    visit.begin(*DEMO)
    turn = visit.ask("Where does Rose live?")
    turn.get_by_role("button", name="Right").click()
    expect(turn.get_by_role("button", name="Right")).to_have_attribute("aria-pressed", "true")
    expect(turn.get_by_text("Thank you.")).to_be_visible()
    turn.get_by_role("button", name="Wrong").click()
    turn.get_by_label("What would have been right?").fill("Lower Gallenbach")
    visit.picture("rating")
    turn.get_by_role("button", name="Send").click()
    expect(turn.get_by_text("Thank you.")).to_be_visible()
    expect(turn.get_by_role("button", name="Wrong")).to_have_attribute("aria-pressed", "true")
    visit.page.reload()
    expect(visit.turns.first.get_by_role("button", name="Wrong")).to_have_attribute("aria-pressed", "true")


def test_a_question_without_an_answer_says_once_what_is_known(visit: Visit) -> None:
    visit.begin(*DEMO)
    turn = visit.ask("What is the airspeed of Dr. Mbekani?")
    expect(turn.locator(".answer-text")).to_contain_text("I do know Zeno Mbekani, a doctor.")
    assert turn.inner_text().count("Zeno Mbekani") == 1
    assert turn.locator(".note").count() == 0
    visit.picture("no-answer")


def test_conversations_are_found_renamed_exported_and_deleted_one_by_one(visit: Visit) -> None:
    visit.begin(*DEMO)
    visit.ask("Where does Rose live?")
    history = visit.page.get_by_role("complementary", name="Conversations")
    more = history.get_by_role("button", name="More for: ")
    more.click()
    history.get_by_role("button", name="Rename").click()
    history.get_by_label("New title").fill("Where people live")
    history.get_by_role("button", name="Save").click()
    expect(history.get_by_text("Where people live")).to_be_visible()
    more.click()
    visit.picture("conversations")
    with visit.page.expect_download() as saved:
        history.get_by_role("button", name="Export").click()
    written = Path(saved.value.path()).read_text("utf-8")
    assert written.startswith("# Where people live\n")
    assert "Lower Gallenbach" in written
    more.click()
    history.get_by_role("button", name="Delete", exact=True).click()
    history.get_by_role("button", name="Delete for good").click()
    expect(history.get_by_text("Your conversations stay in this browser.")).to_be_visible()
    expect(visit.turns).to_have_count(0)


def test_another_key_is_used_and_the_conversations_stay(visit: Visit) -> None:
    visit.begin(*DEMO)
    visit.ask("Where does Rose live?")
    visit.page.get_by_role("button", name="Settings").click()
    visit.page.get_by_role("button", name="Use another API key, or sign in").click()
    visit.page.get_by_role("button", name="Back").click()
    visit.page.get_by_role("button", name="Settings").click()
    visit.page.get_by_role("button", name="Use another API key, or sign in").click()
    visit.enter(visit.house.key("demo"))
    expect(visit.turns.first.locator(".answer-text")).to_contain_text("Lower Gallenbach")


def test_a_graph_of_ones_own_comes_with_questions_that_it_answers(visit: Visit) -> None:
    clinic = GRAPH_FILE.read_bytes()
    visit.house.load("ward", ("ward.ttl", clinic), POLICY_FILE.read_bytes())
    try:
        visit.begin("ward")
        examples = visit.page.locator(".examples").get_by_role("button")
        expect(examples.first).to_be_visible(timeout=60_000)
        assert examples.count() == 3
        visit.picture("suggestions")
        examples.first.click()
        expect(visit.answered(0)).to_have_attribute("data-answered", "true")
        expect(visit.turns.first.locator(".by-line")).to_contain_text("sure")
    finally:
        visit.house.call("DELETE", "/admin/graphs/ward")
