"""The speed of the service as ratios to peers that are timed in the same run, so that the machine hardly matters.

`speed.toml` holds the figures of the last release. A figure that is `SLOWER` times worse than that is a fault.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import resource
import statistics
import subprocess  # our own commands alone  # nosec B404
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyoxigraph
from pydantic import SecretStr

from app.api.problems import error_body
from app.settings import load_settings
from app.wiring.services import Services, build, warm_graphs
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, NO_LIMIT, TENANT
from evaluation.scale.made_up import write_graph
from evaluation.tables.measures import Measure, at_most
from kg_store.storage.master_key import MasterKey

SMALL: Final = 30_000
"""The number of triples in the short run that tests use."""
SLOWER: Final = 1.25
SLOWER_AT_SMALL_SIZE: Final = 2.0
_KEPT: Final = Path(__file__).with_name("speed.toml")
_LOOP_WORDS: Final = 200_000
_LOOP_STEPS: Final = 2_000
_MORE_RUNS: Final = 2
_QUESTIONS: Final = 12
_LATE_TURN, _EARLY_TURN = 30, 5
_IDLE: Final = ("-c", "import pydantic, numpy")
"""Arguments that start Python with two libraries that every command needs."""


class SpeedFigure(NamedTuple):
    """A figure (`value`) and that of its peer, which is named in `beside`, in the same unit."""

    name: str
    beside: str
    value: float
    peer: float = 1.0

    @property
    def times(self) -> float:
        return self.value / self.peer


def measure_speed(triples: int, say: Callable[[str], None], *, small: bool) -> list[Measure]:
    """Measures all figures, which takes a minute at 30,000 triples; `say` is called with what is being measured.

    When a figure misses its bound all are measured again. The least value of each figure counts, and that of its peer:
    other work on the machine makes either slow now and then, a fault in the code makes the figure slow every time.
    """
    kept = tomllib.loads(_KEPT.read_text("utf-8"))["small" if small else "large"]
    most = SLOWER_AT_SMALL_SIZE if small else SLOWER
    figures = asyncio.run(_measure(triples, say))
    for _ in range(_MORE_RUNS):
        if all(measure.passed for measure in measures(figures, kept, most)):
            break
        say("a bound was missed: all is measured again")
        figures = least(figures, asyncio.run(_measure(triples, say)))
    return measures(figures, kept, most)


def least(some: Sequence[SpeedFigure], others: Sequence[SpeedFigure]) -> list[SpeedFigure]:
    """Returns each figure with the least value and the least peer of both runs, which have the same order."""
    pairs = zip(some, others, strict=True)
    return [one._replace(value=min(one.value, two.value), peer=min(one.peer, two.peer)) for one, two in pairs]


def measures(figures: Sequence[SpeedFigure], kept: Mapping[str, float], most: float) -> list[Measure]:
    """Returns a line for each figure; its bound is `most` times the figure of that name in `kept`, if there is one."""
    return [
        at_most(
            f"{each.name}, times {each.beside}",
            1,
            each.times,
            kept[each.name] * most if each.name in kept else None,
            "{:.1f}",
        )
        for each in figures
    ]


async def _measure(triples: int, say: Callable[[str], None]) -> list[SpeedFigure]:
    found: list[SpeedFigure] = []
    with tempfile.TemporaryDirectory(prefix="arog-speed-") as folder:
        for classes in (True, False):
            say(f"loading {triples:,} triples {'with' if classes else 'without'} classes")
            file = Path(folder) / f"{classes}.nt"
            names = write_graph(file, triples, classes=classes)
            found += await _of_graph(Path(folder) / str(classes), file, names, classes=classes)
    say("starting commands")
    idle = _start(_IDLE)
    found += [
        SpeedFigure(f"start of `arog {' '.join(command)}`", "Python with pydantic and numpy", _arog(command), idle)
        for command in (["--help"], ["graph", "list"])
    ]
    return found


async def _of_graph(folder: Path, file: Path, names: Sequence[str], *, classes: bool) -> list[SpeedFigure]:
    """Measures load, first answer, an answer with and without suggestions, and late turns, on one graph."""
    kind = "with classes" if classes else "without classes"
    folder.mkdir()
    own = {"data_dir": folder, "database_url": None, "master_key_file": None, "reasoner": "embedded"}
    # Without a limit on names, since one key asks more here than a person does and would raise the alarm.
    more = {"names_per_day": NO_LIMIT, "master_key": SecretStr(MasterKey.generate())}
    settings = load_settings().model_copy(update={**own, **more})
    bulk = _seconds_of(lambda: _bulk_load(folder / "peer", file))
    services = build(settings, error_body)
    load = services.graphs.load(TENANT, "graph", [file], None)
    loading = _seconds_of(lambda: load.run(lambda _step, _done: None))
    await services.close()
    services = build(settings, error_body)
    try:
        await warm_graphs(services, lambda _done, _all: None)
        asker = _Asker(services, names, _FixedLoop())
        first = await asker.asked(_dialogue(0), -1)
        plain, plain_to_loop = await asker.ask_each(suggestions=0)
        for others in (1, 2):  # A wording is tried at its first use for a kind of thing, which is dearer than later.
            await asker.ask_each(suggestions=3, first=others * _QUESTIONS)
        _, suggesting_to_loop = await asker.ask_each(suggestions=3)
        before = _memory()
        early, late = await asker.turns()
        held = _memory() - before
    finally:
        await services.close()
    beside = "a fixed loop"
    return [
        SpeedFigure(f"load {kind}", "pyoxigraph's bulk_load", loading, bulk),
        SpeedFigure(f"first answer {kind}", "a later answer", first, plain),
        SpeedFigure(f"answer {kind}", beside, plain_to_loop),
        SpeedFigure(f"answer with suggestions {kind}", beside, suggesting_to_loop),
        SpeedFigure(f"turn {_LATE_TURN} {kind}", f"turn {_EARLY_TURN}", late, early),
        SpeedFigure(f"memory of {_LATE_TURN} turns {kind}", "a megabyte", held),
    ]


@dataclass(slots=True)
class _Asker:
    """Asks a made-up graph for one relation of each of its things in turn; times are processor time in seconds."""

    services: Services
    names: Sequence[str]
    loop: _FixedLoop

    async def ask_each(self, suggestions: int, first: int = 0) -> tuple[float, float]:
        """Returns the median time of questions about things from `first` on, in seconds and as a multiple of the loop.

        The loop runs after each question, so that whatever else the machine does meets both alike.
        """
        times: list[tuple[float, float]] = []
        for at in range(_QUESTIONS):
            times.append((await self.asked(_dialogue(suggestions), first + at), _seconds_of(self.loop.run)))
        return statistics.median(spent for spent, _ in times), statistics.median(spent / loop for spent, loop in times)

    async def turns(self) -> tuple[float, float]:
        """Returns two median times of a turn in one dialogue: of turns near its start, and of turns near its end."""
        dialogue = _dialogue(0)
        times = [await self.asked(dialogue, at) for at in range(_LATE_TURN + 2)]
        early, late = (statistics.median(times[at - 2 : at + 2]) for at in (_EARLY_TURN, _LATE_TURN))
        return early, late

    async def asked(self, dialogue: Dialogue, at: int) -> float:
        question = f"Who is {self.names[at % len(self.names)]} treated by?"
        request = dialogue.request(question, None, {})
        began = time.process_time()
        reply = await self.services.chat.answer(CALLER, request)
        spent = time.process_time() - began
        dialogue.accept(question, reply)
        return spent


def _dialogue(suggestions: int) -> Dialogue:
    return Dialogue("graph", KeyPair.generate(), "auto", {"suggestions": suggestions})


class _FixedLoop:
    """A fixed amount of work of one thread as a unit of time: Python's strings and tables, and a little numpy.

    Like a question it touches memory that no cache still holds, since other work on the machine slows that most: a
    loop within the caches took 1.4 times its time beside five busy processes, a question 3.7 times.
    """

    def __init__(self) -> None:
        order = np.random.default_rng(0)
        self._words = [f"word {number:x}" for number in order.permutation(_LOOP_WORDS)]
        self._backwards = {word: (at, word[::-1]) for at, word in enumerate(self._words)}
        self._steps = itertools.cycle(np.split(order.permutation(_LOOP_WORDS), _LOOP_WORDS // _LOOP_STEPS))
        self._numbers = order.random(20 * _LOOP_STEPS)
        self._sorted = self._numbers.copy()

    def run(self) -> None:
        """Looks up the next words of a long table in a random order, and sorts them and some numbers."""
        found = [self._backwards[self._words[at]] for at in next(self._steps).tolist()]
        sorted({backwards: at for at, backwards in found}, key=lambda word: word[::-1])
        np.copyto(self._sorted, self._numbers)
        self._sorted.sort()


def _seconds_of(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _bulk_load(folder: Path, file: Path) -> None:
    pyoxigraph.Store(str(folder)).bulk_load(path=str(file), format=pyoxigraph.RdfFormat.N_TRIPLES)


def _arog(command: Sequence[str]) -> float:
    with tempfile.TemporaryDirectory(prefix="arog-speed-") as folder:
        settings = {"AROG_DATA_DIR": folder, "AROG_MASTER_KEY": MasterKey.generate()}
        return _start(["-m", "client_sdk", *command], {**os.environ, **settings})


def _start(arguments: Sequence[str], environment: dict[str, str] | None = None) -> float:
    """Returns the processor time of starting Python with `arguments`, the least of three runs."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=True)  # noqa: S603  # nosec B603
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(3))


def _memory() -> float:
    """Returns the resident memory of this process in megabytes."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 2**20
