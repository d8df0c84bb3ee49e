"""Traces one POST /chat with the strategy `sets` through the service, and prints the files on its road, in order.

`python -m tests.road` asks a model endpoint of a test; `python -m tests.road embedded` the reasoner of the house. The
service runs in this process as it is deployed: routes, accounts, chat, guard, ledger, database, and the HTTP client of
the endpoint. A file is on the road where one of its functions is called between the request and its answer. The
question is asked once before, so that what is made once for a graph is there.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import httpx2

from tests.support.asking import PEOPLE
from tests.support.house import DOCTOR_OF, KEY, drafting
from tests.support.processes.model_server import serving
from tests.support.service import question, running

ROOT = Path(__file__).resolve().parents[1]
ASKED = 3
PACKAGES = ("app", "client_sdk", "kg_store")


class Road:
    """The project's files in the order in which a function of each was called first, by whichever thread."""

    def __init__(self) -> None:
        self.is_watched = False
        self._met: dict[str, None] = {}

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        if self.is_watched and event == "call":
            self._met.setdefault(frame.f_code.co_filename)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Begins anew."""
        self._met, self.is_watched = {}, True
        try:
            yield
        finally:
            self.is_watched = False

    @property
    def files(self) -> list[str]:
        """Relative to the root of the project; what plays the model is not on the road."""
        inside = [Path(name).relative_to(ROOT) for name in self._met if Path(name).is_relative_to(ROOT)]
        return [path.as_posix() for path in inside if path.parts[0] in PACKAGES]


@contextmanager
def watching() -> Iterator[Road]:
    """A road that hears of every call of this thread, and of all threads that begin inside."""
    road = Road()
    threading.setprofile(road.note)
    sys.setprofile(road.note)
    try:
        yield road
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def road_of_a_question(folder: Path, reasoner: str = "endpoint") -> list[str]:
    """The files on the road of one question, which is answered with a name."""
    with serving() as server, watching() as road:
        server.replies = drafting("{treated by}")
        # In a graph of three patients the house would take each step itself.
        asked_of = {"endpoint_url": server.url, "endpoint_model": "m", "disclosure": "tell"}
        changes = asked_of if reasoner == "endpoint" else {}
        async with running(folder, thinks=True, reasoner=reasoner, **changes) as service:
            service.load(turtle=PEOPLE)
            headers = service.key("default", "clinic")
            asked = question(DOCTOR_OF, public_key=KEY.public_text, strategy="sets")
            await service.http.post("/chat", json=asked, headers=headers)
            # What the service does beside a question, such as probing its endpoint, may fall into one of them.
            roads = [await _road_of_one(road, service.http, asked, headers) for _ in range(ASKED)]
    return min(roads, key=len)


async def _road_of_one(
    road: Road, http: httpx2.AsyncClient, asked: dict[str, object], headers: dict[str, str]
) -> list[str]:
    with road.watched():
        reply = await http.post("/chat", json=asked, headers=headers)
    assert reply.json().get("answered"), reply.text
    return road.files


def room_of(file: str) -> str:
    """`app/chat` for all that lies in it."""
    return "/".join(file.split("/")[:2]) if file.startswith("app/") else file.split("/")[0]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = asyncio.run(road_of_a_question(Path(folder), *sys.argv[1:2]))
    print(*(f"{at:3} {file}" for at, file in enumerate(files, start=1)), sep="\n")
    rooms = Counter(map(room_of, files))
    print(f"{len(files)} files:", ", ".join(f"{room} {count}" for room, count in rooms.most_common()))


if __name__ == "__main__":
    main()
