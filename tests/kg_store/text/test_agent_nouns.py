"""Nouns for people, and the fields that they come from."""

from __future__ import annotations

import pytest

from kg_store.text.inflection import fields_of


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
