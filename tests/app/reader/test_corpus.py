"""Words, labels and expressions as the reader says and reads them, row by row (`corpus.toml`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from app.language.readings import AskedStep
from app.llm.tasks import Evidence, ReplyInput, SchemaStep, Size, StepInput
from app.reader.draft_checks import DraftChecks
from app.reader.language.answer_form import normalise_idioms, plainer, read_form, read_quantifier
from app.reader.language.language_detection import foreign_language, remark_on
from app.reader.language.question_words import content_words
from app.reader.language.relation_wording import hop_words, voice_of
from app.reader.meaning.question.asked_form import asked_time
from app.reader.meaning.question.measures import StatedUnit, is_foreign_unit, without_units
from app.reader.meaning.question.question_tokens import read_question
from app.reader.meaning.reading import is_chain_of_places, joins_records, within_parts
from app.reader.meaning.schema_graph import SchemaGraph
from app.reader.relation_nouns import kind_of, object_noun, subject_noun
from app.reader.sentences.answer_text import deciding_values, reply_text
from app.reader.sentences.dialogue_text import can_be_said, dialogue_text
from app.reader.sentences.phrases import phrase_of
from app.reader.sentences.question_text import QuestionWriter
from app.reader.sentences.suggested_questions import counts_per, greatest, noun_for, wordings
from kg_store.algebra.expressions import parse
from kg_store.terms import ValueKind
from kg_store.text.labels import readable_step, typed_step
from kg_store.text.words import is_pseudonym
from tests.support.corpus import Corpus, plain
from tests.support.drafts import GRAPH, SHOWN, THINGS
from tests.support.tasks import fact, step, thing, way

CORPUS = Corpus.beside(__file__)

# --- answers ---------------------------------------------------------------------------------------------------
X, Y = thing("Eq7f2k", "patient"), thing("Ez9y8x", "doctor")
DOCTORS, WARDS = thing("Sk3mmd", "doctor", "more"), thing("Sw4rds", "ward", "more")
EVIDENCE = [
    fact("Eq7f2k", "^treated by", end="Sa1b2c", to="patient", of="doctor"),
    fact("Ez9y8x", "^insured by", end="Sb2c3d", to="patient", of="insurer"),
]
OFFERED = [
    way(1, "Sk3mmd", "monthly salary", to="number"), way(2, "Sa1b2c", "date of birth", to="date"),
    way(3, "Sk3mmd", "licensed since", to="date"), way(4, "Sk3mmd", "works at", to="clinic"),
]  # fmt: skip
DECIDING = [
    fact("Eq7f2k", "treated by", end="Sa1b2c", to="doctor", size="2-5"),
    fact("Ez9y8x", "^treated by", end="Sp1b2c", to="patient", size="2-5"),
]


def settled(text: str, *, single: bool) -> str:
    """The text with its agreeing words settled and A in place of the answer."""
    agreeing = re.sub(r"\{1:([^|]*)\|([^}]*)\}", r"\1" if single else r"\2", text)
    return agreeing.replace("{1}", "A" if single else "A and B")


def one_step(label: str, to: str) -> list[str]:
    shown = step("Who treats Eq7f2k?", [X], evidence=[fact("Eq7f2k", label, end="Sa1b2c", to=to)])
    text = reply_text("Sa1b2c", shown)
    return [settled(text, single=True), settled(text, single=False)]


def answer(expression: str) -> str:
    shown = step("What of Eq7f2k and Ez9y8x and Vx81zp?", [X, Y, DOCTORS, WARDS], OFFERED, EVIDENCE)
    return settled(reply_text(expression, shown), single=True)


def deciding(expression: str) -> list[tuple[str, str]]:
    return deciding_values(expression, step("Is Eq7f2k treated by Ez9y8x?", [X, Y, DOCTORS], evidence=DECIDING))


def told(label: str, end: str, concept: str, size: Size) -> list[str]:
    one = Evidence(start="Ea1b2c", path=[label], end=end, end_concept=concept, size=size)
    given = ReplyInput(question="I like Ea1b2c", things=[thing("Ea1b2c", "thing")], evidence=[one], ranked=(0,))
    texts = [each.text for each in dialogue_text(given)]
    assert bool(texts) == can_be_said(label)
    return texts


# --- questions -------------------------------------------------------------------------------------------------
RELATIONS = [
    ("patient", "treated by", "doctor"),
    ("patient", "lives in", "city"),
    ("doctor", "works at", "clinic"),
    ("clinic", "located in", "city"),
    ("ward", "head nurse", "nurse"),
    ("film", "directed", "person"),
    ("clinic", "has elevator", "lift"),
    ("incident", "occurred on trip", "trip"),
]
VALUES = [("patient", "date of birth", "date"), ("doctor", "monthly salary", "number")]
KINDS = {"patient": "Sp0001", "doctor": "Sd0001", "clinic": "Sc0001", "city": "Sy0001", "ward": "Sw0001"}


def written(expression: str) -> list[str]:
    both = [*RELATIONS, *((end, f"^{label}", kind) for kind, label, end in RELATIONS)]
    steps = [SchemaStep(kind, label, label, end) for kind, label, end in both]
    steps += [SchemaStep(kind, label, label, value, value) for kind, label, value in VALUES]
    kinds = tuple(thing(name, kind, "more") for kind, name in KINDS.items())
    given = StepInput(question="?", things=[], evidence=[], candidates=[], steps=tuple(steps), kinds=kinds)
    return list(QuestionWriter(given, lambda label: label).questions(expression))[:1]


def suggested(start: str, label: str, kinds: str, value: str, is_one: bool, are_people: bool) -> list[str]:
    ends = tuple(kinds.split(", ")) if kinds else ()
    return list(wordings(AskedStep(start, label, ends, ValueKind(value) if value else None, is_one, are_people)))[:1]


def form(question: str, topics: int) -> list[object]:
    asked = read_form(question, topics=topics)
    return [asked.form, asked.function, asked.operator, asked.value, asked.by_age, asked.rest]


def quantifier(question: str) -> list[str]:
    found = read_quantifier(question)
    return [found.turn, found.rest if not found.unread else "", found.unread, found.thing]


def language(question: str) -> str | None:
    found = foreign_language(question)
    remark = remark_on(question, (), False)
    assert (remark is None) if found is None else (f"seems to be in {found};" in str(remark))
    return found


def time_of(question: str) -> list[object]:
    found = asked_time(question, ["Vq7f2k", "Vx7f2k"])
    if found is None:
        return []
    kept = (
        each if not any(start <= at < end for start, end in found.parts) else " " for at, each in enumerate(question)
    )
    return [found.relation, found.names, found.is_of_one, " ".join("".join(kept).split())]


def units_of(said: str) -> list[object]:
    words, units = without_units(said.split(), ("weight kg", "monthly salary eur", "valid months", "unit price"), ())
    return [" ".join(words), {name: [unit.symbol, unit.period] for name, unit in units.items()}]


def verbs_are(relation: str, verbs: Sequence[str]) -> bool:
    found = hop_words(relation, "thing").verbs
    return set(verbs) <= found and bool(verbs) == bool(found) and found == hop_words(f"^{relation}", "thing").verbs


# --- expressions -----------------------------------------------------------------------------------------------
PLACES = [
    SchemaStep("place", "^located in", "^located in", "firm", ""),
    SchemaStep("place", "^rules", "^rules", "person", ""),
    SchemaStep("place", "^part of", "^part of", "place", ""),
    SchemaStep("firm", "located in", "located in", "place", ""),
]
LEASES = (
    SchemaStep("lease", "tenant", "tenant", "person"),
    SchemaStep("person", "^tenant", "^tenant", "lease"),
    SchemaStep("lease", "of flat", "of flat", "flat"),
    SchemaStep("flat", "^of flat", "^of flat", "lease"),
    SchemaStep("lease", "end date", "end date", "date", "date"),
    SchemaStep("flat", "^of flat|tenant", "^of flat|tenant", "person"),
    SchemaStep("flat", "owned by", "owned by", "person"),
)


def contradiction(question: str, draft: str) -> str | None:
    named = frozenset(each.name for each in THINGS if each.name in question)
    persons, also = frozenset({"doctor", "nurse", "manager"}), {"manager": frozenset({"doctor"})}
    found = DraftChecks(read_question(question), GRAPH, named, also, persons, None).contradiction((draft,), SHOWN)
    return found and found.name


def kinds_of(expression: str) -> list[object]:
    found = SHOWN.of(parse(expression))
    return [found.kinds, found.value]


READS: dict[str, Callable[..., object]] = {
    "nouns of what a relation leads to": lambda label: (noun := object_noun(label)) and noun.word,
    "nouns of what has a relation": lambda label: (noun := subject_noun(label)) and noun.word,
    "who does something": kind_of,
    "one step in the relation's words": one_step,
    "answers by their expressions": answer,
    "what decides a yes or no": deciding,
    "steps that are not certainly English": phrase_of,
    "facts in a dialogue": told,
    "expressions as questions": written,
    "what is measured": noun_for,
    "superlatives": lambda noun: greatest(noun)[0],
    "counts per kind": lambda concept, label, tail, only: list(counts_per(concept, label, tail, is_only=only)),
    "suggested questions": suggested,
    "forms of questions": form,
    "idioms": lambda asked: " ".join(normalise_idioms(asked).split()),
    "plainer words": plainer,
    "negations and exceptions": quantifier,
    "languages": language,
    "times that are asked about": time_of,
    "values with a unit": units_of,
    "units that fit": lambda symbol, kind, period, label, value: StatedUnit(symbol, kind, period).fits(label, value),
    "units that no relation has": is_foreign_unit,
    "content words": content_words,
    "readable steps": lambda label: [readable_step(label), typed_step(label)],
    "verbs of relations": verbs_are,
    "voices of relations": voice_of,
    "pseudonyms": is_pseudonym,
    "what an expression gives": kinds_of,
    "what may be over": lambda *labels: SchemaGraph(LEASES, (), {}).may_be_over(list(labels)),
    "places within places": lambda text: within_parts(text, PLACES, {"Ea1b2c": "place"}),
    "chains of places": is_chain_of_places,
    "facts of one record": joins_records,
}
SCORED = {each for each in CORPUS.sections if each.startswith("read ")}


def test_every_section_is_read() -> None:
    assert {*READS, "drafts that a question contradicts", "schemas"} == set(CORPUS.sections) - SCORED


@pytest.mark.parametrize("section", READS)
def test_rows_are_said_and_read(section: str) -> None:
    CORPUS.judge(section, READS[section])


@pytest.mark.parametrize(("question", "draft", "expected"), CORPUS.rows("drafts that a question contradicts"))
def test_a_draft_that_the_question_contradicts(question: str, draft: str, expected: str) -> None:
    assert plain(contradiction(question, draft)) == expected
