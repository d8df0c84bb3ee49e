"""The checks of one question against drafts: each draft is read by what its own prompt shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from app.language.readings import Contradiction, ResultKind
from app.llm.tasks import AnswerInput, StepInput
from app.reader.checks.draft_checks import DraftChecks
from app.reader.checks.draft_kinds import DraftKinds
from app.reader.schema_of import schema_graph
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Schema, cached_by_version


@dataclass(frozen=True, slots=True)
class QuestionChecks:
    """The `DraftChecks` of the language protocol."""

    checks: DraftChecks

    def contradiction(self, answer: Sequence[str], shown: StepInput | AnswerInput) -> Contradiction | None:
        """The first way in which `answer` contradicts the question, by the schema and what `shown` holds."""
        ways = shown.candidates if isinstance(shown, StepInput) else ()
        return self.checks.contradiction(answer, DraftKinds(self.checks.graph, shown.things, shown.evidence, ways))


def checks_of_question(
    question: str,
    named: Collection[str],
    graph: BlindGraph,
    meant: ResultKind | None,
    type_of: Callable[[str], str],
) -> QuestionChecks | None:
    """`type_of` gives the type of things of a kind. None where the question is in another language."""
    beside = classes_beside(graph.schema)
    checks = DraftChecks.of(question, schema_graph(graph), named, beside, type_of, meant)
    return QuestionChecks(checks) if checks is not None else None


@cached_by_version
def classes_beside(schema: Schema) -> Mapping[str, frozenset[str]]:
    """The classes that things of each concept have as well."""
    found: dict[str, frozenset[str]] = {}
    for signature in schema.signatures:
        for concept in schema.concepts[signature.id].split(", "):
            found[concept] = found.get(concept, frozenset()) | frozenset(signature.classes)
    return found
