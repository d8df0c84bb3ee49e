"""Asking on the page: first run, streamed answers with names, choices, history, and what happens when things fail."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import MANY, PHONE, House, Visit, crowd

DEMO = ("demo", "inspect:demo")


def test_the_first_run_takes_a_key_and_a_graph_and_is_done(visit: Visit) -> None:
    visit.page.goto(visit.house.wire.url)
    expect(visit.page.get_by_role("heading", name="Ask a private graph")).to_be_visible()
    visit.picture("first-run")
    visit.begin("demo", "crowd")
    expect(visit.page.get_by_label("Graph", exact=True)).to_have_value("crowd")
    visit.page.get_by_label("Graph", exact=True).select_option("demo")
    expect(visit.page.get_by_role("button", name="Which doctor has the highest monthly salary?")).to_be_visible()
    visit.picture("empty")


def test_a_key_that_is_not_known_is_told_and_another_is_taken(visit: Visit) -> None:
    visit.page.goto(visit.house.wire.url)
    visit.page.get_by_label("API key").fill("arog_not-a-key")
    visit.page.get_by_role("button", name="Continue").click()
    alert = visit.page.get_by_role("alert")
    expect(alert).to_have_attribute("data-code", "not_authenticated")
    expect(alert).to_contain_text("This key is not known here.")
    assert not re.search("`|GET|POST|Bearer", alert.inner_text())
    visit.picture("wrong-key")
    visit.begin(*DEMO)
    visit.forgive(401)


def test_an_answer_streams_in_with_real_names_and_its_parts(visit: Visit) -> None:
    visit.begin(*DEMO)
    visit.page.evaluate(WATCH)
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    names = ["Emeka Adeyomi", "Tove Uhlenbruck", "Edda Thornbury-Vale", "Yusra Niederauer"]
    for name in names:
        expect(turn.locator(".answer-text").get_by_role("button", name=name)).to_be_visible()
    whole = turn.locator(".answer-text").inner_text()
    assert whole.startswith("The patients treated by Zeno Mbekani are ")
    seen = visit.page.evaluate("window.seen")
    # It grew, and nothing that was shown was taken back or stood there as a pseudonym.
    assert all(whole.startswith(text) for text in seen["texts"]), seen
    assert any("Finding the names" in stage or "Searching the graph" in stage for stage in seen["stages"]), seen
    visit.picture("answer")


WATCH = """() => {
  window.seen = {texts: [], stages: []};
  new MutationObserver(() => {
    const text = document.querySelector('.answer-text')?.textContent;
    const stage = document.querySelector('.progress')?.textContent;
    if (text && text !== window.seen.texts.at(-1)) window.seen.texts.push(text);
    if (stage && stage !== window.seen.stages.at(-1)) window.seen.stages.push(stage);
  }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def test_the_evidence_is_a_picture_and_a_table_of_the_same(visit: Visit) -> None:
    visit.begin(*DEMO)
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    picture = visit.open_evidence(turn).locator(".picture[data-drawn=true]")
    picture.wait_for()
    assert picture.get_attribute("data-nodes") == "5"
    assert visit.page.locator(".picture-box canvas").count() > 0
    visit.picture("evidence")
    visit.open_evidence(turn, "Table")
    first = turn.get_by_role("row").nth(1)
    expect(first).to_contain_text("Zeno Mbekani")
    expect(first).to_contain_text("← treated by")
    expect(first).to_contain_text("Yusra Niederauer")
    visit.picture("evidence-table")


def test_a_large_set_is_one_node_until_all_are_wanted(visit: Visit) -> None:
    visit.begin("crowd")
    visit.page.get_by_role("button", name="Settings").click()
    visit.page.get_by_label("Names of one set, at most").select_option("1000")
    visit.page.get_by_role("button", name="Close").click()
    turn = visit.ask("Which patients are treated by Ottilie Krummhorn?")
    visit.open_evidence(turn).locator(".picture").scroll_into_view_if_needed()
    turn.locator(".picture[data-drawn=true][data-nodes='2']").wait_for()
    turn.get_by_role("button", name=f"Show all {MANY + 1}").click()
    turn.locator(f".picture[data-drawn=true][data-nodes='{MANY + 1}']").wait_for()
    visit.page.mouse.wheel(0, 1000)
    visit.picture("evidence-500")
    turn.get_by_role("button", name=f"{MANY - 8} more").click()
    names = turn.get_by_role("group", name="The answer as a table").locator("tbody td:first-child")
    assert set(names.all_inner_texts()) == set(crowd())


def test_names_are_told_in_the_language_that_is_chosen(visit: Visit) -> None:
    visit.begin("crowd")
    question = "Where does Ottilie Krummhorn work?"
    expect(visit.ask(question)).to_contain_text("Arnsbridge")
    visit.page.get_by_role("button", name="Settings").click()
    visit.page.get_by_label("Names in").select_option(label="German")
    visit.page.get_by_role("button", name="Close").click()
    expect(visit.ask(question)).to_contain_text("Arnsbrück")


def test_what_the_model_saw_is_in_pseudonyms_and_each_tells_its_name(visit: Visit) -> None:
    visit.begin(*DEMO)
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    visit.open_evidence(turn)
    turn.get_by_role("button", name="What the model saw").click()
    panel = visit.page.get_by_role("complementary", name="What the model saw")
    expect(panel).to_contain_text("Which patients are treated by E")
    assert "Mbekani" not in panel.inner_text()
    panel.locator(".mark").first.hover()
    expect(panel.get_by_role("tooltip")).to_have_text("Zeno Mbekani")
    visit.picture("seen")
    # All marked words are one stop of Tab, and arrows lead from one to the next.
    assert panel.locator(".mark[tabindex='0']").count() == 1
    panel.locator(".mark").first.focus()
    visit.page.keyboard.press("ArrowRight")
    expect(panel.locator(".mark").nth(1)).to_be_focused()
    expect(panel.get_by_role("tooltip")).to_be_visible()
    picture = turn.locator(".picture-box").bounding_box()
    assert picture is not None
    assert picture["x"] + picture["width"] <= panel.bounding_box()["x"]  # type: ignore[index]
    expect(panel.get_by_text("matches the ledger").first).to_be_visible()
    panel.get_by_role("button", name="With names").click()
    expect(panel).to_contain_text("Which patients are treated by Zeno Mbekani?")
    visit.picture("seen-with-names")
    visit.page.keyboard.press("Escape")
    visit.page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(turn.get_by_role("button", name="What the model saw")).to_be_focused()


def test_without_the_grant_to_inspect_only_names_of_the_answer_are_told(visit: Visit) -> None:
    visit.begin("demo")
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    turn.get_by_role("button", name="What the model saw").click()
    panel = visit.page.get_by_role("complementary", name="What the model saw")
    expect(panel).to_contain_text("Only names of this answer are known here")
    panel.locator(".mark").first.hover()
    expect(panel.get_by_role("tooltip")).to_have_text("Zeno Mbekani")
    visit.forgive(404)


def test_a_name_that_several_share_is_chosen_by_a_click(visit: Visit) -> None:
    visit.begin(*DEMO)
    first = visit.ask("What is Marta Lindqvist's date of birth?")
    expect(first.get_by_role("group", name="Which Marta Lindqvist do you mean?")).to_be_visible()
    visit.picture("which-one")
    choice = first.get_by_role("button", name=re.compile("Marta Lindqvist date of birth: 1991-12-02"))
    choice.click()
    second = visit.answered(1)
    expect(second.locator(".answer-text")).to_have_text("Marta Lindqvist's date of birth is 1991-12-02.")
    expect(first.get_by_role("group", name="Which Marta Lindqvist do you mean?")).to_have_count(0)


def test_two_turns_lean_on_each_other_and_both_are_there_after_a_reload(visit: Visit) -> None:
    visit.begin(*DEMO)
    visit.ask("Which doctor is Valeska Dornbusch treated by?")
    second = visit.ask("And where does he work?")
    expect(second.locator(".answer-text")).to_contain_text("Alder Clinic")
    visit.picture("two-turns")
    visit.page.reload()
    # The key is there, or these names could not be read.
    expect(visit.turns.nth(1).locator(".answer-text")).to_contain_text("Alder Clinic")
    third = visit.ask("Which city is it located in?")
    expect(third.locator(".answer-text .name").first).to_be_visible()
    visit.page.get_by_role("button", name="New conversation").click()
    expect(visit.turns).to_have_count(0)
    history = visit.page.get_by_role("complementary", name="Conversations")
    history.get_by_role("button", name=re.compile("^Which doctor is Valeska")).click()
    expect(visit.turns).to_have_count(3)


def test_everything_can_be_taken_out_of_the_browser(visit: Visit) -> None:
    visit.begin(*DEMO)
    visit.ask("Where does Rose live?")
    visit.page.get_by_role("button", name="Settings").click()
    visit.picture("settings")
    visit.page.get_by_role("button", name="Forget everything").click()
    visit.page.get_by_role("button", name="Delete it all").click()
    expect(visit.page.get_by_role("heading", name="Ask a private graph")).to_be_visible()
    assert visit.page.evaluate(LEFT) == [0, 0, 0]


LEFT = """async () => {
  const db = await new Promise((done) => { const r = indexedDB.open('arog'); r.onsuccess = () => done(r.result); });
  const count = (store) => new Promise((done) => {
    const r = db.transaction(store).objectStore(store).count(); r.onsuccess = () => done(r.result);
  });
  return Promise.all(['settings', 'keys', 'conversations'].map(count));
}"""


def test_a_key_that_ended_is_told_and_another_goes_on_in_the_same_browser(visit: Visit, house: House) -> None:
    made = house.call("POST", "/admin/keys", json={"tenant": "default", "grants": ["demo"], "role": "user"}).json()
    house.keys["once demo"] = made["key"]
    visit.begin("once demo")
    visit.ask("Where does Rose live?")
    house.call("DELETE", f"/admin/keys/{made['key_id']}")
    visit.page.get_by_label("Your question").fill("Who is Bibo treated by?")
    visit.page.keyboard.press("Enter")
    visit.page.get_by_role("button", name="Enter another API key").click()
    visit.enter(house.key(*DEMO))
    expect(visit.turns.first.locator(".answer-text")).to_contain_text("Lower Gallenbach")
    visit.forgive(401)


def test_a_service_that_goes_is_told_and_answers_when_it_is_back(visit: Visit, house: House) -> None:
    visit.begin(*DEMO)
    visit.ask("Where does Rose live?")
    house.end()
    try:
        visit.page.get_by_label("Your question").fill("Who is Bibo treated by?")
        visit.page.keyboard.press("Enter")
        alert = visit.turns.nth(1).get_by_role("alert")
        expect(alert).to_contain_text("The service can't be reached.")
        visit.picture("server-gone")
    finally:
        house.start()
    visit.turns.nth(1).get_by_role("button", name="Try again").click()
    expect(visit.answered(1).locator(".answer-text")).to_contain_text("Runa Rabenhorst")
    visit.complaints = [one for one in visit.complaints if "net::ERR_" not in one]


def test_a_question_can_be_stopped_and_asked_again(visit: Visit, house: House) -> None:
    visit.begin(*DEMO)
    house.wire.is_holding = True
    visit.page.get_by_label("Your question").fill("Where does Rose live?")
    visit.page.keyboard.press("Enter")
    visit.page.get_by_role("button", name="Stop").click()
    expect(visit.turns.first).to_contain_text("Stopped.")
    house.wire.is_holding = False
    visit.turns.first.get_by_role("button", name="Ask again").click()
    expect(visit.answered(0).locator(".answer-text")).to_contain_text("Lower Gallenbach")


def test_everything_can_be_done_with_the_keyboard_alone(visit: Visit) -> None:
    visit.begin(*DEMO)
    visit.page.keyboard.type("Where does Rose live?")
    visit.page.keyboard.press("Enter")
    turn = visit.answered(0)
    status = visit.page.get_by_role("status").first
    expect(status).to_contain_text("Lower Gallenbach")
    _press_until(visit, "Shift+Tab", turn.get_by_role("button", name="What the model saw"))
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("heading", name="What the model saw")).to_be_focused()
    visit.page.keyboard.press("Escape")
    expect(turn.get_by_role("button", name="What the model saw")).to_be_focused()
    visit.page.keyboard.press("Shift+Tab")
    for is_shown in (True, False, True):
        visit.page.keyboard.press("Enter")
        expect(turn.get_by_role("group", name="Evidence", exact=True)).to_have_count(int(is_shown))
    _press_until(visit, "Tab", turn.get_by_role("button", name="Table", exact=True))
    visit.page.keyboard.press("Enter")
    expect(turn.get_by_role("table")).to_be_visible()


def _press_until(visit: Visit, key: str, button: Locator) -> None:
    """Presses `key` until `button` has the focus, past whatever stands between."""
    for _ in range(15):
        visit.page.keyboard.press(key)
        if button.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError(f"{key} does not reach the button")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(visit: Visit, scheme: str) -> None:
    visit.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    visit.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    visit.begin(*DEMO)
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    visit.picture(f"phone-{scheme}")
    turn.get_by_role("button", name="What the model saw").click()
    panel = visit.page.get_by_role("complementary", name="What the model saw")
    expect(panel).to_contain_text("Prompt 1")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    visit.picture(f"phone-seen-{scheme}")
    panel.get_by_role("button", name="Close").click()
    visit.page.get_by_role("button", name="Conversations").click()
    expect(visit.page.get_by_role("dialog", name="Conversations")).to_be_visible()


def test_dark_is_the_systems_choice_or_the_readers(visit: Visit) -> None:
    visit.begin(*DEMO)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = visit.page.evaluate(ground)
    visit.page.emulate_media(color_scheme="dark")
    dark = visit.page.evaluate(ground)
    assert dark != light
    visit.page.get_by_role("button", name="Settings").click()
    visit.page.get_by_label("Light").check()
    assert visit.page.evaluate(ground) == light
    visit.page.reload()
    expect(visit.page.get_by_label("Your question")).to_be_visible()
    assert visit.page.evaluate(ground) == light
    visit.page.get_by_role("button", name="Settings").click()
    visit.page.get_by_label("Dark").check()
    visit.page.get_by_role("button", name="Close").click()
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    visit.open_evidence(turn).locator(".picture[data-drawn=true]").wait_for()
    visit.picture("dark")
