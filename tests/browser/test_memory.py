"""The page's view of what is remembered: listed with names, saved, and forgotten one by one or all."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, Visit
from tests.browser.test_access_for_all import faults_on

LIVES = "Giulia D'Amaro lives in Tarnmouth."
PREFERS = "Runa Rabenhorst prefers mornings."
NAMES = ("Amaro", "Rabenhorst", "Tarnmouth")


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_what_is_remembered_is_listed_saved_and_forgotten(visit: Visit, look: str) -> None:
    page, wire = visit.page, visit.house.wire
    if look == "phone":
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="dark" if look == "dark" else "light")
    visit.begin("demo")
    for sentence in (LIVES, PREFERS):
        visit.ask(f"Remember that {sentence}")
    wire.forget()
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Memory").click()
    expect(page.get_by_role("heading", name="What is remembered for you")).to_be_visible()
    entries = page.locator(".memory-entry")
    expect(entries).to_have_count(2)
    expect(entries.first).to_contain_text(PREFERS)
    expect(entries.first).to_contain_text("as you said it")
    expect(entries.last).to_contain_text(LIVES)
    faults = faults_on(page)
    if look == "light":
        visit.picture("memory")
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()
    file = json.loads(saved.value.path().read_text("utf-8"))
    assert [each["text"] for each in file["facts"]] == [PREFERS, LIVES]
    page.get_by_role("button", name=f"Offer to the owner: {LIVES}").click()
    expect(entries.last).to_contain_text("offered to the owner")
    (offer,) = visit.house.call("GET", "/admin/graphs/demo/offers").json()["offers"]
    assert offer["relation"] == "lives in"
    page.get_by_role("button", name=f"Take the offer back: {LIVES}").click()
    expect(entries.last).not_to_contain_text("offered to the owner")
    assert visit.house.call("GET", "/admin/graphs/demo/offers").json()["offers"] == []
    page.get_by_role("button", name=f"Forget: {PREFERS}").press("Enter")
    expect(entries).to_have_count(1)
    expect(page.get_by_role("status").filter(has_text=f"Forgotten: {PREFERS}")).to_be_visible()
    page.get_by_role("button", name="Forget it all …").click()
    page.get_by_role("button", name="Forget it all for good").click()
    expect(page.get_by_text("Nothing. To have something remembered")).to_be_visible()
    faults += faults_on(page)
    page.reload()
    expect(page.get_by_text("Nothing. To have something remembered")).to_be_visible()
    # Names came sealed, and none went out.
    assert not [name for name in NAMES if name.encode() in wire.got + wire.sent]
    assert not faults
