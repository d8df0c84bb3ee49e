"""The made-up graph, lists, files and number words hold what the families need."""

from __future__ import annotations

from datetime import date

import pytest

from app.demo import GRAPH_FILE
from evaluation.attacks.forms.corpus import made_up
from evaluation.attacks.forms.corpus.graph_names import names_in_triples, names_in_turtle
from evaluation.attacks.forms.corpus.made_up import ROWS, table_files
from evaluation.attacks.forms.corpus.numbers import date_in_words, in_words, roman, year_in_words
from evaluation.attacks.forms.corpus.words import is_common_english, is_everyday, surnames, surnames_of


def test_there_are_five_hundred_and_forty_five_surnames() -> None:
    assert len(surnames()) == 545
    assert len(surnames_of("us")) == 100


def test_the_population_has_two_thousand_people_of_five_languages() -> None:
    people = made_up.people()
    assert len({person.clean for person in people}) == 2_000
    assert {person.language for person in people} == set(made_up.LANGUAGES)
    assert any("geb." in person.label for person in people)
    assert any("%C3" in person.label for person in people)


def test_the_population_is_read_with_its_notes_contacts_and_dirty_labels() -> None:
    names = names_in_turtle("population", made_up.turtle(60))
    assert any(text.startswith(("brother", "sister", "neighbour")) for text in names.texts)
    assert any("@clinic.example" in text for text in names.texts)
    assert any("&#" in label for label in names.labels)
    assert names.dates
    assert names.numbers


def test_properties_and_classes_are_no_names() -> None:
    names = names_in_turtle("demo", GRAPH_FILE.read_text("utf-8"))
    assert "Rosalind Rose" in names.names
    assert "insured by" not in {*names.names, *names.labels}


def test_first_and_last_names_in_two_properties_are_joined() -> None:
    text = '@prefix : <http://a.invalid/> .\n:p :firstName "Jörg" ; :lastName "Fährmann" .'
    assert names_in_turtle("people", text).names == ("Jörg Fährmann",)


def test_underscores_of_triples_are_spaces() -> None:
    assert "john of gaunt" in names_in_triples("kb", "john_of_gaunt\tspouse\tblanche_of_lancaster\n").names


@pytest.mark.parametrize(
    ("number", "language", "words"),
    [
        (21, "en", "twenty-one"),
        (48417, "en", "forty-eight thousand four hundred seventeen"),
        (1938, "de", "tausendneunhundertachtunddreißig"),
        (35, "es", "treinta y cinco"),
        (1000, "fr", "mille"),
        (0, "en", "zero"),
    ],
)
def test_numbers_are_read_out(number: int, language: str, words: str) -> None:
    assert in_words(number, language) == words


def test_years_and_dates_are_read_out() -> None:
    assert year_in_words(1960, "en") == "nineteen sixty"
    assert year_in_words(1960, "de") == "neunzehnhundertsechzig"
    assert year_in_words(2003, "en") == "two thousand three"
    assert date_in_words(date(1960, 9, 8), "en") == "the eighth of september nineteen sixty"
    assert date_in_words(date(1987, 11, 23), "de") == "dreiundzwanzigsten november neunzehnhundertsiebenundachtzig"
    assert roman(1984) == "MCMLXXXIV"


def test_there_are_at_least_twenty_table_files_with_all_their_cells() -> None:
    files = table_files()
    assert len(files) >= 20
    assert all(file.content.count("\n") >= ROWS and file.cells for file in files)
    assert all(cell in file.content for file in files for cell in file.cells)


def test_everyday_words_are_common_nouns_and_no_names() -> None:
    assert all(map(is_everyday, ("rose", "brown", "king", "hill")))
    assert not any(map(is_everyday, ("smith", "johnson", "david", "müller", "dang", "quillmore")))
    assert is_everyday("klein", "de")
    assert not is_everyday("klein", "es")
    assert is_common_english("who")
