"""Defines EnglishReader, which implements the protocol `Language` for English with one sentence model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from app.language.protocol import DraftChecks
from app.language.readings import (
    NOTHING_LIKELY,
    AskedForm,
    AskedOfKind,
    AskedStep,
    LikelyReadings,
    ResultKind,
    SureReading,
    UnansweredQuestion,
    WrittenSentence,
    schema_steps,
)
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.multilingual import MultilingualEmbedder
from app.llm.embeddings.trained_weights import NO_HEAD, RelationAdapter
from app.llm.in_house import AskedTime, HeldMeaning
from app.llm.tasks import Candidate, ReplyInput, StepInput, Thing
from app.reader.concept_namer import ConceptNamer
from app.reader.draft_checks import checks_of_question
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.reader.language.answer_form import read_form
from app.reader.language.language_detection import read_words, remark_on
from app.reader.language.relation_wording import read_unanswered
from app.reader.meaning.draft_kinds import DraftKinds
from app.reader.meaning.question.asked_form import asked_time
from app.reader.meaning.question.one_question import two_questions
from app.reader.meaning.read_meaning import KnownGraph, executed, held_meaning, read_meaning
from app.reader.meaning.said_hops import SaidLabels
from app.reader.meaning.schema_graph import schema_graph
from app.reader.other_languages.asked_words import LANGUAGES, language_of
from app.reader.other_languages.reader import OtherLanguageReader
from app.reader.ranking.ranker import likely_readings
from app.reader.scoring.path_scoring import PathScorer
from app.reader.scoring.similarity import CacheWarmer
from app.reader.sentences.answer_text import told_answer
from app.reader.sentences.described_things import candidate_phrase
from app.reader.sentences.dialogue_text import can_be_said, dialogue_text
from app.reader.sentences.memory_turns import EnglishMemory
from app.reader.sentences.suggested_questions import questions_of_kind, wordings
from app.reader.step import plan_step
from kg_store.algebra.expressions import ExpressionResult, parse
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Schema


class EnglishReader:
    """Implements `Language` for English. Construction is quick: the model is loaded when the first text is embedded.

    `head`: a trained adapter of relation vectors, if there is one. `multilingual`: the model that reads questions in
    other languages, if it is installed. `paths` ranks paths with it; `memory` reads the turns that tell a fact;
    `reasoner` does a language model's tasks without one; `warmer` embeds the words of a schema before they are needed.
    """

    def __init__(
        self, embedder: Embedder, head: RelationAdapter = NO_HEAD, multilingual: MultilingualEmbedder | None = None
    ) -> None:
        self.embedder = embedder
        self._others = OtherLanguageReader(multilingual) if multilingual else None
        self.paths = PathScorer(embedder, head=head)
        self.memory = EnglishMemory()
        self.reasoner = EmbeddedReasoner(embedder, scorer=self.paths)
        self.warmer = CacheWarmer(embedder)

    def read_form(self, question: str, topics: int) -> AskedForm:
        """Returns the form of answer that the question asks for."""
        return read_form(question, topics)

    def read_time(self, question: str, dates: Collection[str]) -> AskedTime | None:
        """Returns the time that the question asks about, or None if it names none."""
        return asked_time(question, dates)

    def two_questions(self, text: str) -> tuple[str, str] | None:
        """Returns the two questions that a turn asks in one sentence, each as it would be asked alone; else None."""
        return two_questions(text)

    def read_unanswered(self, question: str, schema: Schema, kinds: tuple[str, ...]) -> UnansweredQuestion:
        """Returns the words that may explain why a question has no answer."""
        return read_unanswered(question, schema, kinds)

    def read_question(self, given: StepInput) -> SureReading | None:
        """Reads the whole question as one expression; returns None if no reading is certain."""
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
        """Returns the relation labels of the graph's schema that are like words of the question."""
        return SaidLabels.of(question, graph.schema, schema_steps(graph), self.embedder)

    def read_held(
        self,
        given: StepInput,
        alike: Mapping[str, Sequence[str]],
        named: Collection[int],
        result_of: Callable[[str], ExpressionResult | None],
    ) -> HeldMeaning | None:
        """Returns the best reading whose expression has a result when it is executed."""
        return held_meaning(self.paths, given, KnownGraph(alike, frozenset(named), result_of))

    def likely_readings(self, given: StepInput, result_of: Callable[[str], ExpressionResult | None]) -> LikelyReadings:
        """Returns what a question may mean: the reading that is answered, or those that are offered.

        None are ranked if the reasoner answers what it is not sure of: then the words alone decide.
        """
        return NOTHING_LIKELY if self.reasoner.answers_unsure else likely_readings(self.paths, given, result_of)

    def other_language(self, question: str) -> str:
        """Returns the language (ISO 639-1) of a question that is read by meaning alone; "" for English."""
        return language_of(question) if self._others else ""

    def read_other_language(
        self, given: StepInput, result_of: Callable[[str], ExpressionResult | None]
    ) -> HeldMeaning | None:
        """Returns the certain reading of a question in another language, or None."""
        language = self.other_language(given.question)
        return self._others.read(given, language, result_of) if self._others and language else None

    def result_kind(self, expression: str, graph: BlindGraph, things: Iterable[Thing]) -> ResultKind:
        """Returns the kind of result that `expression` has."""
        return DraftKinds(schema_graph(graph), things, []).of(parse(expression))

    def draft_checks(
        self, question: str, named: Collection[str], graph: BlindGraph, meant: ResultKind | None
    ) -> DraftChecks | None:
        """Returns checks for draft answers to `question`, or None if the question is not in English."""
        return checks_of_question(question, named, graph, meant, self.paths.type_of)

    def word_answer(self, expressions: Sequence[str], shown: StepInput) -> tuple[list[str], str]:
        """Returns the expressions of an answer and its sentence."""
        return told_answer(expressions, shown)

    def word_candidate(self, way: Candidate) -> str:
        """Returns a plain phrase for the things that a candidate leads to."""
        return candidate_phrase(way)

    def word_reply(self, given: ReplyInput) -> list[WrittenSentence]:
        """Returns the sentences of a dialogue reply that states facts of `given`."""
        return dialogue_text(given)

    def can_word(self, step: str) -> bool:
        """Returns True if a fact whose relation has the label `step` can be stated in a sentence."""
        return can_be_said(step)

    def word_question(self, asked: AskedStep | AskedOfKind) -> list[str]:
        """Returns questions that ask for what `asked` describes, the plainest first."""
        return wordings(asked) if isinstance(asked, AskedStep) else questions_of_kind(asked)

    def name_concepts(self, schema: Schema) -> Sequence[str]:
        """Returns one concept for each signature, in the order of `schema.signatures`."""
        return ConceptNamer(self.embedder).name(schema)

    @staticmethod
    def remark_on(question: str, is_multilingual: bool = False) -> str | None:
        """Returns a sentence for the asker if the question is in a language that is not read, else None.

        `is_multilingual`: the multilingual model is installed.
        """
        return remark_on(question, LANGUAGES.values(), is_multilingual)

    read_words: Callable[[], object] = staticmethod(read_words)
    """Loads the word lists of all languages ahead of the first question; takes about a second."""
