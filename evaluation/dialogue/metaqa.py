"""Dialogues made from MetaQA's one-hop questions: somebody goes on to ask about what the answer before named."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evaluation.datasets.questions import QuestionsError
from evaluation.dialogue.opendialkg import DialogueGraph, DialogueTurn, Triple, graph_of

FOLDER: Final = "metaqa"
LOOKED_AT: Final = 300
"""So many questions were asked while the retriever was made, and are left out."""
MAX_TOLD: Final = 3
"""An answer names so many things at most, the next one asked about among them."""

_TOPIC = re.compile(r"\[(.+?)\]")
_MOVIE = "movie"
_RELATIONS: Final = {
    "director": "directed by",
    "writer": "written by",
    "actor": "starred actors",
    "year": "release year",
    "language": "in language",
    "tags": "has tags",
    "tag": "has tags",
    "genre": "has genre",
    "imdbrating": "has imdb rating",
    "imdbvotes": "has imdb votes",
}


@dataclass(frozen=True, slots=True)
class _Question:
    text: str = field(repr=False)
    topic: str = field(repr=False)
    answers: tuple[str, ...] = field(repr=False)
    relation: str
    is_topic_head: bool


def read_metaqa(data: Path, limit: int, seed: int) -> tuple[DialogueGraph, list[DialogueTurn]]:
    """The graph, and at most `limit` turns drawn by `seed`. `data`: the folder of the public sets. Raises
    QuestionsError."""
    folder = data / FOLDER
    try:
        lines = (folder / "kb.txt").read_text("utf-8").splitlines()
        graph = graph_of({_triple(*line.split("|")) for line in lines})
        questions = list(_questions(folder))
    except (OSError, KeyError, TypeError, ValueError):
        raise QuestionsError(
            "MetaQA can't be read: kb.txt, qa_dev_1hop.txt and qa_dev_1hop_qtype.txt are needed"
        ) from None
    return graph, list(_turns(graph, questions, limit, random.Random(seed)))  # noqa: S311  # a sample, no secret  # nosec B311


def _turns(
    graph: DialogueGraph, questions: Sequence[_Question], limit: int, draw: random.Random
) -> Iterator[DialogueTurn]:
    leading_to: dict[str, list[_Question]] = defaultdict(list)
    for question in questions:
        for answer in question.answers:
            leading_to[answer].append(question)
    every = [question for question in questions if question.topic in leading_to]
    looked_at = set(random.Random(0).sample(range(len(every)), min(LOOKED_AT, len(every) // 2)))  # noqa: S311  # nosec B311
    asked = [question for number, question in enumerate(every) if number not in looked_at]
    for number, question in enumerate(draw.sample(asked, min(limit, len(asked)))):
        before = draw.choice(leading_to[question.topic])
        others = [answer for answer in before.answers if answer != question.topic]
        told = [question.topic, *draw.sample(others, min(MAX_TOLD - 1, len(others)))]
        draw.shuffle(told)
        history = (("user", before.text), ("assistant", f"{_listed(told)}."), ("user", question.text))
        identity = f"{FOLDER}-{number}"
        yield DialogueTurn(identity, identity, history, frozenset(_gold(graph, question)))


def _gold(graph: DialogueGraph, question: _Question) -> Iterator[Triple]:
    for head, relation, tail in graph.facts_of.get(question.topic, ()):
        if relation == question.relation and (head if question.is_topic_head else tail) == question.topic:
            yield head, relation, tail


def _questions(folder: Path) -> Iterator[_Question]:
    lines = (folder / "qa_dev_1hop.txt").read_text("utf-8").splitlines()
    kinds = (folder / "qa_dev_1hop_qtype.txt").read_text("utf-8").splitlines()
    for line, kind in zip(lines, kinds, strict=True):
        bracketed, answers = line.split("\t")
        (topic,) = _TOPIC.findall(bracketed)
        here, there = kind.strip().split("_to_")
        is_topic_head = here == _MOVIE
        yield _Question(
            text=bracketed.replace(f"[{topic}]", topic),
            topic=topic,
            answers=tuple(answers.split("|")),
            relation=_RELATIONS[there if is_topic_head else here],
            is_topic_head=is_topic_head,
        )


def _triple(head: str, relation: str, tail: str) -> Triple:
    return head, relation.replace("_", " "), tail


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
