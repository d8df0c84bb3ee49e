from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from app.privacy.anonymised import Anonymised
from app.privacy.anonymiser import MAX_EARLIER_TOPICS, Anonymiser
from app.privacy.pseudonyms import MAX_CHOICES, PseudonymTable
from app.privacy.words.lexicon import Lexicon
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import Mid, Mids, NodeKind, ValueKind, as_mids
from kg_store.text.english import PublicWords
from tests.support.clinic import dialogue, members
from tests.support.named_words import NamedWords

Ask = Callable[..., Anonymised]


def text_of(anonymised: Anonymised, turn: int = -1) -> str:
    return anonymised.dialogue.turns[turn].text


def shape(text: str) -> str:
    """A text with its pseudonyms cut down to their letter."""
    return re.sub(r"(?<![0-9A-Za-z])([EVS])[a-z0-9]{5}(?![0-9A-Za-z])", r"<\1>", text)


# --- what is replaced -----------------------------------------------------------------------------------------


def test_what_the_loser_of_two_overlapping_spans_has_more_goes_too(public: PublicWords, table: PseudonymTable) -> None:
    # "Karl May" and "12 May 1990" share a word; none of the rest may stay.
    index = NameIndex.build([NameEntry(1, "old karl went in may", "name", None, True, True)])
    anonymiser = Anonymiser(EntityLinker(index), index, Lexicon(public, NameWords()))
    result = anonymiser.anonymise(dialogue("old karl went in may 1990"), table, lambda word: members(table, word))
    assert shape(text_of(result)) == "<E> <V>"


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("between March and June 2023", ["2023-03", "June 2023"]),
        ("out in april", ["april"]),
        ("on the 3rd of may", ["3rd of may"]),
        ("anna berg april", [None, "april"]),
        ("since twenty March 2020", ["2020-03-20"]),
    ],
)
def test_a_date_means_what_was_typed_or_what_completes_it(
    public: PublicWords, table: PseudonymTable, text: str, means: list[str]
) -> None:
    index = NameIndex.build([NameEntry(1, "Anna Berg", "name", None, True, True)])
    anonymiser = Anonymiser(EntityLinker(index), index, Lexicon(public, NameWords()))
    result = anonymiser.anonymise(dialogue(text), table, lambda word: members(table, word))
    meanings = [table.meaning(topic.pseudonym) for topic in result.dialogue.topics]
    assert [meaning.literal for meaning in meanings if meaning] == means


def test_a_word_of_a_masked_relation_or_class_is_told_as_what_stands_for_it(
    public: PublicWords, table: PseudonymTable
) -> None:
    index = NameIndex.build([NameEntry(1, "Fee Drill", "name", None, True, True)])
    kind = table.of_kind("tag", as_mids([3, 4]))
    anonymiser = Anonymiser(
        EntityLinker(index),
        index,
        Lexicon(public, NameWords()),
        masks={7: "Rk3m2a", 8: kind},
        masked_words={"fee": 7, "drill": 8},
    )
    asked = dialogue("what fees have the drills of Fee Drill in feedback?")
    result = anonymiser.anonymise(asked, table, lambda word: members(table, word))
    assert text_of(result) == f"what Rk3m2a have the {kind} of {table.of_entity(Mid(1))} in feedback?"
    assert result.typed == {"Rk3m2a": "fees", kind: "drills"}
    assert [each.pseudonym for each in result.dialogue.topics] == [table.of_entity(Mid(1))]


def test_several_words_of_one_masked_relation_are_told_once(public: PublicWords, table: PseudonymTable) -> None:
    index = NameIndex.build([NameEntry(1, "Anna Berg", "name", None, True, True)])
    words = {"late": 7, "fee": 7}
    anonymiser = Anonymiser(
        EntityLinker(index), index, Lexicon(public, NameWords()), masks={7: "Rk3m2a"}, masked_words=words
    )
    result = anonymiser.anonymise(dialogue("what late fees has anna berg?"), table, lambda word: members(table, word))
    assert text_of(result) == f"what Rk3m2a has {table.of_entity(Mid(1))}?"
    assert result.typed == {"Rk3m2a": "late fees"}


