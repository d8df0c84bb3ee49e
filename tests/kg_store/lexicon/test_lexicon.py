"""The lexicon: the words of everyday questions are in it, and nobody's name."""

from __future__ import annotations

import pytest

from kg_store.lexicon import make
from kg_store.lexicon.lexicon import (
    ENGLISH,
    FURTHER,
    OTHER,
    SOURCES,
    in_large_lexicon,
    in_lexicon,
    in_lexicon_of,
    kinds_of,
    languages,
    words_of_language,
)
from kg_store.lexicon.make import english, further, others, sources

# The hundred most frequent surnames of the United States that are a common word besides, and stay one.
COMMON_SURNAMES = {"white", "price", "long"}
SURNAMES = """
    smith johnson williams brown jones miller davis garcia rodriguez wilson martinez anderson taylor thomas hernandez
    moore martin jackson thompson white lopez lee gonzalez harris clark lewis robinson walker perez hall young allen
    sanchez wright king scott green baker adams nelson hill ramirez campbell mitchell roberts carter phillips evans
    turner torres parker collins edwards stewart flores morris nguyen murphy rivera cook rogers morgan peterson cooper
    reed bailey bell gomez kelly howard ward cox diaz richardson wood watson brooks bennett gray james reyes cruz
    hughes price myers long foster sanders ross morales powell sullivan russell ortiz jenkins gutierrez perry butler
    müller schmidt schneider fischer weber meyer wagner becker schulz hoffmann koch richter klein wolf schröder
    öztürk yılmaz kaya demir şahin đặng nguyễn trần phạm xu wang zhang chen kowalski nowak rossi russo ferrari bianchi
"""
EVERYDAY = """
    which doctors work at the clinic how many patients live in the city who is treated by what is her salary tell me
    about them list all films that were directed by the same person is he older than his wife does she have a dog
    where was it founded when did they die what disease has this patient compare both companies by revenue hi thanks
    movie actor written starred genre release year language website cardiologist medicine hospital invoice account
    transaction balance employee department manager project engineer
"""


# Frequent surnames of three countries, with those that are nouns or adjectives too.
OTHER_SURNAMES = {
    "de": """
        müller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schäfer koch bauer richter
        klein wolf schröder neumann schwarz zimmermann braun krüger hofmann hartmann lange schmitt werner
        schmitz krause meier lehmann schmid schulze maier köhler herrmann könig walter mayer huber kaiser fuchs
        peters lang scholz möller weiß jung hahn schubert vogel friedrich keller günther frank berger winkler
        roth beck lorenz baumann franke albrecht schuster simon ludwig böhm winter kraus martin schumacher
        krämer vogt stein jäger otto sommer groß seidel heinrich brandt haas schreiber graf schulte dietrich
        ziegler kuhn kühn pohl engel horn busch bergmann thomas voigt sauer arnold wolff pfeiffer kirsch herbst
        nagel ritter bach kurz brand blum fink frey ernst kern dorn hase rose linde
    """,
    "fr": """
        martin bernard dubois thomas robert richard petit durand leroy moreau simon laurent lefebvre michel
        garcia david bertrand roux vincent fournier morel girard andré lefevre mercier dupont lambert bonnet
        françois martinez legrand garnier faure rousseau blanc guerin muller henry roussel nicolas perrin morin
        mathieu clement gauthier dumont lopez fontaine chevalier robin masson sanchez gerard nguyen boyer denis
        lemaire duval joly gautier roger roche roy noel meyer lucas meunier jean perez marchand dufour blanchard
        marie barbier brun dumas brunet schmitt leroux colas fabre caron rivière lecomte renard
    """,
    "es": """
        garcía rodríguez gonzález fernández lópez martínez sánchez pérez gómez martín jiménez ruiz hernández
        díaz moreno muñoz álvarez romero alonso gutiérrez navarro torres domínguez vázquez ramos gil ramírez
        serrano blanco molina morales suárez ortega delgado castro ortiz rubio marín sanz núñez iglesias medina
        garrido cortés castillo santos lozano guerrero cano prieto méndez cruz calvo gallego vidal león márquez
        herrera peña flores cabrera campos vega fuentes carrasco diez caballero reyes nieto aguilar pascual
        santana herrero lorenzo montero hidalgo giménez ibáñez ferrer durán santiago benítez mora vicente vargas
        arias carmona crespo román pastor soto sáez velasco moya soler parra esteban bravo gallardo rojas
    """,
}


@pytest.mark.parametrize("language", OTHER_SURNAMES)
def test_surnames_are_no_words_of_their_language(language: str) -> None:
    assert [word for word in OTHER_SURNAMES[language].split() if in_lexicon_of(language, word)] == []


@pytest.mark.parametrize(
    ("language", "words"),
    [("de", "abteilung gehalt arbeitet mitarbeiter verdient"), ("fr", "salaire ville habite commande employé"),
     ("es", "sueldo ciudad trabaja pedido empleado")],
)  # fmt: skip
def test_words_of_three_languages_may_leave_and_may_be_schema(language: str, words: str) -> None:
    assert all(in_lexicon_of(language, word) and in_large_lexicon(word) for word in words.split())
    assert not any(in_lexicon(word) for word in words.split())


def test_surnames_are_no_words_that_may_leave() -> None:
    assert [word for word in SURNAMES.split() if in_lexicon(word) != (word in COMMON_SURNAMES)] == []


def test_words_of_everyday_questions_may_leave() -> None:
    assert [word for word in EVERYDAY.split() if not in_lexicon(word)] == []


@pytest.mark.parametrize("word", ["Doctor", "doktör", "ｄoctor", "café", "", "doctor's", "two words", "d0ctor"])
def test_a_word_is_in_as_it_is_typed_alone(word: str) -> None:
    assert not in_lexicon(word)


@pytest.mark.parametrize("word", "johnson david wilson london paris china mary peter".split())
def test_given_names_and_places_are_no_words_that_may_leave(word: str) -> None:
    assert not in_lexicon(word)
    assert all(word not in words_of_language(code) for code in languages())


def test_kinds_of_words_are_told() -> None:
    assert set("nv") <= set(kinds_of("treat"))
    assert kinds_of("patient") == "na"
    assert kinds_of("müller") == ""


def test_other_languages_have_their_small_words() -> None:
    assert {"der", "und", "ist", "wohnt"} & words_of_language("de")
    assert {"les", "est", "qui"} <= words_of_language("fr")
    assert not words_of_language("xx")


@pytest.mark.slow
def test_the_lists_are_what_their_sources_give(monkeypatch: pytest.MonkeyPatch) -> None:
    words = list(english())
    monkeypatch.setattr(make, "english", lambda: words)  # `sources` would draw it again, for seconds.
    assert ENGLISH.read_text(encoding="utf-8").splitlines() == words
    assert OTHER.read_text(encoding="utf-8").splitlines() == list(others())
    assert FURTHER.read_text(encoding="utf-8").splitlines() == list(further())
    assert SOURCES.read_text(encoding="utf-8") == sources()
