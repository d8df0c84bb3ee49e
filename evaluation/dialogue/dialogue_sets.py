"""Dialogue turns with the facts that their replies use, their graphs, and scores of replies.

The sets are OpenDialKG, and MetaQA turned into dialogues. Scores are the F1 of SQuAD for spans of a text and means
with intervals; the papers' figures are read from `published.toml`.

OpenDialKG spells facts in several ways: inverted (with "~" before the relation), with "_", "-" or a space, in any
case. Gold facts have a spelling of their own, by which a model could tell them from others. So all facts get one
spelling.
"""

from __future__ import annotations

import json
import random
import re
import string
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluation.datasets.converters import read_public_set
from evaluation.datasets.questions import Question, QuestionsError

OPENDIALKG, METAQA = "opendialkg", "metaqa"
TEST_SHARE: Final = 0.2
SPLIT_SEED: Final = 0
"""The seed that fixes the test dialogues. Do not change it: training with another one uses turns of the test."""
MIN_SHARED_LENGTH: Final = 25
"""The shortest utterance, in characters, that identifies a dialogue; "Yes, I have." may be said in two."""
LOOKED_AT: Final = 300
"""The number of MetaQA's questions that were used while the retriever was developed; they are left out."""
MAX_TOLD: Final = 3
"""The most things that an answer names, including the one that the next question is about."""

_INVERSE: Final = "~"

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """A turn of a dialogue: what was said before, the facts to use, and the reply.

    `history`: pairs of speaker and text, oldest first; at most three in OpenDialKG. `gold`: the facts that the reply
    uses; `so_far`: those that the replies before it used, as in LLM-KAT (Sheikhi et al., 2025, section 3). `concepts`:
    the concepts of things, if prompts show them ("Eq7f2k (person)"). `originals` maps each identifier to the name it
    replaced.
    """

    id: str
    dialogue: str
    history: tuple[tuple[str, str], ...] = field(repr=False)
    gold: tuple[Triple, ...] = field(repr=False)
    reply: str = field(default="", repr=False)
    so_far: tuple[Triple, ...] = field(default=(), repr=False)
    concepts: Mapping[str, str] = field(default_factory=dict, repr=False)
    originals: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def knowledge(self) -> tuple[Triple, ...]:
        """Returns all that the reply may say, each fact once."""
        return tuple(dict.fromkeys((*self.so_far, *self.gold)))

    @property
    def said(self) -> str:
        """Returns the text of the history as one string."""
        return " ".join(text for _, text in self.history)


@dataclass(frozen=True, slots=True)
class DialogueGraph:
    """All facts of a graph by each of their ends, in a fixed order, and all relations."""

    facts_of: Mapping[str, tuple[Triple, ...]] = field(repr=False)
    relations: tuple[str, ...]


def graph_of(triples: set[Triple]) -> DialogueGraph:
    facts_of: dict[str, list[Triple]] = defaultdict(list)
    for triple in sorted(triples):
        for entity in {triple[0], triple[2]}:
            facts_of[entity].append(triple)
    relations = tuple(sorted({relation for _, relation, _ in triples}))
    return DialogueGraph({entity: tuple(facts) for entity, facts in sorted(facts_of.items())}, relations)


def names_of(triples: Iterable[Triple]) -> set[str]:
    """Returns the heads and tails of all triples."""
    return {name for head, _, tail in triples for name in (head, tail)}


def is_said(name: str, text: str) -> bool:
    """Returns True if `name` stands in `text` as whole words, in any case."""
    words = r"\s+".join(re.escape(word) for word in name.split())
    return bool(words) and re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE) is not None


def read_graph(data: Path) -> DialogueGraph:
    """Reads OpenDialKG's graph from the folder of the public sets. Raises QuestionsError."""
    try:
        lines = (data / OPENDIALKG / "triples.tsv").read_text("utf-8").splitlines()
        return graph_of({_canonical(*line.split("\t")) for line in lines})
    except (OSError, TypeError, ValueError):
        raise QuestionsError(
            "triples.tsv can't be read: a line is head, relation and tail, with tabs between"
        ) from None


def read_turns(data: Path) -> list[DialogueTurn]:
    """Reads OpenDialKG's turns. Raises QuestionsError.

    The file does not say which turns belong to one dialogue; turns that share an utterance do.
    """
    try:
        rows = [json.loads(line) for line in (data / OPENDIALKG / "val.jsonl").read_text("utf-8").splitlines()]
        turns = [
            DialogueTurn(
                row["id"],
                "",
                tuple((speaker, text) for speaker, text in row["history"]),
                tuple(sorted({_canonical(*fact) for fact in row["knowledge"]})),
                row["response"],
            )
            for row in rows
        ]
        return [replace(turn, dialogue=turns[first].id) for turn, first in zip(turns, _dialogues(turns), strict=True)]
    except (OSError, KeyError, TypeError, ValueError):
        raise QuestionsError("val.jsonl can't be read: a line has id, history, knowledge and response") from None


