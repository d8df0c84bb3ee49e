"""Files as users have them, one folder per set: loaded by the proposed policy and asked the README's questions.

The README has a heading for each folder (`## sakila: CSV with keys`), and its questions as list items with their
answers, `- How many films ...? — **19**`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from client_sdk.answers.answer import Answer
from evaluation.bench.bench import TENANT, Bench, LoadedSet
from evaluation.bench.question_sets import Show
from evaluation.bench.report import QuestionOutcome, RunLabel
from evaluation.checks.metrics import comparable
from evaluation.datasets.questions import Question, QuestionsError
from evaluation.tables.measures import Measure, at_most, share
from kg_store.errors import LoadError
from kg_store.proposals.propose import propose_policy
from kg_store.sources.reader import FORMATS

MIN_RIGHT, MAX_WRONG, MIN_LOADED = 0.85, 0.02, 1.0
MIN_FILLED: Final = 0.8
_HEADING: Final = re.compile(r"## (\w+):")
_ASKED: Final = re.compile(r"\s*- (.*?) — \*\*(.*)\*\*")
_WORDS: Final = re.compile(r"[\w@]+(?:[.:/@-]\w+)*")
_NO_DATA: Final = re.compile(r"licen[cs]e|readme|notice|copying", re.IGNORECASE)

Verdict = Literal["right", "refused", "wrong"]


@dataclass(frozen=True, slots=True)
class AskedSet:
    """One folder with its questions, gold answers and verdicts. `problem` says why it could not be loaded."""

    name: str
    questions: tuple[tuple[str, str], ...] = field(repr=False)
    problem: str = ""
    verdicts: tuple[tuple[str, Verdict, str], ...] = field(default=(), repr=False)
    """For each question its text, the verdict, and the text of the answer."""


async def run_own_data(folder: Path, only: str, show: Show) -> list[AskedSet]:
    """Loads each folder by the policy that is proposed for it, and asks its questions from the README.

    `only` is a part of the folders' names. Raises QuestionsError if no folder has questions.
    """
    sets = [each for each in read_sets(folder) if only.casefold() in each.name.casefold()]
    if not sets:
        raise QuestionsError(f"{folder} has no README.md with a heading and questions for that folder")
    found = []
    async with Bench() as bench:
        for at, each in enumerate(sets):
            show(each.name, at, len(sets))
            found.append(await _ask(bench, folder / each.name, each))
    return found


def read_sets(folder: Path) -> list[AskedSet]:
    """Returns the sets of a README in order; empty if there is no README."""
    readme, found = folder / "README.md", dict[str, list[tuple[str, str]]]()
    name = ""
    for line in readme.read_text("utf-8").splitlines() if readme.is_file() else ():
        if heading := _HEADING.match(line):
            name = heading[1]
            found[name] = []
        elif name and (asked := _ASKED.match(line)):
            found[name].append((asked[1], asked[2]))
    return [AskedSet(name, tuple(asked)) for name, asked in found.items() if asked and (folder / name).is_dir()]


async def _ask(bench: Bench, folder: Path, asked: AskedSet) -> AskedSet:
    named = [(path, path.name.lower().removesuffix(".gz")) for path in folder.rglob("*") if path.is_file()]
    files = sorted(path for path, name in named if name.endswith(FORMATS) and not _NO_DATA.search(name))
    try:
        policy = propose_policy(files).to_toml()
        bench.services.graphs.load(TENANT, asked.name, files, policy).run(lambda _step, _percent: None)
    except LoadError as error:
        return AskedSet(asked.name, asked.questions, problem=str(error).split("\n")[0])
    verdicts: list[tuple[str, Verdict, str]] = []

    def see(question: Question, _outcome: QuestionOutcome, answer: Answer | None, _steps: object) -> None:
        text, names = question.texts[-1], answer.names if answer and answer.answered else None
        verdicts.append((text, judged(dict(asked.questions)[text], names), answer.text if answer else "an error"))

    label = RunLabel(set_name=asked.name, strategy="auto", reasoner="embedded", seed=0)
    questions = [Question(id=str(at), turns=(text,), answers=()) for at, (text, _) in enumerate(asked.questions)]
    await bench.ask(LoadedSet(asked.name, frozenset(), policy), label, questions, see=see)
    return AskedSet(asked.name, asked.questions, verdicts=tuple(verdicts))


def judged(gold: str, names: Collection[str] | None) -> Verdict:
    """Judges an answer: right if it names what `gold` lists, separated by commas, and nothing more.

    For a gold answer like `('X', 7)`, X is enough.
    """
    if names is None:
        return "refused"
    given = {comparable(name) for name in names}
    # "How many, and who?" is answered by the names together with their number.
    given -= {str(len(given) - 1)} - {comparable(gold)} if len(given) > 2 else frozenset()
    if given == {comparable(part) for part in re.split(r",\s*", gold)}:
        return "right"
    told = [part for part in re.findall(r"'([^']*)'", gold) or [re.split(r"[:(]", gold)[0]] if part.strip()]
    is_one = len(given) == 1 and any(_words(part) <= _words(name) for part in told for name in given)
    # Names may hold commas themselves, so compare how much of the gold text the names cover.
    texts = comparable(gold)
    are_all = all(name in texts for name in given) and sum(map(len, given)) >= MIN_FILLED * len(texts)
    # A row or a pair ("Ada: 1993") tells more than what was asked.
    parts = [_words(part) for part in re.split(r",\s*", gold) if _words(part)]
    rows = [_words(name) for name in given]
    are_rows = all(any(part <= row for row in rows) for part in parts) and all(
        any(part <= row for part in parts) for row in rows
    )
    return "right" if is_one or are_all or are_rows else "wrong"


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(comparable(text)))


def measures(found: list[AskedSet]) -> list[Measure]:
    """Returns the table's lines: sets that load, questions answered rightly, and wrong answers among those given."""
    asked = sum(len(each.questions) for each in found)
    verdicts = [verdict for each in found for _, verdict, _ in each.verdicts]
    right, wrong = verdicts.count("right"), verdicts.count("wrong")
    loaded = [each for each in found if not each.problem]
    wrong_share = wrong / max(1, right + wrong)
    most = at_most("wrong among the answers given", right + wrong, wrong_share, MAX_WRONG)
    is_right = wrong_share <= MAX_WRONG
    return [
        share("sets that load by what is proposed", len(loaded) / len(found), len(found), MIN_LOADED),
        share("questions answered rightly", right / max(1, asked), asked, MIN_RIGHT),
        most.model_copy(update={"reached": f"{wrong_share:.3f}", "passed": is_right}),
    ]


def answers_markdown(found: list[AskedSet]) -> str:
    """Returns every question with its verdict. It holds names: only for those who hold the files."""
    lines = []
    for each in found:
        lines.append(f"## {each.name}\n")
        lines += [f"Not loaded: {each.problem}\n"] if each.problem else []
        gold = dict(each.questions)
        lines += [f"- {verdict}: {text} ({gold[text]})\n  {said}" for text, verdict, said in each.verdicts]
    return "\n".join(lines) + "\n"
