"""Episode: what belongs together in time or place, with its members: utterances, facts and exactly one summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

MIN_LIKENESS_OF_SUMMARIES: Final = 0.3
"""The least cosine of two episodes' summaries at which their members are compared. Chosen by hand."""
MIN_LIKENESS_OF_MEMBERS: Final = 0.5
"""The least cosine at which a member is relevant to one of another episode. Chosen by hand."""

MemberKind = Literal["utterance", "fact", "summary"]


class EpisodeError(ValueError):
    """Members that make no episode: there is not exactly one summary."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an episode. `text`: an utterance's words without quotes, a fact's or the summary's sentence.

    `told`: the sentence of the source that has an utterance, with who says it. `paragraph`: where in the source it is.
    """

    kind: MemberKind
    text: str = field(repr=False)
    speaker: str = field(default="", repr=False)
    told: str = field(default="", repr=False)
    paragraph: int = 0

    @property
    def sentence(self) -> str:
        """The member as its source tells it."""
        return self.told or self.text


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode: the n-th of its source.

    `when` and `where`: the words that bound it, empty where none are told. `day`: the days since the first episode, as
    far as the words tell. `grounded_by`: names outside of it that it mentions. Raises EpisodeError.
    """

    number: int
    members: tuple[Member, ...] = field(repr=False)
    when: str = field(default="", repr=False)
    where: str = field(default="", repr=False)
    day: int = 0
    grounded_by: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if sum(member.kind == "summary" for member in self.members) != 1:
            raise EpisodeError("an episode has exactly one summary")

    @property
    def summary(self) -> Member:
        return next(member for member in self.members if member.kind == "summary")

    @property
    def told(self) -> tuple[Member, ...]:
        """The utterances and facts, in the order of the source."""
        return tuple(member for member in self.members if member.kind != "summary")

    def shared_bubble(self) -> list[tuple[Member, Member]]:
        """Returns all pairs of members. The relation is never stored, because it is quadratic in the members."""
        return list(combinations(self.members, 2))

    @staticmethod
    def from_json(data: dict[str, Any]) -> Episode:
        members = tuple(Member(**each) for each in data["members"])
        return Episode(**{**data, "members": members, "grounded_by": tuple(data["grounded_by"])})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Relevance:
    """A member of one episode is relevant to a member of another: `relevant_to`, one way.

    Each end is the number of an episode and the place of its member.
    """

    source: tuple[int, int]
    target: tuple[int, int]


def relevances(numbers: Sequence[int], vectors: Sequence[npt.NDArray[np.float32]]) -> list[Relevance]:
    """Returns which members are relevant to members of other episodes, for episodes whose summaries match.

    `numbers`: those of the episodes; `vectors`: the unit vectors of what each tells, shape (members, dimensions). The
    summaries are compared by the mean of their members (section 2.3 of the source). A member is relevant to the one of
    the other episode that is most like it; the reverse holds only if it is found the other way round too.
    """
    means, found = np.array([mean_vector(each) for each in vectors]), list[Relevance]()
    for one, other in zip(*np.nonzero(means @ means.T >= MIN_LIKENESS_OF_SUMMARIES), strict=True):
        near = vectors[one] @ vectors[other].T
        for place, target in enumerate(near.argmax(axis=1).tolist() if one != other else ()):
            if near[place, target] >= MIN_LIKENESS_OF_MEMBERS:
                found.append(Relevance((numbers[one], place), (numbers[other], target)))
    return found


def mean_vector(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Returns the unit vector of the mean of unit vectors, shape (dimensions,)."""
    mean: npt.NDArray[np.float32] = vectors.mean(axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)
