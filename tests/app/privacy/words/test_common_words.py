"""Names that are everyday words (May, Will, Price): they break no prompt, and go where a text marks them as names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.privacy.words.common_readings import reads_as_common
from app.privacy.words.unknown_words import turn_of
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind, ValueKind
from tests.support.named_words import NamedWords

ALONE = ("May", "Will", "Rose", "Mark", "Grace", "Hope", "Joy", "Art", "Bill", "Young", "Summer")
WHOLE = ("Will Rose", "Rose May", "Mark Young", "Summer Grace", "Bill Art", "May Hope Young")
EVERYDAY_NAMES = NamedWords((*ALONE, *WHOLE), ["treated by", "date of birth", "person"])
safe, passes = EVERYDAY_NAMES.safe, EVERYDAY_NAMES.passes


def test_names_that_are_everyday_words_are_told_as_public_and_whole_names_are_not() -> None:
    told = EVERYDAY_NAMES.index.report()
    assert set(told.public_words) == {name.casefold() for name in ALONE}
    assert told.unguarded == len(ALONE)


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


# --- where such a word names nobody, and where it does ---


# --- surnames that are common nouns, in the shortest turns that people type ---

NAMED_BY_NOUNS = (
    "Jane Price", "Summer Rivers", "Bob Field", "Sandy Beach", "Grace Long", "Tom Little", "Hope Banks", "Mark Bishop",
    "Olive Branch", "Rose Hill", "Penny Waters", "Will Young", "Dean Frost", "Jack Woods", "Tim Butcher", "Ivy Green",
)  # fmt: skip
SCHEMA = ("treated by", "date of birth", "doctor", "ward", "patient", "lives in", "city")
NOUNS = NamedWords(NAMED_BY_NOUNS, SCHEMA, (word for phrase in SCHEMA for word in phrase.split()))
SURNAMES = [name.split()[1].lower() for name in NAMED_BY_NOUNS]
FRAMES = (
    "and {}?", "give me {}", "{} ward", "{} / {other} / little doctors?", "{}, {other} and summer: which wards",
    "which ward is {} on", "i mean {}, which ward", "is it {} or {other} who lives in quixbury", "doctor {} ward",
    "same question but {}", "how old {}", "not {}, {other}", "only {}", "it's {}", "need {} asap", "that was {}",
    "{} vs {other}", "where {} lives", "who's {}", "the doctor {} had", "{} again", "everyone but {}", "so {} then",
)  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES)
def test_a_surname_that_is_a_common_word_stays_in_the_house(frame: str) -> None:
    others = [*SURNAMES[4:], *SURNAMES[:4]]
    for name, other in zip(SURNAMES, others, strict=True):
        gone = " ".join(NOUNS.gone(frame.format(name, other=other))).split()
        assert name in gone, frame
        assert "{other}" not in frame or other in gone, frame


@pytest.mark.parametrize(
    "text",
    [
        "what is the price of the drug", "which patients live in the old field", "how long is it",
        "list the little cities", "do they price their drugs", "is there hope for her",
        "what kind of price", "little patients", "when did the drugs price at the city", "great price of it",
    ],
)  # fmt: skip
def test_the_common_word_leaves_where_its_place_shows_it(text: str) -> None:
    assert NOUNS.gone(text) == []


@pytest.mark.parametrize(
    ("text", "at", "common"),
    [
        ("the price", 1, True),
        ("give price", 1, False),
        ("who has most rivers", 3, True),
        ("who has most river", 3, False),
        ("which films were priced by her", 3, True),
        ("what is the city called", 4, True),
        ("which city is called", 3, False),
        ("is given treated by him", 1, False),
        ("who called given", 2, False),
        ("will she stay", 0, True),
        ("will there be a bill", 0, True),
        ("which ward will be closed", 2, True),
        ("will is where", 0, False),
        ("will will be moved", 1, False),
        ("only frank, will and art", 2, False),
        ("will price pay", 1, False),
        ("rivers, of course", 0, False),
        ("price patients today", 0, False),
        ("power maple today", 0, False),
        ("price i mean, her ward", 0, False),
        ("price the price", 0, False),
        ("the price file", 1, False),
        ("just the river one", 2, False),
        ("the prices live here", 1, False),
        ("which prices fell", 1, True),
        ("did power power", 2, False),
        ("both rivers patients", 1, False),
        ("will patients", 0, False),
    ],
)
def test_a_place_proves_or_it_does_not(text: str, at: int, common: bool) -> None:
    assert reads_as_common(turn_of(text, [], NOUNS.lexicon), at) is common


def test_the_plural_of_a_name_is_one_too_where_nothing_proves_the_common_word() -> None:
    assert NOUNS.gone("prices ward") == ["prices"]
    assert NOUNS.gone("which prices are higher") == []


# --- words of texts ---

NOTES = ("Keeps her leap year birthday with a small lantern.", "Plays the cello at home.", "cut glass, jockey of old")
OF_NOTES = NameWords.of(VaultRecord(NodeKind.VALUE, (), ValueKind.TEXT, text) for text in NOTES)
TOLD = NamedWords((), ["treated by", "glass", "patient"], ["treated", "glass", "patient"], words=OF_NOTES)


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("the one with the cello", ["cello"]),
        ("who has lanterns?", ["lanterns"]),
        ("whats the jockey treated by", ["jockey"]),
        ("leap day", ["leap"]),
        ("which glass is at home", []),
    ],
)
def test_a_word_that_few_texts_hold_goes_whatever_stands_before_it(text: str, gone: list[str]) -> None:
    assert TOLD.gone(text) == gone


def test_a_word_of_many_texts_or_of_an_address_tells_of_none() -> None:
    texts = [*(f"saw a lantern in year {at}" for at in range(9)), "write to cello@lantern.example soon"]
    words = NameWords.of(VaultRecord(NodeKind.VALUE, (), ValueKind.TEXT, text) for text in texts)
    assert not words.tells_of_a_text("lantern")
    assert not words.tells_of_a_text("cello")
    assert NameWords.from_bytes(OF_NOTES.to_bytes()) == OF_NOTES


# --- marks: quotes around several words, two letters alone, the rest of a name beside it ---

MARKED_NAMES = (
    "Brackwede Lakeside Clinic",
    "Saint Fields Hospital",
    "Charles I Duke of Burgundy",
    "Ma",
    "Clinic of Up",
)
PLACES = NamedWords(MARKED_NAMES, ["clinic", "hospital", "patient", "treated by"], ("clinic", "hospital", "patient"))


def gone(text: str) -> set[str]:
    """The words of `text` that are replaced."""
    return set(" ".join(PLACES.gone(text)).split())
