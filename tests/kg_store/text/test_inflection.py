"""Forms of words: plurals, lemmas, participles, agents, and the fields that people are named by."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
