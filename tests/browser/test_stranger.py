"""A stranger with five tables and the page alone: from signing in to the first answer, as pictures."""

from __future__ import annotations

import re
import time
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.support.service import OPERATOR_KEY

SHOP = Path(__file__).parents[1] / "kg_store" / "proposals" / "companies" / "shop"
MAX_S = 300


def set_to(page: Page, column: str, exposure: str) -> None:
    button = page.get_by_role("group", name=f"{column} to a model", exact=True).get_by_role("button", name=exposure)
    button.first.click()
    expect(button.first).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Looking at the files")).to_have_count(0)


def test_a_stranger_loads_five_tables_and_asks_within_five_minutes(visit: Visit) -> None:
    page, began = visit.page, time.monotonic()
    page.goto(visit.house.wire.url)
    page.get_by_role("heading", name="Ask a private graph").wait_for()
    visit.picture("stranger-1-sign-in")
    visit.enter(OPERATOR_KEY)
    page.get_by_role("link", name="Graphs").click()
    page.get_by_role("link", name="Load a graph").click()
    page.get_by_label("Files of the graph").set_input_files(sorted(SHOP.glob("*.csv")))
    page.locator(".column-table").first.wait_for()
    page.get_by_label("Name", exact=True).fill("shop")
    visit.picture("stranger-2-files")
    try:
        set_to(page, "Loyalty Tier", "masked")
        for column in ("Member Since", "Quantity"):
            set_to(page, column, "shown")
            set_to(page, column, "private")
        page.get_by_role("group", name="Member Since to a model").first.scroll_into_view_if_needed()
        visit.picture("stranger-3-columns")
        page.get_by_role("button", name="TOML").click()
        expect(page.get_by_label("Policy, as TOML")).to_have_value(re.compile("customers.csv"))
        page.get_by_role("button", name="Load", exact=True).click()
        page.get_by_role("button", name="Make it live").wait_for(timeout=60_000)
        visit.picture("stranger-4-verdict")
        page.get_by_role("button", name="Make it live").click()
        page.get_by_role("button", name="Ask it now").wait_for()
        visit.picture("stranger-5-loaded")
        page.get_by_role("button", name="Ask it now").click()
        expect(page.get_by_label("Graph", exact=True)).to_have_value("shop")
        turn = visit.ask("How many customers are there?")
        expect(turn.locator(".answer-text .name")).to_have_text("45")
        visit.picture("stranger-6-answer")
    finally:
        visit.house.call("DELETE", "/admin/graphs/shop")
    assert time.monotonic() - began < MAX_S
