"""Masked relations in the eyes of a reasoner, and on the way to it: nothing is known of them but what is said."""

from __future__ import annotations

import pytest

from app.egress.guarded_reasoner import PseudonymSubstitution
from app.graphs.concept_refinement import askable, input_about
from app.language.readings import WordedPath
from app.llm.embeddings.embedder import Embedder
from app.llm.reasoner import Reply
from app.llm.tasks import Candidate, MaskedRelation, StepInput, StepReply, Task, Thing
from app.reader.concept_namer import ConceptNamer
from app.reader.language.relation_wording import (
    SchemaVocabulary,
    hop_words,
    nouns_made_of,
    unmask_words,
    vocabulary_of,
    with_descriptions,
)
from app.reader.scoring.path_scoring import PathScorer
from app.reader.sentences.phrases import phrase_of
from app.strategies.sets.prompts import STEP
from kg_store.terms import Concept, Hop, Mid, NodeKind, Relation, RelationId, Schema, Signature, SignatureId
from kg_store.text.labels import readable_step

ILL, HOME = "Rk3m2a what illness somebody has", "Rz9t4w where somebody has a home"


def test_an_opaque_word_says_nothing_and_its_description_does() -> None:
    assert hop_words("^Rk3m2a", "thing").relation == ()
    assert hop_words("^Rk3m2a", "thing").inverse
    assert hop_words(ILL, "thing").relation == ("what illness somebody has",)
    assert "wife" in hop_words("Rk3m2a husband or wife", "person").relation
    assert phrase_of("Rk3m2a") is None


def test_the_description_that_fits_the_question_wins(embedder: Embedder) -> None:
    question = "What illness does Eq7f2k have?"
    paths = [WordedPath((step,), ("thing",)) for step in (HOME, ILL, "Rp5n1q")]
    assert PathScorer(embedder).scores(question, "Eq7f2k", "person", paths).argmax() == 1


def test_a_relation_that_the_question_calls_by_its_word_wins_without_a_description(embedder: Embedder) -> None:
    question = "What is the Rp5n1q of Eq7f2k?"
    steps = ("Rk3m2a", "Rp5n1q", "treated by")
    paths = [WordedPath((step,), ("thing",)) for step in steps]
    assert PathScorer(embedder).scores(question, "Eq7f2k", "person", paths).argmax() == 1
    assert unmask_words(question, ["^Rp5n1q who|Rk3m2a"])[1] == ["^Rp5n1q rp5n1q|Rk3m2a"]


def test_descriptions_go_behind_their_words_in_any_step() -> None:
    told = [MaskedRelation(relation="Rk3m2a", means="what illness somebody has")]
    assert with_descriptions(["^Rk3m2a|lives in", "Rp5n1q"], told) == (
        "^Rk3m2a what illness somebody has|lives in", "Rp5n1q",
    )  # fmt: skip


def test_a_concept_comes_from_what_is_said_alone(embedder: Embedder) -> None:
    namer = ConceptNamer(embedder)
    assert namer.name_relations(["Rk3m2a", "^Rp5n1q"]) == "thing"
    assert namer.name_relations(["Rk3m2a", "married to", "date of birth"]) == "person"
    # The last word of a description is no noun for what it leads to.
    assert namer.name_relations(["^Rk3m2a the zorblat that somebody smears"]) != "smear"


def test_what_leaves_and_what_comes_back_hold_each_their_own_words() -> None:
    veil = PseudonymSubstitution({"Rk3m2a": "Rz9t4w"})
    way = Candidate(number=1, start="Eq7f2k", path=["^Rk3m2a|lives in"], concept="city")
    told = MaskedRelation(relation="Rk3m2a", means="what illness somebody has")
    given = StepInput(
        question="Who has Rk3m2a, said Rk3m2ab?", things=[Thing(name="Eq7f2k", concept="person")], evidence=[],
        candidates=[way], masked_relations=[told],
    )  # fmt: skip
    sent = veil.substitute_in(Task(STEP, given)).input.model_dump_json()
    assert sent.count("Rz9t4w") == 3
    assert sent.replace("Rk3m2ab", "").count("Rk3m2a") == 0
    reply = StepReply(action="answer", choices=[], answer=['reach(Sk3mmd, "^Rz9t4w")'])
    back = veil.restore_in(Reply(reply, words="as it was")).value
    assert back.answer == ['reach(Sk3mmd, "^Rk3m2a")']
    assert veil.restore_in(Reply(reply, words="as it was")).words == "as it was"
    assert veil.sendable == {"Rz9t4w"}


