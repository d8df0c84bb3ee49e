"""Names that are everyday words (May, Will, Rose): they break no prompt, and go where a text marks them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.egress.guard import BlockedError, Guard, StaticSegments
from app.privacy.anonymiser import Anonymiser
from app.privacy.pseudonyms import PseudonymTable, shaped_in
from app.privacy.safe_text import Egress, Segment
from app.privacy.words.lexicon import Lexicon
from kg_store.lexicon import in_lexicon
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind
from kg_store.text.english import PublicWords
from tests.support.clinic import dialogue, members

ALONE = ("May", "Will", "Rose", "Mark", "Grace", "Hope", "Joy", "Art", "Bill", "Young", "Summer")
WHOLE = ("Will Rose", "Rose May", "Mark Young", "Summer Grace", "Bill Art", "May Hope Young")
PUBLIC = PublicWords.of(["treated by", "date of birth", "person"])
NAMES = NameIndex.build(
    NameEntry(mid, name, "name", None, True, True) for mid, name in enumerate((*ALONE, *WHOLE), start=1)
).with_public(PUBLIC)
LEXICON = Lexicon(PUBLIC, NameWords.of(VaultRecord(NodeKind.ENTITY, (name,)) for name in (*ALONE, *WHOLE)))
GUARD = Guard(NAMES, StaticSegments(), LEXICON)
ANONYMISER = Anonymiser(EntityLinker(NAMES), NAMES, LEXICON)


def passes(text: str) -> bool:
    issued = frozenset(word.word for word in shaped_in(text))
    try:
        GUARD.clear(Egress((Segment(json.dumps({"question": text}).encode()),)), issued)
    except BlockedError:
        return False
    return True


def safe(text: str) -> str:
    """The words of a text that may leave."""
    table = PseudonymTable.new()
    made = ANONYMISER.anonymise(dialogue(text), table, lambda word: members(table, word))
    return made.dialogue.question


def test_names_that_are_everyday_words_are_told_as_public_and_whole_names_are_not() -> None:
    assert set(NAMES.report().public_words) == {name.casefold() for name in ALONE}
    assert NAMES.report().unguarded == len(ALONE)


EVERYDAY = (
    "Who may will the house to a tall person?",
    "Will there be a summer bill for the patient?",
    "May I hope that prices fell, and by how much?",
    "Compare every person whose bill is due, please.",
    "Tell me about the art of war, the hope of spring",
    "List all patients treated by him who may",
)


@pytest.mark.parametrize("text", EVERYDAY)
def test_everyday_sentences_of_such_words_stay_as_they_are_and_pass(text: str) -> None:
    assert safe(text) == text
    assert passes(text)


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize(
    "text",
    [
        "Who was treated by {}?", "Is {} older than the others?", "What is {}'s date of birth?", 'who treats "{}"?',
        "Dr. {} left early", "We asked Ms {} about it", "Does anybody know [{}] here?",
    ],
)  # fmt: skip
def test_where_a_text_marks_such_a_word_as_a_name_it_goes(text: str, name: str) -> None:
    left = safe(text.format(name))
    assert name not in left
    assert passes(left)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("typed", [str, str.lower, str.upper])
def test_a_whole_name_of_such_words_goes_and_is_blocked_however_it_is_typed(name: str, typed) -> None:  # type: ignore[no-untyped-def]
    text = f"who was treated by {typed(name)} then?"
    assert not passes(text)
    assert typed(name) not in safe(text)
    assert passes(safe(text))


@pytest.mark.parametrize("name", ALONE)
def test_where_only_a_name_can_stand_such_a_word_goes_in_small_letters_too(name: str) -> None:
    text = f"where did {name.lower()} go"
    # The guard can't tell a common word from a name; one that is more often a name it blocks alone.
    assert passes(text) == in_lexicon(name.lower())
    assert name.lower() not in safe(text).split()


WORDS = st.sampled_from(
    [*ALONE, *(name.lower() for name in ALONE), "who", "treated", "the", "by", "is", "in", "a", "did"]
)
MARKED = st.sampled_from([*ALONE, *WHOLE])


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=6), MARKED, st.lists(WORDS, max_size=4))
def test_what_is_anonymised_always_passes_and_holds_no_name_that_was_marked(
    before: list[str], name: str, after: list[str]
) -> None:
    left = safe(" ".join([*before, f'"{name}"', *after]))
    assert f'"{name}"' not in left
    assert passes(left)