@pytest.mark.parametrize("said", ["what's", "what’s"])
def test_the_s_of_whats_is_no_thing_called_s(public: PublicWords, table: PseudonymTable, said: str) -> None:
    index = NameIndex.build([NameEntry(1, "S", "name", None, True, True)])
    anonymiser = Anonymiser(EntityLinker(index), index, Lexicon(public, NameWords()))
    result = anonymiser.anonymise(dialogue(f"{said} the size of it?"), table, lambda word: members(table, word))
    assert text_of(result) == f"{said} the size of it?"


def test_every_turn_is_read_whoever_said_it(ask: Ask) -> None:
    anonymised = ask("About Anna Berg", "Karl Östermann, 1990-05-12, Zorbon.", "And Hope?")
    assert [shape(turn.text) for turn in anonymised.dialogue.turns] == ["About <S>", "<E>, <V>, <V>.", "And <E>?"]
    assert [turn.role for turn in anonymised.dialogue.turns] == ["user", "assistant", "user"]


# --- pseudonyms that stand in the text ------------------------------------------------------------------------


def test_pseudonyms_of_this_conversation_stay_as_they_are(ask: Ask, table: PseudonymTable) -> None:
    word, other = table.of_entity(Mid(3)), table.of_value(Mid(102))
    text = f"{word}'s and {other}/{word}, ({word}) {word}-{other}"
    assert text_of(ask("x", f"see {word}", text)) == text


def test_a_pseudonym_of_another_conversation_is_hidden(ask: Ask, table: PseudonymTable) -> None:
    foreign = PseudonymTable.new().of_entity(Mid(3))
    anonymised = ask(f"who is {foreign}?", f"{foreign} it is", f"and {foreign}?")
    for turn in range(3):
        assert foreign not in text_of(anonymised, turn)
    assert all(len(topic.mids) == 0 for topic in anonymised.dialogue.topics)


def test_a_name_that_looks_like_a_pseudonym_is_replaced(public: PublicWords, table: PseudonymTable) -> None:
    index = NameIndex.build([NameEntry(1, "Sk3mmd", "name", None, True, True)])
    anonymiser = Anonymiser(EntityLinker(index), index, Lexicon(public, NameWords()))
    result = anonymiser.anonymise(dialogue("who is Sk3mmd?"), table, lambda word: members(table, word))
    assert result.dialogue.topics[0].mids.tolist() == [1]


# --- shared names ---------------------------------------------------------------------------------------------


def test_a_shared_name_is_one_set_with_its_choices(ask: Ask, table: PseudonymTable) -> None:
    anonymised = ask("Where is Anna Berg?")
    (topic,) = anonymised.dialogue.topics
    assert topic.mids.tolist() == [1, 2]
    (ambiguity,) = anonymised.ambiguous
    assert ambiguity.pseudonym == topic.pseudonym
    assert sorted(members(table, choice).tolist() for choice in ambiguity.choices) == [[1], [2]]
    assert anonymised.notes == ()


def test_an_alias_that_only_one_has_settles_the_shared_name(ask: Ask, table: PseudonymTable) -> None:
    anonymised = ask("Annie the Great is in.", "Yes.", "Where is Anna Berg?")
    assert anonymised.ambiguous == ()
    assert anonymised.dialogue.topics[0].mids.tolist() == [1]
    assert ask("Where is Anna Berg?").ambiguous == ()  # The conversation remembers.


def test_a_choice_settles_the_shared_name_even_when_the_answer_named_both(ask: Ask, table: PseudonymTable) -> None:
    first = ask("Where is Anna Berg?")
    one, other = first.ambiguous[0].choices
    again = ask("Where is Anna Berg?", f"Do you mean {one} or {other}?", "Anna Berg!")
    assert [each.choices for each in again.ambiguous] == [[one, other]]
    chosen = ask("Where is Anna Berg?", f"Do you mean {one} or {other}?", f"I mean {other}. Where is Anna Berg?")
    assert chosen.ambiguous == ()
    assert [topic.pseudonym for topic in chosen.dialogue.topics] == [other, one]


def test_an_entity_of_an_answer_settles_the_shared_name(ask: Ask, table: PseudonymTable) -> None:
    word = table.of_entity(Mid(2))
    assert text_of(ask("Who is in?", f"It is {word}.", "Is Anna Berg old?")) == f"Is {word} old?"


