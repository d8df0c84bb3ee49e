"""Family 11: files that are tables are loaded and asked about, and every byte is read for their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.llm.endpoint.request_body import read_step
from app.llm.tasks import StepReply, TaskModel, TaskName
from client_sdk.crypto.sealing import KeyPair
from evaluation.attacks.forms.corpus.made_up import TableFile, table_files
from evaluation.attacks.forms.judge import read_sent, shown_tokens
from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.exchanges import sent_by
from evaluation.attacks.setup.targets import AttackTargets, load_text
from evaluation.bench.bench import TO_THE_MODEL, Bench
from evaluation.datasets.questions import QueryPlan
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.fakes.scripted_replies import ScriptedReplies
from kg_store.errors import StoreError

MIN_FILES = 20
_QUESTIONS = ("who is there", "which of them live in the same city", "how many are there of each kind")


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """The result of one file. `control`: the judge sees the file's cells in the file itself."""

    refused: bool
    leaked: frozenset[str] = field(repr=False)
    control: bool


async def cells_in_egress(targets: AttackTargets) -> list[Attempted]:
    """Each file in a graph of its own, loaded without a policy, and where it has a header with one."""
    files = table_files()[: targets.at_most(len(table_files()))]
    async with Bench("scripted", scripted=FollowingEndpoint(), changes=TO_THE_MODEL) as bench:
        return lines([await _ask(bench, file) for file in files])


def lines(found: Sequence[LoadedTable]) -> list[Attempted]:
    leaked, note = (bool(each.leaked) for each in found), f"{sum(each.refused for each in found)} files refused"
    controls = (each.control for each in found)
    return [
        Attempted.of("forms, 11 cells of tables in any byte", leaked, least=min(MIN_FILES, len(found)), note=note),
        Attempted.of("forms, 11 cells found in the files themselves", controls, control=1.0),
    ]


async def _ask(bench: Bench, file: TableFile) -> LoadedTable:
    control = bool(cells_in(file, [file.content.encode()]))
    try:
        loaded = load_text(bench, file.name, file.content, file.policy, as_owner=True)
    except StoreError:
        return LoadedTable(True, frozenset(), control)
    sent, key = list[bytes](), KeyPair.generate()
    for question in _QUESTIONS:
        sent += (await sent_by(bench, loaded.graph, [("user", question)], "sets", key))[0]
    return LoadedTable(False, cells_in(file, sent), control)


def cells_in(file: TableFile, payloads: Sequence[bytes]) -> frozenset[str]:
    """Words and figures of cells that stand in payloads; small figures only where a relation or concept is told."""
    sent = read_sent(payloads)
    cells = shown_tokens(file.cells) - {"dr"}
    words = {word for word in cells if not word.isdigit() or len(word) > 3}
    figures = cells - words
    seen = shown_tokens((*sent.said, *sent.rest))
    short = {text.strip() for text in sent.rest if len(text) < 12}
    return frozenset((words & seen) | (figures & short))


class FollowingEndpoint(ScriptedEndpoint):
    """Follows as many ways as it may, in every round, so that as much as possible is shown to it."""

    def expect(self, plan: QueryPlan | None, typed: str = "") -> None:
        super().expect(plan, typed)
        self._replies = _FollowingReplies(None)


class _FollowingReplies(ScriptedReplies):
    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        if task != "step":
            return super().reply_to(task, block)
        asked = read_step(block)
        choices = [candidate.number for candidate in asked.candidates][: asked.width]
        if choices and not asked.last_round:
            return StepReply(action="follow", choices=choices, answer=[])
        return StepReply(action="not_in_graph", choices=[], answer=[])
