"""Graphs of a tenant: their lists, loads and concepts, and what is forgotten in them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from client_sdk.protocol.answers import ErrorBody
from client_sdk.protocol.base import Wire
from client_sdk.protocol.graph_report import PrivacySummary

JobState = Literal["queued", "running", "waiting", "done", "failed"]
"""`waiting`: for its owner's word that the new version may go live; only a load that was asked to hold does so."""


class GraphNames(Wire):
    """GET /graphs: the names of the graphs that the caller may ask, and the strategies that the service offers."""

    graphs: list[str]
    inspectable: list[str] = Field(default_factory=list, description="those of them that it may look through, too")
    strategies: list[str] = Field(default=["auto"], description="the default one first")


class GraphSummary(Wire):
    """One graph as GET /admin/graphs lists it; `public_words` counts its names that are public words."""

    name: str
    version: str
    triples: int
    entities: int
    values: int
    relations: int
    loaded_at: datetime
    public_words: int


class GraphList(Wire):
    """GET /admin/graphs: every graph of the caller's tenant."""

    graphs: list[GraphSummary]


class JobStatus(Wire):
    """GET /admin/jobs/{id}: `error` is set when the job failed, `graph` when it is done.

    `policy` is the policy that was proposed and used, as TOML, when the load came without one; `privacy` what prompts
    about the graph will tell, already while the job is `waiting`.
    """

    id: str
    state: JobState
    step: str = ""
    percent: float = Field(default=0.0, ge=0, le=100)
    error: ErrorBody | None = None
    graph: GraphSummary | None = None
    policy: str | None = None
    notes: list[str] = Field(default_factory=list)
    privacy: PrivacySummary | None = None


class GraphPolicy(Wire):
    """GET /admin/graphs/{name}/policy: the policy of the current version, as TOML, and the names of its roles."""

    graph: str
    policy: str
    roles: list[str]


class RefineConcepts(Wire):
    """POST /admin/graphs/{name}/concepts/refine: concepts that at least so many entities share are named anew."""

    least: int = Field(default=20, ge=2)


class ForgetThing(Wire):
    """POST /admin/graphs/{name}/forget, and its plan: what is to be taken out of a graph, by a name of it.

    Or by its id in the source. `choice` is one of the plan's, where several things have the name. `with_kinds`:
    neighbours of these concepts go too; `with_mentions`: texts of others go too in which one of its names stands.
    """

    name: Annotated[str, StringConstraints(min_length=1, max_length=2000)] = Field(repr=False)
    choice: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}$")] | None = None
    with_kinds: list[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = Field(
        default_factory=list, max_length=20
    )
    with_mentions: bool = False


class ForgetChoice(Wire):
    """One of several things of a name: its kind, and the relations it has; `arog graph forget` shows values, too."""

    id: str
    concept: str
    relations: list[str]


class ForgetPlan(Wire):
    """The plan of an erasure, in sentences with counts; or, where the name is several things', what to choose from."""

    choices: list[ForgetChoice]
    sentences: list[str] = Field(default_factory=list)


class RefineEstimate(Wire):
    """GET /admin/graphs/{name}/concepts/refine: what it would ask about, and take at most. Nothing was sent.

    `too_rare` concepts fewer entities share, `classed` ones are classes of the graph's own: neither is asked about.
    """

    concepts: int
    entities: int
    too_rare: int
    classed: int
    calls: int
    prompt_tokens: int
    most_reply_tokens: int
    most_cost: float | None = None
    currency: str = ""

    @property
    def sentence(self) -> str:
        """All of it in words."""
        money = "" if self.most_cost is None else f", {self.most_cost:.4f} {self.currency} at most"
        return (
            f"{self.concepts} concepts of {self.entities} entities: {self.calls} calls, about {self.prompt_tokens} "
            f"tokens of prompts, at most {self.most_reply_tokens} of replies{money}. Not asked about: "
            f"{self.too_rare} that fewer entities share, {self.classed} with a class of their own."
        )
