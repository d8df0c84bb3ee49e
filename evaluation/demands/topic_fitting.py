"""Fits the weights by which terms of a public graph are ranked as topics of a reply (`arog train topics`).

An example is a term beside what a history says, and whether the true reply says it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.strategies.demands.embedded import FEATURES, DialogueTerms, PublicTerms, topic_features
from evaluation.demands.dialogues import DialoguePair


def fit_topic_weights(graph: PublicTerms, pairs: Iterable[DialoguePair]) -> dict[str, float]:
    """Returns the weight of each feature: a logistic regression over all terms beside the histories of `pairs`.

    The features are brought to one scale for the fit. Raises ValueError if no reply says such a term.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    features, is_said = _examples(graph, pairs)
    scale = StandardScaler().fit(features[:, 1:])
    fit = LogisticRegression(max_iter=300).fit(scale.transform(features[:, 1:]), is_said)
    weights = fit.coef_[0] / scale.scale_
    bias = fit.intercept_[0] - weights @ scale.mean_
    return dict(zip(FEATURES, (round(float(each), 3) for each in (bias, *weights)), strict=True))


def write_topic_weights(weights: dict[str, float], file: Path) -> None:
    """Writes the weights behind the comments of `file`, which say where they come from."""
    comments = [line for line in file.read_text("utf-8").splitlines() if line.startswith("#")]
    file.write_text("\n".join([*comments, *(f"{name} = {each}" for name, each in weights.items()), ""]), "utf-8")


def _examples(
    graph: PublicTerms, pairs: Iterable[DialoguePair]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    features, is_said = [], []
    for pair in pairs:
        said = DialogueTerms.of(graph, pair.history)
        if said.ago:
            terms, columns = topic_features(graph, said)
            features.append(columns)
            is_said.append(graph.facts.flags_of(graph.facts.terms_in(pair.reply))[terms])
    return np.concatenate(features), np.concatenate(is_said)