def split(turns: Sequence[DialogueTurn]) -> tuple[list[DialogueTurn], list[DialogueTurn]]:
    """Splits turns into those to train on and those to test on: a fifth of the dialogues, none of which is in both."""
    dialogues = sorted({turn.dialogue for turn in turns})
    random.Random(SPLIT_SEED).shuffle(dialogues)  # noqa: S311  # a sample, no secret  # nosec B311
    held = set(dialogues[: round(len(dialogues) * TEST_SHARE)])
    return (
        [turn for turn in turns if turn.dialogue not in held],
        [turn for turn in turns if turn.dialogue in held],
    )


def read_test_turns(data: Path, limit: int | None = None) -> list[DialogueTurn]:
    """Reads at most `limit` turns with gold facts from the test dialogues, dialogue by dialogue.

    Raises QuestionsError.
    """
    turns = read_turns(data)
    found = grounded_turns(split(turns)[1], among=turns)
    return sorted(found, key=lambda turn: (turn.dialogue, turn.id))[:limit]


def grounded_turns(turns: Sequence[DialogueTurn], among: Sequence[DialogueTurn]) -> list[DialogueTurn]:
    """Returns the turns that have a gold fact, with the facts of earlier replies, which are looked up in `among`."""
    dialogues: dict[str, list[DialogueTurn]] = defaultdict(list)
    for turn in among:
        dialogues[turn.dialogue].append(turn)
    return [replace(turn, so_far=_so_far(turn, dialogues[turn.dialogue])) for turn in turns if turn.gold]


def read_metaqa(data: Path, limit: int, seed: int) -> tuple[DialogueGraph, list[DialogueTurn]]:
    """Returns MetaQA's graph and at most `limit` turns that ask about a thing that the answer before named.

    Turns are drawn by `seed`. Raises QuestionsError.
    """
    triples, questions = read_public_set(METAQA, data / METAQA / "qa_dev_1hop.txt")
    graph = graph_of({(head, relation.replace("_", " "), tail) for head, relation, tail in triples})
    return graph, list(_turns(graph, questions, limit, random.Random(seed)))  # noqa: S311  # a sample, no secret  # nosec B311


def _canonical(head: str, relation: str, tail: str) -> Triple:
    words = relation.removeprefix(_INVERSE).replace("_", " ").replace("-", " ").strip().lower()
    return (tail, words, head) if relation.startswith(_INVERSE) else (head, words, tail)


def _dialogues(turns: Sequence[DialogueTurn]) -> list[int]:
    """Returns for each turn the index of the first turn of its dialogue."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    said: dict[str, int] = {}
    links = [(at, said.setdefault(text, at)) for at, turn in enumerate(turns) for text in _utterances(turn)]
    joined = coo_array((np.ones(len(links)), np.array(links).T), shape=(len(turns), len(turns)))
    _, dialogue = connected_components(joined, directed=False)
    _, first = np.unique(dialogue, return_index=True)
    return [int(at) for at in first[dialogue]]


def _utterances(turn: DialogueTurn) -> list[str]:
    """Returns a key for each utterance of the turn's history and reply, by which two turns can be joined.

    The key is the text in small letters; that of a short text ("Yes") holds the turn's id too, so that it joins
    nothing.
    """
    keys = [text.strip().lower() for text in (*(text for _, text in turn.history), turn.reply)]
    return [key if len(key) >= MIN_SHARED_LENGTH else f"{turn.id} {at} {key}" for at, key in enumerate(keys)]


def _so_far(turn: DialogueTurn, others: Sequence[DialogueTurn]) -> tuple[Triple, ...]:
    """Returns the facts that replies before this turn used, out of `others`, the turns of the dialogue.

    A reply came before if a chain of utterances leads from it to this turn's reply; turns that share an utterance are
    joined there.
    """
    before: dict[str, set[str]] = defaultdict(set)
    for other in others:
        for one, after in pairwise(_utterances(other)):
            before[after].add(one)
    own = _utterances(turn)[-1]
    reached, waiting = set[str](), [own]
    while waiting:
        new = before[waiting.pop()] - reached
        reached |= new
        waiting += new
    earlier = [each for each in others if _utterances(each)[-1] in reached - {own}]
    return tuple(sorted({triple for each in earlier for triple in each.gold}))


def _turns(
    graph: DialogueGraph, questions: Sequence[Question], limit: int, draw: random.Random
) -> Iterator[DialogueTurn]:
    leading_to: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        for answer in question.answers:
            leading_to[answer].append(question)
    every = [question for question in questions if question.topic_entities[0] in leading_to]
    looked_at = set(random.Random(0).sample(range(len(every)), min(LOOKED_AT, len(every) // 2)))  # noqa: S311  # nosec B311
    asked = [question for number, question in enumerate(every) if number not in looked_at]
    for number, question in enumerate(draw.sample(asked, min(limit, len(asked)))):
        topic = question.topic_entities[0]
        before = draw.choice(leading_to[topic])
        others = [answer for answer in before.answers if answer != topic]
        told = [topic, *draw.sample(others, min(MAX_TOLD - 1, len(others)))]
        draw.shuffle(told)
        listed = " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))
        history = (("user", before.texts[0]), ("assistant", f"{listed}."), ("user", question.texts[0]))
        assert question.plan is not None  # all questions of MetaQA have one
        (hop,) = question.plan.sets["A"].path
        relation, end = hop.removeprefix("^"), 2 if hop.startswith("^") else 0
        gold = tuple(fact for fact in graph.facts_of.get(topic, ()) if (fact[1], fact[end]) == (relation, topic))
        yield DialogueTurn(f"{METAQA}-{number}", f"{METAQA}-{number}", history, gold)


SAMPLES: Final = 1_000
NOT_MEASURED: Final = "not measured"
UNKNOWN: Final = "X"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)

PublishedTable = Literal["retrieval", "llm_kat", "impossible", "replies"]


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A fact with one unknown end: which span of the context fills it?

    `acceptable` are the right answers; `turn` and `dialogue` are ids.
    """

    context: str = field(repr=False)
    known: str = field(repr=False)
    relation: str
    unknown_is_head: bool
    acceptable: tuple[str, ...] = field(default=(), repr=False)
    turn: str = ""
    dialogue: str = ""

    @property
    def triplet(self) -> str:
        """Returns the fact as judges are shown it, with X for the unknown end."""
        head, tail = (UNKNOWN, self.known) if self.unknown_is_head else (self.known, UNKNOWN)
        return f"({head}, {self.relation}, {tail})"


