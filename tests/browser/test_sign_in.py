"""Persons sign in on the page, at a real OpenID provider, under the page's policy for what it may reach."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack

import httpx2
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.demo import GRAPH_FILE, POLICY_FILE
from tests.browser.conftest import House, Visit
from tests.browser.wire import Wire
from tests.support.processes.openid_provider import CLIENT_ID, Provider, providing

GROUPS = """
[[group]]
name = "doctors"
grants = ["demo"]
"""
DOCTOR, OTHER_DOCTOR, GUEST = "8f0e-doctor", "8f0e-other", "8f0e-guest"
QUESTION = "Which patients are treated by Dr. Mbekani?"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with providing({DOCTOR: ["doctors"], OTHER_DOCTOR: ["doctors"], GUEST: []}, id_token_s=65) as provider:
        yield provider


@pytest.fixture
def house(provider: Provider, tmp_path_factory: pytest.TempPathFactory, of_this_checkout: None) -> Iterator[House]:
    """A service of its own, at which persons sign in."""
    with ExitStack() as stack:
        wire = Wire()
        stack.callback(wire.close)
        folder = tmp_path_factory.mktemp("signed")
        (folder / "groups.toml").write_text(GROUPS)
        settings = {
            "OIDC_ISSUER": provider.issuer,
            "OIDC_CLIENT_ID": CLIENT_ID,
            "OIDC_GROUPS": str(folder / "groups.toml"),
        }
        house = House(wire, folder, stack, settings=settings)
        house.start()
        house.load("demo", ("clinic.ttl", GRAPH_FILE.read_bytes()), POLICY_FILE.read_bytes())
        yield house


@pytest.fixture(autouse=True)
def no_foreign_styles(context: BrowserContext) -> None:
    """The provider's own pages ask for letters at another address, which is out of reach."""
    context.route(re.compile(r"^https:"), lambda route: route.fulfill(body="", content_type="text/css"))


def sign_in(page: Page, login: str) -> None:
    """From the first-run screen to the provider, and back; agrees where the provider asks."""
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.locator("input[name=login]").fill(login)
    page.locator("input[name=password]").fill("any")
    page.locator("button[type=submit]").click()
    page.get_by_role("button", name="Continue").click()


def test_a_person_signs_in_asks_and_signs_out(visit: Visit, provider: Provider) -> None:
    page, wire = visit.page, visit.house.wire
    page.goto(wire.url)
    page.get_by_role("button", name="Sign in", exact=True).wait_for()
    visit.picture("sign-in")
    sign_in(page, DOCTOR)
    page.get_by_role("heading", name="What would you like to know?").wait_for()
    assert page.url.rstrip("/#") == wire.url.rstrip("/")
    expect(visit.ask(QUESTION).locator(".answer-text")).to_contain_text("Yusra Niederauer")
    page.reload()
    expect(visit.turns.first.locator(".answer-text")).to_contain_text("Yusra Niederauer")
    # The token lasts 65 s, and is renewed in the last 60.
    before = page.evaluate("JSON.parse(sessionStorage['arog.person']).refresh_token")
    page.wait_for_timeout(6_000)
    visit.ask("And where does Marta Lindqvist live?")
    assert page.evaluate("JSON.parse(sessionStorage['arog.person']).refresh_token") != before
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in", exact=True).wait_for()
    assert page.evaluate("sessionStorage.length") == 0
    # The provider's own sign-in has not ended: it has to ask, or the next one here would be this one.
    sign_in(page, OTHER_DOCTOR)
    page.get_by_role("heading", name="What would you like to know?").wait_for()
    expect(page.get_by_text("Your conversations stay in this browser.")).to_have_count(1)
    expect(visit.turns).to_have_count(0)


def test_whoever_is_in_no_group_is_told_so_and_can_sign_out(visit: Visit) -> None:
    visit.page.goto(visit.house.wire.url)
    sign_in(visit.page, GUEST)
    expect(visit.page.get_by_role("alert")).to_have_attribute("data-code", "no_group")
    visit.page.get_by_role("button", name="Sign out").click()
    visit.page.get_by_role("button", name="Sign in", exact=True).wait_for()
    visit.forgive(403)


def test_a_revoked_person_is_told_that_the_sign_in_has_ended(visit: Visit) -> None:
    visit.page.goto(visit.house.wire.url)
    sign_in(visit.page, DOCTOR)
    visit.page.get_by_role("heading", name="What would you like to know?").wait_for()
    (key,) = visit.house.call("GET", "/admin/keys").json()["keys"]
    visit.house.call("DELETE", f"/admin/keys/{key['key_id']}")
    visit.page.get_by_label("Your question").fill(QUESTION)
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("alert")).to_contain_text("Your sign-in has ended.")
    visit.page.reload()
    visit.page.get_by_role("button", name="Sign in", exact=True).wait_for()
    visit.forgive(401)


def test_an_api_key_still_lets_in_where_persons_sign_in(visit: Visit) -> None:
    visit.begin("demo")
    expect(visit.ask(QUESTION).locator(".answer-text")).to_contain_text("Yusra Niederauer")


def test_the_page_may_reach_the_provider_and_nothing_else(
    visit: Visit, context: BrowserContext, provider: Provider
) -> None:
    visit.page.goto(visit.house.wire.url)
    visit.page.get_by_role("button", name="Sign in", exact=True).wait_for()
    policy = httpx2.get(visit.house.wire.url).headers["content-security-policy"]
    assert f"connect-src 'self' {provider.issuer};" in policy
    try_it = "(url) => fetch(url, {mode: 'no-cors'}).then(() => 'reached', () => 'refused')"
    assert visit.page.evaluate(try_it, provider.issuer) == "reached"
    assert visit.house.service is not None
    assert visit.page.evaluate(try_it, f"http://127.0.0.1:{visit.house.service.port}/") == "refused"
    visit.complaints.clear()  # Of the two that were provoked.
