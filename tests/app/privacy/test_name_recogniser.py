"""The recogniser: a real spaCy pipeline from a folder, whose names go like unknown words, or nothing starts."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from app.api.problems import error_body
from app.privacy.anonymiser import Anonymiser
from app.privacy.name_recogniser import RecogniserError, open_recogniser
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.words.lexicon import Lexicon
from app.settings import ConfigurationError
from app.wiring.services import build
from kg_store.names.index import NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_words import NameWords
from kg_store.text.english import PublicWords
from tests.app.privacy.test_anonymiser import shape
from tests.support.clinic import dialogue, members
from tests.support.service import OPERATOR, Running, question, running, settings_in

# The library itself is loaded by the tests that run: it takes seconds, and torch with it.
pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("spacy") is None, reason="spaCy is not installed")]

PATTERNS = [
    {"label": "PERSON", "pattern": [{"LOWER": "anna"}, {"LOWER": "berg"}, {"LOWER": "happy"}]},
    {"label": "GPE", "pattern": [{"LOWER": "little"}, {"LOWER": "snoring"}]},
    {"label": "DATE", "pattern": [{"LOWER": "recently"}]},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline without a trained model: rules are all that it needs to be one."""
    import spacy

    folder = tmp_path_factory.mktemp("pipeline")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns(PATTERNS)
    pipeline.to_disk(folder)
    return folder


def safe(names: NameIndex, public: PublicWords, text: str, folder: Path | None) -> str:
    table = PseudonymTable.new()
    recogniser = open_recogniser(f"spacy:{folder}") if folder else None
    anonymiser = Anonymiser(EntityLinker(names), names, Lexicon(public, NameWords()), recogniser=recogniser)
    made = anonymiser.anonymise(dialogue(text), table, lambda word: members(table, word))
    return shape(made.dialogue.question)


@pytest.mark.parametrize(
    ("text", "without", "within"),
    [
        ("who lives in little snoring", "who lives in little snoring", "who lives in <V>"),
        ("Did little snoring treat Anna Berg?", "Did little snoring treat <S>?", "Did <V> treat <S>?"),
        ("was anna berg happy there", "was <S> happy there", "was <S> <V> there"),
        ("who came recently", "who came recently", "who came recently"),
    ],
)
def test_names_that_it_finds_go_and_those_of_the_graph_stay_what_they_are(
    names: NameIndex, public: PublicWords, folder: Path, text: str, without: str, within: str
) -> None:
    assert safe(names, public, text, None) == without
    assert safe(names, public, text, folder) == within


def empty_folder(folder: Path) -> str:
    return f"spacy:{folder}"


def no_names(folder: Path) -> str:
    import spacy

    spacy.blank("en").to_disk(folder / "plain")
    return f"spacy:{folder / 'plain'}"


def broken(folder: Path) -> str:
    (folder / "config.cfg").write_text("[nlp]\nlang = Vexquilda")
    return f"spacy:{folder}"


@pytest.mark.parametrize("made", [empty_folder, no_names, broken, lambda _folder: "other:model"])
def test_one_that_can_not_be_loaded_is_told_without_its_place(tmp_path: Path, made) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(RecogniserError) as told:
        open_recogniser(made(tmp_path))
    assert "AROG_RECOGNISER" in str(told.value)
    assert str(tmp_path) not in str(told.value)
    assert "Vexquilda" not in str(told.value)


def test_without_its_library_it_is_told_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(RecogniserError, match="recogniser"):
        open_recogniser(f"spacy:{folder}")


@pytest.mark.model
def test_the_service_does_not_start_without_the_recogniser_that_is_set(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="AROG_RECOGNISER"):
        build(settings_in(tmp_path, recogniser=f"spacy:{tmp_path / 'nowhere'}"), error_body)


async def test_no_byte_of_a_name_that_it_finds_reaches_the_model(tmp_path: Path, folder: Path) -> None:
    text = "is little snoring treated by the doctor of Valdis Ozolkrasts?"
    for recogniser, leaves in ((None, True), (f"spacy:{folder}", False)):
        async with running(tmp_path / str(leaves), recogniser=recogniser) as service:
            sent = await asked(service, text)
        assert (b"snoring" in sent) is leaves


async def asked(service: Running, text: str) -> bytes:
    service.load()
    reply = await service.http.post("/chat", json=question(text), headers=OPERATOR)
    assert reply.status_code == 200
    return b"".join(service.reasoner.sent)


def test_one_that_breaks_lets_nothing_pass(names: NameIndex, public: PublicWords) -> None:
    class Broken:
        def names_in(self, text: str) -> list[tuple[int, int]]:
            raise RuntimeError("down")

    anonymiser, table = (
        Anonymiser(EntityLinker(names), names, Lexicon(public, NameWords()), recogniser=Broken()),
        PseudonymTable.new(),
    )
    with pytest.raises(RuntimeError):
        anonymiser.anonymise(dialogue("who is here"), table, lambda word: members(table, word))
