"""Reads domains: the files of a small organisation, questions with computed answers, and dialogues.

A domain is a folder with the graph's files, `questions.jsonl` and, for some, `dialogues.jsonl`. The `seen` ones may be
looked at, and weights are fitted to them; the `shut` ones are packed, so that a search in files does not show them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pydantic import BaseModel, ConfigDict

from evaluation.datasets.questions import QuestionsError, read_lines
from evaluation.natural.verdicts import Gold, Half, NaturalQuestion

SETS: Final = Path(__file__).parent / "sets"
QUESTIONS, DIALOGUES = "questions.jsonl", "dialogues.jsonl"
VARIANTS: Final = SETS / "variants"
"""Dialogues over seen domains whose last turn is one of twelve variants of its kind; a file for each domain."""


class DialogueTurn(BaseModel):
    """One turn of a dialogue; `gold` is None where nothing factual is asked. `also`: other answers that are right."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    text: str
    gold: Gold | None = None
    also: tuple[Gold, ...] = ()


class AskedDialogue(BaseModel):
    """A dialogue with its turns in order."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    id: str
    turns: tuple[DialogueTurn, ...]
    kind: str = "turn"

    def questions(self, graph: str) -> list[NaturalQuestion | None]:
        """Returns each turn as a question about `graph`; None for one where nothing factual is asked."""
        return [
            NaturalQuestion(
                id=f"{self.id} {at}", graph=graph, kind=self.kind, question=each.text, gold=each.gold, also=each.also
            )
            if each.gold is not None
            else None
            for at, each in enumerate(self.turns, start=1)
        ]


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain: its `files` as a user would load them, and what is asked of it."""

    name: str
    files: tuple[Path, ...]
    questions: tuple[NaturalQuestion, ...]
    dialogues: tuple[AskedDialogue, ...]


@contextmanager
def domains(half: Half, sets: Path = SETS) -> Iterator[list[Domain]]:
    """Opens the domains of a half by name. The files of packed ones are there until the context ends.

    Raises QuestionsError if there are none, or if a line can't be read.
    """
    with ExitStack() as opened:
        folders = [each for each in sorted((sets / half).glob("*")) if each.is_dir()]
        for packed in sorted((sets / half).glob("*.zip")):
            folder = Path(opened.enter_context(TemporaryDirectory(prefix="arog-domain-"))) / packed.stem
            zipfile.ZipFile(packed).extractall(folder)
            folders.append(folder)
        if not folders:
            raise QuestionsError(f"there are no {half} domains in {sets}")
        yield [domain_of(folder) for folder in folders]


def read_variants(domain: str) -> tuple[AskedDialogue, ...]:
    """Reads the variants of a seen domain; there may be none. Raises QuestionsError."""
    file = VARIANTS / f"{domain}.jsonl"
    return tuple(each for _, each in read_lines(file, AskedDialogue)) if file.exists() else ()


def domain_of(folder: Path) -> Domain:
    """Reads one domain from its folder. Raises QuestionsError."""
    files = tuple(each for each in sorted(folder.iterdir()) if each.suffix in (".ttl", ".csv", ".xlsx"))
    questions = tuple(each for _, each in read_lines(folder / QUESTIONS, NaturalQuestion))
    talks = folder / DIALOGUES
    dialogues = tuple(each for _, each in read_lines(talks, AskedDialogue)) if talks.exists() else ()
    return Domain(folder.name, files, questions, dialogues)
