"""English: all that reads and words it in the service, around one sentence model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from app.language.protocol import DraftChecks
from app.language.readings import (
    AskedForm,
    AskedOfKind,
    AskedStep,
    ResultKind,
    SureReading,
    UnansweredQuestion,
    WrittenSentence,
    schema_steps,
)
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.trained_weights import NO_HEAD, RelationAdapter
from app.llm.in_house import AskedTime, HeldMeaning
from app.llm.tasks import Candidate, ReplyInput, StepInput, Thing
from app.reader.concept_namer import ConceptNamer
from app.reader.draft_checks import checks_of_question
from app.reader.draft_kinds import DraftKinds
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.reader.language.answer_form import read_form
from app.reader.language.language_detection import read_words, remark_on
from app.reader.language.relation_wording import read_unanswered
from app.reader.meaning.question.asked_form import asked_time
from app.reader.meaning.read_meaning import KnownGraph, executed, held_meaning, read_meaning
from app.reader.meaning.said_hops import SaidLabels
from app.reader.meaning.schema_graph import schema_graph
from app.reader.scoring.path_scoring import PathScorer
from app.reader.scoring.similarity import CacheWarmer
from app.reader.sentences.answer_text import told_answer
from app.reader.sentences.described_things import candidate_phrase
from app.reader.sentences.dialogue_text import can_be_said, dialogue_text
from app.reader.sentences.suggested_questions import questions_of_kind, wordings
from app.reader.step import plan_step
from kg_store.algebra.expressions import ExpressionResult, parse
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Schema


class EnglishReader:
    """The `Language` of English. Making one is quick: the model is loaded by the first text that it embeds.

    `paths` ranks paths, with `head`, a trained adapter, where there is one; `reasoner` answers tasks without a model;
    `warmer` embeds a schema's words ahead of need.
    """

    def __init__(self, embedder: Embedder, head: RelationAdapter = NO_HEAD) -> None:
        self.embedder = embedder
        self.paths = PathScorer(embedder, head=head)
        self.reasoner = EmbeddedReasoner(embedder, scorer=self.paths)
        self.warmer = CacheWarmer(embedder)

    def read_form(self, question: str, topics: int) -> AskedForm:
        """The form of answer that is asked for."""
        return read_form(question, topics)

    def read_time(self, question: str, dates: Collection[str]) -> AskedTime | None:
        """The time that is asked about; None where none is."""
        return asked_time(question, dates)

    def read_unanswered(self, question: str, schema: Schema, kinds: tuple[str, ...]) -> UnansweredQuestion:
        """Why a question may have no answer."""
        return read_unanswered(question, schema, kinds)

    def read_question(self, given: StepInput) -> SureReading | None:
        """The whole question as one expression; None where no reading is sure."""
        if given.steps:
            found = read_meaning(self.paths, given)
            if found is None or not found.is_sure:
                return None
            return SureReading(executed(self.paths, given, found.meaning.expression), found.scores)
        plan = plan_step(self.paths, given)
        if plan is None or len(plan.expressions) != 1 or plan.scores is None:
            return None
        return SureReading(plan.expressions[0], plan.scores)

    def said_labels(self, question: str, graph: BlindGraph) -> SaidLabels:
        """The labels of the schema that words of the question say."""
        return SaidLabels.of(question, graph.schema, schema_steps(graph), self.embedder)

    def read_held(
        self,
        given: StepInput,
        alike: Mapping[str, Sequence[str]],
        named: Collection[int],
        result_of: Callable[[str], ExpressionResult | None],
    ) -> HeldMeaning | None:
        """The best reading that gives something when it is executed."""
        return held_meaning(self.paths, given, KnownGraph(alike, frozenset(named), result_of))

    def result_kind(self, expression: str, graph: BlindGraph, things: Iterable[Thing]) -> ResultKind:
        """The kind of what an expression gives."""
        return DraftKinds(schema_graph(graph), things, []).of(parse(expression))

    def draft_checks(
        self, question: str, named: Collection[str], graph: BlindGraph, meant: ResultKind | None
    ) -> DraftChecks | None:
        """Checks of drafts for a question; None where it is in another language."""
        return checks_of_question(question, named, graph, meant, self.paths.type_of)

    def word_answer(self, expressions: Sequence[str], shown: StepInput) -> tuple[list[str], str]:
        """The parts of an answer and its sentence."""
        return told_answer(expressions, shown)

    def word_candidate(self, way: Candidate) -> str:
        """The things that a way leads to, in plain words."""
        return candidate_phrase(way)

    def word_reply(self, given: ReplyInput) -> list[WrittenSentence]:
        """A reply in dialogue from facts."""
        return dialogue_text(given)

    def can_word(self, step: str) -> bool:
        """True where a fact by this step can be said."""
        return can_be_said(step)

    def word_question(self, asked: AskedStep | AskedOfKind) -> list[str]:
        """Ways to ask this, the plainest first."""
        return wordings(asked) if isinstance(asked, AskedStep) else questions_of_kind(asked)

    def name_concepts(self, schema: Schema) -> Sequence[str]:
        """Returns one concept per signature, in the order of `schema.signatures`."""
        return ConceptNamer(self.embedder).name(schema)

    remark_on: Callable[[str], str | None] = staticmethod(remark_on)
    """Returns a sentence for the asker if the question is in another language than English, else None."""
    read_words: Callable[[], object] = staticmethod(read_words)
    """Loads the word lists of all languages ahead of the first question; takes about a second."""
