"""Forms of words: plurals, lemmas, participles, agents, and the fields that people are named by."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kg_store.text.inflection import lemminflect

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


def test_every_word_has_the_forms_that_lemminflect_reads_from_its_whole_files() -> None:
    lemmatizer, inflections = lemminflect.Lemmatizer(), lemminflect.Inflections()
    for codec, path, known in (
        (lemminflect.codecs.LemmaLUCodec.LemmaLUCodec, lemmatizer.lemma_lu_fn, lemmatizer.lemma_dict),
        (lemminflect.codecs.InflectionLUCodec.InflectionLUCodec, inflections.infl_lu_fn, inflections.infl_dict),
    ):
        whole = codec.load(path)
        assert {word: known.get(word, {}) for word in whole} == whole
        assert [list(known.get(word, {})) for word in whole] == [list(forms) for forms in whole.values()]
        assert known.get("brackwede", {}) == known.get("cit", {}) == {}
        assert "brackwede" not in known
