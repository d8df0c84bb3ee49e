"""The page in a real browser, before the real service as a process, with a relay between them that reads all."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, sync_playwright

from app.api.web_page import DIST
from app.demo import GRAPH_FILE, POLICY_FILE
from evaluation.fakes.service_process import ServiceProcess, service_process
from tests.browser.wire import Wire
from tests.support.service import OPERATOR, OPERATOR_KEY

# With a folder in it, every picture that a test takes is kept there: `make page-pictures`.
PICTURES = os.environ.get("AROG_PICTURES", "")
PATIENCE_MS = 15_000
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 375, "height": 812}
MANY = 520
SYLLABLES = "bra dol fen gor hul jam kel lun mir nos pel quo ral sut tov vix".split()


def crowd() -> tuple[str, ...]:
    """As many made-up names as the large graph has patients."""
    a, b = len(SYLLABLES), 7
    return tuple(
        f"{SYLLABLES[n % a].title()}{SYLLABLES[(n // a) % a]} "
        f"{SYLLABLES[(n * b) % a].title()}{SYLLABLES[(n * b + n // a + n // (a * a)) % a]}wick"
        for n in range(MANY)
    )


def crowded_graph() -> str:
    """One doctor with all those patients, and the town that she works in, which has two names."""
    lines = "".join(f':p{at} a :Patient ; rdfs:label "{name}" ; :treatedBy :d .\n' for at, name in enumerate(crowd()))
    prefixes = "@prefix : <http://crowd.invalid/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    doctor = ':treatedBy rdfs:label "treated by" . :d a :Doctor ; rdfs:label "Ottilie Krummhorn" ; :worksIn :t .\n'
    town = ':worksIn rdfs:label "works in" . :t a :Town ; rdfs:label "Arnsbridge"@en, "Arnsbrück"@de .\n'
    return prefixes + doctor + town + lines


@dataclass(slots=True)
class House:
    """The running service, what leads to it, and keys of it."""

    wire: Wire
    folder: Path
    stack: ExitStack = field(repr=False)
    service: ServiceProcess | None = field(default=None, repr=False)
    keys: dict[str, str] = field(default_factory=dict, repr=False)
    settings: dict[str, str] = field(default_factory=dict, repr=False)

    def start(self) -> None:
        """The service, as a new process over the same data."""
        settings = {
            "ADMIN_KEY": OPERATOR_KEY,
            "REQUESTS_PER_MINUTE": "10000",
            "NAMES_PER_DAY": "10000",
            **self.settings,
        }
        self.service = self.stack.enter_context(service_process(self.folder, **settings))
        self.wire.lead_to(self.service.port)

    def end(self) -> None:
        assert self.service is not None
        self.wire.lead_to(None)
        self.service.process.terminate()
        self.service.process.wait()

    def call(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """As the operator, and not through the relay."""
        assert self.service is not None
        url = f"http://127.0.0.1:{self.service.port}{path}"
        reply = httpx2.request(method, url, headers=OPERATOR, timeout=60, **more)
        assert reply.status_code < 400, reply.text
        return reply

    def load(self, graph: str, file: tuple[str, bytes], policy: bytes | None) -> None:
        files = [("file", file), *([("policy", ("policy.toml", policy))] if policy else [])]
        job = self.call("POST", f"/admin/graphs/{graph}", files=files).json()
        while job["state"] not in ("done", "failed"):
            time.sleep(0.1)
            job = self.call("GET", f"/admin/jobs/{job['id']}").json()
        assert job["state"] == "done", job

    def key(self, *grants: str) -> str:
        """A key with these grants; made once."""
        name = " ".join(grants)
        if name not in self.keys:
            wanted = {"tenant": "default", "grants": list(grants), "role": "user"}
            self.keys[name] = self.call("POST", "/admin/keys", json=wanted).json()["key"]
        return self.keys[name]


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory, of_this_checkout: None) -> Iterator[House]:
    assert (DIST / "index.html").is_file(), "the page is not built: make page"
    with ExitStack() as stack:
        wire = Wire()
        stack.callback(wire.close)
        house = House(wire, tmp_path_factory.mktemp("house"), stack)
        house.start()
        house.load("demo", ("clinic.ttl", GRAPH_FILE.read_bytes()), POLICY_FILE.read_bytes())
        house.load("crowd", ("crowd.ttl", crowded_graph().encode()), None)
        yield house


@pytest.fixture(scope="session", autouse=True)
def of_this_checkout() -> Iterator[None]:
    """The service is started in a folder of its own, and would take whatever `arog` is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(DIST.parents[3]))
        yield


