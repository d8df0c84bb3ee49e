"""The page for owners: loads with their faults and previews, reports, keys and the ledger; no name gets out."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.conftest import House, Visit
from tests.support.service import OPERATOR_KEY, QUESTION, SECRET_NAMES

NORTH = """@prefix : <http://north.invalid/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:p1 a :Patient ; rdfs:label "Valdis Ozolkrasts" ; :treatedBy :p2 ; :livesIn :c1 ; :weight 71.5 .
:p2 a :Doctor ; rdfs:label "Quenby Thistlewood" ; :livesIn :c1 .
:c1 a :City ; rdfs:label "Zemgalburg" .
"""
FAULT_AT = 1_204
ROLES = '[roles.reception]\nwithhold_relations = ["http://north.invalid/weight"]\n'


def file_of(name: str, content: str | bytes) -> FilePayload:
    raw = content.encode() if isinstance(content, str) else content
    return {"name": name, "mimeType": "application/octet-stream", "buffer": raw}


def go(visit: Visit, where: str = "") -> Page:
    """The owner's pages; through the first-run screen when it is the first time."""
    page = visit.page
    if page.url == "about:blank":
        page.goto(visit.house.wire.url)
        visit.enter(OPERATOR_KEY)
        page.get_by_role("link", name="Graphs").wait_for()
    page.goto(f"{visit.house.wire.url}#/graphs{where}")
    return page


def choose(visit: Visit, *files: FilePayload, name: str = "north") -> Page:
    page = go(visit, "/load")
    page.get_by_label("Files of the graph").set_input_files(list(files))
    page.get_by_label("Name", exact=True).fill(name)
    return page


def looked(page: Page) -> None:
    """Once a preview is there; then the policy as text."""
    page.locator(".sample").wait_for()
    page.get_by_role("button", name="TOML").click()


@pytest.fixture
def north(house: House) -> Iterator[str]:
    """A graph with a role, gone afterwards."""
    house.load("north", ("north.ttl", NORTH.encode()), ROLES.encode())
    yield "north"
    house.call("DELETE", "/admin/graphs/north")


def graphs_of(house: House) -> list[str]:
    return [graph["name"] for graph in house.call("GET", "/admin/graphs").json()["graphs"]]


def broken_file() -> bytes:
    lines = [f':x{number} rdfs:label "Person number {number}" .' for number in range(FAULT_AT + 50)]
    lines[:2] = NORTH.splitlines()[:2]
    lines[FAULT_AT - 1] = ':x rdfs:label "Nora Lindqvist .'
    return gzip.compress("\n".join(lines).encode())


def test_a_fault_is_told_with_the_files_own_name_and_line_and_shown_from_the_file(visit: Visit) -> None:
    page = choose(visit, file_of("Valdis and others.ttl.gz", broken_file()))
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("button", name="Load", exact=True).click()
    expect(page.get_by_label("The load failed").get_by_role("alert")).to_contain_text(
        f"In Valdis and others.ttl.gz, line {FAULT_AT}: not valid Turtle"
    )
    shown = page.get_by_role("region", name=f"Lines around line {FAULT_AT}")
    expect(shown).to_contain_text("Nora Lindqvist")
    expect(shown.locator(".fault-here")).to_contain_text(str(FAULT_AT))
    visit.forgive(422)
    assert b"Lindqvist" not in visit.house.wire.got
    assert "north" not in graphs_of(visit.house)
    visit.picture("owner-fault")


def test_a_broken_file_among_others_is_told_before_they_are_loaded_without_it(visit: Visit) -> None:
    page = choose(visit, file_of("whole.ttl", NORTH), file_of("Valdis and others.ttl.gz", broken_file()))
    told = page.get_by_role("alert")
    expect(told).to_contain_text(f"In Valdis and others.ttl.gz, line {FAULT_AT}: not valid Turtle")
    expect(told).to_contain_text("This file is left out.")
    expect(page.get_by_role("region", name=f"Lines around line {FAULT_AT}")).to_contain_text("Nora Lindqvist")
    expect(page.locator(".sample")).to_contain_text("Valdis Ozolkrasts")
    assert b"Lindqvist" not in visit.house.wire.got


def test_files_are_dropped_and_what_can_not_be_taken_is_told(visit: Visit) -> None:
    page = go(visit, "/load")
    names = ["people.ttl", "words.owl", "notes.exe", "old.toml", "policy.toml"]
    dropped = page.evaluate_handle(DROPPED, [[name, f'types = "hide" # {name}'] for name in names])
    page.locator(".drop").dispatch_event("drop", {"dataTransfer": dropped})
    rows = page.locator(".file-row")
    expect(rows).to_have_count(2)
    rows.filter(has_text="words.owl").get_by_role("combobox").select_option("words of relations")
    refused = page.get_by_role("alert").filter(has_text="notes.exe has no ending that can be loaded.")
    expect(refused).to_contain_text("old.toml is left out: there is one policy.")
    expect(page.locator("[data-code=load_failed], [data-code=bad_policy]").first).to_be_visible()
    page.get_by_role("button", name="TOML").click()
    expect(page.get_by_label("Policy, as TOML")).to_have_value('types = "hide" # policy.toml')
    visit.forgive(422)