def test_a_model_that_names_concepts_is_shown_no_masked_relation() -> None:
    relations = (
        Relation(RelationId(0), "i:0", "lives in", "home of"),
        Relation(RelationId(1), "i:1", "Rk3m2a", "Rk3m2a", mask=Mid(7), description="what illness somebody has"),
    )
    both, masked = (Hop(RelationId(0)), Hop(RelationId(1))), (Hop(RelationId(1)),)
    signatures = tuple(
        Signature(SignatureId(at), NodeKind.ENTITY, (), hops, size=50) for at, hops in enumerate((both, masked))
    )
    schema = Schema(relations, signatures, (Concept("person"), Concept("thing")))
    chosen = askable(schema, least=10)
    assert [each.id for each in chosen.signatures] == [0]
    assert input_about(schema, chosen.signatures).clusters[0].relations == ["lives in"]


def test_further_words_are_wordings_of_a_step_and_no_part_of_its_label(embedder: Embedder) -> None:
    found = hop_words("has contract|monthly rate (earn, paid)", "number")
    assert {"earn", "paid", "monthly rate"} <= set(found.relation)
    assert (found.further, found.voice) == (("earn", "paid"), hop_words("monthly rate", "number").voice)
    assert readable_step("^monthly rate (earn, paid)") == "monthly rate"
    assert hop_words("monthly rate", "number").further == ()
    told = with_descriptions(["^monthly rate", "Rp5n1q"], [], {"^monthly rate": ("earn",)})
    assert told == ("^monthly rate (earn)", "Rp5n1q")


def test_a_question_in_an_owners_words_finds_its_step(embedder: Embedder) -> None:
    paths = [WordedPath((step,), ("thing",)) for step in ("lives in", "fr (zorbed by)", "treated by", "xq")]
    scores = PathScorer(embedder).scores("Who was Eq7f2k zorbed by?", "Eq7f2k", "person", paths)
    assert scores.argmax() == 1
    without = [WordedPath((step.partition(" (")[0],), ("thing",)) for (step,) in (path.steps for path in paths)]
    assert PathScorer(embedder).scores("Who was Eq7f2k zorbed by?", "Eq7f2k", "person", without).argmax() != 1


@pytest.fixture(scope="module")
def known() -> SchemaVocabulary:
    labels = ("monthly salary", "treated by", "specializes in")
    relations = tuple(Relation(RelationId(at), f"urn:{at}", label, f"{label} of") for at, label in enumerate(labels))
    return vocabulary_of(Schema(relations, (), ()), ("doctor", "city"))


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("What does Eq7f2k earn?", []),
        ("What does Eq7f2k specialise in?", []),
        ("How many beds and windows does Eq7f2k have?", ["beds", "windows"]),
        ("Please tell me everyone", []),
    ],
)
def test_words_that_no_relation_and_no_concept_is_asked_for_by(
    known: SchemaVocabulary, question: str, lacking: list[str]
) -> None:
    assert known.lacks(question.replace("How many", "")) == lacking


@pytest.mark.parametrize(
    ("word", "noun", "is_made"),
    [("rented", "rental", True), ("paying", "payment", True), ("booked", "booking", True), ("rental", "rent", False)],
)
def test_nouns_made_of_a_verb(word: str, noun: str, is_made: bool) -> None:
    assert (noun in nouns_made_of(word)) is is_made
