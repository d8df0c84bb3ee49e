"""Slips of schema words and words run together are read as the schema's own, and names never are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.privacy.pseudonyms import shaped_in
from kg_store.names.name_words import NameWords, one_slip_away
from tests.support.named_words import NamedWords, words_of

OWN = ("Ines Brackwede", "Castle Hospitel", "Fields Prison")
OF_ANOTHER = ("Parentz", "Anna Spousse", "Ward")
"""Each a slip away from a word of the schema, or one itself."""

SCHEMA = frozenset("hospital prison parents spouse children place of birth nationality ward".split())
PUBLIC = ("place of birth", *SCHEMA)
PRISON = NamedWords(OWN, PUBLIC, SCHEMA, NameWords.union(map(words_of, (OWN, OF_ANOTHER))))
read = PRISON.read


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("which nationalty has a prisoner", "which nationality has a prisoner"),
        ("the childrendead of whom", "the children dead of whom"),
        ("what was the placeofbirth of him", "what was the place of birth of him"),
        ("the chlidren of these", "the children of these"),
        ("who is the yougest prisoner", "who is the youngest prisoner"),
        ("how many prisoners betwen them", "how many prisoners between them"),
        ("which natio have they", "which nationality have they"),
    ],
)
def test_what_was_meant_is_sent_and_told(text: str, sent: str) -> None:
    made, table = read(text)
    assert made.dialogue.question == sent
    assert len(made.notes) == 1
    assert " was read as: " in made.notes[0]
    meaning = table.meaning(table.known(made.notes[0])[0])
    assert meaning is not None
    assert meaning.literal in text
    assert not made.dialogue.topics


@pytest.mark.parametrize(
    "typed",
    [
        "hospitel", "hospitels", "parentz", "spousse", "spouss", "goodfriend", "townsend", "woodward",
        "blackwood", "wardhouse", "natinalty", "priso",
    ],
)  # fmt: skip
def test_what_may_be_a_name_or_is_too_far_away_goes_as_a_pseudonym(typed: str) -> None:
    made, _ = read(f"the {typed} of these")
    assert list(shaped_in(made.dialogue.question))
    assert not made.notes


@pytest.mark.parametrize("text", ["does nationalty live here", "mr nationalty called", "(nationalty) of these"])
def test_a_slip_that_stands_where_a_name_would_is_not_read(text: str) -> None:
    made, _ = read(text)
    assert "nationality" not in made.dialogue.question
    assert not made.notes


@given(st.sampled_from(("hospital", "parents", "spouse", "children")), st.data())
@settings(max_examples=60, deadline=None)
def test_a_name_one_slip_from_the_schema_never_leaves(word: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(set(one_slip_away(word)) - {word})))
    other = NamedWords(OWN, PUBLIC, SCHEMA, words_of([name.capitalize()]))
    made, _ = other.read(f"the {name} of these")
    assert not made.notes


@pytest.mark.parametrize("text", ["the childrendead of ines brackwede", "which nationalty have they in fields prisan"])
def test_the_guard_lets_pass_what_was_read(text: str) -> None:
    assert PRISON.passes(PRISON.safe(text))