DROPPED = """(files) => {
  const given = new DataTransfer();
  for (const [name, text] of files) given.items.add(new File([text], name));
  return given;
}"""


def test_a_load_tells_how_far_it_is_waits_for_a_word_and_goes_live(visit: Visit) -> None:
    page = choose(visit, file_of("n.ttl.gz", gzip.compress(NORTH.encode())), file_of("policy.toml", ROLES))
    page.get_by_role("button", name="TOML").click()
    expect(page.get_by_label("Policy, as TOML")).to_have_value(ROLES)
    page.evaluate(WATCH_PROGRESS)
    page.get_by_role("button", name="Load", exact=True).click()
    expect(page.get_by_role("heading", name="north is ready to go live")).to_be_visible()
    expect(page.get_by_role("heading", name="How well a prompt hides whom it shows")).to_be_visible()
    assert "north" not in graphs_of(visit.house)
    # It goes on while another view is shown, and when the page is loaded anew.
    page.get_by_role("link", name="Keys").click()
    page.get_by_role("link", name="Load", exact=True).click()
    expect(page.get_by_role("heading", name="north is ready to go live")).to_be_visible()
    steps = page.evaluate("window.steps")
    page.reload()
    page.get_by_role("button", name="Make it live").click()
    expect(page.get_by_role("heading", name="north is loaded")).to_be_visible()
    assert steps[0] == "sending the files …"
    assert visit.house.call("GET", "/admin/graphs/north/policy").json()["roles"] == ["reception"]
    page.get_by_role("link", name="See its report").click()
    page.get_by_role("button", name="Delete …").click()
    page.get_by_role("button", name="Delete the graph").click()
    expect(page.get_by_role("link", name="demo", exact=True)).to_be_visible()
    assert "north" not in graphs_of(visit.house)


