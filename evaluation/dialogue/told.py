"""Asks utterances by people who had not seen the code, and counts which told facts are kept and come back.

A set is a file of JSON: the tables of a small organisation and what somebody typed to the service about it. The `shut`
ones are packed, so that a search in files does not show them.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from app.memory.stated_facts import FactOwner, StatedFactStore
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, TENANT, Bench
from evaluation.bench.question_sets import Show
from evaluation.dialogue.labelled import SETS
from evaluation.natural.verdicts import Half
from evaluation.tables.measures import Measure, share
from evaluation.understanding.domains import Domain
from evaluation.understanding.run import ask, load, new_dialogue

UTTERANCES: Final = SETS / "utterances"
MIN_KEPT, MIN_PASSED_OVER = 0.85, 0.98
_YES: Final = "Yes, please."
_DAY: Final = re.compile(r"\bYou told me on \d{1,2} \w+")

_CONFIG = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class AskedBack(BaseModel):
    """A later question, and the words that its reply must hold."""

    model_config = _CONFIG

    question: str
    expect: tuple[str, ...]


class Utterance(BaseModel):
    """A turn that somebody typed after `history`. `states`: it tells a fact, which `asked_back` brings back."""

    model_config = _CONFIG

    id: str
    kind: Literal["fact", "change", "like", "question", "small talk", "command"]
    history: tuple[str, ...] = ()
    text: str
    states: bool
    about: tuple[str, ...] = ()
    asked_back: tuple[AskedBack, ...] = ()


class UtteranceSet(BaseModel):
    """The tables of one organisation, by file name, and what is typed about it."""

    model_config = _CONFIG

    tables: dict[str, str]
    utterances: tuple[Utterance, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one utterance: it was kept, and each later question was right, in the same and a new dialogue."""

    utterance: Utterance
    is_kept: bool
    here: tuple[bool, ...] = ()
    anew: tuple[bool, ...] = ()


@contextmanager
def utterance_sets(half: Half) -> Iterator[list[tuple[Domain, UtteranceSet]]]:
    """Reads the sets of a half, by name, and writes their tables where they can be loaded until the context ends."""
    with TemporaryDirectory(prefix="arog-told-") as folder:
        found = []
        for file in sorted(UTTERANCES.glob(f"{half}_*")):
            text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
            told = UtteranceSet.model_validate_json(text)
            name = file.name.partition(".")[0].partition("_")[2]
            (Path(folder) / name).mkdir()
            for table, content in told.tables.items():
                (Path(folder) / name / table).write_text(content, "utf-8")
            files = tuple(sorted((Path(folder) / name).iterdir()))
            found.append((Domain(name, files, (), ()), told))
        yield found


async def run_told(half: Half, show: Show) -> list[Outcome]:
    """Tells the service each utterance of a half in a dialogue of its own; what it keeps is forgotten after it."""
    found: list[Outcome] = []
    with utterance_sets(half) as known:
        async with Bench() as bench:
            for domain, told in known:
                load(bench, domain, show)
                for number, utterance in enumerate(told.utterances):
                    show(domain.name, number, len(told.utterances))
                    found.append(await _outcome(bench, domain.name, utterance))
    return found


async def _outcome(bench: Bench, graph: str, utterance: Utterance) -> Outcome:
    facts, owner = bench.services.store.facts, FactOwner(TENANT, graph, CALLER.key_id)
    dialogue = new_dialogue(graph)
    for turn in utterance.history:
        await ask(bench, dialogue, turn)
    before = _ids(facts, owner)
    await ask(bench, dialogue, utterance.text)
    if _ids(facts, owner) == before:  # The service may ask back whether to remember it.
        await ask(bench, dialogue, _YES)
    is_kept = _ids(facts, owner) != before
    here = [await _comes_back(bench, dialogue, each) for each in utterance.asked_back if is_kept]
    anew = [await _comes_back(bench, new_dialogue(graph), each) for each in utterance.asked_back if is_kept]
    facts.forget(owner, [*_ids(facts, owner)])
    return Outcome(utterance, is_kept, tuple(here), tuple(anew))


def _ids(facts: StatedFactStore, owner: FactOwner) -> set[str]:
    return {each.id for each in facts.of_owner(owner)}


async def _comes_back(bench: Bench, dialogue: Dialogue, asked: AskedBack) -> bool:
    """Returns True if the reply holds the expected words, and the day on which they were told."""
    answer = await ask(bench, dialogue, asked.question)
    said = answer.text if answer else ""
    return _DAY.search(said) is not None and all(word.casefold() in said.casefold() for word in asked.expect)


def measures_of_told(outcomes: Sequence[Outcome]) -> list[Measure]:
    """Returns the lines of the table: what is kept of each kind, what is rightly not, and what comes back."""
    stated = [each for each in outcomes if each.utterance.states]
    others = [each for each in outcomes if not each.utterance.states]
    kinds = dict.fromkeys(each.utterance.kind for each in stated)
    lines = [share("told facts kept", _part([each.is_kept for each in stated]), len(stated), MIN_KEPT)]
    for kind in kinds:
        mine = [each.is_kept for each in stated if each.utterance.kind == kind]
        lines.append(share(f"of them, {kind}", _part(mine), len(mine)))
    passed = _part([not each.is_kept for each in others])
    lines.append(share("nothing kept of what states nothing", passed, len(others), MIN_PASSED_OVER))
    for name, asked in (("the same", [each.here for each in stated]), ("a new", [each.anew for each in stated])):
        right = [one for each in asked for one in each]
        lines.append(
            share(f"kept ones asked back in {name} conversation, with the day", _part(right), len(right), 1.0)
        )
    return lines


def _part(each: Sequence[bool]) -> float:
    return sum(each) / max(1, len(each))
