"""Linkage: whether two conversations are of the same user, by what went to the model endpoint.

A classifier (logistic regression over how alike two conversations are, trait by trait) is trained on one half of the
users and tried on the other. Who is asked about, and when, is in no trait: pseudonyms are blotted out, times left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.egress import prompts_of
from evaluation.attacks.setup.related_questions import askable
from evaluation.attacks.setup.separation import area
from evaluation.attacks.setup.targets import TITLES, AttackTargets
from evaluation.attacks.users.simulated_users import SimulatedConversation, UserPopulation, simulate_conversations
from evaluation.attacks.users.traits import TRAITS, traits_of
from evaluation.bench.question_sets import PQ_3H

Numbers = npt.NDArray[np.float64]
Marks = Mapping[str, Sequence[str]]
"""One conversation's share of each trait."""

USERS, CONVERSATIONS, QUESTIONS = 200, 10, 5
MOST, CONTROL, LEAST = 0.6, 0.75, 200
# Traits of the question itself, which no pseudonym can hide from whoever is to answer it.
OF_THE_QUESTION = ("wording", "relations")
_SEED = 23


async def linkage(targets: AttackTargets) -> list[Attempted]:
    lines = []
    for source in targets.among(PQ_3H):
        target = await targets.open(source, "scripted")
        crowd = UserPopulation(max(4, targets.at_most(USERS)), CONVERSATIONS, QUESTIONS)
        progress = targets.counter(f"{TITLES[source]}, linkage", crowd.users * CONVERSATIONS)
        talks = await simulate_conversations(target, askable(target.questions), crowd, _SEED, progress)
        lines += linked(talks, TITLES[source])
    return lines


def linked(talks: Sequence[SimulatedConversation], title: str) -> list[Attempted]:
    """The attack by all traits, and what carries it: each trait alone, the question's alone, and the floor."""
    users = [talk.user for talk in talks]
    seen = [traits_of(prompts_of(talk.exchange.bodies)) for talk in talks]
    stable: list[Marks] = [{**marks, "topics": talk.topics} for marks, talk in zip(seen, talks, strict=True)]
    floor: list[Marks] = [{"asked": asked_relations(talk)} for talk in talks]
    lines = [
        _line(f"{title}, same user, pseudonyms kept through all conversations", users, stable, control=CONTROL),
        _line(f"{title}, same user", users, seen, most=MOST),
        _line(f"{title}, same user, by the asked relation alone", users, floor),
    ]
    for names in (OF_THE_QUESTION, *((trait,) for trait in TRAITS)):
        marks = [{name: each[name] for name in names} for each in seen]
        lines.append(_line(f"{title}, same user, by {' and '.join(names)} alone", users, marks))
    return lines


def asked_relations(talk: SimulatedConversation) -> list[str]:
    """Of each question the last relation of its plan, and no more: what whoever answers it has to be told."""
    return [
        planned.path[-1]
        for question in talk.questions
        if question.plan
        for planned in list(question.plan.sets.values())[-1:]
        if planned.path
    ]


def auc_of(users: Sequence[int], marks: Sequence[Marks]) -> tuple[float, int]:
    """The area under the curve over the pairs of the second half of the users, and how many pairs are of one user."""
    whose = np.array(users)
    half = sorted(set(users))[len(set(users)) // 2]
    learn, test = np.flatnonzero(whose < half), np.flatnonzero(whose >= half)
    alike = np.stack([_alike([each[name] for each in marks]) for name in marks[0]])
    learnt, learnt_same = _pairs(alike, whose, learn)
    # Loading the library takes seconds: only this attack waits for it.
    from sklearn.linear_model import LogisticRegression

    # Both classes count the same in all; a light penalty, whatever the number of pairs.
    fit = LogisticRegression(C=1e4 / len(learnt), class_weight="balanced", solver="newton-cg")
    fit.fit(learnt, learnt_same)
    features, same = _pairs(alike, whose, test)
    scores = fit.decision_function(features)
    return area(scores[same], scores[~same]), int(same.sum())


def _line(
    name: str, users: Sequence[int], marks: Sequence[Marks], most: float = 1.0, control: float | None = None
) -> Attempted:
    found, pairs = auc_of(users, marks)
    return Attempted(
        name=f"{name}, AUC", tries=pairs, successes=found * pairs, blind=0.5, most=most, control=control, least=LEAST
    )


def _alike(marks: Sequence[Sequence[str]]) -> Numbers:
    """Compares all pairs of conversations by one trait: the cosine of their words, rare ones counting more."""
    if not any(marks):
        return np.zeros((len(marks), len(marks)))
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(analyzer=list, sublinear_tf=True, smooth_idf=False).fit(marks)
    # log((1 + n) / df): what all have weighs next to nothing, where the library lets it count once.
    words.idf_ += np.log1p(1 / len(marks)) - 1
    table = words.transform(marks)
    alike: Numbers = (table @ table.T).toarray()
    return alike


def _pairs(
    alike: Numbers, whose: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64]
) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Each pair of the chosen conversations: how alike in each trait, and whether they are of one user."""
    first, second = np.triu_indices(len(chosen), 1)
    left, right = chosen[first], chosen[second]
    return alike[:, left, right].T, whose[left] == whose[right]