WATCH_PROGRESS = """() => {
  window.steps = [];
  new MutationObserver(() => {
    const step = document.querySelector('.load-progress [role=status]')?.textContent;
    if (step && document.querySelector('progress') && step !== window.steps.at(-1)) window.steps.push(step);
  }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def test_a_version_that_is_dropped_leaves_all_as_it_was(visit: Visit, north: str) -> None:
    before = visit.house.call("GET", "/admin/graphs").json()
    page = choose(visit, file_of("n.ttl", NORTH), name=north)
    expect(page.get_by_text("A new version of north")).to_be_visible()
    page.get_by_role("button", name="Load", exact=True).click()
    page.get_by_role("button", name="Drop it").click()
    expect(page.get_by_role("alert")).to_contain_text("The load was stopped")
    assert visit.house.call("GET", "/admin/graphs").json() == before


def test_a_preview_shows_what_a_model_would_see_and_names_only_here(visit: Visit) -> None:
    visit.house.wire.forget()
    page = choose(visit, file_of("n.ttl", NORTH))
    looked(page)
    sample = page.locator(".sample")
    for name in ("Valdis Ozolkrasts", "Quenby Thistlewood", "Zemgalburg"):
        expect(sample.get_by_text(name)).to_be_visible()
    expect(sample).to_contain_text("treated by → ")
    label = page.get_by_role("row").filter(has_text="label").first
    expect(label).to_contain_text("names")
    page.get_by_role("heading", name="Predicates and counts").scroll_into_view_if_needed()
    page.locator("main").evaluate("(main) => main.scrollBy(0, 620)")
    visit.picture("owner-preview")
    page.get_by_label("How treatedBy is shown").select_option("masked")
    page.get_by_label("How values of weight are shown").select_option("bucket")
    page.get_by_label("Words for livesIn").fill("is at home in")
    expect(page.get_by_text("This is of before your last change.")).to_be_visible()
    policy = page.get_by_label("Policy, as TOML").input_value()
    assert '[relations."http://north.invalid/treatedBy"]\nmask = true\n' in policy
    assert '[relations."http://north.invalid/weight"]\nvalues = "bucket"\n' in policy
    page.get_by_role("button", name="Look again").click()
    expect(sample).to_contain_text("its rough size shown")
    expect(sample).to_contain_text("is at home in → ")
    expect(sample).not_to_contain_text("treated by")
    assert not [name for name in SECRET_NAMES if name.encode() in visit.house.wire.got]
    assert "north" not in graphs_of(visit.house)


def test_a_policy_that_is_wrong_is_marked_at_its_line(visit: Visit) -> None:
    page = choose(visit, file_of("n.ttl", NORTH))
    looked(page)
    policy = page.get_by_label("Policy, as TOML")
    for text, line in (('types = "hide"\n\nnames = [\n\n= 3\n', "5"), ('\n\n\ntypes = "sometimes"\n', "4")):
        policy.fill(text)
        page.get_by_role("button", name="Look first").click()
        expect(page.get_by_role("alert")).to_have_attribute("data-code", "bad_policy")
        expect(page.locator(".editor-fault")).to_have_text(line)
    visit.forgive(422)


def test_the_report_has_its_pictures_and_can_be_saved(visit: Visit) -> None:
    page = go(visit, "/of/demo")
    expect(page.get_by_role("heading", name="How many are alike")).to_be_visible()
    expect(page.get_by_role("img", name="100 % in sets of 5–19").first).to_be_visible()
    page.get_by_role("button", name="Same paths of two").click()
    expect(page.get_by_text("have the same paths of two relations,")).to_be_visible()
    page.get_by_role("heading", name="How many are alike").scroll_into_view_if_needed()
    visit.picture("owner-report")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as JSON").click()
    assert json.loads(Path(saved.value.path()).read_bytes())["graph"] == "demo"


def test_a_key_is_made_shown_once_used_and_revoked(visit: Visit, north: str) -> None:
    page = go(visit, "/keys")
    page.get_by_role("button", name="Make a key").click()
    page.get_by_label("Label").fill("night shift")
    page.get_by_label(north, exact=True).check()
    page.get_by_label("sees").select_option("what the role reception is shown")
    page.get_by_label("and the names in what the model saw of its questions").check()
    page.get_by_label("Ends").select_option("In a week")
    page.get_by_role("button", name="Make it").click()
    key = page.get_by_label("API key").input_value()
    visit.picture("owner-key")
    page.get_by_role("button", name="Done").click()
    assert key not in page.locator("main").inner_text()
    made = visit.house.call("GET", "/admin/keys").json()["keys"][-1]
    assert made["grants"] == [f"inspect:{north}", f"{north}#reception"]
    headers, url = {"Authorization": f"Bearer {key}"}, f"{visit.house.wire.url}graphs"
    assert httpx2.get(url, headers=headers).json()["graphs"] == [north]
    card = page.get_by_role("article").filter(has_text=made["key_id"])
    expect(card).to_contain_text("north as reception")
    expect(card.get_by_role("heading", name="night shift")).to_be_visible()
    expect(card).to_contain_text("never used")
    card.get_by_role("button", name="Devices").click()
    expect(card).to_contain_text("None is registered.")
    card.get_by_role("button", name="Revoke …").click()
    page.get_by_role("button", name="Revoke it").click()
    expect(card).not_to_be_visible()
    assert httpx2.get(url, headers=headers).status_code == 401
    page.get_by_role("button", name="that ended").click()
    expect(card).to_contain_text("revoked")


def test_the_ledger_is_checked_and_a_changed_row_is_told(visit: Visit, north: str) -> None:
    body = {"graph": north, "messages": [{"role": "user", "content": QUESTION}]}
    visit.house.call("POST", "/chat", json=body)
    page = go(visit, "/ledger")
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_text("The ledger is whole.")).to_be_visible()
    entry = page.locator(".entry").first
    expect(entry).to_contain_text(north)
    expect(entry).to_contain_text("operator")
    entry.locator("summary").click()
    expect(entry.locator(".payload").first).to_be_visible()
    assert not [name for name in SECRET_NAMES if name in entry.inner_text()]
    visit.picture("owner-ledger")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export").click()
    header, *rows = Path(saved.value.path()).read_text("utf-8").splitlines()
    assert json.loads(header)["kind"] == "ledger"
    assert rows
    change = "UPDATE ledger_entries SET hits = hits + ? WHERE position = (SELECT max(position) FROM ledger_entries)"
    (database,) = visit.house.folder.rglob("arog.db")
    for by, outcome in ((1, "1 thing is wrong."), (-1, "The ledger is whole.")):
        with sqlite3.connect(database) as connection:
            connection.execute(change, (by,))
        page.get_by_role("button", name="Check it").click()
        expect(page.get_by_text(outcome)).to_be_visible()


def test_who_may_only_ask_is_told_so(visit: Visit) -> None:
    visit.begin("demo")
    visit.page.get_by_role("link", name="Graphs").click()
    expect(visit.page.get_by_text("Looking after graphs takes a key of the role admin.")).to_be_visible()
    visit.forgive(403)
