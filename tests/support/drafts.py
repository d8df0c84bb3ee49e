"""A prompt over the schema of a clinic, against which tests check drafts."""

from __future__ import annotations

from app.llm.tasks import SchemaStep
from app.reader.meaning.draft_kinds import DraftKinds
from app.reader.meaning.schema_graph import SchemaGraph
from tests.support.tasks import fact, thing, way

STEPS = (
    SchemaStep("clinic", "^works at", "^works at", "doctor, nurse"),
    SchemaStep("clinic", "opened on", "opened on", "date", "date"),
    SchemaStep("clinic", "^part of", "^part of", "ward"),
    SchemaStep("ward", "number of beds", "number of beds", "number", "number"),
    SchemaStep("doctor", "works at", "works at", "clinic"),
    SchemaStep("doctor", "phone number", "phone number", "text", "text"),
    SchemaStep("doctor", "smoker", "smoker", "yes or no", "truth"),
)
KINDS = ("clinic", "doctor", "nurse", "ward", "manager")
GRAPH = SchemaGraph(STEPS, [thing(kind, kind) for kind in KINDS])
THINGS = [thing("Ec1in1", "clinic"), thing("Ed0ct1", "doctor"), thing("Sd0cts", "doctor"), thing("V2001a", "date")]
SHOWN = DraftKinds(
    GRAPH,
    THINGS,
    [
        fact("Ec1in1", "^works at", end="Ss1aff", to="doctor, nurse", of="clinic"),
        fact("Ec1in1", "^part of", end="Sward1", to="ward", of="clinic"),
        fact("Ed0ct1", "smoker", end="Ssm0ke", to="yes or no", of="doctor"),
        fact("Ed0ct1", "works at", end="Swork1", to="clinic", of="doctor"),
        fact("Sward1", "number of beds", end="Sbeds1", to="number", of="ward"),
        fact("Ed0ct1", "phone number", end="Sph0ne", to="text", of="doctor"),
        fact("Ed0ct1", "leads", end="Smanag", to="manager", of="doctor"),
    ],
    [way(3, "Ec1in1", "opened on", to="date")],
)