def test_of_many_that_share_a_name_twenty_are_offered(public: PublicWords, table: PseudonymTable) -> None:
    entries = [NameEntry(mid, "Ann Lee", "name", None, True, True) for mid in range(1, 35)]
    index = NameIndex.build([*entries, NameEntry(30, "Ann the Elder", "name", None, True, True)])
    anonymiser = Anonymiser(EntityLinker(index), index, Lexicon(public, NameWords()))
    table.settle(Mid(30), by_user=True)
    table.settle(Mid(31), by_user=True)
    result = anonymiser.anonymise(dialogue("Where is Ann Lee?"), table, lambda word: members(table, word))
    (ambiguity,) = result.ambiguous
    assert len(ambiguity.choices) == MAX_CHOICES
    assert {int(members(table, choice)[0]) for choice in ambiguity.choices[:2]} == {30, 31}
    assert result.notes == (f"{ambiguity.pseudonym} may mean 34 things; 20 of them are offered",)


def test_a_follow_up_that_names_nothing_is_as_ambiguous_as_what_it_follows(ask: Ask) -> None:
    assert len(ask("Where is Anna Berg?", "There.", "and how old?").ambiguous) == 1
    assert ask("Where is Anna Berg?", "There.", "how old is Hope there, is Hope old?").ambiguous == ()


# --- topics ---------------------------------------------------------------------------------------------------


def test_topics_of_the_question_come_first_then_the_most_recent(ask: Ask, table: PseudonymTable) -> None:
    word = table.of_entity(Mid(9))
    anonymised = ask("Karl Östermann, Zorbinol", f"It was {word}.", "And New York with Zorbinol?")
    assert [(topic.mids.tolist(), topic.newest) for topic in anonymised.dialogue.topics] == [
        ([4], True), ([8], True), ([9], False), ([3], False),
    ]  # fmt: skip


def test_a_set_of_an_earlier_answer_is_a_topic_with_its_members_of_today(
    anonymiser: Anonymiser, table: PseudonymTable
) -> None:
    word = table.of_set(table.of_entity(Mid(1)), (), as_mids([7]))
    asked: list[str] = []

    def resolve(pseudonym: str) -> Mids:
        asked.append(pseudonym)
        return as_mids([8, 9])

    result = anonymiser.anonymise(dialogue("who?", f"{word}, that is.", f"which of {word}?"), table, resolve)
    (topic,) = result.dialogue.topics
    assert (topic.pseudonym, topic.mids.tolist(), topic.newest, asked) == (word, [8, 9], True, [word])


def test_an_unknown_word_in_small_letters_is_what_is_asked_about_where_nothing_else_is(ask: Ask) -> None:
    assert [len(topic.mids) for topic in ask("where does zorbon live").dialogue.topics] == [0]
    told = ask("where does zorbon live, of Karl Östermann")
    assert [len(topic.mids) for topic in told.dialogue.topics] == [1]


def test_what_the_graph_does_not_hold_is_a_topic_without_members(ask: Ask) -> None:
    anonymised = ask("Did Zorbon come before 12 March 2021, 77 times?")
    assert [(len(topic.mids), topic.value_kind) for topic in anonymised.dialogue.topics] == [
        (0, ValueKind.TEXT), (0, ValueKind.DATE), (0, ValueKind.NUMBER),
    ]  # fmt: skip


def test_a_value_is_found_by_what_it_means(ask: Ask) -> None:
    topics = ask("born on 12 May 1990 with 72.50").dialogue.topics
    assert [(topic.mids.tolist(), topic.value_kind) for topic in topics] == [
        ([101], ValueKind.DATE), ([102], ValueKind.NUMBER),
    ]  # fmt: skip


def test_a_year_that_the_graph_holds_twice_is_a_literal_with_both(public: PublicWords, table: PseudonymTable) -> None:
    index = NameIndex.build(
        [
            NameEntry(7, "1990", "value", ValueKind.DATE, True, True),
            NameEntry(8, "1990.0", "value", ValueKind.NUMBER, True, True),
        ]
    )
    anonymiser = Anonymiser(EntityLinker(index), index, Lexicon(public, NameWords()))
    result = anonymiser.anonymise(dialogue("in 1990"), table, lambda word: members(table, word))
    (topic,) = result.dialogue.topics
    assert topic.value_kind is ValueKind.DATE
    assert 7 in topic.mids.tolist()


