"""The time that the page takes from an answer's last event to its text on the screen, with its names.

`python -m tests.browser.measure`: prints the median and the longest of some questions, in milliseconds. Both are taken
by the browser's clock: when the bytes are in the page, and when the frame after the text has been painted.
"""

from __future__ import annotations

import statistics
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from app.api.web_page import DIST
from app.demo import GRAPH_FILE, POLICY_FILE
from tests.browser.conftest import DESK, House, Visit, chromium_path
from tests.browser.wire import Wire

QUESTIONS = 20
# Names are opened when the whole answer is there, which is the last event: nothing is done ahead of it.
CLOCK = """
window.arrived = []; window.painted = [];
const read = ReadableStreamDefaultReader.prototype.read;
ReadableStreamDefaultReader.prototype.read = async function () {
  const result = await read.call(this);
  if (result.value instanceof Uint8Array && new TextDecoder().decode(result.value).includes('event: answer'))
    window.arrived.push(performance.now());
  return result;
};
addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
  const answer = document.querySelector('.answer-text');
  if (answer?.textContent && window.painted.length < window.arrived.length) {
    const at = window.painted.push(0) - 1;
    requestAnimationFrame(() => setTimeout(() => { window.painted[at] = performance.now(); }));
  }
}).observe(document.body, {subtree: true, childList: true, characterData: true}));
"""


def measured(folder: Path) -> list[float]:
    """Milliseconds, one for each question."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("PYTHONPATH", str(DIST.parents[3]))
        house = House(Wire(), folder, stack)
        house.start()
        house.load("demo", ("clinic.ttl", GRAPH_FILE.read_bytes()), POLICY_FILE.read_bytes())
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox", "--disable-gpu"])
        stack.callback(browser.close)
        page = browser.new_page(viewport=DESK)  # type: ignore[arg-type]
        page.add_init_script(CLOCK)
        visit = Visit(page, house)
        visit.begin("demo", "inspect:demo")
        for _ in range(QUESTIONS):
            visit.ask("Which patients are treated by Dr. Mbekani?")
            page.get_by_role("button", name="New conversation").click()
        return list(page.evaluate("window.painted.map((at, n) => at - window.arrived[n])"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        times = measured(Path(folder))
    print(f"{len(times)} questions: median {statistics.median(times):.0f} ms, longest {max(times):.0f} ms")
