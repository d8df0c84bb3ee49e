"""Surnames that are common nouns, in the shortest turns that people type: none of them leaves."""

from __future__ import annotations

import pytest

from app.privacy.words.common_readings import reads_as_common
from app.privacy.words.lexicon import Lexicon
from app.privacy.words.unknown_words import turn_of, unknown_spans
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind
from kg_store.text.english import PublicWords

NAMES = (
    "Jane Price", "Summer Rivers", "Bob Field", "Sandy Beach", "Grace Long", "Tom Little", "Hope Banks", "Mark Bishop",
    "Olive Branch", "Rose Hill", "Penny Waters", "Will Young", "Dean Frost", "Jack Woods", "Tim Butcher", "Ivy Green",
)  # fmt: skip
SCHEMA = ("treated by", "date of birth", "doctor", "ward", "patient", "lives in", "city")
LEXICON = Lexicon(
    PublicWords.of(SCHEMA),
    NameWords.of(VaultRecord(NodeKind.ENTITY, (name,)) for name in NAMES),
    frozenset(word for phrase in SCHEMA for word in phrase.split()),
)
SURNAMES = [name.split()[1].lower() for name in NAMES]
FRAMES = (
    "and {}?", "give me {}", "{} ward", "{} / {other} / little doctors?", "{}, {other} and summer: which wards",
    "which ward is {} on", "i mean {}, which ward", "is it {} or {other} who lives in quixbury", "doctor {} ward",
    "same question but {}", "how old {}", "not {}, {other}", "only {}", "it's {}", "need {} asap", "that was {}",
    "{} vs {other}", "where {} lives", "who's {}", "the doctor {} had", "{} again", "everyone but {}", "so {} then",
)  # fmt: skip


def left(text: str) -> str:
    """`text` without what may not leave."""
    kept = text
    for start, end in unknown_spans(text, [], LEXICON):
        kept = kept[:start] + "#" * (end - start) + kept[end:]
    return kept


@pytest.mark.parametrize("frame", FRAMES)
def test_a_surname_that_is_a_common_word_stays_in_the_house(frame: str) -> None:
    others = [*SURNAMES[4:], *SURNAMES[:4]]
    for name, other in zip(SURNAMES, others, strict=True):
        words = left(frame.format(name, other=other)).replace("?", " ").replace(",", " ").split()
        assert name not in words, frame
        assert "{other}" not in frame or other not in words, frame


@pytest.mark.parametrize(
    "text",
    [
        "what is the price of the drug", "which patients live in the old field", "how long is it",
        "list the little cities", "do they price their drugs", "is there hope for her",
        "what kind of price", "little patients", "when did the drugs price at the city", "great price of it",
 
    ],
)  # fmt: skip
def test_the_common_word_leaves_where_its_place_shows_it(text: str) -> None:
    assert left(text) == text


@pytest.mark.parametrize(("text", "at", "common"), [("the price", 1, True), ("give price", 1, False)])
def test_a_place_proves_or_it_does_not(text: str, at: int, common: bool) -> None:
    assert reads_as_common(turn_of(text, [], LEXICON), at) is common
