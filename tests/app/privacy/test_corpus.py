"""The parts of a text that go and those that stay, row by row (`corpus.toml`).

A part that goes is told by the first letter of its pseudonym.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest

from app.egress.guard import Guard, StaticSegments
from app.privacy.anonymiser import Anonymiser
from app.privacy.patterns import PatternKind, find_patterns
from app.privacy.pseudonyms import PseudonymTable, is_shaped, shaped_in
from app.privacy.safe_text import Egress, Segment
from app.privacy.visible_text import Visible
from app.privacy.words.grammar import Stand
from app.privacy.words.lexicon import Lexicon
from app.privacy.words.unknown_words import is_public_word, unknown_spans
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_words import NameWords
from kg_store.terms import Mids, ValueKind
from kg_store.text.english import PublicWords
from kg_store.text.quantities import unit_of_label
from tests.support.clinic import PHRASES, dialogue, members, name_index, name_words
from tests.support.corpus import Corpus
from tests.support.named_words import NamedWords, words_of

CORPUS = Corpus.beside(__file__)
PUBLIC = PublicWords.of(PHRASES)
INDEX = name_index(PUBLIC)
LEXICON = Lexicon(PUBLIC, name_words())
CLINIC = Anonymiser(EntityLinker(INDEX), INDEX, LEXICON)
GUARD = Guard(INDEX, StaticSegments(), LEXICON)


def shape(text: str) -> str:
    """A text with its pseudonyms cut down to their letter."""
    return re.sub(r"(?<![0-9A-Za-z])([EVS])[a-z0-9]{5}(?![0-9A-Za-z])", r"<\1>", text)


def left(*turns: str, by: Anonymiser = CLINIC) -> str:
    """The last of the turns as it may leave; the guard of the clinic lets it pass."""
    table = PseudonymTable.new()
    made = by.anonymise(dialogue(*turns), table, lambda word: members(table, word)).dialogue.turns[-1].text
    if by is CLINIC:
        GUARD.clear(Egress((Segment(made.encode()),)), table.issued)
    return shape(made)


def anonymiser(
    names: Iterable[str] = (),
    texts: Iterable[str] = (),
    public: Iterable[str] = (),
    schema: Iterable[str] = (),
    holds: Callable[[Mids], Mids] | None = None,
    **lexicon: object,
) -> Anonymiser:
    """Of these names and text values, whose MIDs count from 1; the lexicon knows no parts of names."""
    shown = PublicWords.of(public)
    entries = [("name", None, text) for text in names] + [("value", ValueKind.TEXT, text) for text in texts]
    index = NameIndex.build(
        NameEntry(mid, text, kind, value, True, True)  # type: ignore[arg-type]
        for mid, (kind, value, text) in enumerate(entries, start=1)
    ).with_public(shown)
    words = Lexicon(shown, NameWords.of(()), frozenset(schema), **lexicon)  # type: ignore[arg-type]
    return Anonymiser(EntityLinker(index), index, words, holds=holds)


KILOGRAMS = frozenset({unit for unit in [unit_of_label("weight kg")] if unit})
DEPOT = anonymiser(["Depot Zilm"], ["lost", "Sales Clerk"], ["status"], ["status"])
TITLED = anonymiser(["Ann Zilmer"], (), ["nurse"], ["nurse"])
WEIGHED = anonymiser(["Zilmin 2 g", "Zilmin"], (), ["weight kg", "price"], ["weight", "kg", "price"], units=KILOGRAMS)
DATED = anonymiser(
    ["Yesterday"], (), ["turnover this year", "sang"], ["turnover", "this", "year", "sang"],
    periods=frozenset({"this year"}),
)  # fmt: skip
PARTS = ("Good Zorbon", "Once Zorbon", "Anyone Zorbon", "Sir Zorbon", "Father Zorbon", "Zorbon Died", "Heard Zorbon")
ZORBONS = NamedWords(("Zorbograd", *PARTS), ["time zone", "place of birth", "person"], words=words_of(PARTS))
MARKED = NamedWords(
    ("Brackwede Lakeside Clinic", "Saint Fields Hospital", "Charles I Duke of Burgundy", "Ma", "Clinic of Up"),
    ["clinic", "hospital", "patient", "treated by"],
    ("clinic", "hospital", "patient"),
)
COMMON_NAMES = "Jane Banks|Hope Field|Will Rose|Ines White|Bill Price|Love|Star|Cross|Don Didn|Great Right"
COMMON = Lexicon(PUBLIC, words_of(COMMON_NAMES.split("|")))
NOBODY = Lexicon(PUBLIC, NameWords())


def unknown(text: str, lexicon: Lexicon = NOBODY) -> list[str]:
    return [text[start:end] for start, end in unknown_spans(text, [], lexicon)]


def beside_a_name(text: str) -> list[str]:
    at = text.index("Zorbon")
    return [text[start:end] for start, end in unknown_spans(text, [(at, at + 6, Stand.NAME)], NOBODY)]


def word_stays(text: str, word: str) -> bool:
    safe = ZORBONS.safe(text)
    assert ZORBONS.passes(safe)
    return word in safe.replace('"', " ").split()


def is_pattern(text: str, span: str, kind: str) -> bool:
    """A number with a country's check digits may look like a phone or a card too: found whole is what counts."""
    found = {text[each.start : each.end]: each.kind for each in find_patterns(text)}.get(span)
    alike = (PatternKind.PHONE, PatternKind.CARD) if kind == PatternKind.NATIONAL_NUMBER.value else ()
    return found is not None and (found.value == kind or found in alike)


