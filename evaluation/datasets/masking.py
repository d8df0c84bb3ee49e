"""Which relations of a public set are masked for a measure, what is said of them, and which questions need them."""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.datasets.questions import Question
from kg_store.sources.policy import Policy

SHARES = (0.0, 0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Masked:
    """A choice of relations: each predicate with its description, empty where the owner says nothing of it."""

    share: float
    described: bool
    means: Mapping[str, str] = field(repr=False)

    @property
    def title(self) -> str:
        told = "" if not self.means else ", described" if self.described else ", nothing said of them"
        return f"{self.share:.0%} masked{told}"

    def policy(self, plain: str) -> str:
        """`plain`, a policy as TOML, with these relations masked."""
        policy = Policy.from_toml(plain)
        masked = {
            predicate: policy.of(predicate).model_copy(update={"mask": True, "description": text or None})
            for predicate, text in self.means.items()
        }
        return policy.model_copy(update={"relations": {**policy.relations, **masked}}).to_toml()

    def own_words(self) -> set[str]:
        """Words that no request may hold: those of the masked relations, also without `has`."""
        words = {words_of(predicate) for predicate in self.means}
        return words | {each.removeprefix("has ") for each in words}

    def is_needed(self, question: Question) -> bool:
        """True where the gold path walks a masked relation."""
        paths = [each.path for each in question.plan.sets.values()] if question.plan else []
        hops = {hop.lstrip("^") for path in paths for step in path for hop in step.split("|")}
        return not {words_of(hop) for hop in hops}.isdisjoint(map(words_of, self.means))


def choices(graph: str, seed: int) -> list[Masked]:
    """Every share, described and not; drawn by `seed`, and what a smaller share masks the larger ones mask too."""
    means = tomllib.loads(Path(__file__).with_name("masked_descriptions.toml").read_text("utf-8"))[graph]
    order = sorted(means)
    random.Random(seed).shuffle(order)  # noqa: S311  # a choice of relations, no secret  # nosec B311
    found = []
    for share in SHARES:
        chosen = order[: math.floor(share * len(order) + 0.5)]
        found.append(Masked(share, True, {each: means[each] for each in chosen}))
        if chosen:
            found.append(Masked(share, False, dict.fromkeys(chosen, "")))
    return found


def words_of(predicate: str) -> str:
    """`place_of_birth` as the loader shows it."""
    return " ".join(predicate.replace("_", " ").split())
