"""The share of common words of everyday questions that are replaced: what permission costs those who ask."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.graphs.markdown_table import markdown_table
from client_sdk.crypto.sealing import KeyPair
from evaluation.attacks.forms.corpus.words import is_common_english, tokens
from evaluation.attacks.forms.judge import read_sent
from evaluation.attacks.setup.exchanges import sent_by
from evaluation.bench.bench import TO_THE_MODEL, Bench, LoadedSet, sample
from evaluation.bench.question_sets import METAQA, WEBQSP, QuestionSets, Show
from evaluation.datasets.questions import Question

MAX_REPLACED = 0.02
OPENDIALKG = "opendialkg"
_LISTED = 25
# A title, the small words between its capitals included: "We the Living", "The Old Man and the Sea".
_SMALL = r"(?:[:,]?\s+(?:of|the|and|in|by|an?|to|for|on|if|with|from|at))*"
_TITLE = re.compile(rf"[A-Z][\w'’.-]*(?:{_SMALL}[:,]?\s+[A-Z][\w'’.-]*)+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class MarkedQuestion:
    """A question, and the gold names, whose words are left out of the count."""

    text: str = field(repr=False)
    names: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Kept:
    """The result for the common words of one set: how many were typed, and which were replaced how often."""

    title: str
    questions: int
    words: int
    replaced: Counter[str] = field(repr=False)

    @property
    def share(self) -> float:
        return self.replaced.total() / self.words if self.words else 0.0

    @property
    def passed(self) -> bool:
        return self.words > 0 and self.share <= MAX_REPLACED


async def measure_common_words(data: Path, limit: int, seed: int, show: Show) -> list[Kept]:
    """`limit` questions of each set, asked of its own graph; every prompt goes to the scripted endpoint."""
    found = []
    with tempfile.TemporaryDirectory(prefix="arog-words-") as folder:
        async with Bench("scripted", changes=TO_THE_MODEL) as bench:
            for title, loaded, questions in _sets(bench, data, Path(folder), limit, seed, show):
                found.append(await _measure(bench, loaded, title, questions, show))
    return found


def _sets(
    bench: Bench, data: Path, folder: Path, limit: int, seed: int, show: Show
) -> Iterator[tuple[str, LoadedSet, list[MarkedQuestion]]]:
    sets = QuestionSets(bench, data, folder, show)
    for title, sources in (("MetaQA", list(METAQA.values())), ("WebQSP", [WEBQSP])):
        loaded = sets.of(sources[0])[0]
        every = [question for source in sources for question in sets.questions(source)]
        chosen = sample(every, limit, seed)
        yield title, loaded, [_asked(question) for question in chosen]
    file = data / OPENDIALKG / "triples.tsv"
    yield "OpenDialKG", bench.load(OPENDIALKG, [file], None), _dialogues(data / OPENDIALKG / "val.jsonl", limit)


def _asked(question: Question) -> MarkedQuestion:
    return MarkedQuestion(question.texts[-1], (*question.topic_entities, *question.answers))


def _dialogues(file: Path, limit: int) -> list[MarkedQuestion]:
    """The last turn of the user in each of the first dialogues of the file."""
    found = []
    for line in file.read_text("utf-8").splitlines()[:limit]:
        told = json.loads(line)
        turns = [text for role, text in told["history"] if role == "user" and text.strip()]
        names = tuple(part for fact in told["knowledge"] for part in (fact[0], fact[2]))
        found += [MarkedQuestion(turn, names) for turn in turns[-1:]]
    return found


async def _measure(
    bench: Bench, loaded: LoadedSet, title: str, questions: Sequence[MarkedQuestion], show: Show
) -> Kept:
    words, replaced, key = 0, Counter[str](), KeyPair.generate()
    for done, asked in enumerate(questions, start=1):
        sent, _ = await sent_by(bench, loaded.graph, [("user", asked.text)], "sets", key)
        typed = Counter(common_words(asked.text, asked.names))
        words += typed.total()
        replaced += typed - _most_of_each(read_sent(sent).said)
        show(f"common words, {title}", done, len(questions))
    return Kept(title, len(questions), words, replaced)


def _most_of_each(texts: Iterable[str]) -> Counter[str]:
    """Counts each word as often as the text that has it most does."""
    most: Counter[str] = Counter()
    for text in texts:
        most |= Counter(word.lower() for word in _WORD.findall(text))
    return most


def common_words(text: str, names: Iterable[str]) -> list[str]:
    """Common words of `text` in small letters or at its start; those of names and titles are left out."""
    of_names = {word for name in names for word in tokens(name)}
    rest = _TITLE.sub(lambda title: "X" * len(title[0]), text)
    found = []
    for match in _WORD.finditer(rest):
        word = match[0]
        is_plain = word == word.lower() or not rest[: match.start()].strip() or word == "I"
        if is_plain and is_common_english(word.lower()) and not of_names.intersection(tokens(word)):
            found.append(word.lower())
    return found


def markdown(found: Sequence[Kept]) -> str:
    """The table, then the words of each set that were replaced most often."""
    rows = [
        (
            each.title,
            each.questions,
            each.words,
            f"{each.replaced.total()} ({each.share:.2%})",
            f"at most {MAX_REPLACED:.0%}",
            "pass" if each.passed else "FAIL",
        )
        for each in found
    ]
    listed = [f"{each.title}: {_listed(each.replaced)}" for each in found]
    table = markdown_table(("set", "questions", "common words", "replaced", "bound", ""), rows)
    return "\n".join([table, *(f"{line}\n" for line in listed)])


def _listed(replaced: Counter[str]) -> str:
    return ", ".join(f"{word} {count}" for word, count in replaced.most_common(_LISTED)) or "none"
