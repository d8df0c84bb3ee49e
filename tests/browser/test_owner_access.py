"""axe-core looks at every view of owners, in light, dark and on a phone, and finds no serious fault."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import PHONE, Visit
from tests.browser.test_access_for_all import AXE, faults_on
from tests.browser.test_owner import NORTH, choose, file_of, go


def found_on(page: Page, rules: list[str] | None) -> list[str]:
    """Findings of axe-core, by all of its rules or by some."""
    if rules is None:
        return faults_on(page)
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("(rules) => axe.run(document, {runOnly: rules})", rules)["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]


RULES = {"light": None, "dark": ["color-contrast"], "phone": ["scrollable-region-focusable", "target-size"]}


@pytest.mark.parametrize("look", RULES)
def test_no_view_of_owners_has_a_serious_fault(visit: Visit, look: str) -> None:
    page = visit.page
    if look == "dark":
        page.emulate_media(color_scheme="dark")
    if look == "phone":
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    faults: dict[str, list[str]] = {}

    def look_at(state: str) -> None:
        faults[state] = found_on(page, RULES[look])
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        faults[state] += [f"{wide} pixels too wide"] if wide > 0 else []
        if look == "phone" and state == "report":
            visit.picture(f"owner-{state}-phone")

    go(visit)
    page.get_by_role("link", name="demo", exact=True).wait_for()
    look_at("list")
    page.get_by_role("link", name="demo", exact=True).click()
    page.get_by_role("heading", name="How many are alike").wait_for()
    look_at("report")
    page.get_by_role("button", name="Delete …").click()
    look_at("delete")
    choose(visit, file_of("n.ttl", NORTH), file_of("x.ttl", NORTH + ':p3 rdfs:label "Nora'))
    page.locator(".fault").wait_for()
    look_at("fault")
    page.get_by_label("Take x.ttl out").click()
    page.locator(".sample").wait_for()
    look_at("columns")
    page.get_by_role("button", name="TOML").click()
    look_at("preview")
    go(visit, "/keys")
    page.get_by_role("button", name="Make a key").click()
    page.get_by_label("demo", exact=True).check()
    look_at("new-key")
    page.get_by_role("button", name="Cancel").click()
    look_at("keys")
    go(visit, "/ledger")
    page.get_by_role("button", name="Check it").click()
    page.get_by_text("The ledger is whole.").wait_for()
    look_at("ledger")
    assert not {state: found for state, found in faults.items() if found}
