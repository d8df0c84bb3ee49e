"""axe-core looks at every state of the page, in light, dark and on a phone, and finds no serious fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from app.api.web_page import DIST
from tests.browser.conftest import PHONE, Visit

AXE = DIST.parent / "node_modules" / "axe-core" / "axe.min.js"
RUN = "() => axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"


def faults_on(page: Page) -> list[str]:
    """Each with its rule and where it is."""
    page.evaluate(Path(AXE).read_text("utf-8"))
    found: list[dict[str, Any]] = page.evaluate(RUN)["violations"]
    return [
        f"{one['impact']} {one['id']}: {[node['target'] for node in one['nodes']]}"
        for one in found
        if one["impact"] in ("serious", "critical", "moderate")
    ]


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_no_state_of_the_page_has_a_serious_fault(visit: Visit, look: str) -> None:
    page = visit.page
    if look == "dark":
        page.emulate_media(color_scheme="dark")
    if look == "phone":
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    faults: dict[str, list[str]] = {}
    page.goto(visit.house.wire.url)
    page.get_by_role("heading", name="Ask a private graph").wait_for()
    faults["first run"] = faults_on(page)
    visit.begin("demo", "inspect:demo")
    faults["empty"] = faults_on(page)
    turn = visit.ask("What is Marta Lindqvist's date of birth?")
    faults["choices"] = faults_on(page)
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    faults["answer"] = faults_on(page)
    visit.open_evidence(turn).locator(".picture[data-drawn=true]").wait_for()
    faults["picture"] = faults_on(page)
    visit.open_evidence(turn, "Table")
    faults["table"] = faults_on(page)
    turn.get_by_role("button", name="What the model saw").click()
    panel = page.get_by_role("complementary", name="What the model saw")
    panel.locator(".mark").first.focus()
    faults["seen"] = faults_on(page)
    panel.get_by_role("button", name="With names").click()
    faults["seen with names"] = faults_on(page)
    panel.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Settings").click()
    faults["settings"] = faults_on(page)
    page.get_by_role("button", name="Close").click()
    page.get_by_role("link", name="Graphs").click()
    page.get_by_role("heading", name="Graphs").wait_for()
    faults["graphs"] = faults_on(page)
    visit.forgive(403)  # Whether this key may look after graphs is asked of the service.
    assert not {state: found for state, found in faults.items() if found}
