"""Forms of words: plurals, lemmas, participles, agents, and the fields that people are named by."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kg_store.text.inflection import fields_of, in_other_number, is_form_of, singular


@pytest.mark.parametrize(
    ("word", "one"),
    [("patients", "patient"), ("cities", "city"), ("people", "person"), ("classes", "class"), ("boxes", "box")]
    + [("movies", "movie"), ("zombies", "zombie"), ("series", "series"), ("ladies", "lady")]
    + [(word, word) for word in ("gas", "status", "basis", "glass", "patient")],
)
def test_a_plural_loses_its_ending(word: str, one: str) -> None:
    assert singular(word) == one


@pytest.mark.parametrize(
    ("noun", "other"),
    [("accountants", ["accountant"]), ("accountant", ["accountants"]), ("theses", ["thesis"]), ("man", ["men"])]
    + [(word, []) for word in ("tableware", "written", "often")]
    + [("phlebotomists", ["phlebotomist"]), ("phlebotomist", ["phlebotomists"])],
)
def test_a_noun_is_given_in_its_other_number(noun: str, other: list[str]) -> None:
    assert list(in_other_number(noun)) == other


ROOT = Path(__file__).parents[4]


@pytest.mark.process
def test_words_are_looked_up_without_spacy_or_torch_which_may_still_be_loaded_later() -> None:
    program = (
        "import sys; from kg_store.text.inflection import verbs_of; "
        "assert 'write' in verbs_of('written'); "
        "early = {'spacy', 'torch'} & set(sys.modules); import importlib.util; "
        "sys.exit(bool(early) or not importlib.util.find_spec('spacy'))"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize(
    ("word", "verb", "is_verb", "expected"),
    [
        ("looked", "look", False, True),
        ("wrote", "write", False, True),
        ("treating", "treat", False, True),
        ("building", "build", False, False),
        ("driver", "drive", False, False),
        ("sleeping", "treat", True, False),
    ],
)
def test_a_past_form_is_one_of_its_verb_and_what_may_be_a_noun_is_none(
    word: str, verb: str, is_verb: bool, expected: bool
) -> None:
    assert is_form_of(word, {verb}, is_verb) is expected


@pytest.mark.parametrize(
    ("noun", "field"),
    [
        ("dermatologist", "dermatology"), ("cardiologists", "cardiology"), ("psychiatrists", "psychiatry"),
        ("paediatrician", "paediatrics"), ("pediatrician", "paediatrics"), ("gynaecologists", "gynecology"),
        ("neurosurgeons", "neurosurgery"), ("surgeon", "surgery"), ("physiotherapists", "physiotherapy"),
        ("astronomer", "astronomy"), ("photographers", "photography"), ("mathematician", "mathematics"),
        ("physicists", "physics"), ("economists", "economics"), ("dentist", "dentistry"), ("midwives", "midwifery"),
        ("lawyers", "law"), ("optometrist", "optometry"), ("buddhists", "buddhism"), ("musicians", "music"),
    ],
)  # fmt: skip
def test_a_noun_for_people_comes_from_its_field(noun: str, field: str) -> None:
    assert field in list(fields_of(noun))


@pytest.mark.parametrize(
    "noun", ["physicians", "tourist", "list", "customers", "builder", "dermatology", "artist", "magicians", "surge"]
)
def test_other_nouns_come_from_no_field(noun: str) -> None:
    assert list(fields_of(noun)) == []
