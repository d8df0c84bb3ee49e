"""Asks natural questions, then all that their answers suggest: the share that the graph answers as it must."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from app.chat.question_run import QuestionRun, SuggestedQuestion
from app.chat.service import ChatService
from app.demo import POLICY_FILE
from app.graphs.markdown_table import markdown_table
from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, TENANT, Bench, ChatByStrategy, LoadedSet, sample
from evaluation.bench.question_sets import Show
from evaluation.checks.metrics import mean
from evaluation.datasets.questions import QuestionsError
from evaluation.natural.run import CLINIC, GRAPHS
from evaluation.natural.verdicts import read_natural
from kg_store.graph.traversal import kinds_of, members_of
from kg_store.storage.vault import readable_name
from kg_store.terms import Mids, as_mids

STAGE: Final = "suggesting"
FURTHER: Final = {"hospital": "rdf/hospital.ttl", "c360": "rdf/c360.ttl"}
"""Graphs without questions of their own: things of theirs are named instead."""


@dataclass(frozen=True, slots=True)
class Suggested:
    """One answer's suggestions: how many were answered as they must be; those that were not, in clear."""

    graph: str
    milliseconds: float
    held: int = 0
    missed: tuple[str, ...] = field(default=(), repr=False)

    @property
    def total(self) -> int:
        return self.held + len(self.missed)


async def run_suggestions(data: Path, limit: int, graph: str, show: Show) -> list[Suggested]:
    """The first `limit` seen questions of each graph. Raises QuestionsError, before anything is opened."""
    files = {**GRAPHS, **{name: data / path for name, path in FURTHER.items() if (data / path).is_file()}}
    if graph and graph not in files:
        raise QuestionsError(f"there is no such graph; there are {', '.join(files)}")
    found: list[Suggested] = []
    async with Bench() as bench:
        for name, file in files.items():
            if graph not in ("", name):
                continue
            policy = POLICY_FILE.read_text("utf-8") if name == CLINIC else None
            loaded = bench.load(name, [file], policy, masks=True)
            found += await _of_graph(bench, loaded, _dialogues(bench, loaded, limit), show)
    return found


def table(found: Sequence[Suggested]) -> str:
    """A Markdown table: each graph, then all of them."""
    groups: dict[str, list[Suggested]] = {}
    for each in found:
        groups.setdefault(each.graph, []).append(each)
    rows = []
    for name, group in {**groups, "all": list(found)}.items():
        total, held = sum(each.total for each in group), sum(each.held for each in group)
        times = sorted(each.milliseconds for each in group) or [0.0]
        p95 = times[min(len(times) - 1, int(0.95 * len(times)))]
        shares = (f"{total / len(group):.2f}" if group else "-", f"{held / total:.3f}" if total else "-")
        rows.append((name, len(group), total, *shares, f"{mean(times):.0f}", f"{p95:.0f}"))
    return markdown_table(("graph", "answers", "suggestions", "a answer", "answered", "ms, mean", "ms, p95"), rows)


def _dialogues(bench: Bench, loaded: LoadedSet, limit: int) -> list[tuple[str, ...]]:
    """The texts of the user's turns, of each question; of graphs without questions things are named."""
    asked = [each.texts for each in read_natural("seen") if each.graph == loaded.graph]
    if asked:
        return asked[:limit]
    opened = bench.graph(loaded)
    mids = [mid for kind in kinds_of(opened.blind.schema) for mid in members_of(opened.blind, kind).tolist()[:limit]]
    records = opened.vault.records(sample(sorted({*mids}), limit, 0))
    return [(f"What kind of thing is {readable_name(record)}?",) for record in records.values()]


async def _of_graph(
    bench: Bench, loaded: LoadedSet, dialogues: Sequence[tuple[str, ...]], show: Show
) -> list[Suggested]:
    services = bench.services
    chat = services.chat.own if isinstance(services.chat, ChatByStrategy) else services.chat
    if not isinstance(chat, ChatService):
        raise TypeError("the bench has another service than the one that suggests")
    made, found = dict[str, tuple[SuggestedQuestion, ...]](), list[Suggested]()
    suggest_next = chat.options.suggest_next

    async def watched(run: QuestionRun) -> tuple[SuggestedQuestion, ...]:
        """Suggestions as the service makes them; what must answer each is kept, by the answer's id."""
        made[run.answer_id] = await suggest_next(run)
        return made[run.answer_id]

    asked = chat.with_options(replace(chat.options, suggest_next=watched))
    for done, texts in enumerate(dialogues, start=1):
        show(f"suggestions, {loaded.graph}", done, len(dialogues))
        dialogue = Dialogue(loaded.graph, KeyPair.generate(), "auto", {})
        answer: Answer | None = None
        for text in texts:
            answer = dialogue.accept(text, await asked.answer(CALLER, dialogue.request(text, None, {})))
        if answer is None or not answer.answered:
            continue
        missed: list[str] = []
        for text, suggested in zip(answer.suggestions, made.get(answer.id, ()), strict=True):
            following = dialogue.fork()
            request = following.request(text, None, {"suggestions": 0})
            told = following.accept(text, await asked.answer(CALLER, request))
            if not _is_held(bench, loaded, text, told, suggested.expected):
                missed.append(text)
        held = len(answer.suggestions) - len(missed)
        found.append(Suggested(loaded.graph, answer.usage.milliseconds.get(STAGE, 0.0), held, tuple(missed)))
    return found


def _is_held(bench: Bench, loaded: LoadedSet, asked: str, told: Answer, expected: Mids) -> bool:
    """True where the answer is what the step leads to; what the question itself names may be left out of it."""
    if not told.answered or len(told.entities) != 1:
        return False
    opened, conversations = bench.graph(loaded), bench.services.store.conversations
    kept = conversations.open(TENANT, CALLER.key_id, loaded.graph, told.conversation, opened.blind.schema)
    given = {*kept.table.resolve(told.entities[0].pseudonym, opened.blind)[0].tolist()}
    wanted = {*as_mids(expected).tolist()}
    left_out = opened.vault.records(sorted(wanted - given))
    are_named = all(readable_name(record) in asked for record in left_out.values())
    return bool(given) and given <= wanted and len(left_out) == len(wanted - given) and are_named