def test_outcomes_of_earlier_answers_are_topics(ask: Ask, table: PseudonymTable) -> None:
    number, ranked = table.of_outcome("count(Sk3mmd)"), table.of_outcome("sort(Sk3mmd)", [3, 9])
    topics = ask("how many?", f"{number}, namely {ranked}", "is that so?").dialogue.topics
    assert [(topic.mids.tolist(), topic.value_kind) for topic in topics] == [
        ([], ValueKind.NUMBER),
        ([3, 9], None),
    ]


def test_at_most_a_few_earlier_topics_come_along(ask: Ask, table: PseudonymTable) -> None:
    words = [table.of_entity(Mid(mid)) for mid in range(500, 520)]
    topics = ask("who?", " ".join(words), "why?").dialogue.topics
    assert [topic.pseudonym for topic in topics] == words[:MAX_EARLIER_TOPICS]


# --- borders --------------------------------------------------------------------------------------------------


def test_a_broken_linker_lets_nothing_pass(names: NameIndex, public: PublicWords, table: PseudonymTable) -> None:
    class Broken:
        def find_mentions(self, text: str, fits: object) -> list[object]:
            raise RuntimeError("down")

    anonymiser = Anonymiser(Broken(), names, Lexicon(public, NameWords()))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError):
        anonymiser.anonymise(dialogue("Anna Berg"), table, lambda word: members(table, word))


def test_no_repr_of_the_result_shows_a_mid(ask: Ask) -> None:
    shown = repr(ask("Karl Östermann, 12 May 1990"))
    assert "Karl" not in shown
    assert "1990" not in shown


# --- names as people type them ---------------------------------------------------------------------------------


def test_a_reading_tells_the_place_in_what_was_typed(ask: Ask, table: PseudonymTable) -> None:
    typed = "Was K\u200barl Ostermnan with Karl Östermann?"
    (reading,) = ask("Who treated Zorbinoll?", "Nobody.", typed).inexact
    assert typed[reading.start : reading.end] == "K\u200barl Ostermnan"
    assert members(table, reading.pseudonym).tolist() == [3]


def test_an_exact_name_has_no_reading(ask: Ask) -> None:
    assert ask("Who treated Karl Östermann, and who karl ostermann?").inexact == ()


def test_a_surname_that_several_share_is_ambiguous(ask: Ask, table: PseudonymTable) -> None:
    anonymised = ask("Is Berg in?")
    (ambiguity,) = anonymised.ambiguous
    assert sorted(members(table, choice).tolist() for choice in ambiguity.choices) == [[1], [2]]
    assert [reading.pseudonym for reading in anonymised.inexact] == [ambiguity.pseudonym]


# --- everyday words that are values ------------------------------------------------------------------------------


def categories(holds: Callable[[Mids], Mids] | None = None) -> Anonymiser:
    entries = [
        NameEntry(1, "Depot Zilm", "name", None, True, True),
        NameEntry(2, "lost", "value", ValueKind.TEXT, True, True),
        NameEntry(3, "Sales Clerk", "value", ValueKind.TEXT, True, True),
    ]
    public = PublicWords.of(["status"])
    index = NameIndex.build(entries).with_public(public)
    lexicon = Lexicon(public, NameWords.of(()), frozenset({"status"}))
    return Anonymiser(EntityLinker(index), index, lexicon, holds=holds)


def sent(anonymiser: Anonymiser, text: str) -> str:
    table = PseudonymTable.new()
    made = anonymiser.anonymise(dialogue(text), table, lambda word: members(table, word))
    return shape(text_of(made))


def test_an_everyday_word_that_is_a_value_hidden_from_the_asker_stays_as_any_other_would() -> None:
    hidden = categories(lambda mids: tuple(mid for mid in mids if mid != 2))
    assert sent(hidden, "which orders got lost") == "which orders got lost"