Judged = tuple[str, ...] | None
"""The spans that a judge found, empty if it says that there is no answer; None if the call failed."""
Judge = Callable[[Sequence[SpanQuestion]], Sequence[Judged]]
"""Answers each question from its own context."""


def squad_words(text: str) -> list[str]:
    """Returns the words as SQuAD compares them (Rajpurkar et al., 2016): lower case, no punctuation or articles."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def squad_f1(given: str, acceptable: Sequence[str]) -> float:
    """Returns the F1 of the words of `given` against the best acceptable answer; 0 if there is none."""
    words, best = squad_words(given), 0.0
    for wanted in map(squad_words, acceptable):
        shared = (Counter(words) & Counter(wanted)).total()
        best = max(best, 2 * shared / (len(words) + len(wanted)) if words and wanted else float(words == wanted))
    return best


class Estimate(NamedTuple):
    """A mean with the bounds of its 95 % interval over `of` values; all 0 if nothing was measured."""

    mean: float
    low: float
    high: float
    of: int

    def __str__(self) -> str:
        """Returns mean and interval times 100, as tables show them."""
        return f"{100 * self.mean:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def estimate(values: Sequence[float], dialogues: Sequence[str], seed: int = 0) -> Estimate:
    """Returns the mean of `values`, one for each of `dialogues`, with the percentile interval of the bootstrap.

    Whole dialogues are resampled, because turns of one dialogue are not independent.
    """
    from scipy.stats import bootstrap

    if not values:
        return Estimate(0.0, 0.0, 0.0, 0)
    groups: dict[str, list[float]] = defaultdict(list)
    for value, dialogue in zip(values, dialogues, strict=True):
        groups[dialogue].append(value)
    sums, counts = (np.array([of(groups[name]) for name in sorted(groups)]) for of in (sum, len))
    mean = float(sums.sum() / counts.sum())
    if len(groups) == 1:
        return Estimate(mean, mean, mean, len(values))
    low, high = bootstrap(
        (sums, counts),
        lambda drawn, lengths, axis: drawn.sum(axis=axis) / lengths.sum(axis=axis),
        paired=True,
        n_resamples=SAMPLES,
        method="percentile",
        rng=seed,
    ).confidence_interval
    return Estimate(mean, float(low), float(high), len(values))


def percent(values: Sequence[float]) -> list[str]:
    return [f"{100 * value:.1f}" for value in values]


@cache
def published(table: PublishedTable) -> tuple[list[str], list[list[str]]]:
    """Returns head and rows of a paper's table as text, as printed there (times 100)."""
    found = tomllib.loads(Path(__file__).with_name("published.toml").read_text("utf-8"))[table]
    rows = [[cell if isinstance(cell, str) else f"{cell:.1f}" for cell in row] for row in found["rows"]]
    return found["head"], rows
