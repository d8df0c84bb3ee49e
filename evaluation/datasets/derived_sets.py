"""Sets derived from others: halves by hash, questions with given topics, and questions that a graph can't answer."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from evaluation.checks.metrics import comparable
from evaluation.datasets.questions import Question

# The smallest likeness that counts: "jamaican" is like "Jamaica" (0.93), "us" not like "United States of America".
MIN_LIKENESS = 0.7
# The fewest letters of a word that stands for a whole topic, as "kennedy" for "John F. Kennedy", but not "king".
MIN_LETTERS = 5
_QUOTED_OR_WORD = re.compile(r'"[^"]*"|[^\W_]+')


def half_of_wording(wording: str) -> Literal["seen", "unseen"]:
    """Returns the half that a wording belongs to; the wording has X in place of its topic.

    Rules are written by looking at the seen half only, so that the unseen half shows how well they generalise.
    """
    return "seen" if _is_first(wording) else "unseen"


def split_by_topic(questions: Sequence[Question]) -> tuple[list[Question], list[Question]]:
    """Splits questions into (train, test) by their topic entities, so that no topic is in both.

    A topic falls into the same half in every set that is split by this function. Raises ValueError for a question
    without exactly one topic entity, since it could be in both halves.
    """
    if any(len(question.topic_entities) != 1 for question in questions):
        raise ValueError("a question without exactly one topic entity can't be put in a half")
    return halves_of_topics(questions)


def halves_of_topics(questions: Sequence[Question]) -> tuple[list[Question], list[Question]]:
    """Splits questions into halves without a common topic; those with topics of both halves or none are left out."""
    halves: tuple[list[Question], list[Question]] = ([], [])
    for question in questions:
        sides = {_is_first(comparable(topic)) for topic in question.topic_entities}
        if len(sides) == 1:
            halves[0 if True in sides else 1].append(question)
    return halves


def _is_first(text: str) -> bool:
    return hashlib.sha256(text.encode()).digest()[0] < 128


def with_topics_given(question: Question) -> Question:
    """Returns the question with each gold topic written out in quotes (`name_topic`), the longest first.

    The real linker then has no choice to make. Raises ValueError for a dialogue, since the topics of its earlier turns
    are unknown.
    """
    if question.question is None:
        raise ValueError("topics can be given in single questions only")
    text = question.question
    for topic in sorted(question.topic_entities, key=lambda name: (-len(name), name)):
        text = name_topic(text, topic)
    return question.model_copy(update={"question": text})


def name_topic(text: str, topic: str) -> str:
    """Returns `text` with the words most like `topic` replaced by it in quotes; if none are, it is added at the end.

    Likeness is difflib's ratio without case; words that all occur in the topic are like it too. The first of equally
    like runs is taken, and quoted text is not touched.
    """
    best = max(_runs(text, topic), key=lambda run: (_likeness(text[run[0] : run[1]], topic), -run[0]), default=None)
    if best is None or _likeness(text[best[0] : best[1]], topic) < MIN_LIKENESS:
        # The topic may already be part of a longer name, as Utah of "Utah State Capitol".
        return text if topic.casefold() in text.casefold() else f'{text.rstrip(" ?.")}, "{topic}"'
    return f'{text[: best[0]]}"{topic}"{text[best[1] :]}'


def _runs(text: str, topic: str) -> Iterator[tuple[int, int]]:
    """Yields spans of words outside quotes, with up to two words more than the topic has."""
    words = list(_QUOTED_OR_WORD.finditer(text))
    longest = len(_QUOTED_OR_WORD.findall(topic)) + 2
    for first, word in enumerate(words):
        for last in words[first : first + longest]:
            if last[0].startswith('"'):
                break
            yield word.start(), last.end()


def _likeness(words: str, topic: str) -> float:
    said, name = words.casefold(), topic.casefold().replace('"', "")
    whole = SequenceMatcher(None, said, name).ratio()
    parts = _QUOTED_OR_WORD.findall(said)
    if set(parts) <= set(_QUOTED_OR_WORD.findall(name)) and max(map(len, parts)) >= MIN_LETTERS:
        return max(whole, MIN_LIKENESS + 0.01 * len(parts))
    return whole


def foreign(questions: Sequence[Question], is_known: Callable[[str], bool]) -> list[Question]:
    """Returns questions of another graph about topics that this graph does not hold, so that it can't answer them.

    `is_known` tells whether this graph has anything of a name.
    """
    strangers = [question for question in _usable(questions) if not any(map(is_known, _topics(question)))]
    return [_without_answer(question, question.texts[0], "foreign") for question in strangers]


def transplanted(questions: Sequence[Question], names: Sequence[str], seed: int) -> list[Question]:
    """Returns questions of another graph with topics replaced by `names`: linking succeeds, but no relation fits.

    Questions without a topic are left out. Names are drawn by `seed`, none twice in one question.
    """
    chance = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    made = []
    for question in _usable(questions):
        topics = _topics(question)
        if topics and all(topic in question.texts[0] for topic in topics):
            text = _replaced(question.texts[0], dict(zip(topics, chance.sample(names, len(topics)), strict=True)))
            made.append(_without_answer(question, text, "transplanted"))
    return made


def without_relations(questions: Sequence[Question], shared: Collection[str]) -> list[Question]:
    """Returns the questions that have a plan whose paths use none of the relations `shared`.

    `shared` are relations of the questions' own graph that the asked graph has too, so that it might answer them.
    """
    return [
        question
        for question in questions
        if question.plan
        and not any(
            hop.removeprefix("^") in shared
            for planned in question.plan.sets.values()
            for label in planned.path
            for hop in label.split("|")
        )
    ]


def _usable(questions: Sequence[Question]) -> list[Question]:
    """Returns single-turn questions that their own graph answers, without those of an unseen half."""
    return [q for q in questions if len(q.texts) == 1 and q.is_answerable and q.half != "unseen"]


def _topics(question: Question) -> tuple[str, ...]:
    """Returns the topics as they are typed, since `topic_entities` may have underscores."""
    return (question.plan.topics if question.plan else ()) or question.topic_entities


def _replaced(text: str, new: dict[str, str]) -> str:
    # In one pass, longest first, so that no name is replaced inside another or inside what was put in.
    pattern = "|".join(re.escape(topic) for topic in sorted(new, key=len, reverse=True))
    return re.sub(pattern, lambda match: new[match[0]], text)


def _without_answer(question: Question, text: str, how: str) -> Question:
    return Question(id=f"{how}-{question.id}", question=text, answers=(), plan=None, kind=how)
