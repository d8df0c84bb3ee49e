"""The table of attacks: each one run against the service as it is deployed, on the demo graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from app.demo import GRAPH_FILE, GRAPH_NAME, POLICY_FILE, QUESTIONS_FILE
from app.evaluation.attacks import pseudonyms
from app.evaluation.attacks.bounds import Attempted
from app.evaluation.attacks.injection import inject
from app.evaluation.attacks.recorded import Recorded, record
from app.evaluation.questions import Question, QuestionsProblem, read_questions
from app.evaluation.run import Bench
from client_sdk.sealing import KeyPair


@dataclass(frozen=True, slots=True)
class Scene:
    """The service, what was recorded of a victim, and the victim's key, which attacks use for controls alone."""

    bench: Bench
    questions: Sequence[Question] = field(repr=False)
    recorded: Sequence[Recorded] = field(repr=False)
    victim: KeyPair


async def run_attacks(only: str = "") -> list[Attempted]:
    """The lines of the attacks whose name holds `only`. Raises QuestionsProblem."""
    chosen = {name: attack for name, attack in ATTACKS.items() if only.casefold() in name}
    if not chosen:
        raise QuestionsProblem(f"no attack's name holds what --only asks for; there are {', '.join(ATTACKS)}")
    async with Bench("embedded") as bench:
        loaded = bench.load(GRAPH_NAME, [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
        questions, victim = read_questions(QUESTIONS_FILE), KeyPair.generate()
        recorded = await record(bench.services.chat, loaded.graph, questions, victim)
        scene = Scene(bench, questions, recorded, victim)
        return [line for attack in chosen.values() for line in await attack(scene)]


async def _restorations(scene: Scene) -> list[Attempted]:
    return pseudonyms.restorations(scene.recorded)


async def _echoes(scene: Scene) -> list[Attempted]:
    return await pseudonyms.echoes(scene.bench.services.chat, scene.recorded)


async def _conversations(scene: Scene) -> list[Attempted]:
    return await pseudonyms.conversations(scene.bench.services.chat, scene.recorded)


async def _capsules(scene: Scene) -> list[Attempted]:
    return pseudonyms.capsules(scene.recorded, scene.victim)


async def _injection(scene: Scene) -> list[Attempted]:
    return await inject(scene.bench, scene.questions)


ATTACKS: dict[str, Callable[[Scene], Awaitable[list[Attempted]]]] = {
    "restorations": _restorations,
    "echoes": _echoes,
    "conversations": _conversations,
    "capsules": _capsules,
    "injection": _injection,
}