def disguised(word: str) -> object:
    """Returns the visible text of a word in both readings; each leads back to all of it."""
    visible = Visible.of(f"who is {word} now")
    second = visible.skeleton()
    for reading in (visible, second):
        assert reading is None or len(reading.text) != 15 or reading.original_span(7, 11) == (7, 7 + len(word))
    return visible.text.casefold()[7:-4], second and second.text.casefold()[7:-4]


def around(shown: str) -> list[str]:
    return [found.word for found in shaped_in(shown)]


READS: dict[str, Callable[..., object]] = {
    "turns": left,
    "everyday words that are values": lambda text: left(text, by=DEPOT),
    "titles before a name": lambda text: left(text, by=TITLED),
    "amounts in the unit of the schema": lambda text: left(text, by=WEIGHED),
    "dates by today": lambda text: left(text, by=DATED),
    "words beside a name": beside_a_name,
    "public words": lambda word: is_public_word(word, PUBLIC),
    "words that name somebody or nobody": word_stays,
    "marked parts of names": lambda text: sorted(set(" ".join(MARKED.gone(text)).split())),
    "patterns": is_pattern,
    "texts without a pattern": lambda text: [span.kind for span in find_patterns(text)],
    "shapes of pseudonyms": is_shaped,
    "pseudonyms in a text": around,
}
PROMISED: dict[str, Callable[..., object]] = {
    "names, values, patterns and capitals": left,
    "numbers and dates": left,
    "names as they are typed": left,
    "unknown words": unknown,
    "parts of names that are common words": lambda text: unknown(text, COMMON),
    "words of letters that look alike": unknown,
    "escapes": lambda text: Visible.of_typed(text).text,
    "disguises": disguised,
}


def test_every_section_is_read() -> None:
    assert {*READS, *PROMISED} == set(CORPUS.sections)


@pytest.mark.parametrize("section", READS)
def test_rows_are_read(section: str) -> None:
    CORPUS.judge(section, READS[section])


def promised(section: str) -> None:
    CORPUS.judge(section, PROMISED[section])


def test_names_values_patterns_numbers_and_capitals_go() -> None:
    promised("names, values, patterns and capitals")


def test_numbers_and_dates_go_however_they_are_written() -> None:
    promised("numbers and dates")


def test_a_name_goes_however_it_is_typed() -> None:
    promised("names as they are typed")


def test_is_taken_for_a_name() -> None:
    promised("unknown words")


def test_a_common_word_that_is_a_part_of_a_name_goes_where_the_sentence_speaks_for_a_name() -> None:
    promised("parts of names that are common words")


def test_a_word_of_letters_that_only_look_alike_goes() -> None:
    promised("words of letters that look alike")


def test_escapes_of_what_was_typed_are_undone_once() -> None:
    promised("escapes")


def test_letters_in_circles_and_the_like_are_letters_and_lead_back() -> None:
    promised("disguises")
