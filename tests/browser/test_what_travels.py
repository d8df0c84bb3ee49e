"""All bytes between the browser and the service are read, in both directions, and all that is loaded."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from app.api.web_page import DIST
from app.demo import GRAPH_FILE, POLICY_FILE
from evaluation.checks.leak_scan import LeakScanner, secret_names
from tests.browser.conftest import House, Visit

DEMO = ("demo", "inspect:demo")
QUESTIONS = (
    "Which patients are treated by Dr. Mbekani?",
    "What is Marta Lindqvist's date of birth?",
    "Which company makes the drug that is prescribed to Tilda Tannhofr?",
    "And where does she live?",
)
TYPED = {"mbekani", "dr mbekani", "marta lindqvist", "tilda"}  # as the scanner tells names
MAX_BYTES = 400_000

SECRETS = secret_names([GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
# Numbers of the graph (beds, doses) can't be told from lengths and times, nor its yes and no from JSON's.
NAMES = {name for name in SECRETS if re.search(r"[^\W\d_]{3}", name)} - {"true", "false"}
DATES = {name for name in SECRETS if re.fullmatch(r"\d{4}-\d\d-\d\d", name)}


@pytest.fixture
def spoken(visit: Visit) -> Visit:
    """A visit that used all there is: turns, a choice by click, evidence, what the model saw, a reload."""
    visit.house.wire.forget()
    visit.begin(*DEMO)
    visit.ask(QUESTIONS[0]).get_by_role("button", name="What the model saw").click()
    panel = visit.page.get_by_role("complementary", name="What the model saw")
    panel.get_by_role("button", name="With names").click()
    expect(panel).to_contain_text("Zeno Mbekani")
    visit.ask(QUESTIONS[1]).get_by_role("group").get_by_role("button").first.click()
    visit.answered(2)
    visit.ask(QUESTIONS[2])
    visit.page.reload()
    expect(visit.turns.nth(3).locator(".answer-text")).to_contain_text("Sanavita Werke")
    visit.ask(QUESTIONS[3])
    return visit


def test_no_real_name_travels_but_what_was_typed(spoken: Visit, house: House) -> None:
    shown = spoken.page.locator("ol.turns").inner_text()
    assert {"Yusra Niederauer", "Sanavita Werke", "Tilda Tannhofer"} <= {name for name in NAMES if name in shown}
    sent, got = house.wire.sent, house.wire.got
    # The scanner would see them: the questions are there, as they were typed.
    assert all(question.encode() in sent for question in QUESTIONS)
    scanner = LeakScanner(NAMES | DATES, ())
    for direction in (sent, got):
        leaks = {name for payload in parts(direction) for name in scanner.scan([payload]).leaks}
        assert leaks <= TYPED, leaks - TYPED
    assert "1954-11-25" in shown
    # What was typed is a question of the user's alone: it comes back from nowhere.
    assert not scanner.scan(parts(got)).leaks


def parts(bytes_: bytes) -> list[bytes]:
    """Heads, bodies and events one by one, each of which the scanner can take apart as JSON."""
    lines = [line.removeprefix(b"data: ") for line in re.split(rb"[\r\n]+", bytes_)]
    return [line for line in lines if line]


def test_a_choice_by_click_sends_its_place_and_no_name(visit: Visit, house: House) -> None:
    visit.begin(*DEMO)
    turn = visit.ask("What is Marta Lindqvist's date of birth?")
    house.wire.forget()
    turn.get_by_role("group").get_by_role("button").nth(1).click()
    visit.answered(1)
    said = house.wire.sent
    assert b'"the second one"' in said
    assert b"1954-11-25" not in said
    assert b"1991-12-02" not in said


def test_the_private_key_never_leaves_and_can_not_be_read_out(spoken: Visit, house: House) -> None:
    kept = spoken.page.evaluate(KEY)
    assert kept == {"extractable": False, "usages": ["deriveBits"], "exported": "InvalidAccessError"}
    public = spoken.page.evaluate(PUBLIC)
    assert public.encode() in house.wire.sent


KEY = """async () => {
  const db = await new Promise((done) => { const r = indexedDB.open('arog'); r.onsuccess = () => done(r.result); });
  const kept = await new Promise((done) => {
    const r = db.transaction('keys').objectStore('keys').get('reader'); r.onsuccess = () => done(r.result);
  });
  const key = kept.pair.privateKey;
  const how = ['raw', 'pkcs8', 'jwk'].map((form) => crypto.subtle.exportKey(form, key)
    .then(() => 'given', (e) => e.name));
  const exported = [...new Set(await Promise.all(how))].filter((name) => name !== 'NotSupportedError').join();
  return {extractable: key.extractable, usages: [...key.usages], exported};
}"""
PUBLIC = """async () => {
  const db = await new Promise((done) => { const r = indexedDB.open('arog'); r.onsuccess = () => done(r.result); });
  const kept = await new Promise((done) => {
    const r = db.transaction('keys').objectStore('keys').get('reader'); r.onsuccess = () => done(r.result);
  });
  return (await crypto.subtle.exportKey('jwk', kept.pair.publicKey)).x;
}"""
# A browser from before X25519 came to WebCrypto.
WITHOUT_X25519 = """
for (const name of ['generateKey', 'importKey']) {
  const original = crypto.subtle[name].bind(crypto.subtle);
  crypto.subtle[name] = (...given) => JSON.stringify(given.slice(0, 3)).includes('X25519')
    ? Promise.reject(new DOMException('', 'NotSupportedError')) : original(...given);
}
window.secrets = [];
const encrypt = crypto.subtle.encrypt.bind(crypto.subtle);
crypto.subtle.encrypt = (how, key, raw) => {
  window.secrets.push([...new Uint8Array(raw)]);
  return encrypt(how, key, raw);
};
"""


def test_without_x25519_the_key_is_sealed_with_a_passphrase_and_never_leaves(
    visit: Visit, context: BrowserContext, house: House
) -> None:
    context.add_init_script(WITHOUT_X25519)
    visit.page.goto(house.wire.url)
    visit.page.get_by_label("API key").fill(house.key(*DEMO))
    visit.page.get_by_role("button", name="Continue").click()
    visit.page.get_by_label("Passphrase").fill("seven brass kettles")
    visit.page.get_by_role("button", name="Begin").click()
    visit.ask("Which patients are treated by Dr. Mbekani?")
    expect(visit.turns.first.locator(".answer-text")).to_contain_text("Yusra Niederauer")
    (private,) = (bytes(secret) for secret in visit.page.evaluate("window.secrets"))
    visit.page.reload()
    visit.page.get_by_label("Passphrase").fill("seven brass kettle")
    visit.page.get_by_role("button", name="Open").click()
    expect(visit.page.get_by_role("alert")).to_contain_text("not the passphrase")
    visit.page.get_by_label("Passphrase").fill("seven brass kettles")
    visit.page.get_by_role("button", name="Open").click()
    expect(visit.turns.first.locator(".answer-text")).to_contain_text("Yusra Niederauer")
    assert len(private) == 32
    forms = (private, private.hex().encode(), base64.b64encode(private)[:42], base64.urlsafe_b64encode(private)[:42])
    sent = house.wire.sent
    assert not [form for form in (*forms, b"seven brass") if form in sent]
    assert private not in visit.page.evaluate(STORED).encode("latin-1")


STORED = """async () => {
  const db = await new Promise((done) => { const r = indexedDB.open('arog'); r.onsuccess = () => done(r.result); });
  const kept = await new Promise((done) => {
    const r = db.transaction('keys').objectStore('keys').get('reader'); r.onsuccess = () => done(r.result);
  });
  const bytes = [kept.salt, kept.nonce, new Uint8Array(kept.sealed)].map((part) => String.fromCharCode(...part));
  return bytes.join('|');
}"""


def test_nothing_is_loaded_from_anywhere_else(visit: Visit, house: House) -> None:
    addresses: list[str] = []
    visit.page.on("request", lambda request: addresses.append(request.url))
    visit.begin(*DEMO)
    turn = visit.ask("Which patients are treated by Dr. Mbekani?")
    visit.open_evidence(turn).locator(".picture[data-drawn=true]").wait_for()
    assert addresses
    assert not [address for address in addresses if not address.startswith(house.wire.url)]


def test_a_script_that_is_slipped_in_does_not_run(visit: Visit) -> None:
    visit.begin(*DEMO)
    assert visit.page.evaluate(SLIPPED_IN) == ["blocked", "blocked", "blocked"]
    assert "TrustedScript" in str(visit.complaints)
    visit.complaints.clear()


SLIPPED_IN = """async () => {
  const tell = async (work) => { try { await work(); return 'ran'; } catch { return 'blocked'; } };
  const inline = async () => {
    const script = document.createElement('script'); script.append('window.ran = true'); document.head.append(script);
    if (!window.ran) throw new Error();
  };
  const markup = async () => { document.createElement('div').innerHTML = '<b>x</b>'; };
  const elsewhere = async () => { await fetch('http://127.0.0.1:9/'); };
  return [await tell(inline), await tell(markup), await tell(elsewhere)];
}"""


def test_the_whole_page_is_light() -> None:
    files = [path for path in Path(DIST).rglob("*") if path.is_file() and path.suffix != ".gz"]
    assert files
    assert sum(len(gzip.compress(path.read_bytes(), 9)) for path in files) < MAX_BYTES