def chromium_path() -> str:
    """The system's own: Playwright's downloads are not needed."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path is not None, "there is no Chromium: make test-browser"
    return path


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=options)
        yield browser
        browser.close()


@dataclass(slots=True)
class Visit:
    """Somebody at the page. `complaints` are the console's errors and warnings; there has to be none in the end."""

    page: Page
    house: House
    complaints: list[str] = field(default_factory=list)

    def hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def begin(self, *grants: str) -> None:
        """Through the first-run screen, with a key of these grants, to the first graph."""
        self.page.goto(self.house.wire.url)
        self.enter(self.house.key(*grants))
        self.page.get_by_role("heading", name="What would you like to know?").wait_for()

    def enter(self, key: str) -> None:
        """With this key; the first graph is taken where there are several to choose from."""
        self.page.get_by_label("API key").fill(key)
        self.page.get_by_role("button", name="Continue").click()
        begin = self.page.get_by_role("button", name="Begin")
        begin.or_(self.page.get_by_role("navigation", name="Views")).first.wait_for()
        if begin.is_visible():
            begin.click()

    def ask(self, question: str) -> Locator:
        """The turn, once its answer is whole."""
        before = self.turns.count()
        self.page.get_by_label("Your question").fill(question)
        self.page.keyboard.press("Enter")
        return self.answered(before)

    def answered(self, at: int) -> Locator:
        """The turn at this place, once its answer is whole."""
        turn = self.turns.nth(at)
        turn.and_(self.page.locator("[data-answered=true]")).wait_for()
        turn.locator(".answer-bar").wait_for()
        return turn

    def open_evidence(self, turn: Locator, kind: str = "") -> Locator:
        """The evidence of this answer, opened by its icon, as `kind` ("Picture" or "Table") where it is given."""
        evidence = turn.get_by_role("group", name="Evidence", exact=True)
        if not evidence.is_visible():
            turn.get_by_role("button", name="Evidence", exact=True).click()
        if kind:
            evidence.get_by_role("button", name=kind, exact=True).click()
        return evidence

    @property
    def turns(self) -> Locator:
        return self.page.get_by_role("article")

    def picture(self, name: str) -> None:
        """Kept where pictures are wanted, else nothing."""
        if PICTURES:
            self.page.wait_for_timeout(400)  # Colours fade in.
            taken = Image.open(io.BytesIO(self.page.screenshot()))
            # Few colours are used: half the bytes, and nobody sees it.
            taken.quantize(96).save(Path(PICTURES) / f"page-{name}.png", optimize=True)

    def forgive(self, *statuses: int) -> None:
        """The console tells of every reply that is an error: those that a test provoked are no complaint."""
        known = [f"status of {status}" for status in statuses]
        self.complaints = [one for one in self.complaints if not any(each in one for each in known)]


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser of its own, that kept nothing of another test."""
    context = chromium.new_context(viewport=DESK, color_scheme="light", locale="en-GB", reduced_motion="reduce")  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def visit(house: House, context: BrowserContext) -> Iterator[Visit]:
    page = context.new_page()
    visit = Visit(page, house)
    page.on("console", lambda message: visit.hear(message))
    page.on("pageerror", lambda error: visit.complaints.append(f"raised: {error}"))
    yield visit
    assert visit.complaints == []
