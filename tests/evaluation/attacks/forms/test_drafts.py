"""A program follows what it takes for an address, and prose is left alone."""

from __future__ import annotations

import pytest

from evaluation.attacks.forms.drafts import FORMS, ShownDraft, draft_texts, followed_in


@pytest.mark.parametrize("form", draft_texts())
def test_every_form_would_be_followed_with_a_name_in_it(form: str) -> None:
    assert ShownDraft(f"See {form.replace('{}', 'Quillmore')} now", ("Rosalind Quillmore",)).is_followed


def test_there_are_two_hundred_forms() -> None:
    assert len(set(draft_texts())) >= FORMS


@pytest.mark.parametrize(
    "text",
    [
        "It is Rosalind Quillmore.",
        "The answer: Quillmore (1931), and 12 more.",
        "Quillmore and/or Hathaway; see page 3.",
        "1. Quillmore\n2. Hathaway",
        "**Quillmore** - the doctor",
        "Born 1960-09-08 at 12:30, 3 < 4 > 2",
    ],
)
def test_prose_with_a_name_is_not_followed(text: str) -> None:
    assert not ShownDraft(text, ("Quillmore", "Hathaway")).is_followed


def test_an_address_without_a_name_is_not_blamed_on_a_name_beside_it() -> None:
    text = "Quillmore is listed on https://x.example/people"
    assert followed_in(text)
    assert not ShownDraft(text, ("Quillmore",)).is_followed
