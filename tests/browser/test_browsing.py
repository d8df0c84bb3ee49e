"""The graph to look through: concepts, things and their facts, by links and by a name; and who may not."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

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
    expect(page.get_by_role("link", name="Lower Gallenbach")).to_be_visible()
    faults += faults_on(page)
    assert not [name for name in ("Rabenhorst", "Amaro", "Gallenbach") if name.encode() in wire.got + wire.sent]
    page.get_by_label("Find a thing by its name").fill("Mbekani")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Zeno Mbekani")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Browse").click()
    expect(page.get_by_role("heading", name="What demo holds")).to_be_visible()
    visit.picture(f"browse-{look}")
    assert not faults + faults_on(page)


def test_who_may_only_ask_does_not_look_through_a_graph(visit: Visit) -> None:
    visit.begin("demo")
    turn = visit.ask("Who is Giulia D'Amaro treated by?")
    expect(turn.get_by_role("button", name="Runa Rabenhorst", exact=True)).to_be_visible()
    assert visit.page.get_by_role("link", name="Browse").count() == 0
    assert turn.get_by_role("link").count() == 0
