"""Tests of the reader of other languages, with a toy model that knows what a few words mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest

from app.llm.embeddings.embedder import Vectors
from app.llm.embeddings.multilingual import MultilingualEmbedder
from app.llm.tasks import SchemaStep, StepInput, Thing
from app.reader.other_languages.asked_words import LANGUAGES, language_of, question_words
from app.reader.other_languages.reader import OtherLanguageReader
from kg_store.algebra.expressions import ExpressionResult

# Each word beside the word of the schema that it means; all others mean nothing here.
MEANS = {
    "aufträge": "auftrag", "kunden": "kunde", "leitet": "leiter", "kosten": "preis", "vorgesetzte": "vorgesetzter",
    "wohnt": "wohnort", "stadt": "wohnort", "dirige": "leiter", "commandes": "auftrag", "pedidos": "auftrag",
    "mitarbeiter": "mitarbeiter", "telefonnummer": "mitarbeiter",
}  # fmt: skip
FAINT = {"telefonnummer": 0.3}
SCHEMA = (
    "mitarbeiter",
    "auftrag",
    "kunde",
    "leiter",
    "vorgesetzter",
    "wohnort",
    "preis",
    "liefertermin",
    "kunde seit",
)


class ToyModel:
    """Every text is near to every other, as in e5; a word is a little nearer to what it means."""

    def questions(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._vector(text.lower()) for text in texts], dtype=np.float32)

    def labels(self, texts: Sequence[str]) -> Vectors:
        return self.questions(texts)

    def _vector(self, text: str) -> Vectors:
        vector = np.zeros(len(SCHEMA) + 1, dtype=np.float32)
        vector[-1] = 2.0
        meant = MEANS.get(text, text)
        if meant in SCHEMA:
            vector[SCHEMA.index(meant)] = FAINT.get(text, 1.0)
        return vector / np.linalg.norm(vector)


STEPS = (
    SchemaStep("auftrag", "leiter", "leiter", "mitarbeiter"),
    SchemaStep("mitarbeiter", "^leiter", "^leiter", "auftrag"),
    SchemaStep("auftrag", "kunde", "kunde", "kunde"),
    SchemaStep("kunde", "^kunde", "^kunde", "auftrag"),
    SchemaStep("kunde", "kunde seit", "kunde seit", "number", "number"),
    SchemaStep("mitarbeiter", "vorgesetzter", "vorgesetzter", "mitarbeiter"),
    SchemaStep("mitarbeiter", "^vorgesetzter", "^vorgesetzter", "mitarbeiter"),
    SchemaStep("mitarbeiter", "wohnort", "wohnort", "wohnort"),
    SchemaStep("wohnort", "^wohnort", "^wohnort", "mitarbeiter"),
    SchemaStep("auftrag", "preis", "preis", "number", "number"),
    SchemaStep("auftrag", "liefertermin", "liefertermin", "date", "date"),
)
KINDS = tuple(
    Thing(name=f"S{at}kind", concept=kind) for at, kind in enumerate(("auftrag", "kunde", "mitarbeiter", "wohnort"))
)
THINGS = {
    "Ea1bcd": "mitarbeiter", "Eo1bcd": "auftrag", "Ek1bcd": "kunde", "Ew1bcd": "wohnort", "Vn1bcd": "number",
}  # fmt: skip


def read(question: str, language: str = "de", result: ExpressionResult | None = None) -> str | None:
    things = [Thing(name=name, concept=kind) for name, kind in THINGS.items() if name in question]
    own = {each.name: tuple(step.label for step in STEPS if step.kind == each.concept) for each in things}
    given = StepInput(
        question=question,
        things=things,
        evidence=[],
        candidates=[],
        steps=STEPS,
        kinds=KINDS,
        own={name: labels for name, labels in own.items() if labels},
    )
    reader = OtherLanguageReader(cast(MultilingualEmbedder, ToyModel()))
    # Each expression has a result of its own, so that readings compete.
    found = reader.read(given, language, lambda text: result or ExpressionResult("set", (hash(text),)))
    return found.expression if found else None


@pytest.mark.parametrize(
    ("question", "language", "expression"),
    [
        ("Welche Aufträge leitet Ea1bcd?", "de", 'reach(Ea1bcd, "^leiter")'),
        ("Qui dirige Eo1bcd ?", "fr", 'reach(Eo1bcd, "leiter")'),
        ("Wer ist der Vorgesetzte von Ea1bcd?", "de", 'reach(Ea1bcd, "vorgesetzter")'),
        ("Wo wohnt der Vorgesetzte von Ea1bcd?", "de", 'reach(reach(Ea1bcd, "vorgesetzter"), "wohnort")'),
        ("Welche Mitarbeiter sind in Ew1bcd?", "de", 'reach(Ew1bcd, "^wohnort")'),
        ("Wann wird Eo1bcd geliefert?", "de", 'reach(Eo1bcd, "liefertermin")'),
        ("Wie viele Aufträge hat Ek1bcd?", "de", 'count(reach(Ek1bcd, "^kunde"))'),
        ("Combien de commandes a Ek1bcd ?", "fr", 'count(reach(Ek1bcd, "^kunde"))'),
        ("¿Cuántos pedidos hay?", "es", "count(S0kind)"),
        ("Liste alle Kunden auf.", "de", "S1kind"),
        ("Welche Aufträge kosten mehr als Vn1bcd?", "de", 'filter(S0kind, "preis", >, Vn1bcd)'),
        ("Welche Aufträge kosten weniger als Vn1bcd?", "de", 'filter(S0kind, "preis", <, Vn1bcd)'),
    ],
)
def test_a_plain_question_is_read_by_the_meaning_of_its_words(question: str, language: str, expression: str) -> None:
    assert read(question, language) == expression


@pytest.mark.parametrize(
    "question",
    [
        "Welche Aufträge leitet Ea1bcd nicht?",  # A negation is not read.
        "Welche Telefonnummer hat Ea1bcd?",  # The noun names nothing in the graph.
        "Leitet Ea1bcd Aufträge?",  # A question for yes or no.
        "Wer leitet Ea1bcd?",  # Nobody leads a person here; what a person leads is not asked.
        "Welche Aufträge kosten mehr?",  # More than what?
        "Welche Kunden hat Hans Meier?",  # A name of nothing in the graph is left over.
        "Wann wird Eo1bcd bezahlt?",  # The only date is another one.
        "Wer hat Ea1bcd als Vorgesetzte?",  # The noun does not stand before the name.
    ],
)
def test_a_question_that_is_not_surely_read_is_refused(question: str) -> None:
    assert read(question) is None


def test_a_reading_without_a_result_is_refused() -> None:
    reader = OtherLanguageReader(cast(MultilingualEmbedder, ToyModel()))
    given = StepInput(
        question="Wie viele Kunden gibt es?", things=[], evidence=[], candidates=[], steps=STEPS, kinds=KINDS
    )
    assert reader.read(given, "de", lambda _text: None) is None
    assert reader.read(given, "de", lambda _text: ExpressionResult("set")) is not None


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Welche Kunden sitzen in Eq7f2k?", "de"),
        ("Quels vins coûtent moins de Vq7f2k ?", "fr"),
        ("¿Qué pacientes viven en Eq7f2k?", "es"),
        ("Who was the doctor of Eq7f2k?", ""),
        ("Which films did Eq7f2k direct?", ""),
        ("How much does the entree plus dessert cost?", ""),
        ("", ""),
    ],
)
def test_the_language_is_told_by_the_words_that_ask(question: str, language: str) -> None:
    assert language_of(question) == language


def test_every_language_of_the_table_has_a_name_and_its_own_words() -> None:
    for code in LANGUAGES:
        assert {"which", "who", "date", "count", "unread"} <= {*question_words(code).values()}
    assert not question_words("it")
