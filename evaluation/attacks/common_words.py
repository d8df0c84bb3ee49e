"""Measure which share of the common words in everyday questions is replaced by pseudonyms without need."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from app.graphs.markdown_table import markdown_table
from client_sdk.crypto.sealing import KeyPair
from evaluation.attacks.form_judge import read_sent
from evaluation.attacks.targets import sent_by
from evaluation.attacks.words import is_common_english, tokens
from evaluation.bench.bench import TO_THE_MODEL, LoadedSet
from evaluation.bench.question_sets import METAQA, OPENDIALKG, WEBQSP, Show
from evaluation.tables.measures import Asker, asking

MAX_REPLACED = 0.02
_LISTED = 25
# A title: capitalised words and the small words between them ("We the Living", "The Old Man and the Sea").
_SMALL = r"(?:[:,]?\s+(?:of|the|and|in|by|an?|to|for|on|if|with|from|at))*"
_TITLE = re.compile(rf"[A-Z][\w'’.-]*(?:{_SMALL}[:,]?\s+[A-Z][\w'’.-]*)+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


class MarkedQuestion(NamedTuple):
    """A question and its gold names, whose words are not counted as common words."""

    text: str
    names: tuple[str, ...]


class Kept(NamedTuple):
    """The result of one question set: how many common words were typed, and how often each was replaced."""

    title: str
    questions: int
    words: int
    replaced: Counter[str]

    @property
    def share(self) -> float:
        return self.replaced.total() / self.words if self.words else 0.0

    @property
    def passed(self) -> bool:
        return self.words > 0 and self.share <= MAX_REPLACED


async def measure_common_words(data: Path, limit: int, seed: int, show: Show) -> list[Kept]:
    """Asks `limit` questions of each set and counts the common words that were replaced in the prompts.

    Every prompt goes to the scripted endpoint, which records it.
    """
    async with asking(data, limit, seed, show, "scripted", changes=TO_THE_MODEL) as asker:
        return [await _measure(asker, *each) for each in _sets(asker, data)]


def _sets(asker: Asker, data: Path) -> Iterator[tuple[str, LoadedSet, list[MarkedQuestion]]]:
    sets = asker.sets
    for title, sources in (("MetaQA", list(METAQA.values())), ("WebQSP", [WEBQSP])):
        loaded = sets.of(sources[0])[0]
        chosen = asker.sample([question for source in sources for question in sets.questions(source)])
        yield title, loaded, [MarkedQuestion(e.texts[-1], (*e.topic_entities, *e.answers)) for e in chosen]
    yield "OpenDialKG", sets.graph(OPENDIALKG), _dialogues(data / "opendialkg" / "val.jsonl", asker.limit)


def _dialogues(file: Path, limit: int) -> list[MarkedQuestion]:
    """Returns the last user turn of each of the first `limit` dialogues of `file`."""
    found = []
    for line in file.read_text("utf-8").splitlines()[:limit]:
        told = json.loads(line)
        turns = [text for role, text in told["history"] if role == "user" and text.strip()]
        names = tuple(part for fact in told["knowledge"] for part in (fact[0], fact[2]))
        found += [MarkedQuestion(turn, names) for turn in turns[-1:]]
    return found


async def _measure(asker: Asker, title: str, loaded: LoadedSet, questions: Sequence[MarkedQuestion]) -> Kept:
    words, replaced, key = 0, Counter[str](), KeyPair.generate()
    for done, asked in enumerate(questions, start=1):
        sent, _ = await sent_by(asker.sets.bench, loaded.graph, [("user", asked.text)], "sets", key)
        typed = Counter(common_words(asked.text, asked.names))
        words += typed.total()
        # A word counts as kept as often as it stands in the sent text that holds it most often.
        most: Counter[str] = Counter()
        for text in read_sent(sent).said:
            most |= Counter(word.lower() for word in _WORD.findall(text))
        replaced += typed - most
        asker.show(f"common words, {title}", done, len(questions))
    return Kept(title, len(questions), words, replaced)


def common_words(text: str, names: Iterable[str]) -> list[str]:
    """Returns the common words of `text` in small letters.

    Words of `names` and of titles, such as "Gone with the Wind", are left out. A capitalised word counts only at the
    start of the text, since a capital elsewhere marks a name.
    """
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
    """Returns the table as Markdown, followed by the most often replaced words of each set."""
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
    table = markdown_table(("set", "questions", "common words", "replaced", "bound", ""), rows)
    for each in found:
        words = ", ".join(f"{word} {count}" for word, count in each.replaced.most_common(_LISTED))
        table += f"\n{each.title}: {words or 'none'}\n"
    return table