@pytest.mark.parametrize("typed", ["how many zilmers are there", "where do the zilmers live", "Is a zilmer in?"])
def test_a_word_of_names_that_is_no_mention_goes_all_the_same(typed: str) -> None:
    names = [NameEntry(mid, name, "name", None, True, True) for mid, name in enumerate(("Ann Zilmer", "Bo Zilmer"), 1)]
    public = PublicWords.of(["status"])
    index = NameIndex.build(names).with_public(public)
    known = NameWords.of(VaultRecord(NodeKind.ENTITY, (each.text,)) for each in names)
    anonymiser = Anonymiser(EntityLinker(index), index, Lexicon(public, known, frozenset({"status"})))
    assert "zilmer" not in sent(anonymiser, typed).casefold()


@pytest.mark.parametrize("typed", ["where does dr {} live", "Where does Prof. {} live?", "is Mr {} in?", "mrs {}"])
def test_a_title_goes_with_a_hidden_name_just_as_with_one_that_nobody_knows(typed: str) -> None:
    hidden = named(lambda mids: ())
    for name, stranger in (("Ann Zilmer", "Bob Brackwed"), ("zilmer", "brackwed")):
        assert sent(hidden, typed.format(name)) == sent(hidden, typed.format(stranger))


@pytest.mark.parametrize("typed", ["who has {}?", "does Eve Quill have {}", "how many have the {}", "and {}?"])
def test_a_hidden_value_is_read_as_typed_just_as_one_that_nobody_has(typed: str) -> None:
    """Otherwise the reader would read other words, and take another time for them."""
    readings = []
    for value in ("zilmo brask", "zilmo flint"):
        entries = [
            NameEntry(1, "Eve Quill", "name", None, True, True),
            NameEntry(2, value, "value", ValueKind.TEXT, False, False),
        ]
        public = PublicWords.of(["status"])
        index = NameIndex.build(entries).with_public(public)
        hidden = Anonymiser(EntityLinker(index), index, Lexicon(public, NameWords.of(()), frozenset({"status"})))
        table = PseudonymTable.new()
        made = hidden.anonymise(dialogue(typed.format("zilmo brask")), table, partial(members, table))
        readings.append((list(made.typed.values()), [len(each.mids) for each in made.dialogue.topics]))
        assert not {"zilmo", "brask"} & set(text_of(made).strip("?").split())
    assert readings[0] == readings[1]
    assert readings[0][0] == ["zilmo brask"]


def named(holds: Callable[[Mids], Mids] | None = None) -> Anonymiser:
    public = PublicWords.of(["nurse"])
    index = NameIndex.build([NameEntry(1, "Ann Zilmer", "name", None, True, True)]).with_public(public)
    return Anonymiser(EntityLinker(index), index, Lexicon(public, NameWords.of(()), frozenset({"nurse"})), holds=holds)


def test_a_word_of_a_name_is_no_short_form() -> None:
    """ "ive" would leave as "i've"."""
    named = NamedWords(["Jonathan Ive", "Gerda Whos"], ["ward", "works on"])
    for text in ("which ward is ive on", "whos ward is it", "which ward is whos on"):
        safe = named.safe(text).lower()
        assert not {"ive", "whos", "i've", "who's"} & set(safe.split()), safe
    assert named.safe("whens the ward full").startswith("when's ")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("what did elmbridge borrow", [1]),
        ("what did the elmbridge singers borrow", [1]),
        ("what did quorvex borrow", []),  # Two values have it.
        ("what did zilmer borrow", []),  # No value has it.
    ],
)
def test_an_unknown_word_is_the_only_value_that_has_it(typed: str, read: list[int]) -> None:
    values = ("Elmbridge Singers", "Quorvex Band", "Quorvex School")
    entries = [NameEntry(mid, text, "value", ValueKind.TEXT, True, True) for mid, text in enumerate(values, 1)]
    public = PublicWords.of(["what did borrow"])
    index = NameIndex.build(entries).with_public(public)
    table = PseudonymTable.new()
    for holds, expected in ((None, read), (lambda _mids: (), list[int]())):
        lexicon = Lexicon(public, NameWords.of(()), frozenset({"borrow"}))
        anonymiser = Anonymiser(EntityLinker(index), index, lexicon, holds=holds)
        made = anonymiser.anonymise(dialogue(typed), table, lambda word: members(table, word))
        assert [mid for topic in made.dialogue.topics for mid in topic.mids.tolist()] == expected
        assert not {"elmbridge", "quorvex", "zilmer"} & set(text_of(made).lower().split())
