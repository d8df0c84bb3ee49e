"""The schema of a library, and questions over it read as set expressions."""

from __future__ import annotations

from app.llm.tasks import SchemaStep, StepInput, Turn
from app.reader.meaning.read_meaning import ReadMeaning, read_meaning
from app.reader.scoring.path_scoring import PathScorer
from tests.support.tasks import thing

KINDS = {"member": "Sm0001", "book": "Sb0001", "author": "Sa0001", "branch": "Sr0001", "loan": "Sl0001"}
RELATIONS = [
    ("book", "written by", "author"),
    ("book", "kept at", "branch"),
    ("loan", "borrowed by", "member"),
    ("loan", "of book", "book"),
    ("member", "married to", "member"),
    ("branch", "managed by", "member"),
    ("author", "mentored by", "author"),
]
VALUES = [
    ("member", "date of birth", "date"),
    ("author", "date of birth", "date"),
    ("member", "email", "text"),
    ("member", "blocked", "truth"),
    ("book", "price", "number"),
    ("book", "weight g", "number"),
    ("book", "published on", "date"),
    ("branch", "number of seats", "number"),
    ("loan", "due on", "date"),
    ("loan", "loaned on", "date"),
    ("loan", "loan status", "text"),
]
NAMED = {
    "Eb1k11": "book",
    "Ea2t22": "author",
    "Er3h33": "branch",
    "Em4b44": "member",
    "Em5b55": "member",
    "Eb2k22": "book",
    "Er9h99": "branch",
    "Ea3t33": "author",
    "El1k11": "loan",
    "Sm6g66": "member",
}

STATUSES = ("Vs6c66", "Vs7d77", "Vs7c77")


def steps() -> tuple[SchemaStep, ...]:
    both = [*RELATIONS, *((end, f"^{label}", kind) for kind, label, end in RELATIONS)]
    told = [SchemaStep(kind, label, label, end) for kind, label, end in both]
    return (*told, *(SchemaStep(kind, label, label, value, value) for kind, label, value in VALUES))


STEPS = steps()


def asked(question: str, *earlier: Turn) -> StepInput:
    """A question to the library, as the reasoner gets it."""
    own = {name: tuple(step.label for step in STEPS if step.kind == kind) for name, kind in NAMED.items()}
    named = {name: kind for name, kind in NAMED.items() if name in question or earlier}
    things = [thing(name, kind, "1" if name[0] == "E" else "more") for name, kind in named.items()]
    things += [thing(date, "date") for date in ("Vd4t33", "Vd5t55") if date in question]
    things += [thing("Vn4m44", "number")] * ("Vn4m44" in question)
    things += [thing(status, "text") for status in STATUSES if status in question]
    own |= dict.fromkeys(STATUSES, ("^loan status",))
    kinds = tuple(thing(name, kind, "more") for kind, name in KINDS.items())
    return StepInput(
        question=question,
        dialogue=list(earlier),
        things=things,
        evidence=[],
        candidates=[],
        steps=STEPS,
        kinds=kinds,
        own=own,
    )


def read(scorer: PathScorer, question: str, *earlier: Turn) -> ReadMeaning | None:
    return read_meaning(scorer, asked(question, *earlier))
