"""The graph to look through: kinds as tables, things and their facts, by links and by a name; and who may not."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, Visit
from tests.browser.test_access_for_all import faults_on

DEMO = ("demo", "inspect:demo")


@pytest.mark.parametrize("look", ["desk", "phone"])
def test_a_graph_is_looked_through_and_names_come_sealed(visit: Visit, look: str) -> None:
    page, wire = visit.page, visit.house.wire
    if look == "phone":
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    visit.begin(*DEMO)
    visit.ask("Who is Giulia D'Amaro treated by?")
    wire.forget()
    visit.turns.first.get_by_role("button", name="Runa Rabenhorst", exact=True).click()
    page.get_by_role("dialog", name="Runa Rabenhorst").get_by_role("link", name="All facts").click()
    expect(page.get_by_role("heading", name="Runa Rabenhorst")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text("Giulia D'Amaro")
    faults = faults_on(page)
    visit.picture(f"browse-thing-{look}")
    page.locator(".facts").get_by_role("link", name="Giulia D'Amaro").click()
    expect(page.get_by_role("heading", name="Giulia D'Amaro")).to_be_visible()
    page.get_by_role("link", name="demo", exact=True).click()
    page.get_by_role("link", name="cities").click()
    expect(page.get_by_role("rowheader", name="Lower Gallenbach")).to_be_visible()
    faults += faults_on(page)
    assert not [name for name in ("Rabenhorst", "Amaro", "Gallenbach") if name.encode() in wire.got + wire.sent]
    page.get_by_role("link", name="demo", exact=True).click()
    page.get_by_label("Find a thing by its name").fill("Mbekani")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Zeno Mbekani")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Browse").click()
    expect(page.get_by_role("heading", name="What demo holds")).to_be_visible()
    visit.picture(f"browse-{look}")
    assert not faults + faults_on(page)


def first_cells(page: Page) -> list[str]:
    """The first cell of each row, once the table is the one that was asked for."""
    expect(page.locator(".kind-table")).to_have_attribute("aria-busy", "false")
    return page.locator("tbody tr > :first-child").all_inner_texts()


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_a_kind_is_a_table_that_is_sorted_filtered_and_saved(visit: Visit, look: str) -> None:
    page = visit.page
    if look == "phone":
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="dark" if look == "dark" else "light")
    visit.begin(*DEMO)
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Browse").click()
    page.get_by_role("link", name="patients").click()
    expect(page.get_by_role("heading", name="90 patients")).to_be_visible()
    expect(page.get_by_role("columnheader", name="insurance number")).to_contain_text("not shown to models")
    assert len(first_cells(page)) == 25
    faults = faults_on(page)
    visit.picture(f"browse-table-{look}")
    page.get_by_role("button", name="date of birth", exact=True).click()
    expect(page.get_by_role("columnheader", name="date of birth")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Filter by lives in").click()
    choices = page.get_by_role("dialog", name="Filter by lives in")
    expect(choices.get_by_role("button", name="Arnsbridge")).to_be_visible()
    faults += faults_on(page)
    visit.picture(f"browse-filter-{look}")
    choices.get_by_role("button", name="Arnsbridge").click()
    expect(page.get_by_role("heading", name="of 90 patients")).to_be_visible()
    page.get_by_label("Text in a name").fill("a")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="name: “a”")).to_be_visible()
    shown = first_cells(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV of this page").click()
    rows = saved.value.path().read_text("utf-8").splitlines()
    assert [row.split(",")[0].strip('"') for row in rows[1:]] == shown
    page.get_by_role("rowheader").first.get_by_role("link").click()
    expect(page.get_by_role("heading", name=shown[0])).to_be_visible()
    page.go_back()
    expect(page.get_by_role("button", name="lives in: Arnsbridge")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    assert not faults + faults_on(page)


def test_rows_without_a_name_are_shown_and_the_keyboard_is_enough(visit: Visit) -> None:
    page, wire = visit.page, visit.house.wire
    visit.begin(*DEMO)
    wire.forget()
    page.goto(f"{wire.url}#/browse")
    page.get_by_role("link", name="prescriptions").press("Enter")
    expect(page.get_by_role("heading", name="70 prescriptions")).to_be_visible()
    page.get_by_role("button", name="prescribed on", exact=True).press("Enter")
    first = page.locator("tbody tr").first
    expect(first).to_contain_text("2023")
    expect(first.get_by_role("link", name="open")).to_be_visible()
    visit.picture("browse-rows")
    page.get_by_role("button", name="Filter by prescribed drug").press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Filter by prescribed drug")).to_be_hidden()
    page.get_by_role("button", name="Next").press("Enter")
    expect(page.get_by_text("26 to 50 of 70")).to_be_visible()
    assert not [name for name in ("Rabenhorst", "Cardimel") if name.encode() in wire.got + wire.sent]
    assert not faults_on(page)


def test_who_may_only_ask_does_not_look_through_a_graph(visit: Visit) -> None:
    visit.begin("demo")
    turn = visit.ask("Who is Giulia D'Amaro treated by?")
    expect(turn.get_by_role("button", name="Runa Rabenhorst", exact=True)).to_be_visible()
    assert visit.page.get_by_role("link", name="Browse").count() == 0
    assert turn.get_by_role("link").count() == 0
