"""Forms of words; their library is loaded alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kg_store.text.inflection import is_form_of

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
