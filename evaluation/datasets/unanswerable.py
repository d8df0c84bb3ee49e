"""Questions that a graph can't answer: another graph's, as they are, and with a thing of this graph put into them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Sequence

from evaluation.datasets.questions import Question


def foreign(questions: Sequence[Question], is_known: Callable[[str], bool]) -> list[Question]:
    """Questions of another graph whose topics this one does not hold: nothing that they are about is there.

    `is_known` says whether this graph has anything of that name.
    """
    strangers = [question for question in _usable(questions) if not any(map(is_known, _topics(question)))]
    return [_without_answer(question, question.texts[0], "foreign") for question in strangers]


def transplanted(questions: Sequence[Question], names: Sequence[str], seed: int) -> list[Question]:
    """Questions of another graph, each topic replaced by one of `names`: linking succeeds, and no relation fits.

    Questions that name no topic are left out. Names are drawn by `seed`, none twice in one question.
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
    """Those whose plan walks none of the relations `shared`: the ones that the other graph has in its own words."""
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
    """Single questions that their own graph answers, of wordings that may be looked at."""
    return [q for q in questions if len(q.texts) == 1 and q.is_answerable and q.half != "unseen"]


def _topics(question: Question) -> tuple[str, ...]:
    """As they are typed: files of questions may have underscores in names."""
    return (question.plan.topics if question.plan else ()) or question.topic_entities


def _replaced(text: str, new: dict[str, str]) -> str:
    # In one pass, longest first, so that no name is replaced inside another or inside what was put in.
    pattern = "|".join(re.escape(topic) for topic in sorted(new, key=len, reverse=True))
    return re.sub(pattern, lambda match: new[match[0]], text)


def _without_answer(question: Question, text: str, how: str) -> Question:
    return Question(id=f"{how}-{question.id}", question=text, answers=(), plan=None, kind=how)
